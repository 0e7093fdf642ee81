//! Does what is written mean what the documentation says?

use std::collections::BTreeSet;
use std::path::Path;

use harmonia_array::{Befalls, Fault, Rebuild, Scrub, When, WriteHole};
use harmonia_flash::{CommandOrder, Commands, Copyback, LinkOrder};
use harmonia_scenario::presets::{self, Kind};
use harmonia_scenario::schema::Form;
use harmonia_scenario::{Scenario, SpareState, TraceFile, Variant, policies, schema, sweep};
use harmonia_ssd::{
    Allocation, Amount, Arbitration, ControllerConfig, Domain, GcConfig, Order, PolicyConfig, Priority,
};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use harmonia_workload::{
    AddressPattern, Arrival, Choices, Extent, Limit, Phase, SizeDistribution, StreamArrival,
    WorkingSetPattern, WorkloadConfig,
};

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml", &[], None).unwrap_or_else(|error| panic!("{error}"))
}

fn synthetic(scenario: &Scenario) -> &harmonia_workload::SyntheticConfig {
    match &scenario.workload {
        WorkloadConfig::Synthetic(load) => load,
        _ => panic!("not one synthetic load"),
    }
}

fn builtins() -> impl Iterator<Item = (&'static str, Scenario)> {
    presets::list().into_iter().filter(|preset| preset.kind == Kind::Scenario).map(|preset| {
        let trace = TraceFile { paths: vec!["my.csv".into()], format: None, ..TraceFile::default() };
        let trace = preset.name.ends_with("-trace").then_some(&trace);
        let scenario = Scenario::load(preset.name, &[], trace);
        (preset.name, scenario.unwrap_or_else(|error| panic!("{error}")))
    })
}

#[test]
fn every_built_in_scenario_loads_and_its_printed_form_is_stable() {
    for (name, scenario) in builtins() {
        assert_eq!(scenario.name, name);
        assert_eq!(parse(&scenario.to_toml()), scenario, "{name} reads back as another scenario");
        insta::assert_snapshot!(format!("{name}.toml"), scenario.to_toml());
    }
    let (_, first) = builtins().next().unwrap();
    insta::assert_snapshot!("hpc-w.json", serde_json::to_string_pretty(&first).unwrap());
}

/// What is stored of such a drive, and simulated again to explain a request, is the same drive.
#[test]
fn a_unit_of_several_pages_is_a_page_as_wide_in_fewer_planes() {
    let drive = |keys: &str| {
        parse(&format!(
            "[workload]\nrequests = 10\n[workload.arrival]\nprocess = \"closed\"\nqueue_depth = 1\n[workload.size]\ndistribution = \"fixed\"\nmean = \"4KiB\"\n\
             [array]\ndevices = 1\n[ssd]\npreset = \"modern-tlc-1t\"\n{keys}"
        ))
    };
    let wide = drive("ftl.mapping_unit = \"32KiB\"\ntiming.transfer = \"10us\"");
    let keys = "geometry = { page_size = \"32KiB\", planes_per_die = 2, program_planes = 2 }";
    let by_hand = drive(&format!("ftl.mapping_unit = \"32KiB\"\ntiming.transfer = \"20us\"\n{keys}"));
    assert_eq!(wide.array, by_hand.array);
    assert_eq!(parse(&wide.to_toml()).array, wide.array);
}

#[test]
fn every_built_in_scenario_opens_with_its_question() {
    for preset in presets::list().iter().filter(|preset| preset.kind == Kind::Scenario) {
        assert!(preset.summary.contains('?'), "{}: {}", preset.name, preset.summary);
    }
}

#[test]
fn the_written_load_and_the_preset_agree() {
    for name in ["hpc-w", "hpc-r", "hpc-w-skew", "hpc-w-burst-m", "hpc-w-burst-h"] {
        let file = Scenario::load(name, &[], None).unwrap();
        let preset =
            parse(&format!("name = \"{name}\"\nworkload = {{ preset = \"{name}\", requests = 102000 }}"));
        assert_eq!(file, preset, "examples and presets say the same, and defaults are the documented ones");
    }
    let loads = presets::list().into_iter().filter(|preset| preset.kind == Kind::Workload);
    for name in loads.map(|preset| preset.name) {
        let file = Scenario::load(name, &[], None).unwrap();
        if let WorkloadConfig::Streams(file) = &file.workload {
            let preset = parse(&format!("workload.preset = \"{name}\""));
            let WorkloadConfig::Streams(preset) = &preset.workload else { panic!("{name} has streams") };
            assert_eq!(file.streams, preset.streams, "{name}");
            continue;
        }
        let file = synthetic(&file);
        let preset = parse(&format!("workload.preset = \"{name}\""));
        let preset = harmonia_workload::SyntheticConfig {
            limit: file.limit,
            warmup: file.warmup,
            ..synthetic(&preset).clone()
        };
        assert_eq!(*file, preset, "{name}");
    }
}

