//! Spans of time that follow one another: how long did they last between two moments?

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

/// Spans that do not overlap, in order. A question takes time in the logarithm of their number.
#[derive(Debug, Clone, Default)]
pub struct Spans(VecDeque<Span>);

#[derive(Debug, Clone, Copy)]
struct Span {
    from: SimTime,
    end: SimTime,
    /// How long those before it lasted.
    before: SimDuration,
}

impl Spans {
    /// Adds one behind all others.
    #[inline]
    pub fn push(&mut self, from: SimTime, end: SimTime) {
        debug_assert!(self.0.back().is_none_or(|last| last.end <= from) && from <= end, "spans in order");
        let before = self.0.back().map_or(SimDuration::ZERO, |last| last.before + (last.end - last.from));
        self.0.push_back(Span { from, end, before });
    }

    /// [`Spans::push`], as a part of the last one if that ends where this begins.
    pub fn extend(&mut self, from: SimTime, end: SimTime) {
        match self.0.back_mut() {
            Some(last) if last.end == from => last.end = end,
            _ => self.push(from, end),
        }
    }

    /// Forgets those that ended no later than `time`.
    #[inline]
    pub fn forget(&mut self, time: SimTime) {
        while self.0.front().is_some_and(|span| span.end <= time) {
            self.0.pop_front();
        }
    }

    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How long they lasted from `from` to `until`.
    #[inline]
    pub fn between(&self, from: SimTime, until: SimTime) -> SimDuration {
        if self.0.back().is_none_or(|last| last.end <= from) {
            return SimDuration::ZERO;
        }
        self.until(until) - self.until(from).min(self.until(until))
    }

    /// How long they lasted until `time`, of which the forgotten ones are a part.
    fn until(&self, time: SimTime) -> SimDuration {
        let behind = self.0.partition_point(|span| span.from < time);
        match behind.checked_sub(1).and_then(|last| self.0.get(last)) {
            Some(last) => last.before + (last.end.min(time) - last.from),
            // All before it is forgotten.
            None => self.0.front().map_or(SimDuration::ZERO, |first| first.before),
        }
    }

    /// Those that ended after `time`, from and end, the latest first.
    pub fn since(&self, time: SimTime) -> impl Iterator<Item = (SimTime, SimTime)> + '_ {
        self.0.iter().rev().map(|span| (span.from, span.end)).take_while(move |&(_, end)| end > time)
    }
}

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;

    use super::*;

    /// What they say is what a walk along all of them adds up.
    #[test]
    fn any_two_moments() {
        let mut rng = Rng::stream(5, "spans");
        for _ in 0..200 {
            let (mut spans, mut all, mut now) = (Spans::default(), Vec::new(), 0);
            for _ in 0..rng.below(30) {
                let from = now + rng.below(3);
                now = from + 1 + rng.below(5);
                if rng.below(2) == 0 {
                    spans.push(SimTime(from), SimTime(now));
                } else {
                    spans.extend(SimTime(from), SimTime(now));
                }
                all.push((from, now));
            }
            let forgotten = rng.below(now + 1);
            if rng.below(2) == 0 {
                spans.forget(SimTime(forgotten));
                all.retain(|&(_, end)| end > forgotten);
            }
            for _ in 0..20 {
                let from = all.first().map_or(0, |&(from, _)| from.max(forgotten)) + rng.below(now + 2);
                let until = from + rng.below(now + 2);
                let walked: u64 = all.iter().map(|&(a, b)| b.min(until).saturating_sub(a.max(from))).sum();
                assert_eq!(
                    spans.between(SimTime(from), SimTime(until)).0,
                    walked,
                    "{from} to {until} in {all:?}"
                );
            }
        }
        let mut spans = Spans::default();
        spans.push(SimTime(1), SimTime(4));
        spans.extend(SimTime(4), SimTime(6));
        assert_eq!(
            spans.since(SimTime(5)).collect::<Vec<_>>(),
            [(SimTime(1), SimTime(6))],
            "one span of two"
        );
        spans.clear();
        assert_eq!(spans.between(SimTime(0), SimTime(9)), SimDuration::ZERO);
    }
}
