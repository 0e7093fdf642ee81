//! An aged state as a file.
//!
//! ```text
//! magic | format | length and hash of the header | header (JSON): key, steadiness, unit states | tables | hash
//! ```
//!
//! The file carries the whole key of what made it, so a file found by a hash of its key is never taken for another.
//! Both hashes are XXH3-64: they find damage, not malice. Numbers are in the byte order of the machine; on another one
//! the format number reads as an unknown one. Nothing is compressed: a map is nearly random numbers.
//!
//! Leaves out: where files lie and which of them are kept; whoever runs scenarios decides that.

use std::io::{self, Read, Write};

use harmonia_ssd::{Damaged, Ftl, UnitState};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::aged::{AgedState, Steadiness};
use crate::config::ArrayConfig;

const MAGIC: &[u8; 8] = b"harmaged";
/// Changes whenever the layout of the file does.
const FORMAT: u32 = 2;
/// Magic, format, length and hash of the header.
const PREAMBLE: usize = 8 + 4 + 4 + 8;
/// What is hashed and handed on at a time: stays in the cache in between.
const CHUNK: usize = 256 << 10;

/// What stands before the tables.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<T> {
    key: String,
    /// The bits of the write amplifications, because text may lose the last of them.
    windows: [Option<u64>; 2],
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_numbers: bool,
    devices: Vec<T>,
}

impl AgedState {
    /// Bytes of its tables in a file; the rest is little beside them.
    pub fn table_bytes(&self) -> u64 {
        self.devices.iter().map(|device| Ftl::table_bytes(device.shape())).sum()
    }

    /// Writes the state as that which `key` describes.
    ///
    /// # Errors
    /// What the sink says.
    pub fn write(&self, key: &str, sink: &mut dyn Write) -> io::Result<()> {
        let header = serde_json::to_vec(&Header {
            key: key.to_owned(),
            windows: self.steadiness.windows.map(|window| window.map(f64::to_bits)),
            by_numbers: self.steadiness.by_numbers,
            devices: self.devices.iter().map(Ftl::unit_states).collect(),
        })?;
        let length =
            u32::try_from(header.len()).map_err(|_| io::Error::other("more units than a file holds"))?;
        sink.write_all(MAGIC)?;
        sink.write_all(&FORMAT.to_ne_bytes())?;
        sink.write_all(&length.to_ne_bytes())?;
        sink.write_all(&xxh3_64(&header).to_ne_bytes())?;
        sink.write_all(&header)?;
        let mut tables = Hashing { inner: sink, hash: Xxh3Default::new() };
        for device in &self.devices {
            device.write_tables(&mut tables)?;
        }
        let hash = tables.hash.digest();
        tables.inner.write_all(&hash.to_ne_bytes())
    }

    /// Reads the state of an array that `key` describes from a file of so many bytes.
    ///
    /// # Errors
    /// If the file is not such a state from the first byte to the last.
    pub fn read(
        key: &str,
        config: &ArrayConfig,
        length: u64,
        source: &mut dyn Read,
    ) -> Result<Self, Damaged> {
        let wrong = |what: &str| Err(Damaged::Contradiction(what.to_owned()));
        let mut preamble = [0; PREAMBLE];
        source.read_exact(&mut preamble)?;
        let number = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| preamble[at + byte]));
        if preamble[..8] != *MAGIC || number(8) != FORMAT {
            return wrong("not an aged state of this format");
        }
        let header_length = u64::from(number(12));
        let mut header = Vec::new();
        // Grows with what is there: a wrong length asks for no memory.
        source.take(header_length).read_to_end(&mut header)?;
        if preamble[16..] != xxh3_64(&header).to_ne_bytes() {
            return wrong("the header is damaged");
        }
        let header: Header<Vec<UnitState>> = serde_json::from_slice(&header)
            .map_err(|error| Damaged::Contradiction(format!("the header does not parse: {error}")))?;
        if header.key != key || header.devices.len() != config.members.len() {
            return wrong("the state of another array");
        }
        let shapes = config.members.iter().map(|member| member.ssd.resolve());
        let tables: u64 = shapes.map(|shape| shape.map_or(0, |shape| Ftl::table_bytes(&shape))).sum();
        if length != PREAMBLE as u64 + header_length + tables + 8 {
            return wrong("cut short or too long");
        }
        let mut source = Hashing { inner: source, hash: Xxh3Default::new() };
        let mut devices = Vec::with_capacity(config.members.len());
        for (member, units) in config.members.iter().zip(header.devices) {
            devices.push(Ftl::read_tables(&member.ssd, units, &mut source)?);
        }
        let hash = source.hash.digest().to_ne_bytes();
        let mut expected = [0; 8];
        source.inner.read_exact(&mut expected)?;
        if hash != expected {
            return wrong("the tables are damaged");
        }
        let windows = header.windows.map(|window| window.map(f64::from_bits));
        Ok(AgedState { devices, steadiness: Steadiness { windows, by_numbers: header.by_numbers } })
    }
}

/// Hashes what passes, piece by piece while it is in the cache.
struct Hashing<T> {
    inner: T,
    hash: Xxh3Default,
}

impl<T: Write> Write for Hashing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(&bytes[..bytes.len().min(CHUNK)])?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashing<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let length = bytes.len().min(CHUNK);
        let read = self.inner.read(&mut bytes[..length])?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}
