//! What does a device tell somebody who follows single pages: for what did a page wait, and where?
//!
//! ```text
//! tR 1,000   transfer 300   tPROG 5,000   link 70      a low die collects from 0 to 26,000
//! ```

use harmonia_flash::Copyback;
use harmonia_ssd::follow::{Before, Follower, MapAccount, Met, PageAccount, Place, Switch, Why};
use harmonia_ssd::probe::{FlashPage, Origin, Probe, any, probe_as};
use harmonia_ssd::{Device, LevelingConfig, SsdConfig, SubRequest, WriteCacheConfig};
use harmonia_types::{Blame, Lpn, Operation, SimTime};

use crate::bench::*;
use crate::mapping::{cached, full, mapped};

struct Follows(Follower);

impl Probe for Follows {
    fn audits(&self) -> bool {
        true
    }

    fn follower(&mut self) -> Option<&mut Follower> {
        Some(&mut self.0)
    }

    fn followed(&self) -> Option<&Follower> {
        Some(&self.0)
    }

    fn read(&mut self, from: Option<FlashPage>, _: Lpn, origin: Origin) {
        if let Some(from) = from {
            self.0.touches(origin.token, origin.page, from.unit, from.ppn);
        }
    }
}

/// The same device, whose pages are followed.
fn followed(config: &SsdConfig, bench: &Bench) -> Bench {
    let switch = Switch::default();
    switch.set(true);
    let probe = Follows(Follower::new(config.resolve().unwrap().dies, &switch));
    Bench { device: Device::new(config, bench.device.ftl().clone(), any(probe)).unwrap(), known: Vec::new() }
}

/// What is known of an operation that is done.
fn account(bench: &Bench, token: u64) -> PageAccount {
    let follows: &Follows = probe_as(bench.device.probe());
    follows.0.page_done(token).cloned().expect("it is done")
}

/// How long a page waited for each collection that is known, and how many victims each had.
fn collections(account: &PageAccount) -> Vec<(u64, usize)> {
    let known = |met: &Met| met.collection.as_ref().map(|of| (met.ns, of.victims.len()));
    account.collections.iter().map(|met| known(met).expect("it is known")).collect()
}

/// Die 1 sends its page from 1,000 to 1,300. Die 0 has one to send from 1,100 on, and a second read behind that.
#[test]
fn waiting_for_the_bus_is_told_from_waiting_for_the_die() {
    let config = shared_bus();
    let mut bench = followed(&config, &Bench::with(&config, &[&[0, 1], &[0]]));
    bench.read(0, 1, 1, 1).read(100, 2, 0, 1).read(200, 3, 2, 1).advance(10_000);
    let [first, second, third] = [1, 2, 3].map(|token| account(&bench, token));
    assert_eq!((first.blame.queue_host, first.host_on_bus), (0, 0));
    assert_eq!((second.blame.queue_host, second.host_on_bus, second.host_in_command), (200, 200, 0));
    assert_eq!(second.place, Some(Place { channel: 0, die: 0, plane: Some(0) }));
    assert_eq!((third.blame.queue_host, third.host_on_bus), (1_400, 0));
    assert_eq!(third.before, Before { reads: 1, ..Before::default() });
}

/// Die 0 serves the background until 1,300, or collects until 26,000. Then the read there waits 200 ns for the page of die 1.
#[test]
fn what_a_read_waited_for_on_its_die_is_no_wait_for_the_bus() {
    let config = shared_bus();
    let on_bus = |bench: &mut Bench| {
        let read = account(bench.advance(100_000), 2);
        (read.host_on_bus, read.host_in_command, read.blame.queue_host)
    };
    let mut bench = followed(&config, &Bench::with(&config, &[&[0, 1], &[0]]));
    bench.submit(0, SubRequest { background: true, ..sub(1, Operation::Read, 0, 1) });
    bench.read(100, 2, 2, 1).read(1_200, 3, 1, 1);
    assert_eq!(on_bus(&mut bench), (200, 0, 200));
    assert_eq!(account(&bench, 2).blame.queue_rebuild, 1_200);
    assert_eq!(account(&bench, 2).before, Before { background: 1, ..Before::default() });
    let mut bench = followed(&config, &Bench::aged(&config, &[0]));
    bench.read(0, 2, 0, 1).read(25_900, 3, 1, 1);
    assert_eq!(on_bus(&mut bench), (200, 0, 200));
    assert_eq!(account(&bench, 2).blame.queue_gc, 26_000);
}

