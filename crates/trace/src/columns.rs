//! What the columns of a table are, as the person who has it names them: `time,op,offset,size`.
//!
//! The names stand in the order of the table's columns; `-` passes over one. They are separated by commas, which leaves
//! it to the reader to find what separates the table's fields, or by what separates these: a semicolon, a tab, or
//! blanks.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::header::Meaning;

/// A table with more columns is not one of requests.
const MOST: usize = 64;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// When the request arrives.
    Time,
    /// What it does.
    Operation,
    /// Where it begins.
    Offset,
    /// How long it is.
    Size,
    /// The disk it goes to.
    Volume,
    /// Whether it is a write with FUA.
    Fua,
    /// The placement handle of a write.
    Handle,
    /// How long it took: checked and dropped.
    Response,
    /// Nothing of interest.
    Nothing,
}

/// The name of every role.
const NAMES: [(Role, &str); 9] = [
    (Role::Time, "time"),
    (Role::Operation, "op"),
    (Role::Offset, "offset"),
    (Role::Size, "size"),
    (Role::Volume, "volume"),
    (Role::Fua, "fua"),
    (Role::Handle, "handle"),
    (Role::Response, "response"),
    (Role::Nothing, "-"),
];

impl Role {
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(role, _)| *role == self).map_or("-", |(_, name)| name)
    }
}

/// What separates the fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// Any number of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// In the order in which they are tried.
    pub(crate) const ALL: [Delimiter; 4] =
        [Delimiter::Comma, Delimiter::Semicolon, Delimiter::Tab, Delimiter::Blanks];

    /// The one byte it is; `None` for blanks.
    pub(crate) fn byte(self) -> Option<u8> {
        match self {
            Delimiter::Comma => Some(b','),
            Delimiter::Semicolon => Some(b';'),
            Delimiter::Tab => Some(b'\t'),
            Delimiter::Blanks => None,
        }
    }

    /// What separates the names that state it; commas state nothing.
    fn written(self) -> &'static str {
        match self {
            Delimiter::Comma => ",",
            Delimiter::Semicolon => ";",
            Delimiter::Tab => "\t",
            Delimiter::Blanks => " ",
        }
    }
}

/// The columns of a table, from the left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    roles: [Role; MOST],
    count: usize,
    delimiter: Option<Delimiter>,
}

impl Columns {
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles[..self.count]
    }

    /// What separates the fields, if it was stated.
    pub(crate) fn delimiter(&self) -> Option<Delimiter> {
        self.delimiter
    }

    /// Columns that a guess came to, if they can be used.
    pub(crate) fn of(roles: &[Role], delimiter: Option<Delimiter>) -> Result<Self, String> {
        if roles.len() > MOST {
            return Err(format!("names {} columns: at most {MOST} are possible", roles.len()));
        }
        for (index, role) in roles.iter().enumerate().filter(|(_, role)| **role != Role::Nothing) {
            if roles[..index].contains(role) {
                return Err(format!("names `{}` twice: one column is the {0}", role.name()));
            }
        }
        for needed in [Role::Operation, Role::Offset, Role::Size] {
            if !roles.contains(&needed) {
                return Err(format!("names no `{}`: op, offset and size are needed", needed.name()));
            }
        }
        let mut columns = Columns { roles: [Role::Nothing; MOST], count: roles.len(), delimiter };
        columns.roles[..roles.len()].copy_from_slice(roles);
        Ok(columns)
    }
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let separates = |byte: u8| text.as_bytes().contains(&byte);
        let delimiter = match () {
            () if separates(b';') => Some(Delimiter::Semicolon),
            () if separates(b',') => None,
            () if separates(b'\t') => Some(Delimiter::Tab),
            () => Some(Delimiter::Blanks),
        };
        let names: Vec<&str> = match delimiter.unwrap_or(Delimiter::Comma).byte() {
            Some(byte) => text.split(char::from(byte)).map(str::trim).collect(),
            None => text.split_whitespace().collect(),
        };
        let roles = names.iter().map(|name| role(name)).collect::<Result<Vec<_>, _>>()?;
        Columns::of(&roles, delimiter)
    }
}

fn role(name: &str) -> Result<Role, String> {
    let known = NAMES.iter().find(|(_, known)| *known == name).map(|(role, _)| *role);
    known.ok_or_else(|| {
        let meant = Meaning::of(name).role().map(|role| format!(" (`{}`?)", role.name())).unwrap_or_default();
        format!(
            "`{}` is no column{meant}: choose among time, op, offset, size, volume, fua, handle, response, and - to pass over one",
            name.escape_debug()
        )
    })
}

impl fmt::Display for Columns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.roles().iter().map(|role| role.name()).collect();
        out.write_str(&names.join(self.delimiter.map_or(",", Delimiter::written)))
    }
}

impl fmt::Debug for Columns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Columns({self})")
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_order_and_shown_as_they_were_written() {
        for text in [
            "time,op,offset,size",
            "-,offset,-,size,op,volume,fua,handle,response",
            "op;offset;size",
            "op\toffset\tsize",
        ] {
            assert_eq!(text.parse::<Columns>().unwrap().to_string(), text);
        }
        let columns: Columns = " time, op,offset ,size".parse().unwrap();
        assert_eq!(columns.roles(), [Role::Time, Role::Operation, Role::Offset, Role::Size]);
        let delimiter = |text: &str| text.parse::<Columns>().unwrap().delimiter();
        assert_eq!(delimiter("op,offset,size"), None);
        assert_eq!(delimiter("op; offset; size"), Some(Delimiter::Semicolon));
        assert_eq!(delimiter("op  offset size"), Some(Delimiter::Blanks));
    }

    #[test]
    fn what_is_no_column_is_refused() {
        let table: &[(&str, &str)] = &[
            ("", "names no `op`"),
            ("time,op,offset", "names no `size`: op, offset and size are needed"),
            ("time,op,lba,size", "`lba` is no column (`offset`?): choose among time, op, offset"),
            ("time,op,offset,size,", "`` is no column: choose"),
            ("Time,op,offset,size", "`Time` is no column (`time`?)"),
            ("op,offset,size,op", "names `op` twice"),
        ];
        for (text, expected) in table {
            let error = text.parse::<Columns>().unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let many = "op,offset,size".to_owned() + &",-".repeat(62);
        assert!(many.parse::<Columns>().unwrap_err().contains("65 columns"));
    }
}
