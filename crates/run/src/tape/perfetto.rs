//! A window of a run as a trace of Perfetto: tracks, and slices of time on them.
//!
//! ```text
//!   Requests / slot 0      [ request 12: write                ]   parts of those that are explained lie inside
//!            / slot 1            [ request 13: read ]
//!   SSD 0                        [ collects        ]
//!     / channel 1                [ collects        ]              while any of its dies does
//!       / die 3                  [ collection      ]              its victims lie inside
//!         / plane 0              [GC read][GC program][erase]
//! ```
//!
//! Requests overlap, so each takes the first free slot. Times are simulated ns. The parts of a step stand one after the other in the
//! order of its account: their lengths are exact, their places in the step are not.
//!
//! Source: `TracePacket`, `TrackDescriptor`, `TrackEvent` and `DebugAnnotation` in `protos/perfetto/trace` of Perfetto; the numbers
//! of their fields are in [`field`].

use std::collections::BTreeMap;

use harmonia_types::{Completion, PlaneWork, SimTime, sort_by_numbers};

use super::wire::Message;
use super::{MemberTape, Taped};
use crate::explain::{Explained, ExplainedPart, ExplainedStep, Explanation, operation, ordered_by};

/// The numbers of fields.
mod field {
    /// `Trace.packet`.
    pub const PACKET: u64 = 1;
    /// `TracePacket.timestamp`.
    pub const TIMESTAMP: u64 = 8;
    /// `TracePacket.trusted_packet_sequence_id`.
    pub const SEQUENCE: u64 = 10;
    /// `TracePacket.track_event`.
    pub const TRACK_EVENT: u64 = 11;
    /// `TracePacket.track_descriptor`.
    pub const TRACK_DESCRIPTOR: u64 = 60;
    /// `TrackDescriptor.uuid`, `.name`, `.parent_uuid`.
    pub const UUID: u64 = 1;
    pub const TRACK_NAME: u64 = 2;
    pub const PARENT: u64 = 5;
    /// `TrackEvent.debug_annotations`, `.type`, `.track_uuid`, `.categories`, `.name`.
    pub const ANNOTATION: u64 = 4;
    pub const TYPE: u64 = 9;
    pub const TRACK: u64 = 11;
    pub const CATEGORY: u64 = 22;
    pub const EVENT_NAME: u64 = 23;
    /// `DebugAnnotation.uint_value`, `.string_value`, `.name`.
    pub const UINT_VALUE: u64 = 3;
    pub const TEXT_VALUE: u64 = 6;
    pub const ANNOTATION_NAME: u64 = 10;
}

/// `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
/// All packets are of one writer.
const WRITER: u64 = 1;

/// A trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The file.
    pub bytes: Vec<u8>,
    /// Slices of time. Unit: count.
    pub slices: u64,
    /// Unit: count.
    pub tracks: u64,
}

/// A window of a run; the requests of the explanation have their parts in it.
pub fn perfetto(taped: &Taped, explanation: &Explanation) -> Trace {
    let mut trace = Writer::default();
    requests(&mut trace, taped, explanation);
    for member in &taped.members {
        device(&mut trace, taped, member, explanation);
    }
    trace.finish()
}

/// What is said of a slice.
enum Said {
    Count(u64),
    Text(String),
}

/// A slice of time, with those that lie in it.
struct Slice {
    from: u64,
    until: u64,
    category: &'static str,
    name: String,
    said: Vec<(&'static str, Said)>,
    inner: Vec<Slice>,
}

impl Slice {
    fn new(from: SimTime, until: SimTime, category: &'static str, name: String) -> Self {
        let (from, until) = (from.as_ns(), until.as_ns());
        Slice { from, until, category, name, said: Vec::new(), inner: Vec::new() }
    }

    fn count(mut self, name: &'static str, value: impl Into<u64>) -> Self {
        self.said.push((name, Said::Count(value.into())));
        self
    }

    fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.said.push((name, Said::Text(value.into())));
        self
    }
}

fn requests(trace: &mut Writer, taped: &Taped, explanation: &Explanation) {
    let parent = trace.track(None, "Requests");
    let mut all: Vec<&Completion> = taped.requests.iter().collect();
    sort_by_numbers(&mut all, |request| (request.arrival.0, request.id));
    // When the last request of a slot is done.
    let mut slots: Vec<(SimTime, u64)> = Vec::new();
    for request in all {
        let free = slots.iter().position(|(until, _)| *until <= request.arrival);
        let slot = free.unwrap_or_else(|| {
            let name = format!("slot {}", slots.len());
            slots.push((SimTime::ZERO, trace.track(Some(parent), &name)));
            slots.len() - 1
        });
        slots[slot].0 = request.finish;
        let explained = explanation.requests.iter().find(|one| one.request == request.id);
        trace.slice(slots[slot].1, &of_request(request, explained));
    }
}

