//! Where synthetic requests go.
//!
//! **Footprint**: the first `footprint` of the space, to the nearest whole page. **Alignment**: with `align` the
//! length is rounded up to whole pages and the start drawn among page boundaries, so 510.53 KB is 125 pages of 4 KiB
//! wherever it lands. **Skew**: a share of the requests is pinned to one member and lies wholly inside it; its
//! offset is on that member. The others carry no member: the array lays them out over the *other* members, so the
//! space they address is that of `members - 1` (or, with `skew_rest = "all"`, over all members as usual):
//!
//! ```text
//!   no skew      |------------- logical_bytes --------------|   striped over all members
//!   skew, others |------ logical_bytes * (n-1)/n ------|        striped by the array over all but skew_member
//!   skew, pinned |- member_bytes -|                             on skew_member, bypassing the stripe
//! ```

use harmonia_engine::Rng;
use harmonia_types::{Bytes, DeviceId};

use super::check_share;
use crate::{AddressPattern, ArrayGeometryForLoad, SkewRest, SyntheticConfig};

/// A request's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) offset: Bytes,
    pub(super) length: Bytes,
    pub(super) member: Option<DeviceId>,
}

/// Chooses addresses.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    pattern: AddressPattern,
    /// Starts and lengths are multiples of this: the page, or one byte.
    unit: Bytes,
    rng: Rng,
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
    /// Where the last sequential request ended.
    cursor: Bytes,
}

impl Placement {
    pub(super) fn new(
        config: &SyntheticConfig,
        array: &ArrayGeometryForLoad,
        seed: u64,
    ) -> Result<Self, String> {
        check_share("skew_fraction", config.skew_fraction)?;
        if !(config.footprint > 0.0 && config.footprint <= 1.0) {
            return Err(format!(
                "address.footprint = {}: it is a share of the logical space, above 0 and at most 1",
                config.footprint
            ));
        }
        let space = |bytes| Space::new(bytes, config.footprint, array.page_size);
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
        Ok(Placement {
            pattern: config.address,
            unit: if config.align { array.page_size } else { 1 },
            rng: Rng::stream(seed, "workload/address"),
            striped: space(logical)?,
            skew,
        })
    }

    /// Refuses a size that cannot be placed somewhere it may have to go.
    pub(super) fn check_fits(&self, length: Bytes) -> Result<(), String> {
        let smallest = self.skew.iter().map(|skew| skew.space.bytes).fold(self.striped.bytes, Bytes::min);
        self.aligned(length, smallest).map(|_| ())
    }

    /// The place of the next request of `length` bytes.
    pub(super) fn place(&mut self, length: Bytes) -> Result<Placed, String> {
        // One draw a request, whatever it is used for: a 64-bit fraction of the starts that fit.
        let fraction = self.rng.next_u64();
        let pinned = self.skew.as_mut().is_some_and(|skew| skew.rng.chance(skew.fraction));
        let bytes = match &self.skew {
            Some(skew) if pinned => skew.space.bytes,
            _ => self.striped.bytes,
        };
        let length = self.aligned(length, bytes)?;
        let (space, member) = match &mut self.skew {
            Some(skew) if pinned => (&mut skew.space, Some(skew.member)),
            _ => (&mut self.striped, None),
        };
        let offset = match self.pattern {
            AddressPattern::Uniform => {
                let starts = (bytes - length) / self.unit + 1;
                ((u128::from(fraction) * u128::from(starts)) >> 64) as Bytes * self.unit
            }
            AddressPattern::Sequential => space.follow(length),
        };
        Ok(Placed { offset, length, member })
    }

    /// `length` rounded up to whole units.
    fn aligned(&self, length: Bytes, space: Bytes) -> Result<Bytes, String> {
        let units = length.div_ceil(self.unit);
        units.checked_mul(self.unit).filter(|&rounded| rounded <= space).ok_or_else(|| {
            format!("its size of {length} bytes, rounded up to whole pages if aligned, exceeds the addressed space of {space} bytes")
        })
    }
}

impl Space {
    fn new(bytes: Bytes, footprint: f64, page_size: Bytes) -> Result<Self, String> {
        let pages = bytes / page_size;
        let addressed = ((pages as f64 * footprint).round() as u64).min(pages);
        if addressed == 0 {
            return Err(format!(
                "address.footprint = {footprint} of {bytes} bytes is less than one page of {page_size} bytes"
            ));
        }
        Ok(Space { bytes: addressed * page_size, cursor: 0 })
    }

    /// The start behind the last request, or 0 where that one would cross the end.
    fn follow(&mut self, length: Bytes) -> Bytes {
        let start = if length <= self.bytes - self.cursor { self.cursor } else { 0 };
        self.cursor = start + length;
        start
    }
}

fn check_skew(config: &SyntheticConfig, array: &ArrayGeometryForLoad) -> Result<(), String> {
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
