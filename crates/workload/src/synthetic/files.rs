//! Files: created, appended to, read, and deleted whole.
//!
//! ```text
//!   footprint  |ffffffff|ffffff  |        |ffff>   |ffffffff|   places of the largest file's size
//!               complete complete  free    growing  complete
//! ```
//!
//! A *write* appends to the one file that grows, or creates it at the start of a free place; a file that has its size
//! is complete. A *read* takes complete files only, from start to end or anywhere in them. A *trim* deletes one complete
//! file, all of its pages in one request. What lies in places that hold no file is not addressed until it is written
//! anew, so live bytes never exceed the footprint, and files of one size fill it.
//!
//! A request does what it was drawn to do, except: a write that finds no room deletes a file instead (and with
//! `delete_batch` the next few writes do); a read or trim that finds no complete file is a write. A request ends where
//! its file does. With files of `f` bytes written `w` at a time, one of `f / w + 1` requests that do not read is a trim
//! that makes room, as soon as all places were used once.
//!
//! Not modelled: directories and other metadata, files of several extents, files that are rewritten, more than one file
//! that grows at a time, a sync (every write is one of its own; nothing is gathered).

use std::collections::VecDeque;

use harmonia_engine::Rng;
use harmonia_types::{Bytes, Operation};

use crate::{FileDeletes, FilePattern, FileReads};

/// The files of one space.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pattern: FilePattern,
    page_size: Bytes,
    /// Lengths are multiples of this: the page, or one byte.
    unit: Bytes,
    /// Bytes from one place to the next.
    place: Bytes,
    places: u64,
    /// Places that were used at least once: the first so many.
    used: u64,
    /// Used places that are free, the one freed first in front.
    freed: VecDeque<u64>,
    /// Complete files, the oldest in front while the oldest is what is deleted.
    complete: VecDeque<File>,
    growing: Option<Growing>,
    /// Deletions of a batch still to come.
    owed: u32,
    /// The file that is read from start to end, and where that stands.
    reading: Option<(File, Bytes)>,
    sizes: Rng,
    read: Rng,
    deleted: Rng,
    inside: Rng,
}

/// A file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct File {
    start: Bytes,
    bytes: Bytes,
}

/// A file that has not yet its size.
#[derive(Debug, Clone, Copy)]
struct Growing {
    file: File,
    written: Bytes,
}

/// A request: what it does, where, and how long it is.
type Access = (Operation, Bytes, Bytes);

impl Files {
    /// Files in the first `bytes`.
    pub(super) fn new(
        pattern: FilePattern,
        bytes: Bytes,
        page_size: Bytes,
        unit: Bytes,
        seed: u64,
    ) -> Result<Self, String> {
        let FilePattern { smallest, largest, delete_batch, .. } = pattern;
        if smallest == 0 || smallest > largest {
            return Err(format!(
                "address.file_size_min = {smallest}: a file has at least one byte and at most address.file_size = {largest}"
            ));
        }
        if delete_batch == 0 {
            return Err("address.delete_batch = 0: what finds no room deletes at least one file".into());
        }
        let place = largest.checked_next_multiple_of(page_size).filter(|&place| place <= bytes);
        let place = place.ok_or_else(|| {
            format!("address.file_size = {largest} bytes exceeds the addressed space of {bytes} bytes")
        })?;
        Ok(Files {
            pattern,
            page_size,
            unit,
            place,
            places: bytes / place,
            used: 0,
            freed: VecDeque::new(),
            complete: VecDeque::new(),
            growing: None,
            owed: 0,
            reading: None,
            sizes: Rng::stream(seed, "workload/file-size"),
            read: Rng::stream(seed, "workload/file-read"),
            deleted: Rng::stream(seed, "workload/file-deleted"),
            inside: Rng::stream(seed, "workload/address"),
        })
    }

    /// The longest request: a whole file.
    pub(super) fn largest(&self) -> Bytes {
        self.place
    }

    /// The request that is to do `operation` on `length` bytes, as far as the files there are allow.
    pub(super) fn next(&mut self, operation: Operation, length: Bytes) -> Access {
        let length = length.div_ceil(self.unit).saturating_mul(self.unit);
        let possible = match operation {
            Operation::Read => self.read(length),
            Operation::Trim => self.delete(),
            Operation::Write | Operation::Flush => None,
        };
        possible.unwrap_or_else(|| self.write(length))
    }

    fn read(&mut self, length: Bytes) -> Option<Access> {
        let (at, end) = match self.pattern.reads {
            FileReads::Random => {
                let file = self.draw_complete()?;
                let starts = file.bytes.saturating_sub(length) / self.unit + 1;
                (file.start + self.inside.below(starts) * self.unit, file.end())
            }
            FileReads::Sequential => {
                let (file, at) = match self.reading.take() {
                    Some(reading) => reading,
                    None => self.draw_complete().map(|file| (file, file.start))?,
                };
                let next = at.saturating_add(length);
                self.reading = (next < file.end()).then_some((file, next));
                (at, file.end())
            }
        };
        Some((Operation::Read, at, length.min(end - at)))
    }

    /// A file to read.
    fn draw_complete(&mut self) -> Option<File> {
        let files = self.complete.len() as u64;
        (files > 0).then(|| self.complete[self.read.below(files) as usize])
    }

