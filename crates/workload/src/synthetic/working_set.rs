//! A footprint that is touched bit by bit, and returned to.
//!
//! ```text
//!   footprint   |= stretch =|= stretch =|= stretch =|= stretch =|
//!               |##### ^    |           |###########|###### ^   |     # touched   ^ where first touches go on
//! ```
//!
//! The footprint is cut into stretches, which are opened in an order drawn from the seed, up to [`HEADS`] at a time, and
//! touched from their start to their end. For each byte asked for `first_touch` bytes are touched for the first time, so a
//! load of a known number of bytes touches the whole footprint and nothing else, whatever chance does: the footprint is a
//! promise, not an expectation. What would cross the end of a stretch lies as far back as it fits.
//!
//! - A request that is due touches what was not touched before, behind one of the heads.
//! - `sequential` of the requests go on where the last one ended. Such a run may get ahead of what is due; it ends where
//!   its stretch does, or, if it returns to touched places, where these end and nothing is due.
//! - Others return to a touched place: see [`WorkingSetPattern::reuse`].
//!
//! Touching is counted in grains of 4 KiB whatever the page of the array. Starts within a grain are drawn among the
//! multiples of `start_unit`; where first touches have fallen behind, the last of them, which reaches furthest.
//!
//! Leaves out: places that go out of use, returns after a typical time, a pace that changes.

use harmonia_engine::{Permutation, Rng};
use harmonia_types::Bytes;

use super::check_share;
use crate::{SizeDistribution, WorkingSetPattern};

/// What is touched, in bytes.
const GRAIN: Bytes = 4096;
/// Stretches in which first touches go on at a time.
const HEADS: usize = 16;
/// A stretch is so many times as long as what a byte of the load lies in on average, so that what lies back at its end
/// costs little, and, of sequential requests, than that times the length of a run, so that few runs end there.
const STRETCH_SIZES: f64 = 32.0;
const RUN_MAX: f64 = 64.0;
/// Most stretches: one of them is looked for one by one.
const STRETCHES_MAX: u64 = 1024;
/// First touches that are this part of the footprint behind go before anything else.
const LAG: u64 = 200;
/// The first part of what is touched is returned to evenly. A steep law would have one page, and so one die, take all: fits of
/// public traces answered two to four times as slowly as the traces.
const HEAD: f64 = 0.01;
/// Places that are tried for a request before it goes to any.
const TRIES: usize = 4;

/// The pattern at work.
#[derive(Debug, Clone)]
pub(super) struct WorkingSet {
    pattern: WorkingSetPattern,
    start_unit: Bytes,
    /// Length of the footprint, in grains.
    grains: u64,
    /// Length of a stretch, in grains; the last has what is left as well.
    stretch: u64,
    stretches: u64,
    scatter: Permutation,
    /// Those opened so far, in their order.
    opened: Vec<Stretch>,
    /// Places in `opened` of those that are not full.
    heads: Vec<usize>,
    touched: u64,
    asked: f64,
    run: Option<Run>,
}

/// One that has been opened.
#[derive(Debug, Clone)]
struct Stretch {
    start: Bytes,
    grains: u64,
    touched: u64,
}

/// Where the last request was.
#[derive(Debug, Clone, Copy)]
struct Run {
    place: usize,
    end: Bytes,
    is_first: bool,
}

impl Stretch {
    fn end(&self) -> Bytes {
        self.start + self.grains * GRAIN
    }

    fn touched_end(&self) -> Bytes {
        self.start + self.touched * GRAIN
    }

    fn is_full(&self) -> bool {
        self.touched == self.grains
    }
}

