//! A recording as bytes in Base64, and the few numbers that say how to read them; `assets/recording.js` reads them.
//!
//! Integers are LEB128: seven bits a byte, the lowest first. In this order:
//!
//! ```text
//!   for each level        slices; their counts; cells of p50, of p99, of the slowest, a byte each
//!   requests              number; for each: id and arrival since the one before, operation and reasons, bytes,
//!                         which parts of the blame are not zero, those parts; if it waited for collection: 1 + the member
//!                         it waited for longest (0: not known), how much of the wait was for others
//!   for each member       GC intervals: number; for each: pause before it, length, time in it not spent collecting
//!   for each window whose GC is exact, for each member    the same
//! ```
//!
//! And apart from these, for the planes of a die, times being counted from the first span:
//!
//! ```text
//!   spans                 number; for each: work and, 16 times, the plane plus 1 (0: not known), start since that of the
//!                         one before, length
//!   waiting               number; for each: time since the one before, operations
//! ```

use harmonia_metrics::recording::{
    CELLS_PER_OCTAVE, DiePlanes, FIRST_OCTAVE, GcSpan, Kept, Reason, Recording,
};
use harmonia_metrics::{BlameSum, Part};
use harmonia_types::{Completion, Operation, PlaneWork, SimTime};
use serde_json::{Value, json};

/// What goes into the page.
pub(super) struct Encoded {
    /// How to read the bytes.
    pub header: Value,
    /// The bytes in Base64.
    pub base64: String,
}

pub(super) fn recording(recording: &Recording) -> Encoded {
    let mut bytes = Bytes::default();
    for level in &recording.levels {
        bytes.integer(level.slices.len() as u64);
        level.slices.iter().for_each(|slice| bytes.integer(slice.count));
        bytes.0.extend(level.slices.iter().map(|slice| slice.p50));
        bytes.0.extend(level.slices.iter().map(|slice| slice.p99));
        bytes.0.extend(level.slices.iter().map(|slice| slice.max));
    }
    requests(&mut bytes, recording);
    recording.gc.members.iter().for_each(|spans| intervals(&mut bytes, recording.from, spans));
    for spans in recording.windows.iter().filter_map(|window| window.gc.as_ref()).flatten() {
        intervals(&mut bytes, recording.from, spans);
    }
    let since = |time: SimTime| time.saturating_since(recording.from).as_ns();
    let windows: Vec<Value> = recording
        .windows
        .iter()
        .map(|window| {
            let reason = match window.reason {
                Reason::Slowest => "slowest",
                Reason::Usual => "usual",
            };
            json!({"reason": reason, "first": window.first, "last": window.last, "from": since(window.from),
                "to": since(window.to), "exact": window.gc.is_some()})
        })
        .collect();
    let ailing = recording.ailing.iter().map(|span| {
        json!({"member": span.member.0, "what": span.ailment, "from": since(span.start), "to": since(span.end)})
    });
    let header = json!({
        "length": since(recording.end), "start": recording.from.as_ns(), "requests": recording.requests,
        "stride": recording.stride, "windows": windows, "gap": recording.gc.gap_ns,
        "members": recording.gc.members.len(), "ailing": ailing.collect::<Vec<_>>(),
        "widths": recording.levels.iter().map(|level| level.width_ns).collect::<Vec<_>>(),
        "cellsPerOctave": CELLS_PER_OCTAVE, "firstOctave": FIRST_OCTAVE,
    });
    Encoded { header, base64: base64(&bytes.0) }
}

fn requests(bytes: &mut Bytes, recording: &Recording) {
    bytes.integer(recording.kept.len() as u64);
    let (mut id, mut arrival, drawn) = (0, recording.from, Part::all());
    for Kept { completion, why } in &recording.kept {
        bytes.integer(completion.id - id);
        // A trace's arrivals never run backwards either: its reader refuses.
        bytes.integer(completion.arrival.saturating_since(arrival).as_ns());
        (id, arrival) = (completion.id, completion.arrival.max(arrival));
        let operation = match completion.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim => 2,
            Operation::Flush => 3,
        };
        bytes.0.push(operation | u8::from(completion.met_gc) << 2 | why.bits() << 3);
        bytes.integer(completion.length);
        blame(bytes, completion, &drawn);
    }
}