fn of_request(request: &Completion, explained: Option<&Explained>) -> Slice {
    let name = format!("request {}: {}", request.id, operation(request.operation));
    let mut slice = Slice::new(request.arrival, request.finish, "request", name)
        .count("request", request.id)
        .count("offset_bytes", request.offset)
        .count("length_bytes", request.length)
        .count("response_ns", request.response().as_ns());
    if let Some(wait) = request.gc_wait {
        slice = slice.count("gc_wait_ns", wait.ns).count("gc_wait_ssd", wait.member.0);
    }
    slice.inner = explained.map_or_else(Vec::new, |one| one.steps.iter().map(of_step).collect());
    slice
}

fn of_step(step: &ExplainedStep) -> Slice {
    let name = match (&step.operation, step.member) {
        (Some(operation), Some(member)) => {
            format!("SSD {member}: {} of {}", operation.operation, operation.phase)
        }
        (_, Some(member)) => format!("wait for SSD {member}"),
        _ => "wait in the array".to_owned(),
    };
    let at = SimTime(step.from_ns);
    let mut slice = Slice::new(at, SimTime(step.from_ns + step.ns), "step", name);
    if let Some(operation) = &step.operation {
        slice = slice.count("offset_bytes", operation.offset).count("length_bytes", operation.length);
        slice = slice.text("carries", operation.carries);
    }
    let mut from = step.from_ns;
    for part in &step.parts {
        slice.inner.push(of_part(part, from));
        from += part.ns;
    }
    slice
}

fn of_part(part: &ExplainedPart, from: u64) -> Slice {
    let name = format!("{} ({})", part.cause, part.at);
    let mut slice = Slice::new(SimTime(from), SimTime(from + part.ns), "part", name);
    for (name, value) in [("channel", part.channel), ("die", part.die), ("plane", part.plane)] {
        if let Some(value) = value {
            slice = slice.count(name, value);
        }
    }
    if let Some(collection) = &part.collection {
        slice = slice.text("why", collection.why).text("ordered_by", collection.ordered_by.clone());
        slice = slice.count("collection_began_ns", collection.began_ns);
    }
    if let Some(request) = part.held_by_request {
        slice = slice.count("held_by_request", request);
    }
    slice
}

fn device(trace: &mut Writer, taped: &Taped, tape: &MemberTape, explanation: &Explanation) {
    let ssd = trace.track(None, &format!("SSD {}", tape.device.0));
    for &(_, from, until) in taped.collecting.iter().filter(|(device, ..)| *device == tape.device) {
        trace.slice(ssd, &Slice::new(from, until, "collection", "collects".to_owned()));
    }
    let channels = tape.channels.iter().max().map_or(0, |last| last + 1);
    for channel in 0..channels {
        let track = trace.track(Some(ssd), &format!("channel {channel}"));
        let dies = (0_u32..).zip(&tape.channels).filter(|(_, of)| **of == channel).map(|(die, _)| die);
        let dies: Vec<u32> = dies.collect();
        let busy = tape.collections.iter().filter(|(die, _)| dies.contains(die));
        let busy = busy.map(|(_, all)| (all.began, all.ended.unwrap_or(taped.window.until).max(all.began)));
        for (from, until) in union(busy.collect()) {
            trace.slice(track, &Slice::new(from, until, "collection", "collects".to_owned()));
        }
        for die in dies {
            die_of(trace, taped, tape, explanation, (track, die));
        }
    }
}

/// A die: its collections, and below them its planes.
fn die_of(
    trace: &mut Writer,
    taped: &Taped,
    tape: &MemberTape,
    explanation: &Explanation,
    (channel, die): (u64, u32),
) {
    let track = trace.track(Some(channel), &format!("die {die}"));
    for (_, collection) in tape.collections.iter().filter(|(of, _)| *of == die) {
        let (began, ended) = (collection.began, collection.ended.unwrap_or(taped.window.until));
        let ended = ended.max(began);
        let (why, by, _) = ordered_by(collection.why, tape.device, &explanation.names);
        let mut slice = Slice::new(began, ended, "collection", format!("collection: {why}"))
            .text("ordered_by", by)
            .count("wanted_ns", collection.wanted.as_ns())
            .text("ended", if collection.ended.is_some() { "yes" } else { "no" });
        let next = collection.victims.iter().skip(1).map(|victim| victim.at).chain([ended]);
        for (victim, next) in collection.victims.iter().zip(next) {
            let what = if victim.levels { ", to level wear" } else { "" };
            let name = format!("plane {} block {}: {} live{what}", victim.plane, victim.block, victim.live);
            let (from, until) = (victim.at.clamp(began, ended), next.clamp(began, ended));
            slice.inner.push(
                Slice::new(from, until, "victim", name)
                    .count("plane", victim.plane)
                    .count("block", victim.block)
                    .count("live_units", victim.live),
            );
        }
        trace.slice(track, &slice);
    }
    let mut planes: BTreeMap<Option<u32>, Vec<Slice>> = BTreeMap::new();
    for (_, span) in tape.spans.iter().filter(|(of, _)| *of == die) {
        let slice = Slice::new(span.start, span.end, "command", work(span.work).to_owned());
        planes.entry(span.plane).or_default().push(slice);
    }
    for (plane, slices) in planes {
        let name = plane.map_or_else(|| "unknown plane".to_owned(), |plane| format!("plane {plane}"));
        let track = trace.track(Some(track), &name);
        nested(slices).iter().for_each(|slice| trace.slice(track, slice));
    }
}

