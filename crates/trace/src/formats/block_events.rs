//! What blkparse and blktrace share: the events in the life of a request, which of them is read, and what it asks for.
//!
//! ```text
//!   Q queued ──> G, M, ... ──> I inserted ──> D issued to the device ──> C completed    one request, several events
//! ```
//!
//! Reading all of them would count every request several times, so exactly one is read. Where nobody chose it is the most
//! complete of Q, I, D and C over all files, judged by at most [`LOOK_REQUESTS`] requests of each ([`super::super::events`]
//! has the rule). All four are counted while the trace is read, so that the choice can be checked against the whole.
//!
//! Not modelled: a request that the device sent back (event R) is issued, and read, again.
//!
//! Source: blktrace's `blktrace_api.h` (events and their numbers), `blkparse_fmt.c` (their letters, and rwbs).

use std::sync::Arc;

use harmonia_types::{Bytes, Operation};

use super::super::events::{EventCounts, PREFERENCE};
use super::super::options::{Action, Setting};
use super::super::read::fields::extent_of;
use super::super::read::{Problem, ReadLog, TraceInput};
use super::TraceFormat;

/// The rule, for the pages of both formats.
pub(super) const ACTION_RULE: &str = "One event of a request is read (`action`). If none is named, it is the first of D (issued), Q (queued), I (inserted) and C (completed) that is nearly complete: it has at least 90% of the bytes of any of the four. The first million requests of each file decide. All others are skipped and counted. The description of a trace and the report of a run say which was read and what each of the four holds.";
/// How operations are told apart, for the pages of both formats.
pub(super) const OPERATION_RULE: &str = "A discard (D) is a trim, and so is a write of zeroes (WZ), which carries no data. A zone append (ZA) is a write. Resetting a zone (ZR, ZRA) is a trim if its sectors are recorded; finishing, opening and closing one is skipped and counted. What has no sectors is a flush if it is marked so (F before the operation), else it is skipped and counted, as are passthrough commands. A write with FUA (F behind the operation, or a barrier) is one with FUA; sync, readahead and metadata change nothing, and a write that flushes first is a write.";

/// So many requests of a file are counted to choose the event to read; all of most recordings.
const LOOK_REQUESTS: u64 = 1 << 20;
/// A sector has 512 bytes, whatever the device.
pub(super) const SECTOR: Bytes = 512;

/// Finds the event to read where nobody chose.
pub(crate) fn most_complete_action(
    inputs: &[Arc<TraceInput>],
    format: &TraceFormat,
    setting: Setting,
) -> Action {
    let mut log = ReadLog::default();
    let setting = Setting { action: None, ..setting };
    inputs.iter().for_each(|input| count(input, format, setting.clone(), &mut log));
    log.events.choice()
}

/// Counts the first requests of a file, whatever their event. What is wrong with the file is the reader's to say.
fn count(input: &Arc<TraceInput>, format: &TraceFormat, setting: Setting, log: &mut ReadLog) {
    let Ok(mut rows) = (format.open)(input, setting) else { return };
    let mut requests = 0;
    while requests < LOOK_REQUESTS {
        match rows.next_row(log) {
            Ok(Some(_)) => requests += 1,
            Err(Problem::Row(_)) => {}
            Ok(None) | Err(Problem::File(_)) => return,
        }
    }
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// One that can be read as a request's arrival.
    Of(Action),
    /// Another: why it is passed over.
    Other(&'static str),
}

/// blkparse's letters for events, by their number.
const LETTERS: [&[u8]; 16] =
    [b"", b"Q", b"M", b"F", b"G", b"S", b"R", b"D", b"C", b"P", b"U", b"UT", b"I", b"X", b"B", b"A"];

impl Event {
    /// The event blkparse prints so.
    #[inline]
    pub(super) fn lettered(letters: &[u8]) -> Option<Self> {
        Some(match letters {
            b"Q" => Event::Of(Action::Queued),
            b"I" => Event::Of(Action::Inserted),
            b"D" => Event::Of(Action::Issued),
            b"C" => Event::Of(Action::Completed),
            b"M" => Event::Other("event M (merged at the back)"),
            b"F" => Event::Other("event F (merged at the front)"),
            b"G" => Event::Other("event G (request structure taken)"),
            b"S" => Event::Other("event S (waits for a request structure)"),
            b"R" => Event::Other("event R (queued again)"),
            b"P" => Event::Other("event P (queue plugged)"),
            b"U" => Event::Other("event U (queue unplugged)"),
            b"UT" | b"T" => Event::Other("event UT (queue unplugged by its timer)"),
            b"X" => Event::Other("event X (split)"),
            b"B" => Event::Other("event B (bounced)"),
            b"A" => Event::Other("event A (remapped)"),
            b"m" => Event::NOTE,
            _ => return None,
        })
    }

    /// The event of this number. Kernels add new ones, none of which is an arrival.
    #[inline]
    pub(super) fn numbered(number: u16) -> Self {
        let letters = LETTERS.get(usize::from(number));
        letters
            .and_then(|letters| Event::lettered(letters))
            .unwrap_or(Event::Other("an event blkparse has no letter for"))
    }

    /// What is no event in a request's life.
    pub(super) const NOTE: Event = Event::Other("a note (message, name of a process, time of day)");
}

/// Counts what an event that is not read asks for, if it can be told.
#[inline]
pub(super) fn count_unread(events: &mut EventCounts, action: Action, asked: Result<Asked, String>) {
    if let Ok(Asked::Request(_, _, bytes)) = asked {
        events.add(action, bytes);
    }
}

/// Which event is read, and which of those that can be have occurred.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// `None`: any that can be read, to recognise a file or to count.
    read: Option<Action>,
    seen: [bool; 4],
}

