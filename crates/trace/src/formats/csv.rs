//! Any table of requests whose columns are named by the person who has it.
//!
//! The names (`columns`, see [`super::super::columns`]) say what each field of a line is. What separates the fields is
//! stated with them or found from the first line: of comma, semicolon, tab and blanks the first that gives as many fields
//! as there are names. The first line is a header if none of its numbers is one.
//!
//! Fields may stand in double quotes, with blanks around them. Times may be dates ([`super::super::read::dates`]). Not read:
//! quotes around what separates fields, thousands separators, exponents.
//!
//! Source: RFC 4180 for the form, as far as it goes; the meaning is the user's.

use harmonia_types::{Operation, PlacementHandle};

use super::super::columns::{Columns, Delimiter, Role};
use super::super::options::{Setting, TraceOptions, Units};
use super::super::read::ReadLog;
use super::super::read::dates::date;
use super::super::read::fields::{
    Column, Words, decimal, excerpt, extent_of, missing, number_or_hex, surplus, trimmed,
};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::block_events::{Does, Rwbs};
use super::{Epoch, Fit, Spread, TraceFormat};

/// What `format = "..."` says.
pub const NAME: &str = "csv";

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: NAME,
    summary: "any table, one line a request, its columns named by --columns time,op,offset,size or workload.columns",
    source: "RFC 4180 for the form; the columns are named by whoever has the table",
    grammar: "\
--columns time,op,offset,size,-,response            header: optional, first line only
0.000000,R,4096,8192,java,0.000215
0.000180;W;12288;4096;java;0.000071                 or separated by semicolons, tabs, or blanks",
    rules: &[
        "The names, one for each field of a line: time, op, offset, size, volume, fua, handle, response, and - for a field to pass over. op, offset and size are needed; the others may be missing. The format need not be named where columns are.",
        "Names separated by commas leave it to the first line what separates fields: of comma, semicolon, tab and blanks the first that gives as many fields as there are names. Names separated by `;`, a tab or blanks state that it is this.",
        "Times are in s, addresses and sizes in bytes, unless a unit is chosen. A time may have decimals; digits behind the nanosecond are dropped. Whole numbers may be hexadecimal, as 0x1f. Without a column of times all requests arrive at time 0.",
        "A time may be a date with a time of day, as in 2007-02-22T17:00:03.061629Z or 2007-02-23 02:00:03+09:00. Without an offset it is UTC. The unit of times does not concern it.",
        "op, in any case: R, Rd, Read or 0; W, Wr, Write or 1; T, Trim, D, Discard or Unmap; F, Flush or Sync. `read_is` = 1 exchanges 0 and 1. Letters of rwbs (RA, WS, WSM, FWFS, ZA and so on) mean what they mean in [blkparse](#blkparse). A flush may leave offset and size empty.",
        "Other codes for operations are named: `ops`, as in `--ops r=1,2,5/w=3,4,6`, with t for trims and f for flushes. No other code is an operation then. `ops` and `read_is` exclude each other.",
        "A request has at most 1 GiB, a trim any length, and may be empty. A volume is what its column says, in all files the same; without one there is the volume `disk`. A write is with FUA if its `fua` is 1, yes or true, or its op has an F behind the W. A `handle` is the placement handle of a write, for drives that place pages by handles: a whole number from 0 to 65534, or nothing, which leaves it to the volume. Drives count their default handle first, so 0 is what reports call handle 1. A response is checked, if it is there, and dropped.",
        "The first line is a header if neither time nor offset nor size is a number in it; lines before it that begin with `#` are passed over. Fields may stand in double quotes; what separates fields is not allowed inside them.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(1), size: Some(1), read_is: Some(0) },
    epoch: Epoch::ByValue,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::IfAsked,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Csv::new(setting)?),
    // Recognised by the columns that are named for it, not by its content.
    sniff: |_| Fit::No { fitting: 0, problem: String::new() },
    write: None,
};

