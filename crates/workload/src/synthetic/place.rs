//! Where synthetic requests go.
//!
//! **Footprint**: the first `footprint` of the space, to the nearest whole page. **Alignment**: with `align` the
//! length is rounded up to whole pages and the start drawn among page boundaries, so 510.53 KB is 125 pages of 4 KiB
//! wherever it lands. Without it lengths stay as they are, and starts are multiples of `start_unit`. **Skew**: a share of the requests is pinned to one member and lies wholly inside it; its
//! offset is on that member. The others carry no member: the array lays them out over the *other* members, so the
//! space they address is that of `members - 1` (or, with `skew_rest = "all"`, over all members as usual):
//!
//! ```text
//!   no skew      |------------- logical_bytes --------------|   striped over all members
//!   skew, others |------ logical_bytes * (n-1)/n ------|        striped by the array over all but skew_member
//!   skew, pinned |- member_bytes -|                             on skew_member, bypassing the stripe
//! ```
//!
//! **Pattern**, inside the footprint:
//!
//! - *uniform*: a start among all where the request fits.
//! - *sequential*: where the last request of the same space ended.
//! - *zipf*: the page a request starts in follows a zipf law ([`zipf`](super::zipf)), its hot pages scattered over the
//!   footprint; an unaligned request starts at any byte of that page. What would cross the footprint's end starts as
//!   late as it fits instead.
//! - *hotspot*: `hot_traffic` of the requests go to the first `hot_space` of the footprint, to the nearest page, and the
//!   others to the rest; uniform within each, and never across the border.
//! - *working-set*: see [`working_set`](super::working_set).
//! - *files*: see [`files`](super::files). The only pattern that says what a request does as well as where.
//!
//! A trim of any other pattern goes where a write might, to what was written or not.
//!
//! Striping deals the pages of any pattern but a pinned one to all members alike. Ageing overwrites uniformly unless
//! `precondition.overwrite_space = "load"`. Then under zipf or hotspot the garbage moves to another steady state in the course of
//! the run, so measure after a warm-up of several times the hot pages.

use harmonia_engine::Rng;
use harmonia_types::units::format_bytes;
use harmonia_types::{Bytes, DeviceId, Divisor, Operation};

use super::check_share;
use super::files::Files;
use super::working_set::WorkingSet;
use super::zipf::Zipf;
use crate::{AddressPattern, ArrayGeometryForLoad, Extent, SkewRest, SyntheticConfig};

/// A request's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) operation: Operation,
    pub(super) offset: Bytes,
    pub(super) length: Bytes,
    pub(super) member: Option<DeviceId>,
}

/// Chooses addresses.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    page_size: Bytes,
    /// Lengths are rounded up to multiples of this: the page, or one byte.
    unit: Divisor,
    /// Starts are multiples of this.
    start_unit: Divisor,
    rng: Rng,
    /// Whether a request is one of the hot ones, if the pattern has such.
    hot: Option<(f64, Rng)>,
    striped: Space,
    skew: Option<Skew>,
}

#[derive(Debug, Clone)]
struct Skew {
    fraction: f64,
    member: DeviceId,
    space: Space,
    rng: Rng,
}

/// A stretch of addresses from 0.
#[derive(Debug, Clone)]
struct Space {
    bytes: Bytes,
    pattern: Pattern,
}

/// An [`AddressPattern`] at work in one space.
#[derive(Debug, Clone)]
enum Pattern {
    Uniform,
    Sequential {
        /// Where the last request ended.
        cursor: Bytes,
    },
    Zipf(Zipf),
    Hotspot {
        /// Where the hot bytes end.
        border: Bytes,
    },
    WorkingSet(Box<WorkingSet>),
    Files(Box<Files>),
}

