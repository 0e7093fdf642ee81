//! Tests of the line reader, on a format of one number a line.

use super::*;
use crate::read::fields::whole;
use harmonia_types::Operation;

#[derive(Default)]
struct Numbers {
    volumes: VolumeNames,
}

impl LineFormat for Numbers {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        match line {
            b"" => Ok(Parsed::Skip("blank")),
            _ => whole(line)
                .map(|time_ns| Row::new(time_ns, Operation::Read, 0, 1))
                .map(Parsed::Row)
                .ok_or_else(|| "no number".to_owned()),
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// A time or a problem, with its line.
type Seen = (Place, Result<u64, String>);

/// Times and problems, and what was passed over.
fn read(bytes: &[u8]) -> (Vec<Seen>, ReadLog) {
    let input = Arc::new(TraceInput::from_bytes("t", bytes.to_vec()).unwrap());
    let mut lines = Lines::new(&input, Numbers::default()).unwrap();
    let (mut seen, mut log) = (Vec::new(), ReadLog::default());
    loop {
        let next = lines.next_row(&mut log);
        match next {
            Ok(Some(row)) => seen.push((lines.place(), Ok(row.time_ns))),
            Ok(None) => return (seen, log),
            Err(Problem::Row(problem)) => seen.push((lines.place(), Err(problem))),
            Err(Problem::File(problem)) => {
                seen.push((Place::File, Err(problem)));
                return (seen, log);
            }
        }
    }
}

#[test]
fn every_line_comes_once_and_the_last_needs_no_newline() {
    let (seen, log) = read(b"1\r\n\n22\n3");
    assert_eq!(seen, [(Place::Line(1), Ok(1)), (Place::Line(3), Ok(22)), (Place::Line(4), Ok(3))]);
    assert_eq!((&*log.skipped[0].reason, log.skipped[0].rows), ("blank", 1));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    assert_eq!(read(b"\xef\xbb\xbf7\n").0, [(Place::Line(1), Ok(7))]);
}

#[test]
fn reading_goes_on_behind_a_malformed_line() {
    let (seen, _) = read(b"1\nx\n2\ny");
    assert_eq!(seen[1], (Place::Line(2), Err("no number".to_owned())));
    assert_eq!(seen[2], (Place::Line(3), Ok(2)));
    assert!(seen[3].1.as_ref().is_err_and(|problem| problem.contains("truncated")));
}

#[test]
fn a_line_may_be_64_kib_long_and_no_longer() {
    for extra in [0, 1, 10 << 20] {
        let long = [b"1\n".as_slice(), &vec![b'0'; LINE_MAX + extra], b"\n2\n"].concat();
        for bytes in [long.clone(), zstd::encode_all(&long[..], 1).unwrap()] {
            let (seen, _) = read(&bytes);
            assert_eq!((&seen[0], &seen[2]), (&(Place::Line(1), Ok(1)), &(Place::Line(3), Ok(2))));
            match &seen[1] {
                (Place::Line(2), Ok(0)) if extra == 0 => {}
                (Place::Line(2), Err(problem)) if extra > 0 => {
                    assert!(problem.contains("65536"), "{problem}")
                }
                other => panic!("{extra}: {other:?}"),
            }
        }
    }
}

#[test]
fn blank_lines_may_end_a_file_and_stand_nowhere_else() {
    let blank_is_wrong = |bytes: &[u8]| {
        let input = Arc::new(TraceInput::from_bytes("t", bytes.to_vec()).unwrap());
        let mut lines = Lines::new(&input, Strict::default()).unwrap();
        let mut log = ReadLog::default();
        loop {
            match lines.next_row(&mut log) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(log.skipped.first().map_or(0, |noted| noted.rows)),
                Err(_) => return Err(lines.place()),
            }
        }
    };
    for (text, expected) in [
        ("1\n\n", Ok(1)),
        ("1\n \r\n\t\n\n", Ok(3)),
        ("1\n  ", Ok(1)),
        ("1\n\n2\n", Err(Place::Line(2))),
        ("\n1\n", Err(Place::Line(1))),
    ] {
        assert_eq!(blank_is_wrong(text.as_bytes()), expected, "{text:?}");
        assert_eq!(blank_is_wrong(&zstd::encode_all(text.as_bytes(), 1).unwrap()), expected, "{text:?}");
    }
}

/// A format to which a blank line is malformed.
#[derive(Default)]
struct Strict(Numbers);

impl LineFormat for Strict {
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        if line.is_empty() { Err("blank".to_owned()) } else { self.0.parse(line, log) }
    }

    fn volumes(&self) -> &VolumeNames {
        self.0.volumes()
    }
}

#[test]
fn a_file_without_a_request_has_none() {
    assert_eq!(read(b"\n\n").0, []);
}
