//! When members of an array are replaced over the years, and how likely that is to lose data: histories that are drawn, not
//! simulated.
//!
//! ```text
//! age  1 ┤      ╭r     ╭r          a place has a rate of wear, measured by a run, that goes with its share of parity
//!        │   ╭──╯   ╭──╯   ╭──     a member has a life, drawn: normal about 1, with a spread between drives
//!      0 ┴───┴──────┴──────┴──►    r: worn out, replaced, and rebuilt for so long: further members may end meanwhile
//! ```
//!
//! Wear and chance meet in one formula. A history gives the moments at which members wear out, and how long all others had left
//! then. Failures by chance and pages that cannot be read have closed forms for the time of a rebuild, so that they need no
//! draws, however rare they are. With `n` members whose data hang together, `p` parities, a rebuild of `R` and `w` others that
//! wear out within it, data is lost with the probability
//!
//! ```text
//! L(w) = P(X >= p - w) + P(X = p - w - 1) U        X: failures of n - 1 - w others within R, each with 1 - exp(-rate R)
//!                                                  U = 1 - exp(-bits that are read x unreadable), where nothing else is left
//! a year:  n rate L(0)  +  sum over members that wear out of L(w) + (n - 1) rate R (L(w + 1) - L(w))
//! ```
//!
//! The last part is a failure by chance in the time of a rebuild before a member wears out.
//!
//! Sources: Patterson, Gibson and Katz (SIGMOD 1988) for failures at a rate; Elerath and Pecht, "A Highly Accurate Method for
//! Assessing Reliability of RAID" (IEEE Transactions on Computers 2009), for lives that are drawn where no rate says them;
//! Balakrishnan et al., "Differential RAID" (EuroSys 2010), for shares that follow ages.
//!
//! What wears out within a rebuild is counted in at most a thousand histories. So a loss that takes several such members
//! (`by_wear` with two parities) is not resolved where it is rarer than about 1e-4 a year.
//!
//! Leaves out: wear of rebuilding and of moving parity, drives that fail early, failures that hang together, members that
//! failed by chance and are younger since, and the time from a failure to a new drive.

use harmonia_engine::Rng;
use serde::Serialize;

use crate::lifetimes::{Wear, shares_towards, stationary_ages};

/// Lives of every place that a history goes through.
const GENERATIONS: usize = 4;
/// A drive lasts at least this share of the mean life, whatever is drawn.
const SHORTEST: f64 = 0.01;
/// How often the life of a member that has an age is drawn anew, until it is longer than that.
const REDRAWS: u64 = 100;
/// Where shares are chosen by ages, a member that lasts longer than the mean is taken to have something left.
const OLDEST: f64 = 0.99;

/// The `[array.lifetime]` table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct YearsConfig {
    /// When members are replaced.
    pub replace: Replace,
    /// Where members are replaced before they are worn out: at this share of the mean life.
    pub replace_at: f64,
    /// Who has which share of parity.
    pub shares: Shares,
    /// Failures of a drive in a year that have nothing to do with wear.
    pub failure_rate: f64,
    /// Probability that a bit cannot be read.
    pub unreadable: f64,
}

impl YearsConfig {
    /// Whether nobody has said anything.
    pub fn is_usual(&self) -> bool {
        *self == YearsConfig::default()
    }

    /// The age at which a drive is replaced that lasts so long, if it is not its turn before.
    fn serves_until(&self, life: f64) -> f64 {
        match self.replace {
            Replace::Death | Replace::InTurn => life,
            Replace::Age | Replace::AllAtOnce => life.min(self.replace_at),
        }
    }
}

/// 2 million hours between failures, as data sheets of enterprise drives say, and their class's errors of reads (JESD218).
impl Default for YearsConfig {
    fn default() -> Self {
        YearsConfig {
            replace: Replace::Death,
            replace_at: 0.9,
            shares: Shares::Fixed,
            failure_rate: 0.0044,
            unreadable: 1e-16,
        }
    }
}

/// When members are replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replace {
    /// Each when it is worn out.
    #[default]
    Death,
    /// Each at an age.
    Age,
    /// The one that has served longest, at intervals so that each serves for that age.
    InTurn,
    /// All when the first has that age.
    AllAtOnce,
}

/// Who has which share of parity, where shares differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shares {
    /// Each place keeps its share.
    #[default]
    Fixed,
    /// The oldest member has the largest share, the youngest the smallest: Diff-RAID.
    ByAge,
    /// Shares are chosen so that ages come closest to those which repeat at each replacement under `ByAge`.
    TargetAges,
}

