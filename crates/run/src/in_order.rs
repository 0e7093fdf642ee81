//! What an observer hears of a run, in order of time, in whatever order that becomes known.
//!
//! ```text
//!   member 0   a─────┤ c──┤                known: a c b d
//!   member 1   b──┤       d────┤           told:  b a c d      what is over before a time to which all have come
//! ```
//!
//! Members that run ahead of one another tell what they did one behind the other, and a read is known to complete before its data is
//! there. Of what is over at the same moment collections are told first, by member, then requests, by id. So an observer hears the
//! same whether members run ahead or in step, on any number of threads.
//!
//! Not bounded: what is known to be over later. Reads that outrun the link of their drive are kept until their data is there.

use harmonia_engine::EventQueue;
use harmonia_metrics::Observer;
use harmonia_types::{Completion, DeviceId, SimTime};

/// An observer, and what it has yet to hear.
pub(crate) struct InOrder<'a> {
    pub observer: Box<dyn Observer + 'a>,
    /// What has become known since something was told.
    fresh: Vec<Heard>,
    /// What is over later than that.
    later: EventQueue<Heard>,
    /// By time, kind and number, where it stands in `fresh`.
    order: Vec<(SimTime, u8, u64, u32)>,
    told_before: SimTime,
}

#[expect(clippy::large_enum_variant, reason = "nearly all are requests, and nothing is allocated for one")]
#[derive(Debug, Clone, Copy)]
enum Heard {
    Collected(DeviceId, SimTime, SimTime),
    Completed(Completion),
}

impl Heard {
    fn end(&self) -> SimTime {
        match self {
            Heard::Collected(_, _, end) => *end,
            Heard::Completed(completion) => completion.finish,
        }
    }

    /// What of one moment comes first: kind and number.
    fn rank(&self) -> (u8, u64) {
        match self {
            Heard::Collected(member, ..) => (0, member.0.into()),
            Heard::Completed(completion) => (1, completion.id),
        }
    }
}

impl<'a> InOrder<'a> {
    /// Of an observer that has heard nothing.
    pub fn new(observer: Box<dyn Observer + 'a>) -> Self {
        InOrder {
            observer,
            fresh: Vec::new(),
            later: EventQueue::default(),
            order: Vec::new(),
            told_before: SimTime::ZERO,
        }
    }

    /// A request is known to complete.
    pub fn completes(&mut self, completion: &Completion) {
        self.hear(Heard::Completed(*completion));
    }

    /// A member collected.
    pub fn collected(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.hear(Heard::Collected(member, start, end));
    }

    fn hear(&mut self, heard: Heard) {
        debug_assert!(heard.end() >= self.told_before, "what is over before has been told: {heard:?}");
        self.fresh.push(heard);
    }

    /// Tells what is over before `now`: all of that is known.
    pub fn tell_before(&mut self, now: SimTime) {
        while self.later.next_time() < now
            && let Some((_, heard)) = self.later.pop_due(now)
        {
            self.fresh.push(heard);
        }
        self.order.clear();
        for (place, heard) in (0..).zip(&self.fresh) {
            let (end, (kind, number)) = (heard.end(), heard.rank());
            if end < now {
                self.order.push((end, kind, number, place));
            } else {
                self.later.push(end, *heard);
            }
        }
        self.order.sort_unstable();
        for &(.., place) in &self.order {
            match &self.fresh[place as usize] {
                Heard::Collected(member, start, end) => self.observer.gc_interval(*member, *start, *end),
                Heard::Completed(completion) => self.observer.completion(completion),
            }
        }
        self.fresh.clear();
        self.told_before = self.told_before.max(now);
    }

    /// Nothing else will become known: tells all the rest.
    pub fn tell_all(&mut self) -> &mut Self {
        self.tell_before(SimTime::NEVER);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use harmonia_types::{Operation, RequestBlame};

    use super::*;

    /// When what it heard of was over, and of whom.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<Vec<(u64, String)>>>);

    impl Observer for Notes {
        fn begin(&mut self, _: SimTime, _: usize) {}

        fn completion(&mut self, done: &Completion) {
            self.0.lock().unwrap().push((done.finish.0, format!("request {}", done.id)));
        }

        fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
            self.0.lock().unwrap().push((end.0, format!("member {} from {}", member.0, start.0)));
        }

        fn end(&mut self, _: SimTime) {}
    }

    fn done(id: u64, finish: u64) -> Completion {
        Completion {
            id,
            operation: Operation::Write,
            offset: 0,
            length: 4096,
            arrival: SimTime::ZERO,
            finish: SimTime(finish),
            blame: RequestBlame::default(),
            met_gc: false,
            gc_wait: None,
        }
    }

    #[test]
    fn what_becomes_known_late_is_told_in_order() {
        let notes = Notes::default();
        let mut ordered = InOrder::new(Box::new(notes.clone()));
        let heard = || std::mem::take(&mut *notes.0.lock().unwrap());
        ordered.completes(&done(7, 30));
        ordered.completes(&done(3, 10));
        ordered.collected(DeviceId(1), SimTime(2), SimTime(10));
        ordered.collected(DeviceId(0), SimTime(4), SimTime(10));
        ordered.completes(&done(2, 10));
        ordered.completes(&done(5, 20));
        ordered.tell_before(SimTime(20));
        let at_10 = ["member 0 from 4", "member 1 from 2", "request 2", "request 3"];
        assert_eq!(heard(), at_10.map(|what| (10, what.to_owned())));
        ordered.completes(&done(6, 25));
        ordered.tell_before(SimTime(26));
        assert_eq!(heard(), [(20, "request 5".to_owned()), (25, "request 6".to_owned())]);
        ordered.tell_all();
        assert_eq!(heard(), [(30, "request 7".to_owned())]);
        ordered.tell_all();
        assert_eq!(heard(), []);
    }
}
