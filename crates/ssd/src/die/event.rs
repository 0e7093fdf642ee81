//! An event: which blocks one garbage collection of a die takes, one after the other, and when it is over.
//!
//! | kind | next victim | over when |
//! |---|---|---|
//! | whole | from the first unit that has not met the goal, in the order of the units | every unit has met the goal, or no block would free a page |
//! | idle | from the unit with the fewest free blocks | every unit is above `stop`, no block would free a page, or the host is back |
//! | turn | from the unit whose best block has the most invalid pages | one victim is taken |
//!
//! An event does not know how its victims are collected. As one command or step by step, at once or turn by turn, it is
//! asked for the next victim in the same way.

use crate::block::BlockId;
use crate::ftl::Goal;
use crate::shape::UnitOfDie;

/// A garbage collection of one die, from its first victim to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    kind: Kind,
    /// The device asked for it above its hard threshold. Nobody forced it.
    pub at_soft: bool,
    /// The device began it by itself above the hard threshold because of this die, and has not told since that a unit has come down
    /// to that.
    pub reports_hard: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole {
        goal: Goal,
        units: UnitSet,
        /// The unit that gives the next victim, and how many it has given.
        unit: UnitOfDie,
        given: u32,
    },
    Idle {
        /// Every unit should have more free blocks than this.
        stop: u32,
    },
    Turn,
}

/// What an event must know of its die's units.
pub(crate) trait Units {
    /// How many there are.
    fn count(&self) -> u32;
    /// Free blocks of a unit.
    fn free(&self, unit: UnitOfDie) -> u32;
    /// The unit whose best block has the most invalid pages (ties: the lowest).
    fn most_invalid(&self) -> UnitOfDie;
    /// The block of a unit to collect next; `None` if none would free a page.
    fn choose(&mut self, unit: UnitOfDie) -> Option<BlockId>;
}

impl Event {
    /// One that goes on in each unit of the set until the goal is met there.
    pub fn whole(goal: Goal, units: UnitSet) -> Event {
        Event::of(Kind::Whole { goal, units, unit: UnitOfDie(0), given: 0 })
    }

    /// One that gives way to the host after every victim.
    pub fn idle(stop: u32) -> Event {
        Event::of(Kind::Idle { stop })
    }

    /// One victim, which nobody but the concurrency policy asked for.
    pub fn turn() -> Event {
        Event { reports_hard: true, ..Event::of(Kind::Turn) }
    }

    fn of(kind: Kind) -> Event {
        Event { kind, at_soft: false, reports_hard: false }
    }

    /// The same; the device asked for it above its hard threshold, or not.
    pub fn asked_at_soft(self, at_soft: bool) -> Event {
        Event { at_soft, ..self }
    }

    /// A turn that the concurrency policy began becomes the first turn of an event. It does not count towards its goal.
    pub fn become_event(&mut self, event: &Event) {
        *self = Event { reports_hard: self.reports_hard, ..*event };
    }

    /// The same, for a schedule under which it takes no time: then there is nobody to give way to.
    pub fn at_once(self) -> Event {
        match self.kind {
            Kind::Idle { .. } => {
                let kind = Event::whole(self.goal(), UnitSet::ALL).kind;
                Event { kind, ..self }
            }
            Kind::Whole { .. } | Kind::Turn => self,
        }
    }

    /// Whether it gives way to the host after every victim.
    pub fn yields(&self) -> bool {
        matches!(self.kind, Kind::Idle { .. })
    }

    /// Whether nobody but the concurrency policy asked for it.
    pub fn is_turn(&self) -> bool {
        self.kind == Kind::Turn
    }

    /// What every unit of the event should come to.
    pub fn goal(&self) -> Goal {
        match self.kind {
            Kind::Whole { goal, .. } => goal,
            Kind::Idle { stop } => Goal { stop, min_victims: 0 },
            Kind::Turn => Goal { stop: 0, min_victims: 1 },
        }
    }

    /// The units that it is for.
    pub fn units(&self) -> UnitSet {
        match self.kind {
            Kind::Whole { units, .. } => units,
            Kind::Idle { .. } | Kind::Turn => UnitSet::ALL,
        }
    }

