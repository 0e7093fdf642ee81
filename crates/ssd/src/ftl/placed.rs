//! Tables of what a unit notes of blocks and pages where a [placement policy](crate::placement) asks for more than who writes.
//!
//! ```text
//! by block   the frontier that filled it, and when it was opened        by page   its handle, and when it was written
//! ```
//!
//! Times are pages that were written to the unit. Where the policy looks at the cause only, nothing is noted: host pages go to
//! frontier 0, those of collection to another fixed one.

use serde::{Deserialize, Serialize};

use crate::placement::{self, Count, Memory, Old, Placement};
use crate::shape::Shape;

/// Where a page that is written goes, and with which handle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct To {
    /// The frontier.
    pub(crate) frontier: u8,
    /// The handle, 0 for one that is not known.
    pub(crate) handle: u8,
}

/// What a unit remembers for its placement policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed {
    /// Pages written so far: the clock. Moves do not count.
    pub written: u64,
    pub memory: Memory,
    /// What was written and moved by handle; empty where there are none.
    pub streams: Vec<(u64, u64)>,
}

/// What a device notes for its placement policy.
#[derive(Debug, Clone)]
pub(crate) struct Placing {
    pub policy: Box<dyn Placement>,
    pub count: Count,
    /// By block.
    pub frontier_of: Vec<u8>,
    /// By block and by page; empty where ages are not looked at.
    pub opened_at: Vec<u32>,
    pub written_at: Vec<u32>,
    /// By page; empty where there are no handles.
    pub handle_of: Vec<u8>,
}

impl Placed {
    /// Handles that are counted.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}

impl Placing {
    /// Of an empty device, if its policy asks for more than the cause.
    pub fn new(policy: &(dyn Placement + 'static), shape: &Shape) -> Option<Box<Placing>> {
        let blocks = shape.units() as usize * shape.blocks_per_unit as usize;
        let pages = shape.entries();
        let of = |is_noted: bool, entries: usize| if is_noted { entries } else { 0 };
        let ages = policy.looks_at_ages();
        policy.by_cause().is_none().then(|| {
            Box::new(Placing {
                policy: dyn_clone::clone_box(policy),
                count: policy.frontiers(),
                frontier_of: vec![0; blocks],
                opened_at: vec![0; of(ages, blocks)],
                written_at: vec![0; of(ages, pages)],
                handle_of: vec![0; of(policy.handles() > 0, pages)],
            })
        })
    }

    /// What a unit of it remembers at first.
    pub fn unit(&self) -> Placed {
        let streams = if self.policy.handles() > 0 { usize::from(self.policy.handles()) + 1 } else { 0 };
        Placed { streams: vec![(0, 0); streams], ..Placed::default() }
    }

    /// The tables as one unit has them.
    pub fn of_unit(&mut self, unit: u32, shape: &Shape) -> PlacingMut<'_> {
        let (unit, blocks, pages) =
            (unit as usize, shape.blocks_per_unit as usize, shape.unit_pages as usize);
        PlacingMut {
            policy: &*self.policy,
            frontier_of: part_mut(&mut self.frontier_of, unit, blocks),
            opened_at: part_mut(&mut self.opened_at, unit, blocks),
            written_at: part_mut(&mut self.written_at, unit, pages),
            handle_of: part_mut(&mut self.handle_of, unit, pages),
        }
    }

    /// The same of all units, in order.
    pub fn units(&mut self, shape: &Shape) -> impl Iterator<Item = PlacingMut<'_>> {
        let (blocks, pages) = (shape.blocks_per_unit as usize, shape.unit_pages as usize);
        let policy = &*self.policy;
        let of_blocks = parts(&mut self.frontier_of, blocks).zip(parts(&mut self.opened_at, blocks));
        let of_pages = parts(&mut self.written_at, pages).zip(parts(&mut self.handle_of, pages));
        of_blocks.zip(of_pages).map(move |((frontier_of, opened_at), (written_at, handle_of))| PlacingMut {
            policy,
            frontier_of,
            opened_at,
            written_at,
            handle_of,
        })
    }
}

/// A unit's part of a table, of `length` entries; all of one that is empty.
pub(crate) fn part<T>(table: &[T], unit: u32, length: u32) -> &[T] {
    if table.is_empty() { table } else { &table[unit as usize * length as usize..][..length as usize] }
}

fn part_mut<T>(table: &mut [T], unit: usize, length: usize) -> &mut [T] {
    if table.is_empty() { table } else { &mut table[unit * length..][..length] }
}