const BYTES: &str = "a whole number below 2^64, in digits or as 0x1f";
const TIME: Column = Column {
    place: 0,
    name: "time",
    holds: "a number such as 12 or 0.000125, below 2^64 ns, or a date such as 2007-02-22T17:00:03Z",
};
const OPERATION: Column = Column {
    place: 0,
    name: "op",
    holds: "R, W, T, F, Read, Write, Trim, Flush, 0, 1 or letters of rwbs; --ops r=1,2/w=3 (workload.ops) names other codes",
};
const OFFSET: Column = Column { place: 0, name: "offset", holds: BYTES };
const SIZE: Column = Column { place: 0, name: "size", holds: BYTES };
const VOLUME: Column = Column { place: 0, name: "volume", holds: "a name" };
const FUA: Column = Column { place: 0, name: "fua", holds: "0, 1, no, yes, false, true, or nothing" };
const HANDLE: Column = Column {
    place: 0,
    name: "handle",
    holds: "a whole number from 0 to 65534, in digits or as 0x1f, or nothing",
};
const RESPONSE: Column = Column { place: 0, name: "response", holds: "a number, or nothing" };
const PASSED_OVER: Column = Column { place: 0, name: "-", holds: "anything" };

/// The volume of a table without a column of them.
const ONLY_VOLUME: &str = "disk";

fn column(role: Role) -> &'static Column {
    match role {
        Role::Time => &TIME,
        Role::Operation => &OPERATION,
        Role::Offset => &OFFSET,
        Role::Size => &SIZE,
        Role::Volume => &VOLUME,
        Role::Fua => &FUA,
        Role::Handle => &HANDLE,
        Role::Response => &RESPONSE,
        Role::Nothing => &PASSED_OVER,
    }
}

/// The columns of `role`, at this place of a line.
#[cold]
fn placed(role: Role, index: usize) -> Column {
    Column { place: index + 1, ..*column(role) }
}

/// A field and where it stands, counted from 0.
type Field<'a> = (usize, &'a [u8]);

/// The fields of a line that mean something.
#[derive(Debug, Clone, Copy, Default)]
struct Found<'a> {
    time: Option<Field<'a>>,
    operation: Field<'a>,
    offset: Field<'a>,
    size: Field<'a>,
    volume: Option<Field<'a>>,
    fua: Option<Field<'a>>,
    handle: Option<Field<'a>>,
    response: Option<Field<'a>>,
}

/// Reads lines.
struct Csv {
    setting: Setting,
    columns: Columns,
    /// What separates fields; `None` before the first line where it was not stated.
    delimiter: Option<Delimiter>,
    /// Whether the first line is still to come, `#` lines aside: only that may be a header.
    first: bool,
    volumes: VolumeNames,
    /// Name and volume of the row before: nearly always those of the next.
    last: (Vec<u8>, u16),
}

impl Csv {
    fn new(setting: Setting) -> Result<Self, String> {
        let columns = setting.columns.ok_or("its columns have no names")?;
        let mut volumes = VolumeNames::default();
        let has_volumes = columns.roles().contains(&Role::Volume);
        if !has_volumes {
            volumes.named(ONLY_VOLUME)?;
        }
        let delimiter = columns.delimiter();
        Ok(Csv { setting, columns, delimiter, first: true, volumes, last: (Vec::new(), 0) })
    }

    /// Finds what separates fields, and whether the first line is a header.
    #[cold]
    fn first_line(&mut self, line: &[u8]) -> Result<Parsed, String> {
        if trimmed(line).starts_with(b"#") {
            return Ok(HEADER);
        }
        self.first = false;
        if self.delimiter.is_none() {
            let names = self.columns.roles().len();
            let fits = |&delimiter: &Delimiter| count(line, delimiter) == names;
            let most = |&delimiter: &Delimiter| count(line, delimiter);
            let all = Delimiter::ALL;
            self.delimiter = all.into_iter().find(fits).or_else(|| all.into_iter().rev().max_by_key(most));
        }
        let found = self.fields(line)?;
        let is_number =
            |(_, field): &Field<'_>| decimal(field, 1).is_some() || number_or_hex(field).is_some();
        let numbers = [found.time, Some(found.offset), Some(found.size)];
        if numbers.iter().flatten().any(is_number) {
            return self.row(line);
        }
        // A flush may have neither offset nor size, and a table no times.
        if found.time.is_none() && self.operation(found.operation).is_ok() {
            return self.row(line);
        }
        Ok(HEADER)
    }

