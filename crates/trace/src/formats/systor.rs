//! SYSTOR '17 csv.
//!
//! Traffic between virtual desktops and their storage, taken off a Fibre Channel switch: one file an hour and LUN,
//! usually packed as gz. Timestamp is when a request was issued, seconds since 1970 with nine digits behind the point,
//! of which the last three mean nothing. A blank IOType says that the response was lost on the way to the capture, so
//! that nobody knows what the request was. Such rows are passed over and counted.
//!
//! Nothing says in what order the rows are, and what is put together from requests and their responses comes in the
//! order of the responses as easily as in that of the requests. Rows may therefore be late by a minute, the longest a
//! Windows host waits for a disk; that few rows are that late costs nothing, as memory goes by the rows of a minute.
//!
//! Source: C. Lee, T. Kumano, T. Matsuki, H. Endo, N. Fukumoto, M. Sugawara, "Understanding Storage Traffic
//! Characteristics on Enterprise Virtual Desktop Infrastructure", SYSTOR 2017; the README of its traces at SNIA IOTTA,
//! set 4964.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, decimal, extent};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "systor",
    summary: "SYSTOR '17 csv: Timestamp (seconds),Response,IOType (R, W or blank),LUN,Offset,Size (bytes)",
    source: "Lee et al., Understanding Storage Traffic Characteristics on Enterprise VDI, SYSTOR 2017; SNIA IOTTA set 4964",
    grammar: "\
Timestamp,Response,IOType,LUN,Offset,Size        header: optional, first line only
1456135200.013118000,0.000806000,R,4,899056122368,131072",
    rules: &[
        "Six fields; a request has at most 1 GiB and may be empty.",
        "A blank IOType (the response was lost, so what it was is not known): passed over and counted, whatever the fields behind it hold.",
        "The response time is checked, if it is there. Only `replay = \"think-times\"` uses it; one below zero counts as not recorded. Digits of a timestamp behind the nanosecond are dropped.",
        "Rows may be a minute late: the traces do not promise the order of their issue.",
        "A volume is a LUN, in all files the same.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::Unix,
    has_actions: false,
    sort_window_ns: 60_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Systor::new(setting)),
    sniff: |head| sniff_lines(head, Systor::new(head.setting(&FORMAT))),
    write: None,
};

const COLUMNS: usize = 6;
const TIMESTAMP: Column =
    Column { place: 1, name: "Timestamp", holds: "seconds such as 1456135200.013118, below 2^64 ns" };
const RESPONSE: Column = Column { place: 2, name: "Response", holds: "seconds such as 0.000806, or nothing" };
const TYPE: Column = Column { place: 3, name: "IOType", holds: "R, W or nothing" };
const LUN: Column = Column { place: 4, name: "LUN", holds: "a whole number below 2^64" };
const OFFSET: Column = Column { place: 5, name: "Offset", holds: "bytes, a whole number below 2^64" };
const SIZE: Column = Column { place: 6, name: "Size", holds: "bytes, a whole number below 2^64" };

/// Why a row with a blank type is passed over.
const UNKNOWN: &str = "IOType is blank: its response was lost, and what it was is not known";

/// Reads lines.
struct Systor {
    setting: Setting,
    /// Whether the first line is still to come: only that may be a header.
    first: bool,
    volumes: VolumeNames,
    /// Of the row before, in ns; 0 where it has none.
    response_ns: u64,
}

impl Systor {
    fn new(setting: Setting) -> Self {
        Systor { setting, first: true, volumes: VolumeNames::default(), response_ns: 0 }
    }

    #[inline]
    fn row(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let Setting { time_ns: unit_ns, address, size, .. } = self.setting;
        let mut fields = Fields::new(line);
        let timestamp = fields.padded(&TIMESTAMP)?;
        let time_ns = decimal(timestamp, unit_ns).ok_or_else(|| TIMESTAMP.misread(timestamp))?;
        let response = fields.padded(&RESPONSE)?;
        if !is_response(response) {
            return Err(RESPONSE.misread(response));
        }
        let operation = match fields.padded(&TYPE)? {
            b"R" | b"r" => Operation::Read,
            b"W" | b"w" => Operation::Write,
            b"" => return unknown(fields),
            other => return Err(TYPE.misread(other)),
        };
        let lun = fields.number(&LUN)?;
        let offset = fields.number(&OFFSET)?;
        let length = fields.number(&SIZE)?;
        fields.end(COLUMNS)?;
        let (offset, length) = extent(offset, address, length, size)?;
        // One below zero is a flaw of the capture, and no response time.
        self.response_ns = decimal(response, unit_ns).unwrap_or(0);
        Ok(Parsed::Row(Row {
            volume: self.volumes.numbered(lun)?,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }
}

impl LineFormat for Systor {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if std::mem::take(&mut self.first) && is_header(line) {
            return Ok(HEADER);
        }
        self.row(line)
    }

    fn response_ns(&self) -> u64 {
        self.response_ns
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// Loss of packets makes some of them irregular, below zero not excepted.
#[inline]
fn is_response(text: &[u8]) -> bool {
    text.is_empty() || decimal(text.strip_prefix(b"-").unwrap_or(text), 1).is_some()
}

/// What is behind a blank type has to be there, no more.
fn unknown(mut fields: Fields<'_>) -> Result<Parsed, String> {
    for column in [&LUN, &OFFSET, &SIZE] {
        fields.padded(column)?;
    }
    fields.end(COLUMNS)?;
    Ok(Parsed::Lose(UNKNOWN))
}

fn is_header(line: &[u8]) -> bool {
    line.eq_ignore_ascii_case(b"Timestamp,Response,IOType,LUN,Offset,Size")
}

#[cfg(test)]
#[path = "systor_tests.rs"]
mod tests;