/// The parts of all units.
fn parts<T>(table: &mut [T], length: usize) -> impl Iterator<Item = &mut [T]> {
    table.chunks_mut(length).chain(std::iter::repeat_with(Default::default))
}

/// One unit's part of the tables.
pub(crate) struct PlacingMut<'a> {
    pub policy: &'a dyn Placement,
    pub frontier_of: &'a mut [u8],
    pub opened_at: &'a mut [u32],
    pub written_at: &'a mut [u32],
    pub handle_of: &'a mut [u8],
}

/// One unit's part of the tables, read-only.
pub(crate) struct View<'a> {
    pub policy: &'a dyn Placement,
    pub placed: &'a Placed,
    pub frontier_of: &'a [u8],
    pub written_at: &'a [u32],
    pub handle_of: &'a [u8],
}

impl View<'_> {
    /// The data of a page that lies in a block.
    fn old(&self, lpn: usize, block: usize) -> Old {
        let age = self.written_at.get(lpn).map_or(0, |&then| (self.placed.written as u32).wrapping_sub(then));
        Old { frontier: self.frontier_of[block], age }
    }

    /// Where the host writes a page; its data lies in `block`, if it has any.
    pub fn of_host(&self, lpn: usize, block: Option<usize>, handle: u16) -> To {
        let known = if handle <= u16::from(self.policy.handles()) { handle as u8 } else { 0 };
        let page = placement::Written { handle: known, old: block.map(|block| self.old(lpn, block)) };
        To { frontier: self.policy.of_host(&page, &self.placed.memory), handle: known }
    }

    /// Where collection moves a page of a block.
    pub fn of_collection(&self, lpn: usize, block: usize) -> usize {
        let handle = self.handle_of.get(lpn).copied().unwrap_or_default();
        let page = placement::Moved { handle, old: self.old(lpn, block) };
        self.policy.of_collection(&page, &self.placed.memory).into()
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;
    use harmonia_types::IoCause;
    use harmonia_types::registry::PolicyConfig;

    use super::*;
    use crate::block::BlockId;
    use crate::config::{Amount, SsdConfig};
    use crate::ftl::Ftl;
    use crate::probe::NoProbe;

    /// Blocks of class 0 have lasted for eight writes. So a page that was written seven writes ago is of class 0 now, and one that was
    /// written eight writes ago is of class 1, as all are that were never written.
    #[test]
    fn ages_are_the_writes_in_between() {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.ftl.placement = PolicyConfig::named("sepbit");
        (config.geometry.blocks_per_plane, config.ftl.reserved_blocks) = (70, Amount::Blocks(20));
        config.gc.hard_threshold = Amount::Blocks(3);
        let mut ftl = Ftl::new(&config, 1, "device").expect("it works");
        ftl.units[0].placed.as_deref_mut().expect("it notes something").memory = Memory([8, 0, 0]);
        let write = |ftl: &mut Ftl, lpns: &[u32]| {
            for &lpn in lpns {
                ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
            }
        };
        let remembers_of_block = |ftl: &mut Ftl, lpn| {
            let (block, _) = ftl.lookup(0, lpn).expect("it is written");
            ftl.unit(0).note_collected(BlockId(block));
            ftl.units[0].placed.as_deref().expect("it notes something").memory
        };
        write(&mut ftl, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!([1, 0].map(|lpn| ftl.to(0, lpn, 0).frontier), [0, 1]);
        // A block of class 0 is opened, and lasts for three writes.
        write(&mut ftl, &[1, 0, 0]);
        assert_eq!(
            [2, 1].map(|lpn| remembers_of_block(&mut ftl, lpn)),
            [Memory([8, 0, 0]), Memory([8, 3, 1])]
        );
    }

    /// Handles that a unit counts: those of the policy, and 0 for what has none.
    #[test]
    fn streams_are_counted_where_there_are_handles_only() {
        let counted = |policy: PolicyConfig| {
            let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
            config.ftl.placement = policy;
            let shape =
                SsdConfig::of(presets::find("tiny-test").expect("a preset")).resolve().expect("it works");
            let placing = Placing::new(&*config.placement().expect("a policy"), &shape);
            placing.expect("it asks for more than the cause").unit().streams()
        };
        assert_eq!(counted(PolicyConfig::named("sepbit")), 0);
        let streams = |handles| PolicyConfig::named("streams").with("handles", handles);
        assert_eq!([counted(streams(1)), counted(streams(3))], [2, 4]);
    }
}
