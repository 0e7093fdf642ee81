//! Programs of several units: they begin when the cache has all of a program, or what fills its planes.

use super::*;

/// The blame of a write that the cache of such a device took at once.
fn taken() -> Blame {
    Blame { service: ACK, ..Blame::default() }
}

/// Three units wait, however long; with the fourth all of them are programmed at once. Meanwhile the device is idle.
#[test]
fn a_program_begins_when_the_cache_has_all_of_it() {
    let mut bench = Bench::empty(&cached(four(), 8));
    for unit in 0..3 {
        let at = 1_000 * u64::from(unit);
        bench.write(at, unit, unit.into(), 1).known_by(at, unit, at + ACK, taken());
    }
    bench.advance(50_000);
    assert_eq!((written(&bench), bench.device.status(SimTime(50_000)).queue_depth), ((0, 0), 0));
    assert!(bench.device.is_quiet());
    bench.write(60_000, 9, 7, 1).known_by(60_000, 9, 60_000 + ACK, taken());
    bench.advance(60_000 + PROGRAM - 1);
    assert_eq!(bench.device.status(SimTime(60_000 + PROGRAM - 1)).queue_depth, 4);
    bench.advance(60_000 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!(written(&bench), (4, 0));
}

/// Pages that rest do not keep the device from collecting in idle time.
#[test]
fn units_that_rest_do_not_keep_the_device_from_being_idle() {
    let written: Vec<u32> = (0..48).chain(0..16).collect();
    let mut bench = Bench::with(&cached(four(), 8), &[&written]);
    bench.write(0, 1, 20, 1).advance(1_000);
    assert!(!bench.force_idle(1_000).collected().is_empty());
    assert_eq!(programs(&bench), 64, "the unit still rests");
}

#[test]
fn a_flush_pads_what_there_is_of_a_program() {
    let mut bench = Bench::empty(&without_power(cached(four(), 8)));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).submit(1_000, flush(4));
    let ends = 1_000 + 3 * 75 + 5_000;
    bench.known_at(ends, 4, ends, Blame { cache_wait: ends - 1_000, ..Blame::default() });
    assert_eq!(written(&bench), (4, PAGE));
    assert!(bench.device.is_quiet());
}

/// A program writes two planes, four units of each, and a die that idles writes one plane.
pub fn in_parts(units: u64) -> SsdConfig {
    let mut config = cached(four(), units);
    (config.geometry.planes_per_die, config.geometry.program_planes) = (2, 2);
    config.write_cache.drain = Drain::Partial;
    config
}

/// Four of five units go to the die that idles. Those that come meanwhile fill the other plane first, and then a program.
#[test]
fn a_die_that_idles_programs_the_planes_that_are_filled() {
    let mut bench = Bench::empty(&in_parts(16));
    (0..5).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let first = 4 * 75 + 5_000;
    bench.advance(first - 1);
    assert_eq!((written(&bench), bench.device.is_quiet()), ((4, 0), false), "one plane is programmed");
    (5..16).for_each(|unit| _ = bench.write(first - 1, unit, unit.into(), 1));
    bench.advance(first);
    assert_eq!(written(&bench), (8, 0), "the other plane of the same place");
    bench.advance(2 * first);
    assert_eq!(written(&bench), (16, 0), "both planes");
    bench.advance(2 * first + 8 * 75 + 5_000);
    assert!(bench.device.is_quiet());
}

/// What does not fill a plane rests, as does less than a program where the cache drains whole programs only.
#[test]
fn less_than_a_plane_rests() {
    for (drain, programmed) in [(Drain::Partial, 4), (Drain::Full, 0)] {
        let mut config = in_parts(16);
        config.write_cache.drain = drain;
        let mut bench = Bench::empty(&config);
        (0..7).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
        bench.advance(100_000);
        assert_eq!((written(&bench), bench.device.is_quiet()), ((programmed, 0), true), "{drain:?}");
    }
}

/// The device chooses a die that idles for each part, and a die has one program at a time.
#[test]
fn each_part_goes_to_a_die_that_idles() {
    let mut config = in_parts(32);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    (0..12).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    bench.advance(4 * 75 + 5_000 - 1);
    let homes = |bench: &Bench| [0, 4, 8].map(|lpn| bench.device.ftl().home(lpn));
    assert_eq!((homes(&bench), written(&bench)), ([Some(0), Some(1), None], (8, 0)));
    bench.advance(100_000);
    assert_eq!((homes(&bench), written(&bench)), ([Some(0), Some(1), Some(0)], (12, 0)));
}

