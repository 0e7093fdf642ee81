//! Keys of `[workload]`: where requests come from.

use harmonia_trace::{AUTO, Action, Columns, EventFormat, FORMATS, OperationCodes};
use harmonia_types::units::{format_duration, parse_duration};
use harmonia_types::{Bytes, SimDuration};
use harmonia_workload::{
    AddressPattern, Extent, FileDeletes, FilePattern, FileReads, Limit, Pacing, Remap, SkewRest, Volumes,
    WorkingSetPattern,
};

use super::kinds::{
    ANY, Kind, above, below, between, choice, count, flag, is_integer, is_list, is_text, like, long_time,
    meant, members, named, number, opened, positive_time, size, table, text, unlike, whole,
};
use super::{Declared, Form, Key, MOST_REQUESTS, declare};
use crate::presets::{Kind as PresetKind, stand_in, workload as presets};
use crate::read::Field;
use crate::tree::{Place, Value};

const FASTEST: f64 = 1e9;
const MOST_CHOICES: usize = 1000;

/// What `preset` may be.
fn preset_names() -> impl Iterator<Item = &'static str> {
    let loads = presets::PRESETS.iter().map(|preset| preset.name);
    loads.chain(stand_in::PRESETS.iter().map(|preset| preset.name))
}

/// What `format` may be.
fn formats() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(FORMATS.iter().map(|format| format.name))
}

