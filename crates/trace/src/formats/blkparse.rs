//! The text that blkparse prints of what blktrace recorded.
//!
//! The columns up to rwbs are the same for every event; what follows depends on it. Requests have `sector + sectors`;
//! with `blkparse -t` the time since an earlier event follows in parentheses; the name of the process, or the error of
//! a completion, ends the line in brackets. A request without sectors has no `sector + sectors`, a passthrough command
//! a length in bytes and its bytes in parentheses. Formats of one's own (`blkparse -f`) are read by
//! [`super::blkparse_format`].
//!
//! **Early events.** blkparse counts time from the first event it meets. Those that it meets later but that happened
//! before have a negative time, which it prints as 2^64 ns less a little: second 18446744073, or 1266874889 where a
//! second is a C `int`, as in the default output. What the second before such an event says cannot be trusted, so they
//! are dropped, and counted.
//!
//! **Late lines.** From files, blkparse prints in the order of time. From a pipe (`blktrace -o - | blkparse -i -`) it
//! prints as the processors' buffers arrive, which blktrace hands over every 50 ms; lines were up to 48 ms late in a
//! recording of four processors. The sort window of 1 s leaves room for a machine too busy to keep to that.
//!
//! Source: blktrace's `blkparse.1`, `blkparse.c`, `blkparse_fmt.c` and `blktrace.c`.

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::blkparse_format::BlkparseFormat;
use super::block_events::{ACTION_RULE, Asked, Choice, Event, OPERATION_RULE, Rwbs, SECTOR, count_unread};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// What `format = "..."` says.
pub const NAME: &str = "blkparse";

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: NAME,
    summary: "blkparse text: major,minor cpu sequence seconds.ns pid event rwbs sector + sectors (512 bytes) [process]",
    source: "blktrace (Axboe, Brunelle, Scott): blkparse(1), DEFAULT OUTPUT",
    grammar: "\
major,minor cpu sequence seconds.nanoseconds pid event rwbs rest
  8,16   3        5     0.000025000  3645  D   R 2048000 + 256 [java]
rest of Q, I, D, C:   sector + sectors [process or error]   sector + sectors (time) [..]   anything else: no sectors
rwbs:                 [F]R|W|D|N[F][A][S][M]                F first: flush; D: discard; N: no data; WZ: zeroes; Z.: zones",
    rules: &[
        ACTION_RULE,
        OPERATION_RULE,
        "An event before the start of the trace, printed with second 1266874889 or 18446744073 (2^64 ns) or up to an hour less, is skipped and counted.",
        "Empty lines, lines that begin with `#`, the list of input files and the summaries of processors, devices and processes are no requests.",
        "A volume is a device, `8,16`.",
        "Text in a format of one's own (`blkparse -f`) is read by the same string: `event_format`, as in `--event-format '%T.%t %a %d %S %n\\n'`. It needs %T, %t, %d, %S and %n or %N, and %a unless `action` says what all lines are. Without %D, or %M and %m, there is the volume `disk`. Lines of several formats (`blkparse -F`) are not read.",
    ],
    units: Units::NONE,
    epoch: Epoch::Unknown,
    has_actions: true,
    sort_window_ns: 1_000_000_000,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, setting| match &setting.event_format {
        Some(format) => Lines::boxed(input, BlkparseFormat::new(&setting, format)),
        None => Lines::boxed(input, Blkparse::new(setting)),
    },
    sniff,
    write: None,
};

/// Comments and empty lines, which other texts have too, make no recording.
fn sniff(head: &Head<'_>) -> Fit {
    let is_event = |line: &[u8]| Words::new(line).next().and_then(device_numbers).is_some();
    if first_lines(head.bytes, head.complete).any(is_event) {
        sniff_lines(head, Blkparse::new(head.setting(&FORMAT)))
    } else {
        Fit::No { fitting: 0, problem: "no event of a device in its first lines".to_owned() }
    }
}

const DEVICE: Column = Column { place: 1, name: "device", holds: "major,minor such as 8,16" };
const CPU: Column = Column { place: 2, name: "cpu", holds: "a whole number below 2^64" };
const SEQUENCE: Column = Column { place: 3, name: "sequence", holds: "a whole number" };
const TIME: Column =
    Column { place: 4, name: "time", holds: "seconds.nanoseconds such as 0.000025000, below 2^64 ns" };
