//! What the texts of the kernel's trace events share: `trace` and `trace_pipe` of ftrace, `trace-cmd report`, `perf script`.
//!
//! ```text
//!   fio-7001   [001] .....  9100.000100: block_rq_issue: 259,0 W 4096 () 1024 + 8 [fio]            ftrace, trace-cmd
//!   fio  7001  [001]        9100.000100:   block:block_rq_issue: 259,0 W 4096 () 1024 + 8 [fio]    perf script
//! ```
//!
//! The time is the first word that is a decimal number with `:` behind it. A name may stand in front of the event's, with
//! `:`, and a count before both. What stands before the time differs between the tools, and the name of a process may
//! have blanks, so nothing else is read of it.

use super::super::read::fields::{Column, Words, decimal, excerpt, whole};
use super::super::read::lines::first_lines;
use super::Head;

/// In ns.
const SECOND_NS: u64 = 1_000_000_000;
const TIME: Column = Column { place: 0, name: "time", holds: "seconds such as 9100.000100, below 2^64 ns" };

/// An event's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventLine<'a> {
    /// Since the machine was started, in ns.
    pub(super) time_ns: u64,
    /// Without the name of the subsystem; empty for what is no named event.
    pub(super) name: &'a [u8],
    /// What the event says of itself.
    pub(super) words: Words<'a>,
}

/// What a line of such a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventText<'a> {
    /// An event.
    Event(EventLine<'a>),
    /// A comment, a blank line, a call stack, or a note of the tool.
    Aside,
    /// A note that events were lost.
    Lost,
}

/// Takes a line apart.
pub(super) fn split(line: &[u8]) -> Result<EventText<'_>, String> {
    let mut words = Words::new(line);
    while let Some(word) = words.next() {
        let Some(time) = word.strip_suffix(b":").filter(|time| time.contains(&b'.')) else { continue };
        if decimal(time, 1).is_none() {
            continue;
        }
        let time_ns = decimal(time, SECOND_NS).ok_or_else(|| TIME.misread(time))?;
        let behind = words;
        let first = words.next().unwrap_or_default();
        let name = if whole(first).is_some() { words.next().unwrap_or_default() } else { first };
        let Some(name) = name.strip_suffix(b":") else {
            return Ok(EventText::Event(EventLine { time_ns, name: b"", words: behind }));
        };
        let name = name.rsplit(|&byte| byte == b':').next().unwrap_or(name);
        return Ok(EventText::Event(EventLine { time_ns, name, words }));
    }
    aside(line)
}

#[cold]
fn aside(line: &[u8]) -> Result<EventText<'_>, String> {
    let text = line.trim_ascii();
    let is_frame = || {
        let address = text.split(|byte| *byte == b' ').next().unwrap_or_default();
        text.len() < line.len() && address.len() >= 6 && address.iter().all(u8::is_ascii_hexdigit)
    };
    let notes: [&[u8]; 5] = [b"#", b"version =", b"cpus=", b"[", b"<stack trace>"];
    if text.starts_with(b"CPU:") && text.windows(4).any(|word| word == b"LOST") {
        return Ok(EventText::Lost);
    }
    if text.is_empty()
        || notes.iter().any(|note| text.starts_with(note))
        || text.starts_with(b"=>")
        || is_frame()
    {
        return Ok(EventText::Aside);
    }
    Err(format!("found `{}`, expected an event: process [cpu] seconds: event: what it says", excerpt(line)))
}

/// Whether one of the first lines is an event with one of these names.
pub(super) fn has_event(head: &Head<'_>, names: &[&[u8]]) -> bool {
    let is_one =
        |line: &[u8]| matches!(split(line), Ok(EventText::Event(event)) if names.contains(&event.name));
    first_lines(head.bytes, head.complete).any(is_one)
}

/// Why an event is passed over that is none of a request.
pub(super) const OTHER: &str = "another event of the kernel";
/// Why a note is passed over that says that events are missing.
pub(super) const LOST: &str = "a note that events were lost";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_behind_whatever_a_tool_prints_before_them() {
        let table: &[(&str, u64, &str, &str)] = &[
            (
                "     fio-7001  [001] .....  9100.000100: block_rq_issue: 8,0 W",
                9_100_000_100_000,
                "block_rq_issue",
                "8,0 W",
            ),
            ("my app 1: x 71 [001] 1.5: block:block_rq_issue: 8,0", 1_500_000_000, "block_rq_issue", "8,0"),
            ("fio 7 [0] 0.000000001:          1 nvme:nvme_sq: a", 1, "nvme_sq", "a"),
            ("bash-1 [000] .... 1.0: vfs_read <-ksys_read", 1_000_000_000, "", "vfs_read <-ksys_read"),
        ];
        for &(line, time_ns, name, rest) in table {
            let Ok(EventText::Event(event)) = split(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(
                (event.time_ns, event.name, event.words.rest()),
                (time_ns, name.as_bytes(), rest.as_bytes())
            );
        }
    }

    #[test]
    fn other_lines_are_asides_or_refused() {
        for line in [
            "",
            "# tracer: nop",
            "cpus=8",
            "\tffffffffb12d5040 blk_mq_start_request+0xa0 ([k])",
            " => submit_bio",
        ] {
            assert_eq!(split(line.as_bytes()), Ok(EventText::Aside), "{line}");
        }
        assert_eq!(split(b"CPU:3 [LOST 42 EVENTS]"), Ok(EventText::Lost));
        for line in ["hello", "fio 7 [0] 99: block_rq_issue: 8,0", "fio-1 [0] 1.2.3: x"] {
            assert!(split(line.as_bytes()).unwrap_err().contains("expected an event"), "{line}");
        }
        assert!(split(b"a 18446744074.0: x: y").unwrap_err().contains("below 2^64 ns"));
    }
}
