//! RAID levels, and the names of the placements that a level needs.
//!
//! The names are those of Linux md: the rotations are its `ALGORITHM_*` (`drivers/md/raid5.h`), the copies are near,
//! far and offset of its RAID-10 (`drivers/md/raid10.c`). A level carries the placement it needs, so that one without
//! it, or with another level's, cannot be written. The one combination that can, RAID-5 with a rotation of RAID-6, is
//! refused by [`Layout::new`](super::Layout::new).
//!
//! Not modelled: RAID-10 with near *and* far copies at once, and md's two variants of far and offset that rotate
//! within sets of members.

use serde::{Serialize, Serializer};

use super::{Groups, MOST_CHILDREN};

/// Copies of one byte at most. md allows 255; this many places fit into an array on the stack.
pub const MOST_COPIES: u16 = 8;

/// RAID level with the placement it needs: illegal combinations cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Striping without redundancy.
    #[default]
    Raid0,
    /// Every member holds everything.
    Raid1,
    /// Striping over copies.
    Raid10(Copies),
    /// One parity, always on the last member.
    Raid4,
    /// One parity, on a member that changes from stripe to stripe.
    Raid5(Rotation),
    /// Two parities, P and Q.
    Raid6(Rotation),
    /// Stripes narrower than the array, spread over all members together with spare space.
    Draid(Groups),
}

impl Level {
    /// `raid0` to `raid10`, `draid1` and `draid2`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Raid0 => "raid0",
            Level::Raid1 => "raid1",
            Level::Raid10(_) => "raid10",
            Level::Raid4 => "raid4",
            Level::Raid5(_) => "raid5",
            Level::Raid6(_) => "raid6",
            Level::Draid(groups) => {
                if groups.parities == 1 {
                    "draid1"
                } else {
                    "draid2"
                }
            }
        }
    }

    /// Where parity or copies lie, if the level leaves a choice: `left-symmetric`, `near-2`, `4d:1s`.
    pub fn placement(self) -> Option<String> {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid4 => None,
            Level::Raid10(copies) => Some(copies.name()),
            Level::Raid5(rotation) | Level::Raid6(rotation) => Some(rotation.name().to_owned()),
            Level::Draid(groups) => Some(groups.name()),
        }
    }

    /// Members that the level needs.
    pub fn least_members(self) -> u16 {
        match self {
            Level::Raid0 | Level::Raid1 => 1,
            Level::Raid10(copies) => copies.count.max(2),
            Level::Raid4 | Level::Raid5(_) => 3,
            Level::Raid6(_) => 4,
            Level::Draid(groups) => groups.width() + groups.spares,
        }
    }

    /// Members that the level can have: RAID-1 keeps a copy on each, and there are at most [`MOST_COPIES`].
    pub fn most_members(self) -> u16 {
        match self {
            Level::Raid1 => MOST_COPIES,
            Level::Draid(_) => MOST_CHILDREN,
            Level::Raid0 | Level::Raid10(_) | Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) => u16::MAX,
        }
    }

    /// Members' worth of space that the level keeps for rebuilding.
    pub fn distributed_spares(self) -> u16 {
        if let Level::Draid(groups) = self { groups.spares } else { 0 }
    }

    /// Members whose data the others still hold: so many can be missing at once.
    pub fn redundancy(self, members: u16) -> u16 {
        match self {
            Level::Raid0 => 0,
            Level::Raid1 => members - 1,
            Level::Raid10(copies) => copies.count - 1,
            Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) | Level::Draid(_) => self.parities(),
        }
    }

    /// Parity units of a stripe.
    pub fn parities(self) -> u16 {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10(_) => 0,
            Level::Raid4 | Level::Raid5(_) => 1,
            Level::Raid6(_) => 2,
            Level::Draid(groups) => groups.parities,
        }
    }
}

/// Level and placement: `raid0`, `raid5 left-symmetric`, `draid1:4d:1s`.
impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        let between = if matches!(self, Level::Draid(_)) { ':' } else { ' ' };
        self.placement().map_or(Ok(()), |placement| write!(f, "{between}{placement}"))
    }
}

/// As its text, so that two levels that differ in their placement differ wherever they are written.
impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where parity and data lie in a stripe, as md names it; [`Parity`](super::Parity) shows pictures.
///
/// Left: parity moves from the last member to the first. Symmetric: data begins after parity and wraps around, so
/// that data units follow one another over all members. `rotating-*` are the ones of DDF, which mdadm calls `ddf-*`;
/// `*-6` is a RAID-5 with Q added on a further, last member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are md's")]
pub enum Rotation {
    #[default]
    LeftSymmetric,
    LeftAsymmetric,
    RightSymmetric,
    RightAsymmetric,
    ParityFirst,
    ParityLast,
    RotatingZeroRestart,
    RotatingNRestart,
    RotatingNContinue,
    LeftSymmetric6,
    LeftAsymmetric6,
    RightSymmetric6,
    RightAsymmetric6,
    ParityFirst6,
}

impl Rotation {
    /// All of them.
    pub const ALL: [Rotation; 14] = [
        Rotation::LeftSymmetric,
        Rotation::LeftAsymmetric,
        Rotation::RightSymmetric,
        Rotation::RightAsymmetric,
        Rotation::ParityFirst,
        Rotation::ParityLast,
        Rotation::RotatingZeroRestart,
        Rotation::RotatingNRestart,
        Rotation::RotatingNContinue,
        Rotation::LeftSymmetric6,
        Rotation::LeftAsymmetric6,
        Rotation::RightSymmetric6,
        Rotation::RightAsymmetric6,
        Rotation::ParityFirst6,
    ];

