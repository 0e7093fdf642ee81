//! Every key a scenario may have: what it takes, its default, what it means.
//!
//! One table for the parser (unknown keys, what a message says is allowed), the documentation and the tests. A key
//! that is not here cannot be read: the reader refuses to look for it.

/// One key of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// From the root, tables separated by dots. Members of the array (`[[array.member]]`) are `array.member`.
    pub path: &'static str,
    /// What it takes.
    pub allowed: &'static str,
    /// What holds if it is not written; `preset` for what comes from the preset.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Key {
    /// Whether it is only read for the sake of files written long ago.
    pub(crate) fn is_old(&self) -> bool {
        self.meaning.starts_with("older spelling of ")
    }
}

const fn key(path: &'static str, allowed: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { path, allowed, default, meaning }
}

const TIME: &str = "a time such as \"25us\" or \"1.5ms\", at most 1h";
const POSITIVE_TIME: &str = "a time such as \"25us\" or \"1.5ms\", above 0, at most 1h";
const SUSPEND: &str = "\"none\" (it cannot) or a time such as \"20us\", at most 1h";
const SIZE: &str = "a size such as \"4KiB\" or \"510.53KB\" (decimal), at least 1B";
const UNIT: &str = "a size such as \"512B\" or \"4KiB\", or a number of bytes; 1 byte to 1GiB";
const REQUESTS: &str = "a whole number of requests, 1 to 10^12; not together with `duration`";
const DURATION: &str = "a time such as \"60s\", above 0; not together with `requests`";
const COUNTS: &str = "a list of as many whole numbers from 1 to 10^12";
const PERSISTENCE: &str = "a number from 0 to below 1";
const THRESHOLD: &str = "blocks (5), a share (\"5%\"), or relative to hard (\"hard\", \"hard+1\")";

