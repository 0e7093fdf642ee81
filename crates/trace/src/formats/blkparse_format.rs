//! blkparse's text in a format of one's own: `blkparse -f "%T.%t %a %d %S %n\n"`, read by the same string (`event_format`).
//!
//! A field ends where what stands behind it in the format begins; fields side by side are separated by blanks, which
//! blkparse fills them up with. Only the name of a process may have blanks. Where the format has no `%a`, every line is
//! the event that `action` names.

use super::super::event_format::{EventFormat, Piece};
use super::super::options::Setting;
use super::super::read::ReadLog;
use super::super::read::fields::{excerpt, trimmed, whole};
use super::super::read::lines::{LineFormat, Parsed};
use super::super::record::{Row, VolumeNames};
use super::blkparse::{EARLY, is_aside, is_early};
use super::block_events::{Asked, Choice, Event, Rwbs, SECTOR, count_unread};

const NS: u64 = 1_000_000_000;
/// The volume of a text without a column of them.
const ONLY_VOLUME: &str = "disk";

/// Reads lines.
pub(super) struct BlkparseFormat {
    pieces: Vec<Piece>,
    choice: Choice,
    /// The event that every line is where none is printed.
    only: Option<Event>,
    volumes: VolumeNames,
}

impl BlkparseFormat {
    pub(super) fn new(setting: &Setting, format: &EventFormat) -> Self {
        let only = setting.action.filter(|_| !format.has_event()).map(Event::Of);
        BlkparseFormat {
            pieces: format.pieces(),
            choice: Choice::new(setting),
            only,
            volumes: VolumeNames::default(),
        }
    }

    fn event(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        let found = self.fields(line)?;
        let number = |letter: u8, what: &str| {
            let text = found[usize::from(letter)].unwrap_or_default();
            whole(text).ok_or_else(|| misread(letter, what, text, "a whole number below 2^64"))
        };
        let text = |letter: u8| found[usize::from(letter)];
        let event = match (self.only, text(b'a')) {
            (Some(event), _) => event,
            (None, letters) => {
                let letters = letters.unwrap_or_default();
                Event::lettered(letters).ok_or_else(|| {
                    misread(b'a', "event", letters, "one of Q G S I M F D C R P U UT X B A m")
                })?
            }
        };
        let action = match event {
            Event::Other(reason) => return Ok(Parsed::Skip(reason)),
            Event::Of(action) => action,
        };
        let seconds = number(b'T', "seconds")?;
        let nanoseconds = number(b't', "nanoseconds")?;
        let time_ns = seconds.checked_mul(NS).and_then(|ns| ns.checked_add(nanoseconds));
        let time_ns = time_ns.ok_or_else(|| misread(b'T', "seconds", &[], "a time below 2^64 ns"))?;
        let letters = text(b'd').unwrap_or_default();
        let rwbs = Rwbs::read(letters)
            .ok_or_else(|| misread(b'd', "rwbs", letters, "letters such as R, WS, FWFS or D"))?;
        let bytes = match text(b'N') {
            Some(_) => number(b'N', "bytes")?,
            None => {
                let sectors = number(b'n', "sectors")?;
                sectors.checked_mul(SECTOR).ok_or_else(|| {
                    format!("found a request of {sectors} sectors, expected less than 2^64 bytes")
                })?
            }
        };
        let asked =
            if bytes == 0 { rwbs.asks(None) } else { rwbs.asks(Some((number(b'S', "sector")?, bytes))) };
        if let Some(reason) = self.choice.passes_over(action) {
            if !is_early(time_ns) {
                count_unread(&mut log.events, action, asked);
            }
            return Ok(Parsed::Skip(reason));
        }
        let (operation, offset, length) = match asked? {
            Asked::Nothing(reason) => return Ok(Parsed::Skip(reason)),
            Asked::Request(..) if is_early(time_ns) => return Ok(Parsed::Lose(EARLY)),
            Asked::Request(operation, offset, length) => (operation, offset, length),
        };
        let volume = match (text(b'D'), text(b'M'), text(b'm')) {
            (Some(device), ..) => excerpt(device),
            (None, Some(major), Some(minor)) => format!("{},{}", excerpt(major), excerpt(minor)),
            _ => ONLY_VOLUME.to_owned(),
        };
        log.events.add(action, length);
        Ok(Parsed::Row(Row {
            volume: self.volumes.named(&volume)?,
            fua: rwbs.fua,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }

    /// The fields of a line, by blkparse's letters.
    fn fields<'a>(&self, line: &'a [u8]) -> Result<Fields<'a>, String> {
        let mut found: Fields<'a> = [None; 256];
        let mut rest = line;
        let unlike = || format!("found `{}`, expected a line as event_format says", excerpt(line));
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => rest = rest.strip_prefix(&text[..]).ok_or_else(unlike)?,
                Piece::Field(letter) => {
                    let padded = rest.iter().take_while(|byte| **byte == b' ').count();
                    let field = &rest[padded..];
                    let end = match self.pieces.get(index + 1) {
                        Some(Piece::Text(text)) if *letter == b'C' => {
                            last_of(field, text).ok_or_else(unlike)?
                        }
                        Some(Piece::Text(text)) => first_of(field, text).ok_or_else(unlike)?,
                        Some(Piece::Field(_)) => {
                            field.iter().position(|byte| *byte == b' ').unwrap_or(field.len())
                        }
                        None => field.len(),
                    };
                    found[usize::from(*letter)] = Some(trimmed(&field[..end]));
                    rest = &field[end..];
                }
            }
        }
        if trimmed(rest).is_empty() { Ok(found) } else { Err(unlike()) }
    }
}

