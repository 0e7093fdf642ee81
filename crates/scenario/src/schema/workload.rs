//! Keys of `[workload]`: where requests come from.

use std::sync::LazyLock;

use harmonia_trace::{AUTO, Action, Columns, EventFormat, FORMATS, OperationCodes};
use harmonia_types::units::{format_duration, parse_duration};
use harmonia_types::{Bytes, SimDuration};
use harmonia_workload::{
    AddressPattern, Extent, FileDeletes, FilePattern, FileReads, Limit, Pacing, Remap, SkewRest, TraceConfig,
    Volumes, WorkingSetPattern,
};

use super::held::{Held, Place, by, documented};
use super::kinds::{
    ANY, Kind, above, below, between, choice, count, flag, is_integer, is_list, is_text, like, long_time,
    meant, members, named, number, opened, positive_time, size, table, text, time, unlike, whole,
};
use super::load::{At, Load, Of, of};
use super::{Declared, Form, Key, MOST_REQUESTS, declare};
use crate::error::Parsed;
use crate::presets::{Kind as PresetKind, stand_in, workload as presets};
use crate::read::{Field, Section};
use crate::tree::{self, Value};

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
fn paths(words: &str) -> Kind<Vec<(String, tree::Place)>> {
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

// What is declared here is read in files of its own, because it says which other keys there are, or what is usual follows from more
// than the key.
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
    ADDRESS: () = "workload.address" of "synthetic", table("a table such as { pattern = \"uniform\", footprint = 1.0 }"),
        "uniform over everything", "where synthetic requests go";
    PATTERN: AddressPattern = "workload.address.pattern", choice(PATTERNS), "uniform",
        "all positions equally likely; each request where the last one ended; pages by a zipf law; a hot part; a footprint \
         that is touched piece by piece and returned to; or files that are appended to, read and deleted whole";
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
    STREAM_SIZE: () = "workload.stream.size", like("workload.size", "a table as [workload.size]"), "required without a preset",
        "sizes of the stream's requests";
    STREAM_ADDRESS: () = "workload.stream.address",
        like("workload.address",
            "a table as [workload.address], without skew; all footprints without `start` together at most 1"),
        "required without a preset",
        "where the stream's requests go within its part; `footprint` gives the size of that part";
    SPACE: Bytes = "workload.space", size(1, ANY).saying("a size, a multiple of the page size, at most what the array holds"),
        "all of the array; in a comparison of arrays of unlike size, what the smallest holds",
        "requests go to the first bytes of the array, up to this size; `footprint` and `remap` then refer to it";
    DEADLINE: Option<SimDuration> = "workload.deadline",
        positive_time().or_table()
            .saying("a time above 0 such as \"5ms\", or a table such as { read = \"2ms\", write = \"10ms\" }; at most 1h"),
        "none",
        "response time that a request should not exceed; devices know it, and the report counts the requests that miss it";
    DEADLINE_READ: SimDuration = "workload.deadline.read", positive_time(), "none",
        "response time that a read should not exceed";
    DEADLINE_WRITE: SimDuration = "workload.deadline.write", positive_time(), "none",
        "response time that a write should not exceed";
    PATH: Vec<(String, tree::Place)> = "workload.path" of "trace",
        paths("the name of a trace file, a pattern of names such as \"web_*.csv.gz\", or a list of them"), "required",
        "trace: its files, relative to the scenario's folder; several are read as one, merged by time";
}

/// Times of the trace mean nothing where completions set the pace.
fn has_times(load: &Load) -> bool {
    !matches!(load, Load::Trace(TraceConfig { pacing: Pacing::Closed { .. }, .. }))
}

/// Requests that are dealt to a stream have the times of the common arrivals. Beside `arrival` the count is at fault.
fn own_arrivals(_: &Load, stream: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if stream.named("count").is_none() || stream.named("arrival").is_some() {
        return Ok(());
    }
    Err(field.fault_allowing("does not go with `count`", "a stream with `arrival` of its own"))
}

type Drafted = Load;

