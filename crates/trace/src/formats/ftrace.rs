//! Events of the block layer as ftrace, trace-cmd and `perf script` print them.
//!
//! They are those that blktrace records: `block_bio_queue` is its Q, `block_rq_insert` its I, `block_rq_issue` its D and
//! `block_rq_complete` its C. Sector and sectors stand around a `+`; the bytes before them mean something for passthrough
//! commands only, and a priority may stand behind them. A completion of a part of a request is one of its own.
//!
//! Source: Linux, `include/trace/events/block.h`; Documentation/trace/events.rst.

use super::super::options::{Action, Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::blkparse::device_numbers;
use super::block_events::{ACTION_RULE, Asked, Choice, OPERATION_RULE, Rwbs, SECTOR, count_unread};
use super::trace_events::{self, EventLine, EventText};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "ftrace",
    summary: "block events of ftrace, trace-cmd report or perf script: process [cpu] seconds: event: device rwbs sector + sectors",
    source: "Linux, include/trace/events/block.h",
    grammar: "\
process-pid [cpu] flags seconds: block_rq_issue: major,minor rwbs bytes (command) sector + sectors [process]
     fio-7001  [001] .....  9100.000100: block_rq_issue: 259,0 WS 4096 () 1024 + 8 [fio]
process pid [cpu] seconds: block:block_rq_issue: ...      perf script
also: block_bio_queue (Q), block_rq_insert (I), block_rq_complete (C)",
    rules: &[
        ACTION_RULE,
        OPERATION_RULE,
        "All other events are skipped and counted, as are notes that events were lost. Comments and call stacks are no requests.",
        "A volume is a device, `259,0`.",
    ],
    units: Units::NONE,
    epoch: Epoch::Unknown,
    has_actions: true,
    sort_window_ns: 1_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Ftrace::new(&setting)),
    sniff,
    write: None,
};

/// The events that can be read.
const EVENTS: [(&[u8], Action); 4] = [
    (b"block_bio_queue", Action::Queued),
    (b"block_rq_insert", Action::Inserted),
    (b"block_rq_issue", Action::Issued),
    (b"block_rq_complete", Action::Completed),
];

const DEVICE: Column = Column { place: 1, name: "device", holds: "major,minor such as 259,0" };
const RWBS: Column = Column { place: 2, name: "rwbs", holds: "letters such as R, WS, FWFS or D" };
const PLACE: Column = Column {
    place: 3,
    name: "sector + sectors",
    holds: "whole numbers below 2^55 around a +, then [process]",
};

fn sniff(head: &Head<'_>) -> Fit {
    if trace_events::has_event(head, &EVENTS.map(|(name, _)| name)) {
        sniff_lines(head, Ftrace::new(&head.setting(&FORMAT)))
    } else {
        Fit::No { fitting: 0, problem: "no event of the block layer in its first lines".to_owned() }
    }
}

/// Reads lines.
struct Ftrace {
    choice: Choice,
    volumes: VolumeNames,
}

impl Ftrace {
    fn new(setting: &Setting) -> Self {
        Ftrace { choice: Choice::new(setting), volumes: VolumeNames::default() }
    }

    fn event(&mut self, event: EventLine<'_>, log: &mut ReadLog) -> Result<Parsed, String> {
        let EventLine { time_ns, name, mut words } = event;
        let Some(&(_, action)) = EVENTS.iter().find(|(known, _)| *known == name) else {
            return Ok(Parsed::Skip(trace_events::OTHER));
        };
        let device = words.word(&DEVICE)?;
        let (major, minor) = device_numbers(device).ok_or_else(|| DEVICE.misread(device))?;
        let letters = words.word(&RWBS)?;
        let rwbs = Rwbs::read(letters).ok_or_else(|| RWBS.misread(letters))?;
        let asked = place(words).and_then(|place| rwbs.asks(Some(place)));
        if let Some(reason) = self.choice.passes_over(action) {
            count_unread(&mut log.events, action, asked);
            return Ok(Parsed::Skip(reason));
        }
        Ok(match asked? {
            Asked::Nothing(reason) => Parsed::Skip(reason),
            Asked::Request(operation, offset, length) => {
                log.events.add(action, length);
                let volume = self.volumes.named(&format!("{major},{minor}"))?;
                Parsed::Row(Row { volume, fua: rwbs.fua, ..Row::new(time_ns, operation, offset, length) })
            }
        })
    }
}

