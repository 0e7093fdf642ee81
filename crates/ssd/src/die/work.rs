//! What a die does, and what it may do next.
//!
//! ```text
//!          begin                            rest
//!   Idle ─────────► Host ──────────┐ ────────────────► Idle
//!     │ ├─────────► Joint, host ───┤ begin
//!     │ ├─────────► Joint, GC ─────┴──────► Summary ─► Idle
//!     │ ├─────────► Settled
//!     │ ├─────────► Event ─┐ begin: the next victim of an event that gives way to the host
//!     │ │             ▲────┘
//!     │ ├─────────► Move
//!     │ └─────────► Erase, Joint write of GC ───────► Suspending ─► Idle, with a command that is suspended
//!     │   resume            suspend                                       begin: Host, or Joint of the host
//!     └─────────────► what was suspended
//! ```
//!
//! A program of the host, alone or of several planes, is suspended and goes on in the same way. While a command is suspended
//! the die serves the host, and begins no other command of collection. Every command may end:
//! `rest` is legal from each state. Any other transition is refused, by an assertion in builds that have them.

use harmonia_types::{SimDuration, SimTime};

use super::Die;
use super::command::{Activity, Command, Part, Paused};
use crate::gc::schedule::Class;

impl Die {
    /// Begins a command, to which steps are then added.
    #[inline]
    pub fn begin(&mut self, activity: Activity, now: SimTime) -> &mut Command {
        debug_assert!(self.may_begin(activity), "{activity:?} after {:?}", self.activity);
        self.activity = activity;
        self.command_began = now;
        self.command.restart(now);
        &mut self.command
    }

    /// Whether a command may begin; what is to be a joint one has its parts already.
    fn may_begin(&self, next: Activity) -> bool {
        match (self.activity, next) {
            (Activity::Idle, Activity::Host(_)) => true,
            (Activity::Idle, Activity::Settled | Activity::Event | Activity::Move | Activity::Erase) => {
                self.paused.is_none()
            }
            (Activity::Idle, Activity::Joint(_)) => self.paused.is_none() || !self.has_gc_part(),
            (Activity::Host(_) | Activity::Joint(_), Activity::Summary) => true,
            (Activity::Event, Activity::Event) => true,
            _ => false,
        }
    }

    /// Its command has ended.
    #[inline]
    pub fn rest(&mut self) {
        self.activity = Activity::Idle;
        self.command.is_alone = false;
    }

    /// Stops a program, or an erase of garbage collection, whose array still needs so long.
    ///
    /// # Panics
    /// If anything else runs, or something is suspended already.
    pub fn suspend(&mut self, remaining: SimDuration) {
        let is_suspendable =
            matches!(self.activity, Activity::Erase | Activity::Host(_) | Activity::Joint(Class::Write));
        assert!(is_suspendable && self.paused.is_none(), "{:?} cannot be suspended", self.activity);
        if let Activity::Host(op) = self.activity {
            self.parts.clear();
            self.parts.push(Part::of_host(op, true));
        }
        self.command.suspends = self.command.suspends.saturating_add(1);
        // What was moved last says nothing of a program of the host.
        let moves = if self.activity != Activity::Erase && self.has_gc_part() { self.moving } else { None };
        self.paused = Some(Box::new(Paused {
            activity: self.activity,
            command: self.command,
            parts: std::mem::take(&mut self.parts),
            remaining,
            moves,
        }));
        self.activity = Activity::Suspending;
        self.command = Command::default();
    }

    /// Goes on with what was suspended, which takes longer by `cost`. Returns how long its array still needs.
    ///
    /// # Panics
    /// If nothing is suspended, or something runs.
    pub fn resume(&mut self, cost: SimDuration, now: SimTime) -> SimDuration {
        assert!(self.is_idle(), "{:?} has not ended", self.activity);
        let Some(paused) = self.paused.take() else { panic!("nothing is suspended") };
        let Paused { activity, mut command, parts, remaining, .. } = *paused;
        let rest = remaining + cost;
        command.set_last_step(rest);
        (self.activity, self.command, self.parts, self.command_began) = (activity, command, parts, now);
        rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::super::Guest;
    use super::super::command::{NO_OP, Step};
    use super::*;
    use crate::block::BlockId;
    use harmonia_engine::Rng;

    /// What may be tried, and the state that it leads to. `joint` is one of the host, `half` one of garbage collection.
    const TRIES: [&str; 13] = [
        "host",
        "settled",
        "joint",
        "summary",
        "event",
        "move",
        "erase",
        "half read",
        "half write",
        "idle",
        "rest",
        "suspend",
        "resume",
    ];

    /// Every legal transition but `rest`: from, whether something is suspended (`None`: either way), name, to.
    const LEGAL: [(&str, Option<bool>, &str, &str); 18] = [
        ("idle", None, "host", "host"),
        ("idle", Some(false), "settled", "settled"),
        ("idle", None, "joint", "joint"),
        ("idle", Some(false), "event", "event"),
        ("idle", Some(false), "move", "move"),
        ("idle", Some(false), "erase", "erase"),
        ("idle", Some(false), "half read", "half read"),
        ("idle", Some(false), "half write", "half write"),
        ("idle", Some(true), "resume", "what was suspended"),
        ("host", None, "summary", "summary"),
        ("joint", None, "summary", "summary"),
        ("half read", None, "summary", "summary"),
        ("half write", None, "summary", "summary"),
        ("event", None, "event", "event"),
        ("host", Some(false), "suspend", "suspending"),
        ("joint", Some(false), "suspend", "suspending"),
        ("erase", Some(false), "suspend", "suspending"),
        ("half write", Some(false), "suspend", "suspending"),
    ];

    fn part(op: u32) -> Part {
        Part { op, transfers: true, rides: false, prepares: false }
    }

    fn name(die: &Die) -> &'static str {
        match die.activity {
            Activity::Idle => "idle",
            Activity::Host(_) => "host",
            Activity::Settled => "settled",
            Activity::Summary => "summary",
            Activity::Event => "event",
            Activity::Move => "move",
            Activity::Erase => "erase",
            Activity::Joint(Class::Read) if die.has_gc_part() => "half read",
            Activity::Joint(Class::Write) if die.has_gc_part() => "half write",
            Activity::Joint(_) => "joint",
            Activity::Suspending => "suspending",
        }
    }

