//! Rows: what is locked, kept and made parity of as one.

/// Rows of the array that a transaction holds while it runs: row `r` is the same bytes on every member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rows {
    /// The first.
    pub first: u64,
    /// How many; none for a transaction that excludes nobody.
    pub count: u64,
}

impl Rows {
    /// No rows: nothing is locked.
    pub const NONE: Rows = Rows { first: 0, count: 0 };

    /// The row behind the last.
    pub const fn end(&self) -> u64 {
        self.first + self.count
    }
}