impl Placement {
    pub(super) fn new(
        config: &SyntheticConfig,
        array: &ArrayGeometryForLoad,
        seed: u64,
    ) -> Result<Self, String> {
        check_share("skew_fraction", config.skew_fraction)?;
        check_extent("address.footprint", config.footprint, array.logical_bytes)?;
        if config.start_unit == 0 {
            return Err("address.align = 0 bytes: requests start at multiples of it; 1 for any byte".into());
        }
        let start_unit = if config.align { array.page_size } else { config.start_unit };
        let space = |bytes| Space::new(bytes, config, array.page_size, start_unit, seed);
        let mut logical = array.logical_bytes;
        let mut skew = None;
        if config.skew_fraction > 0.0 {
            check_skew(config, array)?;
            if config.skew_rest == SkewRest::Others {
                let members = u128::from(array.members);
                logical = (u128::from(logical) * (members - 1) / members) as Bytes;
            }
            skew = Some(Skew {
                fraction: config.skew_fraction,
                member: DeviceId(config.skew_member),
                space: space(array.member_bytes)?,
                rng: Rng::stream(seed, "workload/skew"),
            });
        }
        let hot = match config.address {
            AddressPattern::Hotspot { hot_traffic, .. } => {
                check_share("address.hot_traffic", hot_traffic)?;
                Some((hot_traffic, Rng::stream(seed, "workload/hot")))
            }
            _ => None,
        };
        Ok(Placement {
            page_size: array.page_size,
            unit: Divisor::new(if config.align { array.page_size } else { 1 }),
            start_unit: Divisor::new(start_unit),
            rng: Rng::stream(seed, "workload/address"),
            hot,
            striped: space(logical)?,
            skew,
        })
    }

    /// Has its spaces laid out as those of `other`.
    pub(super) fn lie_as(&mut self, other: &Placement) {
        self.striped = other.striped.clone();
        if let (Some(own), Some(skew)) = (&mut self.skew, &other.skew) {
            own.space = skew.space.clone();
        }
    }

    /// Refuses a size that cannot be placed somewhere it may have to go.
    pub(super) fn check_fits(&self, length: Bytes) -> Result<(), String> {
        let skewed = self.skew.iter().map(|skew| skew.space.narrowest());
        let smallest = skewed.fold(self.striped.narrowest(), Bytes::min);
        aligned(length, self.unit, smallest).map(|_| ())
    }

    /// The place of the next request of `length` bytes, which is to do `operation`.
    #[expect(clippy::inline_always, reason = "a part of the loop that draws many requests")]
    #[inline(always)]
    pub(super) fn place(&mut self, operation: Operation, length: Bytes) -> Result<Placed, String> {
        let pinned = self.skew.as_mut().is_some_and(|skew| skew.rng.chance(skew.fraction));
        let hot = self.hot.as_mut().is_some_and(|(traffic, rng)| rng.chance(*traffic));
        let (space, member) = match &mut self.skew {
            Some(skew) if pinned => (&mut skew.space, Some(skew.member)),
            _ => (&mut self.striped, None),
        };
        if let Pattern::Files(files) = &mut space.pattern {
            let (operation, offset, length) = files.next(operation, length);
            return Ok(Placed { operation, offset, length, member });
        }
        let (start, end) = space.stretch(hot);
        let length = aligned(length, self.unit, end - start)?;
        let offset = match &mut space.pattern {
            Pattern::Uniform | Pattern::Hotspot { .. } => {
                // One draw a request, whatever its length: a 64-bit fraction of the starts that fit.
                let fraction = self.rng.next_u64();
                let starts = self.start_unit.divide(end - start - length).0 + 1;
                start + ((u128::from(fraction) * u128::from(starts)) >> 64) as Bytes * self.start_unit.by()
            }
            Pattern::Sequential { cursor } => follow(cursor, length, self.start_unit.by(), end),
            Pattern::Zipf(zipf) => {
                let page = zipf.draw(&mut self.rng) * self.page_size;
                let inside = match self.start_unit.divide(self.page_size).0 {
                    0 | 1 => 0,
                    starts => self.rng.below(starts) * self.start_unit.by(),
                };
                let last = end - length;
                (page + inside).min(last - self.start_unit.divide(last).1)
            }
            Pattern::WorkingSet(set) => set.place(length, &mut self.rng),
            Pattern::Files(_) => unreachable!("placed above"),
        };
        Ok(Placed { operation, offset, length, member })
    }
}

impl Space {
    fn new(
        bytes: Bytes,
        config: &SyntheticConfig,
        page_size: Bytes,
        start_unit: Bytes,
        seed: u64,
    ) -> Result<Self, String> {
        if let AddressPattern::WorkingSet(pattern) = config.address {
            let bytes = config.footprint.of(bytes).min(bytes);
            let keys = Rng::stream(seed, "workload/scatter");
            let set = WorkingSet::new(pattern, bytes, &config.size, start_unit, keys)?;
            return Ok(Space { bytes, pattern: Pattern::WorkingSet(Box::new(set)) });
        }
        let pages = bytes / page_size;
        let addressed = match config.footprint {
            Extent::Share(share) => ((pages as f64 * share).round() as u64).min(pages),
            Extent::Bytes(bytes) => bytes / page_size,
        };
        if addressed == 0 {
            return Err(format!(
                "address.footprint = {} of {bytes} bytes is less than one page of {page_size} bytes",
                shown(config.footprint)
            ));
        }
        let pattern = match config.address {
            AddressPattern::Uniform => Pattern::Uniform,
            AddressPattern::Sequential => Pattern::Sequential { cursor: 0 },
            AddressPattern::Zipf { theta } => {
                Pattern::Zipf(Zipf::new(theta, addressed, Rng::stream(seed, "workload/scatter"))?)
            }
            AddressPattern::Hotspot { hot_space, .. } => {
                Pattern::Hotspot { border: hot_pages(hot_space, addressed)? * page_size }
            }
            AddressPattern::WorkingSet(_) => unreachable!("made above"),
            AddressPattern::Files(files) => {
                let unit = if config.align { page_size } else { 1 };
                Pattern::Files(Box::new(Files::new(files, addressed * page_size, page_size, unit, seed)?))
            }
        };
        Ok(Space { bytes: addressed * page_size, pattern })
    }