    fn attempt(die: &mut Die, what: &str, now: SimTime) {
        let mut parts = |op| die.parts = vec![part(op)];
        let activity = match what {
            "host" => Activity::Host(1),
            "joint" => {
                parts(1);
                Activity::Joint(Class::Write)
            }
            "half read" | "half write" => {
                parts(NO_OP);
                Activity::Joint(if what == "half read" { Class::Read } else { Class::Write })
            }
            "settled" => Activity::Settled,
            "summary" => Activity::Summary,
            "event" => Activity::Event,
            "move" => Activity::Move,
            "erase" => Activity::Erase,
            "idle" => Activity::Idle,
            "rest" => return die.rest(),
            "suspend" => return die.suspend(SimDuration(3)),
            _ => {
                assert_eq!(die.resume(SimDuration(4), now), SimDuration(7));
                // What is left is its last step, so that it can be suspended there again.
                die.command.next = die.command.len;
                return assert_eq!(die.command.last_step(), Some(SimDuration(7)));
            }
        };
        die.begin(activity, now).then(Step::Array(SimDuration(5)));
    }

    /// A lone die, driven at random: each transition goes where the picture says, or is refused.
    #[test]
    fn a_die_does_what_its_picture_says_and_nothing_else() {
        let mut rng = Rng::stream(1, "die");
        let (mut die, mut seen) = (Die::default(), BTreeSet::new());
        for step in 0..6_000 {
            let what = TRIES[rng.below(TRIES.len() as u64) as usize];
            let (from, is_paused) = (name(&die), die.paused.is_some());
            let suspended = die.paused.as_deref().map(|paused| paused.activity);
            let before = die.clone();
            let tried = catch_unwind(AssertUnwindSafe(|| attempt(&mut die, what, SimTime(step))));
            seen.insert((from, is_paused, what));
            let legal = LEGAL
                .iter()
                .find(|legal| (legal.0, legal.2) == (from, what) && legal.1.is_none_or(|is| is == is_paused));
            match legal {
                _ if what == "rest" => assert!(tried.is_ok() && die.is_idle()),
                Some(&(.., to)) => {
                    assert!(tried.is_ok(), "{from}: {what} is legal");
                    match suspended.filter(|_| what == "resume") {
                        Some(activity) => assert_eq!(die.activity, activity),
                        None => assert_eq!(name(&die), to, "{from}: {what}"),
                    }
                }
                None => {
                    assert!(tried.is_err(), "{from}, suspended: {is_paused}: {what} is not refused");
                    die = before;
                }
            }
            let is_paused_now = die.paused.is_some();
            let expected = match what {
                "suspend" if legal.is_some() => true,
                "resume" if legal.is_some() => false,
                _ => is_paused,
            };
            assert_eq!(is_paused_now, expected, "{from}: {what}");
        }
        // Idle, host, joint and summary with and without a suspended command; suspending with one, the others without.
        assert_eq!(seen.len(), TRIES.len() * 15, "{seen:?}");
    }

    /// Plants each mistake that an audit looks for, and sees it caught.
    #[test]
    fn an_audit_finds_what_does_not_go_together() {
        let now = SimTime::ZERO;
        let doing = |what: &str| {
            let mut die = Die::default();
            attempt(&mut die, what, now);
            die
        };
        let suspended = |what: &str| {
            let mut die = doing(what);
            attempt(&mut die, "suspend", now);
            die.activity = Activity::Idle;
            die
        };
        let guest = Guest { die: 1, from: (0, BlockId(0), 0), to: 0 };
        for what in ["host", "joint"] {
            doing(what).audit(0);
        }
        Die { hosting: Some(guest), ..doing("half write") }.audit(0);
        let mistakes = [
            ("an event without its collection", doing("event")),
            ("a move of no victim", doing("move")),
            ("an erase of no victim", doing("erase")),
            ("a read of no victim", doing("half read")),
            ("a page of no victim", doing("half write")),
            ("a suspended erase of no victim", suspended("erase")),
            ("nothing to suspend", Die { activity: Activity::Suspending, ..Die::default() }),
            ("two commands", Die { activity: Activity::Erase, ..suspended("erase") }),
            ("a page of another that is not programmed", Die { hosting: Some(guest), ..Die::default() }),
        ];
        for (what, die) in mistakes {
            let found = catch_unwind(AssertUnwindSafe(|| die.audit(0)));
            assert!(found.is_err(), "{what} is not found");
        }
    }
}
