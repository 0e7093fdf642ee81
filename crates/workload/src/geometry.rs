//! What a workload must know of the array it addresses.

use harmonia_types::Bytes;

/// More page operations waiting at once than an array catches up with: 32 GiB of 4 KiB pages, half a gigabyte of
/// bookkeeping. So no single request touches as many.
pub const MOST_PAGES_AT_ONCE: u64 = 1 << 23;

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
    /// The array that this is a scaled-down part of, if it is one: what addresses of a trace are of.
    pub scaled_from: Option<FullArray>,
}

/// An array of which a part is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullArray {
    /// Its logical size. Unit: bytes.
    pub bytes: Bytes,
    /// The data of a row: a stripe unit of every member that holds some. Unit: bytes.
    pub row: Bytes,
}

impl ArrayGeometryForLoad {
    /// Whether a request of so many bytes can wait as a whole.
    #[inline]
    pub(crate) fn takes(&self, length: Bytes) -> bool {
        length < MOST_PAGES_AT_ONCE * self.page_size
    }

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
