//! Where the bytes of an array lie on its members, and how many there are: the one owner of mapping and capacity.
//!
//! ```text
//! Striped    RAID-0                 D0 D1 D2 | D3 D4 D5 | ..
//! Mirrored   RAID-1, RAID-10        D0 D0 D1 D1 | D2 D2 D3 D3 | ..     (near-2 of four members)
//! Parity     RAID-4, -5, -6         D0 D1 P | D3 P D2 | ..             (left-symmetric RAID-5 of three)
//!            declustered            D0 . P D1 | P D1 D0 . | ..         (stripes of three on four members, and a spare)
//! ```
//!
//! Whoever needs to know where a byte lies, or how many there are, asks here: scenarios, ageing, loads and the
//! controller. Functions that are called for every request or stripe allocate nothing.
//!
//! Source: Linux md, `drivers/md/raid5.c` (`raid5_compute_sector`, `raid5_size`) and `drivers/md/raid10.c`
//! (`__raid10_find_phys`, `raid10_size`).
//!
//! Not modelled: md's superblock, bitmap and data offset, all of which take a little from the start or end of a
//! member; members of different sizes (md's RAID-0 has zones for what only the larger ones hold); reshaping.

mod declustered;
mod level;
mod mirrored;
mod parity;
mod shares;
mod striped;
#[cfg(test)]
mod tests;

use std::ops::Range;

use harmonia_types::{Bytes, DeviceId, ParityPages};

pub use declustered::{Declustered, Groups, Held, MOST_CHILDREN, MOST_SPARES};
pub use level::{Copies, Level, MOST_COPIES, Pattern, Rotation};
pub use mirrored::Mirrored;
pub use parity::{Parity, ParityPattern, Unit};
pub use shares::{MOST_SHARES, period as period_of_shares};
pub use striped::Striped;

/// How the bytes of an array lie on its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// RAID-0.
    Striped(Striped),
    /// RAID-1 and RAID-10.
    Mirrored(Mirrored),
    /// RAID-4, RAID-5, RAID-6 and declustered parity.
    Parity(Parity),
}