fn warmup() -> Kind<Limit> {
    let requests = whole(0, MOST_REQUESTS).map(Limit::Requests, |limit| match limit {
        Limit::Requests(requests) => Some(*requests),
        Limit::Duration(_) => None,
    });
    let duration = long_time(0).map(Limit::Duration, |limit| match limit {
        Limit::Requests(_) => None,
        Limit::Duration(duration) => Some(*duration),
    });
    requests
        .or(|value| !is_integer(value), duration)
        .saying("a whole number of requests or a time such as \"10s\", less than the whole load")
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Process {
    Poisson,
    Fixed,
    OnOff,
    WriteBursts,
    Choices,
    Phases,
    Closed,
}

const PROCESSES: &[(&str, Process)] = &[
    ("poisson", Process::Poisson),
    ("fixed", Process::Fixed),
    ("on-off", Process::OnOff),
    ("write-bursts", Process::WriteBursts),
    ("choices", Process::Choices),
    ("phases", Process::Phases),
    ("closed", Process::Closed),
];

/// How often each of some values occurs.
fn counts() -> Kind<Vec<u64>> {
    whole(1, MOST_REQUESTS).list(1, MOST_CHOICES).saying("a list of as many whole numbers from 1 to 10^12")
}

/// A share of draws that repeat the one before.
fn persistence() -> Kind<f64> {
    below(0.0, 1.0, "leaves nothing but the first value")
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Fixed,
    Exponential,
    Normal,
    Choices,
}

const SHAPES: &[(&str, Shape)] = &[
    ("fixed", Shape::Fixed),
    ("exponential", Shape::Exponential),
    ("normal", Shape::Normal),
    ("choices", Shape::Choices),
];

/// Patterns as they are with defaults, or before their keys are read.
const PATTERNS: &[(&str, AddressPattern)] = &[
    ("uniform", AddressPattern::Uniform),
    ("sequential", AddressPattern::Sequential),
    ("zipf", AddressPattern::Zipf { theta: 0.99 }),
    ("hotspot", AddressPattern::Hotspot { hot_space: 0.2, hot_traffic: 0.8 }),
    (
        "working-set",
        AddressPattern::WorkingSet(WorkingSetPattern { first_touch: 1.0, sequential: 0.0, reuse: 1.0 }),
    ),
    (
        "files",
        AddressPattern::Files(FilePattern {
            smallest: 0,
            largest: 0,
            reads: FileReads::Sequential,
            deletes: FileDeletes::Oldest,
            delete_batch: 1,
        }),
    ),
];

/// A part of the space: a share of it, or so many bytes at least.
fn extent(share: Kind<f64>, least: Bytes) -> Kind<Extent> {
    let share = share.map(Extent::Share, |extent| match extent {
        Extent::Share(share) => Some(*share),
        Extent::Bytes(_) => None,
    });
    let bytes = size(least, ANY).map(Extent::Bytes, |extent| match extent {
        Extent::Share(_) => None,
        Extent::Bytes(bytes) => Some(*bytes),
    });
    share.or(is_text, bytes)
}

/// One number, or one for each phase.
fn part() -> Kind<Vec<u64>> {
    let one = whole(1, MOST_REQUESTS).map(
        |count| vec![count],
        |counts| match counts.as_slice() {
            [one] => Some(*one),
            _ => None,
        },
    );
    one.or(is_list, whole(0, MOST_REQUESTS).list(1, MOST_CHOICES))
}

/// One name or a list of names, each with where it stands.
fn paths(words: &str) -> Kind<Vec<(String, Place)>> {
    let is_name = |name: &String| !name.is_empty() && !name.contains('\0');
    let name = text("").checked(is_name, "is not the name of a file");
    let form = Form::Any(vec![Form::Text, Form::List(Box::new(Form::Text))]);
    let read = move |field: &Field<'_>| {
        let nodes = match &field.node.value {
            Value::List(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(field.node),
        };
        if nodes.is_empty() {
            return Err(field.fault("names no file"));
        }
        nodes.iter().map(|node| Ok((name.read(&field.of(node))?, node.place))).collect()
    };
    Kind::new(form, words, read, |_| None)
}

/// A unit of time in ns: a time, or the bare name of a unit.
fn tick(words: &str) -> Kind<u64> {
    let read = |text: &str| {
        let is_bare = text.trim().bytes().all(|byte| byte.is_ascii_alphabetic());
        let written = if is_bare { format!("1{}", text.trim()) } else { text.to_owned() };
        match parse_duration(&written) {
            // Units beyond an hour are misunderstandings; the readers of traces say so too.
            Ok(tick) if (1..=3_600_000_000_000).contains(&tick.0) => Ok(tick.0),
            Ok(_) => Err("is out of range".to_owned()),
            Err(_) => Err("is not a unit of time".to_owned()),
        }
    };
    meant(words, read, |tick| format_duration(SimDuration(*tick)))
}

/// A unit of addresses or sizes: a size, or a number of bytes.
fn unit() -> Kind<Bytes> {
    const LARGEST: Bytes = 1 << 30;
    let (bytes, number) = (size(1, LARGEST), whole(1, LARGEST));
    let read = move |field: &Field<'_>| match field.node.value {
        Value::Text(_) => bytes.read(field),
        Value::Integer(_) => number.read(field),
        _ => Err(unlike(field, "a size")),
    };
    let form = Form::Any(vec![Form::Size, whole(1, LARGEST).form]);
    let words = "a size such as \"512B\" or \"4KiB\", or a number of bytes; 1 byte to 1GiB";
    Kind::new(form, words, read, |unit| size(1, LARGEST).show(unit))
}

/// Events by their names, and by blkparse's letters for them.
const EVENTS: &[(&str, Action)] = &[
    ("queued", Action::Queued),
    ("inserted", Action::Inserted),
    ("issued", Action::Issued),
    ("completed", Action::Completed),
    ("Q", Action::Queued),
    ("I", Action::Inserted),
    ("D", Action::Issued),
    ("C", Action::Completed),
];

fn action(words: &str) -> Kind<Action> {
    let (events, shown) = (choice(EVENTS), choice(EVENTS));
    let read = move |field: &Field<'_>| events.read(field).map_err(|fault| field.fault(fault.problem));
    let names = EVENTS.iter().map(|(name, _)| *name).filter(|name| name.len() > 1);
    Kind::new(Form::OneOf(names.collect()), words, read, move |action| shown.show(action))
}