/// All keys of `[workload]` and of the tables in it, in the order in which they are documented. Those with a place in a load stand
/// here, each group behind the key that it is documented after; where they need others, these come first.
#[rustfmt::skip]
pub(crate) static KEYS: LazyLock<Vec<Box<dyn Held<Load>>>> = LazyLock::new(|| documented(ALL, vec![
    (&*SIZE_PERSISTENCE, vec![
        of! { "workload.read_fraction" of "synthetic", (Synthetic).read_fraction,
            number(0.0, 1.0), "0", "share of requests that read" },
        of! { "workload.trim_fraction" of "synthetic", (Synthetic).trim_fraction,
            number(0.0, 1.0).saying("a number from 0 to 1, with `read_fraction` at most 1").quiet(), "0",
            "share of requests that trim; with files: share that delete a file, in addition to deletes that make room" },
        of! { "workload.fua_fraction" of "synthetic", (Synthetic).fua_fraction, number(0.0, 1.0).quiet(), "0",
            "share of writes with FUA (force unit access), which complete when they outlive a loss of power" },
    ]),
    (&*PATTERN, vec![
        of! { "workload.address.theta" of "zipf", in AddressPattern::Zipf { theta } => theta, above(0.0, 10.0), "0.99",
            "exponent of the law; hot pages are scattered over the footprint (zipf)" },
        of! { "workload.address.hot_space" of "hotspot", in AddressPattern::Hotspot { hot_space, .. } => hot_space,
            between(0.0, 1.0, "leaves no cold space"), "0.2",
            "share of the footprint that is hot, from its start (hotspot)" },
        of! { "workload.address.hot_traffic" of "hotspot", in AddressPattern::Hotspot { hot_traffic, .. } => hot_traffic,
            number(0.0, 1.0), "0.8",
            "share of requests that go there (hotspot)" },
        of! { "workload.address.first_touch" of "working-set",
            in AddressPattern::WorkingSet(WorkingSetPattern { first_touch, .. }) => first_touch
            must "how fast the footprint is touched",
            above(0.0, 1e6), "required for working-set",
            "bytes touched for the first time, in pieces of 4 KiB, for each byte asked for, until all of the footprint has been: \
             a load of `footprint` / `first_touch` bytes touches exactly the footprint (working-set)" },
        of! { "workload.address.sequential" of "working-set",
            in AddressPattern::WorkingSet(WorkingSetPattern { sequential, .. }) => sequential,
            number(0.0, 1.0), "0",
            "share of requests that go on where the last one ended (working-set)" },
        of! { "workload.address.reuse" of "working-set",
            in AddressPattern::WorkingSet(WorkingSetPattern { reuse, .. }) => reuse,
            number(0.01, 1000.0), "1",
            "other requests return to touched places: 1 to each alike, below 1 rather to those touched early, above 1 to those \
             touched late; the earliest 1% share evenly (working-set)" },
        of! { "workload.address.file_size" of "files", in AddressPattern::Files(FilePattern { largest, .. }) => largest
            must "there is no default size of files",
            size(1, ANY).saying("a size such as \"64MiB\", at most the footprint"),
            "required for files",
            "size of the largest file; the footprint has room for as many files of this size as fit (files)" },
        of! { "workload.address.file_size_min" of "files", in AddressPattern::Files(FilePattern { smallest, .. }) => smallest,
            size(1, ANY).saying("a size such as \"1MiB\", at most `file_size`"), "`file_size`: all alike",
            "size of the smallest file; sizes between are drawn uniformly (files)" },
        of! { "workload.address.reads" of "files", in AddressPattern::Files(FilePattern { reads, .. }) => reads,
            choice(&[("sequential", FileReads::Sequential), ("random", FileReads::Random)]), "sequential",
            "whether reads go through a file from start to end and then to another, or anywhere in any file (files)" },
        of! { "workload.address.deletes" of "files", in AddressPattern::Files(FilePattern { deletes, .. }) => deletes,
            choice(&[("oldest", FileDeletes::Oldest), ("random", FileDeletes::Random)]), "oldest",
            "which file is deleted (files)" },
        of! { "workload.address.delete_batch" of "files",
            in AddressPattern::Files(FilePattern { delete_batch, .. }) => delete_batch,
            count(1, 1_000_000), "1",
            "files deleted one after the other, each by one request, when a new file finds no room (files)" },
        of! { "workload.address.footprint", (Synthetic | Stream).footprint,
            extent(above(0.0, 1.0), 1).saying("a number above 0, at most 1, or a size such as \"2GiB\""), "1.0",
            "part of the space addressed: a share of it, or bytes" },
        of! { "workload.address.start", (Stream).start,
            extent(below(0.0, 1.0, "leaves nothing behind it"), 0)
                .saying("a number from 0 to below 1, or a size such as \"1GiB\"; 0B is the beginning").optional(),
            "behind the streams before it", "streams: where the stream's part of the space begins; such parts may overlap" },
        of! { "workload.address.align", (Synthetic | Stream).start_unit,
            size(1, 1 << 30).saying("a size, at least 1B and at most 1GiB; not together with `workload.align` = true").usually(1),
            "1B: at any byte", "requests start at multiples of it and keep their length (all but files)" },
        of! { "workload.address.skew", (Synthetic).skew_fraction,
            number(0.0, 1.0), "0", "share of requests that lie on one member" },
        of! { "workload.address.skew_member", (Synthetic).skew_member,
            members(0, u16::MAX).saying("the index of a member"), "0",
            "the member skewed requests go to" },
        of! { "workload.address.skew_rest", (Synthetic).skew_rest,
            choice(&[("others", SkewRest::Others), ("all", SkewRest::All)]).saying("\"others\" (raid0) or \"all\""),
            "others; levels other than raid0: all", "members over which the requests that are not skewed are striped" },
    ]),
    (&*STREAM_COUNT, vec![
        of! { "workload.stream.jobs", (Stream).jobs needs own_arrivals,
            count(1, 1024).saying("a whole number, 1 to 1024; without `count`, and 1 with pattern files").usually(1), "1",
            "so many jobs issue the stream's requests, each an equal share of its rate; each is a queue of its own for \
             `ssd.controller`" },
        of! { "workload.stream.outstanding", (Stream).outstanding needs own_arrivals,
            count(1, 65_536).saying("a whole number, 1 to 65536; without `count`").optional(), "none",
            "requests that each job of the stream has outstanding at most; what is due meanwhile is issued one by one as requests \
             complete, and response times run from there" },
        of! { "workload.stream.start_delay", (Stream).start_delay needs own_arrivals,
            time().quiet().saying("a time such as \"10s\", at most 1h; without `count`"), "0s",
            "all requests of the stream come so much later, as those of a neighbour or a backup that begins during the run; \
             `time_scale` multiplies it, too. A stream that would begin after the run has no requests" },
    ]),
    (&*STREAM_SIZE, vec![
        of! { "workload.stream.read_fraction", (Stream).read_fraction, number(0.0, 1.0), "0",
            "share of requests of the stream that read" },
        of! { "workload.stream.trim_fraction", (Stream).trim_fraction,
            number(0.0, 1.0).saying("a number from 0 to 1, with `read_fraction` at most 1"), "0",
            "share of requests of the stream that trim, as `workload.trim_fraction`" },
        of! { "workload.stream.fua_fraction", (Stream).fua_fraction, number(0.0, 1.0).quiet(), "0",
            "share of writes of the stream with FUA, as `workload.fua_fraction`" },
    ]),
    (&*STREAM_ADDRESS, vec![
        of! { "workload.stream_persistence" of "synthetic", (Streams).persistence, persistence().quiet(), "0",
            "streams with `count`: share of requests that belong to the stream of the one before" },
    ]),
    (&*SPACE, vec![
        of! { "workload.align", (Synthetic | Streams | Trace).align, flag(), "true; a trace: false",
            "round requests up to whole aligned pages; if not, a partly written page costs a read before its program" },
    ]),
    (&*PATH, vec![
        of! { "workload.format" of "trace files", (Trace).options.format,
            named(Form::Format, "the name of a trace format", formats)
                .map(str::to_owned, |name| formats().find(|known| *known == name.as_str())), "auto",
            "trace: its format" },
        of! { "workload.columns" of "trace files", (Trace).options.columns,
            meant("names of all columns, such as \"time,op,offset,size,-\": time, op, offset, size, volume, fua, handle, response, - for any other",
                str::parse, Columns::to_string).optional(),
            "none", "trace of any table (format csv): what its columns are; separated by ;, a tab or blanks if its fields are" },
        of! { "workload.time_unit" of "trace files", (Trace).options.units.time_ns,
            tick("\"ns\", \"100ns\", \"us\", \"ms\", \"s\" or another time above 0, at most 1h").optional(),
            "the format's", "trace: what its times count" },
        of! { "workload.address_unit" of "trace files", (Trace).options.units.address,
            unit().optional(), "the format's", "trace: what its addresses count" },
        of! { "workload.size_unit" of "trace files", (Trace).options.units.size,
            unit().optional(), "the format's", "trace: what its sizes count" },
        of! { "workload.read_is" of "trace files", (Trace).options.units.read_is,
            whole(0, 1).map(|bit| bit as u8, |bit| Some((*bit).into())).saying("0 or 1").optional(),
            "the format's", "trace: the value of the operation's column (DiskSim: of bit 0 of its flags) that means read" },
        of! { "workload.ops" of "trace files", (Trace).options.ops,
            meant("codes such as \"r=1,2,5/w=3,4,6\": r read, w write, t trim, f flush", str::parse, OperationCodes::to_string)
                .optional(),
            "none", "trace of any table (format csv): what the codes of its operations mean; not beside `read_is`" },
        of! { "workload.event_format" of "trace files", (Trace).options.event_format,
            meant("the string that blkparse -f was given, such as \"%T.%t %a %d %S %n\"", str::parse, EventFormat::to_string)
                .optional(),
            "none", "trace of blkparse: the format that its events were printed in" },
        of! { "workload.action" of "trace files", (Trace).options.action,
            action("\"queued\" (Q), \"inserted\" (I), \"issued\" (D) or \"completed\" (C)").optional(),
            "the most complete", "trace: the event of a request that is its arrival (blkparse, blktrace, ftrace)" },
        of! { "workload.sort_window" of "trace files", (Trace).options.sort_window,
            long_time(0).saying("a time such as \"10ms\"; \"0s\": none").optional(),
            "the format's", "trace: rows that come late by up to this are sorted in; a row later than that is malformed" },
        of! { "workload.spread" of "trace files", (Trace).options.spread, flag().optional(), "the format's",
            "trace: whether rows at one tick of its clock are spread evenly up to the next" },
        of! { "workload.same_volumes" of "trace files", (Trace).options.same_volumes, flag().optional(), "the format's",
            "trace of several files: whether a volume's name means the same volume in all of them" },
        by! { "workload.volumes" of "trace",
            volumes("\"apart\", \"overlay\", or the name or number of one volume"),
            |load, (volumes, only), _, _| {
                if let Load::Trace(trace) = load {
                    (trace.volumes, trace.options.only) = (volumes, only);
                }
                Ok(())
            },
            |key, load| match load {
                Load::Trace(trace) => key.show(&(trace.volumes, trace.options.only.clone())),
                _ => None,
            },
            "apart",
            "trace: its volumes (disks, ASUs) one behind the other as they first appear, all from address 0, or one of them only" },
        of! { "workload.start" of "trace", (Trace).options.start,
            long_time(0).saying("a time such as \"90min\"").optional(), "0s",
            "trace: only what arrives at this time of the trace or later; becomes time 0" },
        of! { "workload.end" of "trace", (Trace).options.end,
            long_time(1).saying("a time such as \"2h\", later than `start`").optional(), "none",
            "trace: only what arrives before this time of the trace" },
        of! { "workload.skip_bad" of "trace", (Trace).options.skip_bad, whole(0, MOST_REQUESTS), "0",
            "trace: so many malformed rows are passed over and reported; the next is an error" },
        of! { "workload.repeat" of "trace", (Trace).repeat, count(1, 1_000_000), "1",
            "trace: it is replayed so many times, each copy one mean gap of the trace behind the last request of the copy before" },
        of! { "workload.replay" of "trace", (Trace).pacing, choice(PACINGS), "open",
            "trace: requests arrive at the times of the trace (open), one for each that completes (closed), or when what they \
             waited for in the trace has completed and its pause has passed (think-times); see docs/traces.md" },
        by! { "workload.queue_depth" of "trace", count(1, 65_536),
            |load, depth, _, field| match load {
                Load::Trace(TraceConfig { pacing: Pacing::Closed { queue_depth }, .. }) => {
                    *queue_depth = depth;
                    Ok(())
                }
                _ => {
                    let problem = "does not belong to a replay that is not closed";
                    Err(field.fault_allowing(problem, "only with replay = \"closed\""))
                }
            },
            |key, load| match load {
                Load::Trace(TraceConfig { pacing: Pacing::Closed { queue_depth }, .. }) => key.show(queue_depth),
                _ => None,
            },
            "1", "trace: requests outstanding, in the trace's order (replay = \"closed\", which ignores its times)" },
        of! { "workload.time_scale" of "trace", (Trace | Streams).time_scale if has_times, above(0.0, FASTEST), "1.0",
            "trace or streams: times are multiplied by this (0.1: ten times faster), arrivals or times to think; not with replay \
             = \"closed\"" },
        of! { "workload.remap" of "trace", (Trace).remap,
            choice(&[("wrap", Remap::Wrap), ("scale", Remap::Scale), ("reject", Remap::Reject)]),
            "reject", "trace: what happens to addresses beyond the array" },
    ]),
]));
