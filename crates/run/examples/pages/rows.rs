//! Where data and parity of a RAID-5 lie, and which rows one small write touches.
//!
//! ```text
//!         SSD 0    SSD 1    SSD 2
//! stripe 0  D0       D1       P      a unit is a box; its rows are the strips in it
//! stripe 1  D3       P        D2
//! ```

use harmonia_array::Level;
use harmonia_array::layout::{Layout, Parity, Rotation, Unit};
use harmonia_figure::{Anchor, Canvas};
use harmonia_types::DeviceId;

use super::figure;

/// What is drawn.
pub const MEMBERS: u16 = 5;
pub const ROWS: u64 = 4;
const PAGE: u64 = 4096;
/// The row that is written: its stripe, unit and place in the unit.
const STRIPE: u64 = 1;
const WRITTEN: u16 = 1;
const ROW: u64 = 2;

const LEFT: f64 = 84.0;
const TOP: f64 = 100.0;
const COLUMN: f64 = 130.0;
const STRIP: f64 = 11.0;

/// Bytes of a stripe unit in the picture.
pub fn unit_bytes() -> u64 {
    ROWS * PAGE
}

/// The name of the unit that is written.
pub fn written() -> String {
    format!("D{}", STRIPE * u64::from(parity().data_units()) + u64::from(WRITTEN))
}

fn parity() -> Parity {
    let stripes = u64::from(MEMBERS);
    let level = Level::Raid5(Rotation::LeftSymmetric);
    match Layout::new(level, MEMBERS, unit_bytes(), PAGE, stripes * unit_bytes()) {
        Layout::Parity(parity) => parity,
        Layout::Striped(_) | Layout::Mirrored(_) => unreachable!("RAID-5 has parity"),
    }
}

/// Draws as many stripes as there are members, after which the pattern repeats.
pub fn draw() -> String {
    let parity = parity();
    let stripes = u64::from(MEMBERS);
    let height = ROWS as f64 * STRIP;
    let mut svg = figure(
        TOP + stripes as f64 * (height + 8.0) + 8.0,
        "RAID-5, left-symmetric: data units, parity units and their rows",
    );
    legend(&mut svg);
    for member in 0..MEMBERS {
        let x = LEFT + COLUMN * (f64::from(member) + 0.5) - 4.0;
        svg.text(x, TOP - 10.0, Anchor::Middle, "head", &format!("SSD {member}"));
    }
    for stripe in 0..stripes {
        let top = TOP + stripe as f64 * (height + 8.0);
        svg.text(LEFT - 10.0, top + height / 2.0 + 4.0, Anchor::End, "tick", &format!("stripe {stripe}"));
        for member in (0..MEMBERS).map(DeviceId) {
            let left = LEFT + COLUMN * f64::from(member.0);
            draw_unit(&mut svg, &parity, stripe, parity.unit_on(stripe, member), (left, top));
        }
    }
    svg.finish()
}

fn draw_unit(svg: &mut Canvas, parity: &Parity, stripe: u64, unit: Unit, (left, top): (f64, f64)) {
    let (width, height) = (COLUMN - 8.0, ROWS as f64 * STRIP);
    let number = |unit| stripe * u64::from(parity.data_units()) + u64::from(unit);
    let (name, is_parity) = match unit {
        Unit::Data(unit) => (format!("D{}", number(unit)), false),
        Unit::P | Unit::Q => (format!("P{stripe}"), true),
        Unit::None => return,
    };
    if is_parity {
        svg.rect("shade", left, top, width, height);
    }
    // The name stands beside the rows, so that these can be coloured.
    let beside = left + 40.0;
    for row in 1..ROWS {
        let y = top + row as f64 * STRIP;
        svg.trace("grid", "", &[(beside, y), (left + width, y)]);
    }
    let (right, bottom) = (left + width, top + height);
    svg.trace("axis", "", &[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]);
    svg.trace("axis", "", &[(beside, top), (beside, bottom)]);
    svg.text(left + 20.0, top + height / 2.0 + 4.0, Anchor::Middle, "", &name);
    if stripe == STRIPE {
        let is_written = is_parity || unit == Unit::Data(WRITTEN);
        let class = if is_written { "busy" } else { "mark blue" };
        svg.rect(class, beside + 2.0, top + ROW as f64 * STRIP + 1.5, width - 44.0, STRIP - 3.0);
    }
}

fn legend(svg: &mut Canvas) {
    svg.rect("busy", LEFT, 12.0, 26.0, STRIP - 3.0);
    let text =
        format!("a row of {} and its parity are written; read-modify-write reads both first", written());
    svg.text(LEFT + 36.0, 21.0, Anchor::Start, "", &text);
    svg.rect("mark blue", LEFT, 32.0, 26.0, STRIP - 3.0);
    let text = "the same row of the other units: reconstruct-write reads these instead";
    svg.text(LEFT + 36.0, 41.0, Anchor::Start, "", text);
    svg.rect("shade", LEFT, 51.0, 26.0, STRIP);
    svg.text(LEFT + 36.0, 61.0, Anchor::Start, "", "parity units");
}
