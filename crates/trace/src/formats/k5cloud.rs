//! K5cloud traces of Fujitsu's K5 cloud service.
//!
//! Requests to the volumes of a block store, one a line, without a header.
//!
//! Source: the K5cloud traces at SNIA IOTTA.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "k5cloud",
    summary: "K5cloud: volume,time (s, with decimals),type (R or W),offset,length (bytes)",
    source: "SNIA IOTTA, K5cloud Traces (Fujitsu)",
    grammar: "\
volume,time,type,offset,length              no header
3,1496300000.250000000,R,8192,4096",
    rules: &[
        "Five fields; time has a point and decimals, type is R or W; a request has 1 byte to 1 GiB.",
        "A volume is its number, in all files the same.",
        "Rows may be late by up to 1 s.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::ByValue,
    has_actions: false,
    sort_window_ns: 1_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, K5cloud::new(setting)),
    sniff: |head| sniff_lines(head, K5cloud::new(head.setting(&FORMAT))),
    write: None,
};

const COLUMNS: usize = 5;
const BYTES: &str = "bytes, a whole number below 2^64";
const VOLUME: Column = Column { place: 1, name: "volume", holds: "a whole number below 2^64" };
const TIME: Column =
    Column { place: 2, name: "time", holds: "seconds with decimals such as 1496300000.25, below 2^64 ns" };
const TYPE: Column = Column { place: 3, name: "type", holds: "R or W" };
const OFFSET: Column = Column { place: 4, name: "offset", holds: BYTES };
const LENGTH: Column = Column { place: 5, name: "length", holds: BYTES };

/// Reads lines.
struct K5cloud {
    setting: Setting,
    volumes: VolumeNames,
}

impl K5cloud {
    fn new(setting: Setting) -> Self {
        K5cloud { setting, volumes: VolumeNames::default() }
    }

    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let Setting { time_ns: unit, address, size, .. } = self.setting;
        let mut fields = Fields::new(line);
        let volume = fields.number(&VOLUME)?;
        let mut behind = fields;
        let time_ns = behind.padded_decimal(unit, &TIME)?;
        let time = fields.text(&TIME)?;
        if whole(time).is_some() {
            return Err(TIME.misread(time));
        }
        let operation = match fields.text(&TYPE)? {
            b"R" => Operation::Read,
            b"W" => Operation::Write,
            other => return Err(TYPE.misread(other)),
        };
        let offset = fields.number(&OFFSET)?;
        let length = fields.number(&LENGTH)?;
        fields.end(COLUMNS)?;
        if length == 0 {
            return Err(LENGTH.empty());
        }
        let (offset, length) = extent(offset, address, length, size)?;
        Ok(Row { volume: self.volumes.numbered(volume)?, ..Row::new(time_ns, operation, offset, length) })
    }
}

impl LineFormat for K5cloud {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
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
    use crate::TraceOptions;

    #[test]
    fn volumes_stand_apart() {
        let text =
            b"3,1496300000.500000000,W,0,4096\n9,1496300000.250000000,R,8192,512\n3,1496300001.5,R,4096,1\n";
        assert_eq!(detected(text), Ok("k5cloud"));
        let (records, reader) = read_with(text, &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        let ms = 1_000_000;
        assert_eq!(
            found,
            [(0, Read, 8192, 512, 1), (250 * ms, Write, 0, 4096, 0), (1250 * ms, Read, 4096, 1, 0)]
        );
        assert_eq!(reader.volumes().names(), ["3", "9"]);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        assert_refused(
            "k5cloud",
            &[
                (b"a,1.5,R,0,1\n", "t:1: found `a` in field 1 (volume)"),
                (
                    b"1,1496300000,R,0,1\n",
                    "found `1496300000` in field 2 (time), expected seconds with decimals",
                ),
                (b"1,-1.5,R,0,1\n", "found `-1.5` in field 2 (time)"),
                (b"1,1.5,X,0,1\n", "found `X` in field 3 (type)"),
                (b"1,1.5,R,0,0\n", "found `0` in field 5 (length)"),
                (b"1,1.5,R,0,1073741825\n", "at most 1 GiB"),
                (b"1,1.5,R,0,1,2\n", "found `2` behind the last field"),
                (b"1,1.5,R,0", "expected field 5 (length)"),
            ],
        );
    }
}