#[test]
fn dies_that_idle_take_parts_in_turn() {
    let mut config = in_parts(32);
    config.geometry.channels = 3;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    for part in 0..4 {
        bench.write(100_000 * u64::from(part), part, 4 * u64::from(part), 4);
    }
    bench.advance(1_000_000);
    let homes = [0, 4, 8, 12].map(|lpn| bench.device.ftl().home(lpn));
    assert_eq!(homes, [Some(0), Some(1), Some(2), Some(0)]);
}

/// Die 0 has room for the units of one plane more, and die 1 for many programs.
fn room_for_a_part() -> (Bench, u64) {
    let mut config = in_parts(32);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut ftl = Ftl::new(&config, 1, "device").unwrap();
    let first = ftl.shape().most_live.expect("the device chooses") - 4;
    for (unit, lpns) in [(0, 0..first), (1, first..first + 8)] {
        for lpn in lpns {
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
    }
    let device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
    (Bench { device, known: Vec::new() }, u64::from(first))
}

/// While die 1 reads only die 0 idles, which has no room for a program: each unit goes by itself to the die with the shortest queue.
#[test]
fn units_go_one_by_one_where_no_die_that_idles_has_room_for_a_program() {
    let (mut bench, first) = room_for_a_part();
    bench.read(0, 1, first, 1).write(100, 2, first + 8, 4).advance(100_000);
    let homes = [8, 9, 10, 11].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [0, 1, 0, 1].map(Some));
}

/// While both dies read they wait. Die 1 is done first, and has room for all of them.
#[test]
fn units_wait_while_no_die_idles() {
    let (mut bench, first) = room_for_a_part();
    bench
        .read(0, 1, first, 1)
        .read(0, 2, 0, 1)
        .read(0, 3, 16, 1)
        .write(100, 4, first + 8, 4)
        .advance(100_000);
    let homes = [8, 9, 10, 11].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [Some(1); 4]);
}

/// They do so while none is on its way only: these wait for die 1, which programs the first four.
#[test]
fn units_do_not_go_one_by_one_beside_a_program_that_is_under_way() {
    let (mut bench, first) = room_for_a_part();
    bench.write(0, 1, first + 8, 4).write(100, 2, first + 12, 4).advance(100_000);
    let homes = [8, 11, 12, 15].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [Some(1); 4]);
}

#[test]
fn a_flush_pads_the_planes_that_it_programs() {
    let mut bench = Bench::empty(&without_power(in_parts(16)));
    (0..5).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let first = 4 * 75 + 5_000;
    let ends = first + 5_075;
    let waited = Blame { cache_wait: ends - 1_000, ..Blame::default() };
    bench.submit(1_000, flush(9)).known_at(ends, 9, ends, waited);
    assert_eq!(written(&bench), (8, 3 * PAGE));
}

/// A plane has all types of pages that one program writes. Where planes are programmed together, each type has a page of each plane.
#[test]
fn a_plane_is_programmed_with_all_types_of_its_pages() {
    for (drain, second) in [(Drain::Partial, 2_000), (Drain::Full, 1_000)] {
        let mut config = in_parts(48);
        config.write_cache.drain = drain;
        (config.geometry.program_pages, config.geometry.pages_per_block) = (3, 6);
        config.ftl.reserved_blocks = Amount::Blocks(7);
        config.timing.read = PageTimes::by_type(&[1_000, 2_000, 3_000].map(SimDuration)).expect("three");
        let mut bench = Bench::empty(&config);
        let units = if drain == Drain::Partial { 12 } else { 24 };
        (0..units).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
        bench.advance(100_000);
        assert_eq!(written(&bench), (units.into(), 0));
        let read = Blame { service: second, transfer: 75, ..Blame::default() };
        bench.read(200_000, 99, 4, 1).known_at(200_000 + second + 75, 99, 200_000 + second + 75, read);
    }
}

/// Where power is stored a flush has nothing to wait for, and nothing is padded for it.
#[test]
fn a_flush_pads_nothing_where_power_is_stored() {
    let mut bench = Bench::empty(&cached(four(), 8));
    bench.write(0, 1, 0, 1).submit(1_000, flush(4)).known_by(1_000, 4, 1_000, Blame::default());
    bench.advance(100_000);
    assert_eq!(written(&bench), (0, 0));
}

/// Two dies, three units for each, and no slot is left: one of them gives what it has.
#[test]
fn a_cache_that_is_full_of_parts_of_programs_gives_one_of_them() {
    let mut config = cached(four(), 6);
    config.geometry.channels = 2;
    let mut bench = Bench::empty(&config);
    (0..7).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let ends = 3 * 75 + 5_000;
    bench.known_at(ends, 6, ends + ACK, Blame { cache_wait: ends, ..taken() });
    assert_eq!(written(&bench), (4, PAGE));
    assert_eq!([0, 1].map(|unit| bench.device.ftl().lookup(unit, 0).is_some()), [true, false]);
}

