//! What the columns of a table probably are, for whoever has to name them.
//!
//! From a header, by what such columns are usually called; else from the first rows: the field of letters is what a
//! request does, the one with decimals or the first that never falls is the time, the largest of the others the address,
//! the next the size. Only ever shown, never used: a guess that is wrong still reads as a trace.

use crate::columns::{Columns, Delimiter, Role};
use crate::formats::Head;
use crate::formats::csv::{Split, count, operation, plain};
use crate::read::fields::{decimal, whole};
use crate::read::lines::first_lines;

/// So many rows are looked at.
const ROWS: usize = 50;
/// A table of requests has at least so many columns.
const FEWEST: usize = 3;

/// Words that suggest names for the columns of what looks like a table; none where it does not.
pub(crate) fn suggestion(head: &Head<'_>) -> Option<String> {
    let lines: Vec<&[u8]> = first_lines(head.bytes, head.complete).filter(|line| !line.is_empty()).collect();
    let lines = &lines[..lines.len().min(ROWS)];
    if lines.iter().any(|line| line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t')) {
        return None;
    }
    let delimiter = Delimiter::ALL.into_iter().find(|&delimiter| is_table(lines, delimiter))?;
    let rows: Vec<Vec<&[u8]>> =
        lines.iter().map(|line| Split::new(line, delimiter).map(plain).collect()).collect();
    let from = |roles: Option<Vec<Role>>, of: &'static str| {
        roles.and_then(|roles| Columns::of(&roles, None).ok()).map(|columns| (columns, of))
    };
    let guess =
        from(named(rows.first()?), "its first line").or_else(|| from(valued(&rows), "its first rows"));
    Some(match guess {
        Some((columns, of)) => {
            format!(
                "if it is a table, name its columns: --columns {columns} (workload.columns; a guess from {of})"
            )
        }
        None => format!(
            "if it is a table, name its {} columns in order: --columns time,op,offset,size and so on, - for any other \
             (workload.columns)",
            rows[0].len()
        ),
    })
}

/// Whether nearly all lines have as many fields as the first.
fn is_table(lines: &[&[u8]], delimiter: Delimiter) -> bool {
    let Some(first) = lines.first().map(|line| count(line, delimiter)) else { return false };
    let alike = lines.iter().filter(|line| count(line, delimiter) == first).count();
    first >= FEWEST && alike * 10 >= lines.len() * 9
}

/// The columns by the names in a header.
fn named(header: &[&[u8]]) -> Option<Vec<Role>> {
    let roles = header.iter().map(|word| {
        let role =
            std::str::from_utf8(word).ok().and_then(|word| Role::guessed(word.trim_start_matches('#')));
        role.unwrap_or(Role::Nothing)
    });
    let mut once: Vec<Role> = Vec::new();
    for role in roles {
        once.push(if once.contains(&role) { Role::Nothing } else { role });
    }
    once.contains(&Role::Offset).then_some(once)
}

/// The columns by what their fields hold; the first line may be a header.
fn valued(rows: &[Vec<&[u8]>]) -> Option<Vec<Role>> {
    let has_number = |row: &&Vec<&[u8]>| row.iter().any(|field| whole(field).is_some());
    let rows: Vec<&Vec<&[u8]>> = rows.iter().filter(has_number).collect();
    let width = rows.first()?.len();
    let column = |index: usize| rows.iter().map(move |row| row.get(index).copied().unwrap_or_default());
    let all = |index: usize, holds: &dyn Fn(&[u8]) -> bool| column(index).all(holds);
    let (mut roles, places) = (vec![Role::Nothing; width], 0..width);
    let is_bit = |field: &[u8]| matches!(field, b"0" | b"1");
    let is_word = |field: &[u8]| operation(field, 0).is_some() && !is_bit(field);
    let kind = places.clone().find(|&index| all(index, &is_word));
    let kind = kind.or_else(|| places.clone().find(|&index| all(index, &is_bit)))?;
    roles[kind] = Role::Operation;
    let has_point = |field: &[u8]| decimal(field, 1).is_some() && field.contains(&b'.');
    let is_whole = |field: &[u8]| whole(field).is_some();
    let rises = |index: usize| {
        let mut last = 0;
        all(index, &is_whole)
            && column(index).filter_map(whole).all(|value| std::mem::replace(&mut last, value) <= value)
    };
    let time = places.clone().find(|&index| all(index, &has_point));
    let time = time.or_else(|| places.clone().find(|&index| index != kind && rises(index)));
    if let Some(time) = time {
        roles[time] = Role::Time;
    }
    let largest = |index: &usize| column(*index).filter_map(whole).max();
    let mut numbers: Vec<usize> =
        places.filter(|&index| roles[index] == Role::Nothing && all(index, &is_whole)).collect();
    numbers.sort_by_key(|index| std::cmp::Reverse(largest(index)));
    let &[offset, size, ..] = &numbers[..] else { return None };
    (roles[offset], roles[size]) = (Role::Offset, Role::Size);
    Some(roles)
}

#[cfg(test)]
mod tests {
    use super::super::TraceOptions;
    use super::*;

    fn guessed(text: &str) -> Option<String> {
        let options = TraceOptions::default();
        suggestion(&Head { bytes: text.as_bytes(), complete: true, options: &options })
    }

    #[test]
    fn a_header_or_the_first_rows_tell_the_columns() {
        let table: &[(&str, &str)] = &[
            (
                "ts,pid,rw,lba,len\n1,77,x,5,6\n",
                "--columns time,-,op,offset,size (workload.columns; a guess from its first line)",
            ),
            ("Time (us);Offset;Size;Type\n1;2;3;R\n", "--columns time,offset,size,op "),
            (
                "0.5\t81920\t4096\tR\n0.7\t0\t8192\tW\n",
                "--columns time,offset,size,op (workload.columns; a guess from its first rows)",
            ),
            ("5 1 7 900000\n9 0 8 100\n", "--columns time,op,size,offset "),
            ("a,b,c\nx,y,z\n", "name its 3 columns in order: --columns time,op,offset,size and so on"),
        ];
        for (text, expected) in table {
            let said = guessed(text).unwrap_or_default();
            assert!(said.contains(expected), "{text}{said}");
        }
    }

    #[test]
    fn what_is_no_table_is_not_called_one() {
        for text in ["", "hello world\n", "a,b,c\nd\ne,f\n", "one two three\0\n"] {
            assert_eq!(guessed(text), None, "{text}");
        }
    }
}
