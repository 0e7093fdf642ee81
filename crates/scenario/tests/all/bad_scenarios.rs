//! What does a person read who made a mistake? One table of mistakes, one snapshot of messages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use harmonia_scenario::{Scenario, schema};

/// A load that works, for mistakes elsewhere.
const LOAD: &str = "workload.preset = \"hpc-w\"\n";
const TINY: &str =
    "workload = { preset = \"hpc-w\", size = { mean = \"16KiB\" } }\nssd.preset = \"tiny-test\"\n";

/// (text, key at fault, what the message must say is allowed)
#[rustfmt::skip]
const MISTAKES: &[(&str, &str, &str)] = &[
    // Not a scenario at all.
    ("name = ", "", "TOML"),
    ("[workload\nkind = 1", "", "TOML"),
    ("seed = 1\nseed = 2", "", "TOML"),
    ("\u{feff}x y z", "", "TOML"),
    // Unknown keys, at every level.
    ("sede = 1", "sede", "seed"),
    ("[workload]\nread_frction = 0.5", "workload.read_frction", "read_fraction"),
    ("[workload.arrival]\nratee = 1", "workload.arrival.ratee", "rate"),
    ("[array.cordination]\npolicy = \"local\"", "array.cordination", "coordination"),
    ("[ssd.gc]\nvictims = \"greedy\"", "ssd.gc.victims", "victim"),
    ("[ssd.gc.concurrency]\npolice = \"x\"", "ssd.gc.concurrency.police", "policy"),
    ("hard_threshold = 5", "hard_threshold", "workload, precondition, array, ssd"),
    ("[array]\nmember = [{ index = 0, capabel = true }]", "array.member[0].capabel", "capable"),
    // Unknown names.
    ("ssd.gc.victim = \"gredy\"", "ssd.gc.victim", "greedy, cost-benefit, fifo, random, d-choices"),
    ("ssd.gc.schedule = \"bloking\"", "ssd.gc.schedule", "blocking, stepwise, preemptive"),
    ("ssd.gc.concurrency.policy = \"none\"", "ssd.gc.concurrency.policy", "unlimited"),
    ("ssd.preset = \"msr-slc-32\"", "ssd.preset", "msr-slc-32g, tlc-nvme-1t, modern-tlc-1t, samsung-pm9a3-960g, solidigm-p5520-1.92t, micron-7450-pro-960g, sk-hynix-pe8110-960g, kioxia-cm7-r-3.84t, micron-mlc-1t, micron-mlc-1t-4p, mt29f-8ch, mt29f-8ch-8k, femu-16g, tiny-test"),
    ("ssd.gc.domain = \"devise\"", "ssd.gc.domain", "die, device, plane, channel"),
    ("ssd.ftl.allocation = \"cwdd\"", "ssd.ftl.allocation", "\"dynamic\", or the letters c, w, d, p"),
    ("ssd.ftl.allocation = \"CWDP\"", "ssd.ftl.allocation", "\"dynamic\", or the letters c, w, d, p"),
    ("ssd.ftl.priority = \"read-first\"", "ssd.ftl.priority", "fifo, reads-first"),
    ("ssd.scale = \"1/1000000\"", "ssd.scale", "a fraction such as"),
    ("ssd.scale = \"0.5\"", "ssd.scale", "a fraction such as"),
    ("ssd = { preset = \"tiny-test\", scale = \"1/64\" }", "ssd.scale", "a fraction such as"),
    ("ssd.scale = \"1/4\"\nworkload = { preset = \"hpc-w\", address.footprint = \"1GiB\" }", "workload.address.footprint", "a share of the array"),
    ("ssd.rating = { dwpd = 1 }", "ssd.rating.dwpd", "{ dwpd = 1, years = 5 }"),
    ("ssd.rating.years = 5", "ssd.rating.years", "{ dwpd = 1, years = 5 }"),
    ("ssd.rating = { dwpd = 1, years = 5, tbw = \"7008TB\" }", "ssd.rating.tbw", "one of"),
    ("ssd.rating = { tbw = \"7008TB\", cycles = 3000 }", "ssd.rating.cycles", "one of"),
    ("ssd.rating = { dwpd = 1, cycles = 3000 }", "ssd.rating.cycles", "one of"),
    ("ssd.rating = { cycles = 0 }", "ssd.rating.cycles", "1 to"),
    ("ssd.rating = { tbw = 7008 }", "ssd.rating.tbw", "7008TB"),
    ("ssd.rating = 3000", "ssd.rating", "dwpd, years, tbw, cycles"),
    ("ssd.ftl.multi_plane = \"yes\"", "ssd.ftl.multi_plane", "true or false"),
    ("ssd.timing.suspend_program = \"never\"", "ssd.timing.suspend_program", "\"none\""),
    ("ssd.timing.suspend_erase = 20", "ssd.timing.suspend_erase", "\"none\""),
    ("ssd.timing.suspend_host_program = true", "ssd.timing.suspend_host_program", "\"none\""),
    ("ssd.controller.command_window = 0", "ssd.controller.command_window", "1 to 65535"),
    ("ssd.controller.arbitration = \"urgent\"", "ssd.controller.arbitration", "round-robin"),
    ("ssd.timing.minimum_run = \"none\"", "ssd.timing.minimum_run", "a time"),
    ("ssd.timing.resume = \"none\"", "ssd.timing.resume", "a time"),
    ("ssd.gc.destination = \"die\"", "ssd.gc.destination", "unit, device"),
    ("ssd.ftl.allocation_unit = \"chip\"", "ssd.ftl.allocation_unit", "die, plane"),
    ("ssd.timing.command = 290", "ssd.timing.command", "290ns"),
    ("ssd.timing.command = \"2h\"", "ssd.timing.command", "at most 1h"),
    ("ssd.timing.command = { write = \"1us\" }", "ssd.timing.command.write", "read, program, erase, order"),
    ("ssd.timing.command.erase = \"none\"", "ssd.timing.command.erase", "a time"),
    ("ssd.timing.command.order = \"lifo\"", "ssd.timing.command.order", "fifo, after-data"),
    ("ssd.link.order = \"fifo\"", "ssd.link.order", "ready, arrival"),
    ("ssd.timing.read = []", "ssd.timing.read", "a list of 2 (MLC) or 3 (TLC)"),
    ("ssd.timing.read = [\"1us\", \"2us\", \"3us\", \"4us\"]", "ssd.timing.read", "a list of 2 (MLC) or 3 (TLC)"),
    ("ssd.timing.program = [\"1us\", \"0us\"]", "ssd.timing.program", "above 0"),
    ("ssd.timing.copyback = true", "ssd.timing.copyback", "\"none\", \"plane\" or \"die\""),
    ("array.coordination.policy = \"reactive-selectiv\"", "array.coordination.policy", "reactive-selective"),
    ("workload.preset = \"hpcw\"", "workload.preset", "hpc-w, hpc-r, hpc-w-skew"),
    ("workload = { kind = \"trace\", path = \"x\", format = \"mrs\" }", "workload.format", "msr"),
    ("workload.kind = \"synthetc\"", "workload.kind", "synthetic, trace"),
    // Planned, not there yet.
    ("workload.address.pattern = \"zipff\"", "workload.address.pattern", "uniform, sequential, zipf, hotspot"),
    ("precondition.warmup_policy = \"own \"", "precondition.warmup_policy", "own, local"),
    ("precondition.overwrite_space = \"footprnt\"", "precondition.overwrite_space", "all, load, footprint"),
    ("workload = { preset = \"w1\" }\narray = { level = \"raid5\", devices = 4 }\nprecondition.overwrite_space = \"footprint\"", "precondition.overwrite_space", "raid0"),
    ("workload = { kind = \"trace\", path = \"x\" }\nprecondition.overwrite_space = \"footprint\"", "precondition.overwrite_space", "generated load"),
    ("array = { level = \"raid5\", devices = 4, scrub.at = \"1s\" }\nprecondition.warmup_policy = \"local\"", "precondition.warmup_policy", "own"),
    ("array.level = \"raid7\"", "array.level", "raid0, raid1, raid10, raid4, raid5, raid6"),
    // Wrong types and units.
    ("workload.deadline = 5", "workload.deadline", "\"5ms\""),
    ("workload.deadline = \"0ms\"", "workload.deadline", "above 0"),
    ("workload.deadline = { reads = \"5ms\" }", "workload.deadline.reads", "read, write"),
    ("workload.deadline = { write = \"5\" }", "workload.deadline.write", "above 0"),
    ("ssd.gc.slack = \"2h\"", "ssd.gc.slack", "at most 1h"),
    ("seed = \"one\"", "seed", "a whole number, 0 to 2^64 - 1"),
    ("name = 3", "name", "text"),
    ("name = \"\"", "name", "1 to 200 characters"),
    ("name = \"a\\u202eb\"", "name", "1 to 200 characters"),
    ("workload = 5", "workload", "requests"),
    ("workload.size = \"4KiB\"", "workload.size", "{ distribution = \"fixed\", mean = \"4KiB\" }"),
    ("ssd.timing.read = 25", "ssd.timing.read", "25us"),
    ("ssd.timing.read = \"25\"", "ssd.timing.read", "25us"),
    ("ssd.timing.erase = \"1.5 parsec\"", "ssd.timing.erase", "1.5ms"),
    ("array.stripe_unit = 4096", "array.stripe_unit", "a multiple of the page size"),
    ("array.link.bandwidth = \"300MB\"", "array.link.bandwidth", "2147MB/s"),
    ("array.link.latency = \"1us\"", "array.link.latency", "bandwidth"),
    ("ssd.link.bandwidth = \"300MB\"", "ssd.link.bandwidth", "300MB/s"),
    ("ssd.geometry.own_pins = 1", "ssd.geometry.own_pins", "true or false"),
    ("ssd.timing.transfer = \"166MT\"", "ssd.timing.transfer", "166MT/s"),
    ("ssd.timing.transfer = \"0MT/s\"", "ssd.timing.transfer", "166MT/s"),
    ("array.member = 3", "array.member", "[[array.member]]"),
    ("workload.arrival.rate = 1979-05-27", "workload.arrival.rate", "requests a second"),
    // Out of range.
    ("seed = -1", "seed", "2^64"),
    ("array.devices = 0", "array.devices", "1 to 1024"),
    ("array.devices = 1025", "array.devices", "1 to 1024"),
    ("workload.requests = 0", "workload.requests", "1 to 10^12"),
    ("workload.arrival.rate = 0", "workload.arrival.rate", "above 0"),
    ("workload.arrival.rate = inf", "workload.arrival.rate", "at most 10^9"),
    ("workload = { preset = \"hpc-w\", read_fraction = 20.12 }", "workload.read_fraction", "0 to 1"),
    ("workload = { preset = \"hpc-w\", read_fraction = nan }", "workload.read_fraction", "0 to 1"),
    ("workload.arrival = { process = \"closed\", queue_depth = 0 }", "workload.arrival.queue_depth", "1 to 65536"),
    ("workload = { preset = \"hpc-w\", size.mean = \"0B\" }", "workload.size.mean", "at least 1B"),
    ("workload = { preset = \"hpc-w\", address.footprint = 0 }", "workload.address.footprint", "above 0"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"zipf\", theta = 0 } }", "workload.address.theta", "at most 10"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"hotspot\", hot_space = 1.0 } }", "workload.address.hot_space", "below 1"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"hotspot\", hot_traffic = 1.5 } }", "workload.address.hot_traffic", "0 to 1"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"zipf\", hot_space = 0.1 } }", "workload.address.hot_space", "hotspot"),
    ("workload = { preset = \"hpc-w\", address.theta = 0.99 }", "workload.address.theta", "zipf"),
    ("precondition.fill = -0.1", "precondition.fill", "0 to 1"),
    ("precondition = { fill = 0, overwrite = 1 }", "precondition.overwrite", "0 (or leave it out)"),
    ("workload = { preset = \"hpc-w\", trim_fraction = 1.5 }", "workload.trim_fraction", "0 to 1"),
    ("workload = { preset = \"hpc-w\", read_fraction = 0.75, trim_fraction = 0.5 }", "workload.trim_fraction", "0 to 0.25"),
    ("workload = { preset = \"hpc-w\", time_scale = 0.5 }", "workload.time_scale", "[workload.stream.NAME]"),
    // Files.
    ("workload = { preset = \"hpc-w\", address.pattern = \"files\" }", "workload.address.file_size", "64MiB"),
    ("workload = { preset = \"hpc-w\", address.file_size = \"1MiB\" }", "workload.address.file_size", "files"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"files\", file_size = \"1MiB\", file_size_min = \"2MiB\" } }", "workload.address.file_size_min", "at most `file_size`"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"files\", file_size = \"1MiB\", reads = \"backwards\" } }", "workload.address.reads", "sequential, random"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"files\", file_size = \"1MiB\", deletes = \"newest\" } }", "workload.address.deletes", "oldest, random"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"files\", file_size = \"1MiB\", delete_batch = 0 } }", "workload.address.delete_batch", "1 to 10^6"),
    // Streams.
    ("workload.stream = 5", "workload.stream", "[workload.stream.NAME]"),
    ("[workload.stream]", "workload.stream", "at least one"),
    ("workload.stream.\"a b\" = {}", "workload.stream", "letters"),
    ("workload.stream.a.rate = 5", "workload.stream.a.rate", "read_fraction"),
    ("workload.stream.a.arrival.ratee = 5", "workload.stream.a.arrival.ratee", "rate"),
    ("workload.stream.a = { address.footprint = 0.5, size.mean = \"4KiB\" }", "workload.stream.a.arrival.rate", "requests a second"),
    ("workload.stream.a = { arrival.rate = 5, size.mean = \"4KiB\" }", "workload.stream.a.address.footprint", "above 0"),
    ("workload.stream.a = { arrival = { process = \"closed\", queue_depth = 5 }, address.footprint = 0.5, size.mean = \"4KiB\" }", "workload.stream.a.arrival.process", "poisson, fixed"),
    ("workload.stream.a = { arrival.rate = 5, address = { footprint = 0.5, skew = 0.5 } }", "workload.stream.a.address.skew", "without streams"),
    ("workload.stream.a = { arrival = { process = \"write-bursts\", rate = 5, burst_rate = 9 }, address.footprint = 0.5, read_fraction = 1 }", "workload.stream.a.read_fraction", "bursts of reads"),
    ("workload.stream.a = { arrival.rate = 5, address.footprint = 0.5, size.mean = \"4KiB\" }\nworkload.read_fraction = 0.5", "workload.read_fraction", "[workload.stream.NAME]"),
    ("workload.stream.a = { arrival.rate = 5, address.footprint = 0.5, size.mean = \"4KiB\" }\nworkload.preset = \"hpc-w\"", "workload.preset", "preset of streams"),
    ("workload = { preset = \"mongodb-like\", arrival.rate = 5 }", "workload.arrival", "[workload.stream.NAME]"),
    ("workload = { preset = \"mongodb-like\", stream.collections.read_fraction = 2 }", "workload.stream.collections.read_fraction", "0 to 1"),
    ("workload = { preset = \"mongodb-like\", stream.collection.read_fraction = 0.5 }", "workload.stream.collection.address.footprint", "above 0"),
    ("precondition.overwrite = 1001", "precondition.overwrite", "0 to 1000"),
    ("ssd.geometry.page_size = \"4000B\"", "ssd.geometry.page_size", "512B"),
    ("ssd.gc.hard_threshold = \"101%\"", "ssd.gc.hard_threshold", "\"5%\""),
    ("ssd.gc.hard_threshold = \"hard+1\"", "ssd.gc.hard_threshold", "\"5%\""),
    ("ssd.gc.soft_threshold = \"hard-1\"", "ssd.gc.soft_threshold", "\"hard+1\""),
    ("ssd.gc.hard_threshold = \"0B\"", "ssd.gc.hard_threshold", "\"8GiB\""),
    ("ssd.gc.soft_threshold = \"hard+4Gb\"", "ssd.gc.soft_threshold", "\"hard+4GiB\""),
    ("ssd.gc.victim_d = 0", "ssd.gc.victim_d", "1 to 1000"),
    ("ssd.gc.victim = 3", "ssd.gc.victim", "the name of a victim policy"),
    ("ssd.gc.victim = { policy = \"gredy\" }", "ssd.gc.victim.policy", "greedy, cost-benefit, fifo"),
    ("ssd.gc.victim = { policy = \"d-choices\", d = 0 }", "ssd.gc.victim.d", "1 to 1000"),
    ("ssd.gc.victim = { policy = \"d-choices\", d = \"3\" }", "ssd.gc.victim.d", "a whole number"),
    ("ssd.gc.victim = { policy = \"greedy\", d = 3 }", "ssd.gc.victim.d", "policy"),
    ("ssd.gc.victim = { d = 3 }", "ssd.gc.victim.d", "policy"),
    ("ssd.gc.victim_d = 3\nssd.gc.victim = { policy = \"d-choices\", d = 3 }", "ssd.gc.victim_d", "one of the two"),
    ("ssd.gc.schedule = { policy = \"slack\", slack = \"2h\" }", "ssd.gc.schedule.slack", "at most 1h"),
    ("ssd.gc.schedule = { policy = \"slack\", slack = 5 }", "ssd.gc.schedule.slack", ""),
    ("ssd.gc.schedule = { policy = \"preemptive\", slack = \"1ms\" }", "ssd.gc.schedule.slack", "policy"),
    ("array.member = [{ index = 0, gc.victim = { policy = \"d-choices\", d = 2000 } }]", "array.member[0].gc.victim.d", "1 to 1000"),
    ("array.coordination.message_latency = \"2h\"", "array.coordination.message_latency", "at most 1h"),
    // Missing, and what does not go together.
    ("name = \"nothing else\"", "workload.arrival.rate", "requests a second"),
    ("workload.arrival.rate = 5", "workload.size.mean", "4KiB"),
    ("workload.kind = \"trace\"", "workload.path", "trace file"),
    ("workload = { preset = \"hpc-w\", requests = 5, duration = \"1s\" }", "workload.duration", "one of"),
    ("workload = { preset = \"hpc-w\", requests = 100, warmup = 100 }", "workload.warmup", "less than the whole load"),
    ("workload = { kind = \"trace\", path = \"x\", read_fraction = 0.5 }", "workload.read_fraction", "time_scale"),
    ("workload = { preset = \"hpc-w\", remap = \"wrap\" }", "workload.remap", "read_fraction"),
    ("workload = { kind = \"trace\", path = \"x\", repeat = 0 }", "workload.repeat", "1 to 10^6"),
    ("workload = { kind = \"trace\", path = \"x\", replay = \"close\" }", "workload.replay", "open, closed, think-times"),
    ("workload = { kind = \"trace\", path = \"x\", queue_depth = 8 }", "workload.queue_depth", "replay = \"closed\""),
    ("workload = { kind = \"trace\", path = \"x\", replay = \"closed\", queue_depth = 0 }", "workload.queue_depth", "1 to 65536"),
    ("workload = { kind = \"trace\", path = \"x\", replay = \"closed\", time_scale = 0.5 }", "workload.time_scale", "think-times"),
    ("workload = { preset = \"hpc-w\", repeat = 2 }", "workload.repeat", "read_fraction"),
    ("workload.arrival = { process = \"closed\", rate = 5, queue_depth = 4 }", "workload.arrival.rate", "queue_depth"),
    ("workload.arrival = { process = \"on-off\", rate = 5 }", "workload.arrival.burst_rate", "above `rate`"),
    ("workload.arrival = { process = \"on-off\", rate = 5, burst_rate = 5.0 }", "workload.arrival.burst_rate", "above 5,"),
    ("workload = { preset = \"hpc-w-burst-m\", arrival.rate = 5000 }", "workload.arrival.rate", "below 4765,"),
    ("workload.arrival = { process = \"on-off\", rate = 5, burst_rate = 50, burst_length = 1 }", "workload.arrival.burst_length", "2 to 10^9"),
    ("workload.arrival = { process = \"write-bursts\", rate = 5, burst_rate = 5 }", "workload.arrival.burst_rate", "above 5,"),
    ("workload = { read_fraction = 1, size.mean = \"4KiB\", arrival = { process = \"write-bursts\", rate = 5, burst_rate = 50 } }", "workload.read_fraction", "leaves no writes"),
    ("workload.arrival = { rate = 5, burst_rate = 50 }", "workload.arrival.burst_rate", "on-off"),
    ("workload.arrival = { process = \"closed\", queue_depth = 4, burst_length = 5 }", "workload.arrival.burst_length", "queue_depth"),
    ("workload = { preset = \"w1\", arrival.rate = 5 }", "workload.arrival.rate", "queue_depth"),
    ("workload = { preset = \"w1\", arrival.process = \"poisson\" }", "workload.arrival.rate", "requests a second"),
    // Choices.
    ("workload = { preset = \"hpc-w\", size.distribution = \"choices\" }", "workload.size.sizes", "a list of 1 to 1000 sizes"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [\"4KiB\"] } }", "workload.size.counts", "whole numbers"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [\"4KiB\"], counts = [1, 2] } }", "workload.size.counts", "as many whole numbers"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [\"4KiB\"], counts = [0] } }", "workload.size.counts", "from 1"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [\"4KiB\", 8], counts = [1, 1] } }", "workload.size.sizes", "[\"4KiB\", \"64KiB\"]"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = \"4KiB\", counts = [1] } }", "workload.size.sizes", "a list"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [], counts = [] } }", "workload.size.sizes", "1 to 1000"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", mean = \"4KiB\" } }", "workload.size.mean", "`sizes` and `counts`"),
    ("workload = { preset = \"hpc-w\", size = { distribution = \"choices\", sizes = [\"4KiB\"], counts = [1], persistence = 1 } }", "workload.size.persistence", "below 1"),
    ("workload = { preset = \"hpc-w\", size.counts = [1] }", "workload.size.counts", "distribution = \"choices\""),
    ("workload = { preset = \"hpc-w\", arrival = { process = \"choices\", gaps = [\"0s\"], counts = [1] } }", "workload.arrival.gaps", "times"),
    ("workload = { preset = \"hpc-w\", arrival = { process = \"choices\", gaps = [\"1s\"], rate = 5 } }", "workload.arrival.rate", "`gaps`"),
    ("workload = { preset = \"hpc-w\", arrival.gaps = [\"1s\"] }", "workload.arrival.gaps", "process = \"choices\""),
    ("workload = { preset = \"hpc-w\", arrival = { process = \"phases\", gaps = [\"1s\"], counts = [1], persistence = 0.5 } }", "workload.arrival.persistence", "process = \"choices\""),
    ("workload = { arrival = { process = \"phases\", gaps = [\"1s\"], counts = [5] }, stream.a = { count = [2, 3], size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream.a.count", "one for each phase"),
    ("workload = { arrival = { process = \"phases\", gaps = [\"1s\"], counts = [5] }, stream.a = { count = [0], size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream.a.count", "1 to 10^12"),
    // Working sets, parts in bytes, common arrivals.
    ("workload = { preset = \"hpc-w\", address.pattern = \"working-set\" }", "workload.address.first_touch", "above 0"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"working-set\", first_touch = 0 } }", "workload.address.first_touch", "above 0"),
    ("workload = { preset = \"hpc-w\", address = { pattern = \"working-set\", first_touch = 1, reuse = 0 } }", "workload.address.reuse", "0.01 to 1000"),
    ("workload = { preset = \"hpc-w\", address.sequential = 0.5 }", "workload.address.sequential", "working-set"),
    ("workload = { preset = \"hpc-w\", address.footprint = \"0B\" }", "workload.address.footprint", "\"2GiB\""),
    ("workload = { preset = \"hpc-w\", address.footprint = \"2\" }", "workload.address.footprint", "\"2GiB\""),
    ("workload = { preset = \"hpc-w\", address.footprint = \"2TiB\" }", "workload.address.footprint", "at most"),
    ("workload = { preset = \"hpc-w\", address.start = 0.5 }", "workload.address.start", "[workload.stream.NAME.address]"),
    ("workload = { preset = \"hpc-w\", address.align = \"512B\" }", "workload.address.align", "`workload.align`"),
    ("workload = { preset = \"hpc-w\", align = false, address.align = \"0B\" }", "workload.address.align", "at least 1B"),
    ("workload = { preset = \"hpc-w\", stream_persistence = 0.5 }", "workload.stream_persistence", "[workload.stream.NAME]"),
    ("workload.stream.a = { count = 5, size.mean = \"4KiB\", address.footprint = 0.5 }", "workload.stream.a.count", "[workload.arrival]"),
    ("workload = { arrival.rate = 5, stream.a = { count = 0, size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream.a.count", "1 to 10^12"),
    ("workload = { arrival.rate = 5, stream.a = { count = 5, arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream.a.count", "without `arrival`"),
    ("workload = { arrival.rate = 5, stream.a = { count = 5, start_delay = \"10s\", size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream.a.start_delay", "`arrival` of its own"),
    ("workload.stream.a = { arrival.rate = 5, start_delay = \"2h\", size.mean = \"4KiB\", address.footprint = 0.5 }", "workload.stream.a.start_delay", "at most 1h"),
    ("workload = { preset = \"hpc-w\", start_delay = \"10s\" }", "workload.start_delay", "kind, preset"),
    ("workload = { arrival = { process = \"closed\", queue_depth = 5 }, stream.a = { count = 5, size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.arrival.process", "poisson, fixed"),
    ("workload = { arrival.rate = 5, stream.a = { arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.arrival", "with `count`"),
    ("workload = { stream_persistence = 0.5, stream.a = { arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.5 } }", "workload.stream_persistence", "with `count`"),
    ("workload.stream.a = { arrival.rate = 5, size.mean = \"4KiB\", address = { footprint = 0.5, start = 1 } }", "workload.stream.a.address.start", "below 1"),
    ("workload.stream.a = { arrival.rate = 5, size.mean = \"4KiB\", address = { footprint = 0.5, start = 0.75 } }", "workload.stream.a.address.footprint", "at most"),
    ("workload = { preset = \"hpc-w\", size.stddev = \"1KB\" }", "workload.size.stddev", "normal"),
    ("workload = { preset = \"hpc-w\", size.distribution = \"normal\" }", "workload.size.stddev", "a size"),
    ("array.coordination = { policy = \"local\", fire_at = \"soft\" }", "array.coordination.fire_at", "message_latency"),
    ("array.coordination = { policy = \"reactive-selective\", delay = \"5ms\" }", "array.coordination.delay", "fire_at = \"soft\""),
    ("array.coordination = { policy = \"proactive-idle\", poll = \"0us\" }", "array.coordination.poll", "1ms"),
    ("array.coordination = { policy = \"proactive-idle\", poll = \"-1us\" }", "array.coordination.poll", "a time such as"),
    ("array.coordination = { policy = \"proactive-idle\", poll = \"9000000h\" }", "array.coordination.poll", "a time such as"),
    ("array.coordination = { policy = \"proactive-soft-limit\", quiet = -1 }", "array.coordination.quiet", "a whole number"),
    ("array.coordination = { policy = \"proactive-idle\", detect = \"pol\" }", "array.coordination.detect", "`poll` or `event`"),
    ("array.coordination = { policy = \"proactive-soft-limit\", min_fragmentation = 5 }", "array.coordination.min_fragmentation", "from 0 to 1"),
    ("ssd.gc.concurrency = { policy = \"fixed\", ramp = \"ceil\" }", "ssd.gc.concurrency.ramp", "policy, start, release, channels, min_invalid"),
    ("ssd.gc.concurrency = { policy = \"conv-0-allch\", start = 0.5 }", "ssd.gc.concurrency.start", "policy"),
    ("ssd.gc.concurrency = { policy = \"adaptive\", min_invalid = 0 }", "ssd.gc.concurrency.min_invalid", "1 or more"),
    ("ssd.gc.concurrency = { policy = \"conv-0-allch\", min_invalid = 64 }", "ssd.gc.concurrency.min_invalid", "1 to 63"),
    ("ssd.gc.concurrency = { policy = \"fixed\", start = 0.5, release = 0.6 }", "ssd.gc.concurrency", "0 to 0.5"),
    ("ssd.gc.concurrency = { low = 0.5 }", "ssd.gc.concurrency.low", "policy"),
    ("ssd.gc.concurrency = { policy = \"fixed\", channels = 9 }", "ssd.gc.concurrency.channels", "1 to 8"),
    ("ssd.gc.concurrency = { policy = \"fixed\", channels = 2.5 }", "ssd.gc.concurrency.channels", "a whole number"),
    ("ssd.gc.concurrency = { policy = \"adaptive\", low = \"half\" }", "ssd.gc.concurrency.low", "a number"),
    ("ssd.gc.concurrency = { policy = \"adaptive\", low = 1.5 }", "ssd.gc.concurrency.low", "0 to 1"),
    ("ssd.gc.concurrency = { policy = \"adaptive\", low = 0.6, high = 0.6 }", "ssd.gc.concurrency", "low < high"),
    ("ssd.gc.concurrency = { policy = \"adaptive\", ramp = \"steep\" }", "ssd.gc.concurrency.ramp", "`floor`, `ceil`, `scaled`"),
    ("ssd.gc.concurrency = { policy = \"idle-time\", idle = \"0us\" }", "ssd.gc.concurrency.idle", "1ms"),
    ("array.member = [{ index = 0, gc.concurrency = { policy = \"fixed\", low = 0.5 } }]", "array.member[0].gc.concurrency.low", "policy, start, release, channels"),
    ("ssd.gc.concurrency.policy = \"fixed\"\narray.member = [{ index = 0, gc.concurrency.start = 7 }]", "array.member[0].gc.concurrency.start", "0 to 1"),
    ("array.coordination = { policy = \"ioda\", mode = \"both\" }", "array.coordination.mode", "`fast-fail`"),
    ("array.coordination = { policy = \"ioda\", buffer = \"100ms\" }", "array.coordination.buffer", "100ms"),
    ("array.coordination = { policy = \"plm\", members = 0 }", "array.coordination.members", "at least 1"),
    ("array.coordination = { policy = \"hedge\", delay = \"1ns\" }", "array.coordination.delay", "1us"),
    ("array.coordination = { policy = \"reactive-inclusive\", fire_at = \"sofd\" }", "array.coordination.fire_at", "`soft` or `hard`"),
    ("array.coordination = { policy = \"reactive-inclusive\", fire_at = 1979-05-27 }", "array.coordination.fire_at", "text"),
];

/// Mistakes in what is said about a trace: (what is said, the key at fault below `workload`, what the message must say).
#[rustfmt::skip]
const ABOUT_A_TRACE: &[(&str, &str, &str)] = &[
    ("path = 5", "path", "a pattern of names"),
    ("path = \"\"", "path", "a pattern of names"),
    ("path = []", "path", "or a list of them"),
    ("path = [\"a.csv\", \"\"]", "path", "or a list of them"),
    ("path = [\"a.csv\", 5]", "path", "or a list of them"),
    ("format = \"spd\"", "format", "did you mean \"spc\"?"),
    ("time_unit = \"us/2\"", "time_unit", "\"100ns\""),
    ("time_unit = \"microseconds\"", "time_unit", "\"us\""),
    ("time_unit = 100", "time_unit", "\"100ns\""),
    ("time_unit = \"0ns\"", "time_unit", "above 0"),
    ("time_unit = \"0.1ns\"", "time_unit", "above 0"),
    ("time_unit = \"2h\"", "time_unit", "at most 1h"),
    ("time_unit = \"\"", "time_unit", "\"s\""),
    ("address_unit = \"sectors\"", "address_unit", "\"512B\""),
    ("address_unit = 0", "address_unit", "1 byte to 1GiB"),
    ("address_unit = 0.5", "address_unit", "a number of bytes"),
    ("size_unit = \"2GiB\"", "size_unit", "1 byte to 1GiB"),
    ("size_unit = true", "size_unit", "\"4KiB\""),
    ("read_is = 2", "read_is", "0 or 1"),
    ("read_is = \"R\"", "read_is", "0 or 1"),
    ("ops = \"r=1/x=2\"", "ops", "names the operation `x`: expected r=1,2,5/w=3,4,6"),
    ("columns = \"op,offset,size\", read_is = 1, ops = \"r=1\"", "ops", "one of the two"),
    ("format = \"msr\", ops = \"r=1\"", "ops", "with format csv"),
    ("event_format = \"%T %S\"", "event_format", "has no %t (nanoseconds)"),
    ("format = \"msr\", event_format = \"%T.%t %a %d %S %n\"", "event_format", "with format blkparse"),
    ("action = \"G\"", "action", "\"issued\" (D)"),
    ("columns = \"time,op,lba\"", "columns", "`lba` is no column (`offset`?)"),
    ("format = \"csv\"", "format", "workload.columns"),
    ("format = \"msr\", columns = \"op,offset,size\"", "columns", "with format csv"),
    ("action = \"complete\"", "action", "did you mean \"completed\"?"),
    ("sort_window = 10", "sort_window", "\"10ms\""),
    ("sort_window = \"-1s\"", "sort_window", "\"10ms\""),
    ("spread = 1", "spread", "true or false"),
    ("same_volumes = \"yes\"", "same_volumes", "true or false"),
    ("volumes = \"\"", "volumes", "\"overlay\", or the name or number of one volume"),
    ("volumes = -1", "volumes", "number of one volume"),
    ("volumes = 1.5", "volumes", "one volume"),
    ("volumes = [\"web_0\", \"web_1\"]", "volumes", "one volume"),
    ("start = 5", "start", "\"90min\""),
    ("end = \"0s\"", "end", "later than `start`"),
    ("start = \"2h\", end = \"2h\"", "end", "a time later than \"2h\""),
    ("start = \"2h\", end = \"90min\"", "end", "is not later than `start` = \"2h\""),
    ("skip_bad = -1", "skip_bad", "0 to 10^12"),
    ("skip_bad = \"10%\"", "skip_bad", "a whole number"),
    ("align = \"4KiB\"", "align", "true or false"),
    ("requests = 10, warmup = 10", "warmup", "less than the whole load"),
    // What the format leaves nothing to choose of; a format found out is told later, by the trace.
    ("format = \"msr\", read_is = 1", "read_is", "has no column of 0 and 1"),
    ("format = \"spc\", action = \"queued\"", "action", "no events to choose from"),
    // Keys of the other kind, and keys misspelt.
    ("arrival = { rate = 5 }", "arrival", "time_scale"),
    ("timeunit = \"us\"", "timeunit", "did you mean `time_unit`?"),
    ("volume = 3", "volume", "did you mean `volumes`?"),
    ("paths = [\"x\"]", "paths", "did you mean `path`?"),
];

/// The same, behind a load that works.
#[rustfmt::skip]
const IMPOSSIBLE: &[(&str, &str, &str, &str)] = &[
    (LOAD, "ssd.ftl.reserved_blocks = \"5%\"", "ssd.ftl.reserved_blocks", "would work"),
    (LOAD, "ssd.geometry.blocks_per_plane = 3", "ssd.ftl.reserved_blocks", "preset msr-slc-32g"),
    (LOAD, "ssd.gc.hard_threshold = \"20%\"", "ssd.gc.hard_threshold", "would work"),
    (LOAD, "ssd.gc.stop_threshold = \"20%\"", "ssd.gc.stop_threshold", "would work"),
    (LOAD, "ssd.gc = { soft_threshold = 3, hard_threshold = 3 }", "ssd.gc.soft_threshold", "must exceed hard"),
    (LOAD, "ssd.gc.soft_threshold = 3", "ssd.gc.soft_threshold", "must exceed hard"),
    (LOAD, "ssd.gc.stop_threshold = 3", "ssd.gc.stop_threshold", "at least hard"),
    (LOAD, "ssd.geometry.summary_pages = 64", "ssd.geometry.summary_pages", "no data page"),
    (LOAD, "[ssd.geometry]\nchannels = 1024\nchips_per_channel = 1024", "ssd.geometry.channels", "65535"),
    (LOAD, "[ssd.geometry]\nchannels = 1024\nblocks_per_plane = 100000", "ssd.geometry.blocks_per_plane", "logical pages"),
    (LOAD, "ssd.timing.read = \"0us\"", "ssd.timing.read", "above 0"),
    (LOAD, "ssd.gc.domain = \"plane\"", "ssd.gc.domain", "ssd.ftl.allocation_unit"),
    (LOAD, "ssd.gc.destination = \"device\"", "ssd.gc.destination", "ssd.ftl.allocation"),
    (LOAD, "array.stripe_unit = \"6KiB\"", "array.stripe_unit", "multiple of the page size"),
    (LOAD, "array.stripe_unit = \"64GiB\"", "array.stripe_unit", "larger than a member"),
    // Levels.
    (LOAD, "array = { level = \"raid5\", devices = 2 }", "array.devices", "needs at least 3 members"),
    (LOAD, "array = { level = \"raid6\", devices = 3 }", "array.devices", "needs at least 4 members"),
    (LOAD, "array = { level = \"raid4\", devices = 1 }", "array.devices", "3 to 1024 devices"),
    (LOAD, "array = { level = \"raid10\", devices = 1 }", "array.devices", "needs at least 2 members"),
    (LOAD, "array = { level = \"raid10\", layout = \"near-4\", devices = 3 }", "array.devices", "raid10 near-4 needs at least 4 members"),
    (LOAD, "array = { level = \"raid1\", devices = 9 }", "array.devices", "at most 8 members"),
    (LOAD, "array = { level = \"raid5\", layout = \"left-symetric\" }", "array.layout", "did you mean \"left-symmetric\"?"),
    (LOAD, "array = { level = \"raid5\", layout = \"left-symmetric-6\" }", "array.layout", "a layout of raid6"),
    (LOAD, "array = { level = \"raid6\", layout = \"near-2\" }", "array.layout", "rotating-n-continue"),
    (LOAD, "array = { level = \"raid10\", layout = \"near-9\" }", "array.layout", "up to 8 copies"),
    (LOAD, "array = { level = \"raid10\", layout = 2 }", "array.layout", "near-2"),
    (LOAD, "array.layout = \"left-symmetric\"", "array.layout", "raid0 has only one layout"),
    (LOAD, "array = { level = \"raid1\", layout = \"near-2\" }", "array.layout", "raid1 has only one layout"),
    (LOAD, "array = { level = \"raid4\", layout = \"parity-last\" }", "array.layout", "raid4 has only one layout"),
    (LOAD, "array.small_write = \"fewest\"", "array.small_write", "raid0 has no parity"),
    (LOAD, "array = { level = \"raid10\", small_write = \"fewest\" }", "array.small_write", "raid10 near-2 has no parity"),
    (LOAD, "array = { level = \"raid5\", small_write = \"rmw\" }", "array.small_write", "fewest, read-modify-write, reconstruct"),
    (LOAD, "array.stripe_cache = 256", "array.stripe_cache", "raid0 has no parity"),
    (LOAD, "array = { level = \"raid5\", stripe_cache = 16 }", "array.stripe_cache", "is too few"),
    (LOAD, "array = { level = \"raid6\", stripe_cache = 40000 }", "array.stripe_cache", "17 to 32768"),
    (LOAD, "array = { level = \"raid5\", stripe_cache = \"1MiB\" }", "array.stripe_cache", "17 to 32768"),
    (LOAD, "array = { level = \"raid5\", delay_pre_reads = true }", "array.delay_pre_reads", "array.stripe_cache above 0"),
    (LOAD, "array = { level = \"raid5\", stripe_cache = 17, delay_pre_reads = 1 }", "array.delay_pre_reads", "true or false"),
    (LOAD, "ssd.gc.host_share = \"20%\"", "ssd.gc.host_share", "ssd.gc.trigger = \"bursts\""),
    (LOAD, "ssd.gc.last_program = \"filled\"", "ssd.gc.last_program", "a mapping unit smaller than a program"),
    // What members reveal.
    (LOAD, "array.interface = \"bussy\"", "array.interface", "did you mean \"busy\"?"),
    (LOAD, "array.interface = 3", "array.interface", "\"nothing\", \"log\", \"window\", \"busy\" or \"command\""),
    (LOAD, "array.poll = \"10ms\"", "array.poll", "no `poll`, or array.interface = \"log\""),
    (LOAD, "array = { interface = \"log\", poll = \"0ms\" }", "array.poll", "above 0"),
    (LOAD, "array.reads = \"avoid\"", "array.reads", "array.level = \"raid1\""),
    (LOAD, "array = { level = \"raid5\", reads = \"hedge\" }", "array.reads", "wait, avoid"),
    (LOAD, "array = { level = \"raid5\", interface = \"nothing\", reads = \"avoid\" }", "array.reads", "sit-out and hedge"),
    (LOAD, "array = { level = \"raid5\", interface = \"window\", reads = \"avoid\" }", "array.reads", "plm and ioda"),
    (LOAD, "array.nvram = \"6KiB\"", "array.nvram", "a multiple of the page size"),
    (LOAD, "array.nvram = 4096", "array.nvram", "64MiB"),
    (LOAD, "array = { level = \"raid0\", coordination.policy = \"serial\" }", "array.coordination.policy", "array.level = \"raid1\", \"raid10\", \"raid4\", \"raid5\", \"raid6\" or \"draid1\", which keep data more than once; or a policy that works here: local"),
    (LOAD, "array.parity_shares = [7, 1, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "array.level = \"raid5\""),
    (LOAD, "array.level = \"raid6\"\narray.parity_shares = [7, 1, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "array.level = \"raid5\""),
    (LOAD, "array.level = \"raid5\"\narray.layout = \"parity-last\"\narray.parity_shares = [7, 1, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "another array.layout"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [7, 1, 1, 1]", "array.parity_shares", "a share for each member"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [7, 0, 0, 0, 0, 0, 0, 0]", "array.parity_shares", "two members or more"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [1000, 997, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "at most 1024"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [1001, 1, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "from 0 to 1000"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [-1, 1, 1, 1, 1, 1, 1, 1]", "array.parity_shares", "from 0 to 1000"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = 70", "array.parity_shares", "a list of whole numbers"),
    (LOAD, "array.free_stripes = 3", "array.free_stripes", "no `free_stripes`, or array.level = \"raid4\", \"raid5\" or \"raid6\""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1000000", "array.free_stripes", "0 to "),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = -1", "array.free_stripes", "a whole number from 0"),
    (LOAD, "array.level = \"raid5\"\narray.coordination = { policy = \"gaftl\", stripes = \"rows\" }", "array.coordination.policy", "array.free_stripes = 1 or more"),
    (LOAD, "array.level = \"draid2:6d\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", stripes = \"rows\" }", "array.coordination.policy", "\"raid4\", \"raid5\" or \"raid6\""),
    (LOAD, "array.level = \"raid6\"\narray.coordination = { policy = \"gaftl\", stripes = \"rows\" }", "array.coordination.policy", "array.free_stripes = 1 or more"),
    (LOAD, "array.level = \"raid6\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", stripes = \"rows\", migration = \"away\" }", "array.coordination.migration", "\"none\""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.write_hole = \"journal\"\narray.coordination = { policy = \"gaftl\", stripes = \"rows\" }", "array.coordination.policy", "no array.power_loss and no array.write_hole"),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", stripes = \"rows\", migration = \"home\" }", "array.coordination.migration", ""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", imbalance = 1.5 }", "array.coordination.imbalance", ""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", forced = 1 }", "array.coordination.forced", ""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.devices = 17\narray.coordination = { policy = \"gaftl\", stripes = \"rows\", migration = \"back\" }", "array.coordination.migration", ""),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\", literal = 1 }", "array.coordination.literal", "a boolean"),
    (LOAD, "array.level = \"raid4\"\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.level = \"raid5\" or \"raid6\"; or array.coordination.stripes = \"rows\""),
    (LOAD, "array.level = \"raid6\"\narray.nvram = \"1MiB\"\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.nvram = \"0B\""),
    (LOAD, "array.level = \"raid6\"\narray.devices = 4\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.devices = 5 to 13, or array.coordination.stripes = \"rows\" with array.free_stripes"),
    (LOAD, "array.level = \"raid6\"\narray.devices = 14\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.devices = 5 to 13, or array.coordination.stripes = \"rows\" with array.free_stripes"),
    (LOAD, "array.level = \"raid5\"\narray.free_stripes = 1\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.free_stripes = 0"),
    (LOAD, "array.level = \"raid5\"\narray.stripe_cache = 17\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.stripe_cache = 0"),
    (LOAD, "array.level = \"raid5\"\narray.nvram = \"1MiB\"\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "array.nvram = \"0B\""),
    (LOAD, "array.level = \"raid5\"\narray.spares = 1\narray.failure = [{ device = 1, at = \"1ms\", kind = \"replace\" }]\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", "kind = \"failure\" or \"slow\""),
    (LOAD, "array = { level = \"raid6\", power_loss = [{ at = \"1ms\" }], coordination = { policy = \"gaftl\" } }\nssd = { preset = \"modern-tlc-1t\", write_cache.power_protected = false }", "array.coordination.policy", "ssd.write_cache.power_protected = true"),
    (LOAD, "array.level = \"raid5\"\narray.devices = 3\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", ""),
    (LOAD, "array.level = \"raid5\"\narray.devices = 14\narray.coordination = { policy = \"gaftl\" }", "array.coordination.policy", ""),
    (LOAD, "array.level = \"raid5\"\narray.coordination = { policy = \"gaftl\", forced = true }", "array.coordination.forced", ""),
    (LOAD, "array.level = \"raid5\"\narray.coordination = { policy = \"gaftl\", migration = \"away\" }", "array.coordination.migration", ""),
    (LOAD, "array = { level = \"raid5\", spares = 1, spare_state = \"aged\", failure = [{ device = 1, at = \"1ms\" }], coordination.policy = \"gaftl\" }", "array.spare_state", "\"new\", or array.coordination.thin = false"),
    (LOAD, "array = { level = \"raid5\", devices = 4, coordination.policy = \"gaftl\" }\nssd = { preset = \"kioxia-cm7-r-3.84t\", scale = \"1/400\", geometry.blocks_per_plane = 14500, ftl.allocation = \"cwdp\" }", "array.coordination", "array.coordination.thin = false"),
    (LOAD, "array.level = \"raid5\"\narray.parity_shares = [3, 1, 1, 1, 1, 1, 1, 1]\narray.coordination.policy = \"gaftl\"", "array.coordination.policy", "array.coordination.thin = false"),
    (LOAD, "array.level = \"raid5\"\narray.coordination = { policy = \"gaftl\", stripes = \"columns\" }", "array.coordination.stripes", ""),
    (LOAD, "array = { interface = \"busy\", coordination.policy = \"gcsync\" }", "array.interface", "array.interface = \"command\", or a policy that works with \"busy\": local"),
    // What befalls members.
    (LOAD, "array.failure = 3", "array.failure", "array of tables"),
    (LOAD, "array.failure = [{ at = \"1s\" }]", "array.failure[0].device", "which member"),
    (LOAD, "array.failure = [{ device = 8, at = \"1s\" }]", "array.failure[0].device", "0 to 7"),
    (LOAD, "array.failure = [{ device = 1 }]", "array.failure[0].at", "`request` does so in requests"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", request = 5 }]", "array.failure[0].request", "either `at` or `request`"),
    (LOAD, "array.failure = [{ device = 1, request = 0 }]", "array.failure[0].request", "1 to 10^12"),
    (LOAD, "array.failure = [{ device = 1, at = 10 }]", "array.failure[0].at", "has no unit"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\" }, { device = 1, request = 5 }]", "array.failure[1].device", "one failure of each device"),
    (LOAD, "array = { level = \"raid5\", spares = 1, failure = [{ device = 1, at = \"1s\", kind = \"replace\", factor = 2 }] }", "array.failure[0].factor", "as fast as before"),
    (LOAD, "array = { level = \"raid5\", spares = 2, failure = [{ device = 1, at = \"1s\", kind = \"replace\" }, { device = 1, at = \"2s\", kind = \"replace\" }] }", "array.failure[1].device", "one replacement"),
    (LOAD, "array = { level = \"raid5\", failure = [{ device = 1, at = \"1s\", kind = \"replace\" }] }", "array.failure[0].kind", "array.spares of at least 1"),
    (LOAD, "array = { level = \"raid5\", spares = 1, failure = [{ device = 1, at = \"1s\", kind = \"replace\" }, { device = 2, at = \"1s\", kind = \"replace\" }] }", "array.failure[0].kind", "only 1 spare"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", kind = \"replace\" }]", "array.failure[0].kind", "a level that has spares"),
    (LOAD, "array = { level = \"raid5\", rebuild.delay = 30 }", "array.rebuild.delay", "has no unit"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", kind = \"slow\" }]", "array.failure[0].factor", "how slow"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", kind = \"slow\", factor = 0.5 }]", "array.failure[0].factor", "1 to 1000"),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", factor = 3 }]", "array.failure[0].factor", "kind = \"slow\""),
    (LOAD, "array.failure = [{ device = 1, at = \"1s\", kind = \"dead\" }]", "array.failure[0].kind", "failure, slow"),
    (LOAD, "array.power_loss = 3", "array.power_loss", "array of tables"),
    (LOAD, "array = { level = \"draid1:2d:1s\", devices = 7, power_loss = [{ request = 5 }] }", "array.power_loss", "\"raid5\" or \"raid6\""),
    (LOAD, "array = { level = \"raid5\", spares = 1, power_loss = [{ at = \"1s\" }] }\nssd = { preset = \"modern-tlc-1t\", write_cache.power_protected = false }", "array.power_loss", "array.spares = 0"),
    (LOAD, "array.power_loss = [{}]", "array.power_loss[0].at", "`request` does so in requests"),
    (LOAD, "array.power_loss = [{ at = \"1s\", request = 5 }]", "array.power_loss[0].request", "either `at` or `request`"),
    (LOAD, "array.power_loss = [{ request = 0 }]", "array.power_loss[0].request", "1 to 10^12"),
    (LOAD, "array.power_loss = [{ at = 10 }]", "array.power_loss[0].at", "has no unit"),
    (LOAD, "array.power_loss = [{ att = \"1s\" }]", "array.power_loss[0].att", "did you mean `at`?"),
    (LOAD, "array.power_loss = [{ at = \"1s\", device = 2 }]", "array.power_loss[0].device", "at, request"),
    (LOAD, "array.write_hole = \"resync\"", "array.write_hole", "keeps data once"),
    (LOAD, "array.level = \"raid5\"\narray.write_hole = \"none\"", "array.write_hole", "resync"),
    (LOAD, "array.level = \"raid10\"\narray.write_hole = \"journal\"", "array.write_hole", "rows with parity"),
    (LOAD, "array.level = \"raid6\"\narray.write_hole = \"ppl\"", "array.write_hole", "one parity that moves"),
    (LOAD, "array = { level = \"raid5\", devices = 65, write_hole = \"ppl\" }", "array.write_hole", "at most 64 members"),
    (LOAD, "array = { level = \"raid5\", devices = 204, write_hole = \"journal\" }", "array.write_hole", "at most 203 members"),
    (LOAD, "array = { level = \"raid5\", ppl_size = \"1MiB\" }", "array.ppl_size", "belongs to write_hole = \"ppl\""),
    (LOAD, "array = { level = \"raid5\", bitmap_chunk = \"1MiB\" }", "array.bitmap_chunk", "belongs to write_hole = \"bitmap\""),
    (LOAD, "array = { level = \"raid5\", write_hole = \"ppl\", bitmap_delay = \"1s\" }", "array.bitmap_delay", "belongs to write_hole = \"bitmap\""),
    (LOAD, "array = { level = \"raid5\", stripe_unit = \"64KiB\", write_hole = \"bitmap\", bitmap_chunk = \"96KiB\" }", "array.bitmap_chunk", "multiple of the stripe unit"),
    (LOAD, "array = { level = \"raid5\", stripe_unit = \"4KiB\", write_hole = \"bitmap\", bitmap_chunk = \"4KiB\" }", "array.bitmap_chunk", "at most 1048576"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"bitmap\", bitmap_delay = \"20us\" }", "array.bitmap_delay", "at least 1ms"),
    (LOAD, "array = { level = \"draid1:2d:1s\", devices = 7, write_hole = \"bitmap\" }", "array.write_hole", "declustered"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"ppl\", journal.size = \"1GiB\" }", "array.journal", "belongs to write_hole = \"journal\""),
    (LOAD, "array = { level = \"raid5\", write_hole = \"ppl\", ppl_size = \"6KiB\" }", "array.ppl_size", "multiple of the page size"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"ppl\", ppl_size = \"64KiB\" }", "array.ppl_size", "leaves no room"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"ppl\", ppl_size = \"1TiB\" }", "array.ppl_size", "half of a member"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal.size = \"1MiB\" }", "array.journal.size", "leaves no room"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal.size = \"1TiB\" }", "array.journal.size", "too large"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal.preset = \"floppy\" }", "array.journal.preset", "msr-slc-32g"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal.state = \"used\" }", "array.journal.state", "new"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal = { preset = \"msr-slc-32g\", state = \"aged\" } }", "array.journal.state", "a preset of its own"),
    (LOAD, "array = { level = \"raid5\", write_hole = \"journal\", journal = 3 }", "array.journal", "a table"),
    (LOAD, "array.failure = [{ device = 1, att = \"1s\" }]", "array.failure[0].att", "did you mean `at`?"),
    (LOAD, "array.page_errors = 1.0", "array.page_errors", "0 to below 1"),
    (LOAD, "array.page_errors = -1e-5", "array.page_errors", "0 to below 1"),
    (LOAD, "array.spares = 1", "array.spares", "nothing to rebuild a spare from"),
    (LOAD, "array = { level = \"raid5\", spares = 65 }", "array.spares", "0 to 64"),
    (LOAD, "array = { level = \"draid1:2d:1s\", devices = 7, spares = 1 }", "array.spares", "distributed spares"),
    (LOAD, "array = { level = \"draid3:4d\", devices = 7 }", "array.level", "three parities are not built"),
    (LOAD, "array = { level = \"draid4:4d\", devices = 8 }", "array.level", "draid1 or draid2"),
    (LOAD, "array = { level = \"draid1:4d:1s\", devices = 8 }", "array.level", "6 or 11 devices"),
    (LOAD, "array = { level = \"draid1:4d:1s\", devices = 3 }", "array.level", "whole groups of 5 and 1 for spares"),
    (LOAD, "array = { level = \"draid1:4d:9c\", devices = 5 }", "array.level", "array.devices says 5"),
    (LOAD, "array = { level = \"draid1:4d:4d\", devices = 5 }", "array.level", "says `d` twice"),
    (LOAD, "array = { level = \"draid1:04d\", devices = 5 }", "array.level", "has `04d`"),
    (LOAD, "array = { level = \"draid1:x\u{e9}\", devices = 5 }", "array.level", "has `x\u{e9}`"),
    (LOAD, "array = { level = \"draid1:0d\", devices = 5 }", "array.level", "groups without data"),
    (LOAD, "array = { level = \"draid1:4d:101s\", devices = 255 }", "array.level", "at most 100 spares"),
    (LOAD, "array = { level = \"draid1:65534d:1s\", devices = 9 }", "array.level", "smaller groups"),
    (LOAD, "array = { level = \"draid1:4d\", devices = 300 }", "array.level", "255"),
    (LOAD, "array = { level = \"draid1:4d\", devices = 5, layout = \"near-2\" }", "array.layout", "only one layout"),
    (LOAD, "array = { level = \"raid5\", spares = 1, spare_state = \"used\" }", "array.spare_state", "new, aged"),
    (LOAD, "array.rebuild.depth = 2", "array.rebuild", "nothing can be rebuilt"),
    (LOAD, "array = { level = \"raid5\", rebuild.depth = 0 }", "array.rebuild.depth", "1 to 256"),
    (LOAD, "array = { level = \"raid5\", rebuild.step = \"6KiB\" }", "array.rebuild.step", "multiple of the page size"),
    (LOAD, "array = { level = \"raid5\", rebuild.step = \"128MiB\" }", "array.rebuild.step", "at most 64MiB"),
    (LOAD, "array = { level = \"raid5\", rebuild.min_rate = \"300MB/s\" }", "array.rebuild.min_rate", "above max_rate"),
    (LOAD, "array = { level = \"raid5\", rebuild.max_rate = \"300MB\" }", "array.rebuild.max_rate", "such as 300MB/s"),
    (LOAD, "array.scrub.at = \"1s\"", "array.scrub", "nothing to compare"),
    (LOAD, "array = { level = \"raid5\", scrub.mode = \"check\" }", "array.scrub.at", "when scrubbing begins"),
    (LOAD, "array = { level = \"raid5\", scrub = { at = \"1s\", mode = \"fix\" } }", "array.scrub.mode", "check, repair"),
    (LOAD, "array = { level = \"raid5\", stripe_unit = \"6KiB\" }", "array.stripe_unit", "multiple of the page size"),
    (LOAD, "array = { level = \"raid6\", stripe_unit = \"64GiB\" }", "array.stripe_unit", "larger than a member"),
    (LOAD, "array = { level = \"raid10\", layout = \"far-2\", stripe_unit = \"20GiB\" }", "array.stripe_unit", "leaves no room"),
    (LOAD, "array = { level = \"raid5\", member = [{ index = 2, ssd.preset = \"tiny-test\" }] }", "array.member[0]", "logical size"),
    ("", "array.level = \"raid4\"\nworkload = { preset = \"hpc-w-skew\", address.skew_member = 7 }", "workload.address.skew_member", "0 to 6"),
    ("", "array.level = \"raid6\"\narray.layout = \"parity-first\"\nworkload.preset = \"hpc-w-skew\"", "workload.address.skew_member", "2 to 7"),
    ("", "array = { level = \"raid1\", devices = 2 }\nworkload.preset = \"hpc-w-skew\"", "workload.address.skew", "holds everything"),
    ("", "array = { level = \"raid10\", layout = \"far-3\", devices = 3 }\nworkload.preset = \"hpc-w-skew\"", "workload.address.skew", "holds everything"),
    ("", "array.level = \"raid5\"\nworkload = { preset = \"hpc-w-skew\", address.skew_rest = \"others\" }", "workload.address.skew_rest", "\"all\""),
    ("", "array = { level = \"raid1\", devices = 2 }\nssd.preset = \"tiny-test\"\nworkload = { preset = \"hpc-w\", size.mean = \"16MiB\" }", "workload.size.mean", "larger than the footprint"),
    ("", "workload = { preset = \"hpc-w\", space = \"1TiB\" }", "workload.space", "more than the array holds"),
    ("", "workload = { preset = \"hpc-w\", space = \"6KiB\" }", "workload.space", "multiple of the page size"),
    ("", "workload = { preset = \"hpc-w\", space = \"64KiB\" }", "workload.size.mean", "larger than the footprint"),
    (LOAD, "[ssd]\npreset = \"tlc-nvme-1t\"\ntiming.copyback = \"none\"\nftl.mapping_unit = \"4KiB\"", "ssd.ftl.mapping_unit", "needs a write cache"),
    (LOAD, "[ssd]\npreset = \"tlc-nvme-1t\"\ntiming.copyback = \"none\"\nftl.allocation_unit = \"die\"\ngc.domain = \"die\"\ngeometry.program_planes = 2", "ssd.geometry.program_planes", "needs a write cache"),
    (LOAD, "[ssd]\npreset = \"tlc-nvme-1t\"\ngeometry = { program_pages = 3, pages_per_block = 1024 }", "ssd.geometry.program_pages", "1023 would be"),
    (LOAD, "ssd.ftl.mapping_unit = \"64KiB\"", "ssd.ftl.mapping_unit", "program_planes must be a multiple of 16, not 1"),
    (LOAD, "[ssd]\npreset = \"tlc-nvme-1t\"\ntiming.copyback = \"none\"\nftl.mapping_unit = \"4KiB\"\nwrite_cache.size = \"1020KiB\"", "ssd.write_cache.size", "\"1MiB\" works"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nwrite_cache.size = \"none\"", "ssd.write_cache.size", "ssd.write_cache.size = \"384KiB\" works"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nwrite_cache.size = \"380KiB\"", "ssd.write_cache.size", "\"384KiB\" works"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nwrite_cache.size = \"188KiB\"", "ssd.write_cache.size", "at least the 48 of one program"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nftl.allocation = \"cwdp\"\nwrite_cache.size = \"2MiB\"", "ssd.write_cache.size", "\"3MiB\" works"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nwrite_cache.size = \"1MiB\"\nftl.allocation = \"cwdp\"", "ssd.write_cache.size", "\"3MiB\" works"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\nwrite_cache.drain = \"partial\"\ngeometry.program_planes = 1", "ssd.write_cache.drain", "ssd.geometry.program_planes above 1"),
    (LOAD, "ssd.write_cache.drain = \"partial\"", "ssd.write_cache.drain", "ssd.geometry.program_planes above 1"),
    (LOAD, "ssd.write_cache.pacer = \"collection\"", "ssd.write_cache.pacer", "a `size` of ssd.write_cache"),
    (LOAD, "ssd.controller.units_per_second = 430000", "ssd.controller.units_per_second", "a `size` of ssd.write_cache"),
    (LOAD, "[ssd]\npreset = \"modern-tlc-1t\"\ncontroller.units_per_second = 0", "ssd.controller.units_per_second", "1 to 10000000"),
    (LOAD, "ssd.ftl.mapping_cache = \"100B\"", "ssd.ftl.mapping_cache", "at least a mapping unit"),
    (LOAD, "ssd.ftl = { mapping_cache = \"1MiB\", allocation = \"dynamic\" }", "ssd.ftl.mapping_cache", "an order of four letters as ssd.ftl.allocation"),
    (LOAD, "ssd.preset = \"modern-tlc-1t\"\nssd.ftl = { mapping_cache = \"1MiB\", allocation = \"cwdp\", superblock = \"drive\" }", "ssd.ftl.mapping_cache", "which pages of the map do not pass"),
    (LOAD, "ssd.ftl.mapping_entry = 8", "ssd.ftl.mapping_entry", "a size as `mapping_cache`"),
    (LOAD, "ssd.ftl = { mapping_cache = \"1MiB\", mapping_entry = 5000 }", "ssd.ftl.mapping_entry", "1 to 4096"),
    (LOAD, "ssd.timing.read_retry.probability = \"60%\"", "ssd.timing.read_retry.probability", "0% to 50%"),
    (LOAD, "ssd.timing.read_retry = \"1%\"", "ssd.timing.read_retry", "a table"),
    (LOAD, "ssd.controller.command_overhead = \"2h\"", "ssd.controller.command_overhead", "at most 1h"),
    (LOAD, "array.member = [{ index = 8 }]", "array.member[0].index", "0 to 7"),
    (LOAD, "array.member = [{ capable = false }]", "array.member[0].index", "which member"),
    (LOAD, "array.member = [{ index = 1 }, { index = 1 }]", "array.member[1].index", "one [[array.member]]"),
    (LOAD, "array.member = [{ index = 2, ssd.preset = \"tiny-test\" }]", "array.member[0]", "logical size"),
    (LOAD, "array.member = [{ index = 2, ssd.geometry.page_size = \"8KiB\" }]", "array.member[0]", "page size"),
    (LOAD, "array.member = [{ index = 2, gc.victim = \"lifo\" }]", "array.member[0].gc.victim", "fifo"),
    (LOAD, "array.member = [{ index = 2, ssd.ftl.reserved_blocks = 3 }]", "array.member[0].ssd.ftl.reserved_blocks", "would work"),
    (TINY, "array = { devices = 2, stripe_unit = \"4MiB\" }\nworkload.size.mean = \"1GiB\"", "", "TOML"),
    ("", "workload = { preset = \"hpc-w\", size.mean = \"1GiB\" }\nssd.preset = \"tiny-test\"", "workload.size.mean", "larger than the footprint"),
    ("", "workload = { preset = \"hpc-w\", address = { pattern = \"hotspot\", hot_space = 1e-7 } }", "workload.size.mean", "the hot or the cold part"),
    ("", "workload = { preset = \"hpc-w-skew\", address.skew_member = 8 }", "workload.address.skew_member", "0 to 7"),
    ("", "[ssd]\npreset = \"tiny-test\"\n[workload]\npreset = \"cassandra-like\"\n[workload.stream.tables.address]\nfile_size = \"1GiB\"", "workload.stream.tables.address.file_size", "larger than the footprint"),
    ("", "[ssd]\npreset = \"tiny-test\"\n[workload]\npreset = \"cassandra-like\"\n[workload.stream.tables]\naddress.file_size = \"1MiB\"\nsize.mean = \"2MiB\"", "workload.stream.tables.size.mean", "larger than a file"),
    ("", "[workload]\npreset = \"cassandra-like\"\n[workload.stream.zoo]\narrival.rate = 5\nsize.mean = \"4KiB\"\naddress.footprint = 0.5", "workload.stream.zoo.address.footprint", "at most 1"),
    ("", "workload = { preset = \"hpc-w-skew\", address = { pattern = \"files\", file_size = \"1MiB\", skew = 0.5 } }", "workload.address.skew", "0 with files"),
    ("", "workload = { preset = \"hpc-w-skew\", address.footprint = 0.000001 }", "workload.size.mean", "on one member"),
];

/// Long lists of names as messages have them: all keys of a table, all that one kind of load has; the longest first.
static LISTS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for key in schema::keys() {
        for (at, _) in key.path.match_indices('.') {
            let (table, name) = (&key.path[..at], key.path[at + 1..].split('.').next().unwrap_or_default());
            let names = tables.entry(table).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let of_a_kind = |is_trace: bool| {
        let is_foreign = |name: &&str| {
            let key = schema::keys().find(|key| key.path.strip_prefix("workload.") == Some(*name));
            key.is_some_and(|key| !key.owner.is_empty() && key.owner.starts_with("trace") != is_trace)
        };
        tables["workload"].iter().copied().filter(|name| !is_foreign(name)).collect()
    };
    let mut lists = vec![of_a_kind(false), of_a_kind(true)];
    lists.extend(tables.into_values().filter(|names| names.len() > 8));
    lists.sort_by_key(|names| usize::MAX - names.len());
    lists
});

/// A message whose lists of names are cut short if they are whole, so that a new key changes none of the others' messages.
fn cut(message: &str) -> String {
    let short = |names: &[&str]| format!("{}, .. {}", names[0], names[names.len() - 1]);
    LISTS.iter().fold(message.to_owned(), |message, names| message.replace(&names.join(", "), &short(names)))
}

#[test]
fn every_mistake_is_explained() {
    let all = MISTAKES.iter().map(|&(text, key, allowed)| ("", text, key, allowed));
    let (mut report, mut wrong) = (String::new(), String::new());
    for (before, text, key, allowed) in all.chain(IMPOSSIBLE.iter().copied()) {
        let whole = format!("{before}{text}");
        let error = match Scenario::parse(&whole, "mistake.toml", &[], None) {
            Ok(_) => panic!("accepted: {whole}"),
            Err(error) => error,
        };
        let message = error.to_string();
        if error.key().unwrap_or("") != key || !message.contains(allowed) {
            writeln!(wrong, "not `{key}`, or without `{allowed}`:\n{message}\n").unwrap();
        }
        assert!(message.contains("mistake.toml"), "{message}");
        if let (Some(line), Some(column)) = (error.line(), error.column()) {
            assert!(message.contains(&format!("mistake.toml:{line}:{column}")), "{line}:{column}\n{message}");
        } else {
            assert!(message.contains("is missing"), "no line:\n{message}");
        }
        writeln!(report, "{}\n", cut(&message)).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    insta::assert_snapshot!(report);
}

#[test]
fn every_mistake_about_a_trace_is_explained() {
    let (mut report, mut wrong) = (String::new(), String::new());
    for (said, key, allowed) in ABOUT_A_TRACE {
        let path = if said.starts_with("path =") { "" } else { "path = \"x\", " };
        let whole = format!("workload = {{ kind = \"trace\", {path}{said} }}");
        let error = match Scenario::parse(&whole, "mistake.toml", &[], None) {
            Ok(_) => panic!("accepted: {whole}"),
            Err(error) => error,
        };
        let message = error.to_string();
        let is_right = error.key().is_some_and(|found| found.starts_with(&format!("workload.{key}")));
        if !is_right || !message.contains(allowed) || !message.contains("mistake.toml:1:") {
            writeln!(wrong, "not `{key}`, or without `{allowed}`:\n{message}\n").unwrap();
        }
        // The line is long and says nothing: what is said about it does.
        let told = message.lines().filter(|line| !line.contains('|') && !line.contains("-->"));
        writeln!(report, "{said}\n{}\n", cut(&told.collect::<Vec<_>>().join("\n"))).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    insta::assert_snapshot!(report);
}

#[test]
fn every_flag_mistake_names_its_flag() {
    let mut report = String::new();
    for flag in [
        "seed",
        "=1",
        "seed=",
        "se ed=1",
        "a..b=1",
        "ssd.gc.victim=gredy",
        "ssd.gc.hard_threshold=5%%",
        "array.coordination.policy=reactive-inclusve",
        "array.member.0.capable=false",
        "name.x=1",
        "workload.sizes.mean=4KiB",
        "ssd.ftl.reserved_blocks=2",
        "ssd.gc.stop_threshold=20%",
        "workload.arrival={process=\"closed\"}",
        "array.devices=2,4",
        "array.devices=2,,4",
        "array.failure=[{ device = 9, at = \"1s\" }]",
        "array.failure.0.device=1",
        "array.power_loss.0.at=1s",
    ] {
        let flags = ["seed=3".to_owned(), flag.to_owned()];
        let error = Scenario::parse(LOAD, "base.toml", &flags, None).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("--set") && message.contains("allowed: "), "{message}");
        assert_eq!(error.line(), None);
        writeln!(report, "{}\n", cut(&message)).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn files_that_cannot_be_read_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("binary"), b"name = \"x\"\nseed = \xff").unwrap();
    std::fs::write(path("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
    let says = |source: &str, what: &str| {
        let message = Scenario::load(source, &[], None).unwrap_err().to_string();
        assert!(message.contains(what) && message.contains("allowed: "), "{message}");
    };
    says(&path("binary"), ":2: byte 18 is not UTF-8");
    says(&path("large"), "larger than 1048576 bytes");
    says(&path("absent"), "neither a file nor a built-in scenario");
    says(&path(""), "cannot be read");
    says("hcp-w", "did you mean `hpc-w`?");
    says("", "neither a file");
    says("a\0b", "cannot be read");
}

/// The size of a write cache that a message names works, and no smaller one does.
#[test]
fn the_smallest_cache_for_programs_of_several_units_is_the_one_that_is_named() {
    for (allocation, size) in [("dynamic", 384), ("cwdp", 16 * 192)] {
        let with = |kib: u64| {
            let ssd = format!("preset = \"modern-tlc-1t\"\nftl.allocation = \"{allocation}\"");
            let text = format!("{LOAD}[ssd]\n{ssd}\nwrite_cache.size = \"{kib}KiB\"");
            Scenario::parse(&text, "cache.toml", &[], None)
        };
        assert!(with(size).is_ok() && with(size - 1).is_err(), "{allocation}: {size} KiB");
    }
}
