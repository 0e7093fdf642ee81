//! Thesios: I/O of Google's storage servers, put together from samples.
//!
//! A row is a request of a client to a storage server with one disk, for a part of a file. Where files lie on the disk was
//! not recorded: they get regions of 64 MiB in the order in which they first appear.
//!
//! Source: P. Phothilimthana et al., "Thesios: Synthesizing Accurate Counterfactual I/O Traces from I/O Samples", ASPLOS
//! 2024; github.com/google-research-datasets/thesios.

use harmonia_types::Operation;
use xxhash_rust::xxh3::xxh3_64;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, decimal, excerpt, extent, trimmed, whole};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::regions::Regions;
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "thesios",
    summary: "Thesios (Google): filename,file_offset,..,op_type,..,request_io_size_bytes,..,start_time (s),..,simulated_latency (s)",
    source: "Phothilimthana et al., Thesios, ASPLOS 2024; github.com/google-research-datasets/thesios",
    grammar: "\
filename,file_offset,application,c_time,io_zone,redundancy_type,op_type,service_class,from_flash_cache,cache_hit,
request_io_size_bytes,disk_io_size_bytes,response_io_size_bytes,start_time,disk_time,simulated_disk_start_time,
simulated_latency                                   header: required, one line, names the columns, in any order",
    rules: &[
        "A request is what a client asked of the server: file_offset, request_io_size_bytes, start_time. Those that the server's cache answers are read too; cache_hit and the columns about the disk are passed over.",
        "Where a file lies was not recorded: files get regions of 64 MiB, one behind the other in the order in which they first appear, file of the trace by file.",
        "simulated_latency, if it is there, is the response time, which only `replay = \"think-times\"` uses. Requests may be a minute late.",
        "There is one volume a file of the trace, `disk`: the server's.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::Unix,
    has_actions: false,
    sort_window_ns: 60_000_000_000,
    spread: Spread::IfAsked,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, Thesios::new(setting)?),
    sniff,
    write: None,
};

const REGION: u64 = 64 << 20;
/// What is read, by its place in [`Thesios::places`].
const NAMES: [&str; 6] =
    ["filename", "file_offset", "op_type", "request_io_size_bytes", "start_time", "simulated_latency"];
const HOLDS: [&str; 6] = [
    "a name",
    "bytes, a whole number below 2^64",
    "READ or WRITE",
    "bytes, a whole number below 2^64",
    "seconds, below 2^64 ns",
    "seconds, or nothing",
];
const LATENCY: usize = 5;

fn header(line: &[u8]) -> Option<[Option<usize>; 6]> {
    let words: Vec<&[u8]> = line.split(|&byte| byte == b',').map(trimmed).collect();
    let places = NAMES.map(|name| words.iter().position(|word| *word == name.as_bytes()));
    places[..LATENCY].iter().all(Option::is_some).then_some(places)
}

fn sniff(head: &Head<'_>) -> Fit {
    let first = first_lines(head.bytes, head.complete).next().unwrap_or_default();
    match (header(first), Thesios::new(head.setting(&FORMAT))) {
        (Some(_), Ok(thesios)) => sniff_lines(head, thesios),
        _ => Fit::No { fitting: 0, problem: "no header with filename, file_offset and op_type".to_owned() },
    }
}

/// Reads lines.
struct Thesios {
    setting: Setting,
    /// Where the columns are, counted from 0; known behind the header.
    places: Option<[Option<usize>; 6]>,
    files: Regions,
    volumes: VolumeNames,
    response_ns: u64,
}

impl Thesios {
    fn new(setting: Setting) -> Result<Self, String> {
        let mut volumes = VolumeNames::default();
        volumes.named("disk")?;
        Ok(Thesios { setting, places: None, files: Regions::new(REGION), volumes, response_ns: 0 })
    }

