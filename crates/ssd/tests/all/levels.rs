//! Does a probe hear, at the very moment, of blocks opened and erased, of channels that collect, and of the queue?
//!
//! A forced collection of `SPREAD` moves two pages and erases a block. As one event it is over at 32,000; step by step
//! the erase goes from 12,000 to 32,000. The block it frees shows when that is over, and not before.

use crate::bench::*;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, NoProbe, Probe, any, probe_as};
use harmonia_ssd::{Device, Ftl, SsdConfig, WriteCacheConfig};
use harmonia_types::{IoCause, Levels, Operation, SimTime};

/// Keeps changes alone; the device checks itself too.
#[derive(Debug, Default)]
struct Heard(Vec<(u64, Levels)>);

impl Probe for Heard {
    fn audits(&self) -> bool {
        true
    }

    fn watches_levels(&self) -> bool {
        true
    }

    fn levels(&mut self, at: SimTime, levels: &Levels) {
        if self.0.last().is_none_or(|last| last.1 != *levels) {
            self.0.push((at.0, *levels));
        }
    }
}

fn device(config: &SsdConfig, written: &[&[u32]]) -> Device<AnyProbe> {
    let mut ftl = Ftl::new(config, 1, "device").unwrap();
    for (unit, lpns) in (0..).zip(written) {
        for &lpn in *lpns {
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
    }
    let mut device = Device::new(config, ftl, any(Heard::default())).unwrap();
    device.begin_window(SimTime::ZERO);
    device
}

/// When things changed until nothing is left to do: channels, empty blocks, queue depth, victims.
fn heard(mut device: Device<AnyProbe>) -> Vec<(u64, [u64; 4])> {
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).unwrap();
    }
    let numbers = |levels: &Levels| {
        [levels.channels_in_gc.into(), levels.empty_blocks, levels.queue_depth, levels.victims_erased]
    };
    probe_as::<Heard>(device.probe()).0.iter().map(|(time, levels)| (*time, numbers(levels))).collect()
}

fn collecting(config: &SsdConfig, written: &[&[u32]]) -> Device<AnyProbe> {
    let mut device = device(config, written);
    device.direct(SimTime::ZERO, Directive::Force(Stop::Internal));
    device
}

/// Whether its tables say so at once or step by step: a victim is occupied until it is erased.
#[test]
fn a_victim_is_occupied_until_its_erase_has_ended() {
    for schedule in ["blocking", "preemptive"] {
        let mut config = one_die();
        config.gc.schedule = schedule.into();
        let expected = [(0, [0, 2, 0, 0]), (0, [1, 2, 0, 0]), (32_000, [0, 3, 0, 1])];
        assert_eq!(heard(collecting(&config, &[SPREAD])), expected, "{schedule}");
    }
}

/// Two dies on two channels collect side by side, on one channel as one.
#[test]
fn a_channel_collects_while_one_of_its_dies_does() {
    let two = [
        (0, [0, 4, 0, 0]),
        (0, [1, 4, 0, 0]),
        (0, [2, 4, 0, 0]),
        (32_000, [1, 5, 0, 1]),
        (32_000, [0, 6, 0, 2]),
    ];
    assert_eq!(heard(collecting(&two_dies(), &[SPREAD, SPREAD])), two);
    let mut shared = shared_bus();
    shared.geometry.own_pins = true;
    let one = [(0, [0, 4, 0, 0]), (0, [1, 4, 0, 0]), (32_000, [1, 5, 0, 1]), (32_000, [0, 6, 0, 2])];
    assert_eq!(heard(collecting(&shared, &[SPREAD, SPREAD])), one);
}

/// The open block of `SPREAD` has room for three pages; the fourth write opens one when its command begins, at 15,970.
#[test]
fn a_write_is_in_the_queue_until_it_is_done_and_the_fourth_opens_a_block() {
    let mut config = one_die();
    config.gc.hard_threshold = harmonia_ssd::Amount::Blocks(0);
    config.gc.soft_threshold = harmonia_ssd::Amount::Blocks(1);
    let mut device = device(&config, &[SPREAD]);
    device.submit(SimTime(0), sub(1, Operation::Write, 0, 4)).unwrap();
    let [first, page] = [LINK, 5_300];
    let expected = [
        (0, [0, 2, 0, 0]),
        (0, [0, 2, 4, 0]),
        (first + page, [0, 2, 3, 0]),
        (first + 2 * page, [0, 2, 2, 0]),
        (first + 3 * page, [0, 1, 1, 0]),
        (first + 4 * page, [0, 1, 0, 0]),
    ];
    assert_eq!(heard(device), expected);
}

/// Two slots. The third page gets that of the first one when its program ends, at 5,370.
#[test]
fn a_slot_of_the_write_cache_is_held_until_its_program_ends() {
    let mut config = one_die();
    config.write_cache = WriteCacheConfig { size: Some(2 * PAGE), ..WriteCacheConfig::default() };
    let mut device = device(&config, &[SPREAD]);
    device.submit(SimTime(0), sub(1, Operation::Write, 0, 3)).unwrap();
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).unwrap();
    }
    let mut held: Vec<(u64, u32)> = Vec::new();
    for (time, levels) in &probe_as::<Heard>(device.probe()).0 {
        assert_eq!(levels.cache_slots, 2);
        match held.last_mut() {
            Some(last) if last.0 == *time => last.1 = levels.cached_pages,
            _ => held.push((*time, levels.cached_pages)),
        }
    }
    held.dedup_by_key(|(_, pages)| *pages);
    assert_eq!(held, [(0, 0), (LINK, 1), (2 * LINK, 2), (LINK + 2 * 5_300, 1), (LINK + 3 * 5_300, 0)]);
}

/// A spare has no slots until it takes part at 100, nor has a drive any more that fails at 1,000, whatever its cache held.
#[test]
fn a_device_has_slots_while_it_is_a_part_of_the_array() {
    let mut config = one_die();
    config.write_cache = WriteCacheConfig { size: Some(2 * PAGE), ..WriteCacheConfig::default() };
    let ftl = Ftl::new(&config, 1, "device").unwrap();
    let mut device = Device::new(&config, ftl, any(Heard::default())).unwrap();
    device.stands_by();
    device.begin_window(SimTime::ZERO);
    device.takes_part(SimTime(100));
    device.submit(SimTime(200), sub(1, Operation::Write, 0, 1)).unwrap();
    device.advance_until(SimTime(1_000), false).unwrap();
    device.fail(SimTime(1_000));
    let mut slots: Vec<_> = probe_as::<Heard>(device.probe())
        .0
        .iter()
        .map(|(at, levels)| (*at, levels.cached_pages, levels.cache_slots))
        .collect();
    slots.dedup_by_key(|&mut (_, held, slots)| (held, slots));
    assert_eq!(slots, [(0, 0, 0), (100, 0, 2), (200 + LINK, 1, 2), (1_000, 0, 0)]);
}
