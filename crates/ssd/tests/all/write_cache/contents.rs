//! Random histories: every byte that is read is the last that was written, also after losses of power.

use super::*;

/// Which page of which write.
type Tag = (u32, u32);

/// Flash and a cache that hold tags, by byte of a page.
#[derive(Default)]
struct Tagged {
    page_bits: u32,
    flash: BTreeMap<(u32, u32), (Lpn, Page)>,
    /// Bytes that the cache does not have are `None`.
    slots: BTreeMap<u32, (Lpn, Page)>,
    /// Rests that were read for programs to come.
    merged: BTreeMap<Lpn, Page>,
    drained: Option<u32>,
    found: BTreeMap<Tag, Page>,
    answers: u64,
}

/// By byte: the write it is from.
type Page = Vec<Option<u32>>;

const SIZE: usize = 512;

/// A token that says its number, and the bytes of its sub-request: first and how many.
fn token_of(number: u32, offset: u64, length: u64) -> u64 {
    u64::from(number) | offset << 10 | length << 40
}

fn told_by(token: u64) -> (u32, u64, u64) {
    ((token & 0x3ff) as u32, token >> 10 & 0x3fff_ffff, token >> 40)
}

impl Tagged {
    /// The bytes of a page that a write covers.
    fn covered(origin: Origin) -> std::ops::Range<usize> {
        let (_, start, length) = told_by(origin.token);
        let end = start + length;
        let base = (start / SIZE as u64 + u64::from(origin.page)) * SIZE as u64;
        let within = |byte: u64| byte.saturating_sub(base).min(SIZE as u64) as usize;
        within(start)..within(end)
    }

    /// What flash has of a page, or is being given.
    fn on_flash(&self, ftl: &Ftl, lpn: u32) -> Page {
        let shape = ftl.shape();
        let (unit, in_unit) = match shape.is_dynamic() {
            true => (ftl.home(lpn).unwrap_or_default(), lpn),
            false => (shape.locate(lpn).1, shape.locate(lpn).2),
        };
        let found = ftl.lookup(unit, in_unit);
        found.map_or_else(
            || vec![None; SIZE],
            |(block, page)| {
                let ppn = Ppn(block << self.page_bits | page);
                self.load(FlashPage { unit, ppn }, Lpn(lpn))
            },
        )
    }

    fn load(&self, from: FlashPage, lpn: Lpn) -> Page {
        let (owner, page) = &self.flash[&(from.unit, from.ppn.0)];
        assert_eq!(*owner, lpn, "{from:?} holds another page");
        page.clone()
    }
}

impl Probe for Tagged {
    fn audits(&self) -> bool {
        true
    }

    fn admit(&mut self, slot: u32, lpn: Lpn, _: IoCause, origin: Origin, absorbs: bool) {
        let covered = Self::covered(origin);
        if !absorbs {
            self.slots.insert(slot, (lpn, vec![None; SIZE]));
        }
        let (held, page) = self.slots.get_mut(&slot).expect("a slot in use");
        assert_eq!(*held, lpn, "a slot holds one page");
        page[covered].fill(Some(told_by(origin.token).0));
    }

    fn drain(&mut self, slot: u32, lpn: Lpn) {
        assert_eq!(self.slots[&slot].0, lpn);
        self.drained = Some(slot);
    }

    fn merge(&mut self, from: FlashPage, lpn: Lpn, _: Origin) {
        let before = self.merged.insert(lpn, self.load(from, lpn));
        assert!(before.is_none(), "the rest of {lpn:?} is read once");
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, _: IoCause, _: Option<Origin>) {
        let slot = self.drained.take().expect("what is programmed comes from the cache");
        let (_, page) = &self.slots[&slot];
        let rest = self.merged.remove(&lpn).unwrap_or_else(|| vec![None; SIZE]);
        let programmed = page.iter().zip(rest).map(|(byte, rest)| byte.or(rest)).collect();
        let before = self.flash.insert((to.unit, to.ppn.0), (lpn, programmed));
        assert!(before.is_none(), "{to:?} is not erased");
    }

