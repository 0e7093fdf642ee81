//! Can a die do host work in its sibling planes while one plane collects (paper C, HPDC 2018, Algorithms 2 and 3)?
//!
//! Proves that a schedule can pair each half of a page move with queued host operations from what a die shows alone,
//! that a victim policy can count the reads a block would pair with, and that the real device shows both from the first
//! page of an event on. The device does not carry out multi-plane commands yet.

mod seams;

use std::sync::{Arc, Mutex};

use harmonia_engine::Rng;
use harmonia_ssd::block::{BlockId, BlockState, BlockTable, GroupKey, encode};
use harmonia_ssd::gc::schedule::{
    Class, Decision, DieQueues, DieView, Gc, GcJob, GcPhase, HostToken, MultiPlane, Needs, Queued, Schedule,
    Token,
};
use harmonia_ssd::gc::victim::{QueuedReads, UnitPlanes, ValidPages, Victim, VictimView};
use harmonia_ssd::probe::AuditProbe;
use harmonia_ssd::{Device, Policies};
use harmonia_types::{Operation, SimTime};

/// GC-PAR: each half of a move takes along one matching host operation for every sibling plane; the rest wait.
struct IoParallel;

impl Schedule for IoParallel {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let Gc::Job(job) = view.gc else {
            return if view.gc == Gc::Idle { view.serve_head(now) } else { Decision::Single(Token::GcStep) };
        };
        let (own, offset) = match job.phase {
            GcPhase::Erase => return Decision::Erase,
            GcPhase::Choose => return Decision::Single(Token::GcStep),
            GcPhase::Read => (job.source_plane, job.cursor),
            GcPhase::Program => job.destination,
        };
        let partner = |plane: u32| match job.phase {
            GcPhase::Read => view.queues.find_read(plane, offset),
            _ if view.queues.frontier_offset(plane) == Some(offset) => view.queues.first_write(plane),
            _ => None,
        };
        let mut command = MultiPlane::new(Token::GcStep);
        let siblings = (0..view.planes).filter(|&plane| plane != own);
        for host in siblings.filter_map(partner).filter(|host| host.ready <= now) {
            command.join(Token::Host(host.token));
        }
        if command.iter().count() > 1 { Decision::Multi(command) } else { Decision::Single(Token::GcStep) }
    }

    fn needs(&self) -> Needs {
        Needs { multi_plane: true, fresh_blocks: true, ..Needs::default() }
    }
}

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
    fn frontier_offset(&self, plane: u32) -> Option<u32> {
        self.1[plane as usize]
    }
}

/// What GC-PAR decides at time 100 while it moves page 5 of a block in plane 0 to page 2 of another there.
fn decide(phase: GcPhase, queues: &Literal) -> Decision {
    let (source_plane, destination) = (0, (0, 2));
    let job = GcJob { unit: 0, victim: 7, cursor: 5, phase, source_plane, destination, hard: true };
    let planes = queues.1.len() as u32;
    let (free, hard, soft, bus_free_at) = (2, 2, 3, SimTime::ZERO);
    let (head, running, suspended) = (queues.first(Class::Read), None, None);
    let gc = Gc::Job(job);
    IoParallel.next(
        SimTime(100),
        &DieView { head, gc, running, suspended, free, hard, soft, planes, bus_free_at, queues },
    )
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

/// GC-VIC: of at most 10 blocks with the fewest valid pages, the one most queued reads would pair with.
struct ReadMatch;

impl Victim for ReadMatch {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let (_, valid) = view.blocks.fewest_valid()?;
        let matches = |block: &BlockId| {
            let mut matched = 0u32;
            view.queued_reads.for_each(&mut |plane, page| {
                matched += u32::from(plane != view.planes.of(*block) && view.valid.is_valid(*block, page));
            });
            matched
        };
        let candidates = view.blocks.all_fewest().take(10);
        // Ties go to the first.
        let best = candidates.min_by_key(|block| std::cmp::Reverse(matches(block)))?;
        (valid < view.blocks.data_pages).then_some(best)
    }
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
    let valid = |block: &&str| encode(BlockState::Closed, block.matches('x').count() as u16);
    let (entries, erases): (Vec<u16>, Vec<u32>) = blocks.iter().map(|block| (valid(block), 0)).unzip();
    let best = [GroupKey::best_of(&entries, &erases, 0)];
    let table =
        BlockTable { entries: &entries, best: &best, erases: &erases, closed_at: &erases, data_pages: 4 };
    let planes = UnitPlanes { first: 0, blocks_per_plane: blocks.len() as u32 / 2 };
    let (valid, queued_reads) = (&Pages(blocks.to_vec()), &Reads(reads));
    let view = VictimView { blocks: table, planes, valid, queued_reads, now: SimTime(9) };
    ReadMatch.choose(&view, &mut Rng::stream(1, "read-match")).map(|block| block.0)
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

/// Steps through each event alone and notes the job and the planes' write offsets at every question.
struct Spy(Arc<Mutex<Vec<Seen>>>);

/// A job and the frontier offsets of both planes.
type Seen = (GcJob, [Option<u32>; 2]);

impl Schedule for Spy {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        if let Gc::Job(job) = view.gc {
            let offsets = [0, 1].map(|plane| view.queues.frontier_offset(plane));
            self.0.lock().expect("one thread").push((job, offsets));
        }
        match view.gc {
            Gc::Idle => view.serve_head(now),
            Gc::Job(GcJob { phase: GcPhase::Erase, .. }) => Decision::Erase,
            _ => ALONE,
        }
    }

    fn needs(&self) -> Needs {
        Needs { fresh_blocks: true, ..Needs::default() }
    }
}

#[test]
fn the_device_shows_every_live_page_before_it_moves_and_equal_offsets_at_the_start() {
    let config = seams::config(1);
    let ftl = seams::used(&config, 2);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let policies = Policies { schedule: Box::new(Spy(seen.clone())), ..seams::policies() };
    let mut device =
        Device::with_policies(&config, ftl.shape().clone(), ftl, policies, AuditProbe).expect("able");
    device.submit(SimTime::ZERO, seams::page(0, Operation::Write, 0)).expect("room");
    device.advance_until(SimTime(1_000_000_000), false).expect("room");
    let seen = seen.lock().expect("one thread");
    let (first, offsets) = seen[0];
    assert_eq!((first.phase, first.destination), (GcPhase::Read, (first.source_plane, 0)));
    assert_eq!(offsets, [Some(0), Some(0)], "a new block in every plane at the start");
    let moves = seen.iter().filter(|(job, _)| job.phase == GcPhase::Read).count() as u64;
    let moved = device.counters().programs[harmonia_types::IoCause::Gc as usize];
    assert_eq!(moves, moved, "asked once for every page that moved");
}