impl Layout {
    /// An array of `members`, each of at least `member_bytes`. What a member holds beyond its last whole stripe unit
    /// is not used (RAID-1 has no stripe unit: whole pages).
    ///
    /// # Panics
    /// If there are no members or fewer than the level needs, more than it can have ([`Level::most_members`]), the
    /// stripe unit or the page size is 0, RAID-10 does not have 2 to [`MOST_COPIES`] copies, RAID-5 has a rotation
    /// of RAID-6, or members are not whole groups and spares ([`Groups::fits`]).
    pub fn new(
        level: Level,
        members: u16,
        stripe_unit: Bytes,
        page_size: Bytes,
        member_bytes: Bytes,
    ) -> Self {
        assert!(
            (level.least_members()..=level.most_members()).contains(&members),
            "{level} cannot have {members} members"
        );
        let space = Space { members, stripe_unit, page_size, member_bytes };
        match level {
            Level::Raid0 => Layout::Striped(Striped::new(members, stripe_unit, page_size, member_bytes)),
            Level::Raid1 => Layout::Mirrored(Mirrored::raid1(space)),
            Level::Raid10(copies) => Layout::Mirrored(Mirrored::raid10(copies, space)),
            Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) | Level::Draid(_) => {
                Layout::Parity(Parity::new(level, space))
            }
        }
    }

    /// Members of the array.
    pub fn members(&self) -> u16 {
        self.space().members
    }

    /// RAID level.
    pub fn level(&self) -> Level {
        match self {
            Layout::Striped(_) => Level::Raid0,
            Layout::Mirrored(mirrored) => mirrored.level(),
            Layout::Parity(parity) => parity.level(),
        }
    }

    /// Bytes that lie together on one member. (RAID-1 has no such unit; this is what it was made with.)
    pub fn stripe_unit(&self) -> Bytes {
        self.space().stripe_unit
    }

    /// Which pages of a range of a member are parity; the range is less than a stripe unit, or units are small.
    pub(crate) fn parity_pages(&self, member: DeviceId, offset: Bytes, length: Bytes) -> ParityPages {
        let Layout::Parity(parity) = self else { return ParityPages::NONE };
        if let Some(table) = parity.declustered() {
            // Whoever asks has cut the range where units end.
            let held = table.held(offset / self.stripe_unit(), member);
            let is_parity = matches!(held, Held::Unit(_, Unit::P | Unit::Q));
            return if is_parity { ParityPages::ALL } else { ParityPages::NONE };
        }
        let (pattern, unit, page) = (parity.parity_pattern(member), self.stripe_unit(), self.page_size());
        let (stripe, last) = (offset / unit, (offset + length - 1) / unit);
        if stripe == last || pattern.run == 0 || pattern.run == pattern.period {
            return if pattern.has(stripe) { ParityPages::ALL } else { ParityPages::NONE };
        }
        let pages = unit / page;
        let phase = (stripe + pattern.phase) % pattern.period * pages + offset % unit / page;
        let fits = |pages: u64| u32::try_from(pages).expect("units are small where a range has several");
        ParityPages {
            phase: fits(phase),
            period: fits(pattern.period * pages),
            run: fits(pattern.run * pages),
            ..ParityPages::ALL
        }
    }

    /// Bytes of a page of the members.
    pub fn page_size(&self) -> Bytes {
        self.space().page_size
    }

    /// Bytes that the host can use.
    pub fn logical_bytes(&self) -> Bytes {
        match self {
            Layout::Striped(striped) => striped.logical_bytes(),
            Layout::Mirrored(mirrored) => mirrored.logical_bytes(),
            Layout::Parity(parity) => parity.logical_bytes(),
        }
    }

    /// Bytes used on each member, parity and copies included.
    pub fn member_bytes(&self) -> Bytes {
        self.space().member_bytes
    }

    /// Data bytes that can be addressed by pinning requests to `member`: its data units, every copy of them; 0 for a
    /// member that holds parity only.
    pub fn pinned_bytes(&self, member: DeviceId) -> Bytes {
        match self {
            Layout::Striped(striped) => striped.member_bytes(),
            Layout::Mirrored(mirrored) => mirrored.pinned_bytes(member),
            Layout::Parity(parity) => parity.pinned_bytes(member),
        }
    }

    /// Calls `visit(logical offset, length)` for each contiguous logical piece of a range of the data that lies on
    /// `member`, in order. The data of a member is what it holds without parity, from its first byte to its last.
    /// Pieces end at stripe units even where the next one goes on.
    ///
    /// A member that [`Layout::all_but`] excludes holds no logical byte: there are no pieces.
    pub fn pinned(
        &self,
        member: DeviceId,
        offset: Bytes,
        length: Bytes,
        mut visit: impl FnMut(Bytes, Bytes),
    ) {
        self.pinned_pieces(member, offset, length, &mut visit);
    }

    /// [`Layout::pinned`], compiled once for all who call it: nobody does for what a host asks for.
    #[inline(never)]
    fn pinned_pieces(
        &self,
        member: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes),
    ) {
        match self {
            Layout::Striped(striped) => striped.pinned(member, offset, length, visit),
            Layout::Mirrored(mirrored) => mirrored.pinned(member, offset, length, visit),
            Layout::Parity(parity) => parity.pinned(member, offset, length, visit),
        }
    }

    /// Calls `visit(member, offset on it, length)` for all that a write of a range writes: whole rows of data, all copies of them, and
    /// the parity of these rows, each once. The range is not empty and lies within the array.
    pub fn written(&self, offset: Bytes, length: Bytes, mut visit: impl FnMut(DeviceId, Bytes, Bytes)) {
        let row = match self {
            Layout::Parity(parity) => parity.row_bytes(),
            Layout::Striped(_) | Layout::Mirrored(_) => self.page_size(),
        };
        let start = offset / row * row;
        let length = (offset + length).next_multiple_of(row) - start;
        match self {
            Layout::Striped(striped) => striped.split(start, length, visit),
            Layout::Mirrored(mirrored) => mirrored.split(start, length, |places, length| {
                places.iter().for_each(|&(member, offset)| visit(member, offset, length));
            }),
            Layout::Parity(parity) => parity.written(start, length, visit),
        }
    }

    /// The part of a range that a trim of it unmaps, as offset and length: whole pages, or whole stripes with their parity.
    pub fn trimmed(&self, offset: Bytes, length: Bytes) -> Option<(Bytes, Bytes)> {
        let unit = match self {
            Layout::Parity(parity) => parity.stripe_bytes(),
            Layout::Striped(_) | Layout::Mirrored(_) => self.page_size(),
        };
        let (start, end) = (offset.next_multiple_of(unit), (offset + length) / unit * unit);
        (start < end).then(|| (start, end - start))
    }

    /// Ranges of each member that hold something once the first `share` (0..=1) of the logical space is filled, parity
    /// and copies included. Every member alike: where the share ends within a row of stripe units, each is filled to
    /// their mean, rounded to pages. The second range is empty except for RAID-10 far. Empty ranges are `0..0`.
    ///
    /// For three and more far copies the second range spans all zones but the first, so that it contains what is
    /// still empty between them; [`Layout::filled_zones`] has them one by one.
    pub fn filled(&self, share: f64) -> [Range<Bytes>; 2] {
        let mut zones = self.filled_zones(share).filter(|zone| !zone.is_empty());
        let first = zones.next().unwrap_or(0..0);
        let second = zones.reduce(|second, zone| second.start..zone.end).unwrap_or(0..0);
        [first, second]
    }

    /// As [`Layout::filled`], one range for each zone of a member: RAID-10 far has as many as copies, all else one.
    pub fn filled_zones(&self, share: f64) -> impl Iterator<Item = Range<Bytes>> + use<> {
        let space = self.space();
        let zones = match self {
            Layout::Mirrored(mirrored) => u64::from(mirrored.zones()),
            Layout::Striped(_) | Layout::Parity(_) => 1,
        };
        let stride = space.member_bytes / zones;
        let pages = ((stride / space.page_size) as f64 * share).round() as u64;
        let filled = pages * space.page_size;
        (0..zones).map(move |zone| zone * stride..zone * stride + filled)
    }

    /// RAID-0 without one member: requests that are not pinned spread over the others (skewed loads). With one member
    /// only, and at other levels, nothing changes.
    #[must_use]
    pub fn all_but(self, excluded: DeviceId) -> Self {
        match self {
            Layout::Striped(striped) => Layout::Striped(striped.all_but(excluded)),
            Layout::Mirrored(_) | Layout::Parity(_) => self,
        }
    }

    /// RAID-5 of which each member has such a share of the parity, in proportion; none at all leaves it as it is.
    ///
    /// # Panics
    /// If another level, or a rotation that leaves parity on one member, is to have shares, there is not one for each member, or
    /// they repeat after more than [`MOST_SHARES`] stripes.
    #[must_use]
    pub fn sharing(self, shares: &[u16]) -> Self {
        match self {
            _ if shares.is_empty() => self,
            Layout::Parity(parity) => Layout::Parity(parity.sharing(shares)),
            Layout::Striped(_) | Layout::Mirrored(_) => panic!("{} has no parity", self.level()),
        }
    }

    /// RAID-5 or RAID-6 of which each stripe leaves one member free, for a planner that moves what is in the way there. Other levels,
    /// and arrays without a member more than a stripe of one data unit needs, stay as they are. `thin`: members have more page
    /// numbers than pages.
    #[must_use]
    pub fn floating(self, thin: bool) -> Self {
        match self {
            Layout::Parity(parity) if parity.may_float() => Layout::Parity(parity.floating(thin)),
            other => other,
        }
    }

    /// Whether stripes leave one member free each.
    pub fn is_floating(&self) -> bool {
        matches!(self, Layout::Parity(parity) if parity.is_floating())
    }

    fn space(&self) -> &Space {
        match self {
            Layout::Striped(striped) => striped.space(),
            Layout::Mirrored(mirrored) => mirrored.space(),
            Layout::Parity(parity) => parity.space(),
        }
    }
}

/// What every layout is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Space {
    members: u16,
    stripe_unit: Bytes,
    page_size: Bytes,
    /// Bytes of a member; within a layout, those it uses.
    member_bytes: Bytes,
}

/// Calls `visit(index of the unit, offset in it, length)` for each stripe unit that a range touches.
#[inline]
fn units(unit: Bytes, offset: Bytes, length: Bytes, mut visit: impl FnMut(u64, Bytes, Bytes)) {
    let end = offset + length;
    let (mut index, mut within, mut start) = (offset / unit, offset % unit, offset);
    while start < end {
        let piece = (unit - within).min(end - start);
        visit(index, within, piece);
        (index, within, start) = (index + 1, 0, start + piece);
    }
}

/// `member` modulo `members`, for one that is less than twice as large.
#[inline]
fn wrapped(member: u64, members: u64) -> u64 {
    if member >= members { member - members } else { member }
}