    /// Victims that the unit it is at has given, the one under way included.
    pub fn given(&self) -> u32 {
        match self.kind {
            Kind::Whole { given, .. } => given,
            Kind::Idle { .. } | Kind::Turn => 0,
        }
    }

    /// Another demand for the same die becomes part of this event.
    pub fn absorb(&mut self, other: &Event) {
        if let Kind::Whole { units, .. } = &mut self.kind {
            *units = units.union(other.units());
        }
        self.at_soft &= other.at_soft;
    }

    /// The next victim, and its unit. `None` if the event is over; `host_is_back`: an operation has come since idle
    /// time began.
    pub fn next_victim(&mut self, die: &mut impl Units, host_is_back: bool) -> Option<(UnitOfDie, BlockId)> {
        match &mut self.kind {
            Kind::Turn => {
                let unit = die.most_invalid();
                die.choose(unit).map(|block| (unit, block))
            }
            Kind::Idle { .. } if host_is_back => None,
            Kind::Idle { stop } => {
                let mut tried = None;
                loop {
                    let keys = all(die.count()).map(|unit| (die.free(unit), unit));
                    let (free, unit) = keys.filter(|&key| key.0 <= *stop && tried < Some(key)).min()?;
                    if let Some(block) = die.choose(unit) {
                        return Some((unit, block));
                    }
                    tried = Some((free, unit));
                }
            }
            Kind::Whole { .. } => loop {
                let unit = self.unit_due(die)?;
                let chosen = die.choose(unit);
                if let Kind::Whole { unit, given, .. } = &mut self.kind {
                    match chosen {
                        Some(block) => {
                            *given += 1;
                            return Some((*unit, block));
                        }
                        None => (*unit, *given) = (unit.next(), 0),
                    }
                }
            },
        }
    }

    /// The unit of a whole event that has not met the goal, from the one it is at; goes on to that.
    fn unit_due(&mut self, die: &impl Units) -> Option<UnitOfDie> {
        let Kind::Whole { goal, units, unit, given } = &mut self.kind else { return None };
        while unit.0 < die.count() {
            if units.has(*unit) && !goal.is_met(*given, die.free(*unit)) {
                return Some(*unit);
            }
            (*unit, *given) = (unit.next(), 0);
        }
        None
    }

    /// Whether it needs no further victim, after one that is done. A unit that has met the goal is left for good.
    pub fn is_over(&mut self, die: &impl Units, host_is_back: bool) -> bool {
        match self.kind {
            Kind::Turn => true,
            Kind::Idle { stop } => host_is_back || all(die.count()).all(|unit| die.free(unit) > stop),
            Kind::Whole { .. } => self.unit_due(die).is_none(),
        }
    }
}

fn all(count: u32) -> impl Iterator<Item = UnitOfDie> {
    (0..count).map(UnitOfDie)
}

/// Which units of a die an event is for: all, or in the domain `plane` those that are low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitSet(u64);

impl UnitSet {
    pub const ALL: UnitSet = UnitSet(u64::MAX);

    /// These units.
    pub fn of(units: impl Iterator<Item = UnitOfDie>) -> UnitSet {
        UnitSet(units.fold(0, |set, unit| set | 1 << unit.0))
    }

    /// Whether a unit is one of them.
    pub fn has(self, unit: UnitOfDie) -> bool {
        self.0 >> unit.0 & 1 == 1
    }

    /// All but one.
    pub fn without(self, unit: UnitOfDie) -> UnitSet {
        UnitSet(self.0 & !(1 << unit.0))
    }

