//! What a format's reader is to the rest.

use std::fmt;

use super::super::record::{Row, VolumeNames};
use super::log::ReadLog;

/// Reads the rows of one file in the order of the file. Whether their times go back is not its business.
pub(crate) trait RowReader: Send {
    /// The next row; `None` behind the last. What is passed over or mended by the format's own rules is counted in
    /// `log`. After [`Problem::Row`] the row in question is behind the reader; after [`Problem::File`] it is not asked
    /// again.
    fn next_row(&mut self, log: &mut ReadLog) -> Result<Option<Row>, Problem>;

    /// Where the row stands that was returned, or complained of, last.
    fn place(&self) -> Place;

    /// How long the row that was returned last took when it was recorded, in ns; 0 where the file does not say.
    fn response_ns(&self) -> u64 {
        0
    }

    /// The volumes of the rows so far.
    fn volumes(&self) -> &VolumeNames;

    /// Whether rows may have placement handles.
    fn has_handles(&self) -> bool {
        false
    }

    /// The clock of this file, where files of its format have different ones; `None` leaves it to the format.
    fn clock(&self) -> Option<Clock> {
        None
    }

    /// UTC at time 0 of the rows, in ns since 1970, where the file has said so by now.
    fn zero_utc_ns(&self) -> Option<i128> {
        None
    }

    /// Words for a file that turned out to have no row.
    fn no_rows(&self) -> String {
        NO_ROWS.to_owned()
    }
}

/// The clock that stamped a file's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// In ns.
    pub(crate) tick_ns: u64,
    /// Whether it ticks so slowly that requests of one tick are spread over it.
    pub(crate) coarse: bool,
}

/// Words for a file without a row where there is no more to say.
pub(crate) const NO_ROWS: &str = "has no request in it, expected at least one";

/// What is wrong with a file, in words for the person who has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// One row is malformed; what follows can be read.
    Row(String),
    /// Nothing more can be read.
    File(String),
}

/// A place in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// None in particular.
    #[default]
    File,
    /// A line, counted from 1.
    Line(u64),
    /// A row of a table, counted from 1.
    Row(u64),
    /// A record of a binary format.
    Record {
        /// Counted from 1.
        number: u64,
        /// Where it begins, counted from 0, in the file after unpacking.
        byte: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(out, ":{line}"),
            Place::Row(row) => write!(out, ": row {row}"),
            Place::Record { number, byte } => write!(out, ": record {number} at byte {byte}"),
        }
    }
}