    /// Takes a line apart.
    #[inline]
    fn fields<'a>(&self, line: &'a [u8]) -> Result<Found<'a>, String> {
        let mut split = Split::new(line, self.delimiter.unwrap_or(Delimiter::Comma));
        let mut found = Found::default();
        for (index, &role) in self.columns.roles().iter().enumerate() {
            let Some(field) = split.next() else { return Err(missing(line, &placed(role, index))) };
            let field = (index, plain(field));
            match role {
                Role::Time => found.time = Some(field),
                Role::Operation => found.operation = field,
                Role::Offset => found.offset = field,
                Role::Size => found.size = field,
                Role::Volume => found.volume = Some(field),
                Role::Fua => found.fua = Some(field),
                Role::Handle => found.handle = Some(field),
                Role::Response => found.response = Some(field),
                Role::Nothing => {}
            }
        }
        match split.rest() {
            None => Ok(found),
            Some(rest) => Err(surplus(rest, self.columns.roles().len())),
        }
    }

    /// What a word of the column of operations means, and whether that is with FUA; a reason if it asks for nothing.
    #[inline]
    fn operation(&self, (index, word): Field<'_>) -> Result<Result<(Operation, bool), &'static str>, String> {
        if let Some(codes) = &self.setting.ops {
            let named = || {
                let column = placed(Role::Operation, index);
                format!(
                    "found `{}` in field {} (op), expected a code that ops = {codes} names",
                    excerpt(word),
                    column.place
                )
            };
            return codes.meaning(word).map(|operation| Ok((operation, false))).ok_or_else(named);
        }
        match operation(word, self.setting.read_is) {
            Some(operation) => Ok(Ok((operation, false))),
            None => of_rwbs(word).ok_or_else(|| placed(Role::Operation, index).misread(word)),
        }
    }

    #[inline]
    fn row(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let Found { time, operation: op, offset, size, volume, fua, handle, response } = self.fields(line)?;
        let Setting { time_ns: unit, address, size: size_unit, .. } = self.setting;
        let time_ns = time.map_or(Ok(0), |field| nanoseconds(field, unit))?;
        let (operation, with_fua) = match self.operation(op)? {
            Ok(meant) => meant,
            Err(reason) => return Ok(Parsed::Skip(reason)),
        };
        let (start, length) = match operation {
            Operation::Flush => (or_nothing(offset, Role::Offset)?, or_nothing(size, Role::Size)?),
            _ => (number(offset, Role::Offset)?, number(size, Role::Size)?),
        };
        if let Some((index, field)) = response.filter(|(_, field)| !field.is_empty()) {
            decimal(field, 1).ok_or_else(|| placed(Role::Response, index).misread(field))?;
        }
        let marked = fua.map_or(Ok(false), |(index, field)| {
            flag(field).ok_or_else(|| placed(Role::Fua, index).misread(field))
        })?;
        let fua = operation == Operation::Write && (with_fua || marked);
        let handle = match handle {
            None => None,
            Some((index, field)) => {
                let said =
                    placement_handle(field).ok_or_else(|| placed(Role::Handle, index).misread(field))?;
                said.filter(|_| operation == Operation::Write)
            }
        };
        let volume = volume.map_or(Ok(0), |field| self.volume(field))?;
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => extent_of(operation, (start, address), (length, size_unit))?,
        };
        Ok(Parsed::Row(Row { volume, fua, handle, ..Row::new(time_ns, operation, offset, length) }))
    }

    #[inline]
    fn volume(&mut self, (index, name): Field<'_>) -> Result<u16, String> {
        let (last, volume) = &self.last;
        if last == name && !name.is_empty() { Ok(*volume) } else { self.other_volume(index, name) }
    }

    #[inline(never)]
    fn other_volume(&mut self, index: usize, name: &[u8]) -> Result<u16, String> {
        if name.is_empty() || name.iter().any(u8::is_ascii_control) {
            return Err(placed(Role::Volume, index).misread(name));
        }
        let volume = self.volumes.named(&String::from_utf8_lossy(name))?;
        self.last = (name.to_vec(), volume);
        Ok(volume)
    }
}

impl LineFormat for Csv {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if self.first { self.first_line(line) } else { self.row(line) }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn has_handles(&self) -> bool {
        self.columns.roles().contains(&Role::Handle)
    }
}

/// Whether every one of these lines can be read so.
pub(crate) fn reads(lines: &[&[u8]], options: &TraceOptions) -> bool {
    let Ok(mut csv) = Setting::new(&FORMAT, options).and_then(Csv::new) else { return false };
    lines.iter().all(|line| csv.parse(line, &mut ReadLog::default()).is_ok())
}