    /// Deletes a complete file.
    fn delete(&mut self) -> Option<Access> {
        let file = match self.pattern.deletes {
            FileDeletes::Oldest => self.complete.pop_front()?,
            FileDeletes::Random if self.complete.is_empty() => return None,
            FileDeletes::Random => {
                let drawn = self.deleted.below(self.complete.len() as u64) as usize;
                self.complete.swap_remove_back(drawn)?
            }
        };
        self.freed.push_back(file.start / self.place);
        // Nobody goes on reading it.
        self.reading = self.reading.filter(|(reading, _)| *reading != file);
        Some((Operation::Trim, file.start, file.bytes.next_multiple_of(self.page_size)))
    }

    /// Appends, or makes room.
    fn write(&mut self, length: Bytes) -> Access {
        if self.owed > 0 {
            self.owed -= 1;
            if let Some(deletion) = self.delete() {
                return deletion;
            }
        }
        let Some(growing) = self.growing.take().or_else(|| self.create()) else {
            self.owed = self.pattern.delete_batch - 1;
            return self.delete().expect("every place holds a complete file");
        };
        let Growing { file, written } = growing;
        let length = length.min(file.bytes - written);
        match written + length {
            all if all == file.bytes => self.complete.push_back(file),
            written => self.growing = Some(Growing { file, written }),
        }
        (Operation::Write, file.start + written, length)
    }

    /// A new file, if there is room for one.
    fn create(&mut self) -> Option<Growing> {
        let place = match self.freed.pop_front() {
            Some(place) => place,
            None if self.used < self.places => {
                self.used += 1;
                self.used - 1
            }
            None => return None,
        };
        let file = File { start: place * self.place, bytes: self.draw_size() };
        Some(Growing { file, written: 0 })
    }

    fn draw_size(&mut self) -> Bytes {
        let [least, most] =
            [self.pattern.smallest, self.pattern.largest].map(|size| size.div_ceil(self.unit));
        (least + self.sizes.below(most - least + 1)) * self.unit
    }
}

impl File {
    fn end(&self) -> Bytes {
        self.start + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = 4096;
    /// Files of three pages, in places of three.
    const THREE: FilePattern = FilePattern {
        smallest: 3 * PAGE,
        largest: 3 * PAGE,
        reads: FileReads::Sequential,
        deletes: FileDeletes::Oldest,
        delete_batch: 1,
    };

    /// The accesses of so many requests for an operation on two pages, in pages.
    fn pages(files: &mut Files, operation: Operation, requests: usize) -> Vec<(Operation, u64, u64)> {
        let next = |_| files.next(operation, 2 * PAGE);
        (0..requests).map(next).map(|(operation, at, length)| (operation, at / PAGE, length / PAGE)).collect()
    }

    fn of(pattern: FilePattern, places: u64) -> Files {
        Files::new(pattern, places * 3 * PAGE, PAGE, PAGE, 1).unwrap()
    }

    #[test]
    fn a_file_grows_to_its_size_and_the_oldest_gives_way_when_there_is_no_room() {
        use Operation::{Trim, Write};
        let mut files = of(THREE, 2);
        assert_eq!(
            pages(&mut files, Write, 7),
            [
                (Write, 0, 2),
                (Write, 2, 1),
                (Write, 3, 2),
                (Write, 5, 1),
                (Trim, 0, 3),
                (Write, 0, 2),
                (Write, 2, 1)
            ]
        );
        assert_eq!(pages(&mut files, Write, 2), [(Trim, 3, 3), (Write, 3, 2)], "the older one");
    }

    #[test]
    fn a_batch_of_deletions_goes_on_before_anything_is_written() {
        use Operation::{Trim, Write};
        let mut files = of(FilePattern { delete_batch: 2, ..THREE }, 3);
        pages(&mut files, Write, 6);
        assert_eq!(pages(&mut files, Write, 3), [(Trim, 0, 3), (Trim, 3, 3), (Write, 0, 2)]);
    }

    #[test]
    fn a_batch_larger_than_what_there_is_deletes_all_and_goes_on() {
        use Operation::{Trim, Write};
        let mut files = of(FilePattern { delete_batch: 9, ..THREE }, 1);
        pages(&mut files, Write, 2);
        assert_eq!(pages(&mut files, Write, 2), [(Trim, 0, 3), (Write, 0, 2)]);
    }

    #[test]
    fn only_complete_files_are_read_and_deleted() {
        use Operation::{Read, Trim, Write};
        let mut files = of(THREE, 2);
        assert_eq!(pages(&mut files, Read, 1), [(Write, 0, 2)], "nothing to read");
        assert_eq!(pages(&mut files, Trim, 1), [(Write, 2, 1)], "the only one still grows");
        assert_eq!(pages(&mut files, Read, 3), [(Read, 0, 2), (Read, 2, 1), (Read, 0, 2)], "start to end");
        assert_eq!(pages(&mut files, Trim, 1), [(Trim, 0, 3)]);
        assert_eq!(
            pages(&mut files, Read, 1),
            [(Write, 0, 2)],
            "what was being read is gone, its place free"
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refusal = |pattern| Files::new(pattern, 6 * PAGE, PAGE, PAGE, 1).map(|_| ()).unwrap_err();
        assert!(refusal(FilePattern { smallest: 0, ..THREE }).contains("file_size_min = 0"));
        assert!(refusal(FilePattern { smallest: 4 * PAGE, ..THREE }).contains("file_size_min = 16384"));
        assert!(refusal(FilePattern { delete_batch: 0, ..THREE }).contains("delete_batch = 0"));
        assert!(refusal(FilePattern { largest: 7 * PAGE, ..THREE }).contains("exceeds the addressed space"));
        assert!(
            refusal(FilePattern { largest: Bytes::MAX, ..THREE }).contains("exceeds the addressed space")
        );
    }
}
