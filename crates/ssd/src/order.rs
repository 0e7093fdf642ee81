//! Static allocation: which die and plane the number of a logical page names.
//!
//! An [`Order`] says which part of the geometry changes fastest from one page to the next, and which then. Resolved
//! against a geometry it is an [`Odometer`]: one wheel a part, of which the first turns with every page and each other
//! one when the wheel before it comes round.
//!
//! ```text
//!   cwdp, 2 channels x 2 chips x 1 die x 2 planes        pdwc, the same device
//!   page              0  1  2  3  4  5  6  7             page              0  1  2  3  4  5  6  7
//!   die               0  1  2  3  0  1  2  3             die               0  0  2  2  1  1  3  3
//!   plane             0  0  0  0  1  1  1  1             plane             0  1  0  1  0  1  0  1
//! ```
//!
//! Dies are numbered channel first: die = channel + channels x (chip + chips x die in the chip). So the wheels of `cwd`
//! are one: neighbours that count through units without a gap are joined, and wheels of a single step left out.
//!
//! Source: the 24 orders of Jung and Kandemir, "An Evaluation of Different Page Allocation Strategies on High-Speed
//! SSDs" (HotStorage 2012), whose letters these are. Leaves out: orders that change a part by more than the page number,
//! such as hashed ones.

use std::fmt;

use harmonia_flash::Geometry;

/// What a page number chooses of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `c`
    Channel,
    /// `w`: the chip on its channel, the papers' way.
    Way,
    /// `d`: the die in its chip.
    Die,
    /// `p`: the plane in its die.
    Plane,
}

impl Part {
    const ALL: [Part; 4] = [Part::Channel, Part::Way, Part::Die, Part::Plane];

    fn letter(self) -> char {
        match self {
            Part::Channel => 'c',
            Part::Way => 'w',
            Part::Die => 'd',
            Part::Plane => 'p',
        }
    }
}

/// The parts from the fastest-changing to the slowest, each once. Written as their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order([Part; 4]);

impl Order {
    /// Channel, way, die, plane.
    pub const CWDP: Order = Order(Part::ALL);

    /// The order of these letters: c, w, d and p, each once.
    pub fn parse(letters: &str) -> Option<Order> {
        let part = |letter: char| Part::ALL.into_iter().find(|part| part.letter() == letter);
        let parts: [Part; 4] = letters.chars().map(part).collect::<Option<Vec<_>>>()?.try_into().ok()?;
        Part::ALL.iter().all(|part| parts.contains(part)).then_some(Order(parts))
    }

    /// The order of the three letters c, w and d, each once, which leave the plane open: here it changes last.
    pub fn of_dies(letters: &str) -> Option<Order> {
        Order::parse(&format!("{letters}p"))
    }

    /// The letters before the last.
    pub fn dies(&self) -> String {
        self.0[..3].iter().map(|part| part.letter()).collect()
    }

    /// All 24.
    pub fn all() -> impl Iterator<Item = Order> {
        (0..256).filter_map(|number: usize| {
            let letters: String =
                [6, 4, 2, 0].map(|bit| Part::ALL[number >> bit & 3].letter()).iter().collect();
            Order::parse(&letters)
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| write!(f, "{}", part.letter()))
    }
}

/// An order on a geometry. Units are numbered die by die, a die's own in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Odometer {
    /// The fastest first; those behind the last are of one step.
    wheels: [Wheel; 4],
}

/// `steps` units, `units` (and `dies`) apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wheel {
    steps: u32,
    units: u32,
    dies: u32,
}

impl Wheel {
    /// None: it does not move.
    const FIXED: Wheel = Wheel { steps: 1, units: 0, dies: 0 };
}

