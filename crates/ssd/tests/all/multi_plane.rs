//! When do host operations share a command or a bus, and who goes first? Not ready at t - 1, ready at t.
//!
//! ```text
//! two reads      [array 1,000][bus 300]                two writes   [bus 300]         [array 5,000]
//!                [array 1,000]         [bus 300]                             [bus 300][array 5,000]
//! ```
//!
//! Every test keeps the die with a read until 1,300, so that what comes until then stands in the queue together.

use crate::bench::*;
use harmonia_flash::Copyback;
use harmonia_ssd::{Priority, SsdConfig};
use harmonia_types::{Blame, Operation, SimDuration};

/// Block 0: 0 1 2 3, block 1: 4 5, and open.
const SIX: &[u32] = &[0, 1, 2, 3, 4, 5];

/// A die of two planes, both written alike, that reads page 4 (of plane 0) until 1,300.
fn two_planes(multi_plane: bool) -> Bench {
    busy_until_1300(multi_plane, [SIX, SIX])
}

fn busy_until_1300(multi_plane: bool, written: [&[u32]; 2]) -> Bench {
    let mut config = planes(2);
    config.ftl.multi_plane = multi_plane;
    let mut bench = Bench::with(&config, &written);
    bench.read(0, 1, 4, 1);
    bench
}

fn waited(queue_host: u64, blame: Blame) -> Blame {
    Blame { queue_host, ..blame }
}

#[test]
fn reads_of_one_offset_read_the_array_once_and_are_done_each_with_its_own_transfer() {
    let mut joint = two_planes(true);
    joint.read(100, 2, 0, 1).read(200, 3, 1, 1);
    // Array until 2,300.
    joint.known_at(2_600, 2, 2_670, waited(1_200, read_blame()));
    // Another's transfer is waited for, too: 1,100 for the die and 300 for the bus.
    joint.known_at(2_900, 3, 2_970, waited(1_400, read_blame()));

    let mut serial = two_planes(false);
    serial.read(100, 2, 0, 1).read(200, 3, 1, 1);
    serial.known_at(2_600, 2, 2_670, waited(1_200, read_blame()));
    serial.known_at(3_900, 3, 3_970, waited(2_400, read_blame()));
}

#[test]
fn a_read_joins_if_it_is_there_when_the_command_starts() {
    let mut bench = two_planes(true);
    bench.read(100, 2, 0, 1).read(1_299, 3, 1, 1);
    bench.known_at(2_900, 3, 2_970, waited(301, read_blame()));
    let mut bench = two_planes(true);
    bench.read(100, 2, 0, 1).read(1_300, 3, 1, 1);
    bench.known_at(3_900, 3, 3_970, waited(1_300, read_blame()));
}

#[test]
fn reads_of_different_offsets_or_of_one_plane_do_not_join() {
    // Offset 1 of plane 1; offset 0 of another block of plane 0.
    for other in [3, 8] {
        let mut bench = two_planes(true);
        bench.read(100, 2, 0, 1).read(100, 3, other, 1);
        bench.known_at(2_600, 2, 2_670, waited(1_200, read_blame()));
        bench.known_at(3_900, 3, 3_970, waited(2_500, read_blame()));
    }
}

#[test]
fn each_plane_gives_the_first_of_its_queue_that_fits() {
    let mut bench = two_planes(true);
    // Offsets 0, 1, 0, 0: the third goes along, the others wait.
    bench.read(100, 2, 0, 1).read(100, 3, 3, 1).read(100, 4, 9, 1).read(100, 5, 1, 1);
    bench.known_at(2_900, 4, 2_970, waited(1_500, read_blame()));
    bench.known_at(4_200, 3, 4_270, waited(2_800, read_blame()));
    bench.known_at(5_500, 5, 5_570, waited(4_100, read_blame()));
}

#[test]
fn four_planes_join_in_one_command() {
    let mut config = planes(4);
    config.ftl.multi_plane = true;
    let mut bench = Bench::with(&config, &[SIX; 4]);
    // Page 8 is plane 0's; 0, 1, 2, 3 lie at offset 0 of the four.
    bench.read(0, 1, 8, 1).read(100, 2, 0, 1).read(100, 3, 1, 1).read(100, 4, 2, 1).read(100, 5, 3, 1);
    for (token, nth) in [(2, 1), (3, 2), (4, 3), (5, 4)] {
        let over = 2_300 + 300 * nth;
        bench.known_at(over, token, over + LINK, waited(over - 1_400, read_blame()));
    }
}