#[test]
fn the_plane_of_a_page_is_told() {
    let config = planes(2);
    let mut bench = followed(&config, &Bench::with(&config, &[&[0], &[0]]));
    bench.read(0, 1, 1, 1).read(10_000, 2, 0, 1).advance(20_000);
    let told = [1, 2].map(|token| account(&bench, token).place.expect("it was on a die").plane);
    assert_eq!(told, [Some(1), Some(0)]);
}

#[test]
fn a_read_that_waits_for_collection_is_told_which() {
    let mut bench = followed(&one_die(), &Bench::aged(&one_die(), &[0]));
    bench.read(0, 1, 0, 1).read(1_000, 2, 1, 1).advance(60_000);
    let [first, second] = [1, 2].map(|token| collections(&account(&bench, token)));
    assert_eq!((first, second), (vec![(26_000, 1)], vec![(25_000, 1)]));
    let [Met { collection: Some(met), .. }] = &account(&bench, 2).collections[..] else {
        panic!("one is known")
    };
    assert_eq!(met.why, Why::Threshold { die: 0, free: 1, is_hard: true });
}

/// It waits from 400 on for a read, until a collection is ordered at 600.
#[test]
fn a_read_that_is_refused_is_told_what_it_waited_for() {
    let mut bench = followed(&one_die(), &Bench::aged(&one_die(), &[]));
    bench
        .read(0, 1, 0, 1)
        .submit(400, SubRequest { fast_fail: true, ..sub(2, Operation::Read, 1, 1) })
        .force(600);
    let follows: &Follows = probe_as(bench.device.probe());
    let account = follows.0.pages_refused(2, SimTime(600)).first().expect("it is refused");
    assert_eq!((account.blame.queue_host, account.blame.total()), (200, 200));
    assert_eq!(account.place, Some(Place { channel: 0, die: 0, plane: None }));
}

/// A die that collects holds the only slot of the cache, and the write that waits for the slot has waited for this collection.
#[test]
fn a_write_that_waits_for_a_slot_is_told_for_which_collection() {
    let mut config = one_die();
    config.write_cache = WriteCacheConfig { size: Some(PAGE), ..WriteCacheConfig::default() };
    let mut bench = followed(&config, &Bench::aged(&config, &[0]));
    bench.write(0, 1, 0, 1).write(1_000, 2, 1, 1).advance(100_000);
    let [first, second] = [1, 2].map(|token| account(&bench, token));
    assert_eq!((collections(&first), first.place), (vec![], None));
    // From 1,070 on, when its data was there, until 26,070.
    assert_eq!((collections(&second), second.blame.queue_gc), (vec![(25_000, 1)], 25_000));
    assert_eq!(second.place.map(|place| place.die), Some(0));
    assert_eq!(bench.find(2).map(|done| done.finish > SimTime(31_000)), Some(true));
}

/// The only slot was that of a page whose die collected. The third write finds it free, and the fourth waits for a program of the host.
#[test]
fn a_write_that_waits_for_no_collection_is_not_told_of_the_die_that_freed_its_slot() {
    let mut config = one_die();
    config.write_cache = WriteCacheConfig { size: Some(PAGE), ..WriteCacheConfig::default() };
    let mut bench = followed(&config, &Bench::aged(&config, &[0]));
    bench.write(0, 1, 0, 1).write(1_000, 2, 1, 1).write(200_000, 3, 2, 1).write(201_000, 4, 3, 1);
    bench.advance(300_000);
    let [third, fourth] = [3, 4].map(|token| account(&bench, token));
    assert!(
        third.blame.cache_wait == 0 && fourth.blame.cache_wait > 0,
        "{:?} {:?}",
        third.blame,
        fourth.blame
    );
    for told in [third, fourth] {
        assert_eq!(told, PageAccount { blame: told.blame, ..PageAccount::default() });
    }
}

