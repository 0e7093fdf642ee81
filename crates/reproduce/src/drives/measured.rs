//! What was measured on drives, from Markdown.
//!
//! A drive is a heading, a table of loads and a list:
//!
//! ```text
//! ## samsung-pm9a3-960g
//!
//! | offered | done | read p50 | read p99 | read p99.9 | write p50 | write p99 |
//! |---:|---:|---:|---:|---:|---:|---:|
//! | 10000 | 9951 | 64 | 237 | 393 | 11 | 14 |
//! | 90000 | 76550 | 898 | 2204 | 3080 | 3376 | 4035 |
//!
//! - sequential: 1511
//! - zipf 1.0: 1.421
//! - miss read p50 at 40000: why, and what would decide.
//! ```
//!
//! A reason without `at` stands for all loads that have none of their own.
//! The heading is the preset of the drive. The last line of the table is the load beyond the knee. A mistake in the page is a mistake in this crate:
//! it panics, and a test reads the page.

use std::fmt;

use super::split::{Side, side};

const PAGE: &str = include_str!("../claims/drives.md");

/// A drive and all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// Its preset.
    pub name: &'static str,
    /// What was measured, loads in their order and then the rest.
    pub rows: Vec<Row>,
    /// Why its preset misses some of them.
    pub misses: Vec<Miss>,
}

/// The likely reason of misses, and the experiment that would decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Miss {
    /// Of which quantity.
    pub quantity: Quantity,
    /// Under which load; under all if none.
    pub load: Option<Load>,
    /// In words.
    pub why: &'static str,
}

/// One figure that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Under which load.
    pub load: Load,
    /// Of what.
    pub quantity: Quantity,
    /// The figure, in the unit of the quantity.
    pub measured: f64,
    /// What the row is for.
    pub side: Side,
}

/// What the drive had to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// A probe beside so many writes a second, which the drive keeps up with.
    Offered(u32),
    /// The same with more than it keeps up with.
    Saturated(u32),
    /// An empty drive is filled.
    Sequential,
    /// Nothing but writes, as many as the drive takes.
    Writes(Pattern),
}

/// Where writes go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// Everywhere alike.
    Uniform,
    /// By a Zipf law with this exponent.
    Zipf(f64),
    /// To this share of the drive.
    Part(f64),
    /// Everywhere alike in this share of the drive, of which nothing else is in use.
    Footprint(f64),
}

/// How far measurements of one drive are apart, in words; [`Quantity::noise`] has the numbers.
pub const NOISE: &str = "repeats of read p99 lie within 0.3% and of read p99.9 within 0.8%, rates of sessions within 8%, and rates over uniform \
                         within 0.8%";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Median of reads. Unit: us.
    ReadP50,
    /// p99 of reads. Unit: us.
    ReadP99,
    /// p99.9 of reads. Unit: us.
    ReadP999,
    /// Median of writes. Unit: us.
    WriteP50,
    /// p99 of writes. Unit: us.
    WriteP99,
    /// Writes that are done in a second.
    WritesDone,
    /// Writes done in a second where p99 of writes passes [`KNEE_US`], between the loads by the logarithm.
    Knee,
    /// Rate of filling an empty drive. Unit: MB/s.
    Sequential,
    /// Write amplification under uniform writes, over that of the fill.
    WriteAmplification,
    /// Rate of the fill over that of uniform writes.
    FillOverUniform,
    /// Rate of a pattern of writes over that of uniform writes.
    OverUniform,
}

/// p99 of writes at the knee. Unit: us.
pub const KNEE_US: f64 = 1_000.0;

/// How far off a figure may be to be counted as reproduced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accepted {
    /// So much of what was measured, more or less.
    Share(f64),
    /// So many times more or less.
    Factor(f64),
    /// On the same side of 1. What lies within 1% of 1 has no side. If that was measured: so much more or less than 1.
    Side(f64),
}

