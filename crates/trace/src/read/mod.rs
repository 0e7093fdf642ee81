//! From files to records: everything about reading that is not the business of a format.
//!
//! ```text
//!   file --> input ----> window -------> lines / records --> format --> order ----> reader
//!            mapped,     bytes moving    of text             a row      sorted,     files merged, window cut,
//!            gz, zst     forward                                        spread      volumes numbered
//! ```

pub(super) mod dates;
pub(super) mod fields;
pub(super) mod input;
pub(super) mod lines;
mod log;
mod order;
pub(super) mod paths;
mod reader;
mod rows;
pub(super) mod window;

pub use input::{Packing, TraceError, TraceInput};
pub(super) use log::note;
pub use log::{Noted, ReadLog};
pub(super) use reader::OpenFile;
pub use reader::{Step, TraceReader};
pub use rows::Place;
pub(super) use rows::{Clock, Problem, RowReader};
