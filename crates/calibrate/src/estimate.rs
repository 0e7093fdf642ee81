//! Figures of a drive, each from the experiment that tells it, in an order in which none needs a later one.
//!
//! ```text
//! writes at depth 1 -> latency -> reads at depth 1 -> page types
//! fill -> program time -> counters, uniform writes or cliff -> spare -> reads beside writes -> minimum run
//! one read beside a crowd -> window
//! ```
//!
//! A figure that follows from one measurement is computed. Where the closed form is not enough, a drive scaled down is simulated and
//! corrected until it shows what was measured. What measurements tell less surely is scanned: all values with which the simulation comes
//! within [`MODEL`] are a range, and a range wider than a factor of two tells nothing.

use harmonia_run::{RunError, RunOptions};
use serde::Serialize;

use crate::closed;
use crate::drive::{Drive, FLOOR, PROGRAM_TRANSFER_US};
use crate::measured::{Experiment, Kind, Measured, Stream};
use crate::simulate::{Shown, shown};

/// How far rates and counters of one drive are apart from day to day, and latencies without load. Unit: share.
pub const RATES: f64 = 0.03;
/// See [`RATES`].
pub const AMPLIFICATIONS: f64 = 0.02;
/// See [`RATES`].
pub const LATENCIES: f64 = 0.02;
/// How far percentiles under load may be off in the simulation. Unit: share.
pub const MODEL: f64 = 0.1;
/// A range wider than this factor tells nothing.
const WIDEST: f64 = 2.0;
/// Capacities that are written until a rate counts as steady: behind its cliff it is level for a while, and falls again.
const SETTLED: f64 = 4.0;
/// Corrections of a simulated drive at most, and how near is near enough. Unit: share.
const CORRECTIONS: usize = 5;
const NEAR: f64 = 0.004;
/// How often the places between two points are halved where a range ends.
const REFINED: usize = 2;
/// Flash of a drive over its capacity: a cliff elsewhere is none, or the log does not begin where the sheet says.
const CLIFFS: std::ops::Range<f64> = 1.02..1.9;
/// Of the outstanding commands: if more of them are under way, no window holds any back.
const CROWDED: f64 = 0.8;
/// A read in a crowd takes so many times as long as one alone, or the drive is not what it waits for.
const BUSY: f64 = 2.0;
/// Times that are tried as the minimum run before a suspend. Unit: us.
const MINIMUM_RUNS: [f64; 6] = [25.0, 50.0, 100.0, 200.0, 400.0, 800.0];

/// How a figure is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "known", content = "from", rename_all = "kebab-case")]
pub enum Known {
    /// By this experiment.
    Identified(String),
    /// By a data sheet, which may promise less than a drive does.
    Given(String),
    /// By nothing, and it is not the preset's either; why it was chosen.
    Assumed(String),
    /// By nothing: it is that of the preset; why.
    NotIdentified(String),
}

/// What was found of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Key below `ssd`.
    pub key: &'static str,
    /// What the measurements allow, in words with units.
    pub range: Option<[String; 2]>,
    /// From where.
    pub known: Known,
}

/// A drive on its way.
pub struct Fit<'a> {
    measured: &'a Measured,
    /// Those that are not held out.
    experiments: Vec<&'a Experiment>,
    options: &'a RunOptions<'a>,
    say: &'a dyn Fn(&str),
    /// As far as it is known.
    pub drive: Drive,
    /// What is known of it.
    pub found: Vec<Found>,
}