#[inline]
fn nanoseconds((index, field): Field<'_>, unit: u64) -> Result<u64, String> {
    let time = match number_or_hex(field) {
        Some(units) => units.checked_mul(unit),
        None => decimal(field, unit).or_else(|| date(field)),
    };
    time.ok_or_else(|| placed(Role::Time, index).misread(field))
}

#[inline]
fn number((index, field): Field<'_>, role: Role) -> Result<u64, String> {
    number_or_hex(field).ok_or_else(|| placed(role, index).misread(field))
}

/// What a word for yes or no means; nothing is no.
#[inline]
fn flag(word: &[u8]) -> Option<bool> {
    let is_one_of = |words: [&[u8]; 3]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    match is_one_of([b"1", b"yes", b"true"]) {
        true => Some(true),
        false => (word.is_empty() || is_one_of([b"0", b"no", b"false"])).then_some(false),
    }
}

/// The placement handle that a field says, if it says one; `None` if it can say none.
#[inline]
pub(crate) fn placement_handle(field: &[u8]) -> Option<Option<PlacementHandle>> {
    if field.is_empty() { Some(None) } else { PlacementHandle::new(number_or_hex(field)?).map(Some) }
}

#[inline]
fn or_nothing(field: Field<'_>, role: Role) -> Result<u64, String> {
    if field.1.is_empty() { Ok(0) } else { number(field, role) }
}

/// What a word for an operation means, where `read_is` means read.
#[inline]
pub(crate) fn operation(word: &[u8], read_is: u8) -> Option<Operation> {
    match *word {
        [bit @ (b'0' | b'1')] if bit - b'0' == read_is => Some(Operation::Read),
        [b'0' | b'1'] => Some(Operation::Write),
        [b'R' | b'r'] => Some(Operation::Read),
        [b'W' | b'w'] => Some(Operation::Write),
        [b'T' | b't' | b'D' | b'd'] => Some(Operation::Trim),
        [b'F' | b'f'] => Some(Operation::Flush),
        _ => {
            let words: [(&[u8], Operation); 9] = [
                (b"read", Operation::Read),
                (b"rd", Operation::Read),
                (b"write", Operation::Write),
                (b"wr", Operation::Write),
                (b"trim", Operation::Trim),
                (b"discard", Operation::Trim),
                (b"unmap", Operation::Trim),
                (b"flush", Operation::Flush),
                (b"sync", Operation::Flush),
            ];
            words.into_iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, meant)| meant)
        }
    }
}

/// What letters of rwbs mean, and whether that is with FUA; a reason if they ask for nothing.
#[inline(never)]
pub(crate) fn of_rwbs(letters: &[u8]) -> Option<Result<(Operation, bool), &'static str>> {
    let Rwbs { flush, does, fua } = Rwbs::read(letters)?;
    Some(match does {
        Does::This(operation) => Ok((operation, fua)),
        Does::Zone(reason) => Err(reason),
        Does::Nothing if flush => Ok((Operation::Flush, false)),
        Does::Nothing => Err("carries no data (N)"),
    })
}

/// A field without the blanks and the quotes around it.
#[inline]
pub(crate) fn plain(field: &[u8]) -> &[u8] {
    match trimmed(field) {
        [b'"', inside @ .., b'"'] => inside,
        field => field,
    }
}

/// How many fields a line has.
pub(crate) fn count(line: &[u8], delimiter: Delimiter) -> usize {
    Split::new(line, delimiter).count()
}

/// The fields of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Split<'a> {
    /// Each exactly one byte apart: what is left of the line, `None` behind the last.
    Byte(u8, Option<&'a [u8]>),
    /// Any number of blanks apart.
    Blanks(Words<'a>),
}

impl<'a> Split<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8], delimiter: Delimiter) -> Self {
        match delimiter.byte() {
            Some(byte) => Split::Byte(byte, Some(line)),
            None => Split::Blanks(Words::new(line)),
        }
    }

    /// What is behind the fields taken so far, if there is another.
    fn rest(&self) -> Option<&'a [u8]> {
        match self {
            Split::Byte(_, rest) => *rest,
            Split::Blanks(words) => Some(words.rest()).filter(|rest| !rest.is_empty()),
        }
    }
}

impl<'a> Iterator for Split<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Split::Blanks(words) => words.next(),
            Split::Byte(byte, rest) => {
                let line = (*rest)?;
                let end = memchr::memchr(*byte, line);
                *rest = end.map(|end| &line[end + 1..]);
                Some(&line[..end.unwrap_or(line.len())])
            }
        }
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
