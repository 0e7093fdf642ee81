//! The seam for whoever wants to see a run's measured window request by request: pictures, columns on disk.
//!
//! An observer sees what the report counts, no more and no less: completions of the measured window, and intervals in which
//! members collected, cut to the window's beginning. Nothing it does can change a result.

use harmonia_types::{Completion, DeviceId, SimTime};

use crate::failures::AilingSpan;
use crate::recording::MemberPlanes;

/// Watches one run. It hears of requests and of collections in the order in which they ended. Of what ended at the same moment it
/// hears of collections first, by member, then of requests, by id. It may hear of them some time later: of a run that fails or is
/// cancelled the last ones are not told.
pub trait Observer: Send {
    /// The measured window of an array with so many members begins.
    fn begin(&mut self, from: SimTime, members: usize);

    /// A measured request completed.
    fn completion(&mut self, completion: &Completion);

    /// A member collected from `start` to `end`; not called for an empty interval.
    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime);

    /// Something was wrong with a member for a while; told before the end, cut to the window.
    fn ails(&mut self, _span: &AilingSpan) {}

    /// Whether it wants to be told what planes did; asked once, before the run.
    fn wants_planes(&self) -> bool {
        false
    }

    /// Whether the report should show devices over time; asked once, before the run.
    fn wants_levels(&self) -> bool {
        self.wants_planes()
    }

    /// What planes of the first member's dies did from their first collection on; called once before the end, to all
    /// observers of a run of which one wants it.
    fn planes(&mut self, _planes: &MemberPlanes) {}

    /// The window is over; `end` is its last completion. Intervals still open were told with `end` as theirs.
    fn end(&mut self, end: SimTime);
}

/// Several observers of one run; each sees everything, in the order in which they stand.
impl<O: Observer + ?Sized> Observer for Vec<Box<O>> {
    fn begin(&mut self, from: SimTime, members: usize) {
        self.iter_mut().for_each(|observer| observer.begin(from, members));
    }

    fn completion(&mut self, completion: &Completion) {
        self.iter_mut().for_each(|observer| observer.completion(completion));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.iter_mut().for_each(|observer| observer.gc_interval(member, start, end));
    }

    fn ails(&mut self, span: &AilingSpan) {
        self.iter_mut().for_each(|observer| observer.ails(span));
    }

    fn wants_planes(&self) -> bool {
        self.iter().any(|observer| observer.wants_planes())
    }

    fn wants_levels(&self) -> bool {
        self.iter().any(|observer| observer.wants_levels())
    }

    fn planes(&mut self, planes: &MemberPlanes) {
        self.iter_mut().for_each(|observer| observer.planes(planes));
    }

    fn end(&mut self, end: SimTime) {
        self.iter_mut().for_each(|observer| observer.end(end));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    struct Notes(char, Arc<Mutex<String>>);

    impl Notes {
        fn note(&self, what: char) {
            self.1.lock().expect("no panic before").extend([self.0, what]);
        }
    }

    impl Observer for Notes {
        fn begin(&mut self, _: SimTime, _: usize) {
            self.note('b');
        }
        fn completion(&mut self, _: &Completion) {
            self.note('c');
        }
        fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {
            self.note('g');
        }
        fn end(&mut self, _: SimTime) {
            self.note('e');
        }
    }

    #[test]
    fn each_of_several_sees_everything_in_order() {
        let notes = Arc::new(Mutex::new(String::new()));
        let mut both: Vec<Box<dyn Observer>> =
            vec![Box::new(Notes('1', notes.clone())), Box::new(Notes('2', notes.clone()))];
        both.begin(SimTime(0), 1);
        both.gc_interval(DeviceId(0), SimTime(0), SimTime(1));
        both.end(SimTime(1));
        assert_eq!(*notes.lock().expect("no panic before"), "1b2b1g2g1e2e");
    }

    /// Nobody sees planes or levels unless somebody asks, and one that asks is enough.
    #[test]
    fn several_want_what_one_of_them_wants() {
        struct Wants(bool, bool);
        impl Observer for Wants {
            fn begin(&mut self, _: SimTime, _: usize) {}
            fn completion(&mut self, _: &Completion) {}
            fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
            fn wants_planes(&self) -> bool {
                self.0
            }
            fn wants_levels(&self) -> bool {
                self.1
            }
            fn end(&mut self, _: SimTime) {}
        }
        let of = |wants: &[(bool, bool)]| {
            let all: Vec<Box<dyn Observer>> =
                wants.iter().map(|&(planes, levels)| Box::new(Wants(planes, levels)) as _).collect();
            (all.wants_planes(), all.wants_levels())
        };
        assert_eq!(of(&[]), (false, false));
        assert_eq!(of(&[(false, false), (false, false)]), (false, false));
        assert_eq!(of(&[(false, false), (true, false)]), (true, false));
        assert_eq!(of(&[(false, true), (false, false)]), (false, true));
    }
}