/// By letter.
type Fields<'a> = [Option<&'a [u8]>; 256];

/// Where `text` begins first; at least one byte is left for a field.
fn first_of(field: &[u8], text: &[u8]) -> Option<usize> {
    (1..=field.len().saturating_sub(text.len())).find(|&at| field[at..].starts_with(text))
}

/// Where `text` begins last.
fn last_of(field: &[u8], text: &[u8]) -> Option<usize> {
    (0..=field.len().checked_sub(text.len())?).rev().find(|&at| field[at..].starts_with(text))
}

#[cold]
fn misread(letter: u8, what: &str, found: &[u8], holds: &str) -> String {
    format!("found `{}` for %{} ({what}), expected {holds}", excerpt(found), char::from(letter))
}

impl LineFormat for BlkparseFormat {
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        match self.event(line, log) {
            Err(_) if line.trim_ascii().is_empty() || is_aside(line) => Ok(Parsed::Nothing),
            parsed => parsed,
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn no_rows(&self) -> String {
        self.choice.missing()
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Read, Write};

    use super::super::super::options::Action;
    use super::super::testing::read_with;
    use crate::{TraceOptions, TraceRecord};

    fn options(format: &str) -> TraceOptions {
        TraceOptions { event_format: Some(format.parse().unwrap()), ..TraceOptions::default() }
    }

    fn read(text: &str, options: &TraceOptions) -> Result<(Vec<TraceRecord>, Vec<String>), String> {
        read_with(text.as_bytes(), options)
            .map(|(records, reader)| (records, reader.volumes().names().to_vec()))
    }

    #[test]
    fn lines_are_read_by_the_string_they_were_printed_by() {
        let record = |time_ns, operation, offset, length, volume| TraceRecord {
            volume,
            ..TraceRecord::new(time_ns, operation, offset, length)
        };
        let expected = [record(0, Write, 4096, 8192, 0), record(1_000_000_100, Read, 0, 512, 1)];
        let names = vec!["8,0".to_owned(), "8,16".to_owned()];
        let text = "  8,0     0.000000200 D  WS 8 + 16 [my app]\n  8,0     0.000000100 Q  WS 8 + 16 [my app]\n  8,16    1.000000300 D   R 0 + 1 [a [0]]\n\nCPU0 (sda):\n Reads Queued: 1\n";
        let format = r"%D %5T.%9t %2a %3d %S + %n [%C]\n";
        assert_eq!(read(text, &options(format)), Ok((expected.to_vec(), names.clone())));
        let text = "200,8,0,0,W,8,8192\n300,8,16,1,R,0,512\n";
        let bare = TraceOptions { action: Some(Action::Issued), ..options("%t,%M,%m,%T,%d,%S,%N") };
        assert_eq!(read(text, &bare), Ok((expected.to_vec(), names)));
        let disk = read(
            "0.000000001W       8     1\n",
            &TraceOptions { action: Some(Action::Queued), ..options("%T.%t%d%8S%6n") },
        );
        assert!(
            disk.unwrap_err().contains("found `000000001W`"),
            "fields side by side are separated by blanks"
        );
    }

    #[test]
    fn what_does_not_fit_the_string_is_refused_with_its_place() {
        let format = "%T.%t %a %d %S %n";
        let table = [
            (options(format), "0.1 D W 8\n", "t:1: found `0.1 D W 8`, expected a line as event_format says"),
            (options(format), "0.1 D W x 8\n", "found `x` for %S (sector), expected a whole number"),
            (options(format), "0.1 D W 8 8 9\n", "found `8 9` for %n (sectors)"),
            (options(format), "0.1 D X 8 8\n", "found `X` for %d (rwbs)"),
            (options(format), "0.1 K W 8 8\n", "found `K` for %a (event)"),
            (options(format), "99999999999.1 D W 8 8\n", "a time below 2^64 ns"),
            (
                options("%T.%t %d %S %n"),
                "0.1 W 8 8\n",
                "has no %a: name the event that all lines are, with --action",
            ),
            (
                TraceOptions { format: "msr".to_owned(), ..options(format) },
                "x\n",
                "format `msr` is not printed by blkparse",
            ),
        ];
        for (options, text, expected) in table {
            let error = read(text, &options).unwrap_err();
            assert!(error.contains(expected), "{text}  said: {error}\n  not:  {expected}");
        }
    }
}