#[test]
fn defaults_are_the_documented_ones() {
    let scenario =
        Scenario::parse("workload.preset = \"hpc-w\"", "some/folder/mine.toml", &[], None).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("mine", 1));
    assert_eq!((scenario.precondition.fill, scenario.precondition.overwrite), (1.0, 3.0));
    assert_eq!((scenario.array.devices, scenario.array.stripe_unit), (8, 4096));
    assert_eq!(scenario.array.coordination.policy, "local");
    assert_eq!(scenario.array.members.len(), 8);
    let load = synthetic(&scenario);
    assert_eq!((load.limit, load.warmup), (Limit::Requests(100_000), Limit::Requests(2000)));
    let short = parse("workload = { preset = \"hpc-w\", requests = 50 }");
    assert_eq!(synthetic(&short).warmup, Limit::Requests(5));
}

#[test]
fn a_synthetic_load_has_all_its_keys() {
    let scenario = parse(
        r#"
        [workload]
        duration = "60s"
        warmup = "1.5s"
        arrival = { process = "closed", queue_depth = 64 }
        size = { distribution = "normal", mean = "510.53KB", stddev = "4KiB" }
        read_fraction = 1
        address = { pattern = "sequential", footprint = 0.5, skew = 0.25, skew_member = 7 }
        align = false
        "#,
    );
    let load = synthetic(&scenario);
    assert_eq!(load.limit, Limit::Duration(SimDuration(60_000_000_000)));
    assert_eq!(load.warmup, Limit::Duration(SimDuration(1_500_000_000)));
    assert_eq!(load.arrival, Arrival::Closed { queue_depth: 64 });
    assert_eq!(load.size, SizeDistribution::Normal { mean: 510_530, stddev: 4096 });
    assert_eq!((load.address, load.footprint), (AddressPattern::Sequential, Extent::Share(0.5)));
    assert_eq!((load.skew_fraction, load.skew_member, load.align), (0.25, 7, false));
    assert_eq!(parse(&scenario.to_toml()), Scenario { name: "test".into(), ..scenario });
}

/// As `harmonia trace fit` writes it: read, printed and read again.
#[test]
fn streams_of_choices_have_all_their_keys() {
    let scenario = parse(
        r#"
        [workload]
        requests = 1000
        warmup = 0
        align = false
        stream_persistence = 0.25
        arrival = { process = "choices", gaps = ["0s", "1.5ms"], counts = [900, 99], persistence = 0.5 }
        [workload.stream.reads]
        count = 300
        read_fraction = 1.0
        size = { distribution = "choices", sizes = ["512B", "64KiB"], counts = [299, 1], persistence = 0.1 }
        address = { pattern = "working-set", first_touch = 0.5, sequential = 0.25, reuse = 0.5, footprint = "2GiB", start = "0B", align = "512B" }
        [workload.stream.writes]
        count = 700
        size.mean = "4KiB"
        address = { footprint = 0.5, start = "1GiB", align = "4KiB" }
        "#,
    );
    let WorkloadConfig::Streams(load) = &scenario.workload else { panic!("streams") };
    let gaps = vec![SimDuration(0), SimDuration(1_500_000)];
    let choices = Choices { values: gaps, counts: vec![900, 99], persistence: 0.5 };
    assert_eq!((&load.arrival, load.persistence), (&Some(Arrival::Gaps(choices)), 0.25));
    let reads = &load.streams["reads"];
    let sizes = Choices { values: vec![512, 65_536], counts: vec![299, 1], persistence: 0.1 };
    assert_eq!(
        (&reads.arrival, &reads.size),
        (&StreamArrival::Common(vec![300]), &SizeDistribution::Choices(sizes))
    );
    let pattern = WorkingSetPattern { first_touch: 0.5, sequential: 0.25, reuse: 0.5 };
    assert_eq!(reads.address, AddressPattern::WorkingSet(pattern));
    assert_eq!((reads.footprint, reads.start), (Extent::Bytes(2 << 30), Some(Extent::Bytes(0))));
    let writes = &load.streams["writes"];
    assert_eq!((reads.start_unit, writes.start_unit), (512, 4096));
    assert_eq!((writes.footprint, writes.start), (Extent::Share(0.5), Some(Extent::Bytes(1 << 30))));
    assert_eq!(parse(&scenario.to_toml()), Scenario { name: "test".into(), ..scenario });
}

/// A stream that starts late says so again, and one that does not says nothing of it.
#[test]
fn a_stream_starts_late_if_it_says_so() {
    let late = |key: &str| {
        let stream = format!("arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.5{key}");
        parse(&format!("workload.stream.a = {{ {stream} }}"))
    };
    let delay = |scenario: &Scenario| match &scenario.workload {
        WorkloadConfig::Streams(load) => load.streams["a"].start_delay,
        _ => panic!("not a load of streams"),
    };
    let (plain, zero, two) = (late(""), late(", start_delay = \"0s\""), late(", start_delay = \"1.5s\""));
    assert_eq!(
        (delay(&plain), delay(&zero), delay(&two).0),
        (SimDuration::ZERO, SimDuration::ZERO, 1_500_000_000)
    );
    assert!(!plain.to_toml().contains("start_delay") && zero == plain);
    assert!(two.to_toml().contains("start_delay = \"1.5s\""), "{}", two.to_toml());
    assert_eq!(parse(&two.to_toml()), two);
}