/// Nearer to 1 than this a rate over another has no direction: sessions repeat within 0.8%.
const NO_SIDE: f64 = 0.01;

impl Quantity {
    /// How far off it may be: chosen before the first run of a preset was judged.
    pub fn accepted(self) -> Accepted {
        match self {
            Quantity::ReadP50 | Quantity::WriteP50 => Accepted::Share(0.15),
            Quantity::ReadP99 => Accepted::Share(0.25),
            Quantity::ReadP999 => Accepted::Share(0.40),
            Quantity::WriteP99 => Accepted::Factor(2.0),
            Quantity::WritesDone | Quantity::Sequential | Quantity::FillOverUniform => Accepted::Share(0.05),
            Quantity::Knee => Accepted::Share(0.10),
            Quantity::WriteAmplification => Accepted::Share(0.03),
            Quantity::OverUniform => Accepted::Side(0.05),
        }
    }

    /// How far measurements of one drive are apart: repeats of percentiles, sessions of rates, repeats within a session of
    /// rates over others. None where it was not published.
    pub fn noise(self) -> Option<f64> {
        match self {
            Quantity::ReadP99 => Some(0.003),
            Quantity::ReadP999 | Quantity::OverUniform => Some(0.008),
            Quantity::WritesDone | Quantity::Sequential | Quantity::Knee => Some(0.08),
            _ => None,
        }
    }

    /// Whether every load has one; others stand once a drive.
    pub fn is_of_a_load(self) -> bool {
        COLUMNS[1..].contains(&self)
    }

    /// Its name in tables.
    pub fn text(self) -> &'static str {
        match self {
            Quantity::ReadP50 => "read p50",
            Quantity::ReadP99 => "read p99",
            Quantity::ReadP999 => "read p99.9",
            Quantity::WriteP50 => "write p50",
            Quantity::WriteP99 => "write p99",
            Quantity::WritesDone => "writes/s",
            Quantity::Knee => "knee, writes/s",
            Quantity::Sequential => "fill, MB/s",
            Quantity::WriteAmplification => "write amplification",
            Quantity::FillOverUniform => "fill over uniform",
            Quantity::OverUniform => "over uniform",
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { load, quantity, .. } = self;
        match quantity {
            Quantity::OverUniform => write!(f, "{load} over uniform"),
            quantity if quantity.is_of_a_load() => write!(f, "{} at {load}", quantity.text()),
            quantity => write!(f, "{}", quantity.text()),
        }
    }
}

impl Accepted {
    /// Whether `simulated` is accepted for `measured`.
    pub fn holds(self, measured: f64, simulated: f64) -> bool {
        match self {
            Accepted::Share(share) => (simulated - measured).abs() <= share * measured,
            Accepted::Factor(factor) => simulated <= measured * factor && simulated * factor >= measured,
            Accepted::Side(tolerance) if (measured - 1.0).abs() < NO_SIDE => {
                (simulated - 1.0).abs() <= tolerance
            }
            Accepted::Side(_) => (simulated - 1.0).abs() >= NO_SIDE && (measured > 1.0) == (simulated > 1.0),
        }
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accepted::Share(share) => write!(f, "{}%", (share * 100.0).round()),
            Accepted::Factor(factor) => write!(f, "{factor}x"),
            Accepted::Side(_) => write!(f, "sign"),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Offered(rate) => write!(f, "{rate}"),
            Load::Saturated(_) => write!(f, "saturated"),
            Load::Sequential => write!(f, "sequential"),
            Load::Writes(Pattern::Uniform) => write!(f, "uniform"),
            Load::Writes(Pattern::Zipf(theta)) => write!(f, "zipf {theta:.1}"),
            Load::Writes(Pattern::Part(share)) => write!(f, "part {share:.1}"),
            Load::Writes(Pattern::Footprint(share)) => write!(f, "footprint {share:.1}"),
        }
    }
}