/// Ageing has left half of a program, which two units fill.
#[test]
fn a_program_that_ageing_began_is_filled() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3, 4, 5]]);
    (0..7).for_each(|unit| _ = bench.write(0, unit, 20 + u64::from(unit), 1));
    bench.advance(2 * 75 + 5_000);
    assert_eq!(written(&bench), (6 + 2 + 4, 0), "and the next program has begun");
    bench.advance(100_000);
    assert_eq!((written(&bench), counted(&bench).admitted_pages), ((12, 0), 7));
}

/// The two units that fill what ageing has begun are lost on their way to the die, which reads. So the next two fill it.
#[test]
fn what_was_to_fill_a_program_and_is_lost_is_made_up_for() {
    let mut bench = Bench::with(&without_power(cached(four(), 8)), &[&[0, 1, 2, 3, 4, 5]]);
    bench.read(0, 1, 0, 1).write(10, 2, 20, 1).write(10, 3, 21, 1).advance(500);
    bench.device.lose_power(SimTime(500));
    bench.device.audit();
    assert_eq!((counted(&bench).lost_pages, written(&bench)), (2, (6, 0)));
    bench.write(10_000, 4, 22, 1).write(10_000, 5, 23, 1).advance(100_000);
    assert_eq!(written(&bench), (6 + 2, 0));
}

/// Where any die may take a program, one takes all of it, and the other the next.
#[test]
fn all_units_of_a_program_go_to_one_die() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    let lpns = [3, 9, 4, 12, 7, 1, 30, 2];
    for (token, lpn) in (0..).zip(lpns) {
        bench.write(0, token, lpn, 1);
    }
    bench.advance(PROGRAM);
    assert!(bench.device.is_quiet(), "both dies worked at once");
    let homes = lpns.map(|lpn| bench.device.ftl().home(lpn as u32));
    assert_eq!(homes, [0, 0, 0, 0, 1, 1, 1, 1].map(Some));
    assert_eq!(written(&bench), (8, 0));
}

/// Where the device chooses the die, too: the first program of each has room for two.
#[test]
fn programs_that_ageing_began_are_filled_whichever_die_is_chosen() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]]);
    for unit in 0..8 {
        bench.write(0, unit, 20 + u64::from(unit), 1);
    }
    bench.advance(100_000);
    assert!(bench.device.is_quiet());
    assert_eq!(written(&bench), (12 + 8, 0));
}

/// What is missing of a unit is read before the program begins, which carries it with the others.
#[test]
fn a_part_of_a_unit_has_the_rest_read_and_goes_along() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3]]);
    bench.write(0, 1, 5, 1).submit(0, partial(2, 1)).write(0, 3, 6, 1).write(0, 4, 7, 1);
    bench.advance(1_075 + PROGRAM - 1);
    assert!(!bench.device.is_quiet());
    bench.advance(1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), bench.device.counters().read_modify_write_reads), ((8, 3_072), 1));
}

/// A read needs a unit of which the cache has a part. What waits for the same die goes along.
#[test]
fn a_read_of_a_part_takes_along_what_waits() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3]]);
    bench.write(0, 1, 5, 1).submit(0, partial(2, 1)).read(1_000, 3, 1, 1);
    let read = Blame { service: 1_000, transfer: 75, queue_host: 1_075 + 5_150, ..Blame::default() };
    bench.known_at(1_000 + 1_075 + 5_150 + 1_075, 3, 8_300, read);
    assert_eq!(written(&bench), (8, 2 * PAGE + 3_072));
}

/// Where the device chooses the die, parts of units wait for the die in which the rest lies, and whole units for any.
#[test]
fn parts_of_units_wait_for_the_die_that_has_the_rest() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    // Unit 1 has the odd numbers.
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
    for part in [1, 3, 5] {
        bench.submit(0, partial(part, part.into())).write(0, 10 + part, 20 + u64::from(part), 1);
    }
    bench.advance(10_000);
    assert_eq!(written(&bench), (8, 0), "three and three wait");
    bench.submit(10_000, partial(9, 7)).advance(10_000 + 4 * 1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), bench.device.ftl().home(7)), ((12, 4 * 3_072), Some(1)));
}

/// A unit of which a part waits for its die is overwritten as a whole: it stays where it waits, and needs nothing read.
#[test]
fn a_part_that_becomes_whole_stays_in_its_place() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
    bench.submit(0, partial(1, 1)).write(0, 2, 1, 1);
    for part in [3, 5, 7] {
        bench.submit(0, partial(part, part.into()));
    }
    bench.advance(3 * 1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), counted(&bench).absorbed_pages), ((12, 3 * 3_072), 1));
}