impl WorkingSet {
    /// On the first `bytes`, for requests of these sizes that start at multiples of `start_unit`. Equal `keys` scatter alike.
    pub(super) fn new(
        pattern: WorkingSetPattern,
        bytes: Bytes,
        sizes: &SizeDistribution,
        start_unit: Bytes,
        keys: Rng,
    ) -> Result<Self, String> {
        check_share("address.sequential", pattern.sequential)?;
        for (key, value) in [("first_touch", pattern.first_touch), ("reuse", pattern.reuse)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(format!("address.{key} = {value}: it must be greater than 0"));
            }
        }
        let grains = bytes / GRAIN;
        if grains == 0 {
            return Err(format!("address.footprint of {bytes} bytes is less than 4 KiB"));
        }
        let run = 1.0 / (1.0 - pattern.sequential).max(1.0 / RUN_MAX);
        let wanted = (STRETCH_SIZES * run * bytewise_mean(sizes) / GRAIN as f64).ceil() as u64;
        let longest = sizes.must_fit().div_ceil(GRAIN) + 1;
        let stretch = wanted.max(longest).max(grains.div_ceil(STRETCHES_MAX)).min(grains);
        let stretches = grains / stretch;
        Ok(WorkingSet {
            pattern,
            start_unit,
            grains,
            stretch,
            stretches,
            scatter: Permutation::new(stretches, keys),
            opened: Vec::new(),
            heads: Vec::new(),
            touched: 0,
            asked: 0.0,
            run: None,
        })
    }

    /// Where the next request starts.
    pub(super) fn place(&mut self, length: Bytes, rng: &mut Rng) -> Bytes {
        self.asked += length as f64;
        let due = ((self.asked * self.pattern.first_touch / GRAIN as f64) as u64).min(self.grains);
        let behind = due.saturating_sub(self.touched);
        let goes_on = rng.chance(self.pattern.sequential);
        let far_behind = behind > self.grains / LAG + length.div_ceil(GRAIN);
        let placed = goes_on.then(|| self.follow(length, behind, far_behind)).flatten();
        let placed = placed.or_else(|| if behind > 0 { self.first(length, far_behind, rng) } else { None });
        let placed = placed.or_else(|| (0..TRIES).find_map(|_| self.again(length, rng)));
        placed.or_else(|| self.first(length, false, rng)).unwrap_or_else(|| self.anywhere(length, rng))
    }

    /// Where the last request ended, if one may go on there.
    fn follow(&mut self, length: Bytes, behind: u64, far_behind: bool) -> Option<Bytes> {
        let Run { place, end, is_first } = self.run?;
        let start = end.next_multiple_of(self.start_unit);
        let stretch = &self.opened[place];
        let (is_touched, is_inside) =
            (start + length <= stretch.touched_end(), start + length <= stretch.end());
        let may = if is_touched { !far_behind } else { is_inside && (is_first || behind > 0) };
        may.then(|| self.touch(place, start, length, is_first))
    }

    /// Behind one of the heads.
    fn first(&mut self, length: Bytes, reaching: bool, rng: &mut Rng) -> Option<Bytes> {
        let place = self.head(rng)?;
        let inside = if reaching { GRAIN - self.start_unit.min(GRAIN) } else { self.inside(rng) };
        let stretch = &self.opened[place];
        let latest = stretch.end().checked_sub(length).filter(|&latest| latest >= stretch.start)?;
        let start = (stretch.touched_end() + inside).min(self.unit_below(latest));
        Some(self.touch(place, start, length, true))
    }

    /// At a touched place.
    fn again(&mut self, length: Bytes, rng: &mut Rng) -> Option<Bytes> {
        let share = match libm::pow(rng.unit(), 1.0 / self.pattern.reuse) {
            share if share < HEAD => rng.unit() * HEAD,
            share => share,
        };
        let mut grain = (share * self.touched as f64) as u64;
        let passed = |stretch: &Stretch| {
            let is_it = grain < stretch.touched;
            if !is_it {
                grain -= stretch.touched;
            }
            is_it
        };
        let place = self.opened.iter().position(passed)?;
        let inside = self.inside(rng);
        let stretch = &self.opened[place];
        let latest = stretch.touched_end().checked_sub(length).filter(|&latest| latest >= stretch.start)?;
        let start = (stretch.start + grain * GRAIN + inside).min(self.unit_below(latest));
        Some(self.touch(place, start, length, false))
    }

    /// For what fits into no stretch, or nowhere else any more.
    fn anywhere(&mut self, length: Bytes, rng: &mut Rng) -> Bytes {
        self.run = None;
        let starts = (self.grains * GRAIN).saturating_sub(length) / self.start_unit + 1;
        rng.below(starts) * self.start_unit
    }

    /// Notes that a request lies there.
    fn touch(&mut self, place: usize, start: Bytes, length: Bytes, is_first: bool) -> Bytes {
        let stretch = &mut self.opened[place];
        let reached = (start + length - stretch.start).div_ceil(GRAIN).min(stretch.grains);
        self.touched += reached.saturating_sub(stretch.touched);
        stretch.touched = stretch.touched.max(reached);
        if stretch.is_full() {
            self.heads.retain(|&head| head != place);
        }
        self.run = Some(Run { place, end: start + length, is_first });
        start
    }

    /// One of the stretches that are not full, as a place in `opened`.
    fn head(&mut self, rng: &mut Rng) -> Option<usize> {
        let unopened = self.stretches as usize - self.opened.len();
        let most = HEADS.min(self.heads.len() + unopened);
        if most == 0 {
            return None;
        }
        let head = rng.below(most as u64) as usize;
        if head >= self.heads.len() {
            self.open();
            return self.heads.last().copied();
        }
        Some(self.heads[head])
    }

    fn open(&mut self) {
        let index = self.scatter.apply(self.opened.len() as u64);
        let is_last = index + 1 == self.stretches;
        let grains = if is_last { self.grains - index * self.stretch } else { self.stretch };
        self.heads.push(self.opened.len());
        self.opened.push(Stretch { start: index * self.stretch * GRAIN, grains, touched: 0 });
    }

    /// Where in its grain a request starts.
    fn inside(&self, rng: &mut Rng) -> Bytes {
        match GRAIN / self.start_unit {
            0 | 1 => 0,
            starts => rng.below(starts) * self.start_unit,
        }
    }

    fn unit_below(&self, offset: Bytes) -> Bytes {
        offset / self.start_unit * self.start_unit
    }
}

/// Mean size of the request that a byte of the load lies in.
fn bytewise_mean(sizes: &SizeDistribution) -> f64 {
    match sizes {
        SizeDistribution::Fixed { mean } => *mean as f64,
        SizeDistribution::Exponential { mean } => 2.0 * *mean as f64,
        SizeDistribution::Normal { mean, stddev } => {
            let (mean, stddev) = (*mean as f64, *stddev as f64);
            mean + stddev * stddev / mean.max(1.0)
        }
        SizeDistribution::Choices(choices) => {
            choices.mean(|&size| size as f64 * size as f64) / choices.mean(|&size| size as f64)
        }
    }
}
