//! Members that wear out one after the other and are replaced: a run for the time until each replacement.
//!
//! ```text
//! shares of parity ──► the array is aged anew ──► a run: erases of each member ──► the first is worn out: ages of all
//!        ▲                                                                                  │
//!        └── shares with which ages come closest to their targets ◄── members by age ◄── a new one in its place
//! ```
//!
//! Members stand by age, the oldest first, and all begin new. The first run has the shares of the scenario. At each replacement
//! shares are chosen anew for the ages that members have by then, in whole per cents. So wear that was other than foreseen is
//! corrected at the next replacement.
//!
//! **How a run stands for years.** A member lives some thousand times as long as a run. Its erases in the measured window, which
//! begins once parity has come to rest, are its rate until the next replacement: the mean over all of its blocks, along a straight
//! line. Only proportions between members count, so endurance is left out.
//!
//! **Targets** are the ages that would repeat at each replacement if the shares of the scenario stayed with places in the order of
//! age ([`stationary_ages`]). [`shares_towards`] chooses shares by the closed form of Diff-RAID for single pages. Collection and
//! migration, which the closed form does not know, show in the erases only.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section V: shares are whole per cents (Data structure 5), set in the beginning
//! (mode 1) and again when a member is replaced (mode 4). Section VI-C: ten replacements, ages by the formula of Diff-RAID
//! (Balakrishnan et al., EuroSys 2010), and levels that "are shifted" at a replacement. How shares are chosen the paper leaves to
//! two others and prints no equation; the controller is ours.
//!
//! Leaves out: what moving units to their places under new shares and rebuilding the new member write, since the array is aged
//! anew. That is at most about one write of each page, of some thousand in a life. Writes of parity that moves while members
//! collect, and back, are simulated and counted. Ages of blocks within a member, and members that fail of anything else.

use harmonia_array::lifetimes::{Wear, replacements, shares_towards, stationary_ages};
use harmonia_run::Outcome;
use harmonia_scenario::Scenario;

use crate::experiment::Job;
use crate::summary::{Replaced, Summary, six_decimals};

/// All of the parity. Unit: percent.
const ALL: u16 = 100;

/// The runs of a job, one after the other: one alone, or one until each replacement.
pub(crate) struct Course {
    /// The run that is due.
    next: Scenario,
    /// Replacements to go through; 0 for a single run.
    replacements: usize,
    /// Ages as the run begins, the oldest first. Unit: lives.
    ages: Vec<f64>,
    /// Ages at a replacement that shares are chosen for, the oldest first. Unit: lives.
    targets: Vec<f64>,
    /// What the first run showed, and the replacements so far.
    shown: Option<Summary>,
    replaced: Vec<Replaced>,
    outcome: Option<Outcome<Summary>>,
}

impl Course {
    pub fn of(job: &Job) -> Self {
        let mut next = job.scenario.clone();
        let members = next.array.parity_shares.len();
        let refused = "members are not replaced one after the other without array.parity_shares";
        let outcome = (job.replacements > 0 && members < 2).then(|| Outcome::Refused(refused.to_owned()));
        let mut targets = Vec::new();
        if job.replacements > 0 && members >= 2 {
            let shares = &next.array.parity_shares;
            let all = shares.iter().map(|&share| f64::from(share)).sum::<f64>();
            let shares: Vec<f64> = shares.iter().map(|&share| f64::from(share) / all).collect();
            targets = stationary_ages(&Wear::of_single_pages(members).rates(&shares));
            next.array.parity_shares = percentages(&shares);
        }
        let (ages, replacements) = (vec![0.0; members], job.replacements);
        Course { next, replacements, ages, targets, shown: None, replaced: Vec::new(), outcome }
    }

    /// The run that is due; `None` if all are done.
    pub fn due(&self) -> Option<&Scenario> {
        self.outcome.is_none().then_some(&self.next)
    }

    /// Takes in what the run showed that was due.
    pub fn take(&mut self, outcome: Outcome<Summary>) {
        match outcome {
            Outcome::Measured(run) if self.replacements > 0 => self.replace(run),
            outcome => self.outcome = Some(outcome),
        }
    }

    /// What all of them showed, once none is due.
    pub fn outcome(self) -> Option<Outcome<Summary>> {
        self.outcome
    }

