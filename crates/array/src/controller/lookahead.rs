//! How far members may be ahead of one another: what each option of an array means for that.
//!
//! ```text
//! in step    none is ahead of the next event of another one
//! coupled    each runs on to the next event of a member that holds an operation from which something follows
//! ahead      each goes through its own inbox (`ahead`), where somebody hears of members up to a common horizon (`horizon`)
//! ```
//!
//! Where members run ahead nothing that one of them does may concern another one, or anybody who listens. So every option is
//! classified here: [`Lookahead::of`] names each field of the configuration, and one that is added does not compile until it is
//! named, too. Whether plans concern one member only, the planner says ([`crate::planner::Planner::is_flat`]).

use harmonia_ssd::probe::Probe;

use super::Array;
use super::depth::Depth;
use super::jobs::Background;
use super::log::Log;
use super::payload::Payload;
use crate::config::{ArrayConfig, Knowledge, Reads};
use crate::coordination::{Coordinator, Interests};
use crate::layout::Layout;

/// What keeps members of an array from being ahead of one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lookahead {
    /// The coordinator listens to arrivals or ends of requests, or to answers of members: none may run ahead.
    hears_requests: bool,
    /// It listens to ends of requests or answers of members, each at its time: they go in step.
    hears_ends: bool,
    /// Somebody hears of members: who collects, and when.
    hears_members: bool,
    /// The coordinator may do more than direct members.
    may_reserve: bool,
    /// Members share a link, places in queues or reads of which the first answer counts.
    shares: bool,
    /// Members may fail.
    fails: bool,
    /// The controller keeps data for members.
    keeps: bool,
}

impl Lookahead {
    /// Of an array that is configured so, in which reads follow this rule; the planner may want to hear of members, too.
    pub fn of(
        config: &ArrayConfig,
        reads: Reads,
        coordinator: &dyn Coordinator,
        planner_watches: bool,
    ) -> Self {
        let ArrayConfig {
            // Where bytes lie, and how parity is made of them: that is asked of layout and planner.
            devices: _,
            level: _,
            stripe_unit: _,
            parity_shares: _,
            small_write: _,
            degraded_writes: _,
            // Only rows with parity have entries.
            stripe_cache: _,
            // Of devices only their queues matter, which `Depth` knows, and of the journal and spares with them; and whether they
            // wear out.
            members: _,
            queue_depth: _,
            link_bandwidth,
            knowledge,
            // What befalls members, and whether they wear out, `is_faultless` knows.
            faults: _,
            // Years are reckoned after a run.
            lifetime: _,
            // The policy says itself what it hears and does. Messages take no time from members that run ahead: see `horizon`.
            coordination: _,
        } = config;
        let Knowledge {
            // The rule for reads is the policy's, if it has one.
            reads: _,
            // What can be seen of members is looked at when operations are planned.
            interface: _,
            poll: _,
            nvram,
            // Stripes kept free are nothing without a planner that uses them.
            free_stripes: _,
        } = *knowledge;
        let Interests { devices, arrivals, completions, answers } = coordinator.interests();
        let hears_members = devices || planner_watches;
        Lookahead {
            hears_requests: arrivals || completions || answers,
            hears_ends: completions || answers,
            hears_members,
            may_reserve: hears_members && !coordinator.only_directs(),
            shares: matches!(reads, Reads::Hedge(_)) || Depth::is_limited(config) || link_bandwidth.is_some(),
            fails: !config.is_faultless(),
            keeps: nvram > 0,
        }
    }

    /// Whether members go in step, whatever is under way.
    #[inline]
    pub fn in_step(&self) -> bool {
        self.hears_members || self.hears_ends || self.shares
    }

