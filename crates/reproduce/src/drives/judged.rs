//! Rows held against runs, beside what needs no simulator.
//!
//! Two baselines stand beside every figure. *Neighbours* is the straight line between the loads before and behind, as they were
//! measured. It knows the drive better than any model, and says nothing of a load beyond them. *Closed form* is what a formula gives: for write
//! amplification the fixed point `p = exp(-a (1 - p))`, `W = 1 / (1 - p)`, where `a` is the flash of the preset over its data; for rates the fill
//! over `W + k (W - 1)`, where `k` is what a copied page costs beside its program; for the median of reads a read that meets nothing.

use harmonia_scenario::Scenario;
use serde::Serialize;

use super::measured::{Drive, Load, Miss, Quantity, Row, knee};
use super::runs::{SCALE, Shown, Shows};
use super::split::Side;
use crate::verdict::Verdict;

/// What copying a unit costs beside programming it, over programming: between 0.39 and 0.52 on the P5520.
const COPY_COST: f64 = 0.42;

/// A row with what came of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The row.
    pub row: Row,
    /// What the run showed, in the unit of the quantity; none if it did not run.
    pub simulated: Option<f64>,
    /// What came of it.
    pub verdict: Verdict,
    /// The straight line between the neighbouring loads.
    pub neighbours: Option<f64>,
    /// What a formula gives.
    pub closed_form: Option<f64>,
    /// Of a miss: its likely reason, and the experiment that would decide.
    pub why: &'static str,
}

/// A row as JSON.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    drive: &'a str,
    load: String,
    quantity: &'static str,
    side: &'static str,
    scale: &'static str,
    measured: f64,
    accepted: String,
    simulated: Option<f64>,
    error: Option<f64>,
    verdict: Verdict,
    noise: Option<f64>,
    neighbours: Option<f64>,
    closed_form: Option<f64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    why: &'static str,
}

impl Judged {
    /// How far off it is, as a share of what was measured.
    pub fn error(&self) -> Option<f64> {
        Some(self.simulated? / self.row.measured - 1.0)
    }

    /// As JSON.
    pub fn line<'a>(&self, drive: &'a str) -> Line<'a> {
        let Row { load, quantity, measured, side } = self.row;
        let round = |value: f64| (value * 1e4).round() / 1e4;
        Line {
            drive,
            load: load.to_string(),
            quantity: quantity.text(),
            side: side.text(),
            scale: SCALE,
            measured: round(measured),
            accepted: quantity.accepted().to_string(),
            simulated: self.simulated.map(round),
            error: self.error().map(round),
            verdict: self.verdict,
            noise: quantity.noise(),
            neighbours: self.neighbours.map(round),
            closed_form: self.closed_form.map(round),
            why: self.why,
        }
    }
}

/// Holds the rows of a drive against its runs.
pub fn judge(drive: &Drive, shows: &Shows) -> Vec<Judged> {
    let formulas = Formulas::of(drive);
    let judged = |row: &Row| {
        let simulated = simulated(drive, row, shows);
        let verdict = match simulated {
            None => Verdict::NotMeasured,
            Some(value) if row.quantity.accepted().holds(row.measured, value) => Verdict::Within,
            Some(_) => Verdict::NotReproduced,
        };
        let why = if verdict == Verdict::NotReproduced { drive.why(row) } else { "" };
        let closed_form = formulas.as_ref().and_then(|formulas| formulas.give(drive, row));
        Judged { row: *row, simulated, verdict, neighbours: neighbours(drive, row), closed_form, why }
    };
    drive.rows.iter().map(judged).collect()
}

/// So many of so many rows within what is accepted, of those that ran.
pub fn counts(judged: &[Judged], side: Side) -> (usize, usize) {
    let ran = |one: &&Judged| one.row.side == side && one.simulated.is_some();
    let within = judged.iter().filter(ran).filter(|one| one.verdict == Verdict::Within).count();
    (within, judged.iter().filter(ran).count())
}

