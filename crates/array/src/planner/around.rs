//! Reading rows of a parity array without the members that collect, and without those that are missing.
//!
//! ```text
//! unit      0      1      2      P          1 and 2 are wanted, 2 collects:
//!        ┌──────┬──────┬──────┬──────┐
//!        │ read │ read │      │ read │      2 = 0 + 1 + P; 0 and P are extra reads
//!        └──────┴──────┴──────┴──────┘
//! ```
//!
//! The rows are cut where the set of members that collect changes. In each piece up to `k` wanted units are rebuilt, `k`
//! being the parities of the level: as many of those that collect for longest as make the piece wait least, a tie going to
//! fewer. What is left of them, and everything that rebuilding needs, is read and waited for. So never more than `k`
//! members are read around, and rebuilding never waits longer than reading plainly would.
//!
//! A member that is missing in the piece (it failed, is not built so far, or cannot read the page) is not read, be it
//! wanted or not. To rebuild `lost` wanted units, `lost` parities are needed and one for every other data unit that is missing.
//! What is missing goes first; members that collect are read around with the parities that are left over. Where parities do
//! not suffice, what is missing is not read and counted as such.
//!
//! All of it is one step under the lock of the rows: nobody changes a row between two reads of it.

use harmonia_types::{Bytes, DeviceId, Operation, Phase, ReadCounters, SimDuration};

use super::missing::Missing;
use super::{LossCounters, Plan, PlannedOperation, View};
use crate::config::Avoid;
use crate::layout::Parity;

/// What a read that avoids members looks at, kept from one to the next.
#[derive(Debug, Clone)]
pub(super) struct Around {
    rule: Rule,
    /// What members that collect have cost, and what those that are missing have since it was last taken.
    pub counters: ReadCounters,
    pub losses: LossCounters,
    /// Members that collect in a part of the stripe: member, from, to, time left.
    busy: Vec<(DeviceId, Bytes, Bytes, SimDuration)>,
    cuts: Vec<Bytes>,
    /// Units of a piece that are wanted, longest to wait for first; and those that rebuilding needs besides.
    wanted: Vec<(SimDuration, DeviceId)>,
    extra: Vec<(SimDuration, DeviceId)>,
    parities: Vec<(SimDuration, DeviceId)>,
    gone: Gone,
    /// By member: its last operation in the plan.
    last: Vec<u32>,
}

/// The rows of one stripe that are read, by bytes on the members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub stripe: u64,
    pub from: Bytes,
    pub to: Bytes,
}

/// Data units of a piece that are missing.
#[derive(Debug, Clone, Copy, Default)]
struct Gone {
    wanted: usize,
    others: usize,
}

/// The members as a plan finds them.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub layout: &'a Parity,
    pub view: &'a View<'a>,
    pub missing: Missing<'a>,
}

/// Which units of a stripe the host wants.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// Data units from the first to the last.
    Units(u16, u16),
    /// What this member holds. It collects, even where the controller cannot see it, or is missing.
    Member(DeviceId),
}

/// How members are avoided: the rule, and what its arithmetic needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// None if only missing members are read around.
    pub avoid: Option<Avoid>,
    /// Reads are begun a second time, without the member that is late.
    pub races: bool,
    /// Members that may be read around at once.
    pub most: usize,
    pub page: Bytes,
    pub row: Bytes,
    /// Time that one more page read costs.
    pub page_read: SimDuration,
}

impl Around {
    /// Nothing read so far.
    pub fn new(rule: Rule) -> Self {
        let (counters, losses) = (ReadCounters::default(), LossCounters::default());
        let (busy, cuts, last) = (Vec::new(), Vec::new(), Vec::new());
        let (wanted, extra, parities) = (Vec::new(), Vec::new(), Vec::new());
        Around { rule, counters, losses, busy, cuts, wanted, extra, parities, gone: Gone::default(), last }
    }

    /// A new plan is made.
    pub fn begin(&mut self, members: u16) {
        self.last.clear();
        self.last.resize(usize::from(members), u32::MAX);
    }

