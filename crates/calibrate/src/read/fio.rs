//! JSON of fio, with or without bins (`--output-format=json+`).
//!
//! Jobs of a file ran at the same time up to one with `stonewall`, which begins the next experiment. Jobs of one name are one stream. A file
//! may have several runs as a list, and lines that fio printed before its JSON.
//!
//! Source: the manual of fio 3. Latencies are completion latencies (`clat_ns`, or `clat` in us before fio 3), because asynchronous engines
//! submit in no time. Refused, because a simulation would be of another load: trims, sizes and addresses that vary, a part of the drive,
//! rates in bytes, think times, reads and writes in one figure.

use harmonia_scenario::{BadInput, printable};
use serde_json::{Map, Value};

use crate::measured::{Cdf, Experiment, Side, Stream};

const MODES: &str = "read, write, randread, randwrite, rw or randrw";

/// Where the JSON begins: with the first line that begins an object or a list of objects; `None` if there is none.
pub(super) fn begins(text: &str) -> Option<usize> {
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let first = line.trim_start();
        // The first object of a list may begin on a line below.
        let rest = first.starts_with('[').then(|| text[from..].trim_start()[1..].trim_start());
        if rest.unwrap_or(first).starts_with('{') {
            return Some(from);
        }
        from += line.len();
    }
    None
}

/// The experiments of a file.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Experiment>, BadInput> {
    let (before, text) = text.split_at(begins(text).unwrap_or(0));
    let json: Value = serde_json::from_str(text).map_err(|error| {
        let line = before.lines().count() + error.line();
        let problem = format!("{file}:{line}: is not the JSON of fio: {error}");
        BadInput::plain(problem, "allowed: what fio --output-format=json+ --output=FILE writes")
    })?;
    match json {
        Value::Array(runs) => {
            let at = |index| At { file, path: format!("[{index}]") };
            let each = runs.iter().enumerate().map(|(index, one)| run(&at(index), one));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        one => run(&At { file, path: String::new() }, &one),
    }
}

/// The experiments of one run of fio.
fn run(at: &At<'_>, json: &Value) -> Result<Vec<Experiment>, BadInput> {
    let nothing = Map::new();
    let global = json.get("global options").and_then(Value::as_object).unwrap_or(&nothing);
    let jobs = json.get("jobs").and_then(Value::as_array);
    let jobs = jobs.ok_or_else(|| at.below("jobs").bad("is missing", "a list of jobs, as fio writes it"))?;
    let mut groups: Vec<Vec<(String, Stream)>> = Vec::new();
    let mut group_before = None;
    for (index, job) in jobs.iter().enumerate() {
        let at = at.below(&format!("jobs[{index}]"));
        let own = job.get("job options").and_then(Value::as_object).unwrap_or(&nothing);
        let options = Options { at: &at, own, global };
        let name = printable(job.get("jobname").and_then(Value::as_str).unwrap_or("job"), 60);
        if job.get("error").and_then(Value::as_i64).is_some_and(|error| error != 0) {
            return Err(at.below("error").bad("says that the job failed", "0: measure it again"));
        }
        let stream = stream(&at, job, &options)?;
        let is_same = groups.last().and_then(|group| group.last()).is_some_and(|(before, _)| *before == name);
        let waits = ["stonewall", "wait_for_previous"].iter().any(|name| options.get(name).is_some());
        // A `stonewall` begins another group, also where options without a value are left out.
        let group = job.get("groupid").and_then(Value::as_u64);
        let is_other = group != group_before && options.get("new_group").is_none();
        if groups.is_empty() || is_other || waits && !is_same {
            groups.push(Vec::new());
        }
        group_before = group;
        let group = groups.last_mut().expect("the first job begins a group");
        match group.last_mut() {
            Some((before, whole)) if *before == name => join(whole, stream),
            _ => group.push((name, stream)),
        }
    }
    if groups.is_empty() {
        return Err(at.below("jobs").bad("is empty", "one job or more"));
    }
    let experiment = |group: Vec<(String, Stream)>| {
        let (names, streams): (Vec<String>, Vec<Stream>) = group.into_iter().unzip();
        Experiment { name: names.join("+"), streams }
    };
    Ok(groups.into_iter().map(experiment).collect())
}

/// A place in a file.
#[derive(Clone)]
struct At<'a> {
    file: &'a str,
    path: String,
}