fn simulated(drive: &Drive, row: &Row, shows: &Shows) -> Option<f64> {
    let of = |load| shows.of(drive.name, load);
    let shown = of(row.load);
    Some(match row.quantity {
        Quantity::ReadP50 => shown?.read?[0],
        Quantity::ReadP99 => shown?.read?[1],
        Quantity::ReadP999 => shown?.read?[2],
        Quantity::WriteP50 => shown?.write?[0],
        Quantity::WriteP99 => shown?.write?[1],
        Quantity::WritesDone => shown?.writes,
        Quantity::Sequential => shown?.megabytes,
        Quantity::WriteAmplification => shown?.write_amplification?,
        Quantity::FillOverUniform => of(Load::Sequential)?.megabytes / shown?.megabytes,
        Quantity::OverUniform => shown?.writes / of(Load::UNIFORM)?.writes,
        Quantity::Knee => {
            let point = |load| of(load).and_then(|shown: &Shown| Some((shown.writes, shown.write?[1])));
            let points: Option<Vec<(f64, f64)>> = drive.ladder().into_iter().map(point).collect();
            let points = points?;
            // Where no load brings it to its knee, the knee lies above all of them.
            knee(&points).or(points.last().map(|&(rate, _)| rate))?
        }
    })
}

/// Between the loads before and behind it.
fn neighbours(drive: &Drive, row: &Row) -> Option<f64> {
    let Load::Offered(rate) = row.load else { return None };
    let of = |load: Load| {
        let mut rows = drive.rows.iter();
        let found = rows.find(|other| other.load == load && other.quantity == row.quantity)?;
        let Load::Offered(rate) = load else { return None };
        Some((f64::from(rate), found.measured))
    };
    let ladder = drive.ladder();
    let place = ladder.iter().position(|&load| load == row.load)?;
    let (from, low) = of(*ladder.get(place.checked_sub(1)?)?)?;
    let (to, high) = of(*ladder.get(place + 1)?)?;
    Some(low + (high - low) * (f64::from(rate) - from) / (to - from))
}

/// What formulas give for a drive.
struct Formulas {
    /// Write amplification.
    amplification: f64,
    /// A read that meets nothing. Unit: us.
    read_us: f64,
}

impl Formulas {
    fn of(drive: &Drive) -> Option<Formulas> {
        let text = format!("workload.preset = \"hpc-w\"\narray.devices = 1\nssd.preset = \"{}\"", drive.name);
        let scenario = Scenario::parse(&text, "a drive", &[], None).ok()?;
        let ssd = &scenario.array.members[0].ssd;
        let shape = ssd.resolve().ok()?;
        let flash = f64::from(shape.blocks_per_unit - shape.hard);
        let data = f64::from(shape.blocks_per_unit - shape.reserved_blocks);
        let timing = &ssd.timing;
        // The middle one of three kinds of pages, a quarter of a page over the bus, and the link.
        let unit = 4096.0 / f64::from(ssd.geometry.page_size);
        let read = timing.read.of(1).0 as f64 + timing.transfer.0 as f64 * unit + ssd.link.latency.0 as f64;
        let link = 4096.0 / ssd.link.bandwidth as f64 * 1e9;
        Some(Formulas { amplification: amplification(flash / data), read_us: (read + link) / 1e3 })
    }

    fn give(&self, drive: &Drive, row: &Row) -> Option<f64> {
        let cost = self.amplification + COPY_COST * (self.amplification - 1.0);
        let fill = drive.rows.iter().find(|row| row.quantity == Quantity::Sequential).map(|row| row.measured);
        match row.quantity {
            Quantity::ReadP50 if matches!(row.load, Load::Offered(_)) => Some(self.read_us),
            Quantity::WriteAmplification => Some(self.amplification),
            Quantity::FillOverUniform => Some(cost),
            Quantity::WritesDone => Some(fill? * 1e6 / 4096.0 / cost),
            _ => None,
        }
    }
}

