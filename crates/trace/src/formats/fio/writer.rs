//! Writes fio iologs of version 3.
//!
//! Times begin at 1 us, not 0: fio takes a timestamp of 0 for "no line before" and would not wait for the second.

use std::io::{self, BufWriter, Write};

use harmonia_types::Operation;

use super::super::super::record::VolumeNames;
use super::super::super::write::{buffered, unsaid};
use super::super::super::{Out, TraceRecord, TraceWriter, Written};
use super::super::free::FreeNames;
use super::{FIRST_LINE_3, V3_NS};

/// fio reads names of up to 256 characters; some are left for telling equal ones apart.
const NAME_BYTES: usize = 200;

/// Writes lines.
pub(super) struct FioWriter {
    out: BufWriter<Out>,
    /// Names of the files by volume, empty until it is used.
    files: Vec<String>,
    names: FreeNames,
    /// Timestamp of the last line.
    last: u64,
}

impl FioWriter {
    /// To an empty output.
    pub(super) fn boxed(out: Out, _: bool) -> io::Result<Box<dyn TraceWriter>> {
        let mut out = buffered(out);
        writeln!(out, "{FIRST_LINE_3}")?;
        Ok(Box::new(FioWriter { out, files: Vec::new(), names: FreeNames::default(), last: 1 }))
    }

    /// The file of a volume, added and opened before its first use.
    fn prepare(&mut self, volume: u16, volumes: &VolumeNames) -> io::Result<usize> {
        let index = usize::from(volume);
        if self.files.len() <= index {
            self.files.resize(index + 1, String::new());
        }
        if self.files[index].is_empty() {
            let name = volumes.names().get(index).map_or("", String::as_str);
            let file = self.names.take(file_name(name));
            let time = self.last;
            writeln!(self.out, "{time} {file} add\n{time} {file} open")?;
            self.files[index] = file;
        }
        Ok(index)
    }
}

impl TraceWriter for FioWriter {
    fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written> {
        let &TraceRecord { time_ns, operation, offset, length, volume, .. } = record;
        if length == 0 && operation != Operation::Flush {
            return Ok(Written::Dropped("fio has no empty requests"));
        }
        self.last = time_ns / V3_NS + 1;
        let index = self.prepare(volume, volumes)?;
        let (time, file) = (self.last, &self.files[index]);
        match operation {
            Operation::Read => writeln!(self.out, "{time} {file} read {offset} {length}")?,
            Operation::Write => writeln!(self.out, "{time} {file} write {offset} {length}")?,
            Operation::Trim => writeln!(self.out, "{time} {file} trim {offset} {length}")?,
            Operation::Flush => writeln!(self.out, "{time} {file} sync 0 0")?,
        }
        Ok(if let Some(unsaid) = unsaid(record) {
            unsaid
        } else if operation == Operation::Flush && (offset, length) != (0, 0) {
            Written::Changed("a flush is of the whole file")
        } else if time_ns % V3_NS != 0 {
            Written::Changed("times are cut to whole us")
        } else {
            Written::Exact
        })
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let time = self.last;
        for file in self.files.iter().filter(|file| !file.is_empty()) {
            writeln!(self.out, "{time} {file} close")?;
        }
        self.out.flush()
    }
}

/// What a volume's name becomes as the name of a file in a log.
fn file_name(name: &str) -> String {
    let safe = |character: char| match character {
        _ if character.is_whitespace() || character.is_control() => '_',
        _ => character,
    };
    let mut file: String = name.chars().map(safe).collect();
    if file.bytes().all(|byte| byte.is_ascii_digit()) {
        file = format!("volume_{file}");
    }
    while file.len() > NAME_BYTES {
        file.pop();
    }
    file
}