impl<'a> At<'a> {
    fn below(&self, name: &str) -> At<'a> {
        let dot = if self.path.is_empty() { "" } else { "." };
        At { file: self.file, path: format!("{}{dot}{name}", self.path) }
    }

    fn bad(&self, problem: &str, allowed: &str) -> BadInput {
        BadInput::plain(format!("{}: `{}` {problem}", self.file, self.path), &format!("allowed: {allowed}"))
    }

    /// A number that must be there, not negative.
    fn number(&self, of: &Value, name: &str) -> Result<f64, BadInput> {
        let value = of.get(name).and_then(Value::as_f64).filter(|value| value.is_finite() && *value >= 0.0);
        value.ok_or_else(|| self.below(name).bad("is missing or no number", "a number, as fio writes it"))
    }
}

/// Options of a job, or else those of all.
struct Options<'a> {
    at: &'a At<'a>,
    own: &'a Map<String, Value>,
    global: &'a Map<String, Value>,
}

impl Options<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        [self.own, self.global].iter().find_map(|options| options.get(name)).and_then(Value::as_str)
    }

    fn bad(&self, name: &str, allowed: &str) -> BadInput {
        let problem = match self.get(name) {
            Some(value) => format!("cannot be {}", printable(value, 40)),
            None => "is missing".to_owned(),
        };
        self.at.below("job options").below(name).bad(&problem, allowed)
    }

    /// A whole number, 1 or more.
    fn count(&self, name: &str) -> Result<u32, BadInput> {
        let Some(text) = self.get(name) else { return Ok(1) };
        let count = text.trim().parse().ok().filter(|count| (1..=65_536).contains(count));
        count.ok_or_else(|| self.bad(name, "a whole number from 1 to 65536"))
    }

    fn block(&self) -> Result<u64, BadInput> {
        let text = self.get("bs").or_else(|| self.get("blocksize"));
        let bytes =
            text.map_or(Some(4096), size).filter(|bytes| bytes % 512 == 0 && (512..=1 << 30).contains(bytes));
        bytes.ok_or_else(|| self.bad("bs", "one size such as 4k, a multiple of 512 bytes up to 1g"))
    }

    /// Requests a second of one job.
    fn rate(&self, reads: f64) -> Result<Option<f64>, BadInput> {
        if self.get("rate").is_some() {
            return Err(self.bad("rate", "rate_iops, in requests a second"));
        }
        let Some(text) = self.get("rate_iops") else { return Ok(None) };
        let parts: Vec<Option<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        let read = parts.first().copied().flatten();
        let write = parts.get(1).copied().flatten();
        let rate = match (reads, parts.len()) {
            (0.0, 2..) => write,
            (0.0 | 1.0, 1) | (1.0, _) => read,
            // One value holds for reads and for writes, which are not as many.
            (_, 1) => {
                return Err(self.bad("rate_iops", "two values, of reads and of writes, such as 3000,2000"));
            }
            (_, _) => read.zip(write).map(|(read, write)| read + write),
        };
        let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        rate.map(Some).ok_or_else(|| self.bad("rate_iops", "requests a second, such as 5000"))
    }
}

/// A size of fio: `4k` is 4 KiB.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Options that make a load which is not simulated.
const OTHER_LOADS: [&str; 9] = [
    "bssplit",
    "bsrange",
    "blocksize_range",
    "thinktime",
    "percentage_random",
    "offset",
    "io_size",
    "zonesize",
    "file_service_type",
];
/// Engines that have one request under way, whatever `iodepth` says.
const ONE_AT_A_TIME: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Refuses what would be simulated as another load.
fn check_load(options: &Options<'_>) -> Result<(), BadInput> {
    for (name, value) in options.own.iter().chain(options.global) {
        if !value.is_string() {
            return Err(options
                .at
                .below("job options")
                .below(name)
                .bad("is no text", "options as fio writes them"));
        }
    }
    if let Some(name) = OTHER_LOADS.iter().find(|name| options.get(name).is_some()) {
        return Err(options.bad(name, "jobs without it, as `harmonia calibrate plan` has them"));
    }
    if options.get("size").is_some_and(|size| size.trim() != "100%") {
        return Err(options.bad("size", "100%: all of the drive"));
    }
    if options.get("direct").is_some_and(|direct| direct.trim() == "0") {
        return Err(options.bad("direct", "1: without the cache of the system"));
    }
    if options.get("random_distribution").is_some_and(|drawn| drawn.trim() != "random") {
        return Err(options.bad("random_distribution", "random"));
    }
    if options.get("ioengine").is_some_and(|engine| ONE_AT_A_TIME.contains(&engine))
        && options.count("iodepth")? > 1
    {
        return Err(options.bad("ioengine", "io_uring or libaio, where iodepth is above 1"));
    }
    Ok(())
}

