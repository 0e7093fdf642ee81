//! FIU traces (IODedup, SRCMap).
//!
//! Block requests of department servers at Florida International University, with the content of each as an MD5: one a
//! 512-byte block (homes) or one a 4096-byte block (mail, web-vm). They may be run together in one field, stand in
//! fields of their own, or be missing. Addresses and sizes count 512-byte sectors in all of them; copies in 4 KiB blocks
//! circulate, for which both units are chosen. One file a day; the clock,
//! in ns, runs through all of them. The name of a process is what the kernel had for it and may hold blanks: then
//! the fields behind it are found from the right.
//!
//! Not read: the traces of system calls that the same laboratory published in 2015 (they name files, not blocks). Its
//! older recordings are blktrace's own files.
//!
//! Nothing says that rows are in order, and several processors wrote them: they may be late by a second. A last line cut
//! off inside its MD5 or its minor number may pass for a whole one.
//!
//! Source: R. Koller, R. Rangaswami, "I/O Deduplication: Utilizing Content Similarity to Improve I/O Performance", FAST
//! 2010, and A. Verma, R. Koller, L. Useche, R. Rangaswami, "SRCMap: Energy Proportional Storage using Dynamic
//! Consolidation", FAST 2010; the README of the traces at SNIA IOTTA, set 391.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, extent};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "fiu",
    summary: "FIU IODedup, SRCMap: time (ns) pid process lba size (512-byte sectors) W|R major minor [md5]",
    source: "Koller and Rangaswami, I/O Deduplication, FAST 2010; SNIA IOTTA set 391",
    grammar: "\
time pid process lba size W|R major minor [md5 ..]     blanks between, no header
70000000000123 4321 gzip 283000184 8 R 6 0 00112233445566778899aabbccddeeff",
    rules: &[
        "Eight fields or nine, or more where each of several digests, of 32 hexadecimal digits, is a field; process may hold blanks. A request has at most 1 GiB and may be empty.",
        "Process and md5 are dropped; pid is checked and dropped.",
        "Copies in 4 KiB blocks need `address_unit` and `size_unit` = 4096.",
        "A volume is a device, in all files the same: `6,0`.",
        "Rows may be a second late: the traces do not promise their order.",
    ],
    units: Units { time_ns: Some(1), address: Some(512), size: Some(512), read_is: None },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 1_000_000_000,
    spread: Spread::IfAsked,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Fiu::new(setting)),
    sniff: |head| sniff_lines(head, Fiu::new(head.setting(&FORMAT))),
    write: None,
};

const NUMBER: &str = "a whole number below 2^64";
const COLUMNS: usize = 9;
const TIME: Column = Column { place: 1, name: "time", holds: "a whole number, below 2^64 ns" };
const PID: Column = Column { place: 2, name: "pid", holds: NUMBER };
const PROCESS: Column = Column { place: 3, name: "process", holds: "a name" };
const LBA: Column = Column { place: 4, name: "lba", holds: NUMBER };
const SIZE: Column = Column { place: 5, name: "size", holds: NUMBER };
const TYPE: Column = Column { place: 6, name: "type", holds: "R or W" };
const MAJOR: Column = Column { place: 7, name: "major", holds: NUMBER };
const MINOR: Column = Column { place: 8, name: "minor", holds: NUMBER };

/// Reads lines.
struct Fiu {
    setting: Setting,
    volumes: VolumeNames,
    /// Device and volume of the row before: nearly always those of the next.
    last: Option<(Device, u16)>,
}

/// Major and minor number.
type Device = (u64, u64);

impl Fiu {
    fn new(setting: Setting) -> Self {
        Fiu { setting, volumes: VolumeNames::default(), last: None }
    }

    /// The fields of a line in which the process has so many words. The row's volume is still open.
    #[inline]
    fn fields(&self, line: &[u8], process_words: usize) -> Result<(Row, Device), String> {
        let Setting { time_ns, address, size, .. } = self.setting;
        let mut words = Words::new(line);
        let time = words.number(&TIME)?;
        let time_ns = time.checked_mul(time_ns).ok_or_else(|| TIME.misread(time.to_string().as_bytes()))?;
        words.number(&PID)?;
        for _ in 0..process_words {
            words.word(&PROCESS)?;
        }
        let lba = words.number(&LBA)?;
        let sectors = words.number(&SIZE)?;
        let operation = match words.word(&TYPE)? {
            b"R" | b"r" => Operation::Read,
            b"W" | b"w" => Operation::Write,
            other => return Err(TYPE.misread(other)),
        };
        let device = (words.number(&MAJOR)?, words.number(&MINOR)?);
        if words.next().is_some_and(is_digest) {
            while words.clone().next().is_some_and(is_digest) {
                words.next();
            }
        }
        words.end(COLUMNS)?;
        let (offset, length) = extent(lba, address, sectors, size)?;
        Ok((Row::new(time_ns, operation, offset, length), device))
    }

    /// The fields of a line if it is one in which the process has more than one word.
    #[cold]
    fn fields_behind_a_name_with_blanks(&self, line: &[u8]) -> Option<(Row, Device)> {
        // Of several digests all but the first are put aside.
        let digests = Words::new(line).fold(0, |digests, word| if is_digest(word) { digests + 1 } else { 0 });
        let words = Words::new(line).count() + 1 - usize::max(digests, 1);
        // At most one of the two fits: the third word from the right is a number in one and a letter in the other.
        [COLUMNS - 1, COLUMNS - 2].into_iter().find_map(|others| {
            let process_words = words.checked_sub(others).filter(|&process_words| process_words > 1)?;
            self.fields(line, process_words).ok()
        })
    }

    #[inline]
    fn volume(&mut self, device: Device) -> Result<u16, String> {
        match self.last {
            Some((last, volume)) if last == device => Ok(volume),
            _ => self.other_volume(device),
        }
    }

    #[cold]
    fn other_volume(&mut self, device: Device) -> Result<u16, String> {
        let (major, minor) = device;
        let volume = self.volumes.named(&format!("{major},{minor}"))?;
        self.last = Some((device, volume));
        Ok(volume)
    }
}

impl LineFormat for Fiu {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        let (row, device) = match self.fields(line, 1) {
            Ok(read) => read,
            Err(problem) => self.fields_behind_a_name_with_blanks(line).ok_or(problem)?,
        };
        Ok(Parsed::Row(Row { volume: self.volume(device)?, ..row }))
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// Whether a word is an MD5.
fn is_digest(word: &[u8]) -> bool {
    word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
#[path = "fiu_tests.rs"]
mod tests;
