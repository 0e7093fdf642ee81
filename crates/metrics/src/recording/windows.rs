//! Windows of which every request is kept: around the slowest request, and at a moment chosen blindly.
//!
//! Requests are gathered in parts of consecutive ids. A part is whole once all of it completed; whole parts are given
//! back unless they are recent or belong to a window: the part with the slowest request so far and its neighbours, and
//! the part whose number (from the run's first) is the largest power of two so far, and its neighbours. The second
//! lies in the latter half of the run whatever happened there: a usual moment to set beside the worst.
//!
//! Parts that stay open for long (reads overtake writes of an overloaded array) are given up beyond [`PARTS_MAX`].

use std::collections::BTreeMap;

use harmonia_types::{Completion, SimTime, sort_by_numbers};

use super::intervals::GcSpan;

/// Parts held at once.
const PARTS_MAX: usize = 64;

/// Why a window was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The slowest request is in it.
    Slowest,
    /// Chosen without looking.
    Usual,
}

/// Consecutive requests, every one of them kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Why it was chosen.
    pub reason: Reason,
    /// Id of the first request.
    pub first: u64,
    /// Id of the last.
    pub last: u64,
    /// The first arrival.
    pub from: SimTime,
    /// The last completion.
    pub to: SimTime,
    /// By member, every interval of garbage collection that touches the window; `None` if there were too many.
    pub gc: Option<Vec<Vec<GcSpan>>>,
}

struct Part {
    requests: Vec<Completion>,
    slowest_ns: u64,
    from: SimTime,
    to: SimTime,
    /// Some interval of garbage collection that touches it may have been dropped.
    gc_lost: bool,
}

impl Part {
    fn push(&mut self, completion: &Completion, gc_lost_until: SimTime) {
        let longer = completion.arrival < self.from || completion.finish > self.to;
        let known_from = if self.requests.is_empty() { SimTime::NEVER } else { self.to };
        self.gc_lost |= longer && completion.arrival.min(known_from) < gc_lost_until;
        self.requests.push(*completion);
        self.slowest_ns = self.slowest_ns.max(completion.response().as_ns());
        self.from = self.from.min(completion.arrival);
        self.to = self.to.max(completion.finish);
    }
}

pub(super) struct Windows {
    part_length: u64,
    parts: BTreeMap<u64, Part>,
    /// Emptied, to be filled again: nothing is allocated once a run is under way.
    spare: Vec<Vec<Completion>>,
    /// Number of the run's first part.
    base: Option<u64>,
    /// The part with the slowest request of all whole parts, and its response.
    worst: Option<(u64, u64)>,
    usual: Option<u64>,
    newest_whole: u64,
    /// Parts below were given up or given back.
    gone_below: u64,
}

impl Windows {
    pub fn new(part_length: u64) -> Self {
        Windows {
            part_length,
            parts: BTreeMap::new(),
            spare: Vec::new(),
            base: None,
            worst: None,
            usual: None,
            newest_whole: 0,
            gone_below: 0,
        }
    }

    /// Takes a request in; intervals of garbage collection that ended before `gc_lost_until` may have been dropped.
    pub fn record(&mut self, completion: &Completion, gc_lost_until: SimTime) {
        let length = self.part_length;
        let number = completion.id / length;
        self.base.get_or_insert(number);
        let part = match self.parts.get_mut(&number) {
            Some(part) => part,
            None if number < self.gone_below => return,
            None => self.open(number),
        };
        part.push(completion, gc_lost_until);
        if part.requests.len() as u64 == length {
            let slowest_ns = part.slowest_ns;
            self.whole(number, slowest_ns);
        }
    }