    fn row(&mut self, line: &[u8], places: [Option<usize>; 6]) -> Result<Row, String> {
        let Setting { time_ns: unit, address, size: size_unit, .. } = self.setting;
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(trimmed).collect();
        let field = |index: usize| {
            let place = places[index].unwrap_or(usize::MAX);
            let column = Column { place: place.saturating_add(1), name: NAMES[index], holds: HOLDS[index] };
            (column, fields.get(place).copied().unwrap_or_default())
        };
        let read = |index: usize, value: &dyn Fn(&[u8]) -> Option<u64>| {
            let (column, text) = field(index);
            value(text).ok_or_else(|| column.misread(text))
        };
        let (column, name) = field(0);
        if name.is_empty() {
            return Err(column.misread(name));
        }
        let offset = read(1, &whole)?;
        let (column, operation) = field(2);
        let operation = match operation {
            b"READ" => Operation::Read,
            b"WRITE" => Operation::Write,
            other => return Err(column.misread(other)),
        };
        let size = read(3, &whole)?;
        let time_ns = read(4, &|text| decimal(text, unit))?;
        let (column, latency) = field(LATENCY);
        self.response_ns = match latency {
            b"" => 0,
            text => {
                decimal(text.strip_prefix(b"-").unwrap_or(text), unit).ok_or_else(|| column.misread(text))?
            }
        };
        let (offset, length) = extent(offset, address, size, size_unit)?;
        let (offset, length) = extent(self.files.address(xxh3_64(name), offset), 1, length, 1)?;
        Ok(Row::new(time_ns, operation, offset, length))
    }
}

impl LineFormat for Thesios {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        match self.places {
            Some(places) => self.row(line, places).map(Parsed::Row),
            None => {
                let places = header(line).ok_or_else(|| {
                    format!(
                        "found `{}`, expected a header with {}",
                        excerpt(line),
                        NAMES[..LATENCY].join(", ")
                    )
                })?;
                self.places = Some(places);
                Ok(HEADER)
            }
        }
    }

    fn response_ns(&self) -> u64 {
        self.response_ns
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

    const LINE: &str = "filename,file_offset,application,c_time,io_zone,redundancy_type,op_type,service_class,from_flash_cache,cache_hit,request_io_size_bytes,disk_io_size_bytes,response_io_size_bytes,start_time,disk_time,simulated_disk_start_time,simulated_latency\n";

    #[test]
    fn files_have_regions_in_the_order_in_which_they_appear() {
        let text = LINE.to_owned()
            + "ab,8192,app,1,WARM,REPLICATED,READ,OTHER,0,0,4096,4096,4096,1705276800.25,0.1,1705276800.3,0.012\n"
            + "cd,0,app,1,COLD,ERASURE_CODED,WRITE,OTHER,0,-1,512,0,512,1705276800.5,0,0,0.001\n"
            + "ab,67108864,app,1,WARM,REPLICATED,READ,OTHER,0,1,512,0,512,1705276801.25,0,0,\n";
        assert_eq!(detected(text.as_bytes()), Ok("thesios"));
        let (records, _) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> = records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length)).collect();
        let expected = [
            (0, Read, 8192, 4096),
            (250_000_000, Write, REGION, 512),
            (1_000_000_000, Read, 2 * REGION, 512),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        let row = |offset: &str, operation: &str, size: &str, time: &str| {
            format!(
                "filename,file_offset,op_type,request_io_size_bytes,start_time\nab,{offset},{operation},{size},{time}\n"
            )
        };
        let table = [
            (row("x", "READ", "1", "1.5"), "t:2: found `x` in field 2 (file_offset)"),
            (row("0", "read", "1", "1.5"), "found `read` in field 3 (op_type), expected READ or WRITE"),
            (row("0", "READ", "-1", "1.5"), "found `-1` in field 4 (request_io_size_bytes)"),
            (row("0", "READ", "1", "1e9"), "found `1e9` in field 5 (start_time)"),
            (row("0", "READ", "1073741825", "1"), "at most 1 GiB"),
            (
                "a,b,c\n".to_owned(),
                "t:1: found `a,b,c`, expected a header with filename, file_offset, op_type",
            ),
        ];
        for (text, expected) in table {
            assert_refused("thesios", &[(text.as_bytes(), expected)]);
        }
    }
}
