//! Which logical sector lies at every sector of every member, written down once from the layout.
//!
//! A *line* is a sector of a stripe, counted stripe after stripe: what lies on all its members belongs together. Where every
//! stripe takes all members, and where there is no parity, line and sector of the members are the same number.
//!
//! Not verified: that the layout places data as md does, because both sides ask it; `layout` has tests of that.

use std::ops::Range;

use harmonia_array::layout::{Layout, Parity, Unit};
use harmonia_array::planner::Rows;
use harmonia_types::{DeviceId, HostRequest, Operation};

use super::content::SECTOR;

const NOWHERE: u32 = u32::MAX;

/// Where an array's sectors lie.
pub struct Places {
    pub layout: Layout,
    /// By member and sector on it; `NOWHERE` for parity and what is not used.
    logical: Vec<Vec<u32>>,
    pub page_sectors: u64,
    pub unit_sectors: u64,
    pub logical_sectors: u64,
    /// Sectors of a row of a parity layout; of a page elsewhere.
    pub row_sectors: u64,
}

impl Places {
    pub fn new(layout: &Layout, page_size: u64) -> Self {
        let sectors = (layout.member_bytes() / SECTOR) as usize;
        let page_sectors = page_size / SECTOR;
        let mut places = Places {
            layout: layout.clone(),
            logical: vec![vec![NOWHERE; sectors]; usize::from(layout.members())],
            page_sectors,
            unit_sectors: layout.stripe_unit() / SECTOR,
            logical_sectors: layout.logical_bytes() / SECTOR,
            row_sectors: match layout {
                Layout::Parity(parity) => parity.row_bytes() / SECTOR,
                Layout::Striped(_) | Layout::Mirrored(_) => page_sectors,
            },
        };
        for sector in 0..places.logical_sectors {
            for (member, place) in places.copies(sector) {
                let entry = &mut places.logical[member.index()][place as usize];
                assert_eq!(*entry, NOWHERE, "two sectors lie at {place} of member {}", member.0);
                *entry = sector as u32;
            }
        }
        places
    }

    /// All places of a logical sector: one, or as many as copies.
    pub fn copies(&self, sector: u64) -> Vec<(DeviceId, u64)> {
        let offset = sector * SECTOR;
        let mut found = Vec::new();
        match &self.layout {
            Layout::Striped(striped) => {
                striped.split(offset, SECTOR, |member, start, _| found.push((member, start / SECTOR)));
            }
            Layout::Mirrored(mirrored) => mirrored.split(offset, SECTOR, |copies, _| {
                found.extend(copies.iter().map(|&(member, start)| (member, start / SECTOR)));
            }),
            Layout::Parity(parity) => {
                let (unit, within) = (sector / self.unit_sectors, sector % self.unit_sectors);
                let units = u64::from(parity.data_units());
                let member = parity.data_member(unit / units, (unit % units) as u16);
                found.push((member, parity.row_of(unit / units) * self.unit_sectors + within));
            }
        }
        found
    }

    /// The logical sector at a place; `None` for parity and what is not used.
    #[inline]
    pub fn logical(&self, member: DeviceId, sector: u64) -> Option<u64> {
        let logical = *self.logical[member.index()].get(sector as usize)?;
        (logical != NOWHERE).then_some(u64::from(logical))
    }

    /// Whether a place belongs to the log: on a device behind the members, or behind what they hold.
    pub fn is_log(&self, device: DeviceId, sector: u64) -> bool {
        self.logical.get(device.index()).is_none_or(|held| sector >= held.len() as u64)
    }

    /// Whether a member holds P or Q at a sector.
    pub fn is_parity(&self, member: DeviceId, sector: u64) -> bool {
        match &self.layout {
            Layout::Parity(parity) => {
                let stripe = parity.stripe_on(member, sector / self.unit_sectors);
                stripe.is_some_and(|stripe| !matches!(parity.unit_on(stripe, member), Unit::Data(_)))
            }
            Layout::Striped(_) | Layout::Mirrored(_) => false,
        }
    }

    /// The line of a sector of a member; `None` for spare space. A journal has no rows, and no spare space.
    pub fn line(&self, member: DeviceId, sector: u64) -> Option<u64> {
        let Some(parity) = self.parity().filter(|_| member.0 < self.layout.members()) else {
            return Some(sector);
        };
        let stripe = parity.stripe_on(member, sector / self.unit_sectors)?;
        Some(stripe * self.unit_sectors + sector % self.unit_sectors)
    }

    /// Where a line lies on its members.
    pub fn sector(&self, line: u64) -> u64 {
        let Some(parity) = self.parity() else { return line };
        parity.row_of(line / self.unit_sectors) * self.unit_sectors + line % self.unit_sectors
    }

    /// The members that a line lies on.
    pub fn members(&self, line: u64) -> Vec<DeviceId> {
        let stripe = line / self.unit_sectors;
        let Some(parity) = self.parity() else { return (0..self.layout.members()).map(DeviceId).collect() };
        let data = (0..parity.data_units()).map(|unit| parity.data_member(stripe, unit));
        let parities = [Some(parity.p_member(stripe)), parity.q_member(stripe)];
        data.chain(parities.into_iter().flatten()).collect()
    }

    /// Lines of the array.
    pub fn lines(&self) -> u64 {
        let stripes = self.parity().map_or(1, Parity::stripes_of_row);
        self.layout.member_bytes() / SECTOR * stripes
    }

    /// The sectors of members that rows take: the first, and how many.
    pub fn span(&self, rows: Rows) -> (u64, u64) {
        let (first, end) = (rows.first * self.row_sectors, rows.end() * self.row_sectors);
        let unit = self.unit_sectors;
        if self.parity().is_none_or(|parity| parity.declustered().is_none()) {
            return (first, end - first);
        }
        if first / unit == (end - 1) / unit {
            return (self.sector(first), end - first);
        }
        let (first, last) = (self.sector(first / unit * unit), self.sector((end - 1) / unit * unit));
        (first, last + unit - first)
    }

    pub fn parity(&self) -> Option<&Parity> {
        match &self.layout {
            Layout::Parity(parity) => Some(parity),
            Layout::Striped(_) | Layout::Mirrored(_) => None,
        }
    }

    /// The logical sectors that a request reads or changes, appended to `into`. A discard changes whole pages only, and
    /// whole stripes only where there is parity.
    pub fn touched(&self, request: &HostRequest, into: &mut Vec<Range<u64>>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        if operation == Operation::Flush {
            return;
        }
        let whole = match self.parity() {
            _ if operation != Operation::Trim => 1,
            Some(parity) => parity.stripe_bytes() / SECTOR,
            None => self.page_sectors,
        };
        let mut piece = |offset: u64, length: u64| {
            let (first, end) = (offset / SECTOR, (offset + length) / SECTOR);
            let range = first.next_multiple_of(whole)..end / whole * whole;
            if !range.is_empty() {
                into.push(range);
            }
        };
        match member {
            None => piece(offset, length),
            Some(member) => self.layout.pinned(member, offset, length, piece),
        }
    }
}