/// The members of an array, and how fast they wear.
#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// By member: lives of a new drive of mean endurance that its place takes a year.
    pub rates: Vec<f64>,
    /// By member: how much of a mean life it has behind it.
    pub ages: Vec<f64>,
    /// Of lives, between drives, as a share of the mean.
    pub spread: f64,
    /// Members whose data hang together: `ages.len()`, or copies of the same.
    pub together: usize,
    /// How rates follow from shares, where these change freely.
    pub wear: Option<Wear>,
}

/// Members that were replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// When. Unit: years.
    pub at: f64,
    /// The first of them.
    pub place: usize,
    /// The first of them was worn out.
    pub is_worn: bool,
    /// What they had left of their own lives on average, as a share of these.
    pub unused: f64,
    /// How old the oldest of all others was, as a share of its own life.
    pub next_oldest: f64,
    /// How long the others have left from then on whose data hang together with that of the first. Unit: years.
    pub left: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Drive {
    age: f64,
    life: f64,
    since: f64,
}

impl Drive {
    /// Share of its own life that is behind it.
    fn used(&self) -> f64 {
        self.age / self.life
    }

    fn unused(&self) -> f64 {
        (1.0 - self.used()).max(0.0)
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

impl Places {
    /// The first `count` replacements under these rules. `life` says how long each new drive lasts, as a share of the mean life, and
    /// first of all how long each of the present members does.
    pub fn history(&self, rules: &YearsConfig, count: usize, mut life: impl FnMut() -> f64) -> Vec<Replaced> {
        let mut drives: Vec<Drive> =
            self.ages.iter().map(|&age| Drive { age, life: life(), since: 0.0 }).collect();
        let period = rules.replace_at / mean(self.rates.iter().copied()) / self.rates.len() as f64;
        let (mut at, mut turns, mut list) = (0.0, 0, Vec::with_capacity(count));
        let mut rates = self.rates_of(rules.shares, &drives);
        while list.len() < count {
            let left = |place: usize| {
                let Drive { age, life, .. } = drives[place];
                ((rules.serves_until(life) - age) / rates[place]).max(0.0)
            };
            let first = (0..drives.len()).min_by(|&one, &other| left(one).total_cmp(&left(other)));
            let Some(mut first) = first else { break };
            let mut wait = left(first);
            if rules.replace == Replace::InTurn {
                let turn = (period * (turns + 1) as f64 - at).max(0.0);
                if turn < wait {
                    let served = |place: usize| (drives[place].since, -drives[place].age);
                    let order = |one: &usize, other: &usize| {
                        let ((since, age), (since_of, age_of)) = (served(*one), served(*other));
                        since.total_cmp(&since_of).then(age.total_cmp(&age_of))
                    };
                    first = (0..drives.len()).min_by(order).unwrap_or(first);
                    (wait, turns) = (turn, turns + 1);
                }
            }
            at += wait;
            drives.iter_mut().zip(&rates).for_each(|(drive, rate)| drive.age += rate * wait);
            let before = drives.clone();
            let is_all = rules.replace == Replace::AllAtOnce;
            for place in (0..drives.len()).filter(|&place| is_all || place == first) {
                drives[place] = Drive { age: 0.0, life: life(), since: at };
            }
            let next = self.rates_of(rules.shares, &drives);
            // While one is rebuilt the others wear as they do from now on, or, if they are replaced too, as they did.
            let end = self.replaced(&before, if is_all { &rates } else { &next }, first, at);
            let unused = if is_all { mean(before.iter().map(Drive::unused)) } else { end.unused };
            list.push(Replaced { unused, ..end });
            rates = next;
        }
        list
    }

    /// The first of these members is replaced, and others wear at these rates.
    fn replaced(&self, drives: &[Drive], rates: &[f64], first: usize, at: f64) -> Replaced {
        let others = || (0..drives.len()).filter(|&place| place != first);
        let is_near = |place: &usize| place / self.together == first / self.together;
        let gone = drives[first];
        Replaced {
            at,
            place: first,
            // Rounding aside.
            is_worn: gone.age >= gone.life * (1.0 - 1e-9),
            unused: gone.unused(),
            next_oldest: others().map(|place| drives[place].used()).fold(0.0, f64::max),
            left: others()
                .filter(is_near)
                .map(|place| ((drives[place].life - drives[place].age) / rates[place]).max(0.0))
                .collect(),
        }
    }

    /// Rates by place for members of these ages.
    fn rates_of(&self, shares: Shares, drives: &[Drive]) -> Vec<f64> {
        if shares == Shares::Fixed {
            return self.rates.clone();
        }
        let mut order: Vec<usize> = (0..drives.len()).collect();
        order.sort_unstable_by(|&one, &other| {
            drives[other].age.total_cmp(&drives[one].age).then(one.cmp(&other))
        });
        let mut by_slot = self.rates.clone();
        by_slot.sort_unstable_by(|one, other| other.total_cmp(one));
        if let (Shares::TargetAges, Some(wear)) = (shares, self.wear) {
            let ages: Vec<f64> = order.iter().map(|&place| drives[place].age.min(OLDEST)).collect();
            by_slot = wear.rates(&shares_towards(&ages, &stationary_ages(&by_slot), wear));
        }
        let mut rates = vec![0.0; drives.len()];
        order.iter().zip(by_slot).for_each(|(&place, rate)| rates[place] = rate);
        rates
    }

    /// Until each member is replaced whose lives are given, the first first; all further drives last as long as the mean. One that
    /// is hardly written, so that no history comes to its end, goes on at the pace of its place. Unit: years.
    pub fn first_replacements(&self, rules: &YearsConfig, lives: &[f64]) -> Vec<f64> {
        let mut drawn = lives.iter().copied();
        let ends = self.history(rules, self.replacements(rules), || drawn.next().unwrap_or(1.0));
        let of = |place: usize| {
            let is_its = |end: &&Replaced| end.place == place || rules.replace == Replace::AllAtOnce;
            let own = || (rules.serves_until(lives[place]) - self.ages[place]).max(0.0) / self.rates[place];
            ends.iter().find(is_its).map_or_else(own, |end| end.at)
        };
        let mut years: Vec<f64> = (0..self.ages.len()).map(of).collect();
        years.sort_unstable_by(f64::total_cmp);
        years
    }

    /// In a history: those of all members at once count as one.
    fn replacements(&self, rules: &YearsConfig) -> usize {
        GENERATIONS * if rules.replace == Replace::AllAtOnce { 1 } else { self.ages.len() }
    }

    /// Replacements of `GENERATIONS` lives of every place, in a number of histories that falls with the number of members.
    pub fn histories(&self, rules: &YearsConfig, seed: u64) -> Vec<Vec<Replaced>> {
        let members = self.ages.len() as u64;
        // To choose shares takes a hundred times as long.
        let (effort, most) =
            if rules.shares == Shares::TargetAges { (50_000, 100) } else { (5_000_000, 1_000) };
        let histories = (effort / (members * members).max(1)).clamp(4, most);
        let history = |history: u64| {
            let mut drive = 0;
            self.history(rules, self.replacements(rules), || {
                drive += 1;
                self.life(seed, history, drive)
            })
        };
        (0..histories).map(history).collect()
    }

    /// How long the drive of this number (from 1) lasts in this history. The first are the present members, which live.
    fn life(&self, seed: u64, history: u64, drive: u64) -> f64 {
        let draw = |place: &[u64]| Rng::at(seed, "years/life", place).normal(1.0, self.spread);
        let age = self.ages.get(drive as usize - 1).copied().unwrap_or(0.0);
        let mut draws = std::iter::once(draw(&[history, drive]))
            .chain((1..=REDRAWS).map(|again| draw(&[history, drive, again])));
        draws.find(|&life| life > age).unwrap_or(age).max(SHORTEST)
    }
}

/// What can go wrong while a member is rebuilt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rebuilding {
    /// How long. Unit: years.
    pub years: f64,
    /// Members that may be missing without loss.
    pub redundancy: usize,
    /// Units that are read for one of a member that is rebuilt, where no redundancy is left.
    pub reads: usize,
    /// What a member holds. Unit: bytes.
    pub member_bytes: f64,
}

/// How likely rebuilds are to be disturbed, and how often data is lost a year.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Risks {
    /// Of members that were worn out: the share in whose rebuild another one wore out.
    pub second_by_wear: f64,
    /// Probability that another one fails by chance in a rebuild.
    pub second_by_failure: f64,
    /// Probability that a rebuild that has no redundancy left meets a page which it cannot read.
    pub unreadable: f64,
    /// Losses a year in which all members that end are worn out.
    pub by_wear: f64,
    /// Those in which all fail by chance.
    pub by_failure: f64,
    /// Those in which members fail by chance and a page cannot be read.
    pub by_unreadable: f64,
    /// Those of a member that is worn out and others that fail, or a page that cannot be read.
    pub by_both: f64,
}

