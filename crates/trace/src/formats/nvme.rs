//! Commands as Linux hands them to an NVMe drive: the event `nvme_setup_cmd` of ftrace, trace-cmd or `perf script`.
//!
//! `slba` is the first logical block, `len` their number less one. The event does not say how long a logical block is: 512
//! bytes unless chosen. The ranges of a dataset management command (a trim) are not recorded, so it is lost.
//!
//! Source: Linux, `drivers/nvme/host/trace.h` and `trace.c`.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{excerpt, extent_of, number_or_hex};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::trace_events::{self, EventLine, EventText};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "nvme",
    summary: "event nvme_setup_cmd of ftrace, trace-cmd report or perf script: slba and len in logical blocks (512 bytes)",
    source: "Linux, drivers/nvme/host/trace.h",
    grammar: "\
process-pid [cpu] flags seconds: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid=9, nsid=1, flags=0x0, meta=0x0,
                                 cmd=(nvme_cmd_write slba=2048, len=7, ctrl=0x0, dsmgmt=0, reftag=0)     one line",
    rules: &[
        "Read: nvme_cmd_read, write, zone_append, write_zeroes (a trim: it carries no data) and flush. `len` is one less than the number of blocks. Dataset management (a trim) is counted as lost: its ranges are not recorded. Admin commands (qid 0), other commands and other events are skipped and counted. Bit 14 of `ctrl` is FUA.",
        "A logical block has 512 bytes: for a drive formatted with 4 KiB choose `address_unit` and `size_unit` = \"4KiB\".",
        "A volume is a disk, `nvme0n1`; where the event has none, its controller and namespace. A text with events of the block layer too has each request twice: name the format to read.",
    ],
    units: Units { time_ns: None, address: Some(512), size: Some(512), read_is: None },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 1_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Nvme::new(setting)),
    sniff,
    write: None,
};

/// Of `ctrl`: force unit access.
const FUA: u64 = 1 << 14;
const EVENT: &[u8] = b"nvme_setup_cmd";
const ADMIN: &str = "an admin command";
const OTHER: &str = "an NVMe command that neither reads nor writes nor flushes";
const RANGES: &str = "dataset management (a trim), whose ranges are not recorded";

fn sniff(head: &Head<'_>) -> Fit {
    if trace_events::has_event(head, &[EVENT]) {
        sniff_lines(head, Nvme::new(head.setting(&FORMAT)))
    } else {
        Fit::No { fitting: 0, problem: "no event nvme_setup_cmd in its first lines".to_owned() }
    }
}

/// Reads lines.
struct Nvme {
    setting: Setting,
    volumes: VolumeNames,
}

impl Nvme {
    fn new(setting: Setting) -> Self {
        Nvme { setting, volumes: VolumeNames::default() }
    }

    fn event(&mut self, EventLine { time_ns, name, words }: EventLine<'_>) -> Result<Parsed, String> {
        if name != EVENT {
            return Ok(Parsed::Skip(trace_events::OTHER));
        }
        let text = words.rest();
        if number(text, b"qid=")? == 0 {
            return Ok(Parsed::Skip(ADMIN));
        }
        let command = value(text, b"cmd=(").ok_or_else(|| lacks(text, "cmd=(...)"))?;
        let operation = match command {
            b"nvme_cmd_read" => Operation::Read,
            b"nvme_cmd_write" | b"nvme_cmd_zone_append" => Operation::Write,
            b"nvme_cmd_write_zeroes" => Operation::Trim,
            b"nvme_cmd_flush" => Operation::Flush,
            b"nvme_cmd_dsm" => return Ok(Parsed::Lose(RANGES)),
            _ => return Ok(Parsed::Skip(OTHER)),
        };
        if !text.ends_with(b")") {
            return Err(lacks(text, ") at its end"));
        }
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => {
                let blocks = number(text, b"len=")?.saturating_add(1);
                let Setting { address, size, .. } = self.setting;
                extent_of(operation, (number(text, b"slba=")?, address), (blocks, size))?
            }
        };
        let volume = match value(text, b"disk=").filter(|disk| !disk.is_empty()) {
            Some(disk) => self.volumes.named(&String::from_utf8_lossy(disk))?,
            None => {
                let controller = text.split(|&byte| byte == b':').next().unwrap_or_default();
                let namespace = number(text, b"nsid=")?;
                self.volumes.named(&format!("{}n{namespace}", excerpt(controller)))?
            }
        };
        let control = value(text, b"ctrl=").and_then(number_or_hex).unwrap_or(0);
        let fua = operation == Operation::Write && control & FUA != 0;
        Ok(Parsed::Row(Row { volume, fua, ..Row::new(time_ns, operation, offset, length) }))
    }
}

