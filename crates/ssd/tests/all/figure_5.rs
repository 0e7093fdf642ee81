//! The worked example of HPDC 2018, Figure 5, as the text gives it (sections 3.2, 4.1, 4.2, 4.3). Does the device run
//! every operation when the paper does?
//!
//! ```text
//! time     0     1        3     4        6     7        9    10       12                   50
//! plane 0  A(R)  B(W)     C(R)  D(W)     E(R)  F(W)     G(R)  H(W)    erase                |  K, N
//! (a)                                                                                      |  I J L M O P
//! (b)            J(W)     I(R)  L(W)                                                       |  M O P
//! (c)            J(W)     M(R)  L(W)     O(R)           P(R)                               |  I
//! ```
//!
//! Found in the text: one die, two planes; a read takes 1 cycle and a write 2; A to H collect, I to P are the host's: K
//! (read) and N (write) of plane 0; I, M, O, P (reads) and J, L (writes) of plane 1; the victim is Block 2 of plane 0 with
//! the pages 3, 7, 9, 15, its destination Block 7, which is new; I reads page 7 of Block 3; collection ends at 50; in
//! (b) and (c) plane 1 opens Block 5; in (c) the victim is Block 6 with as many valid pages; page numbers go to 18.
//!
//! Inferred: the order of the queue is the alphabet's; the victim has no more pages than A to H move, which makes an erase
//! take 38 cycles; Block 6 holds the pages 1, 8, 12, 18, of which M, O, P ask for the last three; in (c) I, whose page is
//! not in Block 6, waits; K's page; that transfers take no time. Plane 1's partly written block is its fifth, where the
//! paper has Block 9. One cycle is 1 ns. The example begins one cycle after the device's time 0: until then a read
//! keeps the die, so that the whole queue is there when the victim is chosen.

use crate::bench::*;
use harmonia_ssd::{AllocationUnit, Amount, DeviceCounters, SsdConfig};
use harmonia_types::SimDuration;

/// When the paper's time 0 is.
const ZERO: u64 = 1;
const PAGES: u32 = 19;

fn figure(schedule: &str, victim: &str) -> SsdConfig {
    let mut config = one_die();
    let (geometry, timing) = (&mut config.geometry, &mut config.timing);
    (geometry.planes_per_die, geometry.blocks_per_plane, geometry.pages_per_block) = (2, 12, PAGES);
    (timing.read, timing.program) = (SimDuration(1).into(), SimDuration(2).into());
    (timing.erase, timing.transfer) = (SimDuration(38), SimDuration::ZERO);
    config.link.bandwidth = u64::MAX;
    config.ftl.allocation_unit = AllocationUnit::Plane;
    config.ftl.reserved_blocks = Amount::Blocks(7);
    config.gc.schedule = schedule.into();
    config.gc.victim = victim.into();
    config
}

/// Pages of a block written so that just those at the offsets `valid` stay valid: the ones before each are older versions
/// of it, and what comes after the last is `last`.
fn with_valid(first: u32, valid: [u32; 4], last: u32) -> Vec<u32> {
    let version_of = |page| valid.iter().position(|&valid| page <= valid).map(|nth| first + nth as u32);
    (0..PAGES).map(|page| version_of(page).unwrap_or(last)).collect()
}

/// Ten valid pages: every other.
fn half_valid(first: u32) -> Vec<u32> {
    (0..PAGES).map(|page| first + page / 2).collect()
}

/// Blocks 2 and 6 hold four valid pages each, all others more; Block 7 is the next to be opened.
fn plane_0() -> Vec<u32> {
    let block = |index: u32| match index {
        2 => with_valid(80, [3, 7, 9, 15], 30),
        6 => with_valid(84, [1, 8, 12, 18], 0),
        _ => half_valid(10 * index),
    };
    (0..=6).flat_map(block).collect()
}

/// Blocks 0 to 3 are full of valid pages, so that nothing is collected here; a fifth is partly written.
fn plane_1() -> Vec<u32> {
    (0..4 * PAGES + 5).collect()
}

/// The page on the device of page `page` of Block `block` of plane 1.
fn of_plane_1(block: u32, page: u32) -> u64 {
    u64::from(2 * (block * PAGES + page) + 1)
}

/// When an operation of the queue ended, in the paper's time.
struct Run(Bench, DeviceCounters);