fn stream(at: &At<'_>, job: &Value, options: &Options<'_>) -> Result<Stream, BadInput> {
    check_load(options)?;
    let mode = options.get("rw").or_else(|| options.get("readwrite")).unwrap_or_default();
    let share = || -> Result<f64, BadInput> {
        let percent = |name| options.get(name).map(|text| text.trim().parse::<f64>().ok());
        let share = match (percent("rwmixread"), percent("rwmixwrite")) {
            (Some(read), _) => read,
            (None, Some(write)) => write.map(|write| 100.0 - write),
            (None, None) => Some(50.0),
        };
        let share = share.filter(|share| (0.0..=100.0).contains(share)).map(|share| share / 100.0);
        share.ok_or_else(|| options.bad("rwmixread", "percent of requests that read, 0 to 100"))
    };
    let (reads, is_random) = match mode {
        "read" => (1.0, false),
        "write" => (0.0, false),
        "randread" => (1.0, true),
        "randwrite" => (0.0, true),
        "rw" | "readwrite" => (share()?, false),
        "randrw" => (share()?, true),
        _ => return Err(options.bad("rw", MODES)),
    };
    let works = |name: &str| {
        job.get(name).and_then(|side| side.get("iops")).and_then(Value::as_f64).is_some_and(|iops| iops > 0.0)
    };
    if reads == 1.0 && works("write") || reads == 0.0 && works("read") {
        return Err(options.bad("rw", "jobs without group_reporting: here several are one entry"));
    }
    let jobs = options.count("numjobs")?;
    // Without group_reporting fio has one entry for each job.
    let jobs =
        if options.own.contains_key("group_reporting") || options.global.contains_key("group_reporting") {
            jobs
        } else {
            1
        };
    let side = |is_there: bool, name| is_there.then(|| side(&at.below(name), job.get(name))).transpose();
    Ok(Stream {
        reads,
        is_random,
        block: options.block()?,
        depth: options.count("iodepth")?,
        jobs,
        rate: options.rate(reads)?.map(|rate| rate * f64::from(jobs)),
        is_poisson: options.get("rate_process") == Some("poisson"),
        read: side(reads > 0.0, "read")?,
        write: side(reads < 1.0, "write")?,
    })
}

fn side(at: &At<'_>, side: Option<&Value>) -> Result<Side, BadInput> {
    let side = side.ok_or_else(|| at.bad("is missing", "figures of the job, as fio writes them"))?;
    let rate = at.number(side, "iops")?;
    if rate == 0.0 {
        return Err(at.below("iops").bad("is 0", "a job that has done something"));
    }
    let tables = || LATENCIES.iter().filter_map(|&(name, per_us)| Some((side.get(name)?, per_us)));
    let latency = tables().map(|(latency, per_us)| cdf(latency, per_us)).find(|cdf| !cdf.is_empty());
    // fio writes 0 where it has measured none.
    let mean = tables().find_map(|(latency, per_us)| {
        latency.get("mean")?.as_f64().filter(|mean| *mean > 0.0).map(|mean| mean / per_us)
    });
    Ok(Side { rate, mean, latency: latency.unwrap_or_default() })
}

const NS: f64 = 1e3;
/// Tables of latencies, in the order in which they are looked for, with how many of their units are a us.
const LATENCIES: [(&str, f64); 4] = [("clat_ns", NS), ("lat_ns", NS), ("clat", 1.0), ("lat", 1.0)];

