//! Do the recursion of `lifetimes` and members that are really worn out agree? Every write and erase of a small RAID-5 is simulated
//! until ten members have reached their last erase, without time: members are bare FTLs, stripes lie as the layout has them, and
//! where shares of parity go to other members all units that move are written there. A new member is written once as a whole.
//!
//! The recursion gets rates by slot from a short run of new members, and nothing else. How long all of it takes is part of the answer.
#![expect(clippy::disallowed_types, reason = "wall time is measured")]

use std::time::Instant;

use crate::common::{PAGE, one_die};
use harmonia_array::Level;
use harmonia_array::layout::{Layout, Parity, Rotation};
use harmonia_array::lifetimes::{Replacement, Wear, replacements, stationary_ages};
use harmonia_engine::Rng;
use harmonia_ssd::gc::victim::{self, NoReads, Victim};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, Goal, SsdConfig};
use harmonia_types::{DeviceId, IoCause, SimTime};

const MEMBERS: u16 = 5;
/// By slot.
const SHARES: [u16; 5] = [60, 10, 10, 10, 10];
const BLOCKS: u32 = 64;
/// Erases of a block in its life, on average over the member.
const ENDURANCE: f64 = 500.0;
const REPLACEMENTS: usize = 10;

/// What the host writes.
#[derive(Clone, Copy)]
struct Load {
    name: &'static str,
    /// So much of the array takes so many of the writes.
    hot: (f64, f64),
    /// Share of the writes that are whole stripes; all others are pages.
    whole: f64,
}

const LOADS: [Load; 3] = [
    Load { name: "uniform", hot: (1.0, 1.0), whole: 0.0 },
    Load { name: "80% to 20%", hot: (0.2, 0.8), whole: 0.0 },
    Load { name: "a fifth whole stripes", hot: (1.0, 1.0), whole: 0.2 },
];

struct Array {
    config: SsdConfig,
    members: Vec<Ftl>,
    /// Members by age, the oldest first.
    slots: Vec<u16>,
    layout: Parity,
    stripes: u64,
    victims: Box<dyn Victim>,
    rng: Rng,
    load: Load,
    /// Pages that the host has written.
    written: u64,
    replaced: u64,
}

impl Array {
    fn new(load: Load, seed: u64) -> Array {
        let config = one_die(BLOCKS, 32, 10);
        let fresh = |member: u16| Ftl::new(&config, seed, &format!("device/{member}")).expect("it can work");
        let members: Vec<Ftl> = (0..MEMBERS).map(fresh).collect();
        let stripes = u64::from(members[0].shape().logical_pages);
        let victims = victim::build(&"greedy".into()).expect("it is registered");
        let slots: Vec<u16> = (0..MEMBERS).collect();
        let layout = laid_out(&slots, stripes);
        let rng = Rng::stream(seed, "lifetimes");
        let mut array =
            Array { config, members, slots, layout, stripes, victims, rng, load, written: 0, replaced: 0 };
        (0..MEMBERS).for_each(|member| array.fill(member));
        array
    }

    fn write(&mut self, member: u16, page: u64) {
        let ftl = &mut self.members[usize::from(member)];
        let goal = Goal { stop: ftl.shape().stop, min_victims: self.config.gc.min_victims };
        let ages_at = ftl.shape().ages_at;
        let mut unit = ftl.unit(0);
        if unit.free() <= ages_at {
            unit.collect(goal, &*self.victims, &NoReads, SimTime::ZERO, &mut NoProbe).expect("there is room");
        }
        unit.program(page as u32, IoCause::Host, None, &mut NoProbe).expect("likewise");
    }

    fn fill(&mut self, member: u16) {
        (0..self.stripes).for_each(|page| self.write(member, page));
    }

    fn request(&mut self) {
        let (space, writes) = self.load.hot;
        let hot = (self.stripes as f64 * space) as u64;
        let stripe = match self.rng.chance(writes) {
            true => self.rng.below(hot),
            false => hot + self.rng.below(self.stripes - hot),
        };
        if self.rng.chance(self.load.whole) {
            (0..MEMBERS).for_each(|member| self.write(member, stripe));
            self.written += u64::from(MEMBERS) - 1;
            return;
        }
        let unit = self.rng.below(u64::from(MEMBERS) - 1) as u16;
        self.write(self.layout.data_member(stripe, unit).0, stripe);
        self.write(self.layout.p_member(stripe).0, stripe);
        self.written += 1;
    }

    /// By slot.
    fn ages(&self) -> Vec<f64> {
        let erases = |member: &u16| self.members[usize::from(*member)].tally().erases as f64;
        self.slots.iter().map(|member| erases(member) / f64::from(BLOCKS) / ENDURANCE).collect()
    }

    fn run_until(&mut self, is_enough: impl Fn(&Array) -> bool) {
        while !is_enough(self) {
            // Ages change slowly.
            (0..64).for_each(|_| self.request());
        }
    }