/// The program of the page that holds the only slot waits from 1,100 to 1,300 for the page that a collection of the other die reads.
#[test]
fn a_wait_for_a_slot_whose_program_waits_for_the_bus_of_a_collection_is_told_so() {
    let mut config = shared_bus();
    config.timing.copyback = Copyback::None;
    config.gc.schedule = "stepwise".into();
    config.write_cache = WriteCacheConfig { size: Some(PAGE), ..WriteCacheConfig::default() };
    let mut bench = followed(&config, &Bench::aged(&config, &[1]));
    bench.read(0, 1, 1, 1).write(1_030, 2, 0, 1).write(1_030, 3, 2, 1).advance(100_000);
    let third = account(&bench, 3);
    assert_eq!((third.blame.queue_gc, third.gc_on_bus, third.gc_in_command), (200, 200, 0));
    assert!(third.collections.is_empty());
}

/// The page in the only slot goes along in the first program of a collection, behind its page.
#[test]
fn a_wait_for_a_slot_whose_page_goes_along_with_a_collection_is_told_so() {
    let mut config = planes(2);
    (config.geometry.own_pins, config.ftl.multi_plane) = (false, true);
    config.gc.schedule = "stepwise".into();
    config.write_cache = WriteCacheConfig { size: Some(PAGE), ..WriteCacheConfig::default() };
    let mut bench = followed(&config, &Bench::with(&config, &[LOW, SPREAD]));
    // Page 12 and page 8 of plane 1.
    bench.read(0, 1, 0, 1).write(0, 2, 25, 1).write(0, 3, 17, 1).advance(100_000);
    let third = account(&bench, 3);
    assert_eq!(third.gc_in_command, 300);
    assert_eq!(collections(&third), [(third.blame.queue_gc - 300, 1)]);
}

/// A trim takes no time of the die, so nobody waited for it.
#[test]
fn what_takes_no_time_of_the_die_is_nothing_served_before() {
    let mut bench = followed(&one_die(), &Bench::with(&one_die(), &[&[0, 1, 2]]));
    bench.read(0, 1, 0, 1).submit(10, sub(2, Operation::Trim, 2, 1)).read(20, 3, 1, 1).advance(10_000);
    assert_eq!(account(&bench, 3).before, Before { reads: 1, ..Before::default() });
}

/// Two reads of sibling planes in one command: the page of the second one follows that of the first.
#[test]
fn a_wait_inside_a_command_is_none_for_the_bus() {
    let mut config = planes(2);
    config.ftl.multi_plane = true;
    let mut bench = followed(&config, &Bench::with(&config, &[CALM, CALM]));
    bench.read(0, 1, 8, 1).read(10, 2, 8, 1).read(10, 3, 9, 1).advance(100_000);
    let [first, second] = [2, 3].map(|token| account(&bench, token));
    assert_eq!((first.host_in_command, first.host_on_bus), (0, 0));
    assert_eq!((second.host_in_command, second.host_on_bus, second.blame.queue_host), (300, 0, 1_590));
}

/// The read waits for the page that a collection of the other die sends until 1,300.
#[test]
fn a_wait_for_the_bus_of_a_collection_is_told_from_one_for_the_die() {
    let mut config = shared_bus();
    (config.timing.copyback, config.gc.schedule) = (Copyback::None, "stepwise".into());
    let mut bench = followed(&config, &Bench::aged(&config, &[1]));
    bench.read(0, 1, 1, 1).read(50, 2, 0, 1).advance(100_000);
    let second = account(&bench, 2);
    assert_eq!((second.blame.queue_gc, second.gc_on_bus, second.gc_in_command), (250, 250, 0));
    assert!(second.collections.is_empty());
}

