//! What an observer hears of a run, in order of time, in whatever order that becomes known.
//!
//! ```text
//!   member 0   a─────┤ c──┤                known: a c b d
//!   member 1   b──┤       d────┤           told:  b a c d      what is over before a time to which all have come
//! ```
//!
//! Members that run ahead of one another tell what they did one behind the other, and a read is known to complete before its data is
//! there. What is over at the same moment is told in the order of members that collected, then of requests. So an observer hears
//! the same whether members run ahead or in step, on any number of threads.

use harmonia_metrics::Observer;
use harmonia_types::{Completion, DeviceId, SimTime};

/// An observer, and what it has yet to hear.
pub(crate) struct InOrder<'a> {
    pub observer: Box<dyn Observer + 'a>,
    waiting: Vec<Heard>,
    /// Emptied, to be filled again: nothing is allocated once a run is under way.
    spare: Vec<Heard>,
    /// By time, kind and number, where it stands in `waiting`.
    order: Vec<(SimTime, u8, u64, u32)>,
}

#[derive(Debug, Clone, Copy)]
enum Heard {
    Collected(DeviceId, SimTime, SimTime),
    Completed(Completion),
}

impl Heard {
    /// When it is over; what of that moment comes first, and of that.
    fn key(&self) -> (SimTime, u8, u64) {
        match self {
            Heard::Collected(member, _, end) => (*end, 0, member.0.into()),
            Heard::Completed(completion) => (completion.finish, 1, completion.id),
        }
    }
}

impl<'a> InOrder<'a> {
    /// Of an observer that has heard nothing.
    pub fn new(observer: Box<dyn Observer + 'a>) -> Self {
        InOrder { observer, waiting: Vec::new(), spare: Vec::new(), order: Vec::new() }
    }

    /// A request is known to complete.
    pub fn completes(&mut self, completion: &Completion) {
        self.waiting.push(Heard::Completed(*completion));
    }

    /// A member collected.
    pub fn collected(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.waiting.push(Heard::Collected(member, start, end));
    }

    /// Tells what is over before `now`: all of that is known.
    pub fn tell_before(&mut self, now: SimTime) {
        self.order.clear();
        let with_place = |(place, heard): (u32, &Heard)| {
            let (at, kind, number) = heard.key();
            (at, kind, number, place)
        };
        self.order.extend((0..).zip(&self.waiting).map(with_place));
        self.order.sort_unstable();
        let told = self.order.partition_point(|&(at, ..)| at < now);
        for &(.., place) in &self.order[..told] {
            match &self.waiting[place as usize] {
                Heard::Collected(member, start, end) => self.observer.gc_interval(*member, *start, *end),
                Heard::Completed(completion) => self.observer.completion(completion),
            }
        }
        self.spare.extend(self.order[told..].iter().map(|&(.., place)| self.waiting[place as usize]));
        self.waiting.clear();
        std::mem::swap(&mut self.waiting, &mut self.spare);
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
