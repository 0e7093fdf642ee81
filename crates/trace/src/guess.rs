//! How a table might be read, for whoever has to name its columns.
//!
//! What the header says is kept, with the units that its names imply. What it leaves open is asked for with `?`, which no
//! option takes: a hint can only be followed once its reader has filled it in. A hint without `?` is given if all of the
//! first rows can be read with it. Values never decide what a column is, for a number that fits one role fits others too;
//! they only confirm or refute what the header says. Without a header only the words of operations are told. Where all columns
//! are known and none can be what every request has, that is said instead of a hint: such a table cannot be read.

use std::collections::BTreeSet;
use std::fmt::Write;

use harmonia_types::SimDuration;
use harmonia_types::units::format_duration;

use crate::columns::{Columns, Delimiter, Role};
use crate::formats::Head;
use crate::formats::csv::{Split, count, of_rwbs, operation, placement_handle, plain, reads};
use crate::header::Meaning;
use crate::options::{TraceOptions, UnitOptions};
use crate::read::dates::date;
use crate::read::fields::{decimal, number_or_hex, trimmed, whole};
use crate::read::lines::first_lines;

/// So many rows are looked at.
const ROWS: usize = 50;
/// A table of requests has at least so many columns.
const FEWEST: usize = 3;
/// So many codes of operations are shown.
const CODES_SHOWN: usize = 8;
/// What is asked for where no column is known to have it.
const NEEDED: [Role; 4] = [Role::Time, Role::Operation, Role::Offset, Role::Size];
/// Addresses and sizes in bytes are nearly always multiples of this.
const SECTOR: u64 = 512;
/// What a column of rows' numbers is called, for one.
const ROW_NUMBER: &str = "no";