#[test]
fn writes_at_one_offset_are_transferred_one_by_one_and_end_together() {
    let mut joint = two_planes(true);
    joint.write(100, 2, 0, 1).write(100, 3, 1, 1);
    // Bus until 1,600 and 1,900, then the array once.
    joint.known_at(6_900, 2, 6_900, waited(1_430, write_blame()));
    joint.known_by(6_900, 3, 6_900, Blame { link: 140, ..waited(1_360, write_blame()) });

    let mut serial = two_planes(false);
    serial.write(100, 2, 0, 1).write(100, 3, 1, 1);
    serial.known_at(6_600, 2, 6_600, waited(1_130, write_blame()));
    serial.known_at(11_900, 3, 11_900, Blame { link: 140, ..waited(6_360, write_blame()) });
}

#[test]
fn a_write_joins_if_its_data_is_over_the_link_when_the_command_starts() {
    let mut bench = two_planes(true);
    bench.write(100, 2, 0, 1).write(1_230, 3, 1, 1);
    bench.known_at(6_900, 3, 6_900, waited(300, write_blame()));
    let mut bench = two_planes(true);
    bench.write(100, 2, 0, 1).write(1_231, 3, 1, 1);
    bench.known_at(6_600, 2, 6_600, waited(1_130, write_blame()));
    bench.known_at(11_900, 3, 11_900, waited(5_299, write_blame()));
}

#[test]
fn writes_do_not_join_where_the_open_blocks_differ_in_offset_or_the_plane_is_the_same() {
    let behind: (&[u32], u64) = (&SIX[..5], 1);
    for (written, page) in [behind, (SIX, 2)] {
        let mut bench = busy_until_1300(true, [SIX, written]);
        bench.write(100, 2, 0, 1).write(100, 3, page, 1);
        bench.known_at(6_600, 2, 6_600, waited(1_130, write_blame()));
        bench.known_at(11_900, 3, 11_900, Blame { link: 140, ..waited(6_360, write_blame()) });
    }
}

#[test]
fn reads_and_writes_do_not_join() {
    let mut bench = two_planes(true);
    // Offset 2 both: where plane 1 writes next, and a page of plane 0.
    bench.read(100, 2, 12, 1).read(100, 3, 4, 1).write(100, 4, 1, 1);
    bench.advance(20_000);
    let finished = [2, 3, 4].map(|token| bench.find(token).unwrap().finish.0);
    // Page 12 was never written: the link only.
    assert_eq!(finished, [170, 2_670, 7_900]);
}

#[test]
fn partial_writes_and_trims_go_alone() {
    let mut first = two_planes(true);
    first.submit(100, partial(2, 0)).write(100, 3, 1, 1);
    let both = Blame { service: 6_000, transfer: 600, ..waited(1_130, write_blame()) };
    first.known_at(7_900, 2, 7_900, both);
    first.known_at(13_200, 3, 13_200, Blame { link: 140, ..waited(7_660, write_blame()) });

    let mut second = two_planes(true);
    second.write(100, 2, 0, 1).submit(100, partial(3, 1));
    second.known_at(6_600, 2, 6_600, waited(1_130, write_blame()));
    second.known_at(13_200, 3, 13_200, Blame { queue_host: 6_360, link: 140, ..both });

    let mut trim = two_planes(true);
    trim.write(100, 2, 0, 1).submit(100, sub(3, Operation::Trim, 1, 1));
    // It needs no data and is ready first.
    trim.known_at(1_300, 3, 1_300, Blame { queue_host: 1_200, ..Blame::default() });
    trim.known_at(6_600, 2, 6_600, waited(1_130, write_blame()));
}

#[test]
fn on_a_shared_bus_others_may_go_between_the_pages_of_a_command() {
    let mut config = planes(2);
    config.ftl.multi_plane = true;
    config.geometry.chips_per_channel = 2;
    config.geometry.own_pins = false;
    // Pages 0, 2, 8: die 0, planes 0, 1, 0. Page 1: die 1.
    let mut bench = Bench::with(&config, &[SIX; 4]);
    bench.read(0, 1, 8, 1).read(100, 2, 0, 1).read(100, 3, 2, 1).read(1_400, 4, 1, 1);
    bench.known_at(2_600, 2, 2_670, waited(1_200, read_blame()));
    // Die 1's data is there at 2,400; the second page of die 0 asks at 2,600.
    bench.known_at(2_900, 4, 2_970, waited(200, read_blame()));
    bench.known_at(3_200, 3, 3_270, waited(1_800, read_blame()));
}

