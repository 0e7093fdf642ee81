//! How a trace is to be read, where files of one format differ in the wild.

use harmonia_types::units::format_duration;
use harmonia_types::{Bytes, SimDuration};
use serde::Serialize;

use crate::AUTO;
use crate::columns::Columns;
use crate::event_format::EventFormat;
use crate::formats::{BLKPARSE, CSV, Spread, TraceFormat};
use crate::ops::OperationCodes;

/// What its reader is told about a trace beside the files. `None` leaves a matter to the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceOptions {
    /// Format name from the registry, or `auto`.
    pub format: String,
    /// Units and polarity of columns, where the file has others than its format says.
    pub units: UnitOptions,
    /// Format csv, which is meant where columns are named: what its columns are.
    pub columns: Option<Columns>,
    /// Format csv: what the codes of its operations mean.
    pub ops: Option<OperationCodes>,
    /// blkparse, which is meant where it is given: the format that its events were printed in (`blkparse -f`).
    pub event_format: Option<EventFormat>,
    /// blkparse, blktrace and ftrace: which event of a request is its arrival.
    pub action: Option<Action>,
    /// Rows that come later than their time by up to this are sorted in; a row later than that is malformed.
    pub sort_window: Option<SimDuration>,
    /// Whether rows that share a timestamp of a coarse clock (seconds) are spread evenly up to the next one.
    pub spread: Option<bool>,
    /// Whether a volume's name means the same volume in every file (`false`: each file has volumes of its own).
    pub same_volumes: Option<bool>,
    /// Only the volume of this name.
    pub only: Option<String>,
    /// Only what arrives at this time or later, counted from the first record of the trace; becomes time 0.
    pub start: Option<SimDuration>,
    /// Only what arrives before this time, counted from the first record of the trace.
    pub end: Option<SimDuration>,
    /// So many malformed rows are passed over and counted; the next is an error.
    pub skip_bad: u64,
}

/// Units of columns. Each has an effect only on formats that have such a column and is refused with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UnitOptions {
    /// Unit of times, in ns.
    pub time_ns: Option<u64>,
    /// Unit of addresses, in bytes.
    pub address: Option<Bytes>,
    /// Unit of sizes, in bytes.
    pub size: Option<Bytes>,
    /// The value, 0 or 1, of the operation's column (DiskSim: of bit 0 of its flags) that means read.
    pub read_is: Option<u8>,
}

/// An event in the life of a request, as blkparse names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Q: handed to the block layer; the application's view.
    Queued,
    /// I: inserted into the queue of the I/O scheduler.
    Inserted,
    /// D: handed to the device.
    Issued,
    /// C: completed.
    Completed,
}

impl Default for TraceOptions {
    fn default() -> Self {
        TraceOptions {
            format: AUTO.to_owned(),
            units: UnitOptions::default(),
            columns: None,
            ops: None,
            event_format: None,
            action: None,
            sort_window: None,
            spread: None,
            same_volumes: None,
            only: None,
            start: None,
            end: None,
            skip_bad: 0,
        }
    }
}

impl TraceOptions {
    /// Nothing but a format.
    pub fn of_format(format: &str) -> Self {
        TraceOptions { format: format.to_owned(), ..TraceOptions::default() }
    }
}

/// The units a format has unless told otherwise; `None` where it has no such column, or writes the unit out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// Unit of times, in ns.
    pub time_ns: Option<u64>,
    /// Unit of addresses, in bytes.
    pub address: Option<Bytes>,
    /// Unit of sizes, in bytes.
    pub size: Option<Bytes>,
    /// The value that means read.
    pub read_is: Option<u8>,
}

impl Units {
    /// A format that leaves nothing to choose.
    pub const NONE: Units = Units { time_ns: None, address: None, size: None, read_is: None };
}