    /// The first member to wear out does, and a new one takes its place.
    fn replace(&mut self, run: Summary) {
        let rates: Vec<f64> = run.members.iter().map(|member| member.erases as f64).collect();
        if rates.len() != self.ages.len() || rates.iter().sum::<f64>() == 0.0 {
            let why = "no member is worn out, because none erased a block in the measured window";
            self.outcome = Some(Outcome::Refused(why.to_owned()));
            return;
        }
        let Some(replacement) = replacements(&self.ages, 1, |_| rates.clone()).pop() else { return };
        let shares = self.next.array.parity_shares.clone();
        let ages = replacement.ages.iter().copied().map(six_decimals).collect();
        self.replaced.push(Replaced { shares, members: run.members.clone(), ages });
        self.ages = replacement.ages;
        if let Some(oldest) = self.ages.first_mut() {
            *oldest = 0.0;
        }
        self.ages.sort_by(|one, other| other.total_cmp(one));
        let wear = Wear::of_single_pages(self.ages.len());
        self.next.array.parity_shares = percentages(&shares_towards(&self.ages, &self.targets, wear));
        let shown = self.shown.take().unwrap_or(run);
        if self.replaced.len() < self.replacements {
            self.shown = Some(shown);
        } else {
            let replaced = std::mem::take(&mut self.replaced);
            self.outcome = Some(Outcome::Measured(Summary { replaced, ..shown }));
        }
    }
}