    /// Plans the rows of one stripe.
    pub fn stripe(&mut self, members: &Members<'_>, piece: Piece, wanted: Wanted, plan: &mut Plan) {
        self.look(members, piece, wanted);
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            let part = Piece { from: pair[0], to: pair[1], ..piece };
            self.part(members, part, wanted, plan);
        }
        self.cuts = cuts;
    }

    /// Finds out which members collect or are missing in which part of the rows.
    fn look(&mut self, members: &Members<'_>, piece: Piece, wanted: Wanted) {
        let (Members { view, missing, .. }, Piece { from, to, .. }) = (members, piece);
        let Around { busy, cuts, last, .. } = self;
        busy.clear();
        cuts.clear();
        cuts.extend([from, to]);
        missing.cuts(last.len() as u16, (from, to), self.rule.row, |cut| cuts.push(cut));
        if self.rule.avoid.is_none() {
            return;
        }
        for member in (0..last.len() as u16).map(DeviceId) {
            view.look.busy(member, from, to - from, &mut |from, to, left| {
                busy.push((member, from, to, left));
                cuts.extend([from, to]);
            });
        }
        // A member that races itself is done without, whether or not it collects.
        if let Wanted::Member(member) = wanted
            && (self.rule.races || !view.look.sees(member))
            && busy.iter().all(|entry| entry.0 != member)
        {
            busy.push((member, from, to, SimDuration(u64::MAX)));
        }
    }

    /// How long a member would keep the piece that begins at `from` waiting.
    fn left(&self, member: DeviceId, from: Bytes) -> SimDuration {
        let here = |entry: &&(DeviceId, Bytes, Bytes, SimDuration)| {
            entry.0 == member && (entry.1..entry.2).contains(&from)
        };
        let left = self.busy.iter().filter(here).map(|entry| entry.3).max();
        // A member that is about to be done collects all the same.
        left.map_or(SimDuration::ZERO, |left| left.max(SimDuration(1)))
    }

    /// Plans a part of the rows in which the same members collect and are missing all through.
    fn part(&mut self, members: &Members<'_>, part: Piece, wanted: Wanted, plan: &mut Plan) {
        let rule = self.rule;
        let Piece { stripe, from, to } = part;
        let pages = (to - from).div_ceil(rule.page);
        self.sort(members, part, wanted);
        let gone = self.gone;
        // Whether what is missing can be rebuilt; otherwise nothing of the row can.
        let can_rebuild = gone.wanted + gone.others <= self.parities.len();
        let counters = &mut self.counters;
        if rule.avoid.is_some() {
            let busy = self.wanted.iter().chain(&self.extra).chain(&self.parities);
            let collecting = busy.filter(|entry| entry.0 > SimDuration::ZERO).count();
            counters.rows_by_busy_members[collecting.min(3)] += (to - from) / rule.row;
        }
        let lost = if can_rebuild { self.choose(pages) } else { 0 };
        let counters = &mut self.counters;
        let waits = self.wanted[lost..].iter().filter(|entry| entry.0 > SimDuration::ZERO).count() as u64;
        counters.waited_pages += waits * pages;
        counters.rebuilt_pages += lost as u64 * pages;
        let mut read = |member: DeviceId, phase| {
            let operation = PlannedOperation::data(member, Operation::Read, from, to - from);
            let last = &mut self.last[member.index()];
            if !plan.extend(*last, &PlannedOperation { phase, ..operation }) {
                *last = plan.operations().len() as u32;
                plan.push(PlannedOperation { phase, ..operation });
            }
        };
        self.wanted[lost..].iter().for_each(|&(_, member)| read(member, Phase::Data));
        if !can_rebuild {
            self.losses.unread_pages += gone.wanted as u64 * pages;
        } else if lost + gone.wanted > 0 {
            let needed = lost + gone.wanted + gone.others;
            self.extra.iter().for_each(|&(_, member)| read(member, Phase::Reconstruct));
            self.parities[..needed].iter().for_each(|&(_, member)| read(member, Phase::Reconstruct));
            // Members that collect pay for what would not be read if only others were missing.
            let all = self.extra.len() + needed;
            let for_missing = if gone.wanted > 0 { all - lost } else { 0 };
            self.counters.extra_pages += (all - for_missing) as u64 * pages;
            self.losses.extra_pages += for_missing as u64 * pages;
            self.losses.rebuilt_pages += gone.wanted as u64 * pages;
        }
        debug_assert!(lost <= rule.most, "{lost} members of stripe {stripe} are read around");
    }

    /// Sorts the units of a stripe that are there: wanted ones, those that wait longest first; other data; parities, the best
    /// first. Counts those that are missing.
    fn sort(&mut self, members: &Members<'_>, part: Piece, wanted: Wanted) {
        let (Members { layout, missing, .. }, Piece { stripe, from, to }) = (members, part);
        let (mut is_wanted, mut extra, mut parities) = (
            std::mem::take(&mut self.wanted),
            std::mem::take(&mut self.extra),
            std::mem::take(&mut self.parities),
        );
        is_wanted.clear();
        extra.clear();
        parities.clear();
        self.gone = Gone::default();
        for unit in 0..layout.data_units() {
            let member = layout.data_member(stripe, unit);
            let belongs = match wanted {
                Wanted::Units(first, last) => (first..=last).contains(&unit),
                Wanted::Member(wanted) => member == wanted,
            };
            if missing.has(member, from, to) {
                let gone = if belongs { &mut self.gone.wanted } else { &mut self.gone.others };
                *gone += 1;
                continue;
            }
            let entry = (self.left(member, from), member);
            if belongs { is_wanted.push(entry) } else { extra.push(entry) }
        }
        let both = [Some(layout.p_member(stripe)), layout.q_member(stripe)];
        let both = both.into_iter().flatten().filter(|&member| !missing.has(member, from, to));
        parities.extend(both.map(|member| (self.left(member, from), member)));
        // P goes before Q, and data units keep their order, where it makes no difference: the sorts are stable.
        parities.sort_by_key(|entry| entry.0);
        is_wanted.sort_by_key(|entry| match self.rule.avoid {
            // How long is not asked: those that collect, in the order of the read.
            Some(Avoid::Any) => std::cmp::Reverse(entry.0.min(SimDuration(1))),
            Some(Avoid::Longest | Avoid::Cheaper) | None => std::cmp::Reverse(entry.0),
        });
        (self.wanted, self.extra, self.parities) = (is_wanted, extra, parities);
    }

    /// How many of the wanted units that are there are rebuilt: the first so many of `wanted`. What is missing can be.
    fn choose(&self, pages: u64) -> usize {
        let (rule, gone) = (&self.rule, self.gone);
        let busy = self.wanted.iter().take_while(|entry| entry.0 > SimDuration::ZERO).count();
        let taken = gone.wanted + gone.others;
        let most = busy.min(rule.most).min(self.parities.len() - taken);
        let rebuilds = |lost: usize| lost + gone.wanted > 0;
        let wait = |lost: usize| {
            let read = self.wanted.get(lost).map_or(SimDuration::ZERO, |entry| entry.0);
            let others = self.extra.iter().chain(&self.parities[..taken + lost]).map(|entry| entry.0);
            if rebuilds(lost) { others.fold(read, SimDuration::max) } else { read }
        };
        match rule.avoid {
            None => 0,
            Some(Avoid::Any) => most,
            Some(Avoid::Longest) => (0..=most).min_by_key(|&lost| wait(lost)).unwrap_or(0),
            Some(Avoid::Cheaper) => {
                let cost = |lost: usize| {
                    let more = if rebuilds(lost) { self.extra.len() + taken + lost } else { 0 };
                    let extra = more as u64 * pages;
                    SimDuration(wait(lost).0.saturating_add(rule.page_read.0.saturating_mul(extra)))
                };
                (0..=most).min_by_key(|&lost| cost(lost)).unwrap_or(0)
            }
        }
    }
}