impl Load {
    /// Uniform writes and nothing else.
    pub const UNIFORM: Load = Load::Writes(Pattern::Uniform);

    /// Writes of the probe and its loaders together, where there is a probe. Unit: requests/s.
    pub fn offered(self) -> Option<u32> {
        match self {
            Load::Offered(rate) | Load::Saturated(rate) => Some(rate),
            Load::Sequential | Load::Writes(_) => None,
        }
    }

    /// The load that its text stands for.
    pub fn named(text: &str) -> Option<Load> {
        let (kind, figure) = text.split_once(' ').unwrap_or((text, ""));
        match kind {
            "sequential" => Some(Load::Sequential),
            "uniform" => Some(Load::Writes(Pattern::Uniform)),
            "zipf" => figure.parse().ok().map(|theta| Load::Writes(Pattern::Zipf(theta))),
            "part" => figure.parse().ok().map(|share| Load::Writes(Pattern::Part(share))),
            "footprint" => figure.parse().ok().map(|share| Load::Writes(Pattern::Footprint(share))),
            _ => None,
        }
    }
}

/// The columns of the table after `offered`.
pub const COLUMNS: [Quantity; 6] = [
    Quantity::WritesDone,
    Quantity::ReadP50,
    Quantity::ReadP99,
    Quantity::ReadP999,
    Quantity::WriteP50,
    Quantity::WriteP99,
];

/// All drives of the page.
pub fn drives() -> Vec<Drive> {
    read(PAGE)
}

/// The drives of a page, in its order.
fn read(page: &'static str) -> Vec<Drive> {
    page.split("\n## ").skip(1).map(drive).collect()
}

fn drive(text: &'static str) -> Drive {
    let (name, body) = text.split_once('\n').unwrap_or((text, ""));
    let mistake = |line: &str| -> ! { panic!("drives: {name}: {line}") };
    let number = |cell: &str, line: &str| -> f64 { cell.trim().parse().unwrap_or_else(|_| mistake(line)) };
    let lines = body.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
    let loads: Vec<Vec<f64>> = lines
        .map(|line| line.trim_matches(['|', ' ']).split('|').map(|cell| number(cell, line)).collect())
        .collect();
    if loads.len() < 2 || loads.iter().any(|cells| cells.len() != 1 + COLUMNS.len()) {
        mistake("not two loads or more of seven figures");
    }
    let (below, beyond) = loads.split_at(loads.len() - 1);
    let mut found: Vec<(Load, Quantity, f64)> = Vec::new();
    for (cells, is_below) in below.iter().map(|cells| (cells, true)).chain([(&beyond[0], false)]) {
        let rate = cells[0] as u32;
        let load = if is_below { Load::Offered(rate) } else { Load::Saturated(rate) };
        // Below the knee a drive does what it is offered.
        let skipped = usize::from(is_below);
        let columns = COLUMNS.iter().zip(&cells[1..]).skip(skipped);
        found.extend(columns.map(|(&quantity, &figure)| (load, quantity, figure)));
    }
    let points: Vec<(f64, f64)> = loads.iter().map(|cells| (cells[1], cells[6])).collect();
    let saturated = Load::Saturated(beyond[0][0] as u32);
    found.extend(knee(&points).map(|rate| (saturated, Quantity::Knee, rate)));
    let items = body.split("\n- ").skip(1).map(str::trim_end);
    let (reasons, figures): (Vec<&str>, Vec<&str>) = items.partition(|item| item.starts_with("miss "));
    for line in figures {
        let (kind, figure) = line.split_once(": ").unwrap_or_else(|| mistake(line));
        let figure = number(figure, line);
        found.push(match kind {
            "sequential" => (Load::Sequential, Quantity::Sequential, figure),
            "waf" => (saturated, Quantity::WriteAmplification, figure),
            "ratio" => (Load::UNIFORM, Quantity::FillOverUniform, figure),
            kind => (Load::named(kind).unwrap_or_else(|| mistake(line)), Quantity::OverUniform, figure),
        });
    }
    let offered: Vec<u32> = below.iter().map(|cells| cells[0] as u32).collect();
    let row = |(load, quantity, measured)| {
        let side = side(&offered, load, quantity);
        Row { load, quantity, measured, side }
    };
    let rows: Vec<Row> = found.into_iter().map(row).collect();
    let misses = reasons.into_iter().map(|item| miss(item, &rows).unwrap_or_else(|| mistake(item))).collect();
    Drive { name: name.trim(), rows, misses }
}

