//! What do commands and their addresses cost on the bus? Not ready at t - 1, ready at t.
//!
//! ```text
//! read 10   program 20   erase 30          read     [10][array 1,000][out 300]
//!                                          program  [20 + in 300][array 5,000]       erase  [30][array 20,000]
//! ```

use crate::bench::*;
use harmonia_flash::{CommandOrder, Commands, Copyback};
use harmonia_ssd::{Priority, SsdConfig, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration};

const COMMANDS: Commands = Commands {
    read: SimDuration(10),
    program: SimDuration(20),
    erase: SimDuration(30),
    order: CommandOrder::Fifo,
};

fn with_commands(mut config: SsdConfig) -> SsdConfig {
    config.timing.command = COMMANDS;
    config
}

fn read_and_command() -> Blame {
    Blame { transfer: 310, ..read_blame() }
}

/// Dies on one channel.
fn on_one_bus(dies: u32) -> SsdConfig {
    let mut config = with_commands(shared_bus());
    config.geometry.chips_per_channel = dies;
    config
}

#[test]
fn alone_an_operation_takes_longer_by_its_commands() {
    for config in [with_commands(one_die()), on_one_bus(2)] {
        let written: [&[u32]; 2] = [&[0], &[0]];
        let mut bench = Bench::with(&config, &written[..config.geometry.chips_per_channel as usize]);
        bench.read(0, 1, 0, 1).known_at(1_310, 1, 1_380, read_and_command());
        bench.write(10_000, 2, 0, 1);
        bench.known_at(15_390, 2, 15_390, Blame { transfer: 320, ..write_blame() });
        let partial = SubRequest { length: 1_024, ..sub(3, Operation::Write, 0, 1) };
        let blame = Blame { service: 6_000, transfer: 10 + 300 + 320, link: LINK, ..Blame::default() };
        bench.submit(20_000, partial).known_at(26_700, 3, 26_700, blame);
    }
}

#[test]
fn a_command_waits_behind_the_data_of_another_die() {
    let mut bench = Bench::with(&on_one_bus(2), &[&[0], &[0]]);
    bench.read(0, 1, 1, 1).known_at(1_310, 1, 1_380, read_and_command());
    let mut bench = Bench::with(&on_one_bus(2), &[&[0], &[0]]);
    // Die 1 sends its page from 1,010 to 1,310.
    bench.read(0, 1, 1, 1).read(1_100, 2, 0, 1);
    bench.known_at(2_620, 2, 2_690, Blame { queue_host: 210, ..read_and_command() });
}

#[test]
fn dies_with_pins_of_their_own_never_wait() {
    let mut bench = Bench::with(&with_commands(two_dies()), &[&[0], &[0]]);
    bench.read(0, 1, 1, 1).read(1_100, 2, 0, 1);
    bench.known_at(2_410, 2, 2_480, read_and_command());
}

/// Die 0 sends until 1,310; die 2 has a command to send from 1,015 on, die 1 a page from 1,020 on.
#[test]
fn a_command_goes_before_data_that_came_later_or_after_all_that_waits() {
    for priority in [Priority::Fifo, Priority::ReadsFirst] {
        for (order, page, command) in
            [(CommandOrder::Fifo, 1_620, 2_620), (CommandOrder::AfterData, 1_610, 2_920)]
        {
            let mut config = on_one_bus(3);
            config.timing.command.order = order;
            config.ftl.priority = priority;
            let mut bench = Bench::with(&config, &[&[0], &[0], &[0]]);
            bench.read(0, 1, 0, 1).read(1, 2, 1, 1).read(1_015, 3, 2, 1);
            // 9 for the command and the rest for the page.
            let waited = page - 300 - 1_020 + 9;
            bench.known_at(page, 2, page + LINK, Blame { queue_host: waited, ..read_and_command() });
            let waited = command - 1_310 - 1_015;
            bench.known_at(command, 3, command + LINK, Blame { queue_host: waited, ..read_and_command() });
        }
    }
}

/// A page that goes in belongs to its command; reads may go before it all the same.
#[test]
fn a_program_waits_with_its_page_until_what_was_read_is_out() {
    for (order, end) in [(CommandOrder::Fifo, 1_310 + 5_320), (CommandOrder::AfterData, 1_610 + 5_320)] {
        let mut config = on_one_bus(3);
        config.timing.command.order = order;
        let mut bench = Bench::with(&config, &[&[0], &[0], &[0]]);
        // Its data is over the link at 1,015.
        bench.read(0, 1, 0, 1).read(1, 2, 1, 1).write(945, 3, 2, 1);
        let blame = Blame { transfer: 320, queue_host: end - 5_320 - 1_015, ..write_blame() };
        bench.known_at(end, 3, end, blame);
    }
}