    /// As it is written: `left-symmetric`.
    pub fn name(self) -> &'static str {
        match self {
            Rotation::LeftSymmetric => "left-symmetric",
            Rotation::LeftAsymmetric => "left-asymmetric",
            Rotation::RightSymmetric => "right-symmetric",
            Rotation::RightAsymmetric => "right-asymmetric",
            Rotation::ParityFirst => "parity-first",
            Rotation::ParityLast => "parity-last",
            Rotation::RotatingZeroRestart => "rotating-zero-restart",
            Rotation::RotatingNRestart => "rotating-n-restart",
            Rotation::RotatingNContinue => "rotating-n-continue",
            Rotation::LeftSymmetric6 => "left-symmetric-6",
            Rotation::LeftAsymmetric6 => "left-asymmetric-6",
            Rotation::RightSymmetric6 => "right-symmetric-6",
            Rotation::RightAsymmetric6 => "right-asymmetric-6",
            Rotation::ParityFirst6 => "parity-first-6",
        }
    }

    /// The rotation of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Rotation::ALL.into_iter().find(|rotation| rotation.name() == name)
    }

    /// RAID-5 has no such rotation.
    pub fn is_raid6_only(self) -> bool {
        match self {
            Rotation::LeftSymmetric
            | Rotation::LeftAsymmetric
            | Rotation::RightSymmetric
            | Rotation::RightAsymmetric
            | Rotation::ParityFirst
            | Rotation::ParityLast => false,
            Rotation::RotatingZeroRestart
            | Rotation::RotatingNRestart
            | Rotation::RotatingNContinue
            | Rotation::LeftSymmetric6
            | Rotation::LeftAsymmetric6
            | Rotation::RightSymmetric6
            | Rotation::RightAsymmetric6
            | Rotation::ParityFirst6 => true,
        }
    }
}

/// How the copies of a stripe unit lie to one another; [`Mirrored`](super::Mirrored) shows pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// On neighbouring members, at about the same offset.
    Near,
    /// In different parts of the members, so that reads of the first part stripe over all of them.
    Far,
    /// On neighbouring members, in the next row of stripe units.
    Offset,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 3] = [Pattern::Near, Pattern::Far, Pattern::Offset];

    /// As it is written: `near`.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Near => "near",
            Pattern::Far => "far",
            Pattern::Offset => "offset",
        }
    }
}

/// Copies of RAID-10 as md has them: `near-2`, `far-2`, `offset-2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// How they lie to one another.
    pub pattern: Pattern,
    /// How many, 2 to [`MOST_COPIES`].
    pub count: u16,
}

impl Default for Copies {
    fn default() -> Self {
        Copies { pattern: Pattern::Near, count: 2 }
    }
}

impl Copies {
    /// As it is written: `near-2`.
    pub fn name(self) -> String {
        format!("{}-{}", self.pattern.name(), self.count)
    }

    /// The copies of a name.
    pub fn parse(name: &str) -> Option<Self> {
        let of_pattern = |pattern| (2..=MOST_COPIES).map(move |count| Copies { pattern, count });
        Pattern::ALL.into_iter().flat_map(of_pattern).find(|copies| copies.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for rotation in Rotation::ALL {
            assert_eq!(Rotation::parse(rotation.name()), Some(rotation));
        }
        assert_eq!(Rotation::parse("parity-first-6"), Some(Rotation::ParityFirst6));
        assert_eq!(Copies::parse("offset-3"), Some(Copies { pattern: Pattern::Offset, count: 3 }));
        assert_eq!(Copies::parse("far-8"), Some(Copies { pattern: Pattern::Far, count: 8 }));
        for wrong in ["near", "near-", "near-1", "near-02", "near-+2", "near-9", "nearer-2", "2-near"] {
            assert_eq!(Copies::parse(wrong), None, "{wrong}");
        }
        for wrong in ["left", "Left-symmetric", "left_symmetric", ""] {
            assert_eq!(Rotation::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rotations_are_all_there_once() {
        let mut names = Rotation::ALL.map(Rotation::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert_eq!(Rotation::ALL.iter().filter(|rotation| rotation.is_raid6_only()).count(), 8);
    }

    #[test]
    fn levels_say_what_they_need() {
        let copies = |count| Level::Raid10(Copies { pattern: Pattern::Far, count });
        let rotation = Rotation::default();
        let levels = [
            (Level::Raid0, "raid0", 1, 0),
            (Level::Raid1, "raid1", 1, 0),
            (copies(2), "raid10 far-2", 2, 0),
            (copies(5), "raid10 far-5", 5, 0),
            (Level::Raid4, "raid4", 3, 1),
            (Level::Raid5(rotation), "raid5 left-symmetric", 3, 1),
            (Level::Raid6(rotation), "raid6 left-symmetric", 4, 2),
            (Level::Draid(Groups { parities: 2, data: 4, spares: 1 }), "draid2:4d:1s", 7, 2),
        ];
        for (level, text, least, parities) in levels {
            assert_eq!(
                (level.to_string().as_str(), level.least_members(), level.parities()),
                (text, least, parities)
            );
        }
        assert_eq!((Level::default(), Level::Raid1.most_members()), (Level::Raid0, 8));
        let missing = |level: Level| level.redundancy(7);
        let (draid, raid6) = (levels[7].0, levels[6].0);
        let all = [Level::Raid0, Level::Raid1, copies(3), Level::Raid4, raid6, draid].map(missing);
        assert_eq!(all, [0, 6, 2, 1, 2, 2], "members that may be missing");
        assert_eq!([raid6, draid].map(Level::distributed_spares), [0, 1]);
        assert_eq!([raid6, draid].map(Level::most_members), [u16::MAX, 255]);
        assert_eq!(Copies::default().name(), "near-2");
    }
}