#[test]
fn phases_are_read_and_printed() {
    let scenario = parse(
        r#"
        [workload]
        arrival = { process = "phases", gaps = ["1.5ms", "20us"], counts = [10, 90] }
        [workload.stream.a]
        count = [10, 30]
        size.mean = "4KiB"
        address.footprint = 0.5
        [workload.stream.b]
        count = [0, 60]
        size.mean = "4KiB"
        address.footprint = 0.5
        "#,
    );
    let WorkloadConfig::Streams(load) = &scenario.workload else { panic!("streams") };
    let phase = |gap, count| Phase { gap: SimDuration(gap), count };
    assert_eq!(load.arrival, Some(Arrival::Phases(vec![phase(1_500_000, 10), phase(20_000, 90)])));
    assert_eq!(load.streams["b"].arrival, StreamArrival::Common(vec![0, 60]));
    assert_eq!(parse(&scenario.to_toml()), Scenario { name: "test".into(), ..scenario });
}

#[test]
fn what_befalls_members_is_read_and_printed() {
    let scenario = parse(
        r#"
        seed = 7
        workload.preset = "hpc-w"
        [array]
        level = "raid5"
        page_errors = 1e-5
        write_hole = "resync"
        power_loss = [{ at = "2s" }, { request = 700 }]
        spares = 2
        spare_state = "aged"
        rebuild = { min_rate = "2MB/s", max_rate = "50MB/s", depth = 8, step = "1MiB" }
        scrub = { at = "90s", mode = "repair" }
        [[array.failure]]
        device = 2
        at = "1.5s"
        [[array.failure]]
        device = 3
        request = 5000
        kind = "slow"
        factor = 4
        "#,
    );
    let faults = &scenario.array.faults;
    let at = |seconds: f64| SimTime((seconds * 1e9) as u64);
    let events = [
        Fault { device: DeviceId(2), at: When::Time(at(1.5)), what: Befalls::Failure },
        Fault { device: DeviceId(3), at: When::Request(5000), what: Befalls::Slow(4.0) },
    ];
    assert_eq!(faults.events, events);
    assert_eq!((faults.page_errors, faults.spares.len(), faults.seed), (1e-5, 2, 7));
    assert_eq!(scenario.spare_state, SpareState::Aged);
    let rebuild =
        Rebuild { min_rate: 2_000_000, max_rate: 50_000_000, depth: 8, step: 1 << 20, ..Rebuild::default() };
    assert_eq!(faults.rebuild, rebuild);
    assert_eq!(faults.power_losses, [When::Time(at(2.0)), When::Request(700)]);
    assert_eq!(faults.write_hole, WriteHole::Resync);
    assert_eq!(faults.scrub, Some(Scrub { at: at(90.0), repairs: true }));
    assert_eq!(parse(&scenario.to_toml()), Scenario { name: "test".into(), ..scenario });
}

/// A list in `--set` is one value, as other lists are.
#[test]
fn failures_can_be_set_and_swept() {
    let sets = [
        "array.level=raid5",
        "array.page_errors=1e-5",
        "array.failure=[{ device = 1, at = \"1s\" }, { device = 2, request = 5 }]",
        "array.rebuild.min_rate=1MB/s,10MB/s",
    ];
    let variants = sweep("hpc-w", &sets.map(str::to_owned), None).expect("two scenarios");
    let of = |variant: &Variant| {
        let faults = &variant.scenario.array.faults;
        (faults.events.len(), faults.page_errors, faults.rebuild.min_rate)
    };
    assert_eq!(variants.iter().map(of).collect::<Vec<_>>(), [(2, 1e-5, 1_000_000), (2, 1e-5, 10_000_000)]);
}