    /// From where to where a request may lie.
    fn stretch(&self, hot: bool) -> (Bytes, Bytes) {
        match self.pattern {
            Pattern::Hotspot { border } if hot => (0, border),
            Pattern::Hotspot { border } => (border, self.bytes),
            _ => (0, self.bytes),
        }
    }

    /// The longest request that fits wherever it may have to go.
    fn narrowest(&self) -> Bytes {
        if let Pattern::Files(files) = &self.pattern {
            return files.largest();
        }
        [true, false]
            .map(|hot| self.stretch(hot))
            .map(|(start, end)| end - start)
            .into_iter()
            .fold(self.bytes, Bytes::min)
    }
}

/// Refuses a part of a space of so many bytes that is none of it or more than all.
pub(crate) fn check_extent(key: &str, extent: Extent, space: Bytes) -> Result<(), String> {
    let limits = match extent {
        Extent::Share(share) if share > 0.0 && share <= 1.0 => return Ok(()),
        Extent::Bytes(bytes) if (1..=space).contains(&bytes) => return Ok(()),
        Extent::Share(_) => "it is a share of the logical space, above 0 and at most 1".to_owned(),
        Extent::Bytes(_) => format!("it is a part of the logical space, which has {}", format_bytes(space)),
    };
    Err(format!("{key} = {}: {limits}", shown(extent)))
}

/// As scenarios have it.
pub(crate) fn shown(extent: Extent) -> String {
    match extent {
        Extent::Share(share) => share.to_string(),
        Extent::Bytes(bytes) => format_bytes(bytes),
    }
}

/// `length` rounded up to whole units, if it fits into `space`.
#[inline]
fn aligned(length: Bytes, unit: Divisor, space: Bytes) -> Result<Bytes, String> {
    let (units, rest) = unit.divide(length);
    let units = units + u64::from(rest > 0);
    units.checked_mul(unit.by()).filter(|&rounded| rounded <= space).ok_or_else(|| {
        format!("its size of {length} bytes, rounded up to whole pages if aligned, exceeds the addressed space of {space} bytes")
    })
}

/// The start behind the last request, or 0 where that one would cross the end.
fn follow(cursor: &mut Bytes, length: Bytes, unit: Bytes, end: Bytes) -> Bytes {
    let next = cursor.next_multiple_of(unit);
    let start = if next <= end && length <= end - next { next } else { 0 };
    *cursor = start + length;
    start
}

/// Hot pages among `pages`: at least one, and one left.
fn hot_pages(hot_space: f64, pages: u64) -> Result<u64, String> {
    if !(hot_space > 0.0 && hot_space < 1.0) {
        return Err(format!(
            "address.hot_space = {hot_space}: it is a share of the footprint, above 0 and below 1"
        ));
    }
    let hot = (pages as f64 * hot_space).round() as u64;
    if hot == 0 || hot >= pages {
        return Err(format!(
            "address.hot_space = {hot_space} of {pages} pages: at least one page must be hot and one not"
        ));
    }
    Ok(hot)
}

fn check_skew(config: &SyntheticConfig, array: &ArrayGeometryForLoad) -> Result<(), String> {
    if matches!(config.address, AddressPattern::Files(_)) {
        return Err("address.pattern = \"files\" with skew: a file lies on all members".into());
    }
    if config.skew_member >= array.members {
        return Err(format!(
            "skew_member = {}: the array has {} members, counted from 0",
            config.skew_member, array.members
        ));
    }
    if array.members < 2 {
        return Err(
            "workload.address.skew above 0 needs at least 2 devices: the other requests go to the others"
                .into(),
        );
    }
    Ok(())
}