    /// Why members of a stripe without redundancy may not run ahead, of what the options say.
    fn obstacle(&self) -> Option<&'static str> {
        [
            (self.hears_requests, "the coordination policy listens to requests"),
            (self.may_reserve, "the coordination policy may do more than direct members"),
            (self.shares, "members share a link, places in queues or reads"),
            (self.fails, "members may fail"),
            (self.keeps, "the controller keeps data for members"),
        ]
        .into_iter()
        .find_map(|(is_so, why)| is_so.then_some(why))
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Whether members may run ahead of one another, from now on.
    pub(super) fn may_run_ahead(&self) -> Result<(), &'static str> {
        match self.layout {
            Layout::Striped(_) => {}
            Layout::Mirrored(_) if !self.listens => {}
            Layout::Mirrored(_) => return Err("members hold copies for one another, and are heard of"),
            Layout::Parity(_) => return Err("members hold parity for one another"),
        }
        if self.payload.is_active() {
            return Err("the coordination policy listens to requests");
        }
        if let Some(why) = self.lookahead.obstacle() {
            return Err(why);
        }
        if self.members.health.refuses() {
            return Err("members may fail");
        }
        // They would pass none of them.
        if !self.layers.are_none() {
            return Err("members share a link, places in queues or reads");
        }
        if self.tidying.is_some() || !self.is_flat {
            return Err("the controller keeps data for members");
        }
        let is_new = self.requests.live() == 0 && (self.listens || self.agenda.is_empty());
        if is_new { Ok(()) } else { Err("the run has begun") }
    }

    /// Whether operations pass no layer, gates let every transaction go that has its rows, and nobody hears of either. Asked whenever
    /// that may have changed: see [`Array::is_bare`].
    pub(super) fn has_no_options(&self) -> bool {
        let has_parts = self.failures.is_some()
            || self.background.is_some()
            || self.log.is_some()
            || self.bitmap.is_some()
            || self.cache.is_some()
            || self.nvram.is_some()
            || self.tidying.is_some();
        let health = &self.members.health;
        let all_take = health.stand_ins().is_none() && !health.refuses() && self.layers.are_none();
        let is_heard = self.trails.is_some()
            || self.payload.is_active()
            || self.interests.answers
            || self.deadlines.is_set();
        #[cfg(test)]
        let has_parts = has_parts || self.bucket.is_some();
        !has_parts && all_take && !is_heard
    }

    /// Whether something may follow from any operation: another step, a page that is written anew, requests that wait until
    /// the log is replayed or the bitmap is written, or the end of a device that has retired.
    #[inline]
    pub(super) fn is_at_work(&self) -> bool {
        let marks = || self.bitmap.as_deref().is_some_and(|bitmap| !bitmap.flying.is_empty());
        self.background.as_deref().is_some_and(Background::is_working)
            || (self.failures.is_some() && self.reads_may_fail())
            || self.log.as_deref().is_some_and(Log::is_replaying)
            || marks()
            || self.members.outstanding[self.members.fixed..].iter().any(|&bytes| bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Scrub, When, WriteHole};
    use crate::coordination::{self, Parameters};
    use crate::layout::Level;
    use harmonia_types::{SimDuration, SimTime};

    fn plain() -> ArrayConfig {
        ArrayConfig { devices: 4, ..ArrayConfig::of(Level::Raid0, 4096, Vec::new()) }
    }

    fn of(config: &ArrayConfig, policy: &str) -> Lookahead {
        let entry = coordination::POLICIES.find(policy).expect("it is registered");
        let parameters = Parameters {
            devices: 4,
            redundancy: 1,
            members: &[],
            message_latency: SimDuration::ZERO,
            own: &serde_json::Map::new(),
        };
        let coordinator = (entry.build)(&parameters).expect("its defaults work");
        let reads = coordinator.reads().unwrap_or(config.knowledge.reads);
        Lookahead::of(config, reads, &*coordinator, false)
    }

    /// What sets an option, and a word of the reason that it is.
    type Row = (fn(&mut ArrayConfig), &'static str);

    /// One row for each option that keeps members together: it alone is enough, and which words say so.
    #[test]
    fn each_option_alone_keeps_members_together() {
        assert_eq!(of(&plain(), "local"), Lookahead::default());
        assert_eq!(of(&plain(), "local").obstacle(), None);
        let rows: [Row; 8] = [
            (|config| config.queue_depth = Some(3), "share"),
            (|config| config.link_bandwidth = Some(1 << 30), "share"),
            (|config| config.knowledge.reads = Reads::Hedge(SimDuration(1)), "share"),
            (|config| config.faults.page_errors = 0.1, "fail"),
            (|config| config.faults.power_losses = vec![When::Request(1)], "fail"),
            (|config| config.faults.scrub = Some(Scrub { at: SimTime::ZERO, repairs: false }), "fail"),
            (|config| config.faults.write_hole = WriteHole::Journal(1 << 20), "fail"),
            (|config| config.knowledge.nvram = 4096, "keeps data"),
        ];
        for (row, (set, word)) in rows.into_iter().enumerate() {
            let mut config = plain();
            set(&mut config);
            let found = of(&config, "local");
            assert!(found.obstacle().is_some_and(|why| why.contains(word)), "row {row}: {found:?}");
            assert_eq!(found.in_step(), word == "share", "row {row}: {found:?}");
        }
    }

    /// Who listens to requests, who may reserve members, and who only directs them.
    #[test]
    fn a_policy_that_listens_keeps_members_together() {
        let told = |policy| (of(&plain(), policy).in_step(), of(&plain(), policy).obstacle());
        assert_eq!(told("local"), (false, None));
        assert_eq!(told("gcsync"), (true, None), "it directs members, who run ahead up to a horizon");
        let reserves = Some("the coordination policy may do more than direct members");
        assert_eq!(told("serial"), (true, reserves));
        let listens = Some("the coordination policy listens to requests");
        assert_eq!(told("proactive-idle"), (true, listens));
    }
}
