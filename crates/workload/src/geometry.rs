//! What a workload must know of the array it addresses.

use harmonia_types::Bytes;

/// The array as a load sees it: sizes only, no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayGeometryForLoad {
    /// Logical size of the array, in bytes.
    pub logical_bytes: Bytes,
    /// Logical size of one member, in bytes (of the smallest where they differ).
    pub member_bytes: Bytes,
    /// Number of members, parity included.
    pub members: u16,
    /// Logical page, in bytes: the unit of alignment.
    pub page_size: Bytes,
}

impl ArrayGeometryForLoad {
    /// Refuses sizes no request could be placed in.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, value) in [
            ("logical size", self.logical_bytes),
            ("member size", self.member_bytes),
            ("number of members", self.members.into()),
            ("page size", self.page_size),
        ] {
            if value == 0 {
                return Err(format!("the array's {what} is 0: there is nothing to address"));
            }
        }
        Ok(())
    }
}
