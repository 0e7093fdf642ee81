//! GAFTL: one member at a time collects, and meanwhile its writes go to stripes kept free on the others.
//!
//! ```text
//! coordinator    reserves the member whose turn it is ─► it is drained ─► it collects ─► it is returned
//!                    │ placing                               ▲
//!                    ▼                                       │ promised operations are done
//! planner        goes around members that collect, displaces their units, brings them home in idle time
//! ```
//!
//! * [`coordinator`]: whose turn it is, in the states of the paper; its comment is the page of the policy;
//! * [`planner`]: which operations a request becomes, row by row, where stripes lie in rows of all members;
//! * [`floating`]: the same where each stripe leaves one member free;
//! * [`bounds`]: the most page operations that either promises, held against its plans.
//!
//! Neither half calls the other. The coordinator says that it displaces, and how ([`crate::placing`]). The planner sees which
//! members collect or are reserved, as every planner does. Drains that let go on what was planned are the controller's
//! (`controller::tidying`).
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), sections III to V.

mod bounds;
mod coordinator;
mod floating;
mod planner;

pub(crate) use coordinator::ENTRY as COORDINATOR;
pub(crate) use coordinator::{has_floating_stripes, has_thin_members};
pub(crate) use floating::ENTRY as FLOATING;
pub(crate) use planner::ENTRY as PLANNER;