    /// The units of both sets.
    pub fn union(self, other: UnitSet) -> UnitSet {
        UnitSet(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units with so many free blocks. Each has victims left that free a block; every unit's best frees `invalid` pages.
    #[derive(Clone)]
    struct Literal {
        free: Vec<u32>,
        left: Vec<u32>,
        invalid: Vec<u32>,
    }

    impl Units for Literal {
        fn count(&self) -> u32 {
            self.free.len() as u32
        }
        fn free(&self, unit: UnitOfDie) -> u32 {
            self.free[unit.0 as usize]
        }
        fn most_invalid(&self) -> UnitOfDie {
            let most = (0..self.invalid.len()).rev().max_by_key(|&unit| self.invalid[unit]);
            UnitOfDie(most.expect("units") as u32)
        }
        fn choose(&mut self, unit: UnitOfDie) -> Option<BlockId> {
            let unit = unit.0 as usize;
            self.left[unit] = self.left[unit].checked_sub(1)?;
            self.free[unit] += 1;
            Some(BlockId(self.left[unit]))
        }
    }

    fn units(free: &[u32], left: &[u32]) -> Literal {
        Literal { free: free.to_vec(), left: left.to_vec(), invalid: vec![1; free.len()] }
    }

    /// The units that give the victims of an event, and whether it said after each that it was over.
    fn taken(mut event: Event, die: &mut Literal) -> Vec<(u32, bool)> {
        let mut taken = Vec::new();
        while let Some((unit, _)) = event.next_victim(die, false) {
            taken.push((unit.0, event.is_over(die, false)));
            if event.is_turn() {
                break;
            }
        }
        taken
    }

    fn goal(stop: u32, min_victims: u32) -> Goal {
        Goal { stop, min_victims }
    }

    #[test]
    fn a_whole_event_meets_its_goal_unit_by_unit() {
        let event = Event::whole(goal(2, 1), UnitSet::ALL);
        let expected = [(0, false), (0, false), (1, false), (2, true)];
        assert_eq!(taken(event, &mut units(&[1, 5, 2], &[9, 9, 9])), expected);
        // The least number of victims counts for every unit anew.
        let event = Event::whole(goal(0, 2), UnitSet::ALL);
        assert_eq!(
            taken(event, &mut units(&[1, 1], &[9, 9])),
            [(0, false), (0, false), (1, false), (1, true)]
        );
    }

    #[test]
    fn a_unit_without_victims_is_passed_over() {
        let event = Event::whole(goal(2, 1), UnitSet::ALL);
        assert_eq!(taken(event, &mut units(&[0, 2], &[1, 9])), [(0, false), (1, true)]);
        assert_eq!(taken(event, &mut units(&[0, 0], &[0, 0])), []);
    }

    #[test]
    fn an_event_is_for_its_units_and_those_of_the_demands_that_it_absorbs() {
        let only = |unit| UnitSet::of([UnitOfDie(unit)].into_iter());
        let mut event = Event::whole(goal(0, 1), only(1));
        assert_eq!(taken(event, &mut units(&[1; 4], &[9; 4])), [(1, true)]);
        event.absorb(&Event::whole(goal(7, 3), only(3)));
        assert_eq!(taken(event, &mut units(&[1; 4], &[9; 4])), [(1, false), (3, true)]);
        assert!(event.units().without(UnitOfDie(3)) == only(1));
    }

    #[test]
    fn an_idle_event_takes_from_the_emptiest_unit_and_gives_way() {
        let event = Event::idle(2);
        let expected = [(1, false), (0, false), (1, true)];
        assert_eq!(taken(event, &mut units(&[2, 1, 3], &[9, 9, 9])), expected);
        // One that has no victim is not asked twice.
        assert_eq!(taken(event, &mut units(&[2, 1], &[9, 0])), [(0, false)]);
        let mut interrupted = event;
        let mut die = units(&[1, 1], &[9, 9]);
        assert_eq!(interrupted.next_victim(&mut die, true), None);
        assert!(interrupted.is_over(&die, true) && !interrupted.is_over(&die, false));
        // Without time to give way in, it goes on unit by unit, whoever is back.
        let mut at_once = event.at_once();
        assert_eq!(at_once.next_victim(&mut die, true).map(|(unit, _)| unit), Some(UnitOfDie(0)));
    }

    #[test]
    fn a_turn_is_one_victim_of_the_unit_that_wins_most() {
        let mut die = Literal { invalid: vec![3, 7, 7], ..units(&[0; 3], &[9; 3]) };
        assert_eq!(taken(Event::turn(), &mut die), [(1, true)]);
    }
}