/// Write amplification where blocks are collected in the order in which they were written, `flash` being all of it over the data.
fn amplification(flash: f64) -> f64 {
    let mut valid: f64 = 0.5;
    for _ in 0..1_000 {
        valid = libm::exp(-flash * (1.0 - valid));
    }
    1.0 / (1.0 - valid)
}

impl Drive {
    /// Its loads in ascending order, the one beyond the knee at the end.
    pub(super) fn ladder(&self) -> Vec<Load> {
        let mut loads: Vec<Load> = Vec::new();
        for row in &self.rows {
            let is_probed = matches!(row.load, Load::Offered(_) | Load::Saturated(_));
            if is_probed && !loads.contains(&row.load) {
                loads.push(row.load);
            }
        }
        loads
    }

    /// The reason for a miss of this row.
    fn why(&self, row: &Row) -> &'static str {
        let of = |load: Option<Load>| {
            self.misses.iter().find(|miss| miss.quantity == row.quantity && miss.load == load)
        };
        of(Some(row.load)).or_else(|| of(None)).map_or("", |miss: &Miss| miss.why)
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::drives;
    use super::*;

    fn pm9a3() -> Drive {
        drives().into_iter().find(|drive| drive.name == "samsung-pm9a3-960g").expect("a drive of the page")
    }

    fn find(judged: &[Judged], load: Load, quantity: Quantity) -> &Judged {
        let found = judged.iter().find(|one| one.row.load == load && one.row.quantity == quantity);
        found.expect("a row")
    }

    /// 73 us at 30,000 and 108 at 60,000: 40,000 lies a third of the way.
    #[test]
    fn the_straight_line_goes_through_the_loads_before_and_behind() {
        let judged = judge(&pm9a3(), &Shows::default());
        let line = |rate| find(&judged, Load::Offered(rate), Quantity::ReadP50).neighbours;
        assert!((line(40_000).expect("neighbours") - (73.0 + 35.0 / 3.0)).abs() < 1e-9);
        assert_eq!((line(10_000), line(70_000)), (None, None), "nothing before, and the knee behind");
    }

    #[test]
    fn a_row_is_judged_by_its_run_and_by_no_other() {
        let mut shows = Shows::default();
        let shown = |p50, writes| Shown { read: Some([p50, 237.0, 1.0]), writes, ..Shown::default() };
        shows.insert("samsung-pm9a3-960g", Load::Offered(10_000), shown(73.6, 9_951.0));
        shows.insert(
            "samsung-pm9a3-960g",
            Load::Writes(super::super::measured::Pattern::Zipf(1.0)),
            shown(1.0, 150.0),
        );
        shows.insert("samsung-pm9a3-960g", Load::UNIFORM, shown(1.0, 100.0));
        let judged = judge(&pm9a3(), &shows);
        let of = |load, quantity| find(&judged, load, quantity).verdict;
        let ten = Load::Offered(10_000);
        assert_eq!(of(ten, Quantity::ReadP50), Verdict::Within, "15% above 64 us");
        assert_eq!(of(ten, Quantity::ReadP999), Verdict::NotReproduced);
        assert_eq!(of(ten, Quantity::WriteP50), Verdict::NotMeasured);
        assert_eq!(of(Load::Offered(30_000), Quantity::ReadP50), Verdict::NotMeasured);
        let zipf =
            find(&judged, Load::Writes(super::super::measured::Pattern::Zipf(1.0)), Quantity::OverUniform);
        assert_eq!((zipf.simulated, zipf.verdict), (Some(1.5), Verdict::Within));
        assert_eq!((counts(&judged, Side::Fitted), counts(&judged, Side::Judged)), ((2, 3), (1, 1)));
    }

    /// The fixed point with 20% more flash than data: p = 0.6863, where exp(-1.2 x 0.3137) = 0.6863.
    #[test]
    fn the_formula_is_at_its_fixed_point() {
        let found = amplification(1.2);
        assert!((found - 1.0 / 0.3137).abs() < 0.003, "{found}");
    }
}
