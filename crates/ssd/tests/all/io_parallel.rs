//! Does a die do host work in its sibling planes while one plane collects (paper C, HPDC 2018, Algorithms 2 and 3)?
//!
//! What the schedule pairs and the victim policy counts, on literal views.

use harmonia_engine::Rng;
use harmonia_ssd::block::{BlockId, BlockState, BlockTable, GroupKey, encode};
use harmonia_ssd::gc::schedule::{
    self, Class, Decision, DieQueues, DieView, Gc, GcJob, GcPhase, HostToken, MultiPlane, Queued, Schedule,
    Token,
};
use harmonia_ssd::gc::victim::{self, QueuedReads, UnitPlanes, ValidPages, VictimView};
use harmonia_types::SimTime;

/// A literal queue: (class, plane, page offset of a read, ready); its index is its token. And each plane's frontier.
struct Literal(&'static [(Class, u32, u32, u64)], &'static [Option<u32>]);

impl Literal {
    fn find(&self, wanted: impl Fn(Class, u32, u32) -> bool) -> Option<Queued> {
        let index = self.0.iter().position(|&(class, plane, page, _)| wanted(class, plane, page))?;
        let (class, _, _, ready) = self.0[index];
        Some(Queued { token: HostToken(index as u32), class, ready: SimTime(ready), deadline: None })
    }
}

impl DieQueues for Literal {
    fn len(&self, class: Class) -> usize {
        self.0.iter().filter(|op| op.0 == class).count()
    }
    fn first(&self, class: Class) -> Option<Queued> {
        self.find(|c, _, _| c == class)
    }
    fn find_read(&self, plane: u32, page: u32) -> Option<Queued> {
        self.find(|class, at, offset| class == Class::Read && (at, offset) == (plane, page))
    }
    fn first_write(&self, plane: u32) -> Option<Queued> {
        self.find(|class, at, _| class == Class::Write && at == plane)
    }
    fn can_write_at(&self, plane: u32, page: u32) -> bool {
        self.1[plane as usize] == Some(page)
    }
    fn place_of(&self, token: HostToken) -> Option<(u32, u32)> {
        let (_, plane, page, _) = self.0[token.0 as usize];
        Some((plane, page))
    }
    fn on_moving_page(&self, _: &GcJob) -> Option<Queued> {
        None
    }
}

fn io_parallel() -> Box<dyn Schedule> {
    schedule::build(&"io-parallel".into()).expect("registered")
}

/// What GC-PAR decides at time 100 while it moves page 5 of a block in plane 0 to page 2 of another there.
fn decide(phase: GcPhase, queues: &Literal) -> Decision {
    decide_with(phase, queues, queues.1.len() as u32)
}

fn decide_with(phase: GcPhase, queues: &dyn DieQueues, planes: u32) -> Decision {
    let (source_plane, destination) = (0, (0, 2));
    let (hard, pinned) = (true, false);
    let job = GcJob { unit: 0, victim: 7, cursor: 5, phase, source_plane, destination, hard, pinned };
    let (free, hard, soft, bus_free_at) = (2, 2, 3, SimTime::ZERO);
    let (head, running, suspended) = (queues.first(Class::Read), None, None);
    let gc = Gc::Job(job);
    let (multi_plane, writes_wait) = (true, false);
    let view = DieView {
        head,
        gc,
        writes_wait,
        running,
        suspended,
        free,
        hard,
        soft,
        planes,
        multi_plane,
        bus_free_at,
        queues,
    };
    io_parallel().next(SimTime(100), &view)
}

fn with_host(tokens: &[u32]) -> Decision {
    let mut command = MultiPlane::new(Token::GcStep);
    tokens.iter().for_each(|&token| _ = command.join(Token::Host(HostToken(token))));
    Decision::Multi(command)
}

use Class::{Read, Write};
const ALONE: Decision = Decision::Single(Token::GcStep);

