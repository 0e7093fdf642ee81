//! What biosnoop of bcc prints, written in Python or with libbpf.
//!
//! Its times are those of completion, so a request was issued as long before as its latency says. With `-Q` the time in
//! the queue of the system stands in front of the latency; it is dropped. biosnoop of bpftrace prints neither sector nor size
//! and cannot be read.
//!
//! Source: bcc, tools/biosnoop.py and libbpf-tools/biosnoop.c.

use super::super::options::Units;
use super::super::read::lines::Lines;
use super::snoop::{self, Dialect, Part, Snoop};
use super::{Epoch, Spread, TraceFormat};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "biosnoop",
    summary: "biosnoop of bcc: TIME(s) of completion,COMM,PID,DISK,T,SECTOR (512 bytes),BYTES,QUE(ms),LAT(ms)",
    source: "bcc (iovisor), tools/biosnoop.py, libbpf-tools/biosnoop.c",
    grammar: "\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)          header: required, names the columns
0.000482    kworker/u8:2   71     nvme0n1 W 2048       8192      0.31          QUE(ms) before LAT(ms) with -Q",
    rules: &[
        "A request is issued as long before TIME(s) as LAT(ms) says. The latency is the response time, which only `replay = \"think-times\"` uses.",
        "T is R or W, or letters of rwbs as in [blkparse](#blkparse). Requests without bytes are skipped and counted.",
        "Lines come in the order of completion: requests may be a minute late.",
        "A volume is a DISK; `?` where it was not known.",
    ],
    units: Units::NONE,
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 60_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, _| Lines::boxed(input, Snoop::new(&DIALECT)),
    sniff: |head| snoop::sniff(head, &DIALECT),
    write: None,
};

const DIALECT: Dialect = Dialect {
    columns: &[
        ("TIME(s)", Part::End(1_000_000_000)),
        ("COMM", Part::Process),
        ("DISK", Part::Volume),
        ("T", Part::Operation),
        ("SECTOR", Part::Sector),
        ("BYTES", Part::Bytes),
        ("LAT(ms)", Part::Took(1_000_000)),
    ],
    asides: &["Tracing"],
    example: "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
    without_times: "biosnoop prints TIME(s)",
};

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Read, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use crate::TraceOptions;

    const HEADER: &str = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n";

    #[test]
    fn a_request_is_issued_before_its_completion() {
        let text = HEADER.to_owned()
            + "0.001000  my own app  71 sda R 16 4096 0.02 0.400\n"
            + "0.001200  kworker/1:2 9 sda W 8 8192 0.01 1.000\n"
            + "0.001300  app 9 R 18446744073709551615 0 0.00 0.1\n"
            + "0.001400  ? 0 W 32 512 0.00 0.1\n";
        assert_eq!(detected(text.as_bytes()), Ok("biosnoop"));
        let (records, reader) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        assert_eq!(
            found,
            [(0, Write, 4096, 8192, 0), (400_000, Read, 8192, 4096, 0), (1_100_000, Write, 16_384, 512, 1)]
        );
        assert_eq!(reader.volumes().names(), ["sda", "?"]);
        assert_eq!(reader.log().skipped[0].rows, 1);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        let with = |line: &str| format!("{HEADER}{line}\n");
        let table = [
            (with("x app 71 sda R 16 4096 0.02 0.4"), "t:2: found `x` in field 1 (time)"),
            (with("1 app 71 sda X 16 4096 0.02 0.4"), "found `X` in field 5 (operation)"),
            (with("1 app 71 sda R -1 4096 0.02 0.4"), "found `-1` in field 6 (sector)"),
            (with("1 app 71 sda R 16 4k 0.02 0.4"), "found `4k` in field 7 (bytes)"),
            (with("1 app 71 sda R 16 2147483648 0.02 0.4"), "expected at most 1 GiB"),
            (with("1 app"), "found `1 app`, expected 9 columns as in the header"),
            ("1 app 71 sda R 16 4096 0.4\n".to_owned(), "expected a header such as `TIME(s) COMM PID"),
        ];
        for (text, expected) in table {
            assert_refused("biosnoop", &[(text.as_bytes(), expected)]);
        }
    }
}
