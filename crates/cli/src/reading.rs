//! The options that say how a trace is read, the same for every command that takes one.
//!
//! `harmonia trace ...` hands them to the readers ([`Reading::options`]); where a scenario is run they override its keys
//! of the same meaning ([`Reading::flags`]).

use clap::Args;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use harmonia_scenario::{FlagValue, ReadingFlag};
use harmonia_trace::TraceOptions;
use harmonia_trace::{AUTO, Action, Columns, EventFormat, OperationCodes, UnitOptions};
use harmonia_types::units::{parse_bytes, parse_duration};
use harmonia_types::{Bytes, SimDuration};

/// Where they stand in the help.
const READING: &str = "Reading a trace";

/// How a trace is read; what is not given is left to its format, or to the scenario.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Reading {
    /// Its format; found out from the content if not given. See `harmonia formats`
    #[arg(long, value_name = "FORMAT", help_heading = READING)]
    pub format: Option<String>,
    /// What the columns of a table are: names among time, op, offset, size, volume, fua, handle, response, - for any other (csv)
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, help_heading = READING)]
    pub columns: Option<Columns>,
    /// Unit of the time column: ns, 100ns, us, ms, s or any duration (formats with such a column: csv, disksim, msr ..)
    #[arg(long, value_name = "UNIT", value_parser = parse_time_unit, help_heading = READING)]
    pub time_unit: Option<SimDuration>,
    /// Unit of the address column, in bytes or as 4KiB (formats with such a column: csv, disksim, spc, msr ..)
    #[arg(long, value_name = "SIZE", value_parser = parse_unit, help_heading = READING)]
    pub address_unit: Option<Bytes>,
    /// Unit of the size column, in bytes or as 4KiB (formats with such a column: csv, disksim, spc, msr ..)
    #[arg(long, value_name = "SIZE", value_parser = parse_unit, help_heading = READING)]
    pub size_unit: Option<Bytes>,
    /// The value of the operation's column, or bit, that means read (formats that code it: csv, disksim, tencent ..)
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), help_heading = READING)]
    pub read_is: Option<u8>,
    /// What the codes of operations mean: r=1,2,5/w=3,4,6, also t= for trims and f= for flushes (csv)
    #[arg(long, value_name = "CODES", conflicts_with = "read_is", help_heading = READING)]
    pub ops: Option<OperationCodes>,
    /// The string that blkparse -f was given, such as '%T.%t %a %d %S %n\n' (blkparse)
    #[arg(long, value_name = "STRING", help_heading = READING)]
    pub event_format: Option<EventFormat>,
    /// Which event of a request is its arrival: Q, I, D or C (blkparse, blktrace, ftrace) [default: the most complete]
    #[arg(long, value_name = "EVENT", help_heading = READING)]
    pub action: Option<EventChoice>,
    /// Sort in rows that come late by up to this, such as 10ms; a later one is malformed (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub sort_window: Option<SimDuration>,
    /// Spread rows of one tick of a coarse clock evenly up to the next (all formats) [default: where it counts seconds]
    #[arg(long, value_name = "true|false", help_heading = READING)]
    pub spread: Option<bool>,
    /// Whether a volume of the same name is the same volume in all files (all formats) [default: as the format says]
    #[arg(long, value_name = "true|false", help_heading = READING)]
    pub same_volumes: Option<bool>,
    /// Only this volume: web_3, or 3 where one volume ends in it (formats with volumes)
    #[arg(long, value_name = "NAME", help_heading = READING)]
    pub volume: Option<String>,
    /// Only what arrives at this time or later, counted from the first record (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub start: Option<SimDuration>,
    /// Only what arrives before this time, counted from the first record (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub end: Option<SimDuration>,
    /// Pass over so many malformed rows and count them; the next is an error (all formats) [default: 0]
    #[arg(long, value_name = "N", help_heading = READING)]
    pub skip_bad: Option<u64>,
}

impl Reading {
    /// The options as the readers of traces take them.
    pub(crate) fn options(&self) -> TraceOptions {
        TraceOptions {
            format: self.format.clone().unwrap_or_else(|| AUTO.to_owned()),
            units: UnitOptions {
                time_ns: self.time_unit.map(SimDuration::as_ns),
                address: self.address_unit,
                size: self.size_unit,
                read_is: self.read_is,
            },
            columns: self.columns,
            ops: self.ops.clone(),
            event_format: self.event_format.clone(),
            action: self.action.map(|choice| choice.0),
            sort_window: self.sort_window,
            spread: self.spread,
            same_volumes: self.same_volumes,
            only: self.volume.clone(),
            start: self.start,
            end: self.end,
            skip_bad: self.skip_bad.unwrap_or(0),
        }
    }