impl<'a> Fit<'a> {
    /// Nothing is known yet. `say` hears which stage begins.
    pub fn new(
        measured: &'a Measured,
        held_out: Option<&str>,
        options: &'a RunOptions<'a>,
        say: &'a dyn Fn(&str),
    ) -> Fit<'a> {
        let experiments =
            measured.experiments.iter().filter(|one| Some(one.name.as_str()) != held_out).collect();
        let mut drive = Drive::default();
        if let Some(rate) = measured.sheet.sequential_read {
            drive.bandwidth = rate;
        }
        Fit { measured, experiments, options, say, drive, found: Vec::new() }
    }

    /// All stages.
    ///
    /// # Errors
    /// If it is cancelled, or no drive can be made of what was found.
    pub fn run(&mut self) -> Result<(), RunError> {
        self.latency();
        self.reads();
        self.capacity();
        self.program()?;
        self.spare()?;
        self.minimum_run()?;
        self.window()
    }

    fn of(&self, kind: Kind) -> Option<&'a Experiment> {
        self.experiments.iter().find(|one| one.kind() == kind).copied()
    }

    /// The last uniform writes: those before them may have begun with a drive that was not full.
    fn uniform(&self) -> Option<&'a Experiment> {
        self.experiments.iter().rfind(|one| one.kind() == Kind::Uniform).copied()
    }

    /// Nothing tells, or it was held out.
    fn lacks(&mut self, key: &'static str, kind: Kind, needs: &str) {
        let held_out = self.measured.experiments.iter().find(|one| one.kind() == kind);
        match held_out {
            Some(one) => self.unknown(key, &format!("{} is held out; --hold-out none fits on it", one.name)),
            None => self.unknown(key, needs),
        }
    }

    fn note(&mut self, key: &'static str, range: Option<[String; 2]>, known: Known) {
        self.found.push(Found { key, range, known });
    }

    fn unknown(&mut self, key: &'static str, why: &str) {
        self.note(key, None, Known::NotIdentified(why.to_owned()));
    }

    /// What a command needs beside flash and cache, host included.
    fn latency(&mut self) {
        const KEY: &str = "link.latency";
        let Some(experiment) = self.of(Kind::IdleWrites) else {
            return self.lacks(KEY, Kind::IdleWrites, "needs writes of 4 KiB at depth 1");
        };
        let Some(p50) = Shown::of(experiment).write[0] else {
            return self.unknown(KEY, "the writes at depth 1 have no median");
        };
        self.drive.latency_us = (p50 - self.drive.write_rest_us()).max(0.0);
        let noise = (LATENCIES * p50).max(0.5);
        let range = us(self.drive.latency_us - noise, self.drive.latency_us + noise);
        self.note(KEY, Some(range), Known::Identified(experiment.name.clone()));
    }

    /// A third of all pages has each type: the middles of the thirds, and the range between quarters and three quarters of each.
    fn reads(&mut self) {
        const KEY: &str = "timing.read";
        let Some(experiment) = self.of(Kind::IdleReads) else {
            return self.lacks(KEY, Kind::IdleReads, "needs random reads of 4 KiB at depth 1");
        };
        let side = experiment.streams[0].read.as_ref();
        let rest = self.drive.latency_us + self.drive.read_rest_us();
        let at = |share: f64| side.and_then(|side| side.latency.at(share)).map(|us| us - rest);
        let thirds = |within: f64| [0.0, 1.0, 2.0].map(|third| at((third + within) / 3.0));
        let (Some(low), Some(middle), Some(high)) = (all(thirds(0.25)), all(thirds(0.5)), all(thirds(0.75)))
        else {
            return self.unknown(KEY, "the reads at depth 1 have neither bins nor enough percentiles");
        };
        if middle[0] <= 0.0 {
            return self
                .unknown(KEY, &format!("reads of {} take no longer than link.latency", experiment.name));
        }
        let [low, middle, high] = [low, middle, high].map(|times| times.map(|us: f64| us.max(0.1)));
        self.drive.read_us = middle;
        let (low, high) = (low.map(|us| us * (1.0 - LATENCIES)), high.map(|us| us * (1.0 + LATENCIES)));
        let list = |times: [f64; 3]| times.map(|time| format!("{time:.1}")).join(", ") + " us";
        let known = match self.of(Kind::IdleWrites) {
            Some(writes) => format!("{} and {}", experiment.name, writes.name),
            None => format!("{}, in sum with link.latency", experiment.name),
        };
        self.note(KEY, Some([list(low), list(high)]), Known::Identified(known));
    }

    fn capacity(&mut self) {
        const KEY: &str = "geometry.blocks_per_plane";
        match self.measured.sheet.capacity {
            Some(_) => self.note(KEY, None, Known::Given("capacity and spare".to_owned())),
            None => self.unknown(KEY, "needs drive.capacity; a rate does not tell how large a drive is"),
        }
        self.resize();
    }

    /// As many blocks as the capacity takes with the spare that is known.
    fn resize(&mut self) {
        let capacity = self.measured.sheet.capacity.unwrap_or(960_000_000_000);
        self.drive = self.drive.clone().with_capacity(capacity);
    }

    /// Dies times bytes of a program over its time is the rate of a fill.
    fn program(&mut self) -> Result<(), RunError> {
        const KEY: &str = "timing.program";
        let over_time = self.measured.over_time.as_ref();
        let first = over_time.and_then(|over_time| Some((over_time.cliff()?.0, &over_time.name)));
        let (rate, known, load) = match (self.of(Kind::Fill), first, self.measured.sheet.sequential_write) {
            (Some(fill), _, _) => (fill.written(), Known::Identified(fill.name.clone()), fill.clone()),
            (None, Some((rate, name)), _) => {
                (rate, Known::Identified(format!("{name}, before its cliff")), synthetic_fill())
            }
            (None, None, Some(rate)) => {
                (rate as f64, Known::Given("drive.sequential_write".to_owned()), synthetic_fill())
            }
            (None, None, None) => {
                self.unknown("geometry.channels", "no load tells how many dies there are");
                self.unknown(KEY, "needs the fill of an erased drive");
                return Ok(());
            }
        };
        (self.say)("how long does a program take?");
        let before = self.drive.clone();
        self.drive.dies = Drive::dies_for(rate);
        self.resize();
        self.drive.program_us = (self.drive.cycle_us(rate) - PROGRAM_TRANSFER_US).max(10.0);
        let mut error = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let Some(simulated) = self.simulate(&load)? else { break };
            error = (simulated.written / rate - 1.0).abs();
            if error < NEAR {
                break;
            }
            let longer = self.drive.cycle_us(rate) - self.drive.cycle_us(simulated.written);
            self.drive.program_us = (self.drive.program_us + longer).max(10.0);
        }
        if error > RATES {
            self.drive = before;
            self.unknown("geometry.channels", "no load tells how many dies there are");
            self.unknown(KEY, "no time gives this rate: the link or the cache of the preset holds it up");
            return Ok(());
        }
        let dies = "only dies times bytes over the time of a program are known; as many as leave a program about 2 ms";
        self.note("geometry.channels", None, Known::Assumed(dies.to_owned()));
        let noise = RATES * self.drive.cycle_us(rate);
        let range = us(self.drive.program_us - noise, self.drive.program_us + noise);
        self.note(KEY, Some(range), known);
        Ok(())
    }

    /// By counters, or else by the rate of uniform writes beside that of the fill, or else by the cliff.
    fn spare(&mut self) -> Result<(), RunError> {
        const KEY: &str = "ftl.reserved_blocks";
        let uniform = self.uniform();
        let sheet = &self.measured.sheet;
        let knows_program = self.found.iter().any(|found| {
            found.key == "timing.program" && matches!(found.known, Known::Identified(_) | Known::Given(_))
        });
        // Uniform writes that were measured behind a short overwrite, or while they filled the drive, are too fast.
        let loads = self.measured.experiments.iter().filter(|one| one.kind() == Kind::Uniform).count();
        let is_settled = self.steady().is_some() || (self.measured.over_time.is_none() && loads < 2);
        let counted = sheet.uniform.map(|media| media / sheet.sequential.unwrap_or(1.0));
        let (target, from) = match (counted, uniform, self.steady()) {
            (Some(ratio), _, _) => (Target::Amplification(ratio), "counters.uniform".to_owned()),
            (None, _, Some((rate, name))) if knows_program => {
                (Target::Rate(rate), format!("{name}, its end"))
            }
            (None, Some(uniform), None) if knows_program && is_settled => {
                (Target::Rate(uniform.written()), uniform.name.clone())
            }
            _ => return self.spare_by_cliff(),
        };
        (self.say)("how much spare has it?");
        let before = self.drive.clone();
        let load = uniform.cloned().unwrap_or_else(synthetic_uniform);
        let media = self.drive.dies as f64 / (self.drive.program_us + PROGRAM_TRANSFER_US);
        let media = media * crate::drive::PROGRAM_BYTES * 1e6;
        let mut cost = target.cost(media);
        let mut error = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            self.drive.reserved = target.reserved(cost);
            self.resize();
            let Some(simulated) = self.simulate(&load)? else { break };
            let Some(over) = target.over(&simulated) else { break };
            error = (over - 1.0).abs();
            if error < NEAR {
                break;
            }
            cost /= over;
        }
        if error > RATES {
            self.drive = before;
            self.unknown(KEY, "no spare gives the write amplification or the rate that was measured");
            return Ok(());
        }
        let noise = target.noise();
        let range =
            [cost * (1.0 + noise), cost * (1.0 - noise)].map(|cost| format!("{:.1}%", target.reserved(cost)));
        self.note(KEY, Some(range), Known::Identified(from));
        Ok(())
    }

    /// A drive that is written at random from the erased state on collects when its flash is full.
    fn spare_by_cliff(&mut self) -> Result<(), RunError> {
        const KEY: &str = "ftl.reserved_blocks";
        let Some((flash, name)) = self.cliff() else {
            self.unknown(
                KEY,
                "needs counters, uniform writes beside the fill, or bandwidth over time with drive.capacity",
            );
            return Ok(());
        };
        if !CLIFFS.contains(&flash) {
            let why =
                format!("{name} has its cliff after {flash:.2} capacities: see over_time.written_before");
            self.unknown(KEY, &why);
            return Ok(());
        }
        self.drive.reserved = percent(closed::reserved(flash, FLOOR));
        self.resize();
        let range = [0.98, 1.02].map(|off| format!("{:.1}%", percent(closed::reserved(flash * off, FLOOR))));
        self.note(KEY, Some(range), Known::Identified(format!("the cliff in {name}")));
        Ok(())
    }

    /// Rate after four drive writes, in bytes/s, and the file that tells.
    pub fn steady(&self) -> Option<(f64, &'a str)> {
        let over_time = self.measured.over_time.as_ref()?;
        let least = (SETTLED - self.measured.sheet.written_before) * self.measured.sheet.capacity? as f64;
        Some((over_time.steady(least)?, &over_time.name))
    }

    /// Capacities that can be written before the cliff, and the file that tells.
    pub fn cliff(&self) -> Option<(f64, &'a str)> {
        let over_time = self.measured.over_time.as_ref()?;
        let capacity = self.measured.sheet.capacity? as f64;
        let flash = over_time.cliff()?.1 / capacity + self.measured.sheet.written_before;
        Some((flash, &over_time.name))
    }

    /// Reads that meet a program wait until it has run so long.
    fn minimum_run(&mut self) -> Result<(), RunError> {
        const KEY: &str = "timing.minimum_run";
        let Some(experiment) = self.of(Kind::Beside) else {
            self.lacks(KEY, Kind::Beside, "needs reads beside writes that the drive keeps up with");
            return Ok(());
        };
        let Some(measured) = Shown::of(experiment).read[1] else {
            self.unknown(KEY, "the reads have no p99");
            return Ok(());
        };
        (self.say)("how long does a program run before it is suspended?");
        let mut points = self.p99_with(&MINIMUM_RUNS, experiment)?;
        // A line between two points far apart is no measurement: where the range begins and ends, there are more.
        for _ in 0..REFINED {
            points.extend(self.p99_with(&between(&points, measured), experiment)?);
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let ends = points.first().zip(points.last()).map(|(first, last)| [first.0 * 1.01, last.0 / 1.01]);
        match consistent(&points, measured).zip(ends) {
            Some(([low, value, high], [first, last]))
                if low > first && high < last && high <= WIDEST * low =>
            {
                self.drive.minimum_run_us = value;
                self.note(KEY, Some(us(low, high)), Known::Identified(experiment.name.clone()));
            }
            Some(([low, _, high], _)) => {
                let known = Known::NotIdentified(format!(
                    "{} allows more than a factor of two, or values beyond those tried",
                    experiment.name
                ));
                self.note(KEY, Some(us(low, high)), known);
            }
            None => self.unknown(KEY, &format!("no value shows what {} does", experiment.name)),
        }
        Ok(())
    }

    /// Minimum runs with the p99 that reads have with each.
    fn p99_with(&self, minimum_runs: &[f64], experiment: &Experiment) -> Result<Vec<(f64, f64)>, RunError> {
        let with = |&minimum_run_us: &f64| Drive { minimum_run_us, ..self.drive.clone() };
        let drives: Vec<Drive> = minimum_runs.iter().map(with).collect();
        let runs: Vec<(&Drive, &Experiment)> = drives.iter().map(|drive| (drive, experiment)).collect();
        let shown = shown(&runs, self.options)?;
        let point = |(drive, shown): (&Drive, Option<Shown>)| Some((drive.minimum_run_us, shown?.read[1]?));
        Ok(drives.iter().zip(shown).filter_map(point).collect())
    }

    /// As many commands as are under way where many more are outstanding.
    fn window(&mut self) -> Result<(), RunError> {
        const KEY: &str = "controller.command_window";
        let Some(experiment) = self.of(Kind::Crowd) else {
            self.lacks(KEY, Kind::Crowd, "needs one read at a time beside more reads than the drive takes");
            return Ok(());
        };
        let commands = match self.under_way(experiment) {
            Ok(commands) => commands,
            Err(why) => {
                self.unknown(KEY, &why);
                return Ok(());
            }
        };
        (self.say)("how many commands does it take at once?");
        let whole = |commands: f64| libm::round(commands).max(1.0) as u32;
        let usual = std::mem::replace(&mut self.drive.window, whole(commands));
        // A read waits for its turn before it is taken, and then it seems that a few more are under way.
        let Some(simulated) = self.simulate(experiment)?.and_then(|shown| shown.under_way) else {
            self.drive.window = usual;
            self.unknown(KEY, "the load cannot be simulated with such a window");
            return Ok(());
        };
        let outside = simulated - f64::from(self.drive.window);
        self.drive.window = whole(commands - outside);
        let noise = (RATES + LATENCIES) * commands;
        let range = [-noise, noise].map(|off| whole(commands - outside + off).to_string());
        self.note(KEY, Some(range), Known::Identified(experiment.name.clone()));
        Ok(())
    }

    /// Commands that a drive has taken in a crowd, or why they are not all that it takes.
    fn under_way(&self, crowd: &Experiment) -> Result<f64, String> {
        let commands = Shown::of(crowd).under_way.ok_or("the reads have no mean")?;
        let outstanding = crowd.outstanding();
        if commands > CROWDED * outstanding as f64 {
            return Err(format!(
                "it takes nearly all {outstanding} reads of {}, or takes those first that came first",
                crowd.name
            ));
        }
        let waits = commands / crowd.completed() * 1e6;
        if waits < BUSY * (self.drive.read_us[1] + self.drive.latency_us + self.drive.read_rest_us()) {
            return Err(format!("reads of {} hardly wait, so the host may hold them back", crowd.name));
        }
        Ok(commands)
    }

    fn simulate(&self, load: &Experiment) -> Result<Option<Shown>, RunError> {
        Ok(shown(&[(&self.drive, load)], self.options)?.swap_remove(0))
    }
}

