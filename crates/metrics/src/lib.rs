//! What a run is observed to do, and the report that says so.
//!
//! ```text
//!   completions      --> HostRecorder ----> HostReport ---.
//!   GC begins, ends  --> GcOverlap -------> shares --.    |
//!   DeviceCounters   --> since(warm-up) --> ArrayReport --+--> Report --> JSON
//!   erase counts     --> Wear ------------> DeviceReport -'
//!   Levels           --> OverTime --------------^
//!   completions      --> GcWaits ---------------^
//!   failures         --> FailureRecorder: phases of the array, and responses in each
//!
//!   several reports  --> Intervals: what differs between policies by more than chance
//!                    --> judgement: warnings, and who has the lowest figures; Interaction: whether two changes add up
//! ```
//!
//! Everything here watches and nothing decides: no type of this crate is asked for anything while a run goes
//! on. Sums are integers, so the order in which observations arrive cannot change a byte of the report, and
//! warm-up is discarded by starting the observers, and the counters' baseline, where it ends.
//!
//! Not measured here: per-volume or per-member latency, queues of single dies but at the start of a collection, bus
//! utilisation, and requests still outstanding when the run ends (a request is counted when it completes).
//!
//! Every statistic states its unit where it is declared: nanoseconds are simulated time (real time in
//! [`EngineReport`] only), pages are flash pages, a count has no unit.

mod bandwidth;
mod batches;
mod blame;
mod buckets;
mod device;
mod distribution;
mod failures;
mod feasibility;
mod flash_bytes;
mod gc_overlap;
mod gc_waits;
mod handles;
mod host;
mod inside;
mod interaction;
mod interval;
mod intervals;
pub mod judgement;
mod life;
mod lifetime;
mod lifetimes;
mod moments;
mod observer;
mod over_time;
pub mod recording;
mod report;
pub mod rows;
mod streams;
mod student;
mod trace;
mod warning;
mod wear;
mod write_hole;
mod years;

pub use bandwidth::BandwidthReport;
pub use batches::{BatchReport, CounterBatches};
pub use blame::{BlamePhases, BlameSum, Part, ResourceSum, Shown};
pub use buckets::BUCKETS_MAX;
pub use device::{DeviceReport, DieTraits, GcEstimateReport};
pub use distribution::{Distribution, DistributionSummary};
pub use failures::{
    AilingSpan, Ailment, BackgroundReport, FailureEvent, FailureRecorder, FailuresReport, Happening,
    LossReport, PhaseResponse, PhaseResponses, RebuildReport, ResyncReport,
};
pub use feasibility::{FeasibilityReport, MeasuredIn, WarmupGc};
pub use flash_bytes::FlashBytes;
pub use gc_overlap::GcOverlap;
pub use gc_waits::{GcWaits, GcWaitsReport};
pub use handles::HandleReport;
pub use harmonia_types::Pairing;
pub use host::{DeadlineReport, HostRecorder, HostReport, ResponseReport};
pub use inside::{InsideReport, MetGcReport, MetReport, PairingReport, QueueDepthReport};
pub use interaction::{Interaction, Joint};
pub use interval::{Contrast, Interval};
pub use intervals::{Intervals, Method, PerMetric, VariantIntervals, Versus, figures_of, versus};
pub use judgement::{Against, Winner, Winners};
pub use life::{LevelingReport, LifeReport};
pub use lifetime::{ArrayLifetime, DriveLimits, Evenness, First, LifetimeReport, Limit, RateOf, Years};
pub use lifetimes::{LIFETIME_SCHEMA, VariantLifetime, YEARS_MOST, age_first_of, lifetimes};
pub use observer::Observer;
pub use over_time::{OverTime, OverTimeReport};
pub use report::{
    ArrayReport, Comparison, CoordinationReport, EngineReport, PreconditionReport, Report, SCHEMA, SECTIONS,
};
pub use streams::{StreamRecorder, StreamReport};
pub use student::student_t;
pub use trace::{EventReport, EventsReport, Noted, TraceReport};
pub use warning::Warning;
pub use wear::Wear;
pub use write_hole::WriteHoleReport;
pub use years::{RebuildRisk, Replacements};