impl Risks {
    /// Losses a year.
    pub fn losses(&self) -> f64 {
        self.by_wear + self.by_failure + self.by_unreadable + self.by_both
    }

    /// Probability of losing data in a year, if losses come at that rate.
    pub fn loss(&self) -> f64 {
        -libm::expm1(-self.losses())
    }
}

impl Rebuilding {
    /// Risks of members that have these histories.
    pub fn risks(&self, places: &Places, rules: &YearsConfig, histories: &[Vec<Replaced>]) -> Risks {
        let (members, together) = (places.ages.len() as f64, places.together);
        let others = together.saturating_sub(1) as f64;
        let rate = rules.failure_rate;
        let loss = |worn: usize| self.loss(together, worn, rules);
        let (mut worn, mut disturbed, mut by_wear, mut by_both, mut years) = (0, 0, 0.0, 0.0, 0.0);
        for history in histories {
            years += history.last().map_or(0.0, |last| last.at);
            // By members whose data hang together.
            let mut lost_until = vec![f64::NEG_INFINITY; places.ages.len().div_ceil(together)];
            for replaced in history.iter().filter(|replaced| replaced.is_worn) {
                let lost_until = &mut lost_until[replaced.place / together];
                let within = replaced.left.iter().filter(|&&left| left <= self.years).count();
                worn += 1;
                disturbed += usize::from(within > 0);
                // Members that follow one another closely are one loss.
                if replaced.at < *lost_until {
                    continue;
                }
                if within >= self.redundancy {
                    by_wear += 1.0;
                    *lost_until = replaced.at + self.years;
                } else {
                    by_both += loss(within) + others * rate * self.years * (loss(within + 1) - loss(within));
                }
            }
        }
        let a_year = |count: f64| if years > 0.0 { count / years } else { 0.0 };
        let alone = self.failing(together, 0, self.redundancy, rate);
        Risks {
            second_by_wear: if worn > 0 { disturbed as f64 / worn as f64 } else { 0.0 },
            second_by_failure: -libm::expm1(-others * rate * self.years),
            unreadable: self.meets_unreadable(rules),
            by_wear: a_year(by_wear),
            by_failure: members * rate * alone,
            by_unreadable: members * rate * (loss(0) - alone),
            by_both: a_year(by_both),
        }
    }

