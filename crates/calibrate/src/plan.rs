//! The jobs of fio that measure what a calibration needs, as one file that fio takes.
//!
//! Source: the manual of fio 3. The drive is named in the environment (`DRIVE`), because the jobs erase what is on it.

/// How long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// About an hour on a drive of 1 TB. Uniform writes may not be in their steady state at the end.
    Hour,
    /// A night: the drive is overwritten until its rate stays.
    Night,
}

const HEAD: &str = "\
# Measures a drive for `harmonia calibrate`. IT ERASES WHAT IS ON THE DRIVE.
#
#   nvme format -s 1 /dev/nvmeXn1                  # the fill needs an erased drive
#   DRIVE=/dev/nvmeXn1 fio --output-format=json+ --output=measured.json plan.fio
#   harmonia calibrate measured.json overwrite_bw.2.log sheet.toml --out my-drive.toml
#
# sheet.toml has what fio does not know:
#   [drive]
#   capacity = \"960GB\"
#   [over_time]
#   written_before = 1.0                           # the log begins when the drive has been filled once

[global]
filename=${DRIVE}
direct=1
ioengine=io_uring
norandommap
randrepeat=0
bs=4k
";

/// The file. Jobs are not reported as groups, because fio would make one of two that run at the same time.
pub fn plan(length: Length) -> String {
    let (overwrite, load) = match length {
        Length::Hour => ("30m", "120s"),
        Length::Night => ("6h", "600s"),
    };
    let mut text = HEAD.to_owned();
    let mut job = |name: &str, why: &str, options: &[&str]| {
        text.push_str(&format!("\n# {why}\n[{name}]\n"));
        options.iter().for_each(|option| text.push_str(&format!("{option}\n")));
    };
    let runtime = |time: &str| format!("time_based\nruntime={time}");
    let (overwrite, load, idle) = (runtime(overwrite), runtime(load), runtime("60s"));
    job(
        "fill",
        "How fast is a program? It fills the whole drive once.",
        &["stonewall", "rw=write", "bs=512k", "iodepth=4", "size=100%"],
    );
    job(
        "overwrite",
        "How much spare is there? The place of the cliff, and the rate in the end.",
        &[
            "stonewall",
            "rw=randwrite",
            "iodepth=256",
            &overwrite,
            "write_bw_log=overwrite",
            "log_avg_msec=1000",
        ],
    );
    job(
        "uniform",
        "How fast are uniform writes?",
        &["stonewall", "rw=randwrite", "iodepth=64", "numjobs=4", &load],
    );
    job(
        "idle-writes",
        "How long does a write take that waits for nothing?",
        &["stonewall", "rw=randwrite", "iodepth=1", "rate_iops=1000", &idle],
    );
    job(
        "idle-reads",
        "How long do the types of pages take?",
        &["stonewall", "rw=randread", "iodepth=1", &idle],
    );
    job(
        "one-read",
        "How many commands does the drive take at once? Each job needs a processor, and so a queue, of its own.",
        &["stonewall", "rw=randread", "iodepth=1", &load],
    );
    job("many-reads", "They run at the same time.", &["rw=randread", "iodepth=256", "numjobs=4", &load]);
    let reads = ["rw=randread", "iodepth=64", "rate_iops=5000", load.as_str()];
    let with_wall: Vec<&str> = std::iter::once("stonewall").chain(reads).collect();
    job("beside-reads", "How long does a program run before it is suspended?", &with_wall);
    job(
        "beside-writes",
        "They run at the same time.",
        &["rw=randwrite", "iodepth=64", "rate_iops=10000", &load],
    );
    job(
        "held-out-reads",
        "The last experiment is held out: it is predicted, and nothing is fitted on it.",
        &with_wall,
    );
    job(
        "held-out-writes",
        "They run at the same time.",
        &["rw=randwrite", "iodepth=64", "rate_iops=20000", &load],
    );
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Options of fio that a plan may have, with what each takes.
    const KNOWN: [(&str, &str); 16] = [
        ("bs", "size"),
        ("direct", "flag"),
        ("filename", "text"),
        ("iodepth", "count"),
        ("ioengine", "text"),
        ("log_avg_msec", "count"),
        ("norandommap", ""),
        ("numjobs", "count"),
        ("randrepeat", "flag"),
        ("rate_iops", "count"),
        ("runtime", "time"),
        ("rw", "mode"),
        ("size", "share"),
        ("stonewall", ""),
        ("time_based", ""),
        ("write_bw_log", "text"),
    ];

    fn takes(kind: &str, value: &str) -> bool {
        let number = |text: &str| text.parse::<u32>().is_ok_and(|number| number > 0);
        let unit = |units: &[&str]| units.iter().any(|unit| value.strip_suffix(unit).is_some_and(number));
        match kind {
            "" => value.is_empty(),
            "count" => number(value),
            "flag" => value == "0" || value == "1",
            "mode" => ["read", "write", "randread", "randwrite"].contains(&value),
            "share" => unit(&["%"]),
            "size" => unit(&["k", "m"]),
            "time" => unit(&["s", "m", "h"]),
            _ => !value.is_empty(),
        }
    }

    /// The sections of an INI file as fio reads it; panics where fio would complain.
    fn parsed(text: &str) -> Vec<(String, BTreeMap<String, String>)> {
        let mut sections: Vec<(String, BTreeMap<String, String>)> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                assert!(sections.iter().all(|(known, _)| known != name), "{name} stands twice");
                sections.push((name.to_owned(), BTreeMap::new()));
                continue;
            }
            let (option, value) = line.split_once('=').unwrap_or((line, ""));
            let kind = KNOWN.iter().find(|(known, _)| *known == option).map(|(_, kind)| *kind);
            assert!(kind.is_some_and(|kind| takes(kind, value)), "{line}");
            let (_, options) = sections.last_mut().expect("an option belongs to a section");
            assert!(options.insert(option.to_owned(), value.to_owned()).is_none(), "{line} stands twice");
        }
        sections
    }

    #[test]
    fn fio_takes_the_plan() {
        for length in [Length::Hour, Length::Night] {
            let sections = parsed(&plan(length));
            assert_eq!(sections[0].0, "global");
            for (name, options) in &sections[1..] {
                assert!(options.contains_key("rw"), "{name} has no mode");
                assert!(options.contains_key("runtime") || options.contains_key("size"), "{name} has no end");
            }
            let walls = sections.iter().filter(|(_, options)| options.contains_key("stonewall")).count();
            assert_eq!(walls, 8, "experiments");
        }
    }
}