/// The write of plane 1 goes along in the first program of a collection of plane 0, behind its page.
#[test]
fn a_wait_for_the_page_of_a_collection_in_the_same_command_is_told_so() {
    let mut config = planes(2);
    (config.geometry.own_pins, config.ftl.multi_plane) = (false, true);
    config.gc.schedule = "stepwise".into();
    let mut bench = followed(&config, &Bench::with(&config, &[LOW, SPREAD]));
    bench.read(0, 1, 0, 1).write(0, 2, 25, 1).advance(100_000);
    let write = account(&bench, 2);
    assert_eq!((write.blame.queue_gc, write.gc_in_command, write.gc_on_bus), (1_530, 300, 0));
    assert_eq!(collections(&write), [(1_230, 1)]);
}

/// With FUA a write is answered when flash has it. The first one waits for a collection at its die, the second one for the slot.
#[test]
fn a_write_with_fua_is_told_what_it_waited_for_at_its_slot_and_at_its_die() {
    let mut config = one_die();
    config.write_cache =
        WriteCacheConfig { size: Some(PAGE), power_protected: false, ..WriteCacheConfig::default() };
    let mut bench = followed(&config, &Bench::aged(&config, &[0]));
    let fua = |token, page| SubRequest { fua: true, ..sub(token, Operation::Write, page, 1) };
    bench.submit(0, fua(1, 0)).submit(1_000, fua(2, 1)).advance(100_000);
    let [first, second] = [1, 2].map(|token| account(&bench, token));
    assert_eq!(collections(&first), [(first.blame.queue_gc, 1)]);
    assert_eq!(second.collections, [Met { ns: 25_000, collection: None }]);
    assert_eq!(second.blame.queue_gc, 25_000);
}

/// A block that was left behind in erases is collected to level wear, and told so.
#[test]
fn a_block_that_is_collected_to_level_wear_is_told_so() {
    let mut config = one_die();
    config.leveling = Some(LevelingConfig { threshold: 3, budget: 0.5 });
    let mut follower = Follower::new(1, &Switch::default());
    follower.keep(SimTime::ZERO, SimTime::NEVER);
    let ftl = Bench::aged(&config, &[]).device.ftl().clone();
    let mut bench =
        Bench { device: Device::new(&config, ftl, any(Follows(follower))).unwrap(), known: Vec::new() };
    for token in 0..400 {
        bench.write(u64::from(token) * 100_000, token, u64::from(token) % 2, 1);
    }
    bench.advance(50_000_000);
    let follows: &Follows = probe_as(bench.device.probe());
    let kept = follows.0.kept();
    let victims = kept.iter().flat_map(|(_, one)| &one.victims);
    let levelled = victims.filter(|victim| victim.levels).count() as u64;
    let (blocks, _) = bench.device.ftl().leveled().expect("wear is levelled");
    assert!(levelled == blocks && blocks > 0, "{levelled} of {blocks} blocks");
    assert!(blocks < bench.device.counters().gc_victims);
}

/// A page operation that had nothing to wait for on its die.
fn at_once(die: u32, service: u64, transfer: u64) -> Option<Box<PageAccount>> {
    let place = Some(Place { channel: die, die, plane: Some(0) });
    let blame = Blame { service, transfer, ..Blame::NONE };
    Some(Box::new(PageAccount { blame, place, ..PageAccount::default() }))
}

/// Memory holds one page of the map. The write has changed that, so it is written, and the page of the map that the read needs is read.
#[test]
fn a_wait_for_the_map_is_told_by_what_the_drive_did_with_it() {
    let config = mapped(two_dies(), 1);
    let mut bench = followed(&config, &full(&config));
    bench.write(0, 1, 0, 1).read(10_000, 2, 4, 1).read(12_000, 3, 5, 1).read(15_400, 4, 6, 1).advance(50_000);
    let [write, read, later, last] = [1, 2, 3, 4].map(|token| account(&bench, token));
    assert_eq!(
        write.map,
        MapAccount { read: at_once(0, 1_230, 0), ..MapAccount::default() },
        "since its data was there"
    );
    let on_flash = |write, read| MapAccount { write, read, ..MapAccount::default() };
    assert_eq!(read.map, on_flash(at_once(0, 5_000, 300), at_once(1, 1_000, 300)));
    assert_eq!(
        later.map,
        on_flash(at_once(0, 3_300, 0), at_once(1, 1_000, 300)),
        "what was left of the program"
    );
    assert_eq!(last.map, on_flash(None, at_once(1, 1_200, 0)), "what was left of the read");
    assert_eq!((last.blame.map_wait, last.blame.service), (1_200, 1_000));
}