#[test]
fn a_device_has_all_its_keys() {
    let scenario = parse(
        r#"
        workload.preset = "hpc-w"
        [ssd.geometry]
        page_size = "16KiB"
        [ssd.timing]
        read = ["50us", "78us", "106us"]
        program = ["0.5ms", "1.5ms"]
        transfer = "166MT/s"
        copyback = "plane"
        suspend_program = "20us"
        suspend_erase = "none"
        suspend_host_program = "15us"
        minimum_run = "9us"
        resume = "5us"
        [ssd.controller]
        command_window = 64
        arbitration = "fifo"
        command_overhead = "300ns"
        [ssd.link]
        order = "arrival"
        [ssd.ftl]
        allocation = "pdwc"
        priority = "reads-first"
        multi_plane = true
        [ssd.gc]
        domain = "die"
        hard_threshold = 5
        soft_threshold = "hard + 2"
        stop_threshold = "7.5%"
        victim = "d-choices"
        victim_d = 5
        [array]
        stripe_unit = "64KiB"
        "#,
    );
    let ssd = &scenario.array.members[7].ssd;
    // 16 KiB at 166 million bytes a second, the 98.7 us of HPDC 2018.
    assert_eq!((ssd.timing.transfer, ssd.timing.copyback), (SimDuration(98_699), Copyback::Plane));
    let suspends = (ssd.timing.suspend_program, ssd.timing.suspend_erase, ssd.timing.resume);
    assert_eq!(ssd.timing.suspend_host_program, Some(SimDuration::from_us(15)));
    assert_eq!(ssd.timing.minimum_run, SimDuration::from_us(9));
    let controller = ControllerConfig {
        command_window: Some(64),
        arbitration: Arbitration::Fifo,
        command_overhead: SimDuration(300),
        ..ControllerConfig::default()
    };
    assert_eq!(ssd.controller, controller);
    assert_eq!(ssd.link.order, LinkOrder::Arrival);
    assert_eq!(ssd.timing.read.times(), [50, 78, 106].map(SimDuration::from_us));
    assert_eq!(ssd.timing.program.times(), [500, 1_500].map(SimDuration::from_us));
    assert_eq!(suspends, (Some(SimDuration::from_us(20)), None, SimDuration::from_us(5)));
    assert_eq!(Some(ssd.ftl.allocation), Order::parse("pdwc").map(Allocation::Static));
    assert_eq!((ssd.ftl.priority, ssd.ftl.multi_plane), (Priority::ReadsFirst, true));
    assert_eq!((ssd.gc.domain, ssd.gc.hard_threshold), (Domain::Die, Amount::Blocks(5)));
    assert_eq!(ssd.gc.soft_threshold, Amount::AboveHard(2));
    assert_eq!(ssd.gc.stop_threshold, Amount::Percent(7.5));
    assert_eq!(ssd.gc.victim, PolicyConfig::named("d-choices").with("d", 5));
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

/// Blocks that are free may be said in bytes of the device, of which every allocation unit has its share.
#[test]
fn thresholds_in_bytes() {
    let gc =
        "[ssd.gc]\nhard_threshold = \"1GiB\"\nsoft_threshold = \"hard+64MiB\"\nstop_threshold = \"1.5 GB\"";
    let scenario = parse(&format!("workload.preset = \"hpc-w\"\n[ssd]\npreset = \"tlc-nvme-1t\"\n{gc}"));
    let ssd = &scenario.array.members[0].ssd;
    assert_eq!(ssd.gc.hard_threshold, Amount::Bytes(1 << 30));
    assert_eq!(ssd.gc.soft_threshold, Amount::BytesAboveHard(64 << 20));
    assert_eq!(ssd.gc.stop_threshold, Amount::Bytes(1_500_000_000));
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

#[test]
fn three_letters_name_the_die_and_leave_the_plane_open() {
    let cwd = "workload.preset = \"hpc-w\"\nssd.ftl.allocation = \"cwd\"\n";
    let scenario = parse(&format!("{cwd}ssd.ftl.allocation_unit = \"plane\""));
    let allocation = scenario.array.members[0].ssd.ftl.allocation;
    assert_eq!(Some(allocation), Order::of_dies("cwd").map(Allocation::DynamicPlane));
    assert!(scenario.to_toml().contains("allocation = \"cwd\""), "{}", scenario.to_toml());
    assert_eq!(parse(&scenario.to_toml()), scenario);
    let refused = Scenario::parse(cwd, "test", &[], None).expect_err("dies own their blocks").to_string();
    assert!(refused.contains("ssd.ftl.allocation") && refused.contains("\"plane\""), "{refused}");
}

/// Otherwise what is saved would begin elsewhere when it is run again.
#[test]
fn where_events_begin_is_kept_over_every_preset() {
    for preset in presets::list().into_iter().filter(|preset| preset.kind == Kind::Device) {
        for begins in ["schedule", "soft"] {
            let keys = format!("ssd.preset = \"{}\"\nssd.gc.begins_at = \"{begins}\"", preset.name);
            let scenario = parse(&format!("workload.preset = \"hpc-w\"\n{keys}"));
            assert_eq!(parse(&scenario.to_toml()), scenario, "{keys}");
        }
    }
}

/// `compare` and `advise` hold every drive against collection that takes no time.
#[test]
fn every_drive_can_be_compared_with_the_ideal() {
    for preset in presets::list().into_iter().filter(|preset| preset.kind == Kind::Device) {
        let text = format!("workload.preset = \"hpc-w\"\nssd.preset = \"{}\"", preset.name);
        let ideal = Scenario::parse(&text, "test", &policies::sets_of(policies::IDEAL), None);
        ideal.unwrap_or_else(|error| panic!("{}: {error}", preset.name));
    }
}

#[test]
fn commands_take_one_time_for_all_or_one_for_each_kind() {
    let command = |keys: &str| {
        let text = format!("workload.preset = \"hpc-w\"\n{keys}");
        let scenario = parse(&text);
        assert_eq!(parse(&scenario.to_toml()), scenario, "{}", scenario.to_toml());
        (scenario.array.members[0].ssd.timing.command, scenario.to_toml().contains("[ssd.timing.command]"))
    };
    let ns = |[read, program, erase]: [u64; 3], order| {
        let [read, program, erase] = [read, program, erase].map(SimDuration);
        Commands { read, program, erase, order }
    };
    let fifo = CommandOrder::Fifo;
    assert_eq!(command(""), (Commands::NONE, false), "not written where no command takes time");
    assert_eq!(command("ssd.timing.command = \"300ns\""), (ns([300; 3], fifo), true));
    let table = "ssd.timing.command = { read = \"290ns\", order = \"after-data\" }";
    assert_eq!(command(table), (ns([290, 0, 0], CommandOrder::AfterData), true));
    let drive = "ssd.preset = \"tlc-nvme-1t\"\n";
    assert_eq!(command(drive), (ns([290, 361, 220], fifo), true));
    assert_eq!(
        command(&format!("{drive}ssd.timing.command.erase = \"1us\"")),
        (ns([290, 361, 1_000], fifo), true)
    );
    // Written, or it would come back.
    assert_eq!(command(&format!("{drive}ssd.timing.command = \"0ns\"")), (Commands::NONE, true));
}

/// What `[ssd.gc]` makes of keys and of `--set` flags, for the first member.
fn gc(keys: &str, sets: &[&str]) -> GcConfig {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let text = format!("workload.preset = \"hpc-w\"\n{keys}");
    let scenario = Scenario::parse(&text, "test", &sets, None).unwrap_or_else(|why| panic!("{keys}: {why}"));
    let resolved = scenario.to_toml();
    assert_eq!(
        Scenario::parse(&resolved, "resolved", &[], None).expect("its own words"),
        scenario,
        "{resolved}"
    );
    assert!(!resolved.contains("victim_d") && resolved.matches("slack = ").count() <= 1, "{resolved}");
    scenario.array.members[0].ssd.gc.clone()
}

#[test]
fn policies_have_their_own_keys_and_older_spellings_are_read() {
    let five = PolicyConfig::named("d-choices").with("d", 5);
    for keys in [
        "ssd.gc.victim = { policy = \"d-choices\", d = 5 }",
        "ssd.gc.victim = \"d-choices\"\nssd.gc.victim_d = 5",
        "ssd.gc.victim.policy = \"d-choices\"\nssd.gc.victim_d = 5",
        "ssd.gc.victim_d = 5\narray.member = [{ index = 0, gc.victim = \"d-choices\" }]",
        "ssd.gc.victim_d = 9\narray.member = [{ index = 0, gc.victim = { policy = \"d-choices\", d = 5 } }]",
        "ssd.gc.victim = { policy = \"d-choices\", d = 9 }\narray.member = [{ index = 0, gc.victim_d = 5 }]",
    ] {
        assert_eq!(gc(keys, &[]).victim, five, "{keys}");
    }
    let slack = PolicyConfig::named("slack").with("slack", "1ms");
    for keys in [
        "ssd.gc.schedule = { policy = \"slack\", slack = \"1ms\" }",
        "ssd.gc.schedule = \"slack\"\nssd.gc.slack = \"1ms\"",
    ] {
        assert_eq!(gc(keys, &[]).schedule, slack, "{keys}");
    }
    let saved = "ssd.gc.victim = \"greedy\"\nssd.gc.victim_d = 3\nssd.gc.slack = \"1ms\"";
    let device = gc(saved, &[]);
    assert_eq!((device.victim, device.schedule), ("greedy".into(), "blocking".into()), "for nobody here");
    assert_eq!(gc(saved, &["ssd.gc.schedule=slack"]).schedule, slack, "for a policy that is set later");
}

#[test]
fn a_flag_reaches_the_keys_of_a_policy_and_its_name_alone_keeps_them() {
    let nine = PolicyConfig::named("d-choices").with("d", 9);
    let named = "ssd.gc.victim = \"d-choices\"";
    let with_key = "ssd.gc.victim = { policy = \"d-choices\", d = 9 }";
    assert_eq!(gc(named, &["ssd.gc.victim.d=9"]).victim, nine);
    assert_eq!(gc("", &["ssd.gc.victim=d-choices", "ssd.gc.victim.d=9"]).victim, nine);
    assert_eq!(
        gc(with_key, &["ssd.gc.victim=d-choices"]).victim,
        nine,
        "a sweep meets the policy of the file"
    );
    assert_eq!(gc(with_key, &["ssd.gc.victim=fifo"]).victim, "fifo".into());
}

#[test]
fn members_differ_only_where_they_say() {
    let scenario = parse(
        r#"
        workload.preset = "hpc-w"
        ssd.gc.victim = "fifo"
        [[array.member]]
        index = 3
        capable = false
        [[array.member]]
        index = 5
        ssd = { timing.read = "50us" }
        [[array.member]]
        index = 6
        gc.victim = "random"
        [[array.member]]
        index = 7
        ssd.preset = "msr-slc-32g"
        "#,
    );
    let members = &scenario.array.members;
    assert!(!members[3].capable && members[3].ssd == members[0].ssd);
    assert_eq!(
        (members[5].ssd.timing.read, members[5].ssd.gc.victim.policy.as_str()),
        (SimDuration(50_000).into(), "fifo")
    );
    assert_eq!(members[6].ssd.gc.victim.policy, "random");
    assert_eq!(members[7].ssd.gc.victim.policy, "greedy", "a preset starts afresh");
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

#[test]
fn a_trace_is_found_beside_its_scenario_or_where_the_flag_says() {
    let text =
        "[workload]\nkind = \"trace\"\npath = \"web.csv\"\nformat = \"msr\"\ntime_scale = 0.1\nrequests = 10";
    let path = |trace: Option<&TraceFile>, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        match Scenario::parse(text, "runs/web.toml", &sets, trace).unwrap().workload {
            WorkloadConfig::Trace(trace) => trace,
            _ => panic!("not a trace"),
        }
    };
    assert_eq!(path(None, &[]).paths, [Path::new("runs/web.csv")]);
    assert_eq!(path(None, &["workload.path=web.csv"]).paths, [Path::new("web.csv")]);
    let other =
        path(Some(&TraceFile { paths: vec!["other.csv".into()], format: None, ..TraceFile::default() }), &[]);
    assert_eq!((other.paths[0].as_path(), other.options.format.as_str()), (Path::new("other.csv"), "auto"));
    assert_eq!((other.time_scale, other.limit), (0.1, Some(Limit::Requests(10))));
}

#[test]
fn a_trace_replaces_a_synthetic_load_and_keeps_only_flags() {
    let trace =
        TraceFile { paths: vec!["my.csv".into()], format: Some("msr".into()), ..TraceFile::default() };
    let scenario = Scenario::load("hpc-w", &["workload.requests=7".into()], Some(&trace)).unwrap();
    let WorkloadConfig::Trace(load) = scenario.workload else { panic!("not a trace") };
    assert_eq!(
        (load.limit, load.warmup, load.options.format.as_str()),
        (Some(Limit::Requests(7)), Limit::Requests(0), "msr")
    );
    let wrong =
        TraceFile { paths: vec!["my.csv".into()], format: Some("mrs".into()), ..TraceFile::default() };
    let message = Scenario::load("hpc-w", &[], Some(&wrong)).unwrap_err().to_string();
    assert!(message.contains("--format") && message.contains("msr"), "{message}");
    // A flag that says something of the load that goes is no flag to pass over.
    for flag in ["workload.address.footprint=0.9", "workload.kind=synthetic", "workload.path=other.csv"] {
        let message = Scenario::load("hpc-w", &[flag.to_owned()], Some(&trace)).unwrap_err().to_string();
        assert!(message.contains(&format!("--set {flag}")) && message.contains("trace"), "{message}");
    }
}

#[test]
fn concurrency_is_an_axis_and_members_may_differ_in_it() {
    let axis = "ssd.gc.concurrency.policy=adaptive,conv-0-allch,conv-0.7-allch,conv-0.7-halfch";
    let sets = [axis, "ssd.preset=mt29f-8ch"].map(str::to_owned);
    let variants = sweep("hpc-w", &sets, None).unwrap();
    let policies: Vec<&str> = variants
        .iter()
        .map(|variant| &*variant.scenario.array.members[0].ssd.gc.concurrency.policy)
        .collect();
    assert_eq!(policies, ["adaptive", "conv-0-allch", "conv-0.7-allch", "conv-0.7-halfch"]);

    let toml = "workload.preset = \"hpc-w\"\n\
                ssd.gc.concurrency = { policy = \"adaptive\", low = 0.4, ramp = \"ceil\" }\n\
                array.member = [{ index = 1, gc.concurrency.low = 0.3 }, \
                { index = 2, gc.concurrency.policy = \"fixed\" }]\n";
    let scenario = Scenario::parse(toml, "members", &[], None).unwrap();
    let own = |index: usize| {
        let concurrency = &scenario.array.members[index].ssd.gc.concurrency;
        (&*concurrency.policy, serde_json::to_string(&concurrency.own).unwrap())
    };
    assert_eq!(own(0), ("adaptive", r#"{"low":0.4,"ramp":"ceil"}"#.to_owned()));
    assert_eq!(own(1), ("adaptive", r#"{"low":0.3,"ramp":"ceil"}"#.to_owned()), "laid over those of [ssd]");
    assert_eq!(own(2), ("fixed", "{}".to_owned()), "another policy takes none of them over");
    let again = Scenario::parse(&scenario.to_toml(), "again", &[], None).unwrap();
    assert_eq!(again.array.members, scenario.array.members, "what is printed reads back");
}

#[test]
fn flags_change_and_sweep() {
    let sets = |sets: &[&str]| sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>();
    let flags = sets(&[
        "array.devices=2,4",
        "ssd.gc.hard_threshold=6%",
        "array.coordination.policy=local,reactive-inclusive",
        "workload.arrival={process=\"closed\", queue_depth=4}",
        "name='a,b'",
    ]);
    let variants = sweep("hpc-w", &flags, None).unwrap();
    let labels: Vec<&str> = variants.iter().map(|variant| variant.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "array.devices=2, array.coordination.policy=local",
            "array.devices=2, array.coordination.policy=reactive-inclusive",
            "array.devices=4, array.coordination.policy=local",
            "array.devices=4, array.coordination.policy=reactive-inclusive",
        ]
    );
    let last = &variants[3].scenario;
    assert_eq!((last.array.devices, last.array.members.len(), last.name.as_str()), (4, 4, "a,b"));
    assert_eq!(last.array.members[0].ssd.gc.hard_threshold, Amount::Percent(6.0));
    assert_eq!(synthetic(last).arrival, Arrival::Closed { queue_depth: 4 });
    assert_eq!(sweep("hpc-w", &[], None).unwrap()[0].label, "");
    let many = sets(&["seed=1,2,3,4,5,6,7,8"; 5]);
    assert!(sweep("hpc-w", &many, None).unwrap_err().to_string().contains("4096"));
}

#[test]
fn the_largest_seed_survives_printing() {
    let scenario = parse("seed = 18446744073709551615\nworkload.preset = \"hpc-w\"");
    assert_eq!(parse(&scenario.to_toml()).seed, u64::MAX);
}

/// Flags that give the key at `path` a value, in a scenario where it belongs.
pub fn given(path: &str, value: &str) -> Vec<String> {
    let key = schema::keys().find(|key| key.path == path).expect("a key");
    let mut flags = vec!["workload.preset=hpc-w".to_owned()];
    match path {
        _ if key.meaning.starts_with("trace") => {
            flags = vec!["workload.kind=trace".into(), "workload.path=x".into()];
        }
        "workload.arrival.queue_depth" => flags.push("workload.arrival.process=closed".into()),
        "workload.size.stddev" => flags.push("workload.size.distribution=normal".into()),
        "workload.address.file_size"
        | "workload.address.file_size_min"
        | "workload.address.reads"
        | "workload.address.deletes"
        | "workload.address.delete_batch" => {
            flags.push("workload.address.pattern=files".into());
            flags.push("workload.address.file_size=1MiB".into());
        }
        path if path.starts_with("workload.stream") => {
            flags = vec!["workload.stream.x.address.footprint=0.5".into()];
        }
        "array.member.index" => flags.push(format!("array.member=[{{ index = {value} }}]")),
        path if path.starts_with("array.member.") => {
            let name = path.trim_start_matches("array.member.");
            flags.push(format!("array.member=[{{ index = 0, {name} = {value} }}]"));
        }
        path if path.starts_with("array.failure.") => {
            let needed = match path {
                "array.failure.device" => "",
                "array.failure.factor" => "device = 0, at = \"1s\", kind = \"slow\", ",
                "array.failure.kind" => "device = 0, at = \"1s\", ",
                _ => "device = 0, ",
            };
            let name = path.trim_start_matches("array.failure.");
            flags.push(format!("array.failure=[{{ {needed}{name} = {value} }}]"));
        }
        path if path.starts_with("array.power_loss.") => {
            let name = path.trim_start_matches("array.power_loss.");
            flags.push(format!("array.power_loss=[{{ {name} = {value} }}]"));
        }
        "array.write_hole" => flags.push("array.level=raid5".into()),
        path if path.starts_with("array.journal")
            || path.starts_with("array.bitmap")
            || path == "array.ppl_size" =>
        {
            let kind = match path {
                "array.ppl_size" => "ppl",
                "array.bitmap_chunk" | "array.bitmap_delay" => "bitmap",
                _ => "journal",
            };
            flags.extend(["array.level=raid5".into(), format!("array.write_hole={kind}")]);
        }
        path if path.starts_with("array.s")
            && path != "array.stripe_unit"
            && path != "array.small_write"
            && path != "array.stripe_cache" =>
        {
            flags.push("array.level=raid5".into());
            if path == "array.scrub.mode" {
                flags.push("array.scrub.at=1s".into());
            }
        }
        "array.delay_pre_reads" => {
            flags.extend(["array.level=raid5".into(), "array.stripe_cache=17".into()]);
        }
        "ssd.gc.host_share" => {
            flags.extend(["ssd.gc.trigger=bursts".into(), "ssd.gc.schedule=preemptive".into()]);
        }
        "ssd.gc.last_program" => {
            flags.extend(["ssd.ftl.mapping_unit=4KiB".into(), "ssd.write_cache.size=1MiB".into()]);
        }
        "ssd.write_cache.drain" | "ssd.write_cache.pacer" => flags.push("ssd.preset=modern-tlc-1t".into()),
        path if path.starts_with("array.rebuild") => flags.push("array.level=raid5".into()),
        _ => {}
    }
    let is_of_list = |list: &&str| path.starts_with(*list);
    if !["array.member.", "array.failure.", "array.power_loss."].iter().any(is_of_list) {
        flags.push(format!("{}={value}", path.replace("workload.stream.", "workload.stream.x.")));
    }
    flags
}

/// Values of a form, from end to end.
fn taken(form: &Form) -> Vec<String> {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect();
    match form {
        Form::Whole(least, most) => {
            [*least, least.midpoint(least + 40), *most].map(|value| value.to_string()).into()
        }
        Form::Number(least, most) => {
            [*least, least.midpoint(*most), *most].map(|value| format!("{value:?}")).into()
        }
        Form::Flag => vec!["true".into(), "false".into()],
        Form::OneOf(words) => quoted(words),
        Form::Time => quoted(&["0us", "1.5ms", "3s"]),
        Form::Size => quoted(&["0B", "4KiB", "64MiB"]),
        Form::Rate => quoted(&["1KB/s", "300MB/s"]),
        Form::Transfers => quoted(&["166MT/s"]),
        Form::Share => quoted(&["7.5%"]),
        Form::AboveHard => quoted(&["hard", "hard+3"]),
        Form::Any(forms) => forms.iter().flat_map(taken).collect(),
        Form::List(each) => taken(each).iter().map(|value| format!("[{value}]")).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn what_a_key_takes_is_printed_and_read_again() {
    let mut kept = BTreeSet::new();
    for key in schema::keys() {
        for value in taken(&key.form) {
            let flags = given(key.path, &value);
            if let Ok(scenario) = Scenario::parse("", "test.toml", &flags, None) {
                assert_eq!(parse(&scenario.to_toml()), scenario, "{flags:?}");
                kept.insert(key.path);
            }
        }
    }
    assert!(kept.len() > 90, "{} keys are taken where they belong: {kept:?}", kept.len());
}

/// Every key of the schema is read: a value no key takes is refused by that key, in a scenario where it belongs.
/// The converse, that no other key is read, is asserted by the reader itself.
#[test]
fn the_parser_reads_exactly_the_keys_of_the_schema() {
    for key in schema::keys() {
        let error = match Scenario::parse("", "empty.toml", &given(key.path, "[1979-05-27]"), None) {
            Ok(_) => panic!("`{}` is not read", key.path),
            Err(error) => error,
        };
        let wanted = key
            .path
            .replace("array.member.", "array.member[0].")
            .replace("array.failure.", "array.failure[0].")
            .replace("array.power_loss.", "array.power_loss[0].");
        let wanted = wanted.replace("workload.stream.", "workload.stream.x.");
        let found = error.key().unwrap_or_default();
        assert!(found == wanted || found == format!("{wanted}[0]"), "{}: {error}", key.path);
        assert!(!error.problem().contains("no such key"), "{error}");
    }
}

/// A key that one kind of load has is read or refused beside another kind, never passed over.
#[test]
fn no_kind_of_load_passes_over_a_key() {
    let stream = "workload.stream.x={ arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.5 }";
    let loads: [&[&str]; 3] =
        [&["workload.preset=hpc-w"], &["workload.kind=trace", "workload.path=x"], &[stream]];
    let refused = |load: &[&str], path: &str| {
        let mut flags: Vec<String> = load.iter().map(|&flag| flag.to_owned()).collect();
        assert!(Scenario::parse("", "empty.toml", &flags, None).is_ok(), "{load:?}");
        flags.push(format!("{path}=[1979-05-27]"));
        let scenario = Scenario::parse("", "empty.toml", &flags, None);
        assert!(scenario.is_err(), "`{path}` is passed over beside {load:?}");
    };
    for path in schema::keys().map(|key| key.path).filter(|path| path.starts_with("workload.")) {
        if let Some(name) = path.strip_prefix("workload.stream.") {
            refused(&[stream], &format!("workload.stream.x.{name}"));
            continue;
        }
        loads.iter().for_each(|load| refused(load, path));
        if let Some(name) = path.strip_prefix("workload.address.") {
            refused(&[stream], &format!("workload.stream.x.address.{name}"));
        }
    }
}

/// A part of a drive is printed as the drive and the part, and reads back as the same part.
#[test]
fn a_scaled_drive_reads_back_as_it_was_written() {
    let read = |text: &str| Scenario::parse(text, "test", &[], None).unwrap();
    let text = "workload.preset = \"hpc-w\"\nssd.scale = \"1/8\"";
    let (scenario, full) = (read(text), read("workload.preset = \"hpc-w\""));
    let printed = scenario.to_toml();
    assert!(printed.contains("scale = \"1/8\""), "{printed}");
    assert_eq!(printed.replace("scale = \"1/8\"\n", ""), full.to_toml());
    assert_eq!(read(&printed), scenario);
    let blocks = |scenario: &Scenario| scenario.array.members[0].ssd.geometry.blocks_per_plane;
    let ratio = f64::from(blocks(&full)) / f64::from(blocks(&scenario));
    assert!((7.0..9.0).contains(&ratio), "{ratio}");
    assert_eq!(read(&text.replace("1/8", "1")), full);
}

/// A rating is one of three forms, is printed as it was written, and is nothing else's business.
#[test]
fn a_rating_reads_back_as_it_was_written() {
    let read = |rating: &str| {
        let text = format!("workload.preset = \"hpc-w\"\nssd.rating = {rating}");
        Scenario::parse(&text, "test", &[], None).unwrap()
    };
    for (rating, printed) in [
        ("{ dwpd = 0.5, years = 3 }", "dwpd = 0.5\nyears = 3.0"),
        ("{ tbw = \"7008TB\" }", "tbw = \"7008TB\""),
        ("{ tbw = \"150000000001B\" }", "tbw = \"150000000.001KB\""),
        ("{ cycles = 3000 }", "cycles = 3000"),
    ] {
        let scenario = read(rating);
        let text = scenario.to_toml();
        assert!(text.contains(&format!("[ssd.rating]\n{printed}\n")), "{rating}: {text}");
        assert_eq!(Scenario::parse(&text, "again", &[], None).unwrap(), scenario, "{rating}");
    }
    // One member has another rating: its preset begins afresh.
    let mixed = "workload.preset = \"hpc-w\"\nssd.rating.cycles = 3000\narray.member = [{ index = 0, ssd = { preset = \"msr-slc-32g\", \
                 rating = { dwpd = 1, years = 5 } } }]";
    let members = Scenario::parse(mixed, "test", &[], None).unwrap().array.members;
    assert_eq!(members[0].ssd.rating, Some(harmonia_ssd::Rating::Dwpd { dwpd: 1.0, years: 5.0 }));
    assert_eq!(members[1].ssd.rating, Some(harmonia_ssd::Rating::Cycles(3000)));
}
