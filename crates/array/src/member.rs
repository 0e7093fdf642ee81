//! The states of a member: a machine that knows nothing of an array.
//!
//! ```text
//!          begin_copy              take_over
//!  ──► Whole ──────────► Copied ──────────────► Whole
//!       │ ▲                │
//!       │ │                │ fail_over
//!  fail │ │ complete       ▼
//!       │ └──────────── Rebuilding ◄── build_to ──┐
//!       ▼                ▲  │ └───────────────────┘
//!      Failed ─ replace ─┘  │ fail
//!       │ ▲                 │
//!       │ └─────────────────┘
//!       │ stand_in              complete
//!       └──────────► StandingIn ────────► StoodIn
//!                     ▲     │
//!                     └─────┘ build_to
//! ```
//!
//! * `Whole`: its device holds everything.
//! * `Copied`: the same, and a spare in another slot is given what the device holds, and what is written meanwhile.
//! * `Failed`: nothing answers in its place.
//! * `Rebuilding`: a spare has its place and holds what lies below `built`.
//! * `StandingIn`: others stand in for it, row by row, and hold what it held below `built`. Its own device answers nothing.
//! * `StoodIn`: the others hold all of it.
//!
//! Where a device is in the member's place, in `Whole`, `Copied` and `Rebuilding`, it takes operations or not. Whatever comes to a
//! place takes them: `take_over`, `fail_over` and `replace` open it.
//!
//! ```text
//!        reserve
//!  Open ─────────► Reserved            set_access: whoever drives the array has its way
//!       ◄─────────
//!          open
//! ```
//!
//! A device whose blocks are worn out is no state of its member: it serves reads as before, and the member fails with the first
//! write that is refused.

use harmonia_types::Bytes;

/// Whether a member takes operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// It does.
    #[default]
    Open,
    /// Not for now; what it was given before goes on.
    Reserved,
    /// Never again.
    Failed,
}

/// What a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Everything.
    Whole,
    /// Nothing: it failed, and nothing has taken its place.
    Failed,
    /// What lies below so many bytes. What is written above is kept, too, but not known to be complete.
    Partial(Bytes),
}

/// The state of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Whole { access: Access },
    Copied { access: Access, spare: u16 },
    Failed,
    Rebuilding { access: Access, built: Bytes },
    StandingIn { built: Bytes },
    StoodIn,
}

impl Member {
    /// As every member begins.
    pub const NEW: Member = Member::Whole { access: Access::Open };

    /// What it holds, or those who stand in for it.
    #[inline]
    pub fn condition(self) -> Condition {
        match self {
            Member::Whole { .. } | Member::Copied { .. } | Member::StoodIn => Condition::Whole,
            Member::Failed => Condition::Failed,
            Member::Rebuilding { built, .. } | Member::StandingIn { built } => Condition::Partial(built),
        }
    }

    /// Whether it takes operations itself.
    #[inline]
    pub fn access(self) -> Access {
        match self {
            Member::Whole { access } | Member::Copied { access, .. } | Member::Rebuilding { access, .. } => {
                access
            }
            Member::Failed | Member::StandingIn { .. } | Member::StoodIn => Access::Failed,
        }
    }

    /// The slot of the spare that it is copied to.
    #[inline]
    pub fn spare(self) -> Option<usize> {
        match self {
            Member::Copied { spare, .. } => Some(usize::from(spare)),
            _ => None,
        }
    }

    fn access_mut(&mut self) -> Option<&mut Access> {
        match self {
            Member::Whole { access } | Member::Copied { access, .. } | Member::Rebuilding { access, .. } => {
                Some(access)
            }
            Member::Failed | Member::StandingIn { .. } | Member::StoodIn => None,
        }
    }

    /// It is given nothing new.
    pub fn reserve(&mut self) {
        match self.access_mut() {
            Some(access @ Access::Open) => *access = Access::Reserved,
            _ => panic!("a member is reserved that takes operations, not {self:?}"),
        }
    }

    /// It may be used again.
    pub fn open(&mut self) {
        match self.access_mut() {
            Some(access @ Access::Reserved) => *access = Access::Open,
            _ => panic!("a member is opened that was reserved, not {self:?}"),
        }
    }

    /// It is opened or shut, as whoever drives the array likes.
    pub fn set_access(&mut self, to: Access) {
        match self.access_mut() {
            Some(access) => *access = to,
            None => panic!("a device is opened or shut, and none is in the place of {self:?}"),
        }
    }

    /// A spare in a slot begins to be given what it holds.
    pub fn begin_copy(&mut self, spare: u16) {
        let Member::Whole { access } = *self else {
            panic!("a member is copied that is whole, not {self:?}")
        };
        *self = Member::Copied { access, spare };
    }

    /// The spare has everything and takes its place.
    pub fn take_over(&mut self) {
        let Member::Copied { .. } = self else { panic!("the spare of a copy takes over, not of {self:?}") };
        *self = Member::NEW;
    }

    /// Its device fails, and the spare takes its place with what was copied.
    pub fn fail_over(&mut self, built: Bytes) {
        let Member::Copied { .. } = self else { panic!("a spare of a copy takes over, not of {self:?}") };
        *self = Member::Rebuilding { access: Access::Open, built };
    }

    /// Its device fails, and nothing is there to take its place at once.
    pub fn fail(&mut self) {
        let may = matches!(self, Member::Whole { .. } | Member::Rebuilding { .. });
        assert!(may, "a member fails that has a device and no spare is being given the same, not {self:?}");
        *self = Member::Failed;
    }

