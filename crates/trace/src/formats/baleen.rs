//! Traces of Tectonic, Meta's file system, as published with Baleen.
//!
//! A row is a request for a part of a block of at most 8 MiB. Where blocks lie on disks was not recorded: they get addresses
//! in the order in which they first appear. The operation is a code: three kinds of get and three kinds of put. The columns
//! behind it differ between the years.
//!
//! Source: D. Wong et al., "Baleen: ML Admission and Prefetching for Flash Caches", FAST 2024, and its traces; the codes
//! are those of its simulator BCacheSim.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, decimal, extent};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::regions::Regions;
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "baleen",
    summary: "Baleen (Meta Tectonic): block_id io_offset io_size (bytes) op_time (s) op_name (1, 2, 5 read; 3, 4, 6 write) ..",
    source: "Wong et al., Baleen, FAST 2024, and its traces",
    grammar: "\
# block_id io_offset io_size op_time op_name user_namespace user_name host_name op_count      header: optional
901 131072 131072 1600000000.5 3 3 11 5 1",
    rules: &[
        "Eight to ten columns, separated by blanks. op_name 1, 2 and 5 read, 3, 4 and 6 write; op_count and what else stands behind it is passed over.",
        "A block has at most 8 MiB. Where it lies was not recorded: blocks lie one behind the other in the order in which they first appear, file by file.",
        "There is one volume a file, `disk`. Requests may be late by up to 1 s.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::ByValue,
    has_actions: false,
    sort_window_ns: 1_000_000_000,
    spread: Spread::IfAsked,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, Baleen::new(setting)?),
    sniff,
    write: None,
};

/// The largest block, in bytes.
const BLOCK: u64 = 8 << 20;
const BYTES: &str = "bytes, a whole number up to 8388608";
const BLOCK_ID: Column = Column { place: 1, name: "block_id", holds: "a whole number below 2^64" };
const OFFSET: Column = Column { place: 2, name: "io_offset", holds: BYTES };
const SIZE: Column = Column { place: 3, name: "io_size", holds: BYTES };
const TIME: Column =
    Column { place: 4, name: "op_time", holds: "seconds such as 1600000000.5, below 2^64 ns" };
const OPERATION: Column = Column { place: 5, name: "op_name", holds: "1, 2 or 5 (read), 3, 4 or 6 (write)" };
const FEWEST: usize = 8;
const MOST: usize = 10;

/// Six numbers could be anything else: only the header, or the very shape of a row, makes it this.
fn sniff(head: &Head<'_>) -> Fit {
    let first = first_lines(head.bytes, head.complete).find(|line| !line.is_empty()).unwrap_or_default();
    let named = is_header(first);
    let is_row = || {
        let mut words = Words::new(first);
        let time = words.nth(3).is_some_and(|time| time.contains(&b'.'));
        time && words.next().is_some_and(|code| matches!(code, b"1" | b"2" | b"3" | b"4" | b"5" | b"6"))
    };
    match Baleen::new(head.setting(&FORMAT)) {
        Ok(baleen) if named || is_row() => sniff_lines(head, baleen),
        _ => Fit::No {
            fitting: 0,
            problem: "no header `block_id io_offset io_size op_time op_name`".to_owned(),
        },
    }
}

fn is_header(line: &[u8]) -> bool {
    let mut words = Words::new(line).filter(|word| *word != b"#");
    let first = words.next().unwrap_or_default();
    first.strip_prefix(b"#").unwrap_or(first) == b"block_id" && words.next() == Some(b"io_offset")
}

/// Reads lines.
struct Baleen {
    setting: Setting,
    volumes: VolumeNames,
    blocks: Regions,
}

impl Baleen {
    fn new(setting: Setting) -> Result<Self, String> {
        let mut volumes = VolumeNames::default();
        volumes.named("disk")?;
        Ok(Baleen { setting, volumes, blocks: Regions::new(BLOCK) })
    }

    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let Setting { time_ns: unit, address, size: size_unit, .. } = self.setting;
        let mut words = Words::new(line);
        let block = words.number(&BLOCK_ID)?;
        let offset = words.number(&OFFSET)?;
        let size = words.number(&SIZE)?;
        let time = words.word(&TIME)?;
        let time_ns = decimal(time, unit).ok_or_else(|| TIME.misread(time))?;
        let operation = match words.word(&OPERATION)? {
            b"1" | b"2" | b"5" => Operation::Read,
            b"3" | b"4" | b"6" => Operation::Write,
            other => return Err(OPERATION.misread(other)),
        };
        let columns = 5 + words.count();
        if !(FEWEST..=MOST).contains(&columns) {
            return Err(format!("found {columns} columns, expected {FEWEST} to {MOST}"));
        }
        let (offset, length) = extent(offset, address, size, size_unit)?;
        if offset + length > BLOCK {
            return Err(format!(
                "found an end {} bytes into a block, expected at most {BLOCK}",
                offset + length
            ));
        }
        let (offset, length) = extent(self.blocks.address(block, offset), 1, length, 1)?;
        Ok(Row::new(time_ns, operation, offset, length))
    }
}

impl LineFormat for Baleen {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if is_header(line) || line.first() == Some(&b'#') {
            return Ok(Parsed::Nothing);
        }
        self.row(line).map(Parsed::Row)
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Read, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use super::*;
    use crate::TraceOptions;

    #[test]
    fn blocks_lie_in_the_order_in_which_they_appear() {
        let text =
            b"# block_id io_offset io_size op_time op_name user_namespace user_name host_name op_count\n\
                     77 131072 4096 1600000000.0 1 3 11 5 1\n\
                     5 0 8388608 1600000000.5 3 3 11 6 1\n\
                     77 0 512 1600000001.0 5 3 11 5 1\n\
                     6 0 512 1600000001.5 6 3 11 5 1\n";
        assert_eq!(detected(text), Ok("baleen"));
        let (records, reader) = read_with(text, &TraceOptions::default()).unwrap();
        let found: Vec<_> = records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length)).collect();
        let half = 500_000_000;
        assert_eq!(
            found,
            [
                (0, Read, 131_072, 4096),
                (half, Write, BLOCK, 8_388_608),
                (2 * half, Read, 0, 512),
                (3 * half, Write, 2 * BLOCK, 512)
            ]
        );
        assert_eq!(reader.volumes().names(), ["disk"]);
        assert_eq!(
            detected(b"77 0 4096 1570000000.25 4 1 3 11\n"),
            Ok("baleen"),
            "of 2019, without a header"
        );
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        assert_refused(
            "baleen",
            &[
                (b"x 0 1 1.5 1 1 1 1\n", "t:1: found `x` in field 1 (block_id)"),
                (b"1 0 1 -1.5 1 1 1 1\n", "found `-1.5` in field 4 (op_time)"),
                (b"1 0 1 1.5 7 1 1 1\n", "found `7` in field 5 (op_name), expected 1, 2 or 5 (read)"),
                (b"1 0 1 1.5 1 1 1\n", "found 7 columns, expected 8 to 10"),
                (
                    b"1 8388608 1 1.5 1 1 1 1\n",
                    "found an end 8388609 bytes into a block, expected at most 8388608",
                ),
            ],
        );
    }
}
