//! Traces for the replayer of IODA and of the groups around it.
//!
//! Five columns without a header, in ms and bytes; 1 reads. Only files whose times have six decimals are recognised, for
//! other tables of five numbers look alike.
//!
//! Source: github.com/huaicheng/replayer, README; H. Li et al., "IODA: A Host/Device Co-Design for Strong Predictability
//! Contract on Modern Flash Storage", SOSP 2021.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "replayer",
    summary: "replayer (IODA): time (ms, six decimals),disk,offset,size (bytes),type (1 = read, 0 = write)",
    source: "github.com/huaicheng/replayer; Li et al., IODA, SOSP 2021",
    grammar: "\
time,disk,offset,size,type                  no header
10.000000,0,1048576,4096,1",
    rules: &[
        "Five fields; type is 0 or 1; a request has 1 byte to 1 GiB.",
        "`auto` recognises it by times with six decimals, and offsets and sizes in whole sectors of 512 bytes.",
        "A volume is a disk.",
    ],
    units: Units { time_ns: Some(1_000_000), address: Some(1), size: Some(1), read_is: Some(1) },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, Replayer::new(setting)),
    sniff,
    write: None,
};

const COLUMNS: usize = 5;
const BYTES: &str = "bytes, a whole number below 2^64";
const TIME: Column = Column { place: 1, name: "time", holds: "ms such as 10.000000, below 2^64 ns" };
const DISK: Column = Column { place: 2, name: "disk", holds: "a whole number below 2^64" };
const OFFSET: Column = Column { place: 3, name: "offset", holds: BYTES };
const SIZE: Column = Column { place: 4, name: "size", holds: BYTES };
const TYPE: Column = Column { place: 5, name: "type", holds: "0 or 1" };

fn sniff(head: &Head<'_>) -> Fit {
    let has_six = |line: &[u8]| {
        let mut fields = line.split(|&byte| byte == b',');
        let time = fields.next().unwrap_or_default();
        let six = time.iter().rev().position(|&byte| byte == b'.') == Some(6);
        let in_sectors =
            |field: &[u8]| super::super::read::fields::whole(field).is_some_and(|n| n % 512 == 0);
        six && fields.skip(1).take(2).all(in_sectors)
    };
    if first_lines(head.bytes, head.complete).filter(|line| !line.is_empty()).all(has_six) {
        sniff_lines(head, Replayer::new(head.setting(&FORMAT)))
    } else {
        Fit::No {
            fitting: 0,
            problem: "not all times have six decimals, and offsets and sizes whole sectors".to_owned(),
        }
    }
}

/// Reads lines.
struct Replayer {
    setting: Setting,
    volumes: VolumeNames,
}

impl Replayer {
    fn new(setting: Setting) -> Self {
        Replayer { setting, volumes: VolumeNames::default() }
    }

    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let Setting { time_ns: unit, address, size: size_unit, read_is, .. } = self.setting;
        let mut fields = Fields::new(line);
        let time_ns = fields.padded_decimal(unit, &TIME)?;
        let disk = fields.padded_number(&DISK)?;
        let offset = fields.padded_number(&OFFSET)?;
        let size = fields.padded_number(&SIZE)?;
        let bit = match fields.padded(&TYPE)? {
            b"0" => 0,
            b"1" => 1,
            other => return Err(TYPE.misread(other)),
        };
        fields.end(COLUMNS)?;
        if size == 0 {
            return Err(SIZE.empty());
        }
        let operation = if bit == read_is { Operation::Read } else { Operation::Write };
        let (offset, length) = extent(offset, address, size, size_unit)?;
        Ok(Row { volume: self.volumes.numbered(disk)?, ..Row::new(time_ns, operation, offset, length) })
    }
}

impl LineFormat for Replayer {
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
    use crate::{TraceOptions, UnitOptions};

    #[test]
    fn times_are_ms_and_1_reads() {
        let text = b"5.000000,0,4096,512,1\n15.500000,1,0,1024,0\n";
        assert_eq!(detected(text), Ok("replayer"));
        let (records, reader) = read_with(text, &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        assert_eq!(found, [(0, Read, 4096, 512, 0), (10_500_000, Write, 0, 1024, 1)]);
        assert_eq!(reader.volumes().names(), ["0", "1"]);
        let units = UnitOptions { read_is: Some(0), ..UnitOptions::default() };
        let options = TraceOptions { units, ..TraceOptions::default() };
        assert_eq!(read_with(text, &options).unwrap().0[0].operation, Write);
    }

    #[test]
    fn a_table_that_only_resembles_it_is_not_taken_for_it() {
        for text in
            ["0.5,0,4096,512,1\n", "0.000005,0,4096,3,1\n", "5,0,4096,512,1\n", "0.500000,0,7,512,1\n"]
        {
            assert!(detected(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        assert_refused(
            "replayer",
            &[
                (b"x,0,0,512,1\n", "t:1: found `x` in field 1 (time)"),
                (b"1.000000,a,0,512,1\n", "found `a` in field 2 (disk)"),
                (b"1.000000,0,0,0,1\n", "found `0` in field 4 (size)"),
                (b"1.000000,0,0,512,2\n", "found `2` in field 5 (type), expected 0 or 1"),
                (b"1.000000,0,0,1073741825,1\n", "at most 1 GiB"),
                (b"2.000000,0,0,512,1\n1.000000,0,0,512,1\n", "t:2: found a time 0.001 s before"),
            ],
        );
    }
}