    fn lose(&mut self, slot: u32, lpn: Lpn) {
        assert_eq!(self.slots[&slot].0, lpn);
        // The rest of a page that was read for it.
        self.merged.remove(&lpn);
    }

    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        let page = self.load(from, lpn);
        assert!(self.flash.insert((to.unit, to.ppn.0), (lpn, page)).is_none(), "{to:?} is not erased");
    }

    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        let found = from.map_or_else(|| vec![None; SIZE], |from| self.load(from, lpn));
        let again = self.found.insert((told_by(origin.token).0, origin.page), found);
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn answer(&mut self, slot: u32, lpn: Lpn, origin: Origin) {
        let (held, page) = &self.slots[&slot];
        assert!(
            *held == lpn && page.iter().all(Option::is_some),
            "all of a page that is read from the cache is there"
        );
        self.answers += 1;
        let again = self.found.insert((told_by(origin.token).0, origin.page), page.clone());
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn answer_in_line(&mut self, _: Lpn, written: Origin, origin: Origin) {
        assert_eq!(Self::covered(written), 0..SIZE, "all of a page that is read in line is there");
        self.answers += 1;
        let page = vec![Some(told_by(written.token).0); SIZE];
        let again = self.found.insert((told_by(origin.token).0, origin.page), page);
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn erase(&mut self, unit: u32, block: u32) {
        let range = (unit, block << self.page_bits)..(unit, (block + 1) << self.page_bits);
        let pages: Vec<_> = self.flash.range(range).map(|(&page, _)| page).collect();
        pages.iter().for_each(|page| drop(self.flash.remove(page)));
    }
}

/// What a random run has seen of what is to be tested.
#[derive(Default)]
struct Seen {
    counters: WriteCacheCounters,
    refused: u64,
    moved: u64,
    /// Devices that drain in part, and those that choose among the dies of a superblock.
    drained_in_part: u64,
    chosen: u64,
    /// Devices whose programs carry several units, and bytes that all devices programmed for the host, padding apart.
    programs: u64,
    written: u64,
    padding: u64,
}

/// A random device with a cache, and how many pages its programs carry.
fn random_cached(seed: u64, rng: &mut Rng, (packs, superblocks): (bool, bool)) -> (SsdConfig, u64) {
    let config = crate::random::config(rng);
    let mut config = crate::random::additions(&mut Rng::stream(seed, "write cache/additions"), config);
    crate::random::timing(&mut config, &mut Rng::stream(seed, "write cache/timing"));
    crate::random::front(&mut config, &mut Rng::stream(seed, "write cache/front"));
    config.gc.concurrency = crate::random::concurrency(&mut Rng::stream(seed, "write cache/concurrency"));
    let partial_along = config.gc.schedule.own.get("partial_writes").is_some_and(|value| value == "along");
    if partial_along {
        // There the rest of a page is read long before its program, which this probe does not follow.
        config.gc.schedule = config.gc.schedule.with("partial_writes", "alone");
    }
    let (mut pages, mut program) = (1 + rng.below(12), 1);
    if packs {
        let mut packing = Rng::stream(seed, "write cache/packing");
        crate::random::pack(&mut config, &mut packing);
        program = config.resolve().expect("it was made to").packing.slots_per_program().into();
        // From a program, which is less than a scenario may have, to several for each die.
        let more = pick(&mut packing, &[1, program, 6 * program]);
        pages = program + packing.below(more);
    }
    config.write_cache = WriteCacheConfig {
        size: Some(pages * SIZE as u64),
        ack: SimDuration(rng.below(50)),
        ..WriteCacheConfig::default()
    };
    if superblocks {
        let mut shared = Rng::stream(seed, "write cache/superblocks");
        crate::random::superblocks(&mut config, &mut shared);
        config.gc.last_program = pick(&mut shared, &[LastProgram::Padded, LastProgram::Filled]);
    }
    crate::random::sharing(&mut config, &mut Rng::stream(seed, "write cache/sharing"));
    if config.geometry.program_planes > 1 && Rng::stream(seed, "write cache/drain").chance(0.75) {
        config.write_cache.drain = Drain::Partial;
    }
    if Rng::stream(seed, "write cache/pacer").chance(0.4) {
        config.write_cache.pacer = Pacing::Collection;
    }
    (config, program)
}

/// Random devices with a cache, random histories: every byte that is read is the last that arrived before, and every
/// operation is answered once with blame that sums.
fn check(seed: u64, (packs, superblocks): (bool, bool), seen: &mut Seen) {
    let mut rng = Rng::stream(seed, "write cache");
    let (mut config, program) = random_cached(seed, &mut rng, (packs, superblocks));
    let mut fua = Rng::stream(seed, "write cache/fua");
    config.write_cache.power_protected = fua.chance(0.5);
    seen.chosen += u64::from(superblocks && config.ftl.allocation == Allocation::Dynamic);
    seen.drained_in_part += u64::from(config.write_cache.drain == Drain::Partial);
    let explain = || format!("seed {seed}: {config:#?}");
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("{}: {why}", explain()));
    let bytes = u64::from(ftl.shape().logical_pages) * SIZE as u64;
    let tagged = Tagged { page_bits: ftl.shape().page_bits, ..Tagged::default() };
    let mut device = Device::new(&config, ftl, any(tagged)).expect("the policies are registered");
    // What a byte holds by what has arrived.
    let mut holds: Vec<Option<u32>> = vec![None; bytes as usize];
    let mut expected: BTreeMap<Tag, Page> = BTreeMap::new();
    let mut open: BTreeMap<u32, SimTime> = BTreeMap::new();
    let mut now = SimTime::ZERO;
    for token in 0..=300u32 {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        seen.refused += hear(seed, &mut device, &mut open, &mut expected);
        if rng.chance(0.03) {
            let directives =
                [Directive::Force(Stop::Internal), Directive::Force(Stop::AllReserve), Directive::Hold];
            device.direct(now, pick(&mut rng, &directives));
        }
        if rng.chance(0.02) {
            device.direct(now, pick(&mut rng, &[Directive::Open, Directive::Release]));
        }
        let operations =
            [Operation::Write, Operation::Write, Operation::Write, Operation::Read, Operation::Trim];
        let (operation, offset, length) = if token == 300 {
            (Operation::Read, 0, bytes)
        } else {
            let unit = if rng.chance(0.6) { SIZE as u64 } else { 1 };
            let length = (1 + rng.below(bytes.min(4 * SIZE as u64) / unit)) * unit;
            let places = (bytes - length) / unit + 1;
            let near = if rng.chance(0.5) { places.min(8) } else { places };
            (pick(&mut rng, &operations), rng.below(near) * unit, length)
        };
        let first = offset / SIZE as u64;
        let pages = (offset + length).div_ceil(SIZE as u64) - first;
        for page in 0..pages {
            let base = (first + page) * SIZE as u64;
            let whole = base..base + SIZE as u64;
            let within = whole.start.max(offset) as usize..whole.end.min(offset + length) as usize;
            match operation {
                Operation::Write => holds[within].fill(Some(token)),
                Operation::Trim if within.len() == SIZE => holds[within].fill(None),
                Operation::Read => {
                    let page_now = holds[whole.start as usize..whole.end as usize].to_vec();
                    expected.insert((token, page as u32), page_now);
                }
                Operation::Trim | Operation::Flush => {}
            }
        }
        let request = SubRequest {
            fast_fail: operation == Operation::Read && token < 300 && rng.chance(0.3),
            background: rng.chance(0.1),
            handle: if superblocks { token as u16 % 3 } else { 0 },
            fua: fua.chance(0.2),
            ..SubRequest::new(token_of(token, offset, length), operation, offset, length)
        };
        open.insert(token, now);
        device.submit(now, request).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        device.audit();
    }
    let mut steps = 0;
    while device.next_wakeup() != SimTime::NEVER {
        steps += 1;
        assert!(steps < 100_000, "{}: it never ends", explain());
        let next = device.next_wakeup();
        device.advance_until(next, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        seen.refused += hear(seed, &mut device, &mut open, &mut expected);
    }
    assert!(open.is_empty(), "{}: {open:?} are not answered", explain());
    assert_eq!(device.status(now).queue_depth, 0, "{}: the cache is empty at the end", explain());
    device.ftl().audit();
    let tagged: &Tagged = probe_as(device.probe());
    for (tag, page) in &expected {
        let found = tagged.found.get(tag);
        assert!(found == Some(page), "{}: {tag:?} found {found:?}, not {page:?}", explain());
    }
    let counters = device.counters();
    assert_eq!(tagged.answers, counters.write_cache.answered_pages);
    seen.programs += u64::from(program > 1);
    seen.padding += counters.padding[IoCause::Host as usize];
    seen.written += counters.programs[IoCause::Host as usize] * SIZE as u64;
    seen.counters.admitted_pages += counters.write_cache.admitted_pages;
    seen.counters.absorbed_pages += counters.write_cache.absorbed_pages;
    seen.counters.answered_pages += counters.write_cache.answered_pages;
    seen.counters.trimmed_pages += counters.write_cache.trimmed_pages;
    seen.counters.waits += counters.write_cache.waits;
    seen.counters.waits_for_gc += counters.write_cache.waits_for_gc;
    seen.moved += counters.gc_pages_moved();
}

/// Takes what a device has answered; the reads it refused, whose pages are then not expected.
fn hear(
    seed: u64,
    device: &mut Device<AnyProbe>,
    open: &mut BTreeMap<u32, SimTime>,
    expected: &mut BTreeMap<Tag, Page>,
) -> u64 {
    let mut refused = 0;
    for refusal in device.refusals().drain(..) {
        let number = told_by(refusal.token).0;
        assert_eq!(refusal.blame.total(), (refusal.at - open[&number]).0, "seed {seed}: {refusal:?}");
        for page in refusal.first..refusal.first + refusal.pages {
            assert!(expected.remove(&(number, page)).is_some(), "seed {seed}: only reads are refused");
            refused += 1;
        }
        if !expected.keys().any(|&(read, _)| read == number) {
            open.remove(&number);
        }
    }
    for done in device.completions().drain(..) {
        let issued = open.remove(&told_by(done.token).0).expect("answered once");
        assert_eq!(done.blame.total(), (done.finish - issued).0, "seed {seed}: {done:?}");
    }
    refused
}

#[test]
fn every_byte_is_the_last_that_was_written_whatever_the_cache_does() {
    let mut seen = Seen::default();
    (0..200).for_each(|seed| check(seed, (false, false), &mut seen));
    let Seen { counters, refused, moved, .. } = seen;
    assert!(refused > 500 && moved > 10_000, "{refused} reads refused, {moved} pages moved");
    assert!(counters.absorbed_pages > 2_500 && counters.answered_pages > 2_500, "{counters:?}");
    assert!(counters.trimmed_pages > 100 && counters.waits > 2_500, "{counters:?}");
    assert!(counters.waits_for_gc > 250, "{counters:?}");
}

#[test]
#[ignore = "long: make simulations"]
fn every_byte_is_the_last_that_was_written_where_programs_carry_several_units() {
    let mut seen = Seen::default();
    (0..440).for_each(|seed| check(seed, (true, false), &mut seen));
    let Seen { counters, refused, moved, programs, written, padding, drained_in_part, .. } = seen;
    assert!(refused > 500 && moved > 10_000, "{refused} reads refused, {moved} units moved");
    assert!(programs > 200, "{programs} devices have programs of several units");
    assert!(drained_in_part > 30, "{drained_in_part} devices drain in part");
    assert!(counters.absorbed_pages > 2_500 && counters.answered_pages > 2_500, "{counters:?}");
    assert!(counters.trimmed_pages > 100 && counters.waits > 2_500, "{counters:?}");
    assert!(padding > 0 && padding < written, "{padding} of {written} bytes are padding");
}

/// Half of the devices have programs of several units.
#[test]
fn every_byte_is_the_last_that_was_written_where_dies_share_their_blocks() {
    let mut seen = Seen::default();
    (0..300).for_each(|seed| check(seed, (seed % 2 == 0, true), &mut seen));
    let Seen { counters, refused, moved, programs, written, padding, drained_in_part, chosen } = seen;
    assert!(refused > 200 && moved > 10_000, "{refused} reads refused, {moved} units moved");
    assert!(
        programs > 80 && chosen > 100,
        "{programs} devices have programs of several units, {chosen} choose"
    );
    assert!(drained_in_part > 5, "{drained_in_part} devices drain in part");
    assert!(counters.absorbed_pages > 1_000 && counters.answered_pages > 1_000, "{counters:?}");
    assert!(counters.trimmed_pages > 50 && counters.waits > 1_000, "{counters:?}");
    assert!(padding > 0 && padding < written, "{padding} of {written} bytes are padding");
}

/// What a page has held, one version for each write or trim of it that was submitted: the token, and the bytes.
type Versions = Vec<(u32, Page)>;

/// What a run in which power is lost has seen.
#[derive(Default)]
struct Lost {
    losses: u64,
    pages: u64,
    /// Writes and trims with FUA that were answered.
    fua: u64,
    /// Of the pages that were looked at after losses, those that were older than the last version.
    older: u64,
    looked_at: u64,
    flushes: u64,
}

/// Random devices whose cache loses what it holds: after each loss every page is, as a whole, one of its versions, and none from before a
/// flush, or a write or trim with FUA, that was answered.
fn check_losses(seed: u64, packs: bool, seen: &mut Lost) {
    let mut rng = Rng::stream(seed, "write cache");
    let (mut config, _) = random_cached(seed, &mut rng, (packs, seed % 4 == 3));
    config.write_cache.power_protected = false;
    let explain = || format!("seed {seed}: {config:#?}");
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("{}: {why}", explain()));
    let pages = ftl.shape().logical_pages;
    let tagged = Tagged { page_bits: ftl.shape().page_bits, ..Tagged::default() };
    let mut device = Device::new(&config, ftl, any(tagged)).expect("the policies are registered");
    let mut versions: Vec<Versions> = vec![vec![(u32::MAX, vec![None; SIZE])]; pages as usize];
    let mut open: BTreeMap<u32, Operation> = BTreeMap::new();
    // By token of a flush: the version of each page that was answered when it came.
    let mut flushes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (mut draws, mut through) = (Rng::stream(seed, "write cache/fua"), BTreeSet::new());
    let (mut now, mut is_trimmed) = (SimTime::ZERO, false);
    for token in 0..300u32 {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400, 4_000]) * rng.below(4));
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        for done in device.completions().drain(..) {
            let number = told_by(done.token).0;
            open.remove(&number).expect("answered once");
            if through.remove(&number) {
                seen.fua += 1;
                for versions in &mut versions {
                    let first = versions.iter().position(|version| version.0 == number).unwrap_or(0);
                    versions.drain(..first);
                }
            }
            for (versions, answered) in versions.iter_mut().zip(flushes.remove(&number).unwrap_or_default()) {
                let first = versions.iter().position(|version| version.0 == answered).unwrap_or(0);
                versions.drain(..first);
                seen.flushes += 1;
            }
        }
        // What a trim has dropped comes to its die soon: power must be lost at once to find what is not there yet.
        if rng.chance(if is_trimmed { 0.5 } else { 0.05 }) {
            device.lose_power(now);
            device.audit();
            device.ftl().audit();
            seen.losses += 1;
            open.clear();
            flushes.clear();
            through.clear();
            let tagged: &Tagged = probe_as(device.probe());
            for (lpn, versions) in (0..).zip(&mut versions) {
                let found = tagged.on_flash(device.ftl(), lpn);
                let is_one = versions.iter().any(|version| version.1 == found);
                assert!(is_one, "{}: page {lpn} is {found:?}, none of {versions:?}", explain());
                seen.older += u64::from(versions.last().is_some_and(|last| last.1 != found));
                seen.looked_at += 1;
                *versions = vec![(u32::MAX, found)];
            }
        }
        let operations = [Operation::Write, Operation::Write, Operation::Write, Operation::Trim];
        let operation = if rng.chance(0.05) { Operation::Flush } else { pick(&mut rng, &operations) };
        let bytes = u64::from(pages) * SIZE as u64;
        let unit = if rng.chance(0.6) { SIZE as u64 } else { 1 };
        let length = (1 + rng.below(bytes.min(4 * SIZE as u64) / unit)) * unit;
        let places = (bytes - length) / unit + 1;
        let near = if rng.chance(0.5) { places.min(8) } else { places };
        let offset = rng.below(near) * unit;
        let (offset, length) = if operation == Operation::Flush { (0, 0) } else { (offset, length) };
        if operation == Operation::Flush {
            let answered = |versions: &Versions| {
                let last = versions.iter().rev().find(|version| !open.contains_key(&version.0));
                last.map_or(u32::MAX, |version| version.0)
            };
            flushes.insert(token, versions.iter().map(answered).collect());
        }
        for (base, versions) in (0..).step_by(SIZE).zip(&mut versions) {
            let within = |byte: u64| byte.saturating_sub(base).min(SIZE as u64) as usize;
            let covered = within(offset)..within(offset + length);
            if covered.is_empty() {
                continue;
            }
            let mut page = versions.last().expect("it has one").1.clone();
            match operation {
                Operation::Write => page[covered.clone()].fill(Some(token)),
                Operation::Trim if covered.len() == SIZE => page.fill(None),
                _ => continue,
            }
            versions.push((token, page));
        }
        let request = SubRequest {
            background: rng.chance(0.1),
            fua: draws.chance(0.2),
            ..SubRequest::new(token_of(token, offset, length), operation, offset, length)
        };
        is_trimmed = request.fua && operation == Operation::Trim;
        if request.fua && operation != Operation::Flush {
            through.insert(token);
        }
        open.insert(token, operation);
        device.submit(now, request).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        device.audit();
    }
    open.insert(300, Operation::Flush);
    device.submit(now, SubRequest { token: 300, ..flush(0) }).expect("room");
    while device.next_wakeup() != SimTime::NEVER {
        let next = device.next_wakeup();
        device.advance_until(next, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
    }
    for done in device.completions().drain(..) {
        open.remove(&told_by(done.token).0).expect("answered once");
    }
    seen.pages += device.counters().write_cache.lost_pages;
    assert!(open.is_empty(), "{}: {open:?} are not answered", explain());
    device.ftl().audit();
    let tagged: &Tagged = probe_as(device.probe());
    for (lpn, versions) in (0..).zip(&versions) {
        let last = versions.last().map(|version| &version.1);
        assert_eq!(Some(&tagged.on_flash(device.ftl(), lpn)), last, "{}: page {lpn}", explain());
    }
}

#[test]
#[ignore = "long: make simulations"]
fn after_a_loss_of_power_every_page_is_one_that_was_written_there_since_the_last_flush_or_fua() {
    for packs in [false, true] {
        let mut seen = Lost::default();
        (0..if packs { 140 } else { 70 }).for_each(|seed| check_losses(seed, packs, &mut seen));
        let Lost { losses, pages, older, looked_at, flushes, fua } = seen;
        let case = format!(
            "{losses} losses, {pages} pages, {older} of {looked_at} older, {flushes} flushes, {fua} FUA"
        );
        assert!(losses > 700 && pages > 500 && older > 500 && flushes > 1_000 && fua > 1_000, "{case}");
    }
}