fn miss(item: &'static str, rows: &[Row]) -> Option<Miss> {
    let (of, why) = item.strip_prefix("miss ")?.split_once(": ")?;
    let (name, load) = of.split_once(" at ").map_or((of, None), |(name, load)| (name, Some(load)));
    let is_meant =
        |row: &&Row| row.quantity.text() == name && load.is_none_or(|load| row.load.to_string() == load);
    let row = rows.iter().find(is_meant)?;
    Some(Miss { quantity: row.quantity, load: load.map(|_| row.load), why })
}

/// Where p99 of writes passes [`KNEE_US`], of points of writes done in a second and p99. None if it does not.
pub fn knee(points: &[(f64, f64)]) -> Option<f64> {
    points.windows(2).find(|pair| pair[0].1 < KNEE_US && pair[1].1 >= KNEE_US).map(|pair| {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        from + (to - from) * libm::log(KNEE_US / low) / libm::log(high / low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drive_of_the_page_is_read() {
        let drives = drives();
        assert_eq!(drives.len(), 5);
        for drive in &drives {
            let of = |wanted| drive.rows.iter().filter(|row| row.quantity == wanted).count();
            assert_eq!(
                (of(Quantity::Sequential), of(Quantity::Knee), of(Quantity::WritesDone)),
                (1, 1, 1),
                "{}",
                drive.name
            );
            assert!(drive.rows.iter().all(|row| row.measured > 0.0), "{}", drive.name);
        }
    }

    /// 14 us at 40,000, 81 at 60,000, 303 at 70,000 and 4,035 beyond: p99 passes 1 ms between the last two, by ln(1000 / 303) of
    /// ln(4035 / 303).
    #[test]
    fn the_knee_lies_between_two_loads_by_the_logarithm() {
        let points = [(39_644.0, 14.0), (59_453.0, 81.0), (69_342.0, 303.0), (76_550.0, 4035.0)];
        assert_eq!(knee(&points).map(f64::round), Some(72_666.0));
        assert_eq!(knee(&points[..3]), None, "it does not pass");
    }

    #[test]
    fn what_is_accepted_has_two_ends() {
        let share = Accepted::Share(0.25);
        assert_eq!(
            [74.9, 75.0, 125.0, 125.1].map(|simulated| share.holds(100.0, simulated)),
            [false, true, true, false]
        );
        let factor = Accepted::Factor(2.0);
        assert_eq!(
            [49.0, 50.0, 200.0, 201.0].map(|simulated| factor.holds(100.0, simulated)),
            [false, true, true, false]
        );
        let side = Accepted::Side(0.05);
        assert!(
            side.holds(1.4, 1.02) && !side.holds(1.4, 1.001) && !side.holds(1.4, 0.9) && side.holds(0.9, 0.5)
        );
        assert!(side.holds(1.004, 0.951) && !side.holds(1.004, 1.06), "no side was measured");
    }

    #[test]
    fn loads_are_named_as_they_are_written() {
        for load in ["sequential", "uniform", "zipf 0.6", "part 0.1", "footprint 0.5"] {
            assert_eq!(Load::named(load).map(|load| load.to_string()).as_deref(), Some(load));
        }
        assert_eq!(Load::named("zipf"), None);
    }
}