impl Odometer {
    /// The wheels of `order`, where each die has so many units: its planes, or one.
    pub fn new(order: Order, geometry: &Geometry, units_per_die: u32) -> Self {
        let mut wheels = [Wheel::FIXED; 4];
        let mut used: usize = 0;
        for part in order.0 {
            let (steps, dies) = match part {
                Part::Channel => (geometry.channels, 1),
                Part::Way => (geometry.chips_per_channel, geometry.channels),
                Part::Die => (geometry.dies_per_chip, geometry.channels * geometry.chips_per_channel),
                Part::Plane => (units_per_die, 0),
            };
            let units = if part == Part::Plane { 1 } else { dies * units_per_die };
            let before = used.checked_sub(1).map(|before| &mut wheels[before]);
            match before {
                _ if steps == 1 => {}
                Some(before)
                    if before.dies * before.steps == dies && before.units * before.steps == units =>
                {
                    before.steps *= steps;
                }
                _ => {
                    wheels[used] = Wheel { steps, units, dies };
                    used += 1;
                }
            }
        }
        Odometer { wheels }
    }

    /// Page numbers go from one group of dies that share their blocks to the next.
    pub fn of_superblocks(dies: u32, dies_per_unit: u32) -> Self {
        let mut wheels = [Wheel::FIXED; 4];
        wheels[0] = Wheel { steps: dies / dies_per_unit, units: 1, dies: dies_per_unit };
        Odometer { wheels }
    }

    /// Die and unit of the page of this number, and how often all wheels have come round.
    #[inline]
    pub fn read(&self, number: u32) -> (u32, u32, u32) {
        let (turns, round) = self.turns(number);
        let (die, unit) = self.place(turns);
        (die, unit, round)
    }

    /// Where each wheel stands, and how often all have come round.
    #[inline]
    fn turns(&self, number: u32) -> ([u32; 4], u32) {
        let (mut turns, mut rest) = ([0; 4], number);
        for (turn, wheel) in turns.iter_mut().zip(&self.wheels) {
            // Dividing takes time, and there are four wheels in the strangest orders only.
            if wheel.steps == 1 {
                break;
            }
            *turn = rest % wheel.steps;
            rest /= wheel.steps;
        }
        (turns, rest)
    }

    #[inline]
    fn place(&self, turns: [u32; 4]) -> (u32, u32) {
        let wheels = self.wheels.iter().zip(turns);
        wheels.fold((0, 0), |(die, unit), (wheel, turn)| (die + turn * wheel.dies, unit + turn * wheel.units))
    }

    /// The first page number that names this unit.
    #[inline]
    pub fn first_of(&self, unit: u32) -> u32 {
        let (mut number, mut weight) = (0, 1);
        for wheel in &self.wheels {
            // Divisions that cannot panic are left out where nobody asks for the number: probes that do nothing.
            let turn = unit.checked_div(wheel.units).and_then(|turn| turn.checked_rem(wheel.steps));
            let Some(turn) = turn else { break };
            number += turn * weight;
            weight *= wheel.steps;
        }
        number
    }

