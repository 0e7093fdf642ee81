//! The gates that a transaction passes on its way to the members: one shape for all of them.
//!
//! ```text
//! comes ─► Goes ────────────────────► leaves: who goes on now?
//!    │                       ▲
//!    └──► Waits ─► let go ───┘
//! ```
//!
//! | gate | goes at once if | is let go by |
//! |---|---|---|
//! | [rows](super::locks::RowLocks) | nobody who came before has or awaits one of its rows | whoever of these leaves last |
//! | [bits](super::bitmap::Bitmap) | the bits of all its chunks are set on the members | the end of a write of the bitmap |
//! | [entries](super::caching::Caching) | nobody waits, and there are as many entries as it has rows | who leaves, see `caching` |
//! | [log](super::log::Log) | nobody waits, and there is room for what it writes | who leaves and gives room back |
//!
//! A gate knows those who wait by their numbers. Entries and the log let them go in the order in which they came; rows and bits let go
//! whoever waits for nothing more. It knows nothing of an array, nor of time: whoever asks charges the wait.
//!
//! What one more gate needs is shown by one that the tests have, a token bucket: it has a file, `gate/tests.rs`, and a few lines
//! where it is asked and where it lets go.

/// What a gate says to who comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// Nothing is in the way.
    Goes,
    /// The gate keeps the number, and names it when it lets it go.
    Waits,
}

#[cfg(test)]
pub(super) mod tests;
