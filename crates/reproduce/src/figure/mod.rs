//! Pictures of results: plain SVG without scripts, fonts or anything fetched.
//!
//! * `chart`: values of several series over categories, as lines or as dots, with intervals;
//! * `forest`: claims, each with what was published, what is accepted, and what was measured;
//! * `grid`: who wins against whom.
//!
//! Series differ by colour (Okabe and Ito's, which people who see few colours tell apart) and by the shape of their
//! marks; what is good or bad also differs by a sign. Paper is drawn, so a picture reads on a page of any colour.

mod axis;
mod canvas;
mod chart;
mod forest;
mod grid;
mod pen;

pub(crate) use axis::Scale;
pub(crate) use chart::{Chart, Series};
pub(crate) use forest::{Forest, Row};
pub(crate) use grid::{Grid, Outcome};