/// What stands behind `name`, up to what ends a value.
fn value<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = text.windows(name.len()).position(|part| part == name)? + name.len();
    let rest = &text[start..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b' ' | b')'));
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn number(text: &[u8], name: &'static [u8]) -> Result<u64, String> {
    let found = value(text, name).and_then(number_or_hex);
    found.ok_or_else(|| lacks(text, &format!("{} and a whole number below 2^64", name.escape_ascii())))
}

#[cold]
fn lacks(text: &[u8], what: &str) -> String {
    format!("found `{}` for nvme_setup_cmd, expected {what}", excerpt(text))
}

impl LineFormat for Nvme {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        match trace_events::split(line.trim_ascii_end())? {
            EventText::Event(event) => self.event(event),
            EventText::Aside => Ok(Parsed::Nothing),
            EventText::Lost => Ok(Parsed::Lose(trace_events::LOST)),
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Flush, Read, Trim, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use crate::{TraceOptions, UnitOptions};

    fn line(time: &str, queue: u32, command: &str) -> String {
        format!(
            "fio-7 [001] ..... {time}: nvme_setup_cmd: nvme0: disk=nvme0n1, qid={queue}, cmdid=9, nsid=1, flags=0x0, meta=0x0, cmd=({command})\n"
        )
    }

    #[test]
    fn commands_are_requests_of_blocks() {
        let text = line("1.000000", 1, "nvme_cmd_write slba=8, len=7, ctrl=0x4000, dsmgmt=0, reftag=0")
            + &line("1.000001", 0, "nvme_admin_identify cns=1, ctrlid=0")
            + &line("1.000002", 2, "nvme_cmd_read slba=0x10, len=0, ctrl=0x4000, dsmgmt=0, reftag=0")
            + &line("1.000003", 2, "nvme_cmd_dsm nr=0, attributes=4")
            + &line("1.000004", 2, "nvme_cmd_write_zeroes slba=0, len=65535, ctrl=0x200, dsmgmt=0, reftag=0")
            + &line("1.000005", 2, "nvme_cmd_flush")
            + "fio-7 [001] 1.000006: nvme_sq: nvme0: qid=1\n"
            + "fio-7 [001] 1.000007: nvme_setup_cmd: nvme1: qid=4, cmdid=1, nsid=2, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=1, len=0, ctrl=0x0)\n";
        assert_eq!(detected(text.as_bytes()), Ok("nvme"));
        let (records, reader) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        let expected = [
            (0, Write, 4096, 4096, 0),
            (2_000, Read, 8192, 512, 0),
            (4_000, Trim, 0, 1 << 25, 0),
            (5_000, Flush, 0, 0, 0),
            (7_000, Read, 512, 512, 1),
        ];
        assert_eq!(
            (&found[..], reader.volumes().names()),
            (&expected[..], &["nvme0n1".to_owned(), "nvme1n2".to_owned()][..])
        );
        assert_eq!(reader.log().lost, 1);
        assert!(records[0].fua && !records[1..].iter().any(|record| record.fua));
        let units = UnitOptions { address: Some(4096), size: Some(4096), ..UnitOptions::default() };
        let options = TraceOptions { units, ..TraceOptions::default() };
        assert_eq!(read_with(text.as_bytes(), &options).unwrap().0[0].offset, 32_768);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        let table: &[(String, &str)] = &[
            (line("1.0", 1, "nvme_cmd_read slba=x, len=7"), "t:1: found `nvme0: disk=nvme0n1"),
            (line("1.0", 1, "nvme_cmd_read slba=1"), "expected len= and a whole number"),
            (line("1.0", 1, "nvme_cmd_read slba=1, len=7").replace(")\n", "\n"), "expected ) at its end"),
            (line("1.0", 1, "nvme_cmd_read slba=1, len=99999999"), "expected at most 1 GiB"),
        ];
        for (text, expected) in table {
            assert_refused("nvme", &[(text.as_bytes(), expected)]);
        }
    }
}
