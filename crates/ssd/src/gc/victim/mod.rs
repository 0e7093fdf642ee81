//! Which block to collect next: pure functions over block metadata, one file each.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod read_match;

use dyn_clone::DynClone;
use harmonia_engine::Rng;
use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, Parameters, PolicyConfig, Registry};

use crate::block::{BlockId, BlockTable};

/// Chooses the block to collect. Pure: the same view and random stream give the same answer, nothing is changed.
pub trait Victim: Send + Sync + DynClone {
    /// The closed block to collect in this allocation unit, or `None` if collecting none would free a page.
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId>;

    /// Whether it may take a block without an invalid page: that fills a block before it frees one, so collection
    /// must start while one is free, and a hard threshold of 0 is refused.
    fn may_take_full(&self) -> bool {
        false
    }

    /// Whether it looks at queued reads; a device keeps them in order only for one that does.
    fn uses_reads(&self) -> bool {
        false
    }

    /// The policy it equals while no read waits: devices of both age alike.
    fn ages_as(&self) -> Option<&'static str> {
        None
    }
}

dyn_clone::clone_trait_object!(Victim);

/// What a victim policy may look at: one allocation unit.
pub struct VictimView<'a> {
    /// State, valid count, erase count and closing order of every block of the unit.
    pub blocks: BlockTable<'a>,
    /// In which planes of the die they lie.
    pub planes: UnitPlanes,
    /// Whether the page at (block, page offset) holds live data. While a large device ages nobody knows: a policy of this crate asks
    /// only for the sake of reads that wait.
    pub valid: &'a dyn ValidPages,
    /// Host reads waiting in the die's queue, as (plane, page offset) pairs; empty while ageing.
    pub queued_reads: &'a dyn QueuedReads,
    /// The time of choosing.
    pub now: SimTime,
}

/// The planes of a die that an allocation unit covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitPlanes {
    /// The first of them.
    pub first: u32,
    /// Blocks of the unit in each.
    pub blocks_per_plane: u32,
}

impl UnitPlanes {
    /// The plane of the die in which a block of the unit lies.
    #[inline]
    pub fn of(self, block: BlockId) -> u32 {
        self.first + block.0 / self.blocks_per_plane
    }
}

/// The valid bitmap of an allocation unit, derived on demand from map and reverse map.
pub trait ValidPages {
    /// Whether the page holds live data.
    fn is_valid(&self, block: BlockId, page: u32) -> bool;
}

/// Host reads that wait in a die's queue.
pub trait QueuedReads {
    /// Calls `visit(plane, page offset)` for each, in queue order.
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32));
}

/// No reads wait: ageing, and devices without host load.
pub struct NoReads;

impl QueuedReads for NoReads {
    fn for_each(&self, _: &mut dyn FnMut(u32, u32)) {}
}

/// Builds a victim policy, or says which of its keys is wrong.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Result<Box<dyn Victim>, String> + Send + Sync);

/// All victim policies.
pub const REGISTRY: &[Entry<Build>] =
    &[greedy::ENTRY, cost_benefit::ENTRY, fifo::ENTRY, random::ENTRY, d_choices::ENTRY, read_match::ENTRY];

/// Those, and what a program has added.
pub static POLICIES: Registry<Build> = Registry::new("victim policy", REGISTRY);

/// Builds the victim policy of a device.
///
/// # Errors
/// If there is no such policy, or it refuses one of its keys.
pub fn build(config: &PolicyConfig) -> Result<Box<dyn Victim>, String> {
    let entry = POLICIES.chosen(&config.policy, &config.own)?;
    (entry.build)(&Parameters { own: &config.own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockState, GROUP, GroupKey, encode};

    /// No read waits while a device ages, so a policy that looks at reads names the one that it equals then, which does not.
    #[test]
    fn policies_that_look_at_reads_age_as_one_that_does_not() {
        let ages_as = |entry: &Entry<Build>| {
            let policy = build(&entry.name.into()).expect("registered");
            policy.uses_reads().then(|| (entry.name, policy.ages_as()))
        };
        let reading: Vec<_> = REGISTRY.iter().filter_map(ages_as).collect();
        assert_eq!(reading, [("read-match", Some("greedy"))]);
        let greedy = build(&"greedy".into()).expect("registered");
        assert_eq!((greedy.uses_reads(), greedy.ages_as()), (false, None));
    }

    struct AllValid;
    impl ValidPages for AllValid {
        fn is_valid(&self, _: BlockId, _: u32) -> bool {
            true
        }
    }

    /// Runs a policy on closed blocks given as (valid pages, erases), closed in the order of their index.
    pub(super) fn choose(name: &str, data_pages: u32, blocks: &[(u32, u32)]) -> Option<usize> {
        choose_with(name, data_pages, blocks, &mut Rng::stream(1, name))
    }

    pub(super) fn choose_often(name: &str, data_pages: u32, blocks: &[(u32, u32)], times: u32) -> Vec<u32> {
        let mut rng = Rng::stream(1, name);
        let mut taken = vec![0; blocks.len()];
        for _ in 0..times {
            if let Some(block) = choose_with(name, data_pages, blocks, &mut rng) {
                taken[block] += 1;
            }
        }
        taken
    }

    fn choose_with(name: &str, data_pages: u32, blocks: &[(u32, u32)], rng: &mut Rng) -> Option<usize> {
        let policy = build(&name.into()).expect("registered");
        let entries: Vec<u32> = blocks.iter().map(|&(valid, _)| encode(BlockState::Closed, valid)).collect();
        let erases: Vec<u32> = blocks.iter().map(|&(_, erases)| erases).collect();
        let closed_at: Vec<u32> = (0..blocks.len() as u32).collect();
        let groups = (0..entries.len()).step_by(GROUP);
        let best: Vec<GroupKey> = groups.map(|block| GroupKey::best_of(&entries, &erases, block)).collect();
        let table =
            BlockTable { entries: &entries, best: &best, erases: &erases, closed_at: &closed_at, data_pages };
        let planes = UnitPlanes { first: 0, blocks_per_plane: blocks.len().max(1) as u32 };
        let (valid, queued_reads, now) = (&AllValid, &NoReads, SimTime::ZERO);
        let view = VictimView { blocks: table, planes, valid, queued_reads, now };
        policy.choose(&view, rng).map(BlockId::index)
    }
}