    /// The options as keys of a scenario, all that were given but the format.
    pub(crate) fn flags(&self) -> Vec<ReadingFlag> {
        let time = |time: SimDuration| FlagValue::Text(format!("{}ns", time.as_ns()));
        let flags = [
            ("--columns", "columns", self.columns.map(|columns| FlagValue::Text(columns.to_string()))),
            ("--time-unit", "time_unit", self.time_unit.map(time)),
            ("--address-unit", "address_unit", self.address_unit.map(FlagValue::Number)),
            ("--size-unit", "size_unit", self.size_unit.map(FlagValue::Number)),
            ("--read-is", "read_is", self.read_is.map(|bit| FlagValue::Number(bit.into()))),
            ("--ops", "ops", self.ops.as_ref().map(|ops| FlagValue::Text(ops.to_string()))),
            (
                "--event-format",
                "event_format",
                self.event_format.as_ref().map(|format| FlagValue::Text(format.to_string())),
            ),
            ("--action", "action", self.action.map(|choice| FlagValue::Text(choice.name().to_owned()))),
            ("--sort-window", "sort_window", self.sort_window.map(time)),
            ("--spread", "spread", self.spread.map(FlagValue::Boolean)),
            ("--same-volumes", "same_volumes", self.same_volumes.map(FlagValue::Boolean)),
            ("--volume", "volumes", self.volume.clone().map(FlagValue::Text)),
            ("--start", "start", self.start.map(time)),
            ("--end", "end", self.end.map(time)),
            ("--skip-bad", "skip_bad", self.skip_bad.map(FlagValue::Number)),
        ];
        let given =
            flags.into_iter().filter_map(|(flag, key, value)| Some(ReadingFlag { flag, key, value: value? }));
        given.collect()
    }
}

/// An event in the life of a request: its name, or the letter that blkparse prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventChoice(Action);

/// Every event: name, letter, what it is.
const EVENTS: [(Action, &str, &str, &str); 4] = [
    (Action::Queued, "queued", "Q", "Q: handed to the block layer"),
    (Action::Inserted, "inserted", "I", "I: inserted into the scheduler's queue"),
    (Action::Issued, "issued", "D", "D: handed to the device"),
    (Action::Completed, "completed", "C", "C: completed"),
];

impl EventChoice {
    fn name(self) -> &'static str {
        EVENTS.iter().find(|(action, ..)| *action == self.0).map_or("", |(_, name, ..)| name)
    }
}

impl ValueEnum for EventChoice {
    fn value_variants<'a>() -> &'a [Self] {
        const CHOICES: [EventChoice; 4] = [
            EventChoice(Action::Queued),
            EventChoice(Action::Inserted),
            EventChoice(Action::Issued),
            EventChoice(Action::Completed),
        ];
        &CHOICES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (_, name, letter, help) = EVENTS.iter().find(|(action, ..)| *action == self.0)?;
        Some(PossibleValue::new(*name).alias(*letter).help(*help))
    }
}

/// A unit of time: a duration, or the name of one (`us` for `1us`).
fn parse_time_unit(text: &str) -> Result<SimDuration, String> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return parse_duration(text);
    }
    parse_duration(&format!("1{text}")).map_err(|_| {
        format!("`{text}` is not a unit of time: write ns, 100ns, us, ms, s or a duration such as 10us")
    })
}