/// All keys, in the order they are documented.
pub const KEYS: &[Key] = &[
    key("name", "text of 1 to 200 characters", "the file's name", "names the scenario in reports"),
    key("seed", "a whole number, 0 to 2^64 - 1", "1", "seed of all random numbers"),
    key("workload.kind", "\"synthetic\" or \"trace\"", "synthetic", "where requests come from"),
    key("workload.preset", "the name of a workload preset", "none", "synthetic: other keys override it"),
    key("workload.requests", REQUESTS, "100000; a trace: all", "length of the load, warm-up included"),
    key("workload.duration", DURATION, "none", "length of the load as a time, warm-up included"),
    key(
        "workload.warmup",
        "a whole number of requests or a time such as \"10s\", less than the whole load",
        "2000, or a tenth of fewer than 20000 requests; a trace or a duration: 0",
        "first part of the load, simulated and discarded",
    ),
    key(
        "workload.arrival",
        "a table such as { process = \"poisson\", rate = 476.5 }",
        "required without a preset",
        "when synthetic requests arrive",
    ),
    key(
        "workload.arrival.process",
        "\"poisson\", \"fixed\", \"on-off\", \"write-bursts\", \"choices\", \"phases\" or \"closed\"",
        "poisson",
        "exponential gaps, equal gaps, bursts, bursts of writes beside poisson reads, gaps from a list, phases of different \
         rates, or a fixed number of outstanding requests",
    ),
    key(
        "workload.arrival.rate",
        "requests a second, above 0, at most 10^9",
        "required",
        "mean arrival rate (all but choices, phases and closed)",
    ),
    key(
        "workload.arrival.burst_rate",
        "requests a second, above `rate`, at most 10^9",
        "required for on-off and write-bursts",
        "rate within a burst, with exponential gaps (on-off); writes a second within a burst (write-bursts)",
    ),
    key(
        "workload.arrival.burst_length",
        "a whole number, 2 to 10^9",
        "100",
        "requests in a burst (write-bursts: writes); exponential gaps between bursts keep the mean at `rate`",
    ),
    key(
        "workload.arrival.queue_depth",
        "a whole number, 1 to 65536",
        "required",
        "requests outstanding (closed)",
    ),
    key(
        "workload.arrival.gaps",
        "a list of 1 to 1000 times such as [\"20us\", \"1.5ms\"]",
        "required for choices and phases",
        "gaps between arrivals, the first request at 0 (choices); mean gaps of the phases, one after the other (phases)",
    ),
    key(
        "workload.arrival.counts",
        COUNTS,
        "required for choices and phases",
        "how often each gap occurs, as `size.counts` (choices); requests of each phase, which come at random within its \
         time; behind the last phase comes the first (phases)",
    ),
    key(
        "workload.arrival.persistence",
        PERSISTENCE,
        "0",
        "share of gaps that repeat the one before (choices)",
    ),
    key(
        "workload.size",
        "a table such as { distribution = \"fixed\", mean = \"4KiB\" }",
        "required without a preset",
        "sizes of synthetic requests",
    ),
    key(
        "workload.size.distribution",
        "\"fixed\", \"exponential\", \"normal\" or \"choices\"",
        "fixed",
        "how sizes vary around their mean, or that they are listed",
    ),
    key("workload.size.mean", SIZE, "required", "mean size (all but choices)"),
    key(
        "workload.size.stddev",
        "a size such as \"4KiB\"; 0B or more",
        "required for normal",
        "standard deviation (normal)",
    ),
    key(
        "workload.size.sizes",
        "a list of 1 to 1000 sizes such as [\"4KiB\", \"64KiB\"], each at least 1B",
        "required for choices",
        "sizes that occur (choices)",
    ),
    key(
        "workload.size.counts",
        COUNTS,
        "required for choices",
        "how often each size occurs: sizes are dealt like cards, so that each occurs exactly so often in as many requests as \
         the counts sum to; then a new pack begins (choices)",
    ),
    key(
        "workload.size.persistence",
        PERSISTENCE,
        "0",
        "share of requests as long as the one before (choices)",
    ),
    key("workload.read_fraction", "a number from 0 to 1", "0", "share of requests that read"),
    key(
        "workload.trim_fraction",
        "a number from 0 to 1, with `read_fraction` at most 1",
        "0",
        "share of requests that trim; with files: share that delete a file, in addition to deletes that make room",
    ),
    key(
        "workload.address",
        "a table such as { pattern = \"uniform\", footprint = 1.0 }",
        "uniform over everything",
        "where synthetic requests go",
    ),
    key(
        "workload.address.pattern",
        "\"uniform\", \"sequential\", \"zipf\", \"hotspot\", \"working-set\" or \"files\"",
        "uniform",
        "all positions equally likely; each request where the last one ended; pages by a zipf law; a hot part; a footprint \
         that is touched piece by piece and returned to; or files that are appended to, read and deleted whole",
    ),
    key(
        "workload.address.theta",
        "a number above 0, at most 10",
        "0.99",
        "exponent of the law; hot pages are scattered over the footprint (zipf)",
    ),
    key(
        "workload.address.hot_space",
        "a number above 0, below 1",
        "0.2",
        "share of the footprint that is hot, from its start (hotspot)",
    ),
    key(
        "workload.address.hot_traffic",
        "a number from 0 to 1",
        "0.8",
        "share of requests that go there (hotspot)",
    ),
    key(
        "workload.address.first_touch",
        "a number above 0, at most 10^6",
        "required for working-set",
        "bytes touched for the first time, in pieces of 4 KiB, for each byte asked for, until all of the footprint has been: \
         a load of `footprint` / `first_touch` bytes touches exactly the footprint (working-set)",
    ),
    key(
        "workload.address.sequential",
        "a number from 0 to 1",
        "0",
        "share of requests that go on where the last one ended (working-set)",
    ),
    key(
        "workload.address.reuse",
        "a number from 0.01 to 1000",
        "1",
        "other requests return to touched places: 1 to each alike, below 1 rather to those touched early, above 1 to those \
         touched late; the earliest 1% share evenly (working-set)",
    ),
    key(
        "workload.address.file_size",
        "a size such as \"64MiB\", at most the footprint",
        "required for files",
        "size of the largest file; the footprint has room for as many files of this size as fit (files)",
    ),
    key(
        "workload.address.file_size_min",
        "a size such as \"1MiB\", at most `file_size`",
        "`file_size`: all alike",
        "size of the smallest file; sizes between are drawn uniformly (files)",
    ),
    key(
        "workload.address.reads",
        "\"sequential\" or \"random\"",
        "sequential",
        "whether reads go through a file from start to end and then to another, or anywhere in any file (files)",
    ),
    key("workload.address.deletes", "\"oldest\" or \"random\"", "oldest", "which file is deleted (files)"),
    key(
        "workload.address.delete_batch",
        "a whole number, 1 to 10^6",
        "1",
        "files deleted one after the other, each by one request, when a new file finds no room (files)",
    ),
    key(
        "workload.address.footprint",
        "a number above 0, at most 1, or a size such as \"2GiB\"",
        "1.0",
        "part of the space addressed: a share of it, or bytes",
    ),
    key(
        "workload.address.start",
        "a number from 0 to below 1, or a size such as \"1GiB\"; 0B is the beginning",
        "behind the streams before it",
        "streams: where the stream's part of the space begins; such parts may overlap",
    ),
    key(
        "workload.address.align",
        "a size, at least 1B and at most 1GiB; not together with `workload.align` = true",
        "1B: at any byte",
        "requests start at multiples of it and keep their length (all but files)",
    ),
    key("workload.address.skew", "a number from 0 to 1", "0", "share of requests that lie on one member"),
    key("workload.address.skew_member", "the index of a member", "0", "the member skewed requests go to"),
    key(
        "workload.address.skew_rest",
        "\"others\" (raid0) or \"all\"",
        "others; levels other than raid0: all",
        "members over which the requests that are not skewed are striped",
    ),
    key(
        "workload.stream",
        "tables [workload.stream.NAME] with `arrival`, `size`, `read_fraction`, `trim_fraction` and `address`",
        "none: one load",
        "several loads merged by time; each has a part of the space to itself, in the order of their names",
    ),
    key(
        "workload.stream.arrival",
        "a table as [workload.arrival], not closed",
        "required without a preset or `count`",
        "when requests of the stream arrive",
    ),
    key(
        "workload.stream.count",
        "a whole number, 1 to 10^12, or a list of one, 0 or more, for each of the phases of [workload.arrival]; without `arrival`",
        "none",
        "the stream takes part in the common arrivals of [workload.arrival]: so many are its own, of as many as the counts of \
         all such streams sum to, dealt like cards; a list has the number for each phase",
    ),
    key(
        "workload.stream.size",
        "a table as [workload.size]",
        "required without a preset",
        "sizes of the stream's requests",
    ),
    key(
        "workload.stream.read_fraction",
        "a number from 0 to 1",
        "0",
        "share of requests of the stream that read",
    ),
    key(
        "workload.stream.trim_fraction",
        "a number from 0 to 1, with `read_fraction` at most 1",
        "0",
        "share of requests of the stream that trim, as `workload.trim_fraction`",
    ),
    key(
        "workload.stream.address",
        "a table as [workload.address], without skew; all footprints without `start` together at most 1",
        "required without a preset",
        "where the stream's requests go within its part; `footprint` gives the size of that part",
    ),
    key(
        "workload.stream_persistence",
        PERSISTENCE,
        "0",
        "streams with `count`: share of requests that belong to the stream of the one before",
    ),
    key(
        "workload.space",
        "a size, a multiple of the page size, at most what the array holds",
        "all of the array; in a comparison of arrays of unlike size, what the smallest holds",
        "requests go to the first bytes of the array, up to this size; `footprint` and `remap` then refer to it",
    ),
    key(
        "workload.align",
        "true or false",
        "true; a trace: false",
        "round requests up to whole aligned pages; if not, a partly written page costs a read before its program",
    ),
    key(
        "workload.deadline",
        "a time above 0 such as \"5ms\", or a table such as { read = \"2ms\", write = \"10ms\" }; at most 1h",
        "none",
        "response time that a request should not exceed; devices know it, and the report counts the requests that \
         miss it",
    ),
    key("workload.deadline.read", POSITIVE_TIME, "none", "response time that a read should not exceed"),
    key("workload.deadline.write", POSITIVE_TIME, "none", "response time that a write should not exceed"),
    key(
        "workload.path",
        "the name of a trace file, a pattern of names such as \"web_*.csv.gz\", or a list of them",
        "required",
        "trace: its files, relative to the scenario's folder; several are read as one, merged by time",
    ),
    key("workload.format", "the name of a trace format", "auto", "trace: its format"),
    key(
        "workload.columns",
        "names of all columns, such as \"time,op,offset,size,-\": time, op, offset, size, volume, response, - for any other",
        "none",
        "trace of any table (format csv): what its columns are; separated by ;, a tab or blanks if its fields are",
    ),
    key(
        "workload.time_unit",
        "\"ns\", \"100ns\", \"us\", \"ms\", \"s\" or another time above 0, at most 1h",
        "the format's",
        "trace: what its times count",
    ),
    key("workload.address_unit", UNIT, "the format's", "trace: what its addresses count"),
    key("workload.size_unit", UNIT, "the format's", "trace: what its sizes count"),
    key(
        "workload.read_is",
        "0 or 1",
        "the format's",
        "trace: the value of the operation's column (DiskSim: of bit 0 of its flags) that means read",
    ),
    key(
        "workload.action",
        "\"queued\" (Q), \"inserted\" (I), \"issued\" (D) or \"completed\" (C)",
        "the most complete",
        "trace: the event of a request that is its arrival (blkparse, blktrace)",
    ),
    key(
        "workload.sort_window",
        "a time such as \"10ms\"; \"0s\": none",
        "the format's",
        "trace: rows that come late by up to this are sorted in; a row later than that is malformed",
    ),
    key(
        "workload.spread",
        "true or false",
        "the format's",
        "trace: whether rows at one tick of its clock are spread evenly up to the next",
    ),
    key(
        "workload.same_volumes",
        "true or false",
        "the format's",
        "trace of several files: whether a volume's name means the same volume in all of them",
    ),
    key(
        "workload.volumes",
        "\"apart\", \"overlay\", or the name or number of one volume",
        "apart",
        "trace: its volumes (disks, ASUs) one behind the other as they first appear, all from address 0, or one of \
         them only",
    ),
    key(
        "workload.start",
        "a time such as \"90min\"",
        "0s",
        "trace: only what arrives at this time of the trace or later; becomes time 0",
    ),
    key(
        "workload.end",
        "a time such as \"2h\", later than `start`",
        "none",
        "trace: only what arrives before this time of the trace",
    ),
    key(
        "workload.skip_bad",
        "a whole number, 0 to 10^12",
        "0",
        "trace: so many malformed rows are passed over and reported; the next is an error",
    ),
    key(
        "workload.repeat",
        "a whole number, 1 to 10^6",
        "1",
        "trace: it is replayed so many times, each copy one mean gap of the trace behind the last request of the copy before",
    ),
    key(
        "workload.replay",
        "\"open\", \"closed\" or \"think-times\"",
        "open",
        "trace: requests arrive at the times of the trace (open), one for each that completes (closed), or when what they \
         waited for in the trace has completed and its pause has passed (think-times); see docs/traces.md",
    ),
    key(
        "workload.queue_depth",
        "a whole number, 1 to 65536",
        "1",
        "trace: requests outstanding, in the trace's order (replay = \"closed\", which ignores its times)",
    ),
    key(
        "workload.time_scale",
        "a number above 0, at most 10^9",
        "1.0",
        "trace or streams: times are multiplied by this (0.1: ten times faster), arrivals or times to think; not with replay = \
         \"closed\"",
    ),
    key(
        "workload.remap",
        "\"wrap\", \"scale\" or \"reject\"",
        "reject",
        "trace: what happens to addresses beyond the array",
    ),
    key(
        "precondition.fill",
        "a number from 0 to 1",
        "1.0",
        "share of the logical space mapped before the run; 0: an empty device that was never written",
    ),
    key(
        "precondition.overwrite",
        "a number from 0 to 1000; with `fill` = 0 only 0",
        "3.0; 0 with `fill` = 0",
        "random overwrites of the mapped space before the run, in multiples of its size",
    ),
    key("array.devices", "a whole number, 1 to 1024", "8", "member devices"),
    key(
        "array.level",
        "\"raid0\", \"raid1\", \"raid10\", \"raid4\", \"raid5\", \"raid6\", or declustered parity as OpenZFS writes it, such as \
         \"draid1:4d:1s\": one or two parities, data units of a group, distributed spares",
        "raid0",
        "RAID level; raid1 keeps a copy on every member; draid spreads groups narrower than the array over all members, which \
         must be whole groups and spares",
    ),
    key(
        "array.layout",
        "raid5: a rotation of md such as \"left-symmetric\" or \"right-asymmetric\"; raid6: these and \"left-symmetric-6\" and \
         the like; raid10: \"near-2\", \"far-2\", \"offset-2\", or with up to 8 copies",
        "left-symmetric; raid10: near-2",
        "where parity or copies lie, by the names of Linux md (raid5, raid6, raid10)",
    ),
    key(
        "array.parity_shares",
        "a list of whole numbers from 0 to 1000, one for each member, two of them or more above 0, such as [70, 10, 10, 10]; \
         divided by what divides all of them they sum to at most 1024 and at most the stripes of a member (raid5)",
        "equal shares",
        "the shares of parity that members have, in proportion, so that they do not wear out at one time; equal shares are the \
         rotation of `array.layout`",
    ),
    key(
        "array.small_write",
        "\"fewest\", \"read-modify-write\" or \"reconstruct\"",
        "fewest",
        "how parity is made for a stripe written in part: by the way that reads fewer units, as md does, or always by \
         one way (raid4, raid5, raid6)",
    ),
    key(
        "array.stripe_cache",
        "0, or a whole number, 17 to 32768",
        "0",
        "entries of a stripe cache as in Linux md, each a row of parity: what small writes read and write is kept, writes that \
         wait for one row are merged, pre-reads are put off so that more can join; none with 0 (raid4, raid5, raid6)",
    ),
    key(
        "array.delay_pre_reads",
        "true or false",
        "true",
        "whether a write that has to read first is put off while another one reads, as md does with writes that are not \
         synchronous (with stripe_cache)",
    ),
    key(
        "array.stripe_unit",
        "a size, a multiple of the page size, at most a member's logical size",
        "4KiB, or one page where pages are larger; raid4, raid5, raid6: 512KiB, or as much of it as a member holds in whole \
         pages",
        "bytes that lie together on one member, md's chunk; raid1 has none and ignores this",
    ),
    key(
        "array.interface",
        "\"nothing\", \"log\", \"window\", \"busy\" or \"command\"",
        "command",
        "what members reveal and accept, each with all that comes before it: only how long answers take; a status that can be \
         asked for; windows to collect in; operations refused at once instead of waiting for collection; word of when they \
         collect, and orders to do so",
    ),
    key(
        "array.poll",
        POSITIVE_TIME,
        "10ms",
        "how often members are asked for their status so that reads can avoid those that collect (interface = \"log\")",
    ),
    key(
        "array.reads",
        "\"wait\" or \"avoid\"; \"avoid\" needs redundancy, and interface = \"log\", \"busy\" or \"command\"",
        "wait",
        "what a read does when its member is known to collect: it waits, or its data is read from another copy or rebuilt from \
         the other members; a policy with a rule of its own for reads goes by that",
    ),
    key(
        "array.nvram",
        "a size such as \"64MiB\", a multiple of the page size; \"0B\": none",
        "0B",
        "room in which writes to members that collect are kept until these have time",
    ),
    key(
        "array.free_stripes",
        "a whole number from 0 to below the stripes of a member (raid4, raid5, raid6)",
        "0",
        "stripes at the end of the members that hold nothing of the host's, so that the policy gaftl can write there what belongs \
         to a member that collects; they are taken from the capacity under every policy",
    ),
    key(
        "array.failure",
        "an array of at most 64 tables: [[array.failure]] with `device`, and `at` or `request`",
        "none",
        "what happens to members; a coordinator hears of it, and the next spare takes the place of a member that failed",
    ),
    key("array.failure.device", "a whole number below `array.devices`", "required", "which member"),
    key(
        "array.failure.at",
        "a time such as \"10s\"; not together with `request`",
        "required, or `request`",
        "when it happens, counted from the run's start, warm-up included",
    ),
    key(
        "array.failure.request",
        "a whole number of requests, 1 to 10^12; not together with `at`",
        "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included",
    ),
    key(
        "array.failure.kind",
        "\"failure\", \"slow\" or \"replace\"; \"replace\" needs a spare",
        "failure",
        "whether the member fails, and all it holds is lost, or its flash becomes slow, or the next spare begins to take its \
         place while it works",
    ),
    key(
        "array.failure.factor",
        "a number from 1 to 1000, with kind = \"slow\" only",
        "required with kind = \"slow\"",
        "reads, programs and erases of the member take so many times as long from then on; 1 ends it",
    ),
    key(
        "array.power_loss",
        "an array of at most 16 tables: [[array.power_loss]] with `at` or `request`",
        "none",
        "when the array loses power; it is back at once, and the host submits again what was not acknowledged",
    ),
    key(
        "array.power_loss.at",
        "a time such as \"10s\"; not together with `request`",
        "required, or `request`",
        "when it happens, counted from the run's start, warm-up included",
    ),
    key(
        "array.power_loss.request",
        "a whole number of requests, 1 to 10^12; not together with `at`",
        "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included",
    ),
    key(
        "array.write_hole",
        "\"resync\", on a level with redundancy; \"bitmap\", on one but draid; \"journal\", on a level with parity; \"ppl\", on raid5",
        "resync",
        "what the array does about rows that were being written when power was lost, whose parity or copies need not agree: it \
         goes through all of the array while requests go on, or through what a write-intent bitmap says, or has logged what it was about to write, in a journal or in a \
         partial parity log",
    ),
    key(
        "array.journal",
        "a table with `preset`, `size` and `state`, with write_hole = \"journal\"",
        "a device like most members",
        "the device that data and parity are written to before the members; nobody coordinates when it collects",
    ),
    key(
        "array.journal.preset",
        "a preset with pages like those of the members, see `harmonia presets`",
        "as most members",
        "what kind of device it is",
    ),
    key(
        "array.journal.size",
        "a size such as \"1GiB\", a multiple of the page size, at least two stripes, at most the device",
        "the whole device",
        "bytes of it that are written, around and around; writes wait while the journal is full",
    ),
    key(
        "array.journal.state",
        "\"new\", or \"aged\" without a preset of its own",
        "new",
        "whether it was never written, or is in the state in which members begin the run",
    ),
    key(
        "array.ppl_size",
        "a size such as \"1MiB\", a multiple of the page size, at least a stripe unit and a block, at most half of a member; \
         with write_hole = \"ppl\"",
        "1MiB",
        "bytes at the end of each member that the partial parity log takes; writes wait while it is full",
    ),
    key(
        "array.bitmap_chunk",
        "a size such as \"1MiB\", a multiple of the stripe unit, at most 1,048,576 of them in a member; with \
         write_hole = \"bitmap\"",
        "a 1024th of a member in whole stripe units, at most 64MiB",
        "bytes of a member that a bit of the write-intent bitmap stands for; the first write to them waits until it is set on all \
         members",
    ),
    key(
        "array.bitmap_delay",
        "a duration such as \"5s\", at least 1ms; with write_hole = \"bitmap\"",
        "5s",
        "from one pass that looks for bits to clear to the next; a bit is cleared by the third one after the last write",
    ),
    key(
        "array.page_errors",
        "a number from 0 to below 1",
        "0",
        "share of page reads that find the page unreadable; with redundancy it is read from the other members and written anew",
    ),
    key(
        "array.spares",
        "a whole number, 0 to 64, on a level with redundancy and without distributed spares",
        "0",
        "devices that stand by, like most members; the next one takes the place of a member that fails and is rebuilt",
    ),
    key(
        "array.spare_state",
        "\"new\" or \"aged\"",
        "new",
        "whether spares were never written, or are in the state in which members begin the run",
    ),
    key(
        "array.rebuild",
        "a table with `min_rate`, `max_rate`, `depth`, `step` and `delay`, on a level with redundancy",
        "md's rates",
        "how fast replacements are rebuilt; scrubbing goes by the same",
    ),
    key(
        "array.rebuild.min_rate",
        "a rate such as \"1MB/s\", at least 1KB/s, at most `max_rate`",
        "1000KiB/s",
        "bytes of a member a second while requests are under way; md's sync_speed_min",
    ),
    key(
        "array.rebuild.max_rate",
        "a rate such as \"200MB/s\", at least 1KB/s",
        "200000KiB/s",
        "bytes of a member a second while there are no requests; md's sync_speed_max",
    ),
    key("array.rebuild.depth", "a whole number, 1 to 256", "4", "steps under way at a time"),
    key(
        "array.rebuild.step",
        "a size such as \"512KiB\", a multiple of the page size, at most 64MiB",
        "512KiB",
        "bytes of a member that are rebuilt at a time, during which requests for them wait",
    ),
    key(
        "array.rebuild.delay",
        "a time such as \"30s\"",
        "0s",
        "time from a failure until a spare is in its place, besides two messages to it",
    ),
    key(
        "array.scrub",
        "a table with `at` and `mode`, on a level with redundancy",
        "none",
        "all of the array is read once, and parity or copies compared",
    ),
    key(
        "array.scrub.at",
        "a time such as \"10s\"",
        "required",
        "when it begins, counted from the run's start, warm-up included",
    ),
    key(
        "array.scrub.mode",
        "\"check\" or \"repair\"",
        "check",
        "whether what does not agree is left, or written anew; nothing ever disagrees in a simulation, so both cost the same",
    ),
    key(
        "array.coordination",
        "a table with `policy`, `message_latency` and the policy's own keys",
        "local",
        "which members collect when",
    ),
    key("array.coordination.policy", "the name of a policy", "local", "coordination policy"),
    key(
        "array.coordination.message_latency",
        TIME,
        "0us",
        "time of a message between controller and device, one way",
    ),
    key(
        "array.member",
        "an array of tables: [[array.member]] with `index`, `capable` and [ssd] overrides",
        "none: all members alike",
        "members that differ from [ssd]",
    ),
    key("array.member.index", "a whole number below `array.devices`", "required", "which member"),
    key(
        "array.member.capable",
        "true or false",
        "true",
        "whether the member understands the coordinator's messages",
    ),
    key(
        "array.member.ssd",
        "a table like [ssd]",
        "[ssd]",
        "the member's overrides of [ssd]; a preset replaces [ssd] altogether",
    ),
    key(
        "ssd.preset",
        "the name of a device preset",
        "msr-slc-32g",
        "device preset, which the keys below change",
    ),
    key("ssd.geometry.channels", "a whole number, 1 to 1024", "preset", "channels of the device"),
    key("ssd.geometry.chips_per_channel", "a whole number, 1 to 1024", "preset", "chips on a channel"),
    key("ssd.geometry.dies_per_chip", "a whole number, 1 to 1024", "preset", "dies in a chip"),
    key("ssd.geometry.planes_per_die", "a whole number, 1 to 64", "preset", "planes in a die"),
    key("ssd.geometry.blocks_per_plane", "a whole number, 1 to 2^20", "preset", "raw blocks in a plane"),
    key("ssd.geometry.pages_per_block", "a whole number, 1 to 8191", "preset", "raw pages in a block"),
    key(
        "ssd.geometry.page_size",
        "a size such as \"4KiB\", a multiple of 512B, at most 1MiB",
        "preset",
        "size of a page",
    ),
    key(
        "ssd.geometry.summary_pages",
        "a whole number below `pages_per_block`",
        "preset",
        "last pages of a block, which hold its summary and no data",
    ),
    key(
        "ssd.geometry.own_pins",
        "true or false",
        "preset",
        "whether every die has its own pins; if so, dies share no bus",
    ),
    key("ssd.timing.read", POSITIVE_TIME, "preset", "array read of a page"),
    key("ssd.timing.program", POSITIVE_TIME, "preset", "program of a page"),
    key("ssd.timing.erase", POSITIVE_TIME, "preset", "erase of a block"),
    key(
        "ssd.timing.transfer",
        "a time per page (\"105.6us\") or a rate, one byte a transfer (\"166MT/s\")",
        "preset",
        "time to move a page between die and controller",
    ),
    key(
        "ssd.timing.copyback",
        "\"none\", \"plane\" or \"die\"",
        "preset",
        "how far garbage collection can move a page without transferring it",
    ),
    key(
        "ssd.timing.suspend_program",
        SUSPEND,
        "preset",
        "suspending a program: time until the die takes another command",
    ),
    key(
        "ssd.timing.suspend_erase",
        SUSPEND,
        "preset",
        "suspending an erase: time until the die takes another command",
    ),
    key(
        "ssd.timing.resume",
        TIME,
        "preset",
        "time added to the rest of a suspended operation when it continues",
    ),
    key(
        "ssd.link.bandwidth",
        "a rate such as \"300MB/s\", at least 1KB/s",
        "preset",
        "bandwidth of the host link",
    ),
    key("ssd.link.latency", TIME, "preset", "latency of the host link, added once to every sub-request"),
    key(
        "ssd.ftl.reserved_blocks",
        "a share of the raw blocks (\"15%\") or a number of blocks per allocation unit",
        "preset",
        "over-provisioning, (T - U)/T of all T blocks",
    ),
    key(
        "ssd.ftl.allocation",
        "\"dynamic\", or the letters c, w, d, p in any order, such as \"cwdp\" or \"pdwc\"",
        "preset",
        "which die a logical page goes to; dynamic: the die with the shortest queue among those that do not collect; \
         letters: by page number, through channels, ways (chips), dies and planes, the first letter fastest (where \
         dies own their blocks, p has no effect)",
    ),
    key(
        "ssd.ftl.allocation_unit",
        "\"die\" or \"plane\"",
        "preset",
        "what owns a write frontier and free blocks",
    ),
    key(
        "ssd.ftl.frontiers",
        "\"shared\" or \"separate\"",
        "preset",
        "whether host pages and collected pages share a write frontier",
    ),
    key(
        "ssd.ftl.priority",
        "\"fifo\" or \"reads-first\"",
        "preset",
        "order of host operations at a die, and of transfers on a shared bus; at a die collection goes before both",
    ),
    key(
        "ssd.ftl.multi_plane",
        "true or false",
        "preset",
        "whether host reads and programs of sibling planes with the same page offset share a multi-plane command",
    ),
    key(
        "ssd.ftl.open_blocks",
        "a whole number, 1 to 64",
        "2",
        "partly written blocks that a unit may have, for schedules that open one when they collect",
    ),
    key(
        "ssd.gc.domain",
        "\"die\", \"device\", \"channel\" or \"plane\" (where planes own their blocks)",
        "preset",
        "what collects together",
    ),
    key("ssd.gc.trigger", "\"foreground\" or \"background\"", "preset", "when thresholds are checked"),
    key(
        "ssd.gc.hard_threshold",
        "blocks per allocation unit (5) or a share, floored (\"5%\")",
        "preset",
        "a unit collects when it has this many free blocks or fewer",
    ),
    key("ssd.gc.soft_threshold", THRESHOLD, "preset", "free blocks at or below which a device registers"),
    key("ssd.gc.stop_threshold", THRESHOLD, "preset", "an event ends when free exceeds this"),
    key(
        "ssd.gc.begins_at",
        "\"schedule\" or \"soft\"",
        "preset",
        "threshold at which collection begins. schedule: hard, or soft under schedules that let the host go first until hard; \
         the device is aged at hard. soft: soft under every schedule, and the device is aged there",
    ),
    key("ssd.gc.min_victims", "a whole number, 1 to 65536", "preset", "victims an event takes at least"),
    key(
        "ssd.gc.victim",
        "the name of a victim policy, or a table with `policy` and the policy's own keys",
        "preset",
        "which block to collect",
    ),
    key("ssd.gc.victim.policy", "the name of a victim policy", "preset", "victim policy"),
    key(
        "ssd.gc.victim_d",
        "a whole number, 1 to 1000",
        "none",
        "older spelling of ssd.gc.victim.d, of d-choices",
    ),
    key(
        "ssd.gc.schedule",
        "the name of a schedule, or a table with `policy` and the schedule's own keys",
        "preset",
        "whether a die serves the host or collects next",
    ),
    key("ssd.gc.schedule.policy", "the name of a schedule", "preset", "schedule"),
    key("ssd.gc.slack", TIME, "none", "older spelling of ssd.gc.schedule.slack, of the schedule slack"),
    key(
        "ssd.gc.destination",
        "\"unit\" or (with dynamic allocation) \"device\"",
        "preset",
        "where moved pages go: to their own allocation unit, or to the unit of the device with the most free blocks",
    ),
    key(
        "ssd.gc.concurrency",
        "the name of a policy, or a table with `policy` and the policy's own keys",
        "preset",
        "how many channels may collect at once",
    ),
    key("ssd.gc.concurrency.policy", "the name of a policy", "preset", "concurrency policy"),
];

/// What the papers name and a later version will know: a person who asks for it has not misspelt anything.
const PLANNED: &[(&str, &[&str])] = &[("array.coordination.policy", &["swan"])];

/// Whether `value` of the key at `path` is planned but not there yet.
pub(crate) fn planned(path: &str, value: &str) -> bool {
    PLANNED.iter().any(|(key, values)| *key == path && values.contains(&value))
}

/// Whether the key at `path` takes a policy of a device: its name, or a table with it.
pub(crate) fn names_a_policy(path: &str) -> bool {
    path.starts_with("ssd.gc.") && find(&format!("{path}.policy")).is_some()
}

/// The key at `path`.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Names of the keys and tables directly below `table` (the root is empty), each once, in the documented order.
pub(crate) fn names_in(table: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in KEYS {
        let below = match table {
            "" => Some(key.path),
            table => key.path.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = below.map(|below| below.split('.').next().unwrap_or(below));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}