    /// A spare takes its place, and holds nothing.
    pub fn replace(&mut self) {
        assert!(*self == Member::Failed, "a member is replaced that has failed, not {self:?}");
        *self = Member::Rebuilding { access: Access::Open, built: 0 };
    }

    /// Others stand in for it, and hold nothing of it.
    pub fn stand_in(&mut self) {
        assert!(*self == Member::Failed, "others stand in for a member that has failed, not {self:?}");
        *self = Member::StandingIn { built: 0 };
    }

    /// What lies below `to` has been built.
    pub fn build_to(&mut self, to: Bytes) {
        match self {
            Member::Rebuilding { built, .. } | Member::StandingIn { built } if *built <= to => *built = to,
            _ => panic!("more is built of a member that is being built, not {to} of {self:?}"),
        }
    }

    /// Everything has been built.
    pub fn complete(&mut self) {
        *self = match *self {
            Member::Rebuilding { access, .. } => Member::Whole { access },
            Member::StandingIn { .. } => Member::StoodIn,
            _ => panic!("a member is complete that was being built, not {self:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Its name, and what takes it.
    type Transition = (&'static str, fn(&mut Member));

    const TRANSITIONS: [Transition; 15] = [
        ("reserve", Member::reserve),
        ("open", Member::open),
        ("set_access open", |member| member.set_access(Access::Open)),
        ("set_access reserved", |member| member.set_access(Access::Reserved)),
        ("set_access failed", |member| member.set_access(Access::Failed)),
        ("begin_copy", |member| member.begin_copy(7)),
        ("take_over", Member::take_over),
        ("fail_over", |member| member.fail_over(4096)),
        ("fail", Member::fail),
        ("replace", Member::replace),
        ("stand_in", Member::stand_in),
        ("build_to 0", |member| member.build_to(0)),
        ("build_to 4096", |member| member.build_to(4096)),
        ("build_to 8192", |member| member.build_to(8192)),
        ("complete", Member::complete),
    ];

    /// Where a transition leads: the picture as a table.
    fn leads(from: Member, name: &str) -> Option<Member> {
        use Member::{Copied, Failed, Rebuilding, StandingIn, StoodIn, Whole};
        let with = |access| match from {
            Whole { .. } => Some(Whole { access }),
            Copied { spare, .. } => Some(Copied { access, spare }),
            Rebuilding { built, .. } => Some(Rebuilding { access, built }),
            Failed | StandingIn { .. } | StoodIn => None,
        };
        let built = |to| match from {
            Rebuilding { access, built } if built <= to => Some(Rebuilding { access, built: to }),
            StandingIn { built } if built <= to => Some(StandingIn { built: to }),
            _ => None,
        };
        match (from, name) {
            (_, "reserve") => with(Access::Reserved).filter(|_| from.access() == Access::Open),
            (_, "open") => with(Access::Open).filter(|_| from.access() == Access::Reserved),
            (_, "set_access open") => with(Access::Open),
            (_, "set_access reserved") => with(Access::Reserved),
            (_, "set_access failed") => with(Access::Failed),
            (Whole { access }, "begin_copy") => Some(Copied { access, spare: 7 }),
            (Copied { .. }, "take_over") => Some(Whole { access: Access::Open }),
            (Copied { .. }, "fail_over") => Some(Rebuilding { access: Access::Open, built: 4096 }),
            (Whole { .. } | Rebuilding { .. }, "fail") => Some(Failed),
            (Failed, "replace") => Some(Rebuilding { access: Access::Open, built: 0 }),
            (Failed, "stand_in") => Some(StandingIn { built: 0 }),
            (_, "build_to 0") => built(0),
            (_, "build_to 4096") => built(4096),
            (_, "build_to 8192") => built(8192),
            (Rebuilding { access, .. }, "complete") => Some(Whole { access }),
            (StandingIn { .. }, "complete") => Some(StoodIn),
            _ => None,
        }
    }

    /// From a new member on, every transition is tried in every state that is reached.
    #[test]
    fn a_member_takes_every_way_of_the_picture_and_no_other() {
        let mut reached = vec![Member::NEW];
        let mut next = 0;
        while let Some(&before) = reached.get(next) {
            next += 1;
            for (name, take) in TRANSITIONS {
                let mut state = before;
                let tried = catch_unwind(AssertUnwindSafe(|| take(&mut state))).is_ok();
                let expected = leads(before, name);
                assert_eq!(tried.then_some(state), expected, "{before:?}: {name}");
                assert!(tried || state == before, "{before:?}: {name} is refused and changes nothing");
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
        }
        // Three kinds of access to a whole, a copied and a member that is built to three places; three places without a device; two.
        assert_eq!(reached.len(), 3 * (1 + 1 + 3) + 3 + 2, "{reached:?}");
    }

    /// One row for each state: what it holds, whether it takes operations, and the slot of its spare.
    #[test]
    fn a_state_says_what_a_member_holds_and_takes() {
        use Access::{Failed, Open, Reserved};
        for (member, condition, access, spare) in [
            (Member::NEW, Condition::Whole, Open, None),
            (Member::Whole { access: Reserved }, Condition::Whole, Reserved, None),
            (Member::Copied { access: Reserved, spare: 9 }, Condition::Whole, Reserved, Some(9)),
            (Member::Failed, Condition::Failed, Failed, None),
            (Member::Rebuilding { access: Open, built: 5 }, Condition::Partial(5), Open, None),
            (Member::StandingIn { built: 5 }, Condition::Partial(5), Failed, None),
            (Member::StoodIn, Condition::Whole, Failed, None),
        ] {
            assert_eq!((member.condition(), member.access(), member.spare()), (condition, access, spare));
        }
    }
}
