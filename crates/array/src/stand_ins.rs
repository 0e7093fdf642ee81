//! Distributed spares: which members stand in for one that has failed, row by row.
//!
//! ```text
//! row    member 0  1     2     3     4          1 has failed and takes spare 0:
//! 0             D  D ─┐  P     D   ┌►S0         its unit of row 0 lies on member 4
//! 1             S0◄┘  D ─┘ ...                  its unit of row 1 on member 0
//! 2             D     S0    D     P     D       in row 2 it held spare space: nothing is to be found elsewhere
//! ```
//!
//! A member that fails takes the next spare that is left, as a whole: in each row the member that holds this spare stands in.
//! If that one fails, too, whatever it held in the row moves on to the spare that it takes, so stand-ins form a chain. Planners
//! know nothing of that: they go on to plan operations on the member, which keeps its number.
//!
//! Source: OpenZFS, module/zfs/vdev_draid.c (distributed spares, which are mapped to members row by row).
//!
//! Leaves out: giving a spare back when a new device has come (OpenZFS copies what it held to that device).

use harmonia_types::{Bytes, DeviceId};

use crate::layout::{Declustered, Held, Layout};

/// Who stands in for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIns {
    layout: Layout,
    unit: Bytes,
    /// By member: the spare it has taken.
    taken: Vec<Option<u16>>,
    /// By spare: who has taken it.
    by: Vec<DeviceId>,
}

impl StandIns {
    /// Nobody stands in for anybody. `None` if the layout has no room for that; one with declustered parity may have no spare.
    pub fn new(layout: &Layout) -> Option<Self> {
        let Layout::Parity(parity) = layout else { return None };
        (parity.declustered().is_some() && !parity.is_floating()).then(|| StandIns {
            layout: layout.clone(),
            unit: layout.stripe_unit(),
            taken: vec![None; usize::from(layout.members())],
            by: Vec::new(),
        })
    }

    fn table(&self) -> &Declustered {
        let Layout::Parity(parity) = &self.layout else { unreachable!("spare space needs parity") };
        parity.declustered().expect("spare space needs declustered parity")
    }

    /// Spares that nobody has taken.
    pub fn left(&self) -> u16 {
        self.layout.level().distributed_spares() - self.by.len() as u16
    }

    /// A member takes the next spare; `None` if there is none left, or it has one.
    pub fn take(&mut self, device: DeviceId) -> Option<u16> {
        if self.left() == 0 || self.taken[device.index()].is_some() {
            return None;
        }
        let spare = self.by.len() as u16;
        self.by.push(device);
        self.taken[device.index()] = Some(spare);
        Some(spare)
    }

    /// Whether others stand in for a device. A device that is no member, such as a journal, has no unit in any row.
    #[inline]
    pub fn has_taken(&self, device: DeviceId) -> bool {
        self.taken.get(device.index()).is_some_and(Option::is_some)
    }

    /// Who stands in for a member in a row; `None` if nobody does.
    #[inline]
    fn next(&self, device: DeviceId, row: u64) -> Option<DeviceId> {
        let spare = (*self.taken.get(device.index())?)?;
        Some(self.table().spare(row, spare)).filter(|&other| other != device)
    }

    /// Those who stand in for a member in a range, and for one another. In a range of several rows, those of all of them.
    pub fn chain(&self, device: DeviceId, from: Bytes, to: Bytes) -> impl Iterator<Item = DeviceId> {
        let rows = if self.has_taken(device) { from / self.unit..(to - 1) / self.unit + 1 } else { 0..0 };
        rows.flat_map(move |row| {
            let all = std::iter::successors(self.next(device, row), move |&one| self.next(one, row));
            // Members that were spares of this row and stand in for one another hold nothing there.
            all.take(self.by.len())
        })
    }

    /// The byte of a member behind the stripe unit that has this one.
    pub fn end_of_unit(&self, offset: Bytes) -> Bytes {
        (offset / self.unit + 1) * self.unit
    }

    /// Where an operation on a member goes that begins at `offset`, and where the part ends that goes there.
    pub fn place(&self, device: DeviceId, offset: Bytes) -> (DeviceId, Bytes) {
        if !self.has_taken(device) {
            return (device, Bytes::MAX);
        }
        let end = self.end_of_unit(offset);
        (self.chain(device, offset, offset + 1).last().unwrap_or(device), end)
    }

    /// Whose unit a member holds in a row: its own, or one that it stands in for.
    pub fn role(&self, mut device: DeviceId, row: u64) -> Option<DeviceId> {
        for _ in 0..=self.by.len() {
            match self.table().held(row, device) {
                Held::Unit(..) => return Some(device),
                Held::Spare(spare) => device = *self.by.get(usize::from(spare))?,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Groups, Level};

    /// Five members in one group of three, with two spares; a unit is 10 bytes.
    fn stand_ins() -> StandIns {
        let level = Level::Draid(Groups { parities: 1, data: 2, spares: 2 });
        StandIns::new(&Layout::new(level, 5, 10, 10, 1000)).expect("spare space")
    }

    #[test]
    fn what_a_member_held_lies_on_the_spare_of_its_row() {
        let mut all = stand_ins();
        assert_eq!((all.left(), all.take(DeviceId(1)), all.left()), (2, Some(0), 1));
        assert_eq!(all.take(DeviceId(1)), None, "it has one");
        for row in 0..20 {
            let spare = all.table().spare(row, 0);
            let (place, end) = all.place(DeviceId(1), row * 10 + 3);
            assert_eq!((place, end), (spare, row * 10 + 10));
            assert_eq!(all.place(DeviceId(2), row * 10), (DeviceId(2), Bytes::MAX));
            match all.table().held(row, DeviceId(1)) {
                Held::Unit(..) => assert_eq!(all.role(spare, row), Some(DeviceId(1))),
                // It was the spare itself, and holds nothing.
                Held::Spare(0) => assert_eq!((spare, all.role(spare, row)), (DeviceId(1), None)),
                Held::Spare(_) => {}
            }
        }
    }

    /// Where the stand-in fails, its own spare holds what it stood in for.
    #[test]
    fn stand_ins_that_fail_are_stood_in_for() {
        let mut all = stand_ins();
        all.take(DeviceId(1));
        let rows = 0..all.table().groups() * 5;
        let stood_in: Vec<u64> =
            rows.filter(|&row| all.place(DeviceId(1), row * 10).0 == DeviceId(3)).collect();
        assert!(!stood_in.is_empty());
        all.take(DeviceId(3));
        assert_eq!((all.left(), all.take(DeviceId(0))), (0, None));
        for row in stood_in {
            let last = all.table().spare(row, 1);
            let chain: Vec<DeviceId> = all.chain(DeviceId(1), row * 10, row * 10 + 10).collect();
            if last == DeviceId(1) {
                continue;
            }
            assert_eq!((chain, all.place(DeviceId(1), row * 10).0), (vec![DeviceId(3), last], last));
            assert_eq!(
                (all.role(last, row), all.role(DeviceId(3), row)),
                (Some(DeviceId(1)), Some(DeviceId(1)))
            );
        }
    }
}
