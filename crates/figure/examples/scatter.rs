//! Draws points that a script found: `cargo run -p harmonia-figure --example scatter < points.json > picture.svg`.
//!
//! ```json
//! {"title": "..", "x_title": "..", "y_title": "..",
//!  "panels": [{"title": "..", "points": [{"series": "..", "name": "..", "x": 1.5, "y": 420}]}]}
//! ```

use std::io::{self, Write as _};

use harmonia_figure::{Panel, Point, Scatter};
use serde_json::Value;

fn main() -> io::Result<()> {
    let read: Value = serde_json::from_reader(io::stdin().lock())?;
    let picture = scatter(&read)
        .ok_or_else(|| io::Error::other("stdin is not a title, titles of axes and panels of points"))?;
    io::stdout().write_all(picture.draw().as_bytes())
}

fn scatter(value: &Value) -> Option<Scatter> {
    Some(Scatter {
        title: text(value, "title")?,
        x_title: text(value, "x_title")?,
        y_title: text(value, "y_title")?,
        panels: value["panels"].as_array()?.iter().map(panel).collect::<Option<_>>()?,
    })
}

fn panel(value: &Value) -> Option<Panel> {
    let points = value["points"].as_array()?.iter().map(point).collect::<Option<_>>()?;
    Some(Panel { title: text(value, "title")?, points })
}

fn point(value: &Value) -> Option<Point> {
    Some(Point {
        series: text(value, "series")?,
        name: text(value, "name")?,
        x: value["x"].as_f64()?,
        y: value["y"].as_f64()?,
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value[key].as_str()?.to_owned())
}