    /// The oldest member is replaced, and all others move up a slot.
    fn replace(&mut self) -> Replacement {
        let by_slot = self.ages();
        let mut order: Vec<usize> = (0..usize::from(MEMBERS)).collect();
        order.sort_by(|one, other| by_slot[*other].total_cmp(&by_slot[*one]));
        let replacement =
            Replacement { at: self.written as f64, ages: order.iter().map(|&slot| by_slot[slot]).collect() };
        let mut slots: Vec<u16> = order.iter().map(|&slot| self.slots[slot]).collect();
        let gone = slots.remove(0);
        slots.push(gone);
        self.replaced += 1;
        let name = format!("spare/{}", self.replaced);
        self.members[usize::from(gone)] = Ftl::new(&self.config, self.replaced, &name).expect("it can work");
        let layout = laid_out(&slots, self.stripes);
        self.fill(gone);
        for stripe in 0..self.stripes {
            for member in (0..MEMBERS).filter(|&member| member != gone) {
                let on = |layout: &Parity| layout.unit_on(stripe, DeviceId(member));
                if on(&layout) != on(&self.layout) {
                    self.write(member, stripe);
                }
            }
        }
        (self.layout, self.slots) = (layout, slots);
        replacement
    }
}

/// Slots have their shares; the layout goes by members.
fn laid_out(slots: &[u16], stripes: u64) -> Parity {
    let mut shares = [0; MEMBERS as usize];
    slots.iter().zip(SHARES).for_each(|(&member, share)| shares[usize::from(member)] = share);
    let level = Level::Raid5(Rotation::RightAsymmetric);
    match Layout::new(level, MEMBERS, PAGE, PAGE, stripes * PAGE).sharing(&shares) {
        Layout::Parity(parity) => parity,
        _ => unreachable!("it has parity"),
    }
}

/// Rates by slot: ages that a page of the host adds, measured over a tenth of a life of new members.
fn measured(load: Load) -> Vec<f64> {
    let mut array = Array::new(load, 77);
    array.run_until(|array| array.ages()[0] > 0.05);
    let (before, written) = (array.ages(), array.written);
    array.run_until(|array| array.ages()[0] > 0.15);
    let pages = (array.written - written) as f64;
    array.ages().iter().zip(before).map(|(after, before)| (after - before) / pages).collect()
}

/// The largest error of the times, and of the ages, of ten replacements.
fn errors(predicted: &[Replacement], simulated: &[Replacement]) -> (f64, f64) {
    let pairs = || predicted.iter().zip(simulated);
    let times = pairs().map(|(one, other)| (one.at / other.at - 1.0).abs());
    let ages = pairs()
        .flat_map(|(one, other)| one.ages.iter().zip(&other.ages).map(|(one, other)| (one - other).abs()));
    (times.fold(0.0, f64::max), ages.fold(0.0, f64::max))
}

#[test]
fn ten_replacements_of_five_members_are_foretold() {
    let begun = Instant::now();
    for load in LOADS {
        let mut array = Array::new(load, 1);
        let simulated: Vec<Replacement> = (0..REPLACEMENTS)
            .map(|_| {
                array.run_until(|array| array.ages().iter().any(|&age| age >= 1.0));
                array.replace()
            })
            .collect();
        let rates = measured(load);
        let recursion = replacements(&[0.0; 5], REPLACEMENTS, |_| rates.clone());
        let (times, ages) = errors(&recursion, &simulated);
        // The closed form knows proportions only: its pace is that of the measured rates.
        let closed = Wear::of_single_pages(5).rates(&SHARES.map(|share| f64::from(share) / 100.0));
        let pace = rates.iter().sum::<f64>() / closed.iter().sum::<f64>();
        let closed: Vec<f64> = closed.iter().map(|rate| rate * pace).collect();
        let by_form = errors(&replacements(&[0.0; 5], REPLACEMENTS, |_| closed.clone()), &simulated);
        let ratio: Vec<String> = rates.iter().map(|rate| format!("{:.3}", rate / rates[4])).collect();
        eprintln!(
            "{}: measured rates {}; error of times {:.2}%, of ages {:.2} points; closed form {:.2}%, {:.2} points",
            load.name,
            ratio.join(" "),
            100.0 * times,
            100.0 * ages,
            100.0 * by_form.0,
            100.0 * by_form.1
        );
        let stationary = stationary_ages(&rates);
        let last = &simulated[REPLACEMENTS - 1].ages;
        eprintln!("  ages at the tenth {last:.3?}, stationary {stationary:.3?}");
        assert!(times <= 0.02 && ages <= 0.02, "{}: {times} {ages}", load.name);
        // Parity on the first slot is what it is about.
        assert!(rates[0] > 1.2 * rates[1], "{}: {rates:?}", load.name);
    }
    eprintln!("{:.1} s for three loads", begun.elapsed().as_secs_f64());
    assert!(begun.elapsed().as_secs() < 300);
}