/// The distribution of a table of latencies of which so many units are a us: its bins, or else its percentiles.
fn cdf(latency: &Value, per_us: f64) -> Cdf {
    let table = |name: &str| latency.get(name).and_then(Value::as_object);
    // Bins of versions that count in us are not named after latencies.
    if let Some(bins) = table("bins").filter(|_| per_us == NS) {
        let counts =
            bins.iter().filter_map(|(ns, count)| Some((ns.parse::<f64>().ok()? / per_us, count.as_u64()?)));
        return Cdf::of_counts(counts.filter(|(us, count)| us.is_finite() && *count > 0).collect());
    }
    let percentiles = table("percentile").into_iter().flatten();
    let point = |(percent, ns): (&String, &Value)| {
        Some((ns.as_f64()? / per_us, percent.parse::<f64>().ok()? / 100.0))
    };
    Cdf::of_percentiles(
        percentiles.filter_map(point).filter(|(us, share)| us.is_finite() && share.is_finite()).collect(),
    )
}

/// Takes in another job of the same name. Percentiles of two jobs are not those of both, so only bins are kept.
fn join(whole: &mut Stream, other: Stream) {
    whole.jobs += other.jobs;
    whole.rate = whole.rate.zip(other.rate).map(|(one, other)| one + other);
    let sides = [(&mut whole.read, other.read), (&mut whole.write, other.write)];
    for (whole, other) in sides {
        if let (Some(whole), Some(other)) = (whole, other) {
            let latency = std::mem::take(&mut whole.latency).joined(whole.rate, other.latency, other.rate);
            let both = whole.rate + other.rate;
            let mean = |(one, two): (f64, f64)| (one * whole.rate + two * other.rate) / both;
            whole.mean = whole.mean.zip(other.mean).map(mean);
            (whole.rate, whole.latency) = (both, latency);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Kind;

    const WRITER: &str = r#"{"jobname": "w", "job options": {"rw": "randwrite", "bs": "4k", "iodepth": "64", "numjobs": "2"},
        "write": {"iops": 500.5, "clat_ns": {"bins": {"8000": 3, "9000": 1}}}}"#;

    fn file(jobs: &[&str]) -> String {
        format!(
            "{{\"fio version\": \"fio-3.36\", \"global options\": {{\"direct\": \"1\"}}, \"jobs\": [{}]}}",
            jobs.join(",")
        )
    }

    fn refused(text: &str) -> String {
        read("m.json", text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn jobs_up_to_a_stonewall_are_one_experiment() {
        let reader = r#"{"jobname": "r", "job options": {"rw": "randread", "rate_iops": "5000,", "stonewall": ""},
            "read": {"iops": 5000, "clat_ns": {"percentile": {"50.000000": 61000, "99.000000": 240000}}}}"#;
        let beside = r#"{"jobname": "b", "job options": {"rw": "randwrite", "rate_iops": "1000"}, "write": {"iops": 1000}}"#;
        let experiments = read("m.json", &file(&[WRITER, WRITER, reader, beside])).expect("read");
        let names: Vec<&str> = experiments.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["w", "r+b"]);
        let writer = &experiments[0].streams[0];
        let write = writer.write.as_ref().expect("writes");
        assert_eq!(
            (writer.jobs, writer.depth, write.rate, write.latency.at(0.5)),
            (2, 64, 1_001.0, Some(8.0))
        );
        assert_eq!(experiments[0].kind(), Kind::Uniform);
        let probe = experiments[1].streams[0].read.as_ref().expect("reads");
        assert_eq!((probe.latency.at(0.5), probe.latency.at(0.99)), (Some(61.0), Some(240.0)));
        assert_eq!((experiments[1].kind(), experiments[1].streams[0].rate), (Kind::Beside, Some(5_000.0)));
    }

    /// A job of fio 3 with the members that nobody here reads, in the order in which it writes them.
    fn whole_job(name: &str, group: u32, options: &str, working: &str, idle: &str) -> String {
        let side = |iops: &str, clat: &str| {
            format!(
                r#"{{"io_bytes": 4096, "bw_bytes": 4096, "bw": 4, "iops": {iops}, "runtime": 60001, "total_ios": 1,
                "slat_ns": {{"min": 900, "max": 9000, "mean": 1200.5, "stddev": 3.1, "N": 7}}, "clat_ns": {clat},
                "lat_ns": {{"min": 1, "max": 9, "mean": 9999.0, "stddev": 1.0, "N": 7}}, "bw_min": 4, "iops_samples": 119}}"#
            )
        };
        let working_side = side(
            "15000.25",
            r#"{"min": 50000, "max": 90000, "mean": 62500.5, "stddev": 10.0, "N": 4, "percentile": {"1.000000": 1, "99.000000": 2},
            "bins": {"60160": 2, "61184": 1, "75264": 1}}"#,
        );
        let nothing =
            side("0.000000", r#"{"min": 0, "max": 0, "mean": 0.000000, "stddev": 0.000000, "N": 0}"#);
        format!(
            r#"{{"jobname": "{name}", "groupid": {group}, "job_start": 1700000000000, "error": 0, "eta": 0, "elapsed": 61,
            "job options": {{{options}}}, "{working}": {working_side}, "{idle}": {nothing}, "trim": {nothing},
            "sync": {{"total_ios": 0, "lat_ns": {{"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}}}},
            "job_runtime": 60000, "usr_cpu": 1.2, "iodepth_level": {{"1": 100.0, ">=64": 0.0}}, "latency_us": {{"100": 99.9}}}}"#
        )
    }

    fn whole_file(jobs: &[String]) -> String {
        format!(
            r#"{{
  "fio version": "fio-3.36", "timestamp": 1700000000, "timestamp_ms": 1700000000123, "time": "Tue Nov 14 22:13:20 2023",
  "global options": {{"filename": "/dev/nvme0n1", "direct": "1", "bs": "4k", "ioengine": "io_uring", "norandommap": ""}},
  "jobs": [{}],
  "disk_util": [{{"name": "nvme0n1", "read_ios": 1, "write_ios": 1, "in_queue": 5, "util": 99.9}}]
}}
"#,
            jobs.join(",\n")
        )
    }

    fn names(experiments: &[Experiment]) -> Vec<&str> {
        experiments.iter().map(|one| one.name.as_str()).collect()
    }

    /// What fio 3 writes beside what is used stands in nobody's way; submission latencies and those of both parts are not taken.
    #[test]
    fn a_whole_file_of_fio_is_read() {
        let one = whole_job("one", 0, r#""rw": "randread", "iodepth": "1""#, "read", "write");
        let many = r#""rw": "randread", "iodepth": "256", "numjobs": "2""#;
        let many = whole_job("many", 0, many, "read", "write");
        let writes = whole_job("w", 1, r#""rw": "randwrite", "iodepth": "64""#, "write", "read");
        let text = whole_file(&[one.clone(), many.clone(), many, writes]);
        let experiments = read("m.json", &text).expect("read");
        // The number of a group says what a `stonewall` that is left out would.
        assert_eq!(names(&experiments), ["one+many", "w"]);
        let [crowd, uniform] = &experiments[..] else { panic!("two experiments") };
        assert_eq!((crowd.kind(), uniform.kind()), (Kind::Crowd, Kind::Uniform));
        assert_eq!((crowd.outstanding(), crowd.completed()), (513, 45_000.75));
        let read_side = crowd.streams[0].read.as_ref().expect("reads");
        assert_eq!((read_side.mean, read_side.latency.at(0.5)), (Some(62.5005), Some(60.16)));
        let both = crowd.streams[1].read.as_ref().expect("reads");
        assert_eq!((both.mean, both.rate), (Some(62.5005), 30_000.5));
        // Another group without a `stonewall` runs at the same time.
        let beside = whole_job("b", 1, r#""rw": "randwrite", "new_group": """#, "write", "read");
        let experiments = read("m.json", &whole_file(&[one.clone(), beside])).expect("read");
        assert_eq!(names(&experiments), ["one+b"]);
        // A `stonewall` for all jobs.
        let last = whole_job("last", 0, r#""rw": "randread""#, "read", "write");
        let walls = whole_file(&[one, last]).replace("\"norandommap\"", "\"stonewall\"");
        assert_eq!(names(&read("m.json", &walls).expect("read")), ["one", "last"]);
    }

    #[test]
    fn runs_in_a_list_and_lines_before_them_are_read() {
        let job = |name| whole_file(&[whole_job(name, 0, r#""rw": "randread""#, "read", "write")]);
        let text = format!("[\n{},\n{}]\n", job("a"), job("b"));
        assert_eq!(names(&read("m.json", &text).expect("read")), ["a", "b"]);
        let warned = format!("fio: time, and again, is no engine\n\nnote: both\n{}", job("a"));
        assert_eq!(begins(&warned), Some(warned.find('{').expect("an object")));
        assert_eq!(names(&read("m.json", &warned).expect("read")), ["a"]);
        assert_eq!(begins("[drive]\ncapacity = \"1TB\"\n"), None);
        // The line of the file is named, and the run of the list.
        let late = refused(&format!("{warned}{}", job("b")));
        let says = format!("m.json:{}: is not the JSON of fio", warned.lines().count() + 1);
        assert!(late.contains(&says), "{says}: {late}");
        assert!(refused("[{\"jobs\": []}]").contains("`[0].jobs` is empty"));
        assert!(refused("[{}, 5]").contains("`[0].jobs` is missing"));
    }

    /// fio 2 has no unit in the names of its tables: it counts in us, and its bins are numbered.
    #[test]
    fn older_fio_counts_in_us() {
        let job = r#"{"jobname": "old", "groupid": 0, "error": 0, "job options": {"rw": "randread", "iodepth": "1"},
            "read": {"io_bytes": 4, "iops": 14000, "slat": {"mean": 2.0}, "clat": {"min": 50, "max": 90, "mean": 61.25,
            "percentile": {"1.000000": 58, "50.000000": 61, "99.000000": 80, "0.00": 0}, "bins": {"FIO_IO_U_PLAT_BITS": 6, "57": 4}},
            "lat": {"mean": 63.0}}, "write": {"iops": 0.0}}"#;
        let experiments = read("m.json", &file(&[job])).expect("read");
        let side = experiments[0].streams[0].read.as_ref().expect("reads");
        assert_eq!(
            (side.mean, side.latency.at(0.5), side.latency.at(0.99)),
            (Some(61.25), Some(61.0), Some(80.0))
        );
    }

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(
            ["4k", "512", "1M", "128KiB", "x", "4q"].map(size),
            [Some(4096), Some(512), Some(1 << 20), Some(1 << 17), None, None]
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let with = |from: &str, to: &str| file(&[&WRITER.replace(from, to)]);
        for (text, says) in [
            ("{\"jobs\": [".to_owned(), "m.json:1: is not the JSON of fio"),
            ("{}".to_owned(), "m.json: `jobs` is missing"),
            (file(&[]), "`jobs` is empty"),
            (with("randwrite", "trim"), "`jobs[0].job options.rw` cannot be trim"),
            (with("\"rw\"", "\"wr\""), "`jobs[0].job options.rw` is missing"),
            (with("4k", "4k-8k"), "`jobs[0].job options.bs` cannot be 4k-8k"),
            (with("\"64\"", "\"0\""), "`jobs[0].job options.iodepth` cannot be 0"),
            (with("500.5", "\"many\""), "`jobs[0].write.iops` is missing or no number"),
            (with("500.5", "0"), "`jobs[0].write.iops` is 0"),
            (with("\"write\"", "\"trim\""), "`jobs[0].write` is missing"),
            (with("\"write\"", "\"mixed\""), "`jobs[0].write` is missing"),
            (with("\"write\"", "\"read\""), "options.rw` cannot be randwrite"),
            (with("\"bs\"", "\"rate\": \"10m\", \"bs\""), "`jobs[0].job options.rate` cannot be 10m"),
            (
                with("\"bs\"", "\"thinktime\": \"100\", \"bs\""),
                "`jobs[0].job options.thinktime` cannot be 100",
            ),
            (with("\"bs\"", "\"size\": \"10g\", \"bs\""), "options.size` cannot be 10g"),
            (with("\"bs\"", "\"direct\": \"0\", \"bs\""), "options.direct` cannot be 0"),
            (
                with("\"bs\"", "\"random_distribution\": \"zipf:1.2\", \"bs\""),
                "random_distribution` cannot be zipf:1.2",
            ),
            (with("\"bs\"", "\"ioengine\": \"psync\", \"bs\""), "options.ioengine` cannot be psync"),
            (with("\"iodepth\": \"64\"", "\"iodepth\": 64"), "options.iodepth` is no text"),
            (with("\"write\"", "\"read\": {\"iops\": 7}, \"write\""), "options.rw` cannot be randwrite"),
            (with("randwrite\"", "randrw\", \"rate_iops\": \"1000\""), "rate_iops` cannot be 1000"),
            (with("\"bs\"", "\"rate_iops\": \"fast\", \"bs\""), "rate_iops` cannot be fast"),
            (with("\"jobname\"", "\"error\": 5, \"jobname\""), "`jobs[0].error` says that the job failed"),
        ] {
            let message = refused(&text);
            assert!(message.contains(says) && message.contains("allowed: "), "{says}: {message}");
        }
    }
}