    /// [`Odometer::read`] of `count` numbers from `first` on.
    #[inline]
    pub fn walk(self, first: u32, count: u32) -> impl Iterator<Item = (u32, u32, u32)> + Clone {
        let (mut turns, mut round) = self.turns(first);
        let (mut die, mut unit) = self.place(turns);
        (0..count).map(move |_| {
            let here = (die, unit, round);
            for (turn, wheel) in turns.iter_mut().zip(&self.wheels) {
                *turn += 1;
                die += wheel.dies;
                unit += wheel.units;
                if *turn < wheel.steps {
                    return here;
                }
                *turn = 0;
                die -= wheel.dies * wheel.steps;
                unit -= wheel.units * wheel.steps;
            }
            round += 1;
            here
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of so many channels, chips, dies and planes.
    fn geometry([channels, chips_per_channel, dies_per_chip, planes_per_die]: [u32; 4]) -> Geometry {
        Geometry { channels, chips_per_channel, dies_per_chip, planes_per_die, ..Geometry::ONE_PLANE }
    }

    fn order(letters: &str) -> Order {
        Order::parse(letters).expect("an order")
    }

    #[test]
    fn there_are_24_orders_and_each_reads_back() {
        let all: Vec<String> = Order::all().map(|order| order.to_string()).collect();
        assert_eq!(all.len(), 24);
        assert!(all.iter().all(|letters| order(letters).to_string() == *letters));
        for wrong in ["", "cwd", "cwdpp", "ccwd", "cwdx", "CWDP", "cwd\u{e9}"] {
            assert_eq!(Order::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn three_letters_leave_the_plane_to_the_end() {
        let orders =
            ["cwd", "cdw", "wcd", "wdc", "dcw", "dwc"].map(|letters| (letters, Order::of_dies(letters)));
        for (letters, order) in orders {
            assert_eq!(order, Order::parse(&format!("{letters}p")));
            assert_eq!(order.map(|order| order.dies()).as_deref(), Some(letters));
        }
        for wrong in ["", "cw", "cwp", "cwdp", "ccd", "CWD"] {
            assert_eq!(Order::of_dies(wrong), None, "{wrong}");
        }
    }

    /// The definition, digit by digit, for unequal dimensions, parts that are missing among them, in each order.
    #[test]
    fn pages_are_found_alike_one_by_one_in_a_row_and_backwards() {
        for (sizes, by_plane) in [
            ([2, 3, 4, 5], true),
            ([2, 3, 4, 5], false),
            ([3, 1, 2, 4], true),
            ([1, 3, 1, 2], true),
            ([4, 2, 3, 1], true),
            ([1, 1, 1, 1], false),
        ] {
            let geometry = geometry(sizes);
            let units_per_die = if by_plane { geometry.planes_per_die } else { 1 };
            let [c, w, d, _] = sizes;
            let units = c * w * d * units_per_die;
            for order in Order::all() {
                let odometer = Odometer::new(order, &geometry, units_per_die);
                let expected = |number: u32| {
                    let (mut at, mut rest) = ([0; 4], number);
                    for part in order.0 {
                        let steps = [c, w, d, units_per_die][part as usize];
                        at[part as usize] = rest % steps;
                        rest /= steps;
                    }
                    let die = at[0] + c * (at[1] + w * at[2]);
                    (die, die * units_per_die + at[3], rest)
                };
                for first in 0..units + 3 {
                    let walked: Vec<_> = odometer.walk(first, 2 * units + 1).collect();
                    let defined: Vec<_> = (first..first + 2 * units + 1).map(expected).collect();
                    assert_eq!(walked, defined, "{order} {sizes:?}");
                    let (_, unit, round) = odometer.read(first);
                    assert_eq!((walked[0].1, walked[0].2), (unit, round), "{order} {sizes:?}");
                    assert_eq!(odometer.first_of(unit) + round * units, first, "{order} {sizes:?}");
                }
            }
        }
    }

    /// Die and plane of the first twelve pages on 2 channels x 1 chip x 3 dies x 2 planes, by hand.
    #[test]
    fn three_orders_as_one_would_draw_them() {
        let places = |letters| {
            let odometer = Odometer::new(order(letters), &geometry([2, 1, 3, 2]), 2);
            odometer.walk(0, 12).map(|(die, unit, _)| (die, unit - 2 * die)).collect::<Vec<_>>()
        };
        let line = |dies: [u32; 12], planes: [u32; 12]| dies.into_iter().zip(planes).collect::<Vec<_>>();
        assert_eq!(
            places("cwdp"),
            line([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        );
        assert_eq!(
            places("pdwc"),
            line([0, 0, 2, 2, 4, 4, 1, 1, 3, 3, 5, 5], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
        );
        assert_eq!(
            places("wcpd"),
            line([0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5], [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1])
        );
    }

    /// The usual order on a die that is one unit costs one division.
    #[test]
    fn neighbours_that_count_without_a_gap_are_one_wheel() {
        let wheels = |letters, units_per_die| {
            let odometer = Odometer::new(order(letters), &geometry([2, 3, 4, 5]), units_per_die);
            odometer.wheels.iter().filter(|wheel| wheel.steps > 1).count()
        };
        assert_eq!(
            [wheels("cwdp", 1), wheels("pcwd", 1), wheels("cwdp", 5), wheels("pdwc", 5)],
            [1, 1, 2, 4]
        );
    }
}