/// What uniform writes have to show.
enum Target {
    /// Media over host bytes.
    Amplification(f64),
    /// Bytes written in a second.
    Rate(f64),
}

impl Target {
    /// What a write costs of programming one, which grows as spare shrinks: write amplification, or media rate over rate.
    fn cost(&self, media: f64) -> f64 {
        match self {
            Target::Amplification(ratio) => *ratio,
            Target::Rate(rate) => media / rate,
        }
    }

    /// Reserved blocks with which a write costs so much. Unit: percent.
    fn reserved(&self, cost: f64) -> f64 {
        let amplification = match self {
            Target::Amplification(_) => cost,
            Target::Rate(_) => closed::of_ratio(cost),
        };
        percent(closed::reserved(closed::flash(amplification.max(1.05)), FLOOR))
    }

    /// What writes cost in the simulation, over what they should.
    fn over(&self, simulated: &Shown) -> Option<f64> {
        Some(match self {
            Target::Amplification(ratio) => simulated.amplification? / ratio,
            Target::Rate(rate) => rate / simulated.written,
        })
    }

    fn noise(&self) -> f64 {
        match self {
            Target::Amplification(_) => AMPLIFICATIONS,
            Target::Rate(_) => RATES,
        }
    }
}

/// Of a curve through points, straight between logarithms, the lowest, the best and the highest place that is within [`MODEL`] of what
/// was measured; `None` if there is none.
fn consistent(points: &[(f64, f64)], measured: f64) -> Option<[f64; 3]> {
    const STEPS: u32 = 64;
    let mut near: Vec<(f64, f64)> = Vec::new();
    for pair in points.windows(2) {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]].map(|(x, y)| (libm::log(x), libm::log(y)));
        for step in 0..=STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            let (x, y) = (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
            near.push((libm::exp(x), (libm::exp(y) / measured - 1.0).abs()));
        }
    }
    near.retain(|(_, error)| *error <= MODEL);
    let best = near.iter().min_by(|one, other| one.1.total_cmp(&other.1))?.0;
    Some([near[0].0, best, near[near.len() - 1].0])
}