/// Commands of one plane: what the host did while one was suspended lies in that.
fn nested(mut slices: Vec<Slice>) -> Vec<Slice> {
    // Of those that begin together the longest comes first.
    sort_by_numbers(&mut slices, |slice| (slice.from, !slice.until));
    let mut outer: Vec<Slice> = Vec::new();
    for slice in slices {
        match outer.last_mut() {
            Some(last) if slice.until <= last.until && slice.from < last.until => last.inner.push(slice),
            _ => outer.push(slice),
        }
    }
    outer
}

/// Spans of time, those that touch as one.
fn union(mut spans: Vec<(SimTime, SimTime)>) -> Vec<(SimTime, SimTime)> {
    spans.sort_unstable();
    let mut union: Vec<(SimTime, SimTime)> = Vec::new();
    for (from, until) in spans {
        match union.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ => union.push((from, until)),
        }
    }
    union
}

fn work(work: PlaneWork) -> &'static str {
    match work {
        PlaneWork::HostRead => "host read",
        PlaneWork::HostProgram => "host program",
        PlaneWork::GcRead => "GC read",
        PlaneWork::GcProgram => "GC program",
        PlaneWork::GcMove => "GC move",
        PlaneWork::Erase => "erase",
        PlaneWork::GcEvent => "whole collection",
        PlaneWork::Suspended | PlaneWork::HostSuspended => "suspended",
        PlaneWork::Summary => "summary pages",
    }
}

/// Packets, to be put in order of time.
#[derive(Default)]
struct Writer {
    tracks: Vec<Message>,
    events: Vec<(u64, Message)>,
}

impl Writer {
    /// A new track; its number.
    fn track(&mut self, parent: Option<u64>, name: &str) -> u64 {
        let uuid = self.tracks.len() as u64 + 1;
        self.tracks.push(Message::new(|packet| {
            packet.uint(field::SEQUENCE, WRITER);
            packet.message(field::TRACK_DESCRIPTOR, |track| {
                track.uint(field::UUID, uuid);
                if let Some(parent) = parent {
                    track.uint(field::PARENT, parent);
                }
                track.text(field::TRACK_NAME, name);
            });
        }));
        uuid
    }

    /// A slice after all that were on its track before.
    fn slice(&mut self, track: u64, slice: &Slice) {
        self.event(slice.from, track, SLICE_BEGIN, Some(slice));
        slice.inner.iter().for_each(|inner| self.slice(track, inner));
        self.event(slice.until, track, SLICE_END, None);
    }

    fn event(&mut self, at: u64, track: u64, kind: u64, slice: Option<&Slice>) {
        let packet = Message::new(|packet| {
            packet.uint(field::TIMESTAMP, at);
            packet.uint(field::SEQUENCE, WRITER);
            packet.message(field::TRACK_EVENT, |event| {
                event.uint(field::TYPE, kind);
                event.uint(field::TRACK, track);
                let Some(slice) = slice else { return };
                event.text(field::CATEGORY, slice.category);
                event.text(field::EVENT_NAME, &slice.name);
                for (name, said) in &slice.said {
                    event.message(field::ANNOTATION, |annotation| {
                        annotation.text(field::ANNOTATION_NAME, name);
                        match said {
                            Said::Count(value) => annotation.uint(field::UINT_VALUE, *value),
                            Said::Text(value) => annotation.text(field::TEXT_VALUE, value),
                        }
                    });
                }
            });
        });
        self.events.push((at, packet));
    }

    fn finish(mut self) -> Trace {
        // Events of one track at one time keep their order: what ends there ends before the next begins.
        sort_by_numbers(&mut self.events, |(at, _)| (*at, 0));
        let (slices, tracks) = (self.events.len() as u64 / 2, self.tracks.len() as u64);
        let mut all = Message::default();
        for packet in self.tracks.into_iter().chain(self.events.into_iter().map(|(_, packet)| packet)) {
            all.inner(field::PACKET, packet);
        }
        Trace { bytes: all.into_bytes(), slices, tracks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(from: u64, until: u64) -> Slice {
        Slice::new(SimTime(from), SimTime(until), "command", String::new())
    }

    #[test]
    fn what_lies_in_a_suspended_command_is_inside_it_and_what_follows_is_not() {
        let all = nested(vec![slice(30, 40), slice(12, 15), slice(10, 30), slice(40, 40), slice(20, 30)]);
        let shape = |slice: &Slice| (slice.from, slice.until, slice.inner.len());
        assert_eq!(all.iter().map(shape).collect::<Vec<_>>(), [(10, 30, 2), (30, 40, 0), (40, 40, 0)]);
    }

    #[test]
    fn a_channel_collects_while_any_die_does() {
        let spans = [(5, 9), (0, 4), (9, 12), (3, 4)].map(|(from, until)| (SimTime(from), SimTime(until)));
        let expected = [(SimTime(0), SimTime(4)), (SimTime(5), SimTime(12))];
        assert_eq!(union(spans.to_vec()), expected);
    }
}