#[test]
fn a_move_takes_along_what_matches_in_sibling_planes() {
    let two =
        Literal(&[(Read, 0, 5, 0), (Read, 1, 4, 0), (Read, 1, 5, 0), (Read, 1, 5, 0)], &[Some(2), Some(2)]);
    assert_eq!(
        decide(GcPhase::Read, &two),
        with_host(&[2]),
        "same offset, sibling plane, first in the queue"
    );
    let unmatched = Literal(&[(Read, 0, 5, 0), (Read, 1, 4, 0), (Write, 1, 0, 101)], &[Some(2), Some(2)]);
    assert_eq!(decide(GcPhase::Read, &unmatched), ALONE);
    assert_eq!(decide(GcPhase::Program, &unmatched), ALONE, "its data is not there at t - 1");
    let writes = Literal(&[(Write, 0, 0, 0), (Write, 1, 0, 100), (Write, 1, 0, 0)], &[Some(2), Some(2)]);
    assert_eq!(
        decide(GcPhase::Program, &writes),
        with_host(&[1]),
        "the first write of the plane, ready at t"
    );
    let elsewhere = Literal(writes.0, &[Some(2), Some(3)]);
    assert_eq!(decide(GcPhase::Program, &elsewhere), ALONE, "its frontier has another offset");
    assert_eq!(decide(GcPhase::Erase, &two), Decision::Erase);
    let four = Literal(&[(Read, 3, 5, 0), (Read, 1, 5, 0), (Read, 3, 5, 0)], &[Some(2); 4]);
    assert_eq!(decide(GcPhase::Read, &four), with_host(&[1, 0]), "one for every sibling plane");
}

/// Planes that share one pool of blocks: a write may go to any of them.
struct OnePool(Literal);

impl DieQueues for OnePool {
    fn len(&self, class: Class) -> usize {
        self.0.len(class)
    }
    fn first(&self, class: Class) -> Option<Queued> {
        self.0.first(class)
    }
    fn find_read(&self, plane: u32, page: u32) -> Option<Queued> {
        self.0.find_read(plane, page)
    }
    fn first_write(&self, _: u32) -> Option<Queued> {
        self.0.first(Class::Write)
    }
    fn can_write_at(&self, plane: u32, page: u32) -> bool {
        self.0.can_write_at(plane, page)
    }
    fn place_of(&self, token: HostToken) -> Option<(u32, u32)> {
        self.0.place_of(token)
    }
    fn on_moving_page(&self, _: &GcJob) -> Option<Queued> {
        None
    }
}

#[test]
fn a_write_that_fits_several_planes_joins_once() {
    let pool = OnePool(Literal(&[(Write, 0, 0, 0), (Write, 0, 0, 0)], &[Some(2); 4]));
    assert_eq!(decide_with(GcPhase::Program, &pool, 4), with_host(&[0]));
}

/// Blocks as strings, `x` a live page; and queued reads.
struct Pages(Vec<&'static str>);
impl ValidPages for Pages {
    fn is_valid(&self, block: BlockId, page: u32) -> bool {
        self.0[block.index()].as_bytes()[page as usize] == b'x'
    }
}
struct Reads(&'static [(u32, u32)]);
impl QueuedReads for Reads {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        self.0.iter().for_each(|&(plane, page)| visit(plane, page));
    }
}

/// The unit covers both planes: the first half of the blocks lies in plane 0.
fn victim(blocks: &[&'static str], reads: &'static [(u32, u32)]) -> Option<u32> {
    let valid = |block: &&str| encode(BlockState::Closed, block.matches('x').count() as u32);
    let (entries, erases): (Vec<u32>, Vec<u32>) = blocks.iter().map(|block| (valid(block), 0)).unzip();
    let best = [GroupKey::best_of(&entries, &erases, 0)];
    let table =
        BlockTable { entries: &entries, best: &best, erases: &erases, closed_at: &erases, data_pages: 4 };
    let planes = UnitPlanes { first: 0, blocks_per_plane: blocks.len() as u32 / 2 };
    let (valid, queued_reads) = (&Pages(blocks.to_vec()), &Reads(reads));
    let view = VictimView { blocks: table, planes, valid, queued_reads, now: SimTime(9) };
    let read_match = victim::build(&"read-match".into()).expect("registered");
    read_match.choose(&view, &mut Rng::stream(1, "read-match")).map(|block| block.0)
}

#[test]
fn the_victim_is_the_one_most_reads_would_pair_with() {
    let blocks = ["xx..", "x..x", "..xx", "xxx."];
    assert_eq!(victim(&blocks, &[(1, 3), (1, 0), (1, 1)]), Some(0), "two against two: the first");
    assert_eq!(victim(&blocks, &[(1, 3), (1, 0), (0, 1)]), Some(1), "a read of its own plane cannot pair");
    assert_eq!(
        victim(&blocks, &[(0, 2), (0, 3), (1, 0)]),
        Some(2),
        "a block of plane 1 pairs with reads of plane 0"
    );
    assert_eq!(victim(&["xxxx", "xxxx"], &[]), None, "frees no page");
    let mut many = vec!["x..."; 22];
    many[10] = "..x.";
    assert_eq!(victim(&many, &[(1, 2)]), Some(0), "the eleventh is no candidate");
    many.swap(9, 10);
    assert_eq!(victim(&many, &[(1, 2)]), Some(9), "the tenth is");
}