/// First sector and bytes.
fn place(words: Words<'_>) -> Result<(u64, u64), String> {
    let rest = words.rest();
    // Without it a line cut off inside the number of sectors would be taken for a whole one.
    if !rest.ends_with(b"]") {
        return Err(PLACE.misread(rest));
    }
    let (mut before, mut words) = (&b""[..], words);
    while let Some(word) = words.next() {
        if word == b"+" {
            let sectors = words.next().and_then(whole).and_then(|sectors| sectors.checked_mul(SECTOR));
            return whole(before).zip(sectors).ok_or_else(|| PLACE.misread(rest));
        }
        before = word;
    }
    Err(PLACE.misread(rest))
}

impl LineFormat for Ftrace {
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        match trace_events::split(line)? {
            EventText::Event(event) => self.event(event, log),
            EventText::Aside => Ok(Parsed::Nothing),
            EventText::Lost => Ok(Parsed::Lose(trace_events::LOST)),
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn no_rows(&self) -> String {
        self.choice.missing()
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{self, Flush, Read, Trim, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use super::*;
    use crate::{TraceOptions, TraceRecord};

    const TEXT: &str = "# tracer: nop\n\
         my app-71 [000] ..... 10.000100: block_bio_queue: 8,0 WS 64 + 8 [my app]\n\
         my app-71 [000] ..... 10.000150: block_rq_insert: 8,0 WS 4096 () 64 + 8 be,0,4 [my app]\n\
         my app-71 [000] ..... 10.000200: block_rq_issue: 8,0 WS 4096 () 64 + 8 none,0,0 [my app]\n\
         my app-71 [000] ..... 10.000210: sched_switch: prev=1\n\
         <idle>-0  [001] d.h1. 10.000300: block_rq_complete: 8,0 WS () 64 + 8 none,0,0 [0]\n\
         CPU:1 [LOST 3 EVENTS]\n\
         a-1 [001] ..... 10.000400: block_rq_issue: 8,16 FF 0 () 0 + 0 [a]\n\
         a-1 [001] ..... 10.000500: block_rq_issue: 8,0 N 36 (12 00 00 00 24 00) 0 + 0 [a]\n\
         a-1 [001] ..... 10.000600: block_rq_issue: 8,0 WZS 8388608 () 0 + 16384 [a]\n";

    fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
        TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
    }

    #[test]
    fn one_event_of_a_request_is_read() {
        assert_eq!(detected(TEXT.as_bytes()), Ok("ftrace"));
        let (records, reader) = read_with(TEXT.as_bytes(), &TraceOptions::default()).unwrap();
        let expected = [
            record(0, Write, 32_768, 4096, 0),
            record(200_000, Flush, 0, 0, 1),
            record(400_000, Trim, 0, 8 << 20, 0),
        ];
        assert_eq!(
            (&records[..], reader.volumes().names()),
            (&expected[..], &["8,0".to_owned(), "8,16".to_owned()][..])
        );
        assert_eq!(reader.log().lost, 1);
        for action in [Action::Queued, Action::Inserted, Action::Completed] {
            let options = TraceOptions { action: Some(action), ..TraceOptions::of_format("ftrace") };
            assert_eq!(read_with(TEXT.as_bytes(), &options).unwrap().0, [record(0, Write, 32_768, 4096, 0)]);
        }
        let perf = b"fio  7 [001] 5.5:          1  block:block_rq_issue: 259,0 RA 4096 () 8 + 8 [fio]\n\tffffffffb12d5040 blk_mq_start_request+0xa0 ([k])\n\n";
        assert_eq!(read_with(perf, &TraceOptions::default()).unwrap().0, [record(0, Read, 4096, 4096, 0)]);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        let line = |rest: &str| format!("a-1 [0] . 1.0: block_rq_issue: {rest}\n").into_bytes();
        let table: &[(Vec<u8>, &str)] = &[
            (line("8 W 0 () 0 + 8 [a]"), "t:1: found `8` in field 1 (device), expected major,minor"),
            (line("8,0 X 0 () 0 + 8 [a]"), "found `X` in field 2 (rwbs)"),
            (line("8,0 W 0 () 0 + 8"), "found `0 () 0 + 8` in field 3 (sector + sectors)"),
            (line("8,0 W 0 () 0 [a]"), "in field 3 (sector + sectors)"),
            (line("8,0 W 0 () 0 + x [a]"), "in field 3 (sector + sectors)"),
            (line("8,0 W 0 () 0 + 2097153 [a]"), "expected at most 1 GiB"),
            (b"hello\n".to_vec(), "t:1: found `hello`, expected an event"),
        ];
        for (bytes, expected) in table {
            assert_refused("ftrace", &[(bytes, expected)]);
        }
    }
}