/// A cache of just as many units as a scenario asks for: a program for each die, or two where the device chooses. Random writes of whole
/// units fill all of their programs, if none is of a unit that is on its way: such a write follows the other to its die.
#[test]
fn the_smallest_cache_pads_nothing() {
    for allocation in [Allocation::CWDP, Allocation::Dynamic] {
        let mut config = cached(four(), 8);
        (config.geometry.channels, config.geometry.blocks_per_plane) = (2, 16);
        (config.ftl.allocation, config.ftl.reserved_blocks) = (allocation, Amount::Blocks(8));
        let ftl = Ftl::new(&config, 1, "device").unwrap();
        let units = u64::from(ftl.shape().logical_pages);
        let mut device = Device::new(&config, ftl, NoProbe).unwrap();
        let mut rng = Rng::stream(3, "smallest cache");
        let mut latest = [u64::MAX; 16];
        for token in 0..4_000 {
            let unit = std::iter::repeat_with(|| rng.below(units)).find(|unit| !latest.contains(unit));
            let unit = unit.expect("more units than are on their way");
            latest[token as usize % 16] = unit;
            device.submit(SimTime::ZERO, sub(token, Operation::Write, unit, 1)).unwrap();
        }
        while device.next_wakeup() != SimTime::NEVER {
            device.advance_until(device.next_wakeup(), false).unwrap();
        }
        device.audit();
        let counters = device.counters();
        assert_eq!(device.completions().len(), 4_000, "{allocation:?}");
        assert_eq!(counters.padding[IoCause::Host as usize], 0, "{allocation:?}");
        assert!(counters.gc_victims > 300, "{allocation:?}: {} victims", counters.gc_victims);
    }
}

/// What a device did that had writes of single units waiting all the time: how long that took in ns, and pages.
pub struct Saturated {
    pub lasted: u64,
    /// Programmed for the host, and for anybody.
    pub host: u64,
    pub all: u64,
    /// Programmed for the host without data, from the beginning on.
    padding: u64,
}

/// Each unit is written once, and twice more at random. Then as much as twice the device is measured.
pub fn saturate(config: &SsdConfig) -> Saturated {
    let ftl = Ftl::new(config, 1, "device").unwrap();
    let units = u64::from(ftl.shape().logical_pages);
    let mut device = Device::new(config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(5, "saturation");
    let (before, measured) = (3 * units, 2 * units);
    for token in 0..before + measured + 1_000 {
        let unit = if token < units { token } else { rng.below(units) };
        device.submit(SimTime::ZERO, sub(token as u32, Operation::Write, unit, 1)).unwrap();
    }
    let mut until = |answered: u64| {
        let mut now = SimTime::ZERO;
        while (device.completions().len() as u64) < answered {
            now = device.next_wakeup();
            device.advance_until(now, false).unwrap();
        }
        let DeviceCounters { programs, padding, .. } = device.counters();
        let host = IoCause::Host as usize;
        (now.0, programs[host], programs.iter().sum::<u64>(), padding[host])
    };
    let (from, to) = (until(before), until(before + measured));
    Saturated { lasted: to.0 - from.0, host: to.1 - from.1, all: to.2 - from.2, padding: to.3 }
}

/// At saturation dies do nothing but program, and collect: writes come at the rate of units per program times dies over the time of a
/// program, less what collection programs. Reads and erases take next to no time here.
#[test]
fn the_rate_at_saturation_is_that_of_whole_programs_over_write_amplification() {
    for allocation in [Allocation::CWDP, Allocation::Dynamic] {
        let mut config = cached(four(), 400);
        let geometry = &mut config.geometry;
        (geometry.channels, geometry.blocks_per_plane, geometry.pages_per_block) = (4, 64, 16);
        let timing = &mut config.timing;
        (timing.read, timing.erase, timing.transfer) =
            (SimDuration(1).into(), SimDuration(1), SimDuration(4));
        timing.copyback = Copyback::None;
        (config.ftl.allocation, config.ftl.reserved_blocks) = (allocation, Amount::Blocks(14));
        let Saturated { lasted, host, all, padding } = saturate(&config);
        let amplification = all as f64 / host as f64;
        let rate = host as f64 / lasted as f64;
        let expected = 4.0 * 4.0 / 5_004.0 / amplification;
        let case = format!("{allocation:?}: {rate} a ns of {expected}, amplification {amplification}");
        eprintln!("{case}");
        assert!((rate / expected - 1.0).abs() < 0.02, "{case}");
        assert!((2.0..6.0).contains(&amplification), "{case}");
        assert_eq!(padding, 0, "{case}");
    }
}