const PID: Column = Column { place: 5, name: "pid", holds: "a whole number below 2^64" };
const EVENT: Column = Column { place: 6, name: "event", holds: "one of Q G S I M F D C R P U UT X B A m" };
const RWBS: Column = Column {
    place: 7,
    name: "rwbs",
    holds: "F if flushing first, one of R W D N WZ ZA ZR ZRA ZF ZO ZC, flags of F A S M U",
};
const FIRST_SECTOR: Column =
    Column { place: 8, name: "sector", holds: "a whole number below 2^64, or [process]" };
const PLUS: Column = Column { place: 9, name: "+", holds: "+ and sectors, or [process]" };
const SECTORS: Column = Column { place: 10, name: "sectors", holds: "a whole number below 2^64" };
const PROCESS: Column = Column { place: 11, name: "process", holds: "[process] or [error]" };

/// The line of an event that happened before time began.
pub(super) const EARLY: &str = "before the start of the trace (its time is printed wrapped)";
/// 2^64 ns in seconds, and as much of it as fits a C `int`.
const WRAPPED_S: [u64; 2] = [u64::MAX / NS, (u64::MAX / NS) & 0xffff_ffff];
/// So long before the first event may an early one be. In a recording it was 1 ms.
const EARLY_S: u64 = 3600;
const NS: u64 = 1_000_000_000;

/// How lines that are no events begin, behind blanks.
const ASIDES: [&[u8]; 23] = [
    b"#",
    b"Input file ",
    b"CPU",
    b"Total (",
    b"Reads Queued:",
    b"Read Dispatches:",
    b"Reads Requeued:",
    b"Reads Completed:",
    b"Read Merges:",
    b"Read depth:",
    b"PC Reads Queued:",
    b"PC Read Disp.:",
    b"PC Reads Req.:",
    b"PC Reads Compl.:",
    b"IO unplugs:",
    b"Allocation wait:",
    b"Dispatch wait:",
    b"Completion wait:",
    b"Throughput (",
    b"Events (",
    b"Skips:",
    // Said by blkparse on its other output, which may be in the same file.
    b"data is native",
    b"data is not native",
];

/// Reads lines.
struct Blkparse {
    choice: Choice,
    volumes: VolumeNames,
    /// Device, as printed, and volume of the row before: nearly always those of the next.
    last: (Vec<u8>, u16),
}

impl Blkparse {
    fn new(setting: Setting) -> Self {
        Blkparse { choice: Choice::new(&setting), volumes: VolumeNames::default(), last: (Vec::new(), 0) }
    }

    #[inline]
    fn volume(&mut self, device: &[u8], numbers: (u64, u64)) -> Result<u16, String> {
        let (last, volume) = &self.last;
        if last == device { Ok(*volume) } else { self.other_volume(device, numbers) }
    }

    #[cold]
    fn other_volume(&mut self, device: &[u8], (major, minor): (u64, u64)) -> Result<u16, String> {
        let volume = self.volumes.named(&format!("{major},{minor}"))?;
        self.last = (device.to_vec(), volume);
        Ok(volume)
    }

    /// The rest of a line that begins with this device.
    #[inline]
    fn event(
        &mut self,
        device: &[u8],
        numbers: (u64, u64),
        mut words: Words<'_>,
        log: &mut ReadLog,
    ) -> Result<Parsed, String> {
        words.number(&CPU)?;
        sequence(words.word(&SEQUENCE)?)?;
        let time = words.word(&TIME)?;
        let time_ns = nanoseconds(time).ok_or_else(|| TIME.misread(time))?;
        words.number(&PID)?;
        let event = words.word(&EVENT)?;
        let event = Event::lettered(event).ok_or_else(|| EVENT.misread(event))?;
        let rwbs = words.word(&RWBS)?;
        let rwbs = Rwbs::read(rwbs).ok_or_else(|| RWBS.misread(rwbs))?;
        let action = match event {
            Event::Other(reason) => return Ok(Parsed::Skip(reason)),
            Event::Of(action) => action,
        };
        if let Some(reason) = self.choice.passes_over(action) {
            if !is_early(time_ns) {
                count_unread(&mut log.events, action, place(words).and_then(|place| rwbs.asks(place)));
            }
            return Ok(Parsed::Skip(reason));
        }
        let place = place(words)?;
        if is_early(time_ns) {
            return Ok(Parsed::Lose(EARLY));
        }
        Ok(match rwbs.asks(place)? {
            Asked::Nothing(reason) => Parsed::Skip(reason),
            Asked::Request(operation, offset, length) => {
                log.events.add(action, length);
                let volume = self.volume(device, numbers)?;
                Parsed::Row(Row { volume, fua: rwbs.fua, ..Row::new(time_ns, operation, offset, length) })
            }
        })
    }
}

