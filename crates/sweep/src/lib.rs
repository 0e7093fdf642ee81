//! Many runs of one scenario: which runs, where their results are kept, and what differs between them.
//!
//! ```text
//!   sweep file --> file --> plan (design, address) --> points --> run --> store, one file a point
//!                                                                           |
//!                                  table --> parquet                <-------'
//!                                  diff: scenarios and figures      <-- reports, comparisons, results
//! ```
//!
//! * [`Plan`]: what a sweep file says, held against its scenario; gives every [`Point`] by its number;
//! * `design`: grid, random draws, Latin hypercubes;
//! * `address`: what names a result;
//! * [`store`]: results in a folder, whole or not there;
//! * [`run()`]: runs what is missing, on threads that share aged arrays;
//! * [`table`], [`parquet`], [`csv`]: one row a run;
//! * [`diff`]: what differs between two results;
//! * [`ResultFolder`]: what `run --out` has written, to be simulated again.
//!
//! A point is a function of the sweep file and its number. So any engine may run the points, in any order, on any machine,
//! twice or not at all. Leaves out: queues, retries and remote machines, which such engines have.

mod address;
pub mod csv;
mod design;
pub mod diff;
mod file;
pub mod parquet;
mod plan;
mod result_folder;
mod run;
mod shard;
pub mod store;
pub mod table;
mod value;

pub use diff::{Diff, Side};
pub use plan::{Base, MOST_POINTS, Plan, Point};
pub use result_folder::ResultFolder;
pub use run::{Done, Unwatched, Watch, run};
pub use shard::Shard;
pub use store::{Store, Stored, TABLE};
pub use table::Table;