/// Words that say how what looks like a table may be read; none where it does not.
pub(crate) fn suggestion(head: &Head<'_>) -> Option<String> {
    let lines: Vec<&[u8]> = first_lines(head.bytes, head.complete).filter(|line| !line.is_empty()).collect();
    let lines = &lines[..lines.len().min(ROWS)];
    if lines.iter().any(|line| line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t')) {
        return None;
    }
    let is_comment = |line: &&&[u8]| trimmed(line).starts_with(b"#");
    let comments = lines.iter().take_while(is_comment).count();
    let (comments, rest) = lines.split_at(comments);
    let delimiter = Delimiter::ALL.into_iter().find(|&delimiter| is_table(rest, delimiter))?;
    let split = |line: &'_ [u8]| -> Vec<String> {
        Split::new(line, delimiter).map(|field| String::from_utf8_lossy(plain(field)).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> = rest.iter().map(|line| split(line)).collect();
    let width = rows[0].len();
    let commented =
        comments.iter().rev().flat_map(|line| [split(without_hashes(line)), numbered(split(line))]);
    let (header, rows) = match rows.split_first()? {
        (first, rest) if !rest.is_empty() && is_header(first) => (Some(first.clone()), rest),
        _ => (commented.into_iter().find(|words| words.len() == width && is_header(words)), &rows[..]),
    };
    let named = header.and_then(|header| Hint::of(&header, rows)).and_then(|hint| match hint {
        Ok(hint) => hint.words(lines),
        Err(missing) => Some(lacking(&missing)),
    });
    Some(named.unwrap_or_else(|| without_header(rows, width)))
}

/// Says that a table has no requests.
fn lacking(missing: &[Role]) -> String {
    let names: Vec<&str> = missing.iter().map(|role| role.name()).collect();
    let names = match &names[..] {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
    };
    format!("if it is a table, its header names no column for {names}, which every request has")
}

/// The words of a line whose first column is called `#`, as that of the rows' numbers is.
fn numbered(words: Vec<String>) -> Vec<String> {
    match words.split_first() {
        Some((first, rest)) if first == "#" => {
            std::iter::once(ROW_NUMBER.to_owned()).chain(rest.to_vec()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether nearly all lines have as many fields as the first.
fn is_table(lines: &[&[u8]], delimiter: Delimiter) -> bool {
    let Some(first) = lines.first().map(|line| count(line, delimiter)) else { return false };
    let alike = lines.iter().filter(|line| count(line, delimiter) == first).count();
    first >= FEWEST && alike * 10 >= lines.len() * 9
}

/// A line without the `#` in front of it.
fn without_hashes(line: &[u8]) -> &[u8] {
    let line = trimmed(line);
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    trimmed(&line[hashes..])
}

/// A header has words only.
fn is_header(words: &[String]) -> bool {
    words.iter().all(|word| decimal(word.as_bytes(), 1).is_none())
        && words.iter().any(|word| !word.is_empty())
}

/// Of rows whose header says nothing, or nothing that can be, only the words of operations can be told.
fn without_header(rows: &[Vec<String>], width: usize) -> String {
    let is_operation = |&index: &usize| {
        let words = column(rows, index);
        words.iter().all(|word| whole(word.as_bytes()).is_none() && is_operation_word(word.as_bytes()))
    };
    let operations: Vec<usize> = (0..width).filter(is_operation).collect();
    let name = |index: usize| if operations == [index] { Role::Operation.name() } else { "?" };
    let names: Vec<&str> = (0..width).map(name).collect();
    format!(
        "if it is a table, name its {width} columns in order: --columns {} with time, op, offset, size, volume, response, or \
         - for any other, for ? (workload.columns); units that are not s and bytes take --time-unit, --address-unit \
         and --size-unit",
        names.join(",")
    )
}

/// Whether a word is one for an operation.
fn is_operation_word(word: &[u8]) -> bool {
    operation(word, 0).is_some() || of_rwbs(word).is_some()
}

/// The fields of one column.
fn column(rows: &[Vec<String>], index: usize) -> Vec<&str> {
    rows.iter().map(|row| row.get(index).map_or("", String::as_str)).collect()
}

/// A choice beside the names of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The default is right.
    Default,
    /// This value.
    Is(u64),
    /// It cannot be told.
    Open,
}

impl Choice {
    fn known(self) -> Option<u64> {
        match self {
            Choice::Is(value) => Some(value),
            Choice::Default | Choice::Open => None,
        }
    }
}

/// A choice in words.
type Shown<'a> = &'a dyn Fn(u64) -> String;

/// How a table might be read.
#[derive(Debug)]
struct Hint {
    /// Of each column; `None` where it cannot be told.
    roles: Vec<Option<Role>>,
    time: Choice,
    address: Choice,
    size: Choice,
    read_is: Choice,
    /// Codes of operations that are not known, if there are any.
    codes: Vec<String>,
    /// A column is called a handle, and has something else.
    has_other_handles: bool,
}

impl Hint {
    /// What a header and the rows below it say; `None` if that is nothing. The roles that are missing if no column can have one.
    fn of(header: &[String], rows: &[Vec<String>]) -> Option<Result<Hint, Vec<Role>>> {
        let confirmed = |(index, word): (usize, &String)| confirm(word, &column(rows, index));
        let meanings: Vec<Meaning> = header.iter().enumerate().map(confirmed).collect::<Option<_>>()?;
        let with = |role: Role| meanings.iter().filter(move |meaning| meaning.role() == Some(role)).count();
        let missing: Vec<Role> = NEEDED.into_iter().filter(|&role| with(role) == 0).collect();
        let open = meanings
            .iter()
            .enumerate()
            .filter(|(_, meaning)| matches!(meaning, Meaning::Unknown | Meaning::Host));
        let open: Vec<usize> = open.map(|(index, _)| index).collect();
        let is_number = |field: &str| number_or_hex(field.as_bytes()).is_some();
        let numbers = open.iter().filter(|index| column(rows, **index).into_iter().all(is_number)).count();
        if missing.len() == NEEDED.len() && with(Role::Volume) == 0 {
            return None;
        }
        let needed: Vec<Role> = missing.iter().copied().filter(|role| *role != Role::Time).collect();
        let numeric = needed.iter().filter(|role| **role != Role::Operation).count();
        if needed.len() > open.len() || numeric > numbers {
            return Some(Err(needed));
        }
        let tells_all = missing.is_empty() && with(Role::Volume) == 1;
        let role = |meaning: &Meaning| match (meaning, meaning.role()) {
            (_, Some(role)) => (with(role) == 1).then_some(role),
            (Meaning::Other, _) => Some(Role::Nothing),
            (Meaning::Unknown, _) if tells_all => Some(Role::Nothing),
            _ => None,
        };
        let roles: Vec<Option<Role>> = meanings.iter().map(role).collect();
        let at = |role: Role| {
            let index = roles.iter().position(|found| *found == Some(role))?;
            Some((meanings[index], column(rows, index)))
        };
        let unit = |role: Role| match at(role) {
            Some((Meaning::Role(_, unit), fields)) => of_bytes(unit, &fields),
            _ => Choice::Default,
        };
        let are_other_handles = |(word, meaning): (&String, &Meaning)| {
            Meaning::of(word).role() == Some(Role::Handle) && meaning.role().is_none()
        };
        Some(Ok(Hint {
            has_other_handles: header.iter().zip(&meanings).any(are_other_handles),
            time: at(Role::Time).map_or(Choice::Default, |(meaning, fields)| of_time(meaning, &fields)),
            address: unit(Role::Offset),
            size: unit(Role::Size),
            read_is: at(Role::Operation)
                .map_or(Choice::Default, |(meaning, fields)| of_bits(meaning, &fields)),
            codes: at(Role::Operation).map_or(Vec::new(), |(_, fields)| unknown_codes(&fields)),
            roles,
        }))
    }

    fn options(&self) -> Option<TraceOptions> {
        let roles: Vec<Role> = self.roles.iter().copied().collect::<Option<_>>()?;
        let choices = [self.time, self.address, self.size, self.read_is];
        if choices.contains(&Choice::Open) || !self.codes.is_empty() {
            return None;
        }
        let units = UnitOptions {
            time_ns: self.time.known(),
            address: self.address.known(),
            size: self.size.known(),
            read_is: self.read_is.known().map(|bit| bit as u8),
        };
        let columns = Some(Columns::of(&roles, None).ok()?);
        Some(TraceOptions { columns, units, ..TraceOptions::default() })
    }

    /// The hint for a person; `None` if it leaves nothing open and the rows cannot be read so.
    fn words(&self, lines: &[&[u8]]) -> Option<String> {
        let options = self.options();
        if let Some(options) = &options
            && !reads(lines, options)
        {
            return None;
        }
        let names: Vec<&str> = self.roles.iter().map(|role| role.map_or("?", Role::name)).collect();
        let mut words = format!("if it is a table, name its columns: --columns {}", names.join(","));
        let mut keys = "workload.columns".to_owned();
        let as_time = |ns: u64| format_duration(SimDuration(ns)).trim_start_matches('1').to_owned();
        let time = |ns: u64| if ns == 100 { "100ns".to_owned() } else { as_time(ns) };
        let number = |value: u64| value.to_string();
        let choices: [(Choice, &str, &str, Shown<'_>); 4] = [
            (self.time, "--time-unit", "time_unit", &time),
            (self.address, "--address-unit", "address_unit", &number),
            (self.size, "--size-unit", "size_unit", &number),
            (self.read_is, "--read-is", "read_is", &number),
        ];
        for (choice, flag, key, shown) in choices {
            let value = match choice {
                Choice::Default => continue,
                Choice::Is(value) => shown(value),
                Choice::Open => "?".to_owned(),
            };
            let _ = write!(words, " {flag} {value}");
            let _ = write!(keys, ", workload.{key}");
        }
        if !self.codes.is_empty() {
            words.push_str(" --ops r=?/w=?");
            keys.push_str(", workload.ops");
        }
        let untimed = match self.roles.contains(&Some(Role::Time)) {
            true => "",
            false => "; no column is when a request was issued, so all arrive at once",
        };
        let passed_over = match self.has_other_handles {
            true => "; its handles are no placement handles, which are 0 to 65534, and are passed over",
            false => "",
        };
        let _ = match options {
            Some(_) => write!(words, " (as its header says{untimed}{passed_over}; {keys})"),
            None => write!(words, " (as far as its header says; {}; {keys})", self.open()),
        };
        Some(words)
    }

    /// What its reader has to say.
    fn open(&self) -> String {
        let mut asked = Vec::new();
        if self.roles.contains(&None) {
            let is_open = |role: &&Role| !self.roles.contains(&Some(**role));
            let open = NEEDED.iter().filter(is_open).map(|role| role.name()).chain(["volume", "or -"]);
            asked.push(format!("for ? among the columns write {}", open.collect::<Vec<_>>().join(", ")));
        }
        let units = [(self.time, "times"), (self.address, "addresses"), (self.size, "sizes")];
        for (_, what) in units.iter().filter(|(choice, _)| *choice == Choice::Open) {
            asked.push(format!("say what its {what} count"));
        }
        if !self.codes.is_empty() {
            let codes: Vec<&str> = self.codes.iter().take(CODES_SHOWN).map(String::as_str).collect();
            let more = if self.codes.len() > CODES_SHOWN { " and so on" } else { "" };
            asked.push(format!("say which of the codes {}{more} read and which write", codes.join(", ")));
        }
        if self.read_is == Choice::Open {
            asked.push("say which of 0 and 1 reads".to_owned());
        }
        asked.join("; ")
    }
}

/// What the word of a header says of a column, if its fields can be that; `None` if they cannot and it must be.
fn confirm(word: &str, fields: &[&str]) -> Option<Meaning> {
    let meaning = Meaning::of(word);
    let all = |holds: &dyn Fn(&[u8]) -> bool| fields.iter().all(|field| holds(field.as_bytes()));
    let fits = match meaning.role() {
        Some(Role::Time | Role::Response) => {
            let is_number = |field: &[u8]| decimal(field, 1).is_some() || number_or_hex(field).is_some();
            let is_date = |field: &[u8]| meaning.role() == Some(Role::Time) && date(field).is_some();
            all(&|field| is_number(field) || is_date(field))
        }
        // Other names are those of operations, whatever their codes.
        Some(Role::Operation) if Meaning::is_vague(word) => all(&is_operation_word),
        Some(Role::Offset | Role::Size) => all(&|field| field.is_empty() || number_or_hex(field).is_some()),
        Some(Role::Handle) => all(&|field| placement_handle(field).is_some()),
        Some(Role::Operation | Role::Volume | Role::Fua | Role::Nothing) | None => true,
    };
    match meaning.role() {
        _ if fits => Some(meaning),
        Some(Role::Operation) => Some(Meaning::Unknown),
        Some(Role::Response | Role::Handle) => Some(Meaning::Other),
        _ => None,
    }
}

/// The unit of times: as the name says, else that of a clock since 1970, or since 1601 in Windows. Dates have none.
fn of_time(meaning: Meaning, fields: &[&str]) -> Choice {
    const NS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];
    if fields.iter().all(|field| date(field.as_bytes()).is_some()) {
        return Choice::Default;
    }
    let unit = match meaning {
        Meaning::Role(_, Some(unit)) => Some(unit),
        _ => {
            let times: Vec<u64> = fields.iter().filter_map(|field| decimal(field.as_bytes(), 1)).collect();
            let all =
                |from: u64, to: u64| !times.is_empty() && times.iter().all(|time| (from..to).contains(time));
            let since_1970 = NS.into_iter().find(|ns| {
                let scale = 1_000_000_000 / ns;
                all(900_000_000 * scale, 2_200_000_000 * scale)
            });
            since_1970.or_else(|| all(120_000_000_000_000_000, 140_000_000_000_000_000).then_some(100))
        }
    };
    match unit {
        Some(1_000_000_000) => Choice::Default,
        Some(unit) => Choice::Is(unit),
        None => Choice::Open,
    }
}

/// The unit of addresses or sizes.
fn of_bytes(unit: Option<u64>, fields: &[&str]) -> Choice {
    let in_sectors =
        |field: &&str| number_or_hex(field.as_bytes()).is_none_or(|value| value.is_multiple_of(SECTOR));
    match unit {
        Some(1) if fields.iter().all(in_sectors) => Choice::Default,
        Some(1) | None => Choice::Open,
        Some(unit) => Choice::Is(unit),
    }
}

/// All codes of a column, each once, if some of them are numbers other than 0 and 1.
fn unknown_codes(fields: &[&str]) -> Vec<String> {
    let codes: BTreeSet<&str> = fields.iter().copied().collect();
    let is_known = |code: &&str| is_operation_word(code.as_bytes());
    if codes.iter().all(is_known) { Vec::new() } else { codes.into_iter().map(str::to_owned).collect() }
}

/// Which of 0 and 1 means read, where they are what the column holds.
fn of_bits(meaning: Meaning, fields: &[&str]) -> Choice {
    let has_bits = fields.iter().any(|field| matches!(*field, "0" | "1")) && unknown_codes(fields).is_empty();
    match meaning {
        _ if !has_bits => Choice::Default,
        Meaning::Bit(0) => Choice::Default,
        Meaning::Bit(bit) => Choice::Is(bit.into()),
        _ => Choice::Open,
    }
}

#[cfg(test)]
#[path = "guess_tests.rs"]
mod tests;