impl LineFormat for Blkparse {
    #[inline]
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        let mut words = Words::new(line);
        let Some(device) = words.next() else { return Ok(Parsed::Nothing) };
        match device_numbers(device) {
            Some(numbers) => self.event(device, numbers, words, log),
            None if is_aside(line) => Ok(Parsed::Nothing),
            None => Err(DEVICE.misread(device)),
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn no_rows(&self) -> String {
        self.choice.missing()
    }
}

/// The numbers of a device.
#[inline]
pub(super) fn device_numbers(device: &[u8]) -> Option<(u64, u64)> {
    let comma = device.iter().position(|&byte| byte == b',')?;
    Some((whole(&device[..comma])?, whole(&device[comma + 1..])?))
}

/// A sequence number is printed with a sign, and goes below 0 beyond 2^31.
#[inline]
fn sequence(word: &[u8]) -> Result<(), String> {
    match whole(word.strip_prefix(b"-").unwrap_or(word)) {
        Some(_) => Ok(()),
        None => Err(SEQUENCE.misread(word)),
    }
}

/// Seconds with exactly nine digits behind the point, in ns, if below 2^64.
#[inline]
fn nanoseconds(time: &[u8]) -> Option<u64> {
    let (seconds, nanoseconds) = time.split_at_checked(time.len().checked_sub(9)?)?;
    whole(seconds.strip_suffix(b".")?)?.checked_mul(NS)?.checked_add(whole(nanoseconds)?)
}

#[inline]
pub(super) fn is_early(time_ns: u64) -> bool {
    let seconds = time_ns / NS;
    WRAPPED_S.iter().any(|&wrapped| (wrapped - EARLY_S..=wrapped).contains(&seconds))
}

/// First sector and bytes, if a line has them behind rwbs.
#[inline]
fn place(mut words: Words<'_>) -> Result<Option<(u64, u64)>, String> {
    let first = words.word(&FIRST_SECTOR)?;
    if opens(first) {
        return Ok(None);
    }
    let sector = whole(first).ok_or_else(|| FIRST_SECTOR.misread(first))?;
    let plus = words.word(&PLUS)?;
    if opens(plus) {
        return Ok(None);
    }
    if plus != b"+" {
        return Err(PLUS.misread(plus));
    }
    let sectors = words.number(&SECTORS)?;
    // Without it a line cut off inside the number of sectors would be taken for a whole one.
    let rest = words.rest();
    match rest {
        [b'[' | b'(', .., b']'] => {}
        [] => return words.word(&PROCESS).map(|_| None),
        _ => return Err(PROCESS.misread(rest)),
    }
    match sectors.checked_mul(SECTOR) {
        Some(bytes) => Ok(Some((sector, bytes))),
        None => Err(format!("found a request of {sectors} sectors, expected less than 2^64 bytes")),
    }
}

/// Whether a word begins what stands behind the sectors, or in their place.
#[inline]
fn opens(word: &[u8]) -> bool {
    matches!(word.first(), Some(b'[' | b'('))
}

/// Whether a line is one that blkparse prints beside the events.
#[cold]
pub(super) fn is_aside(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    ASIDES.iter().any(|aside| line.starts_with(aside)) || is_process(line)
}

/// Whether a line heads the summary of a process: `java (3645)` or `java (3645, ...)`.
fn is_process(line: &[u8]) -> bool {
    let pid = line.strip_suffix(b")").map(|line| line.strip_suffix(b", ...").unwrap_or(line));
    let Some(pid) = pid else { return false };
    let digits = pid.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && pid[..pid.len() - digits].ends_with(b" (")
}

#[cfg(test)]
#[path = "blkparse_tests.rs"]
mod tests;
