//! Logs as a user sees them: are their keys read and printed, what does the report say, and what becomes of a loss of power?

use harmonia_array::WriteHole;
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, Silent, Unobserved, run};
use harmonia_scenario::{Scenario, SpareState};
use harmonia_types::LogCounters;
use harmonia_types::SimDuration;

/// 1 s of small writes.
const TINY: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\narray = { devices = 4, level = \"raid5\", stripe_unit = \"64KiB\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 2000, requests = 2000, warmup = 200, read_fraction = 0.5 }";
const JOURNAL: &str = "array.write_hole=journal";
const PPL: &str = "array.write_hole=ppl";
const BITMAP: &str = "array.write_hole=bitmap";
const LOSES_POWER: &str = "array.power_loss=[{ request = 500 }, { request = 1500 }]";

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TINY, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str]) -> Report {
    let (progress, observe) = (&Silent, &Unobserved);
    let options = RunOptions { checked: true, progress, observe, ..RunOptions::default() };
    run(&scenario(sets), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn log(report: &Report) -> &LogCounters {
    &report.array.write_hole.as_ref().expect("a log is kept").counters
}

#[test]
fn keys_of_logs_are_read_and_printed() {
    let journal = [
        JOURNAL,
        "array.journal.preset=msr-slc-32g",
        "ssd.preset=msr-slc-32g",
        "ssd.gc.min_victims=2",
        "array.journal.size=1GiB",
    ];
    for (sets, hole) in [
        (&journal[..], WriteHole::Journal(1 << 30)),
        (&[JOURNAL, "array.journal.state=aged"], WriteHole::Journal(13 << 20)),
        (&[PPL], WriteHole::PartialParityLog(1 << 20)),
        (&[PPL, "array.ppl_size=512KiB"], WriteHole::PartialParityLog(512 << 10)),
        // A 1024th of 13 MiB is less than a stripe unit.
        (&[BITMAP], WriteHole::Bitmap { chunk: 64 << 10, delay: SimDuration::from_us(5_000_000) }),
        (
            &[BITMAP, "array.bitmap_chunk=1MiB", "array.bitmap_delay=20ms"],
            WriteHole::Bitmap { chunk: 1 << 20, delay: SimDuration::from_us(20_000) },
        ),
    ] {
        let scenario = scenario(sets);
        assert_eq!(scenario.array.faults.write_hole, hole, "{sets:?}");
        let printed = Scenario::parse(&scenario.to_toml(), "test", &[], None).expect("it was printed");
        assert_eq!(printed, scenario, "{}", scenario.to_toml());
    }
    let aged = scenario(&[JOURNAL, "array.journal.state=aged"]);
    assert_eq!((aged.journal_state, aged.spare_state), (SpareState::Aged, SpareState::New));
}

/// What the area takes is missing at the end of the array, and nowhere else.
#[test]
fn a_partial_parity_log_is_taken_from_capacity() {
    let logical = |sets: &[&str]| scenario(sets).array.layout().logical_bytes();
    assert_eq!(logical(&[]) - logical(&[PPL]), 3 << 20);
    assert_eq!(logical(&[]), logical(&[JOURNAL]));
    assert_eq!(report(&[PPL]).array.usable_bytes, logical(&[PPL]));
    let filled = report(&[PPL, "precondition.fill=1.0"]);
    assert_eq!(filled.precondition.fill, 1.0);
}

#[test]
fn a_journal_stands_behind_members_and_spares() {
    let report = report(&[JOURNAL, "array.spares=1"]);
    let kinds: Vec<_> = report.devices.iter().map(|device| (device.spare, device.journal)).collect();
    assert_eq!((report.members(), &kinds[3..]), (4, &[(false, false), (true, false), (true, true)][..]));
    let (log, journal) = (log(&report), &report.devices[5]);
    assert_eq!(report.array.write_hole.as_ref().map(|log| log.kind.as_str()), Some("journal"));
    // A header, a page of data and one of parity, at least.
    assert!(log.log_pages >= 3 * log.log_writes && log.log_writes > 500, "{log:?}");
    assert_eq!((log.replayed_rows, log.full_waits), (0, 0));
    let aged = self::report(&[JOURNAL, "array.journal.state=aged"]).devices.pop().expect("a journal");
    assert!(journal.erases == 0 && aged.erases > 0, "one is new, and the other full");
    assert_eq!(report.devices[4].erases, 0, "the spare stood by");
    let plain = self::report(&[]);
    assert!(report.host.response_ns.write.mean > plain.host.response_ns.write.mean);
    assert!(report.host.blame_ns.parity > plain.host.blame_ns.parity);
}

#[test]
fn after_losses_of_power_logs_are_replayed() {
    for kind in [JOURNAL, PPL] {
        let report = report(&[kind, LOSES_POWER, "workload.arrival.rate=8000"]);
        let log = log(&report);
        assert!(log.replayed_rows > 0 && log.replayed_pages >= log.replayed_rows, "{kind}: {log:?}");
        assert!(log.replay_ns > 0, "{kind}: {log:?}");
        assert_eq!(report.host.requests, 1800);
    }
}

/// Stripes that move go by the log as well, and an SSD that is missing keeps no array from starting again.
#[test]
fn logs_are_kept_of_floating_stripes() {
    let floats = [
        "array.coordination.policy=gaftl",
        "array.stripe_unit=4KiB",
        LOSES_POWER,
        "workload.arrival.rate=8000",
    ];
    for (kind, fails) in [(JOURNAL, false), (JOURNAL, true), (PPL, false), (PPL, true)] {
        let failure = "array.failure=[{ device = 2, request = 300 }]";
        let sets = [&floats[..], &[kind, if fails { failure } else { "seed=1" }]].concat();
        let report = report(&sets);
        let (log, failures) = (log(&report), report.array.failures.as_ref().expect("power is lost"));
        assert!(log.replayed_rows > 0 && log.log_writes > 500, "{kind} {fails}: {log:?}");
        assert_eq!((report.host.requests, failures.lost.pages()), (1800, 0), "{kind} {fails}");
        assert!(failures.resync.is_none(), "{kind} {fails}: a log says what was being written");
        let units_moved = report.array.coordination.counters["units_moved"];
        assert!(units_moved > 0, "{kind} {fails}: {:?}", report.array.coordination.counters);
    }
}

/// A bitmap costs a few pages, slows a few writes, and makes a resync short.
#[test]
fn a_bitmap_is_counted_and_its_chunks_alone_are_gone_through() {
    let hot = "workload.address.footprint=0.03";
    let sets = |hole| [hole, LOSES_POWER, "array.bitmap_delay=20ms", "array.bitmap_chunk=128KiB", hot];
    let report = report(&sets(BITMAP));
    let bitmap = report.array.bitmap.as_ref().expect("a bitmap is kept");
    assert_eq!((bitmap.chunk_bytes, bitmap.pages % (4 * bitmap.writes)), (128 << 10, 0), "{bitmap:?}");
    assert!(bitmap.writes > 2 && bitmap.waits >= 3 && bitmap.dirty_chunks > 2, "{bitmap:?}");
    assert!(report.array.write_hole.is_none() && report.host.requests == 1800);
    let resync = |report: &Report| {
        report.array.failures.as_ref().and_then(|failures| failures.resync).expect("power was lost")
    };
    assert_eq!(resync(&report).work.bytes, bitmap.dirty_chunks * bitmap.chunk_bytes);
    let all = self::report(&["array.write_hole=resync", LOSES_POWER, hot]);
    assert!(resync(&all).work.bytes > 5 * resync(&report).work.bytes && all.array.bitmap.is_none());
    let logical = |sets: &[&str]| scenario(sets).array.layout().logical_bytes();
    // A block on each member takes a stripe.
    assert_eq!(logical(&[]) - logical(&[BITMAP]), 3 * (64 << 10));
}

/// Nothing is said of logs where none is kept.
#[test]
fn without_a_log_nothing_changes() {
    let text = serde_json::to_string(&report(&["array.write_hole=resync"])).expect("JSON");
    assert!(["log_pages", "journal", "write_hole", "bitmap"].iter().all(|key| !text.contains(key)), "{text}");
    assert_eq!(report(&["array.write_hole=resync"]).without_engine(), report(&[]).without_engine());
}