/// Middles between neighbours of which only one is within [`MODEL`] of what was measured, or that lie on either side of it.
fn between(points: &[(f64, f64)], measured: f64) -> Vec<f64> {
    let side = |y: f64| match y / measured - 1.0 {
        off if off < -MODEL => -1,
        off if off > MODEL => 1,
        _ => 0,
    };
    let pairs = points.windows(2).filter(|pair| side(pair[0].1) != side(pair[1].1));
    pairs.map(|pair| libm::sqrt(pair[0].0 * pair[1].0)).collect()
}

/// Of blocks, within what a drive may have. Unit: percent.
fn percent(share: f64) -> f64 {
    (share * 100.0).clamp(4.0, 45.0)
}

fn us(low: f64, high: f64) -> [String; 2] {
    [low.max(0.0), high].map(|us| format!("{us:.1} us"))
}

fn all(values: [Option<f64>; 3]) -> Option<[f64; 3]> {
    match values {
        [Some(low), Some(middle), Some(high)] => Some([low, middle, high]),
        _ => None,
    }
}

fn writes(name: &str, is_random: bool, block: u64, depth: u32) -> Experiment {
    let stream = Stream {
        reads: 0.0,
        is_random,
        block,
        depth,
        jobs: 1,
        rate: None,
        is_poisson: false,
        read: None,
        write: None,
    };
    Experiment { name: name.to_owned(), streams: vec![stream] }
}

