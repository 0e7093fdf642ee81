//! Stripes with two parities: RAID-6.
//!
//! ```text
//! member      0      1      2      3      4      5          unit 1 is written while its member collects:
//!          ┌──────┬──────┬──────┬──────┬──────┬──────┐
//! row r    │  0   │ (1)  │  2   │  3   │  P'  │  Q'  │      read 0, 2 and 3, write P' and Q' of these
//!          ├──────┼──────┼──────┼──────┼──────┼──────┤
//! slot     │  1   │      │  1   │  1   │      │      │      a stripe of one unit: the unit, its P and its Q
//!          └──────┴──────┴──────┴──────┴──────┴──────┘
//! ```
//!
//! A displaced row takes its slot on three members, so that two failures leave one copy. P and Q of a stripe always have the same
//! units: both are made anew without a unit that is dropped, or both still have its old copy. In what follows `n` members collect
//! one at a time, a row has `n - 2` units, and `w` of them are written whole and lie at home:
//!
//! | written | member that collects holds | reads | writes |
//! |---|---|---|---|
//! | `w` units | nothing of the row | as `parity` has it | `w + 2` |
//! | `w` units | one of them | `n - 2 - w` | `w + 4` |
//! | one unit, dropped before | its home | 0 | 3 |
//! | `w` units | a unit that is not written | `w + 2` | `w + 2` |
//! | `w` units | P or Q | 0 | `3 w` |
//! | all `n - 2` units, forced | nothing: nobody collects | 0 | `n + 2` |
//! | a dropped unit comes home in idle time | nothing: nobody collects | 3 | 3 |
//! | the same, P and Q have its old copy | nothing: nobody collects | 4 | 3 |
//!
//! The second row writes the other `w - 1` units, P, Q and three copies. The fourth reads old data, P and Q. The fifth puts every unit
//! into a slot. The sixth writes P and Q twice. The last two read a copy, P and Q, and the old copy where P and Q have it.
//!
//! A unit whose member collects is rebuilt from the other units that P and Q have, and from P. Where a member of these collects as
//! well, Q is read in its place. So a read waits only if more than two members collect. A write waits if more than one does.
//!
//! One member collects and three others take a slot: that needs four members, which RAID-6 has at least. Parity does not move. The
//! stripe map has a place for one parity only, and the paper defines migration for RAID-5.

use harmonia_types::DeviceId;

use super::GaftlPlanner;

/// The members that hold a displaced row in its slot: the unit, and as many parities as its stripe has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holders {
    members: [DeviceId; 3],
    count: u8,
}

impl Holders {
    pub fn none() -> Self {
        Holders { members: [DeviceId(0); 3], count: 0 }
    }

    /// Takes in one more, of three at most.
    pub fn add(&mut self, member: DeviceId) {
        self.members[usize::from(self.count)] = member;
        self.count += 1;
    }
}

impl std::ops::Deref for Holders {
    type Target = [DeviceId];

    fn deref(&self) -> &[DeviceId] {
        &self.members[..usize::from(self.count)]
    }
}

/// The members of P and of Q, where there are any.
pub(super) type Parities = [Option<DeviceId>; 2];

impl GaftlPlanner {
    /// The members of all parities of a row.
    pub(super) fn parities(&self, row: u64) -> Parities {
        [Some(self.p_member(row)), self.layout.q_member(self.stripe(row))]
    }

    /// Whether stripes have P and Q.
    pub(super) fn is_dual(&self) -> bool {
        self.layout.parities() > 1
    }

    /// Adds the fewest members whose rows say all that parity has, without those that are out. `false` if they do not.
    pub(super) fn known(
        &self,
        row: u64,
        is_out: impl Fn(DeviceId) -> bool,
        into: &mut Vec<DeviceId>,
    ) -> bool {
        let mut needed = 0;
        for unit in (0..self.layout.data_units()).filter(|&unit| self.is_in_parity(row, unit)) {
            let home = self.data_member(row, unit);
            if is_out(home) {
                needed += 1;
            } else {
                into.push(home);
            }
        }
        let units = into.len();
        let parities = self.parities(row).into_iter().flatten().filter(|&parity| !is_out(parity));
        into.extend(parities.take(needed));
        into.len() - units == needed
    }
}