/// The whole per cents nearest to these shares of two members or more, on two members at least: one alone is RAID-4.
fn percentages(shares: &[f64]) -> Vec<u16> {
    let exact: Vec<f64> = shares.iter().map(|share| share * f64::from(ALL)).collect();
    let mut whole: Vec<u16> = exact.iter().map(|share| share.floor() as u16).collect();
    let lacks = ALL.saturating_sub(whole.iter().sum());
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&one, &other| exact[other].fract().total_cmp(&exact[one].fract()));
    order.into_iter().take(usize::from(lacks)).for_each(|member| whole[member] += 1);
    if let Some(alone) = whole.iter().position(|&share| share == ALL) {
        whole[alone] -= 1;
        whole[usize::from(alone == 0)] += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::MemberWear;

    const SHARES: [u16; 5] = [60, 10, 10, 10, 10];

    fn job(shares: &str, replacements: usize) -> Job {
        let sets = [format!("array.parity_shares={shares}"), "array.level=raid5".to_owned()];
        let sets = if shares.is_empty() { &sets[1..] } else { &sets[..] };
        let base = "workload.preset = \"hpc-w\"\nssd.preset = \"tiny-test\"\narray.devices = 5\n";
        let scenario = Scenario::parse(base, "base.toml", sets, None).expect("a scenario");
        Job { experiment: "x".into(), variant: "y".into(), seed: 1, scenario, replacements }
    }

    /// A run in which members erase as many blocks as this says of their shares, in per cent.
    fn ran(scenario: &Scenario, erases: impl Fn(usize, f64) -> f64) -> Outcome<Summary> {
        let shares = scenario.array.parity_shares.iter().enumerate();
        let member = |(member, &share): (usize, &u16)| {
            let erases = erases(member, f64::from(share)).round() as u64;
            MemberWear { erases, ..MemberWear::default() }
        };
        Outcome::Measured(Summary { members: shares.map(member).collect(), ..Summary::default() })
    }

    /// All runs of a job whose members erase so many blocks.
    fn all(job: &Job, erases: impl Fn(usize, f64) -> f64) -> Vec<Replaced> {
        let mut course = Course::of(job);
        let mut runs = 0;
        while let Some(scenario) = course.due() {
            let outcome = ran(scenario, &erases);
            course.take(outcome);
            runs += 1;
        }
        assert_eq!(runs, job.replacements, "a run until each replacement");
        match course.outcome() {
            Some(Outcome::Measured(summary)) => summary.replaced,
            other => panic!("{other:?}"),
        }
    }

    fn near(one: &[f64], other: &[f64], within: f64) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| (one - other).abs() <= within)
    }

    /// Whatever shares are, places wear at the same rates: the recursion at constant rates.
    #[test]
    fn at_constant_rates_ages_are_those_of_the_recursion() {
        let rates = [2_800_000.0, 1_300_000.0, 1_300_000.0, 900_000.0, 1_000_000.0];
        let replaced = all(&job("[60, 10, 10, 10, 10]", 10), |member, _| rates[member]);
        let expected = replacements(&[0.0; 5], 10, |_| rates.to_vec());
        for (one, other) in replaced.iter().zip(&expected) {
            assert!(near(&one.ages, &other.ages, 1e-6), "{one:?} {other:?}");
        }
        assert_eq!(replaced[0].shares, SHARES);
        assert!(replaced[1].shares != SHARES, "shares are chosen anew: {replaced:?}");
    }

    /// Members that wear as the controller believes are as old as their targets in the end, but for shares in whole per cents:
    /// half of one moves a rate by 0.015, all of which sum to 8 a life, so that an age misses its target by half a point at most.
    #[test]
    fn members_that_wear_by_the_closed_form_come_to_their_targets() {
        let wear = Wear::of_single_pages(5);
        let replaced = all(&job("[60, 10, 10, 10, 10]", 10), |_, share| 1e6 * wear.rate(share / 100.0));
        let targets = [1.0, 0.65, 0.4875, 0.325, 0.1625];
        for one in &replaced[5..] {
            assert!(near(&one.ages, &targets, 0.005), "{one:?}");
            assert_eq!(one.shares.iter().sum::<u16>(), 100);
        }
        assert!(!near(&replaced[0].ages, &targets, 0.1), "at first all are of an age: {:?}", replaced[0]);
    }

    /// All have the same share and begin new, so that all are worn out at once.
    #[test]
    fn members_with_even_shares_wear_out_together() {
        let wear = Wear::of_single_pages(5);
        let replaced = all(&job("[1, 1, 1, 1, 1]", 3), |_, share| 1e6 * wear.rate(share / 100.0));
        assert_eq!((&replaced[0].shares[..], &replaced[0].ages[..]), (&[20; 5][..], &[1.0; 5][..]));
        // Four are replaced at once then, the first of them at the second replacement.
        assert_eq!(replaced[1].ages[..4], [1.0; 4]);
    }

    #[test]
    fn a_single_run_is_taken_as_it_is() {
        let mut course = Course::of(&job("[60, 10, 10, 10, 10]", 0));
        let due = course.due().cloned().expect("a run");
        assert_eq!(due, job("[60, 10, 10, 10, 10]", 0).scenario);
        let outcome = ran(&due, |_, _| 5.0);
        course.take(outcome.clone());
        assert_eq!((course.due().is_none(), course.outcome()), (true, Some(outcome)));
    }

    /// What cannot go on is a result with its reason, not a division by nothing.
    #[test]
    fn runs_that_no_replacement_follows_from_are_refused() {
        let says = |course: Course, words: &str| match course.outcome() {
            Some(Outcome::Refused(why)) => assert!(why.contains(words), "{why}"),
            other => panic!("{other:?}"),
        };
        let even = Course::of(&job("", 10));
        assert!(even.due().is_none());
        says(even, "array.parity_shares");
        let mut idle = Course::of(&job("[60, 10, 10, 10, 10]", 10));
        let outcome = ran(idle.due().expect("a run"), |_, _| 0.0);
        idle.take(outcome);
        says(idle, "none erased a block");
        let mut refused = Course::of(&job("[60, 10, 10, 10, 10]", 10));
        refused.take(Outcome::Refused("too fast".into()));
        says(refused, "too fast");
    }

    #[test]
    fn shares_are_rounded_to_whole_per_cents_of_all() {
        for (shares, whole) in [
            ([0.6, 0.1, 0.1, 0.1, 0.1], SHARES),
            // The largest remainders get what is left, of equal ones the first.
            ([0.337, 0.333, 0.33, 0.0, 0.0], [34, 33, 33, 0, 0]),
            ([0.125, 0.125, 0.25, 0.25, 0.25], [13, 12, 25, 25, 25]),
            ([1.0, 0.0, 0.0, 0.0, 0.0], [99, 1, 0, 0, 0]),
            ([0.001, 0.0, 0.999, 0.0, 0.0], [1, 0, 99, 0, 0]),
        ] {
            assert_eq!(percentages(&shares), whole, "{shares:?}");
        }
    }
}
