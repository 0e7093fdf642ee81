//! What iosnoop of perf-tools prints on Linux.
//!
//! Times are printed if asked for: `-s` gives STARTs, `-t` gives ENDs. A text without either has no times and is refused.
//!
//! Source: perf-tools (Gregg), iosnoop and examples/iosnoop_example.txt.

use super::super::options::Units;
use super::super::read::lines::Lines;
use super::snoop::{self, Dialect, Part, Snoop};
use super::{Epoch, Spread, TraceFormat};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "iosnoop",
    summary: "iosnoop of perf-tools with -ts: STARTs,ENDs,COMM,PID,TYPE (rwbs),DEV,BLOCK (512 bytes),BYTES,LATms",
    source: "perf-tools (Gregg), iosnoop",
    grammar: "\
STARTs         ENDs           COMM         PID    TYPE DEV      BLOCK        BYTES     LATms     header: required
700.000100     700.000900     db writer    31001  WS   259,0    65536        8192       0.80",
    rules: &[
        "A request is issued at STARTs, else as long before ENDs as LATms says. A text with neither (recorded without -s and -t) is refused.",
        "TYPE has letters of rwbs as in [blkparse](#blkparse). LATms is the response time, which only `replay = \"think-times\"` uses. Requests without bytes are skipped and counted.",
        "Lines come in the order of completion: requests may be a minute late.",
        "A volume is a DEV, `259,0`.",
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

const SECOND_NS: u64 = 1_000_000_000;
const DIALECT: Dialect = Dialect {
    columns: &[
        ("STARTs", Part::Start(SECOND_NS)),
        ("ENDs", Part::End(SECOND_NS)),
        ("COMM", Part::Process),
        ("TYPE", Part::Operation),
        ("DEV", Part::Volume),
        ("BLOCK", Part::Sector),
        ("BYTES", Part::Bytes),
        ("LATms", Part::Took(1_000_000)),
    ],
    asides: &["Tracing", "Ending"],
    example: "STARTs ENDs COMM PID TYPE DEV BLOCK BYTES LATms",
    without_times: "record with iosnoop -ts",
};

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Flush, Read, Trim, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use crate::TraceOptions;

    #[test]
    fn letters_of_rwbs_are_read_with_either_time() {
        let text = "Tracing block I/O. Ctrl-C to end.\n\
                    STARTs ENDs COMM PID TYPE DEV BLOCK BYTES LATms\n\
                    5.000100 5.000900 db writer 7 WSM 259,0 8 8192 0.80\n\
                    5.000050 5.001000 db writer 7 RA 8,0 16 512 0.95\n\
                    5.000200 5.001100 x 7 DS 8,0 0 4294967296 0.9\n\
                    5.000300 5.001200 x 7 FF 8,0 18446744073709551615 0 0.9\n\
                    5.000300 5.001200 x 7 W 8,0 0 0 0.9\n\
                    Ending tracing...\n";
        assert_eq!(detected(text.as_bytes()), Ok("iosnoop"));
        let (records, reader) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        let expected = [
            (0, Read, 8192, 512, 1),
            (50_000, Write, 4096, 8192, 0),
            (150_000, Trim, 0, 1 << 32, 1),
            (250_000, Flush, 0, 0, 1),
        ];
        assert_eq!(
            (&found[..], reader.volumes().names()),
            (&expected[..], &["259,0".to_owned(), "8,0".to_owned()][..])
        );
        let ends = "ENDs COMM PID TYPE DEV BLOCK BYTES LATms\n5.0010 a 7 R 8,0 8 512 0.95\n5.0011 a 7 R 8,0 9 512 1.1\n";
        let (records, _) = read_with(ends.as_bytes(), &TraceOptions::default()).unwrap();
        assert_eq!(
            records.iter().map(|r| (r.time_ns, r.offset)).collect::<Vec<_>>(),
            [(0, 4608), (50_000, 4096)]
        );
    }

    #[test]
    fn a_text_without_times_is_refused() {
        let text = b"COMM PID TYPE DEV BLOCK BYTES LATms\na 7 R 8,0 8 512 0.95\n";
        assert_eq!(detected(text), Ok("iosnoop"));
        assert_refused(
            "iosnoop",
            &[(text, "t:1: found no column of times, expected one: record with iosnoop -ts")],
        );
    }
}