impl Choice {
    pub(super) fn new(setting: &Setting) -> Self {
        Choice { read: setting.action, seen: [false; 4] }
    }

    /// Why an event that can be read is passed over, if it is.
    #[inline]
    pub(super) fn passes_over(&mut self, action: Action) -> Option<&'static str> {
        self.seen[place(action)] = true;
        let read = self.read.filter(|&read| read != action)?;
        Some(instead(action, read))
    }

    /// Words for a file in which the event read does not occur.
    pub(super) fn missing(&self) -> String {
        let read = self.read.unwrap_or(Action::Issued).name();
        let others: Vec<&str> =
            PREFERENCE.into_iter().filter(|&action| self.seen[place(action)]).map(Action::name).collect();
        let others =
            if others.is_empty() { "none of Q, I, D and C".to_owned() } else { others.join(" and ") };
        format!(
            "has no request with event {read}, expected at least one: of the events that can be read it has {others}"
        )
    }
}

fn place(action: Action) -> usize {
    match action {
        Action::Queued => 0,
        Action::Inserted => 1,
        Action::Issued => 2,
        Action::Completed => 3,
    }
}

/// Why `action` is passed over where `read` is read, another one.
fn instead(action: Action, read: Action) -> &'static str {
    use Action::{Completed, Inserted, Issued, Queued};
    match (action, read) {
        (Queued, Inserted) => "event Q (queued) where I is read",
        (Queued, Completed) => "event Q (queued) where C is read",
        (Queued, _) => "event Q (queued) where D is read",
        (Inserted, Queued) => "event I (inserted) where Q is read",
        (Inserted, Completed) => "event I (inserted) where C is read",
        (Inserted, _) => "event I (inserted) where D is read",
        (Issued, Queued) => "event D (issued) where Q is read",
        (Issued, Inserted) => "event D (issued) where I is read",
        (Issued, _) => "event D (issued) where C is read",
        (Completed, Queued) => "event C (completed) where Q is read",
        (Completed, Inserted) => "event C (completed) where I is read",
        (Completed, _) => "event C (completed) where D is read",
    }
}

/// What a request does, as the letters rwbs say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rwbs {
    /// Marked as a flush, or as asking for one before it.
    pub(super) flush: bool,
    pub(super) does: Does,
    /// A write with FUA.
    pub(super) fua: bool,
}

/// What a request does beside flushing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It reads, writes or trims what it names.
    This(Operation),
    /// It manages a zone: why it is passed over where it names no sectors.
    Zone(&'static str),
    /// Nothing: it carries no data.
    Nothing,
}

impl Does {
    /// Resets a zone, which trims it.
    pub(super) const RESET: Does =
        Does::Zone("resets a zone, or all (ZR, ZRA), whose length is not recorded");
    /// Finishes, opens or closes a zone.
    pub(super) const MANAGES: Does = Does::Zone("finishes, opens or closes a zone (ZF, ZO, ZC)");
}

/// What an event asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A request: operation, offset and length in bytes.
    Request(Operation, Bytes, Bytes),
    /// None, for this reason.
    Nothing(&'static str),
}

