//! What iosnoop of the DTraceToolkit prints on Solaris, macOS and BSD.
//!
//! Times are in us and are printed if asked for: `-s` gives STIME, `-t` gives TIME, of completion, and `-D` gives DELTA, how
//! long it took. With `-v` a time of day with blanks is printed, behind which no column can be counted: that is refused.
//!
//! Source: DTraceToolkit (Gregg), iosnoop and Examples/iosnoop_example.txt.

use super::super::options::Units;
use super::super::read::lines::Lines;
use super::snoop::{self, Dialect, Part, Snoop};
use super::{Epoch, Spread, TraceFormat};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "dtrace",
    summary: "iosnoop of the DTraceToolkit with -s or -t: STIME,TIME (us),DELTA,UID,PID,D,BLOCK (512 bytes),SIZE,COMM,PATHNAME",
    source: "DTraceToolkit (Gregg), iosnoop",
    grammar: "\
STIME            TIME             UID   PID D      BLOCK    SIZE       COMM PATHNAME        header: required
9000000          9000800            0   611 R     204800    8192        tar /export/a b",
    rules: &[
        "A request is issued at STIME, else as long before TIME as DELTA says, else at TIME. A text with neither (recorded without -s and -t) is refused, as is one with a time of day (-v).",
        "D is R or W. Requests without bytes are skipped and counted. Response times are TIME less STIME, or DELTA; only `replay = \"think-times\"` uses them.",
        "Lines come in the order of completion: requests may be a minute late.",
        "A volume is a DEVICE (-e); without it there is the volume `disk`.",
    ],
    units: Units::NONE,
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 60_000_000_000,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, _| Lines::boxed(input, Snoop::new(&DIALECT)),
    sniff: |head| snoop::sniff(head, &DIALECT),
    write: None,
};

const DIALECT: Dialect = Dialect {
    columns: &[
        ("STIME", Part::Start(1_000)),
        ("TIME", Part::End(1_000)),
        ("DELTA", Part::Took(1_000)),
        ("STRTIME", Part::Blanks),
        ("DEVICE", Part::Volume),
        ("D", Part::Operation),
        ("BLOCK", Part::Sector),
        ("SIZE", Part::Bytes),
        ("COMM", Part::Process),
    ],
    asides: &["Tracing"],
    example: "STIME TIME UID PID D BLOCK SIZE COMM PATHNAME",
    without_times: "record with iosnoop -s",
};

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Read, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use crate::TraceOptions;

    #[test]
    fn times_are_in_us_and_paths_may_have_blanks() {
        let text = "STIME TIME UID PID D BLOCK SIZE COMM PATHNAME\n\
                    9010000 9010500 0 5 W 1024 16384 flusher <none>\n\
                    9000000 9020800 0 611 R 8 8192 my tar /export/a b c\n";
        assert_eq!(detected(text.as_bytes()), Ok("dtrace"));
        let (records, reader) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> = records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length)).collect();
        assert_eq!(found, [(0, Read, 4096, 8192), (10_000_000, Write, 524_288, 16_384)]);
        assert_eq!(reader.volumes().names(), ["disk"]);
        let device = "TIME DELTA DEVICE UID PID D BLOCK SIZE COMM PATHNAME\n100 20 cmdk0 0 1 R 0 512 a /\n110 40 cmdk1 0 1 R 1 512 a /\n";
        let (records, reader) = read_with(device.as_bytes(), &TraceOptions::default()).unwrap();
        assert_eq!(
            records.iter().map(|r| (r.time_ns, r.offset)).collect::<Vec<_>>(),
            [(0, 512), (10_000, 0)]
        );
        assert_eq!(reader.volumes().names(), ["cmdk0", "cmdk1"]);
    }

    #[test]
    fn texts_without_usable_times_are_refused() {
        let table: [(&[u8], &str); 2] = [
            (
                b"UID PID D BLOCK SIZE COMM PATHNAME\n0 1 R 0 512 a /\n",
                "t:1: found no column of times, expected one: record with iosnoop -s",
            ),
            (
                b"STRTIME UID PID D BLOCK SIZE COMM PATHNAME\n2005 Jul 1 10:00:00 0 1 R 0 512 a /\n",
                "whose times have blanks (-v)",
            ),
        ];
        assert_refused("dtrace", &table);
    }
}