    fn open(&mut self, number: u64) -> &mut Part {
        if self.parts.len() >= PARTS_MAX
            && let Some(&oldest) = self.parts.keys().find(|&&number| !self.is_chosen(number))
        {
            self.gone_below = self.gone_below.max(oldest + 1);
            self.give_back(oldest);
        }
        let requests = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.part_length as usize));
        let part = Part { requests, slowest_ns: 0, from: SimTime::NEVER, to: SimTime::ZERO, gc_lost: false };
        self.parts.entry(number).or_insert(part)
    }

    fn give_back(&mut self, number: u64) {
        if let Some(mut part) = self.parts.remove(&number) {
            part.requests.clear();
            self.spare.push(part.requests);
        }
    }

    /// All of a part completed.
    fn whole(&mut self, number: u64, slowest_ns: u64) {
        self.newest_whole = self.newest_whole.max(number);
        self.consider(number, slowest_ns);
        while let Some(number) = self.superseded() {
            self.gone_below = self.gone_below.max(number + 1);
            self.give_back(number);
        }
    }

    /// A whole part that is neither recent nor of a window.
    fn superseded(&self) -> Option<u64> {
        let mut parts = self.parts.iter();
        let found = parts.find(|(number, part)| {
            part.requests.len() as u64 == self.part_length
                && **number + 2 < self.newest_whole
                && !self.is_chosen(**number)
        });
        found.map(|(number, _)| *number)
    }

    fn consider(&mut self, number: u64, slowest_ns: u64) {
        if self.worst.is_none_or(|(_, worst_ns)| slowest_ns > worst_ns) {
            self.worst = Some((number, slowest_ns));
        }
        let since_base = number.saturating_sub(self.base.unwrap_or(0));
        if since_base.is_power_of_two() && self.usual.is_none_or(|usual| number > usual) {
            self.usual = Some(number);
        }
    }

    fn is_chosen(&self, number: u64) -> bool {
        let near = |chosen: u64| number.abs_diff(chosen) <= 1;
        self.worst.is_some_and(|(worst, _)| near(worst)) || self.usual.is_some_and(near)
    }

    /// Whether a part that is held has requests between these times.
    pub fn touch(&self, start: SimTime, end: SimTime) -> bool {
        self.parts.values().any(|part| part.from <= end && part.to >= start)
    }

    /// Intervals of garbage collection up to `until` were dropped although they were needed.
    pub fn lose_gc_before(&mut self, until: SimTime) {
        self.parts.values_mut().filter(|part| part.from < until).for_each(|part| part.gc_lost = true);
    }

    /// The windows, their requests, and whether their garbage collection is known; nothing is outstanding any more, so every part held is whole.
    pub fn finish(mut self) -> Vec<(Window, Vec<Completion>, bool)> {
        let open: Vec<(u64, u64)> =
            self.parts.iter().map(|(number, part)| (*number, part.slowest_ns)).collect();
        for (number, slowest_ns) in open {
            self.consider(number, slowest_ns);
        }
        let chosen = [(self.worst.map(|(worst, _)| worst), Reason::Slowest), (self.usual, Reason::Usual)];
        let mut windows = Vec::new();
        for (number, reason) in chosen {
            let Some(number) = number else { continue };
            let near = (number.saturating_sub(1)..=number + 1).filter_map(|near| self.parts.remove(&near));
            let near: Vec<Part> = near.collect();
            let gc_known = near.iter().all(|part| !part.gc_lost);
            let mut requests: Vec<Completion> = near.into_iter().flat_map(|part| part.requests).collect();
            sort_by_numbers(&mut requests, |request| (request.id, 0));
            let (Some(first), Some(last)) = (requests.first(), requests.last()) else { continue };
            let to = requests.iter().map(|request| request.finish).max().unwrap_or(first.finish);
            let (from, first, last) = (first.arrival, first.id, last.id);
            windows.push((Window { reason, first, last, from, to, gc: None }, requests, gc_known));
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{Operation, RequestBlame};

    use super::*;

    fn request(id: u64, arrival: u64, finish: u64) -> Completion {
        Completion {
            id,
            operation: Operation::Read,
            offset: 0,
            length: 4096,
            arrival: SimTime(arrival),
            finish: SimTime(finish),
            blame: RequestBlame::default(),
            gc_wait: None,
            met_gc: false,
        }
    }

    /// Intervals that ended before a time may have been dropped: what a window gains of time before it is not known.
    #[test]
    fn collection_is_known_where_no_interval_of_the_window_may_have_been_dropped() {
        let is_known = |requests: [(u64, u64, u64); 2]| {
            let mut windows = Windows::new(2);
            for (id, (arrival, finish, lost_until)) in (0..).zip(requests) {
                windows.record(&request(id, arrival, finish), SimTime(lost_until));
            }
            windows.finish()[0].2
        };
        assert!(is_known([(100, 200, 0), (300, 400, 0)]));
        assert!(is_known([(100, 200, 100), (300, 400, 200)]), "up to where it begins, and where it goes on");
        assert!(!is_known([(100, 200, 101), (150, 180, 101)]));
        assert!(!is_known([(100, 200, 0), (300, 400, 201)]), "between the two");
        assert!(is_known([(100, 200, 0), (150, 180, 500)]), "it gains no time");
        assert!(!is_known([(100, 200, 101), (300, 400, 101)]), "once lost is lost");
    }
}