/// A fill as it is usually measured, where only its rate is known.
fn synthetic_fill() -> Experiment {
    writes("a fill", false, 512 << 10, 4)
}

/// Uniform writes, where only counters or their rate are known.
pub(crate) fn synthetic_uniform() -> Experiment {
    writes("uniform writes", true, 4096, 256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::{Cdf, Side};

    #[test]
    fn a_range_has_all_places_that_are_near() {
        // y = x: within a tenth of 100 lie 90 to 110.
        let line = [(25.0, 25.0), (50.0, 50.0), (200.0, 200.0)];
        let [low, best, high] = consistent(&line, 100.0).expect("a range");
        assert!((90.0..94.0).contains(&low) && (106.0..=110.0).contains(&high), "{low} {high}");
        assert!((best - 100.0).abs() < 2.0, "{best}");
        // A level curve tells nothing, and one that is elsewhere has no place.
        let level = [(8.0, 100.0), (512.0, 101.0)];
        let [low, _, high] = consistent(&level, 100.0).expect("a range");
        assert!(low <= 8.001 && high >= 511.9, "{low} {high}");
        assert_eq!(consistent(&level, 200.0), None);
        assert_eq!(consistent(&[], 200.0), None);
    }

    /// 100 lies between the second and the third point.
    #[test]
    fn points_are_added_where_a_range_ends() {
        let line = [(25.0, 25.0), (50.0, 50.0), (200.0, 200.0), (800.0, 800.0)];
        assert_eq!(between(&line, 100.0), [100.0]);
        assert_eq!(between(&line, 195.0), [100.0, 400.0]);
        assert_eq!(between(&line[..2], 100.0), [0.0; 0]);
    }

    /// 34,000 reads a second, 1,025 of them outstanding, of which the one that is alone takes 6 ms: 204 are under way.
    #[test]
    fn a_crowd_tells_how_many_commands_are_under_way() {
        let reads = |depth, jobs, rate, mean| Stream {
            reads: 1.0,
            depth,
            jobs,
            read: Some(Side { rate, mean, ..Side::default() }),
            ..writes("", true, 4096, 1).streams.swap_remove(0)
        };
        let (measured, options) = (Measured::default(), RunOptions::default());
        let fit = Fit::new(&measured, None, &options, &|_| {});
        let told = |mean: Option<f64>| {
            let streams = vec![reads(1, 1, 150.0, mean), reads(256, 4, 33_850.0, Some(30_000.0))];
            fit.under_way(&Experiment { name: "crowd".to_owned(), streams })
        };
        assert!((told(Some(6_000.0)).expect("a window") - 204.0).abs() < 1e-9);
        for (mean, why) in [
            (Some(30_000.0), "it takes nearly all 1025 reads of crowd"),
            (Some(100.0), "reads of crowd hardly wait"),
            (None, "have no mean"),
        ] {
            let says = told(mean).expect_err("no window");
            assert!(says.contains(why), "{says}");
        }
    }

    /// Writes say that all commands take 95 us. Reads that take less tell nothing of the flash.
    #[test]
    fn reads_that_take_less_than_the_link_tell_no_time_of_the_flash() {
        for (us, is_known) in [(60.0, false), (160.0, true)] {
            let latency = Cdf::Bins([0.0, 10.0, 20.0].map(|more| (us + more, (more + 10.0) / 30.0)).to_vec());
            let stream = Stream {
                reads: 1.0,
                read: Some(Side { latency, ..Side::default() }),
                ..writes("", true, 4096, 1).streams.swap_remove(0)
            };
            let idle = Experiment { name: "idle".to_owned(), streams: vec![stream] };
            let (measured, options) =
                (Measured { experiments: vec![idle], ..Measured::default() }, RunOptions::default());
            let mut fit = Fit::new(&measured, None, &options, &|_| {});
            let default = fit.drive.read_us;
            fit.drive.latency_us = 95.0;
            fit.reads();
            let known = &fit.found.last().expect("told").known;
            assert_eq!(matches!(known, Known::Identified(_)), is_known, "{known:?}");
            assert_eq!(fit.drive.read_us == default, !is_known, "{:?}", fit.drive.read_us);
        }
    }

    /// More reserved blocks, fewer copies.
    #[test]
    fn spare_shrinks_with_what_a_write_costs() {
        for target in [Target::Amplification(3.0), Target::Rate(5e8)] {
            let spares = [2.0, 3.0, 5.0, 9.0].map(|cost| target.reserved(cost));
            assert!(spares.windows(2).all(|pair| pair[1] < pair[0]), "{spares:?}");
        }
        let simulated = Shown { amplification: Some(3.3), written: 5.5e8, ..Shown::default() };
        assert!((Target::Amplification(3.0).over(&simulated).expect("known") - 1.1).abs() < 1e-9);
        assert!((Target::Rate(5e8).over(&simulated).expect("known") - 1.0 / 1.1).abs() < 1e-9);
    }
}
