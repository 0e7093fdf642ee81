//! Pictures: plain SVG without scripts, fonts or anything fetched.
//!
//! * [`canvas`]: the elements all pictures are drawn with; [`palette`]: their colours; [`sheet`]: their style sheets;
//! * [`Chart`]: values of several series over categories, as lines or as dots, with intervals;
//! * [`Forest`]: claims, each with what was published, what is accepted, and what was measured;
//! * [`Grid`]: who wins against whom;
//! * [`Scatter`]: what one quantity costs in another.
//!
//! Series differ by colour (Okabe and Ito's, which people who see few colours tell apart) and by the shape of their
//! marks; what is good or bad also differs by a sign. Paper is drawn, so a picture reads on a page of any colour.
//!
//! Which figures there are, and what they show, is the business of whoever draws them: the page of findings, the concept
//! page of the documentation and the search for values of keys. The page of results is drawn by its own scripts.

mod axis;
pub mod canvas;
mod chart;
mod forest;
mod grid;
pub mod palette;
mod pen;
mod scatter;
pub mod sheet;

pub use axis::Scale;
pub use canvas::{Anchor, Canvas, Element, Frame};
pub use chart::{Chart, Series};
pub use forest::{Forest, Row};
pub use grid::{Grid, Outcome};
pub use scatter::{Panel, Point, Scatter};