/// A unit of addresses or sizes: bytes as a plain number, or a size.
fn parse_unit(text: &str) -> Result<Bytes, String> {
    match text.parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) => {
            parse_bytes(text).map_err(|problem| format!("{problem}; or a number of bytes, such as 512"))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use harmonia_scenario::{Scenario, TraceFile};
    use harmonia_workload::WorkloadConfig;

    use super::*;
    use crate::args::{Arguments, Command, TraceCommand};

    #[test]
    fn units_are_names_numbers_or_quantities() {
        let times =
            ["ns", "100ns", "us", "ms", "s", "10us", "1.5ms"].map(|text| parse_time_unit(text).unwrap().0);
        assert_eq!(times, [1, 100, 1000, 1_000_000, 1_000_000_000, 10_000, 1_500_000]);
        assert_eq!(["512", "4KiB", "1B"].map(|text| parse_unit(text).unwrap()), [512, 4096, 1]);
        for bad in ["", "10", "usec", "-1us", "1"] {
            assert!(parse_time_unit(bad).unwrap_err().contains("ns, "), "{bad}");
        }
        assert!(parse_unit("4kb").unwrap_err().ends_with("or a number of bytes, such as 512"));
    }

    const OPTIONS: &str = "--format msr --time-unit us --address-unit 512 --size-unit 4KiB --sort-window 1ms --spread true \
                           --same-volumes false --volume web_3 --start 1s --end 2s --skip-bad 7";

    fn parsed(line: &str) -> Command {
        Arguments::parse_from(line.split_whitespace()).command
    }

    /// Every option arrives where it belongs.
    #[test]
    fn how_a_trace_is_read() {
        let line = format!(
            "harmonia trace info a b {OPTIONS} --read-is 1 --action issued --columns -,op,offset,size"
        );
        let Command::Trace(TraceCommand::Info { reading: trace, .. }) = parsed(&line) else {
            panic!("not trace info")
        };
        assert_eq!(trace.files, ["a", "b"].map(std::path::PathBuf::from));
        let duration = |ns| Some(SimDuration(ns));
        let expected = TraceOptions {
            format: "msr".to_owned(),
            units: UnitOptions {
                time_ns: Some(1000),
                address: Some(512),
                size: Some(4096),
                read_is: Some(1),
            },
            columns: Some("-,op,offset,size".parse().unwrap()),
            ops: None,
            event_format: None,
            action: Some(Action::Issued),
            sort_window: duration(1_000_000),
            spread: Some(true),
            same_volumes: Some(false),
            only: Some("web_3".to_owned()),
            start: duration(1_000_000_000),
            end: duration(2_000_000_000),
            skip_bad: 7,
        };
        assert_eq!(trace.reading.options(), expected);
    }

    /// What a scenario makes of the options given with it is what `trace info` hands to the readers.
    #[test]
    fn options_mean_the_same_to_a_scenario() {
        for (format, more) in [
            (OPTIONS, ""),
            ("--format disksim", " --read-is 0"),
            ("--format blkparse", " --action Q"),
            ("", " --columns time;op;offset;size --time-unit 100ns --skip-bad 0"),
            ("", " --columns time,op,offset,size --ops r=1,2/w=3/t=x"),
            ("", r" --event-format %T.%t,%a,%d,%S,%n\n"),
        ] {
            let line = format!("harmonia run tiny --trace x {format}{more}");
            let Command::Run { scenario, .. } = parsed(&line) else { panic!("not run") };
            let options = scenario.changes.reading.options();
            let scenario = Scenario::load("tiny", &[], scenario.changes.trace().as_ref());
            let scenario = scenario.unwrap_or_else(|error| panic!("{line}: {error}"));
            let WorkloadConfig::Trace(trace) = scenario.workload else { panic!("not a trace") };
            assert_eq!(trace.options, options, "{line}");
        }
    }

    #[test]
    fn options_override_the_keys_of_a_scenario_and_errors_name_them() {
        let keys =
            "workload = { kind = \"trace\", path = \"a\", format = \"disksim\", skip_bad = 5, read_is = 1 }";
        let with = |line: &str| {
            let Command::Run { scenario, .. } = parsed(&format!("harmonia run tiny {line}")) else {
                panic!("not run")
            };
            let trace = scenario.changes.trace();
            Scenario::parse(keys, "s.toml", &[], trace.as_ref()).map_err(|error| error.to_string())
        };
        let options = |scenario: Scenario| match scenario.workload {
            WorkloadConfig::Trace(trace) => (trace.paths, trace.options),
            _ => panic!("not a trace"),
        };
        let (paths, changed) = options(with("--skip-bad 0 --format mqsim").unwrap());
        assert_eq!((&paths[..], &*changed.format, changed.skip_bad), (&["a".into()][..], "mqsim", 0));
        assert_eq!(changed.units.read_is, Some(1), "what is not given stays");
        let error = with("--action Q").unwrap_err();
        assert!(
            error.starts_with("error: --action: `workload.action` = \"queued\": format \"disksim\" has no"),
            "{error}"
        );
        let trace = TraceFile {
            reading: Reading { skip_bad: Some(1), ..Reading::default() }.flags(),
            ..TraceFile::default()
        };
        let error = Scenario::load("tiny", &[], Some(&trace)).unwrap_err().to_string();
        assert!(
            error.starts_with("error: --skip-bad: `workload.skip_bad` = 1: says how a trace is read"),
            "{error}"
        );
        assert!(error.contains("allowed: --trace FILE, or a scenario whose load is a trace"), "{error}");
    }

    #[test]
    fn events_have_a_name_and_a_letter() {
        let choose = |text: &str| EventChoice::from_str(text, false).map(|choice| choice.0);
        for (action, name, letter, _) in EVENTS {
            assert_eq!((choose(name), choose(letter)), (Ok(action), Ok(action)));
        }
        let error =
            Arguments::try_parse_from(["harmonia", "run", "tiny", "--action", "G"]).unwrap_err().to_string();
        assert!(error.contains("[possible values: queued, inserted, issued, completed]"), "{error}");
    }
}
