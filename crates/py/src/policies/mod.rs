//! Policies written in Python, as policies of the simulator.
//!
//! ```text
//!   class in Python --known--> line in a registry --> object of a run --ask--> method of the class
//!                                                        |                        | looks at
//!                                                     deepcopy                 a view, lent for the call
//! ```
//!
//! An object is made for each run, or each device of one, and copied where a run is. Whoever asks it attaches to the
//! interpreter for that one question.
//!
//! * `known`: which classes there are, by name;
//! * `object`: a policy as an object, whatever its kind; `raised`: its exceptions; `staying`: the threads that ask;
//! * `lent`: what it looks at;
//! * `coordinator` with `event` and `array`, `victim`, `schedule` with `die` and `decision`, `concurrency`: the four kinds.
//!
//! Leaves out: planners. A coordinator in Python cannot displace writes (`displaces`, `placing`).

pub(crate) mod array;
pub(crate) mod concurrency;
mod coordinator;
mod decision;
pub(crate) mod die;
pub(crate) mod event;
pub(crate) mod known;
mod lent;
mod object;
pub(crate) mod raised;
mod schedule;
mod staying;
pub(crate) mod victim;

use harmonia_types::SimTime;

/// A time as Python has it: nanoseconds, or `None` for never.
fn time(time: SimTime) -> Option<u64> {
    (time != SimTime::NEVER).then_some(time.0)
}
