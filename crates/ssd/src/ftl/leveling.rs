//! Static wear levelling: blocks with data that is never rewritten are used again.
//!
//! ```text
//! gap of erases in a unit > threshold, budget left ─► the least worn full block is the next victim, whatever the policy says
//!                                                     its live pages move where collection moves pages; it is erased, and free
//! ```
//!
//! Levelling has no event of its own: a collection of the unit takes its victim, and needs another one if nothing was won. So it
//! costs what collecting a block costs, under every schedule, and never runs while the unit has no room for a full block. It stops
//! as soon as the gap is back at the threshold. Its moves have a cause of their own, and time spent on them counts as collection.
//!
//! The pages go to the most worn free block, because they will stay there. Without that they would go to the block that was freed
//! just before, which is hardly worn, and would have to be moved again soon. There is no open block for levelling alone: such a block
//! would wait for its next page while all others are erased, and become the least worn one itself.
//!
//! Source: the threshold rule of Chang, Hsieh and Kuo, "Endurance enhancement of flash-memory storage systems" (DAC 2007), and a
//! gap of about 130 erases that was seen in a drive. Leaves out: pools of hot and cold blocks.

use std::collections::VecDeque;

use crate::block::BlockId;
use crate::leveling::LevelingConfig;

/// What a unit knows of its wear, to level it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnitLeveling {
    config: LevelingConfig,
    /// Erases of the least worn block in use, and how many blocks in use have so many, one more, and so on.
    least: u32,
    counts: VecDeque<u32>,
    /// Blocks erased so far, and of these for levelling.
    erased: u64,
    pub leveled: u64,
    /// The block that is collected for levelling.
    moving: Option<BlockId>,
}

impl UnitLeveling {
    /// Of blocks with these erases, all in use.
    pub fn new(config: &LevelingConfig, erases: &[u32]) -> UnitLeveling {
        let least = erases.iter().copied().min().unwrap_or_default();
        let most = erases.iter().copied().max().unwrap_or_default();
        let mut counts =
            VecDeque::with_capacity((most - least) as usize + 2 * config.threshold as usize + 64);
        counts.resize((most - least) as usize + 1, 0);
        erases.iter().for_each(|&erases| counts[(erases - least) as usize] += 1);
        UnitLeveling { config: config.clone(), least, counts, erased: 0, leveled: 0, moving: None }
    }

    /// A block has had so many erases until now, and one more.
    pub fn erased(&mut self, block: BlockId, erases: u32) {
        let place = (erases - self.least) as usize;
        if place + 1 == self.counts.len() {
            self.counts.push_back(0);
        }
        self.counts[place] -= 1;
        self.counts[place + 1] += 1;
        self.trim();
        self.erased += 1;
        if self.moving.take_if(|moving| *moving == block).is_some() {
            self.leveled += 1;
        }
    }

    /// A block that has had so many erases is not used any more.
    pub fn retired(&mut self, erases: u32) {
        self.counts[(erases - self.least) as usize] -= 1;
        self.trim();
    }

    fn trim(&mut self) {
        while self.counts.len() > 1 && self.counts.front() == Some(&0) {
            self.counts.pop_front();
            self.least += 1;
        }
        while self.counts.len() > 1 && self.counts.back() == Some(&0) {
            self.counts.pop_back();
        }
    }

    /// Blocks with no more erases than this are too far behind, and it is time for one of them; `None` if not.
    pub fn due(&mut self) -> Option<u32> {
        self.moving = None;
        let gap = self.counts.len() as u32 - 1;
        let has_budget = (self.leveled as f64) < self.config.budget * (self.erased as f64 + 1.0);
        (gap > self.config.threshold && has_budget).then(|| self.least + gap - self.config.threshold - 1)
    }

    /// A block is chosen.
    pub fn choose(&mut self, block: BlockId) {
        self.moving = Some(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(threshold: u32, budget: f64) -> UnitLeveling {
        UnitLeveling::new(&LevelingConfig { threshold, budget }, &[3, 5, 4])
    }

    #[test]
    fn a_block_is_due_when_the_gap_exceeds_the_threshold_and_not_before() {
        let mut unit = unit(2, 1.0);
        assert_eq!(unit.due(), None, "the gap is 2");
        unit.erased(BlockId(1), 5);
        assert_eq!(unit.due(), Some(3), "the gap is 3");
        unit.choose(BlockId(0));
        unit.erased(BlockId(0), 3);
        assert_eq!((unit.leveled, unit.due()), (1, None));
        // The most worn block is not used any more: the gap is that of the others.
        unit.retired(6);
        assert_eq!(unit.counts, [2]);
    }

    #[test]
    fn no_more_blocks_than_the_budget_has() {
        let mut unit = unit(0, 0.5);
        assert_eq!(unit.due(), Some(4));
        unit.choose(BlockId(0));
        unit.erased(BlockId(0), 3);
        assert_eq!(unit.due(), None, "1 of 1, and the next would be 2 of 2");
        unit.erased(BlockId(1), 5);
        unit.erased(BlockId(1), 6);
        assert_eq!(unit.due(), Some(6));
    }
}