impl Rwbs {
    /// Reads letters: F if flushing first, then the operation, then flags. A barrier (B, before Linux 2.6.37) flushes, and a write that
    /// is one is on stable storage when it completes, as with FUA.
    #[inline]
    pub(super) fn read(letters: &[u8]) -> Option<Self> {
        let (flush, rest) = match letters {
            [b'F', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (does, flags) = match rest {
            [b'W', b'Z', flags @ ..] => (Does::This(Operation::Trim), flags),
            [b'Z', rest @ ..] => zone(rest)?,
            [b'R', flags @ ..] => (Does::This(Operation::Read), flags),
            [b'W', flags @ ..] => (Does::This(Operation::Write), flags),
            [b'D', flags @ ..] => (Does::This(Operation::Trim), flags),
            [b'N', flags @ ..] => (Does::Nothing, flags),
            // A flush alone, and as the kernel itself writes it.
            [] if flush => (Does::Nothing, rest),
            [b'F', flags @ ..] if flush => (Does::Nothing, flags),
            _ => return None,
        };
        let known = |flag: &u8| matches!(flag, b'F' | b'A' | b'S' | b'M' | b'B' | b'E' | b'U');
        let is_barrier = flags.contains(&b'B');
        let fua = does == Does::This(Operation::Write) && (is_barrier || flags.contains(&b'F'));
        flags.iter().all(known).then_some(Rwbs { flush: flush || is_barrier, does, fua })
    }

    /// What is asked for, of a first sector and bytes if the event has them.
    #[inline]
    pub(super) fn asks(self, place: Option<(u64, Bytes)>) -> Result<Asked, String> {
        match (place.filter(|&(_, bytes)| bytes > 0), self.does) {
            (Some((sector, bytes)), Does::This(operation)) => request(operation, sector, bytes),
            (Some((sector, bytes)), Does::RESET) => request(Operation::Trim, sector, bytes),
            (_, Does::Zone(reason)) => Ok(Asked::Nothing(reason)),
            _ if self.flush => Ok(Asked::Request(Operation::Flush, 0, 0)),
            (_, Does::Nothing) => Ok(Asked::Nothing("carries no data (N)")),
            (None, _) => Ok(Asked::Nothing("has no sectors: a passthrough command or an empty request")),
        }
    }
}

/// What the letters behind Z say, and the flags behind them.
fn zone(letters: &[u8]) -> Option<(Does, &[u8])> {
    Some(match letters {
        [b'A', flags @ ..] => (Does::This(Operation::Write), flags),
        [b'R', b'A', flags @ ..] | [b'R', flags @ ..] => (Does::RESET, flags),
        [b'F' | b'O' | b'C', flags @ ..] => (Does::MANAGES, flags),
        _ => return None,
    })
}

#[inline]
fn request(operation: Operation, sector: u64, bytes: Bytes) -> Result<Asked, String> {
    let (offset, length) = extent_of(operation, (sector, SECTOR), (bytes, 1))?;
    Ok(Asked::Request(operation, offset, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_numbers_are_the_same_events() {
        for (number, letters) in (0..).zip(LETTERS).skip(1) {
            assert_eq!(Event::lettered(letters), Some(Event::numbered(number)), "{number}");
        }
        assert_eq!(
            [1, 7, 8].map(Event::numbered),
            [Event::Of(Action::Queued), Event::Of(Action::Issued), Event::Of(Action::Completed)]
        );
        for number in [0, 16, 17, 18, 19, 999] {
            assert!(matches!(Event::numbered(number), Event::Other(_)), "{number}");
        }
        assert_eq!(Event::lettered(b"QQ"), None);
    }

    #[test]
    fn rwbs_is_flush_operation_flags() {
        use Operation::{Read, Trim, Write};
        let table: &[(&str, bool, Does)] = &[
            ("R", false, Does::This(Read)),
            ("RAM", false, Does::This(Read)),
            ("RF", false, Does::This(Read)),
            ("WFS", false, Does::This(Write)),
            ("WSU", false, Does::This(Write)),
            ("FWFSM", true, Does::This(Write)),
            ("WB", true, Does::This(Write)),
            ("WZ", false, Does::This(Trim)),
            ("WZS", false, Does::This(Trim)),
            ("DS", false, Does::This(Trim)),
            ("DE", false, Does::This(Trim)),
            ("ZA", false, Does::This(Write)),
            ("ZASM", false, Does::This(Write)),
            ("ZR", false, Does::RESET),
            ("ZRA", false, Does::RESET),
            ("ZRS", false, Does::RESET),
            ("ZF", false, Does::MANAGES),
            ("ZO", false, Does::MANAGES),
            ("ZCS", false, Does::MANAGES),
            ("N", false, Does::Nothing),
            ("FN", true, Does::Nothing),
            ("F", true, Does::Nothing),
            ("FF", true, Does::Nothing),
        ];
        for &(letters, flush, does) in table {
            let fua = matches!(letters, "WFS" | "FWFSM" | "WB");
            assert_eq!(Rwbs::read(letters.as_bytes()), Some(Rwbs { flush, does, fua }), "{letters}");
        }
        for letters in ["", "S", "RW", "FFW", "FX", "w", "FS", "Z", "ZX", "ZAZ"] {
            assert_eq!(Rwbs::read(letters.as_bytes()), None, "{letters}");
        }
    }

    #[test]
    fn a_discard_may_be_of_any_length_and_no_other_request() {
        let asks = |letters: &[u8], sector, bytes| Rwbs::read(letters).unwrap().asks(Some((sector, bytes)));
        let long = Bytes::from(u32::MAX - 511);
        assert_eq!(asks(b"D", 8, long), Ok(Asked::Request(Operation::Trim, 4096, long)));
        assert_eq!(asks(b"WZ", 0, 1 << 40), Ok(Asked::Request(Operation::Trim, 0, 1 << 40)));
        assert_eq!(asks(b"ZR", 8, 512), Ok(Asked::Request(Operation::Trim, 4096, 512)));
        assert!(matches!(asks(b"ZR", 8, 0), Ok(Asked::Nothing(_))));
        assert!(asks(b"D", (1 << 55) - 1, 1024).unwrap_err().contains("2^64"));
        assert!(asks(b"D", 1 << 55, 512).unwrap_err().contains("2^64"));
        assert!(asks(b"W", 0, (1 << 30) + 512).unwrap_err().contains("at most 1 GiB"));
    }
}