fn prioritised(priority: Priority) -> SsdConfig {
    let mut config = one_die();
    config.ftl.priority = priority;
    config
}

#[test]
fn at_the_die_reads_go_before_writes_where_they_have_priority() {
    let bench = |priority| {
        let mut bench = Bench::with(&prioritised(priority), &[SIX]);
        bench.read(0, 1, 1, 1).write(10, 2, 2, 1).read(1_299, 3, 4, 1);
        bench
    };
    let mut fifo = bench(Priority::Fifo);
    fifo.known_at(6_600, 2, 6_600, waited(1_220, write_blame()));
    fifo.known_at(7_900, 3, 7_970, waited(5_301, read_blame()));
    let mut reads_first = bench(Priority::ReadsFirst);
    reads_first.known_at(2_600, 3, 2_670, waited(1, read_blame()));
    reads_first.known_at(7_900, 2, 7_900, waited(2_520, write_blame()));
}

#[test]
fn at_the_die_collecting_goes_before_reads_and_reads_before_writes() {
    let mut bench = Bench::aged(&prioritised(Priority::ReadsFirst), &[]);
    bench.read(0, 1, 1, 1).write(10, 2, 2, 1).read(100, 3, 4, 1).force(500);
    bench.known_at(28_600, 3, 28_670, Blame { queue_gc: 26_000, ..waited(1_200, read_blame()) });
    bench.known_at(33_900, 2, 33_900, Blame { queue_gc: 26_000, ..waited(2_520, write_blame()) });
    assert_eq!(bench.collected(), [(1_300, 27_300)]);
}

#[test]
fn operations_on_one_page_keep_their_order_although_reads_go_first() {
    let start = || {
        let mut bench = Bench::with(&prioritised(Priority::ReadsFirst), &[SIX]);
        bench.read(0, 1, 1, 1);
        bench
    };
    let mut bench = start();
    // The read of another page overtakes both.
    bench.write(10, 2, 2, 1).read(100, 3, 2, 1).read(110, 4, 4, 1);
    bench.known_at(2_600, 4, 2_670, waited(1_190, read_blame()));
    bench.known_at(7_900, 2, 7_900, waited(2_520, write_blame()));
    bench.known_at(9_200, 3, 9_270, waited(7_800, read_blame()));

    let mut bench = start();
    bench.read(100, 2, 2, 1).write(110, 3, 2, 1).read(120, 4, 2, 1);
    bench.known_at(2_600, 2, 2_670, waited(1_200, read_blame()));
    bench.known_at(7_900, 3, 7_900, waited(2_420, write_blame()));
    // It stood behind the write, whose data came at 180.
    bench.known_at(9_200, 4, 9_270, Blame { link: 60 + LINK, ..waited(7_720, read_blame()) });
}

/// Four dies on one bus. Die 3's page goes over it from 1,000 to 1,300. Until then a write asks for it (1,070), a
/// read (1,150) and a page move of die 0 (1,250).
fn at_the_bus(priority: Priority) -> Bench {
    let mut config = prioritised(priority);
    config.geometry.chips_per_channel = 4;
    config.geometry.own_pins = false;
    config.timing.copyback = Copyback::None;
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 3, 1).read(150, 2, 1, 1).read(250, 3, 0, 1).write(1_000, 4, 2, 1);
    bench
}

#[test]
fn at_the_bus_collecting_goes_before_reads_and_reads_before_writes() {
    let mut fifo = at_the_bus(Priority::Fifo);
    fifo.known_at(1_900, 2, 1_970, waited(450, read_blame()));
    fifo.known_at(6_600, 4, 6_600, waited(230, write_blame()));
    // Its two turns: 1,900 to 2,200 and 2,200 to 2,500.
    assert_eq!(fifo.collected(), [(250, 27_500)]);

    let mut by_urgency = at_the_bus(Priority::ReadsFirst);
    // The move's two turns, 1,300 to 1,600 and on to 1,900: who asks when the bus comes free competes for it.
    by_urgency.known_at(2_200, 2, 2_270, Blame { queue_gc: 600, ..waited(150, read_blame()) });
    by_urgency.known_at(7_500, 4, 7_500, Blame { queue_gc: 600, ..waited(530, write_blame()) });
    assert_eq!(by_urgency.collected(), [(250, 26_900)]);
    assert_eq!(by_urgency.device.counters().gc_busy, SimDuration(26_650));
}
