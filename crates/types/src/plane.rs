//! What a plane of a die is busy with.

/// What a plane does in a command of its die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaneWork {
    /// Reads a page for the host.
    HostRead,
    /// Programs a page for the host.
    HostProgram,
    /// Reads a page of a victim.
    GcRead,
    /// Programs a page of a victim elsewhere.
    GcProgram,
    /// Moves a page of a victim, read and program in one command.
    GcMove,
    /// Erases a victim.
    Erase,
    /// Takes its turn in a whole collection that is one command: moves and erases.
    GcEvent,
    /// A program or erase of garbage collection waits, suspended.
    Suspended,
    /// Summary pages of blocks that the host filled.
    Summary,
    /// A program of the host waits, suspended.
    HostSuspended,
}

impl PlaneWork {
    /// Whether it is work of garbage collection.
    pub const fn is_gc(self) -> bool {
        !matches!(
            self,
            PlaneWork::HostRead | PlaneWork::HostProgram | PlaneWork::Summary | PlaneWork::HostSuspended
        )
    }
}
