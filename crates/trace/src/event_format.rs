//! How blkparse was told to print its events (`blkparse -f`): `%T.%t %a %d %S %n\n`.
//!
//! A field is `%`, a width if one was given, with `-` in front where it is aligned to the left, and a letter. All else
//! stands in every line as it is. `\n` at the end may be written as a backslash and an n, as in a shell, or be missing.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A longer format is not one that was typed.
const LONGEST: usize = 256;
/// blkparse's letters.
const LETTERS: &[u8] = b"acCdDegmMnNpPsStTuUz";
/// What a request is told by: seconds, nanoseconds, rwbs, first sector; sectors or bytes are needed beside them.
const NEEDED: [(u8, &str); 4] =
    [(b'T', "seconds"), (b't', "nanoseconds"), (b'd', "rwbs"), (b'S', "the first sector")];

/// A format of `blkparse -f`.
#[derive(Clone, PartialEq, Eq)]
pub struct EventFormat {
    text: Arc<str>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// What blkparse's letter stands for.
    Field(u8),
    /// These bytes.
    Text(Vec<u8>),
}

impl EventFormat {
    /// Whether a line says which event it is.
    pub(crate) fn has_event(&self) -> bool {
        self.pieces().contains(&Piece::Field(b'a'))
    }

    /// The parts of a line, in order.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        pieces(self.text.as_bytes()).unwrap_or_default()
    }
}

/// Takes a format apart.
fn pieces(text: &[u8]) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    let literal = |pieces: &mut Vec<Piece>, byte: u8| match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push(byte),
        _ => pieces.push(Piece::Text(vec![byte])),
    };
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first == b'\\' {
            let (&escaped, behind) = rest.split_first().ok_or("ends in a backslash")?;
            rest = behind;
            literal(
                &mut pieces,
                match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => other,
                },
            );
            continue;
        }
        if first != b'%' {
            literal(&mut pieces, first);
            continue;
        }
        let width = rest.iter().take_while(|byte| **byte == b'-' || byte.is_ascii_digit()).count();
        let (&letter, behind) = rest[width..].split_first().ok_or("ends inside a field")?;
        rest = behind;
        match letter {
            b'%' => literal(&mut pieces, b'%'),
            _ if LETTERS.contains(&letter) => pieces.push(Piece::Field(letter)),
            _ => {
                return Err(format!(
                    "has the field `%{}`, which blkparse does not know",
                    letter.escape_ascii()
                ));
            }
        }
    }
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        while matches!(text.last(), Some(b'\n' | b'\r')) {
            text.pop();
        }
        if text.is_empty() {
            pieces.pop();
        }
    }
    if pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(&b'\n'))) {
        return Err("has a line end inside: an event has one line".to_owned());
    }
    Ok(pieces)
}

impl FromStr for EventFormat {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        if written.len() > LONGEST {
            return Err(format!("has {} bytes: at most {LONGEST} are possible", written.len()));
        }
        let pieces = pieces(written.as_bytes())?;
        let has = |letter: u8| pieces.contains(&Piece::Field(letter));
        for (letter, what) in NEEDED {
            if !has(letter) {
                let letter = char::from(letter);
                return Err(format!("has no %{letter} ({what}): %T, %t, %d, %S and %n or %N are needed"));
            }
        }
        if !has(b'n') && !has(b'N') {
            return Err("has neither %n (sectors) nor %N (bytes): %T, %t, %d, %S and one of them are needed"
                .to_owned());
        }
        Ok(EventFormat { text: written.into() })
    }
}

impl fmt::Display for EventFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for EventFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "EventFormat({:?})", self.to_string())
    }
}

impl Serialize for EventFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_fields_and_what_stands_between_them() {
        use Piece::Field;
        let text = |text: &str| Piece::Text(text.as_bytes().to_vec());
        for written in [r"%5T.%9t,%-3d %S+%n\n", "%5T.%9t,%-3d %S+%n\n", "%T.%t,%d %S+%n"] {
            let format: EventFormat = written.parse().unwrap();
            assert_eq!(format.to_string(), written);
            let expected = [
                Field(b'T'),
                text("."),
                Field(b't'),
                text(","),
                Field(b'd'),
                text(" "),
                Field(b'S'),
                text("+"),
                Field(b'n'),
            ];
            assert_eq!(format.pieces(), expected, "{written}");
        }
    }

    #[test]
    fn what_is_no_format_is_refused() {
        let table: &[(&str, &str)] = &[
            ("", "has no %T (seconds): %T, %t, %d, %S and %n or %N are needed"),
            ("%T.%t %d %n", "has no %S (the first sector)"),
            ("%T.%t %d %S", "has neither %n (sectors) nor %N (bytes)"),
            ("%T.%t %d %S %n %q", "has the field `%q`, which blkparse does not know"),
            ("%T.%t %d %S %n %5", "ends inside a field"),
            (r"%T.%t\n%d %S %n", "has a line end inside"),
            (r"%T.%t %d %S %n\", "ends in a backslash"),
        ];
        for (text, expected) in table {
            let error = text.parse::<EventFormat>().unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        assert!("x".repeat(257).parse::<EventFormat>().unwrap_err().contains("257 bytes"));
    }
}