/// The parts in the order in which they are drawn, and whose garbage collection was waited for.
fn blame(bytes: &mut Bytes, completion: &Completion, drawn: &[Part]) {
    let (queue_gc, sum) = (completion.blame.queue_gc(), BlameSum::of(&completion.blame));
    // No part is longer than the response.
    let parts: Vec<u64> = drawn.iter().map(|part| part.of(&sum) as u64).collect();
    let present = parts.iter().enumerate().map(|(bit, &part)| u64::from(part > 0) << bit);
    bytes.integer(present.sum());
    parts.into_iter().filter(|&part| part > 0).for_each(|part| bytes.integer(part));
    if queue_gc > 0 {
        let wait = completion.gc_wait;
        bytes.integer(wait.map_or(0, |wait| u64::from(wait.member.0) + 1));
        bytes.integer(queue_gc - wait.map_or(0, |wait| wait.ns));
    }
}

fn intervals(bytes: &mut Bytes, from: SimTime, spans: &[GcSpan]) {
    bytes.integer(spans.len() as u64);
    let mut reached = from;
    for span in spans {
        let length = (span.end - span.start).as_ns();
        bytes.integer(span.start.saturating_since(reached).as_ns());
        bytes.integer(length);
        bytes.integer(length.saturating_sub(span.busy_ns));
        reached = span.end;
    }
}

/// What the planes of a die did; `assets/planes.js` reads it.
pub(super) fn planes(die: &DiePlanes) -> String {
    let mut bytes = Bytes::default();
    let begin = die.spans.first().map_or(SimTime::ZERO, |span| span.start);
    bytes.integer(die.spans.len() as u64);
    let mut reached = begin;
    for span in &die.spans {
        bytes.integer(u64::from(span.plane.map_or(0, |plane| plane + 1)) << 4 | work(span.work));
        bytes.integer((span.start - reached).as_ns());
        bytes.integer((span.end - span.start).as_ns());
        reached = span.start;
    }
    bytes.integer(die.waiting.len() as u64);
    let mut reached = begin;
    for &(time, operations) in &die.waiting {
        bytes.integer(time.saturating_since(reached).as_ns());
        bytes.integer(operations.into());
        reached = time;
    }
    base64(&bytes.0)
}

fn work(work: PlaneWork) -> u64 {
    match work {
        PlaneWork::HostRead => 0,
        PlaneWork::HostProgram => 1,
        PlaneWork::GcRead => 2,
        PlaneWork::GcProgram => 3,
        PlaneWork::GcMove => 4,
        PlaneWork::Erase => 5,
        PlaneWork::GcEvent => 6,
        PlaneWork::Suspended => 7,
        PlaneWork::Summary => 8,
        PlaneWork::HostSuspended => 9,
    }
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn integer(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// RFC 4648 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for triple in bytes.chunks(3) {
        let (first, second) = (triple[0], triple.get(1).copied().unwrap_or(0));
        let third = triple.get(2).copied().unwrap_or(0);
        let bits = usize::from(first) << 16 | usize::from(second) << 8 | usize::from(third);
        let letters = [bits >> 18, bits >> 12 & 63, bits >> 6 & 63, bits & 63];
        text.extend_from_slice(&[
            ALPHABET[letters[0]],
            ALPHABET[letters[1]],
            if triple.len() > 1 { ALPHABET[letters[2]] } else { b'=' },
            if triple.len() > 2 { ALPHABET[letters[3]] } else { b'=' },
        ]);
    }
    String::from_utf8(text).expect("letters of the alphabet")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let shown = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(shown, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn integers_take_a_byte_for_seven_bits() {
        let mut bytes = Bytes::default();
        [0, 127, 128, 300].into_iter().for_each(|value| bytes.integer(value));
        assert_eq!(bytes.0, [0, 127, 0x80, 1, 0xac, 2]);
    }
}