impl Run {
    fn new(schedule: &str, victim: &str) -> Self {
        let mut bench = Bench::with(&figure(schedule, victim), &[&plane_0(), &plane_1()]);
        let token = |name: u8| u32::from(name);
        bench.read(0, 0, 2 * 40, 1);
        bench.read(0, token(b'I'), of_plane_1(3, 7), 1).write(0, token(b'J'), of_plane_1(4, 10), 1);
        bench.read(0, token(b'K'), 2 * 41, 1).write(0, token(b'L'), of_plane_1(4, 11), 1);
        bench.read(0, token(b'M'), of_plane_1(1, 8), 1).write(0, token(b'N'), 2 * 42, 1);
        bench.read(0, token(b'O'), of_plane_1(2, 12), 1).read(0, token(b'P'), of_plane_1(3, 18), 1);
        bench.force(0);
        assert_eq!(bench.collected(), [(ZERO, ZERO + 50)], "collection takes from 0 to 50");
        assert!(bench.known.iter().all(|done| done.blame.total() == done.finish.0));
        let counters = bench.device.counters();
        assert_eq!(counters.gc_busy, SimDuration(50));
        Run(bench, counters)
    }

    fn ended(&self, name: char) -> u64 {
        self.0.find(u32::from(name)).unwrap_or_else(|| panic!("{name} is done")).finish.0 - ZERO
    }

    fn all(&self) -> [u64; 8] {
        ['I', 'J', 'K', 'L', 'M', 'N', 'O', 'P'].map(|name| self.ended(name))
    }

    fn erased(&self) -> Vec<usize> {
        let erased = self.0.device.ftl().erase_counts().iter().enumerate();
        erased.filter(|(_, times)| **times > 0).map(|(block, _)| block).collect()
    }
}

#[test]
fn the_baseline_leaves_plane_1_idle_from_0_to_50() {
    for victim in ["greedy", "read-match"] {
        let run = Run::new("blocking", victim);
        assert_eq!(run.erased(), [2], "a blocking collection matches no reads");
        assert_eq!(run.all(), [51, 53, 54, 56, 57, 59, 60, 61], "in their order, from 50 on");
        assert_eq!(run.1.gc_plane_busy, SimDuration(50), "one plane of two: 50%");
        assert_eq!((run.1.paired_reads.matched, run.1.paired_writes.matched), (0, 0));
    }
}

#[test]
fn paired_with_block_2_i_runs_with_c_and_j_and_l_with_b_and_d() {
    let run = Run::new("io-parallel", "greedy");
    assert_eq!(run.erased(), [2]);
    assert_eq!(run.ended('J'), 3, "with B, from 1 to 3");
    assert_eq!(run.ended('I'), 4, "with C, from 3 to 4");
    assert_eq!(run.ended('L'), 6, "with D, from 4 to 6");
    assert_eq!(run.all(), [4, 3, 51, 6, 52, 54, 55, 56], "the others in their order, from 50 on");
    let (reads, writes) = (run.1.paired_reads, run.1.paired_writes);
    assert_eq!((reads.offered, reads.matched, reads.other_offset), (4, 1, 3));
    assert_eq!((writes.offered, writes.matched, writes.none_waiting), (4, 2, 2));
    assert_eq!(run.1.gc_plane_busy, SimDuration(50 + 1 + 2 * 2));
}

#[test]
fn paired_with_block_6_m_o_and_p_run_with_c_e_and_g() {
    let run = Run::new("io-parallel", "read-match");
    assert_eq!(run.erased(), [6], "three reads match it, one matches Block 2");
    assert_eq!((run.ended('J'), run.ended('L')), (3, 6), "with B and D as before");
    assert_eq!(run.ended('M'), 4, "with C, from 3 to 4");
    assert_eq!(run.ended('O'), 7, "with E, from 6 to 7");
    assert_eq!(run.ended('P'), 10, "with G, from 9 to 10");
    assert_eq!(run.all(), [51, 3, 52, 6, 4, 54, 7, 10]);
    let (reads, writes) = (run.1.paired_reads, run.1.paired_writes);
    assert_eq!((reads.offered, reads.matched, reads.other_offset), (4, 3, 1));
    assert_eq!((writes.offered, writes.matched), (4, 2));
    assert_eq!(run.1.gc_plane_busy, SimDuration(50 + 3 + 2 * 2));
}

#[test]
fn new_blocks_stand_open_beside_the_older_one_afterwards() {
    let run = Run::new("io-parallel", "greedy");
    let ftl = run.0.device.ftl();
    // Block 7 after four moves and N; of plane 1 the block that was open before, at offset 5.
    assert_eq!(ftl.next_host_page(0), Some((7, 5)));
    assert_eq!(ftl.next_host_page(1), Some((4, 5)));
    // The one set aside stands in for the one that was opened in its place.
    assert_eq!([ftl.free_blocks(0), ftl.free_blocks(1)], [12 - 8 + 1, 12 - 6 + 1]);
}