    /// Probability that data is lost while a member is rebuilt and `worn` others wear out: `L` above.
    fn loss(&self, together: usize, worn: usize, rules: &YearsConfig) -> f64 {
        if worn >= self.redundancy {
            return 1.0;
        }
        let more = self.redundancy - worn;
        let lost = self.failing(together, worn, more, rules.failure_rate);
        let one_less = self.failing(together, worn, more - 1, rules.failure_rate);
        lost + (one_less - lost) * self.meets_unreadable(rules)
    }

    /// Probability that at least so many of the others that do not wear out fail by chance.
    fn failing(&self, together: usize, worn: usize, least: usize, rate: f64) -> f64 {
        let others = (together - 1).saturating_sub(worn);
        if least == 0 {
            return 1.0;
        }
        let fails = -libm::expm1(-rate * self.years);
        let mut ways = 1.0;
        let mut sum = 0.0;
        // From the least on, so that small probabilities keep their digits.
        for failed in 0..=others {
            if failed > 0 {
                ways *= (others - failed + 1) as f64 / failed as f64;
            }
            if failed >= least {
                let works = (others - failed) as f64;
                sum += ways * libm::pow(fails, failed as f64) * libm::pow(1.0 - fails, works);
            }
        }
        sum
    }

    fn meets_unreadable(&self, rules: &YearsConfig) -> f64 {
        -libm::expm1(-8.0 * self.reads as f64 * self.member_bytes * rules.unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: f64 = 1.0 / 8_760.0;

    /// Lives of three years at an even load.
    fn places(members: usize, spread: f64) -> Places {
        let (rates, ages) = (vec![1.0 / 3.0; members], vec![0.0; members]);
        Places { rates, ages, spread, together: members, wear: None }
    }

    fn rules(replace: Replace, shares: Shares) -> YearsConfig {
        YearsConfig { replace, shares, ..YearsConfig::default() }
    }

    fn rebuilding(hours: f64, redundancy: usize) -> Rebuilding {
        Rebuilding { years: hours * HOURS, redundancy, reads: 5 - redundancy, member_bytes: 0.0 }
    }

    fn near(one: f64, other: f64, within: f64) -> bool {
        (one - other).abs() <= within
    }

    /// A tenth of a loss a year: 1 - exp(-0.1).
    #[test]
    fn a_loss_is_less_likely_than_losses_are_frequent() {
        let [by_wear, by_failure, by_unreadable, by_both] = [0.04, 0.03, 0.02, 0.01];
        let risks = Risks { by_wear, by_failure, by_unreadable, by_both, ..Risks::default() };
        assert!(near(risks.losses(), 0.1, 1e-12) && near(risks.loss(), 0.095_162_581_964_040, 1e-12));
    }

    #[test]
    fn without_spread_and_with_even_shares_all_end_at_one_time() {
        let ends = places(5, 0.0).history(&YearsConfig::default(), 10, || 1.0);
        let at: Vec<f64> = ends.iter().map(|end| end.at).collect();
        assert!(at[..5].iter().all(|&at| near(at, 3.0, 1e-12)) && near(at[9], 6.0, 1e-12), "{at:?}");
        assert!(ends.iter().all(|end| end.is_worn && end.unused < 1e-12));
        let even = places(5, 0.0);
        let rules = YearsConfig { failure_rate: 0.0, unreadable: 0.0, ..YearsConfig::default() };
        let risks = rebuilding(6.0, 1).risks(&even, &rules, &even.histories(&rules, 1));
        // Of five that end together the last has nobody left, and one loss is all that becomes of them.
        assert!(near(risks.second_by_wear, 0.8, 1e-12), "{risks:?}");
        assert!(near(risks.by_wear, 1.0 / 3.0, 1e-12) && risks.by_failure == 0.0, "{risks:?}");
    }

    /// The first of `n` normal lives, and the last, are 1.163 standard deviations from the mean for five (Harter's tables).
    #[test]
    fn members_end_at_the_order_statistics_of_the_drawn_lives() {
        let five = places(5, 0.05);
        let histories = five.histories(&YearsConfig::default(), 7);
        let mean =
            |place: usize| histories.iter().map(|ends| ends[place].at).sum::<f64>() / histories.len() as f64;
        for (place, deviations) in [-1.16296, -0.49502, 0.0, 0.49502, 1.16296].into_iter().enumerate() {
            let expected = 3.0 * (1.0 + 0.05 * deviations);
            // Three standard errors of a mean of a thousand.
            assert!(near(mean(place), expected, 3.0 * 3.0 * 0.05 / 31.0), "{place}: {}", mean(place));
        }
    }

    #[test]
    fn fixed_shares_end_members_in_proportion_to_their_rates() {
        let shares = [0.6, 0.1, 0.1, 0.1, 0.1];
        let wear = Wear::of_single_pages(5);
        let array = Places { rates: wear.rates(&shares), ..places(5, 0.0) };
        let ends = array.history(&YearsConfig::default(), 20, || 1.0);
        let at: Vec<f64> = ends.iter().map(|end| end.at).collect();
        assert!(near(at[0], 1.0 / 2.8, 1e-12) && near(at[1], 2.0 / 2.8, 1e-12), "{at:?}");
        assert!(at[2..6].iter().all(|&at| near(at, 1.0 / 1.3, 1e-12)), "{at:?}");
    }

    #[test]
    fn members_of_today_end_as_they_were_drawn_and_the_hardly_written_one_at_its_own_pace() {
        let array = Places { rates: vec![0.5, 0.5, 1e-6], ..places(3, 0.0) };
        let years = array.first_replacements(&YearsConfig::default(), &[1.1, 0.9, 1.0]);
        assert!(
            near(years[0], 1.8, 1e-9) && near(years[1], 2.2, 1e-9) && near(years[2], 1e6, 1.0),
            "{years:?}"
        );
    }

    /// Ages at a replacement repeat: those of the closed form, and no two members end together.
    #[test]
    fn the_oldest_first_comes_to_its_steady_state() {
        let wear = Wear::of_single_pages(5);
        let array = Places { rates: wear.rates(&[0.6, 0.1, 0.1, 0.1, 0.1]), ..places(5, 0.0) };
        let ages = stationary_ages(&array.rates);
        let ends = array.history(&rules(Replace::Death, Shares::ByAge), 200, || 1.0);
        let last = &ends[199];
        assert!(near(last.next_oldest, ages[1], 1e-3), "{} {ages:?}", last.next_oldest);
        let cycle = last.at - ends[198].at;
        assert!(near(cycle * array.rates.iter().sum::<f64>(), 1.0, 1e-3), "{cycle}");
        let least = last.left.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(near(least, (1.0 - ages[1]) / array.rates[0], 1e-2), "{least}");
        // Steered, the members are there at once.
        let steered = Places { wear: Some(wear), ..array };
        let ends = steered.history(&rules(Replace::Death, Shares::TargetAges), 12, || 1.0);
        assert!(near(ends[11].next_oldest, ages[1], 1e-2), "{} {ages:?}", ends[11].next_oldest);
        // The oldest has most parity even if it lasts longer than the mean: here all others come to their targets with it.
        let time = (1.0 - OLDEST) / steered.rates[0];
        let mut old: Vec<f64> =
            ages.iter().zip(&steered.rates).map(|(age, rate)| age - rate * time).collect();
        old[0] = 1.05;
        let drives: Vec<Drive> = old.iter().map(|&age| Drive { age, life: 1.1, since: 0.0 }).collect();
        let rates = steered.rates_of(Shares::TargetAges, &drives);
        assert!(near(rates[0], steered.rates[0], 1e-3), "{rates:?}");
    }

    /// Of members that live, none ends at once, however old they are.
    #[test]
    fn present_members_outlive_their_ages() {
        let array = Places { ages: vec![0.95; 5], ..places(5, 0.05) };
        let histories = array.histories(&YearsConfig::default(), 1);
        assert!(histories.iter().all(|ends| ends[0].at > 0.0), "{:?}", histories[0]);
        let rules = YearsConfig { failure_rate: 0.0, unreadable: 0.0, ..YearsConfig::default() };
        let second = rebuilding(6.0, 1).risks(&array, &rules, &histories).second_by_wear;
        assert!(second < 0.02, "{second}");
        // One that has outlived all that could be drawn ends now.
        let beyond = Places { ages: vec![2.0; 2], ..places(2, 0.01) };
        assert_eq!(beyond.histories(&YearsConfig::default(), 1)[0][1].at, 0.0);
    }

    /// A member that is as old as the life that was drawn for it has outlived that.
    #[test]
    fn a_life_that_is_over_is_drawn_anew() {
        let young = places(3, 0.05);
        let lives: Vec<f64> = (1..=3).map(|drive| young.life(1, 0, drive)).collect();
        let old = Places { ages: lives.clone(), ..young };
        assert!((1..=3).all(|drive| old.life(1, 0, drive) > lives[drive as usize - 1]));
        assert_eq!(
            old.life(1, 0, 4),
            Places { ages: vec![0.0; 3], ..old.clone() }.life(1, 0, 4),
            "a new drive"
        );
    }

    #[test]
    fn who_is_replaced_early_leaves_the_rest_of_a_life() {
        let array = places(4, 0.0);
        let early = array.history(&rules(Replace::Age, Shares::Fixed), 4, || 1.0);
        assert!(early.iter().all(|end| near(end.at, 2.7, 1e-12) && near(end.unused, 0.1, 1e-12)));
        assert!(early.iter().all(|end| !end.is_worn));
        let together = array.history(&rules(Replace::AllAtOnce, Shares::Fixed), 2, || 1.0);
        assert!(near(together[0].at, 2.7, 1e-12) && near(together[1].at, 5.4, 1e-12), "{together:?}");
        // Of four, one has 10% of its life left, and the others, which last twice as long, 55%.
        let mut lives = [2.0, 2.0, 1.0, 2.0].into_iter();
        let rule = rules(Replace::AllAtOnce, Shares::Fixed);
        let mixed = array.history(&rule, 1, || lives.next().unwrap_or(1.0));
        assert!(near(mixed[0].unused, (0.1 + 3.0 * 0.55) / 4.0, 1e-12), "{mixed:?}");
        // One that is hardly written serves until that age, too.
        let rare = Places { rates: vec![0.5, 0.5, 1e-6], ..places(3, 0.0) };
        let years = rare.first_replacements(&rules(Replace::Age, Shares::Fixed), &[1.0; 3]);
        assert!(near(years[2], 0.9e6, 1.0), "{years:?}");
        // A member every 0.675 years; in the end each serves for 2.7.
        let turns = array.history(&rules(Replace::InTurn, Shares::Fixed), 12, || 1.0);
        let at: Vec<f64> = turns.iter().map(|end| end.at).collect();
        assert!(at.iter().enumerate().all(|(k, &at)| near(at, 0.675 * (k + 1) as f64, 1e-9)), "{at:?}");
        assert!(near(turns[11].unused, 0.1, 1e-9) && near(turns[11].next_oldest, 0.675, 1e-9), "{turns:?}");
        // A weak drive is replaced when it is worn out, under every rule.
        let weak = array.history(&rules(Replace::Age, Shares::Fixed), 1, || 0.5);
        assert!(weak[0].is_worn && near(weak[0].at, 1.5, 1e-12));
    }

    /// Nobody wears out: failures come at a rate, and a loss is one within the rebuild of another.
    #[test]
    fn failures_by_chance_are_the_exponential_closed_form() {
        let array = places(5, 0.0);
        let rules = YearsConfig { failure_rate: 0.02, unreadable: 0.0, ..YearsConfig::default() };
        let hours = 24.0;
        let (n, rate, years) = (5.0, 0.02, hours * HOURS);
        let one = rebuilding(hours, 1).risks(&array, &rules, &[]);
        let exact = n * rate * (1.0 - libm::exp(-(n - 1.0) * rate * years));
        assert!(near(one.losses() / exact, 1.0, 1e-9) && one.by_failure == one.losses(), "{one:?}");
        // Mean time to data loss by Patterson, Gibson and Katz: 1 / (n (n - 1) rate^2 R).
        assert!(near(one.losses() / (n * (n - 1.0) * rate * rate * years), 1.0, 1e-3));
        let two = rebuilding(hours, 2).risks(&array, &rules, &[]);
        let three = n * (n - 1.0) * (n - 2.0) / 2.0 * rate * rate * rate * years * years;
        assert!(near(two.losses() / three, 1.0, 1e-3), "{two:?}");
    }

    #[test]
    fn a_page_that_cannot_be_read_loses_data_where_no_redundancy_is_left() {
        let array = places(5, 0.0);
        let rules = YearsConfig { failure_rate: 0.01, unreadable: 1e-16, ..YearsConfig::default() };
        let of = |redundancy| Rebuilding { member_bytes: 4e12, ..rebuilding(6.0, redundancy) };
        let one = of(1).risks(&array, &rules, &[]);
        // Four drives of 4 TB.
        assert!(near(one.unreadable, 1.0 - libm::exp(-4.0 * 4e12 * 8.0 * 1e-16), 1e-12), "{one:?}");
        assert!(near(one.by_unreadable / (5.0 * 0.01 * one.unreadable), 1.0, 1e-4), "{one:?}");
        let two = of(2).risks(&array, &rules, &[]);
        let third = 5.0 * 0.01 * (4.0 * 0.01 * 6.0 * HOURS) * two.unreadable;
        assert!(near(two.by_unreadable / third, 1.0, 1e-3), "{two:?} {third}");
    }

    /// Lives apart by days and a rebuild of hours: the smaller the spread, the more end together.
    #[test]
    fn the_chance_of_a_second_falls_with_the_spread_and_grows_with_the_rebuild() {
        let rules = YearsConfig { failure_rate: 0.0, unreadable: 0.0, ..YearsConfig::default() };
        let second = |spread: f64, hours: f64| {
            let array = places(5, spread);
            rebuilding(hours, 1).risks(&array, &rules, &array.histories(&rules, 3)).second_by_wear
        };
        let by_spread = [0.0005, 0.002, 0.01, 0.05].map(|spread| second(spread, 6.0));
        // Ends of five sequences of four normal lives each, counted by a program of its own.
        let counted = [(0.302, 0.02), (0.086, 0.01), (0.0184, 0.003), (0.004, 0.0012)];
        let agree =
            by_spread.iter().zip(counted).all(|(&found, (expected, within))| near(found, expected, within));
        assert!(agree, "{by_spread:?}, expected {counted:?}");
        assert!(second(0.01, 24.0) > 2.0 * second(0.01, 6.0));
        // Of two members, whose ends differ by a normal variable: 2 Phi(R / (sqrt(2) spread x 3 years)) - 1 of the pairs, and
        // each pair is two ends, the second of which has nobody left. Two generations on the ends are further apart.
        let array = places(2, 0.002);
        let first: Vec<Vec<Replaced>> =
            array.histories(&rules, 3).into_iter().map(|ends| ends[..2].to_vec()).collect();
        let found = rebuilding(12.0, 1).risks(&array, &rules, &first).second_by_wear;
        let deviation = libm::sqrt(2.0) * 0.002 * 3.0;
        let pairs = libm::erf(12.0 * HOURS / deviation / libm::sqrt(2.0));
        assert!(near(found, pairs / 2.0, 0.016), "{found}, expected {}", pairs / 2.0);
    }

    /// Four others, 0.05 failures a year, a rebuild of two days: each part of the formula by itself. Members that wear out come from
    /// a history: of two in ten years the second has one other that wears out within the rebuild.
    #[test]
    fn wear_and_chance_meet_as_the_formula_has_it() {
        let array = places(5, 0.0);
        let rules = YearsConfig { failure_rate: 0.05, unreadable: 1e-15, ..YearsConfig::default() };
        let worn = |at: f64, left: Vec<f64>| Replaced {
            at,
            place: 0,
            is_worn: true,
            unused: 0.0,
            next_oldest: 0.0,
            left,
        };
        let history = [vec![worn(4.0, vec![1.0; 4]), worn(10.0, vec![1.0, 1e-3, 1.0, 1.0])]];
        let years = 48.0 * HOURS;
        let fails = 1.0 - libm::exp(-0.05 * years);
        let none = libm::exp(-0.05 * years * 4.0);
        let of = |redundancy| Rebuilding { member_bytes: 1e13, ..rebuilding(48.0, redundancy) };
        for redundancy in [1, 2] {
            let risks = of(redundancy).risks(&array, &rules, &history);
            assert!(near(risks.second_by_failure, 1.0 - none, 1e-12), "{risks:?}");
            assert!(near(risks.second_by_wear, 0.5, 1e-12), "{risks:?}");
            let bits = 8.0 * (5 - redundancy) as f64 * 1e13;
            let unreadable = 1.0 - libm::exp(-bits * 1e-15);
            assert!(near(risks.unreadable, unreadable, 1e-12), "{risks:?}");
            // Probabilities of losing data with none, one and two others that wear out.
            let one_of =
                |others: i32| f64::from(others) * fails * libm::pow(1.0 - fails, f64::from(others - 1));
            let none_of = |others: i32| libm::pow(1.0 - fails, f64::from(others));
            let one_parity = |others| 1.0 - none_of(others) + none_of(others) * unreadable;
            let two_parities = 1.0 - none_of(4) - one_of(4) + one_of(4) * unreadable;
            let losses =
                if redundancy == 1 { [one_parity(4), 1.0, 1.0] } else { [two_parities, one_parity(3), 1.0] };
            let [zero, one, two] = losses;
            let chance = 4.0 * 0.05 * years;
            let first = zero + chance * (one - zero);
            let (by_wear, by_both) = match redundancy {
                1 => (1.0, first),
                _ => (0.0, first + one + chance * (two - one)),
            };
            assert!(near(risks.by_wear, by_wear / 10.0, 1e-12), "{risks:?}");
            assert!(near(risks.by_both, by_both / 10.0, 1e-12), "{risks:?} {by_both}");
            let alone = if redundancy == 1 { 1.0 - none_of(4) } else { 1.0 - none_of(4) - one_of(4) };
            assert!(near(risks.by_failure, 5.0 * 0.05 * alone, 1e-12), "{risks:?}");
            assert!(near(risks.by_unreadable, 5.0 * 0.05 * (zero - alone), 1e-12), "{risks:?}");
        }
    }

    #[test]
    fn copies_hang_together_in_pairs() {
        let array = Places { together: 2, ..places(4, 0.0) };
        let rules = YearsConfig { failure_rate: 0.02, unreadable: 0.0, ..YearsConfig::default() };
        let risks = rebuilding(24.0, 1).risks(&array, &rules, &[]);
        let exact = 4.0 * 0.02 * (1.0 - libm::exp(-0.02 * 24.0 * HOURS));
        assert!(near(risks.losses() / exact, 1.0, 1e-9), "{risks:?}");
        assert_eq!(array.history(&rules, 1, || 1.0)[0].left.len(), 1);
        // Two pairs that end at one time are two losses.
        let rules = YearsConfig { failure_rate: 0.0, ..rules };
        let risks = rebuilding(24.0, 1).risks(&array, &rules, &array.histories(&rules, 1));
        assert!(near(risks.by_wear, 2.0 / 3.0, 1e-12), "{risks:?}");
    }
}