/// What a format's reader works with: the units after the options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) time_ns: u64,
    pub(crate) address: Bytes,
    pub(crate) size: Bytes,
    pub(crate) read_is: u8,
    /// The unit of times if one was asked for: a format whose files have clocks of several units knows its own.
    pub(crate) asked_time_ns: Option<u64>,
    /// The event asked for; `None` leaves the choice to the format's rule.
    pub(crate) action: Option<Action>,
    /// What the columns of a table are.
    pub(crate) columns: Option<Columns>,
    /// What the codes of its operations mean, if they were named.
    pub(crate) ops: Option<OperationCodes>,
    /// The format that blkparse printed its events in, if it was one of its user's.
    pub(crate) event_format: Option<EventFormat>,
}

/// Units beyond these are misunderstandings.
const MOST_BYTES: Bytes = 1 << 30;
const MOST_NS: u64 = 3_600_000_000_000;

/// A unit of time for a person.
fn duration(ns: u64) -> String {
    if ns == MOST_NS { "1h".to_owned() } else { format_duration(SimDuration(ns)) }
}

impl Setting {
    /// The units of `format`, changed by `options`.
    pub(crate) fn new(format: &TraceFormat, options: &TraceOptions) -> Result<Self, String> {
        let TraceFormat { name, units, has_actions, .. } = format;
        let UnitOptions { time_ns, address, size, read_is } = options.units;
        let refuse = |what: &str| format!("format `{name}` has no {what} to choose");
        let pick =
            |asked: Option<u64>, own: Option<u64>, most: u64, what: &str, show: fn(u64) -> String| match (
                asked, own,
            ) {
                (Some(_), None) => Err(refuse(what)),
                (Some(asked), Some(_)) if asked == 0 || asked > most => Err(format!(
                    "a {what} of {} is not possible: choose {} to {}",
                    show(asked),
                    show(1),
                    show(most)
                )),
                (asked, own) => Ok(asked.or(own).unwrap_or(1)),
            };
        let bytes = |bytes: u64| bytes.to_string();
        if options.action.is_some() && !has_actions {
            return Err(format!(
                "format `{name}` has no events to choose from: only blkparse, blktrace and ftrace have"
            ));
        }
        if options.columns.is_some() != (*name == CSV) {
            return Err(match *name {
                CSV => {
                    "format `csv` needs the names of its columns: --columns NAME,NAME,.. (workload.columns)"
                        .to_owned()
                }
                _ => format!("format `{name}` has columns of its own: only those of format `csv` are named"),
            });
        }
        if options.event_format.is_some() && *name != BLKPARSE {
            return Err(format!("format `{name}` is not printed by blkparse: only that has an event_format"));
        }
        if let Some(format) = options.event_format.as_ref().filter(|format| !format.has_event())
            && options.action.is_none()
        {
            return Err(format!(
                "event_format = {format} has no %a: name the event that all lines are, with --action (workload.action)"
            ));
        }
        if options.ops.is_some() && *name != CSV {
            return Err(format!(
                "format `{name}` has operations of its own: only the codes of format `csv` are named (ops)"
            ));
        }
        if let (Some(ops), Some(read_is)) = (&options.ops, read_is) {
            return Err(format!(
                "ops = {ops} and read_is = {read_is} exclude each other: ops says what each code means"
            ));
        }
        if options.spread == Some(true) && format.spread == Spread::Never {
            return Err(format!(
                "format `{name}` has no ticks to spread requests over: its times have fractions or are exact"
            ));
        }
        Ok(Setting {
            time_ns: pick(time_ns, units.time_ns, MOST_NS, "time unit", duration)?,
            address: pick(address, units.address, MOST_BYTES, "address unit", bytes)?,
            size: pick(size, units.size, MOST_BYTES, "size unit", bytes)?,
            read_is: match (read_is, units.read_is) {
                (Some(_), None) => return Err(refuse("value for reads")),
                (Some(value), Some(_)) if value > 1 => {
                    return Err(format!("read_is = {value}: choose 0 or 1"));
                }
                (asked, own) => asked.or(own).unwrap_or(0),
            },
            asked_time_ns: time_ns,
            action: options.action,
            columns: options.columns,
            ops: options.ops.clone(),
            event_format: options.event_format.clone(),
        })
    }
}
