//! Is write amplification flash bytes over host bytes, whatever the sizes of requests, units and pages?
//!
//! A probe counts what each device programs, in bytes, and the reported figures are made of the devices' own counters. Without
//! collection closed forms say what every write costs.
//!
//! Not verified here: how background work is counted (`swarm` adds up its parts).

use std::sync::atomic::AtomicBool;

use harmonia_array::Array;
use harmonia_engine::Rng;
use harmonia_metrics::{ArrayReport, CoordinationReport, DeviceReport, DieTraits, Report, Wear};
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::{FlashPage, NoProbe, Origin, Probe};
use harmonia_types::{Counters, HostRequest, IoCause, Lpn, Operation, SimTime};

/// Writes alone, one after the other, and nothing is on the devices yet.
const LOAD: [&str; 7] = [
    "workload.read_fraction=0.0",
    "workload.warmup=0",
    "workload.requests=300",
    "workload.arrival={process=\"closed\", queue_depth=1}",
    "precondition.fill=0.0",
    "precondition.overwrite=0.0",
    "array.devices=6",
];

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = LOAD.iter().chain(sets).map(|&set| set.to_owned()).collect();
    Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(scenario: &Scenario) -> Report {
    let cancel = AtomicBool::new(false);
    let options = RunOptions { checked: true, cancel: &cancel, ..RunOptions::default() };
    run(scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// What a device programs, in bytes, by cause.
struct Counted {
    page: u64,
    bytes: [u64; IoCause::COUNT],
}

impl Probe for Counted {
    fn program(&mut self, _: FlashPage, _: Lpn, cause: IoCause, _: Option<Origin>) {
        self.bytes[cause as usize] += self.page;
    }

    fn copy(&mut self, _: FlashPage, _: FlashPage, _: Lpn) {
        self.bytes[IoCause::Gc as usize] += self.page;
    }
}

/// Random writes to the full devices of a scenario, each of up to `most` bytes in sectors: what a probe counted, what the user
/// wrote, and the figures of the devices' own counters.
fn counted(scenario: &Scenario, most: u64) -> ([u64; IoCause::COUNT], u64, ArrayReport, Vec<DeviceReport>) {
    let array = &scenario.array;
    let states =
        array.members.iter().chain(&array.faults.journal).zip(0..).map(|(member, index): (_, u16)| {
            let mut ftl =
                Ftl::new(&member.ssd, scenario.seed, &format!("device/{index}")).expect("it resolves");
            for unit in 0..ftl.shape().units() {
                for lpn in 0..ftl.shape().unit_pages {
                    ftl.unit(unit).program(lpn, IoCause::Host, None, &mut NoProbe).expect("there is room");
                }
            }
            ftl
        });
    let (page, space) = (array.page_size(), array.layout().logical_bytes());
    let probe = |_| Counted { page, bytes: [0; IoCause::COUNT] };
    let mut array = Array::new(array, states.collect(), None, probe).expect("it is an array");
    let before: Vec<_> = array.every_device().iter().map(|device| device.counters()).collect();
    let mut rng = Rng::stream(scenario.seed, "writes");
    let (mut user, mut now) = (0, SimTime::ZERO);
    for id in 0..3_000 {
        let length = 512 * (1 + rng.below(most / 512));
        let offset = 512 * rng.below((space - length) / 512);
        let operation = Operation::Write;
        array.submit(HostRequest::new(id, now, operation, offset, length)).unwrap();
        user += length;
        while array.completions().is_empty() {
            now = array.next_wakeup();
            array.advance_until(now).expect("it goes on");
        }
        array.completions().clear();
    }
    while array.next_wakeup() != SimTime::NEVER {
        array.advance_until(array.next_wakeup()).expect("it comes to rest");
    }
    let mut bytes = [0; IoCause::COUNT];
    for device in array.every_device() {
        bytes.iter_mut().zip(device.probe().bytes).for_each(|(sum, part)| *sum += part);
    }
    let counters =
        array.every_device().into_iter().zip(before).map(|(device, before)| device.counters().since(&before));
    let counters: Vec<_> = counters.collect();
    let dies = DieTraits { planes: 1, pairs: false, page_size: page };
    let told = ArrayReport::new(
        counters.iter().map(|counters| (counters, dies)),
        Vec::new(),
        CoordinationReport::default(),
        user,
    );
    let devices =
        counters.iter().map(|counters| DeviceReport::new(counters, Wear::default(), dies)).collect();
    (bytes, user, told, devices)
}

#[test]
fn write_amplification_is_bytes_over_bytes() {
    for (sets, most) in [
        (&["array.level=raid0"][..], 4_096),
        (&["array.level=raid0", "ssd.geometry.page_size=16KiB", "array.stripe_unit=16KiB"], 4_096),
        (&["array.level=raid0", "ssd.geometry.page_size=16KiB", "array.stripe_unit=64KiB"], 40_960),
        (&["array.level=raid0", "ssd.geometry.page_size=512B", "array.stripe_unit=4KiB"], 8_192),
        (&["array.level=raid10", "ssd.geometry.page_size=8KiB", "array.stripe_unit=32KiB"], 24_576),
        (&["array.level=raid5", "array.stripe_unit=16KiB"], 65_536),
        (&["array.level=raid5", "ssd.geometry.page_size=16KiB", "array.stripe_unit=32KiB"], 4_096),
        (&["array.level=raid6", "ssd.geometry.page_size=16KiB", "array.stripe_unit=16KiB"], 4_096),
        (&["array.level=raid5", "array.write_hole=journal", "array.stripe_unit=16KiB"], 12_288),
        (
            &[
                "array.level=raid6",
                "array.write_hole=bitmap",
                "ssd.geometry.page_size=8KiB",
                "array.stripe_unit=16KiB",
            ],
            6_144,
        ),
    ] {
        let (bytes, user, told, devices) = counted(&scenario(sets), most);
        let [host, moved, parity, _, log, ..] = bytes;
        assert!(moved > 0, "{sets:?}: there is something to collect");
        assert_eq!(told.flash_bytes_programmed, host + moved + parity + log, "{sets:?}: programmed");
        assert_eq!(
            told.write_amplification,
            Some((host + moved + parity + log) as f64 / user as f64),
            "{sets:?}"
        );
        let parts = told.flash_bytes;
        let of_drives = |part: fn(&DeviceReport) -> u64| devices.iter().map(part).sum::<u64>();
        let programmed = of_drives(|device| device.flash_bytes_programmed);
        assert_eq!(programmed, told.flash_bytes_programmed, "{sets:?}: each on its own");
        // What the array gives to its drives is all but what is collected, and rests of pages.
        let written = of_drives(|device| device.host_bytes_written);
        assert_eq!(written + parts[None] + moved, programmed, "{sets:?}: written");
        assert_eq!(parts[IoCause::Gc], moved, "{sets:?}: collected");
        if told.parity_pages_written == 0 {
            let copies = if sets[0] == "array.level=raid10" { 2 } else { 1 };
            assert_eq!(written, copies * user, "{sets:?}: given to the drives");
        }
    }
}

/// Writes of one block on larger pages, where nothing is collected: each programs a whole page of every member that it changes.
#[test]
fn a_small_write_costs_whole_pages() {
    for (level, pages) in [("raid0", 1.0), ("raid10", 2.0), ("raid5", 2.0), ("raid6", 3.0)] {
        let level = format!("array.level={level}");
        let report = report(&scenario(&[
            &level,
            "ssd.geometry.page_size=16KiB",
            "array.stripe_unit=16KiB",
            "workload.align=false",
            "workload.address.align=4KiB",
            "workload.size={ distribution = \"fixed\", mean = \"4KiB\" }",
        ]));
        assert_eq!(report.array.write_amplification, Some(4.0 * pages), "{level}");
        assert_eq!(report.array.host_bytes_written, 300 * 4_096, "{level}");
    }
}