/// The event of a unit with 1 free block: when its first interval ends. One victim with one live page.
fn ends(config: &SsdConfig) -> u64 {
    let intervals = Bench::aged(config, &[0]).read(0, 1, 0, 1).collected();
    assert_eq!(intervals[0].0, 0, "it begins at once");
    intervals[0].1
}

#[test]
fn collection_sends_a_command_for_each_read_program_and_erase() {
    let commands = 10 + 20 + 30;
    for schedule in ["blocking", "io-parallel", "preemptive", "preemptive-io-parallel"] {
        for config in [with_commands(one_die()), on_one_bus(2)] {
            for (copyback, transfers) in [(Copyback::Die, 0), (Copyback::None, 600)] {
                let mut config = config.clone();
                config.gc.schedule = schedule.into();
                config.timing.copyback = copyback;
                assert_eq!(ends(&config), 26_000 + transfers + commands, "{schedule}, {copyback:?}");
            }
        }
    }
}

#[test]
fn a_collection_in_place_takes_turns_on_the_bus_for_its_commands_alone() {
    // Die 0: commands 0 to 10, 1,010 to 1,030 and 6,030 to 6,060.
    let mut bench = Bench::aged(&on_one_bus(2), &[0]);
    bench.read(0, 1, 0, 1).read(6_040, 2, 1, 1);
    bench.known_at(7_370, 2, 7_440, Blame { queue_gc: 20, ..read_and_command() });
    assert_eq!(bench.collected(), [(0, 26_060)]);

    let mut bench = Bench::aged(&on_one_bus(2), &[0]);
    // Die 1 sends a page from 6,010 to 6,310: the erase waits for it.
    bench.read(0, 1, 0, 1).read(5_000, 2, 1, 1).known_at(6_310, 2, 6_380, read_and_command());
    assert_eq!(bench.collected(), [(0, 26_340)]);
}

/// Two moves until 13,260, then the command of the erase until 13,290.
#[test]
fn an_erase_can_be_suspended_once_its_command_is_sent() {
    for (at, known, queue_gc) in [(13_289, 13_290 + 400 + 1_310, 401), (13_290, 13_290 + 400 + 1_310, 400)] {
        let mut config = with_commands(one_die());
        config.gc.schedule = "preemptive".into();
        config.timing.copyback = Copyback::None;
        config.timing.suspend_erase = Some(SimDuration(400));
        let mut bench = Bench::with(&config, &[SPREAD]);
        bench.force(0).read(at, 1, 12, 1);
        bench.known_at(known, 1, known + LINK, Blame { queue_gc, ..read_and_command() });
    }
}

/// Block 0: 0 1 2 3, block 1: 4 5, and open.
const SIX: &[u32] = &[0, 1, 2, 3, 4, 5];

#[test]
fn several_planes_take_a_command_each() {
    let mut config = with_commands(planes(2));
    config.ftl.multi_plane = true;
    let mut bench = Bench::with(&config, &[SIX, SIX]);
    bench.read(0, 1, 4, 1).read(100, 2, 0, 1).read(200, 3, 1, 1);
    // Busy until 1,310; both commands until 1,330, the array until 2,330.
    let joint = Blame { transfer: 20 + 300, ..read_blame() };
    bench.known_at(2_630, 2, 2_700, Blame { queue_host: 1_210, ..joint });
    bench.known_at(2_930, 3, 3_000, Blame { queue_host: 1_410, ..joint });

    let mut bench = Bench::with(&config, &[SIX, SIX]);
    bench.read(0, 1, 4, 1).write(100, 2, 0, 1).write(100, 3, 1, 1);
    // In from 1,310 to 1,630 and 1,950.
    let blame = Blame { transfer: 320, ..write_blame() };
    bench.known_at(6_950, 2, 6_950, Blame { queue_host: 1_310 - 170 + 320, ..blame });
    bench.known_by(6_950, 3, 6_950, Blame { queue_host: 1_310 - 240 + 320, link: 140, ..blame });
}