/// Where a trace's volumes lie, or the one that is wanted.
fn volumes(words: &str) -> Kind<(Volumes, Option<String>)> {
    let number = whole(0, u64::MAX);
    let form = Form::Any(vec![Form::Text, number.form.clone()]);
    let read = move |field: &Field<'_>| match &field.node.value {
        Value::Integer(_) => Ok((Volumes::Overlay, Some(number.read(field)?.to_string()))),
        Value::Text(text) => match text.as_str() {
            "apart" => Ok((Volumes::Apart, None)),
            "overlay" => Ok((Volumes::Overlay, None)),
            "" => Err(field.fault("is not the name of a volume")),
            name => Ok((Volumes::Overlay, Some(name.to_owned()))),
        },
        _ => Err(unlike(field, "text or a whole number")),
    };
    Kind::new(form, words, read, |volumes| match volumes {
        (_, Some(name)) => Some(name.as_str().into()),
        (Volumes::Apart, None) => Some("apart".into()),
        (Volumes::Overlay, None) => Some("overlay".into()),
    })
}

const PACINGS: &[(&str, Pacing)] = &[
    ("open", Pacing::Open),
    ("closed", Pacing::Closed { queue_depth: 1 }),
    ("think-times", Pacing::ThinkTimes),
];

declare! {
    KIND: bool = "workload.kind", choice(&[("synthetic", false), ("trace", true)]), "synthetic", "where requests come from";
    PRESET: &'static str = "workload.preset" of "synthetic",
        named(Form::Preset(PresetKind::Workload), "the name of a workload preset", preset_names), "none",
        "synthetic: other keys override it";
    REQUESTS: u64 = "workload.requests",
        whole(1, MOST_REQUESTS).saying("a whole number of requests, 1 to 10^12; not together with `duration`"),
        "100000; a trace: all", "length of the load, warm-up included";
    DURATION: SimDuration = "workload.duration",
        long_time(1).saying("a time such as \"60s\", above 0; not together with `requests`"), "none",
        "length of the load as a time, warm-up included";
    WARMUP: Limit = "workload.warmup", warmup(), "2000, or a tenth of fewer than 20000 requests; a trace or a duration: 0",
        "first part of the load, simulated and discarded";
    ARRIVAL: () = "workload.arrival" of "synthetic", table("a table such as { process = \"poisson\", rate = 476.5 }"),
        "required without a preset", "when synthetic requests arrive";
    PROCESS: Process = "workload.arrival.process", choice(PROCESSES), "poisson",
        "exponential gaps, equal gaps, bursts, bursts of writes beside poisson reads, gaps from a list, phases of different \
         rates, or a fixed number of outstanding requests";
    RATE: f64 = "workload.arrival.rate", above(0.0, FASTEST).saying("requests a second, above 0, at most 10^9"), "required",
        "mean arrival rate (all but choices, phases and closed)";
    BURST_RATE: f64 = "workload.arrival.burst_rate",
        above(0.0, FASTEST).saying("requests a second, above `rate`, at most 10^9"), "required for on-off and write-bursts",
        "rate within a burst, with exponential gaps (on-off); writes a second within a burst (write-bursts)";
    BURST_LENGTH: u32 = "workload.arrival.burst_length", count(2, 1_000_000_000), "100",
        "requests in a burst (write-bursts: writes); exponential gaps between bursts keep the mean at `rate`";
    ARRIVAL_QUEUE_DEPTH: u32 = "workload.arrival.queue_depth", count(1, 65_536), "required", "requests outstanding (closed)";
    GAPS: Vec<SimDuration> = "workload.arrival.gaps",
        long_time(0).list(1, MOST_CHOICES).saying("a list of 1 to 1000 times such as [\"20us\", \"1.5ms\"]"),
        "required for choices and phases",
        "gaps between arrivals, the first request at 0 (choices); mean gaps of the phases, one after the other (phases)";
    GAP_COUNTS: Vec<u64> = "workload.arrival.counts", counts(), "required for choices and phases",
        "how often each gap occurs, as `size.counts` (choices); requests of each phase, which come at random within its time; \
         behind the last phase comes the first (phases)";
    GAP_PERSISTENCE: f64 = "workload.arrival.persistence", persistence(), "0",
        "share of gaps that repeat the one before (choices)";
    SIZE: () = "workload.size" of "synthetic", table("a table such as { distribution = \"fixed\", mean = \"4KiB\" }"),
        "required without a preset", "sizes of synthetic requests";
    DISTRIBUTION: Shape = "workload.size.distribution", choice(SHAPES), "fixed",
        "how sizes vary around their mean, or that they are listed";
    MEAN: Bytes = "workload.size.mean", size(1, ANY).saying("a size such as \"4KiB\" or \"510.53KB\" (decimal), at least 1B"),
        "required", "mean size (all but choices)";
    STDDEV: Bytes = "workload.size.stddev", size(0, ANY).saying("a size such as \"4KiB\"; 0B or more"), "required for normal",
        "standard deviation (normal)";
    SIZES: Vec<Bytes> = "workload.size.sizes",
        size(1, ANY).list(1, MOST_CHOICES).saying("a list of 1 to 1000 sizes such as [\"4KiB\", \"64KiB\"], each at least 1B"),
        "required for choices", "sizes that occur (choices)";
    SIZE_COUNTS: Vec<u64> = "workload.size.counts", counts(), "required for choices",
        "how often each size occurs: sizes are dealt like cards, so that each occurs exactly so often in as many requests as \
         the counts sum to; then a new pack begins (choices)";
    SIZE_PERSISTENCE: f64 = "workload.size.persistence", persistence(), "0",
        "share of requests as long as the one before (choices)";
    READ_FRACTION: f64 = "workload.read_fraction" of "synthetic", number(0.0, 1.0), "0", "share of requests that read";
    TRIM_FRACTION: f64 = "workload.trim_fraction" of "synthetic",
        number(0.0, 1.0).saying("a number from 0 to 1, with `read_fraction` at most 1"), "0",
        "share of requests that trim; with files: share that delete a file, in addition to deletes that make room";
    FUA_FRACTION: f64 = "workload.fua_fraction" of "synthetic", number(0.0, 1.0), "0",
        "share of writes with FUA (force unit access), which complete when they outlive a loss of power";
    ADDRESS: () = "workload.address" of "synthetic", table("a table such as { pattern = \"uniform\", footprint = 1.0 }"),
        "uniform over everything", "where synthetic requests go";
    PATTERN: AddressPattern = "workload.address.pattern", choice(PATTERNS), "uniform",
        "all positions equally likely; each request where the last one ended; pages by a zipf law; a hot part; a footprint \
         that is touched piece by piece and returned to; or files that are appended to, read and deleted whole";
    THETA: f64 = "workload.address.theta" of "zipf", above(0.0, 10.0), "0.99",
        "exponent of the law; hot pages are scattered over the footprint (zipf)";
    HOT_SPACE: f64 = "workload.address.hot_space" of "hotspot", between(0.0, 1.0, "leaves no cold space"), "0.2",
        "share of the footprint that is hot, from its start (hotspot)";
    HOT_TRAFFIC: f64 = "workload.address.hot_traffic" of "hotspot", number(0.0, 1.0), "0.8",
        "share of requests that go there (hotspot)";
    FIRST_TOUCH: f64 = "workload.address.first_touch" of "working-set", above(0.0, 1e6), "required for working-set",
        "bytes touched for the first time, in pieces of 4 KiB, for each byte asked for, until all of the footprint has been: \
         a load of `footprint` / `first_touch` bytes touches exactly the footprint (working-set)";
    SEQUENTIAL: f64 = "workload.address.sequential" of "working-set", number(0.0, 1.0), "0",
        "share of requests that go on where the last one ended (working-set)";
    REUSE: f64 = "workload.address.reuse" of "working-set", number(0.01, 1000.0), "1",
        "other requests return to touched places: 1 to each alike, below 1 rather to those touched early, above 1 to those \
         touched late; the earliest 1% share evenly (working-set)";
    FILE_SIZE: Bytes = "workload.address.file_size" of "files",
        size(1, ANY).saying("a size such as \"64MiB\", at most the footprint"),
        "required for files",
        "size of the largest file; the footprint has room for as many files of this size as fit (files)";
    FILE_SIZE_MIN: Bytes = "workload.address.file_size_min" of "files",
        size(1, ANY).saying("a size such as \"1MiB\", at most `file_size`"), "`file_size`: all alike",
        "size of the smallest file; sizes between are drawn uniformly (files)";
    FILE_READS: FileReads = "workload.address.reads" of "files",
        choice(&[("sequential", FileReads::Sequential), ("random", FileReads::Random)]), "sequential",
        "whether reads go through a file from start to end and then to another, or anywhere in any file (files)";
    FILE_DELETES: FileDeletes = "workload.address.deletes" of "files",
        choice(&[("oldest", FileDeletes::Oldest), ("random", FileDeletes::Random)]), "oldest",
        "which file is deleted (files)";
    DELETE_BATCH: u32 = "workload.address.delete_batch" of "files", count(1, 1_000_000), "1",
        "files deleted one after the other, each by one request, when a new file finds no room (files)";
    FOOTPRINT: Extent = "workload.address.footprint",
        extent(above(0.0, 1.0), 1).saying("a number above 0, at most 1, or a size such as \"2GiB\""), "1.0",
        "part of the space addressed: a share of it, or bytes";
    ADDRESS_START: Extent = "workload.address.start",
        extent(below(0.0, 1.0, "leaves nothing behind it"), 0)
            .saying("a number from 0 to below 1, or a size such as \"1GiB\"; 0B is the beginning"),
        "behind the streams before it", "streams: where the stream's part of the space begins; such parts may overlap";
    ADDRESS_ALIGN: Bytes = "workload.address.align",
        size(1, 1 << 30).saying("a size, at least 1B and at most 1GiB; not together with `workload.align` = true"),
        "1B: at any byte", "requests start at multiples of it and keep their length (all but files)";
    SKEW: f64 = "workload.address.skew", number(0.0, 1.0), "0", "share of requests that lie on one member";
    SKEW_MEMBER: u16 = "workload.address.skew_member", members(0, u16::MAX).saying("the index of a member"), "0",
        "the member skewed requests go to";
    SKEW_REST: SkewRest = "workload.address.skew_rest",
        choice(&[("others", SkewRest::Others), ("all", SkewRest::All)]).saying("\"others\" (raid0) or \"all\""),
        "others; levels other than raid0: all", "members over which the requests that are not skewed are striped";
    STREAM: () = "workload.stream" of "synthetic",
        opened(Form::Named,
            "tables [workload.stream.NAME] with `arrival`, `size`, `read_fraction`, `trim_fraction`, `fua_fraction` and \
             `address`"),
        "none: one load", "several loads merged by time; each has a part of the space to itself, in the order of their names";
    STREAM_ARRIVAL: () = "workload.stream.arrival", like("workload.arrival", "a table as [workload.arrival], not closed"),
        "required without a preset or `count`", "when requests of the stream arrive";
    STREAM_COUNT: Vec<u64> = "workload.stream.count",
        part()
            .saying("a whole number, 1 to 10^12, or a list of one, 0 or more, for each of the phases of [workload.arrival]; \
                     without `arrival`"), "none",
        "the stream takes part in the common arrivals of [workload.arrival]: so many are its own, of as many as the counts of \
         all such streams sum to, dealt like cards; a list has the number for each phase";
    STREAM_JOBS: u32 = "workload.stream.jobs",
        count(1, 1024).saying("a whole number, 1 to 1024; without `count`, and 1 with pattern files"), "1",
        "so many jobs issue the stream's requests, each an equal share of its rate; each is a queue of its own for \
         `ssd.controller`";
    STREAM_OUTSTANDING: u32 = "workload.stream.outstanding",
        count(1, 65_536).saying("a whole number, 1 to 65536; without `count`"), "none",
        "requests that each job of the stream has outstanding at most; what is due meanwhile is issued one by one as requests \
         complete, and response times run from there";
    STREAM_SIZE: () = "workload.stream.size", like("workload.size", "a table as [workload.size]"), "required without a preset",
        "sizes of the stream's requests";
    STREAM_READ_FRACTION: f64 = "workload.stream.read_fraction", number(0.0, 1.0), "0",
        "share of requests of the stream that read";
    STREAM_TRIM_FRACTION: f64 = "workload.stream.trim_fraction",
        number(0.0, 1.0).saying("a number from 0 to 1, with `read_fraction` at most 1"), "0",
        "share of requests of the stream that trim, as `workload.trim_fraction`";
    STREAM_FUA_FRACTION: f64 = "workload.stream.fua_fraction", number(0.0, 1.0), "0",
        "share of writes of the stream with FUA, as `workload.fua_fraction`";
    STREAM_ADDRESS: () = "workload.stream.address",
        like("workload.address",
            "a table as [workload.address], without skew; all footprints without `start` together at most 1"),
        "required without a preset",
        "where the stream's requests go within its part; `footprint` gives the size of that part";
    STREAM_PERSISTENCE: f64 = "workload.stream_persistence" of "synthetic", persistence(), "0",
        "streams with `count`: share of requests that belong to the stream of the one before";
    SPACE: Bytes = "workload.space", size(1, ANY).saying("a size, a multiple of the page size, at most what the array holds"),
        "all of the array; in a comparison of arrays of unlike size, what the smallest holds",
        "requests go to the first bytes of the array, up to this size; `footprint` and `remap` then refer to it";
    ALIGN: bool = "workload.align", flag(), "true; a trace: false",
        "round requests up to whole aligned pages; if not, a partly written page costs a read before its program";
    DEADLINE: Option<SimDuration> = "workload.deadline",
        positive_time().or_table()
            .saying("a time above 0 such as \"5ms\", or a table such as { read = \"2ms\", write = \"10ms\" }; at most 1h"),
        "none",
        "response time that a request should not exceed; devices know it, and the report counts the requests that miss it";
    DEADLINE_READ: SimDuration = "workload.deadline.read", positive_time(), "none",
        "response time that a read should not exceed";
    DEADLINE_WRITE: SimDuration = "workload.deadline.write", positive_time(), "none",
        "response time that a write should not exceed";
    PATH: Vec<(String, Place)> = "workload.path" of "trace",
        paths("the name of a trace file, a pattern of names such as \"web_*.csv.gz\", or a list of them"), "required",
        "trace: its files, relative to the scenario's folder; several are read as one, merged by time";
    FORMAT: &'static str = "workload.format" of "trace files", named(Form::Format, "the name of a trace format", formats), "auto",
        "trace: its format";
    COLUMNS: Columns = "workload.columns" of "trace files",
        meant("names of all columns, such as \"time,op,offset,size,-\": time, op, offset, size, volume, fua, response, - for any other",
            str::parse, Columns::to_string),
        "none", "trace of any table (format csv): what its columns are; separated by ;, a tab or blanks if its fields are";
    TIME_UNIT: u64 = "workload.time_unit" of "trace files",
        tick("\"ns\", \"100ns\", \"us\", \"ms\", \"s\" or another time above 0, at most 1h"),
        "the format's", "trace: what its times count";
    ADDRESS_UNIT: Bytes = "workload.address_unit" of "trace files", unit(), "the format's", "trace: what its addresses count";
    SIZE_UNIT: Bytes = "workload.size_unit" of "trace files", unit(), "the format's", "trace: what its sizes count";
    READ_IS: u8 = "workload.read_is" of "trace files",
        whole(0, 1).map(|bit| bit as u8, |bit| Some((*bit).into())).saying("0 or 1"),
        "the format's", "trace: the value of the operation's column (DiskSim: of bit 0 of its flags) that means read";
    OPS: OperationCodes = "workload.ops" of "trace files",
        meant("codes such as \"r=1,2,5/w=3,4,6\": r read, w write, t trim, f flush", str::parse, OperationCodes::to_string),
        "none", "trace of any table (format csv): what the codes of its operations mean; not beside `read_is`";
    EVENT_FORMAT: EventFormat = "workload.event_format" of "trace files",
        meant("the string that blkparse -f was given, such as \"%T.%t %a %d %S %n\"", str::parse, EventFormat::to_string),
        "none", "trace of blkparse: the format that its events were printed in";
    ACTION: Action = "workload.action" of "trace files",
        action("\"queued\" (Q), \"inserted\" (I), \"issued\" (D) or \"completed\" (C)"),
        "the most complete", "trace: the event of a request that is its arrival (blkparse, blktrace, ftrace)";
    SORT_WINDOW: SimDuration = "workload.sort_window" of "trace files",
        long_time(0).saying("a time such as \"10ms\"; \"0s\": none"),
        "the format's", "trace: rows that come late by up to this are sorted in; a row later than that is malformed";
    SPREAD: bool = "workload.spread" of "trace files", flag(), "the format's",
        "trace: whether rows at one tick of its clock are spread evenly up to the next";
    SAME_VOLUMES: bool = "workload.same_volumes" of "trace files", flag(), "the format's",
        "trace of several files: whether a volume's name means the same volume in all of them";
    VOLUMES: (Volumes, Option<String>) = "workload.volumes" of "trace",
        volumes("\"apart\", \"overlay\", or the name or number of one volume"), "apart",
        "trace: its volumes (disks, ASUs) one behind the other as they first appear, all from address 0, or one of them only";
    START: SimDuration = "workload.start" of "trace", long_time(0).saying("a time such as \"90min\""), "0s",
        "trace: only what arrives at this time of the trace or later; becomes time 0";
    END: SimDuration = "workload.end" of "trace", long_time(1).saying("a time such as \"2h\", later than `start`"), "none",
        "trace: only what arrives before this time of the trace";
    SKIP_BAD: u64 = "workload.skip_bad" of "trace", whole(0, MOST_REQUESTS), "0",
        "trace: so many malformed rows are passed over and reported; the next is an error";
    REPEAT: u32 = "workload.repeat" of "trace", count(1, 1_000_000), "1",
        "trace: it is replayed so many times, each copy one mean gap of the trace behind the last request of the copy before";
    REPLAY: Pacing = "workload.replay" of "trace", choice(PACINGS), "open",
        "trace: requests arrive at the times of the trace (open), one for each that completes (closed), or when what they \
         waited for in the trace has completed and its pause has passed (think-times); see docs/traces.md";
    QUEUE_DEPTH: u32 = "workload.queue_depth" of "trace", count(1, 65_536), "1",
        "trace: requests outstanding, in the trace's order (replay = \"closed\", which ignores its times)";
    TIME_SCALE: f64 = "workload.time_scale" of "trace", above(0.0, FASTEST), "1.0",
        "trace or streams: times are multiplied by this (0.1: ten times faster), arrivals or times to think; not with replay \
         = \"closed\"";
    REMAP: Remap = "workload.remap" of "trace",
        choice(&[("wrap", Remap::Wrap), ("scale", Remap::Scale), ("reject", Remap::Reject)]),
        "reject", "trace: what happens to addresses beyond the array";
}