/// Each page of the map that is read needs the place of the one before.
#[test]
fn a_wait_for_room_in_memory_counts_what_others_did_there() {
    let config = mapped(two_dies(), 1);
    let mut bench = followed(&config, &full(&config));
    bench.read(0, 1, 0, 1).read(0, 2, 4, 1).read(100, 3, 8, 1).advance(50_000);
    let [first, second, third] = [1, 2, 3].map(|token| account(&bench, token).map);
    assert_eq!((first.room, first.before), (0, Before::default()));
    assert_eq!((second.room, second.before), (1_300, Before { reads: 1, ..Before::default() }));
    assert_eq!((third.room, third.before), (2_500, Before { reads: 2, ..Before::default() }));
    // The second page is read at die 0 before page 2 of the map.
    let read = third.read.expect("it is read");
    assert_eq!((read.blame.queue_host, read.before), (1_300, Before { reads: 1, ..Before::default() }));
    assert_eq!((read.blame.total(), account(&bench, 3).blame.map_wait), (2_600, 2_500 + 2_600));
}

/// A host read that came to die 1 before the read of the map there, and a collection that both wait for.
#[test]
fn what_stood_before_a_page_of_the_map_is_told_as_of_any_page() {
    let config = mapped(two_dies(), 2);
    let all: Vec<u32> = (0..20).chain([0, 1, 4, 5]).collect();
    let mut bench = followed(&config, &Bench::with(&config, &[&all, &all]));
    // Page 1 lies at die 1, and its page of the map at die 0; the other way round for page 4.
    bench.read(0, 1, 1, 1).read(0, 2, 0, 1).advance(10_000);
    bench.read(10_000, 3, 1, 1).read(10_100, 4, 4, 1).read(10_200, 5, 6, 1).advance(50_000);
    let [fourth, fifth] = [4, 5].map(|token| account(&bench, token));
    let read = fourth.map.read.expect("it is read");
    assert_eq!((read.blame.queue_host, read.before.reads), (1_200, 1));
    assert_eq!((fourth.blame.map_wait, read.blame.total()), (2_500, 2_500));
    let later = fifth.map.read.expect("it is read");
    assert_eq!((later.blame.queue_host, later.before.reads, later.blame.total()), (1_100, 1, 2_400));
    bench.force(60_000).read(60_001, 6, 8, 1).read(61_000, 7, 9, 1);
    let end = bench.collected().iter().map(|span| span.1).min().expect("both collect");
    bench.advance(end + 100_000);
    for (token, from) in [(6, 60_001), (7, 61_000)] {
        let told = account(&bench, token);
        let read = told.map.read.as_ref().expect("it is read");
        assert_eq!(collections(read), [(end - from, 1)], "{token}");
        assert_eq!((told.map.collected(), told.blame.map_wait), (end - from, 1_300), "{token}");
    }
}

/// As in `mapping`: the map keeps the only slot after its program, while the die of the page of the map collects.
#[test]
fn a_write_that_waits_for_a_slot_which_the_map_keeps_is_told_why() {
    let config = cached(mapped(two_dies(), 1), 1);
    let all: Vec<u32> = (0..20).chain([0, 1, 4, 5]).collect();
    let first: Vec<u32> = (0..20).collect();
    let mut bench = followed(&config, &Bench::with(&config, &[&first, &all]));
    bench.force(0).write(1, 1, 4, 1).write(2, 2, 6, 1);
    bench.collected();
    let told = account(&bench, 2);
    let read = told.map.read.as_ref().expect("it is read");
    assert_eq!(read.place.map(|place| place.die), Some(1));
    assert_eq!((told.map.collected(), told.map.room), (told.blame.queue_gc, 0));
    assert_eq!(collections(read), [(told.blame.queue_gc, 1)]);
    assert_eq!((read.blame.service, read.blame.transfer, told.blame.map_wait), (1_000, 300, 1_300));
    assert!(told.collections.is_empty(), "its own die has not collected");
}
