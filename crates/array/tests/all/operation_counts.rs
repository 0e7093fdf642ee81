//! Does a parity write read and program exactly the pages that the closed forms say, member by member and cause by cause?
//!
//! With n members and k data units written whole in a row: RAID-5 read-modify-write (k+1)R + (k+1)W, reconstruct-write
//! (n-1-k)R + (k+1)W, full stripe n W; RAID-6 (k+2)R + (k+2)W, (n-2-k)R + (k+2)W, n W. For anything else the oracle
//! here applies the rule of Linux md (drivers/md/raid5.c, `handle_stripe_dirtying`) row by row: a read-modify-write reads
//! the units that are written and the parities, a reconstruct-write those that are not overwritten as a whole; the former
//! if it reads strictly fewer. The oracle's left-symmetric placement is written down from md's formula.
//!
//! With failed members, no more than there are parities, of a row with D data units of which w are written, p of them in part:
//! read-modify-write reads w and the parities that are left, if no unit written has failed; reconstruct-write D - w + p, if
//! no unit failed that it reads; and D units of any kind say everything. If all parities have failed, p is all there is to read.
//! What has failed is neither read nor written. That is `degraded_writes = "fewest"`; `degraded_writes` tests md's own rule.
//!
//! Not verified: times (`parity_blame` does), and where other rotations put their units (the layout's own tests do).

use crate::common::{PAGE, all_filled, drain, level, one_die, request};
use harmonia_array::layout::{Layout, Parity, Rotation};
use harmonia_array::{Array, ArrayConfig, Befalls, DegradedWrites, Fault, Faults, Level, SmallWrite, When};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, IoCause, Operation, SimTime};

const METHODS: [SmallWrite; 3] = [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct];

/// An array of one shape, and what the oracle needs to know of it.
#[derive(Debug, Clone, Copy)]
struct Case {
    parities: u64,
    members: u64,
    /// Rows of a stripe unit, each of one page.
    unit_rows: u64,
    small_write: SmallWrite,
    rotation: Rotation,
}

/// Pages of one member: data read, read for parity, data programmed, parity programmed.
pub type Pages = [u64; 4];

impl Case {
    fn data_units(&self) -> u64 {
        self.members - self.parities
    }

    fn unit(&self) -> u64 {
        self.unit_rows * PAGE
    }

    fn stripe(&self) -> u64 {
        self.data_units() * self.unit()
    }

    fn level(&self) -> Level {
        if self.parities == 2 { Level::Raid6(self.rotation) } else { Level::Raid5(self.rotation) }
    }

    /// Of other rotations than left-symmetric: the layout's own tests say that it is right.
    fn layout(&self) -> Option<Parity> {
        let layout = Layout::new(self.level(), self.members as u16, self.unit(), PAGE, self.unit());
        match layout {
            Layout::Parity(layout) if self.rotation != Rotation::LeftSymmetric => Some(layout),
            _ => None,
        }
    }

    /// md, left-symmetric: P moves from the last member to the first, Q follows it, data follows Q.
    fn parity_members(&self, stripe: u64) -> Vec<u64> {
        if let Some(layout) = self.layout() {
            let members = [Some(layout.p_member(stripe)), layout.q_member(stripe)];
            return members.into_iter().flatten().map(|member| u64::from(member.0)).collect();
        }
        let p = self.members - 1 - stripe % self.members;
        (0..self.parities).map(|place| (p + place) % self.members).collect()
    }

    fn data_member(&self, stripe: u64, unit: u64) -> u64 {
        if let Some(layout) = self.layout() {
            return u64::from(layout.data_member(stripe, unit as u16).0);
        }
        (self.parity_members(stripe)[0] + self.parities + unit) % self.members
    }

    /// What a write should cost each member.
    fn expected(&self, offset: u64, length: u64) -> Vec<Pages> {
        let mut pages = vec![[0; 4]; self.members as usize];
        let end = offset + length;
        for stripe in offset / self.stripe()..=(end - 1) / self.stripe() {
            for row in 0..self.unit_rows {
                self.row(stripe, row, (offset, end), &mut pages);
            }
        }
        pages
    }

    fn row(&self, stripe: u64, row: u64, (offset, end): (u64, u64), pages: &mut [Pages]) {
        let covered = |unit: u64| {
            let start = stripe * self.stripe() + unit * self.unit() + row * PAGE;
            end.min(start + PAGE).saturating_sub(offset.max(start))
        };
        let units = 0..self.data_units();
        let written: Vec<u64> = units.clone().filter(|&unit| covered(unit) > 0).collect();
        let kept: Vec<u64> = units.filter(|&unit| covered(unit) < PAGE).collect();
        if written.is_empty() {
            return;
        }
        let parities = self.parity_members(stripe);
        let fewest = written.len() + parities.len() < kept.len();
        let modifies = match self.small_write {
            SmallWrite::Fewest => fewest,
            SmallWrite::ReadModifyWrite => true,
            SmallWrite::Reconstruct => false,
        };
        let mut read: Vec<u64> = match (kept.is_empty(), modifies) {
            (true, _) => Vec::new(),
            (_, true) => written.iter().map(|&unit| self.data_member(stripe, unit)).collect(),
            (_, false) => kept.iter().map(|&unit| self.data_member(stripe, unit)).collect(),
        };
        if modifies && !kept.is_empty() {
            read.extend(&parities);
        }
        read.iter().for_each(|&member| pages[member as usize][1] += 1);
        written.iter().for_each(|&unit| pages[self.data_member(stripe, unit) as usize][2] += 1);
        parities.iter().for_each(|&member| pages[member as usize][3] += 1);
    }

    fn array(&self) -> Array {
        self.array_with(Faults::default())
    }

    fn array_with(&self, faults: Faults) -> Array {
        let config = level(self.level(), &one_die(24, 16, 6), self.members as u16, self.unit());
        let (small_write, degraded_writes) = (self.small_write, DegradedWrites::Fewest);
        let config = ArrayConfig { small_write, degraded_writes, faults, ..config };
        Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap()
    }

    /// An array without these members.
    fn without(&self, failed: &[u64]) -> Array {
        let never = Fault { device: DeviceId(0), at: When::Request(u64::MAX), what: Befalls::Failure };
        let mut array = self.array_with(Faults { events: vec![never], ..Faults::default() });
        for &member in failed {
            array.fail(DeviceId(member as u16), SimTime::ZERO).unwrap();
        }
        array
    }

    /// What a write of stripe 0 costs without these members, units of one row, as the closed forms have it: reads, data programs,
    /// parity programs.
    fn degraded(&self, failed: &[u64], written: std::ops::RangeInclusive<u64>, partial: &[u64]) -> [u64; 3] {
        let has_failed = |unit: &u64| failed.contains(&self.data_member(0, *unit));
        let (units, w, p) = (self.data_units(), written.clone().count() as u64, partial.len() as u64);
        let left = self.parity_members(0).iter().filter(|member| !failed.contains(member)).count() as u64;
        let programs = [written.clone().filter(|unit| !has_failed(unit)).count() as u64, left];
        let mut kept = (0..units).filter(|unit| !written.contains(unit) || partial.contains(unit));
        let modify = (!written.clone().any(|unit| has_failed(&unit))).then_some(w + left);
        let reconstruct = (!kept.any(|unit| has_failed(&unit))).then_some(units - w + p);
        let rebuild = reconstruct.unwrap_or(units);
        let reads = match self.small_write {
            _ if w == units && p == 0 => 0,
            _ if left == 0 => p,
            SmallWrite::Fewest => rebuild.min(modify.unwrap_or(u64::MAX)),
            SmallWrite::ReadModifyWrite => modify.unwrap_or(rebuild),
            SmallWrite::Reconstruct => rebuild,
        };
        [reads, programs[0], programs[1]]
    }
}

/// Pages that every member has read and programmed so far.
fn counted(array: &Array) -> Vec<Pages> {
    let member = |device: &harmonia_ssd::Device| {
        let counters = device.counters();
        assert_eq!(counters.read_modify_write_reads, 0, "members never see part of a page");
        let programs = |cause: IoCause| counters.programs[cause as usize];
        let (data, parity) = (programs(IoCause::Host), programs(IoCause::Parity));
        [counters.host_pages_read, counters.parity_pages_read, data, parity]
    };
    array.devices().iter().map(member).collect()
}

/// What one request costs each member, on an array at rest.
pub fn cost(array: &mut Array, id: u64, operation: Operation, offset: u64, length: u64) -> Vec<Pages> {
    let before = counted(array);
    // Long after the one before.
    let now = SimTime(id * 1_000_000_000_000);
    array.advance_until(now).unwrap();
    array.submit(request(id, now, operation, offset, length)).unwrap();
    assert_eq!(drain(array).len(), 1);
    let after = counted(array);
    let difference =
        |(before, after): (&Pages, &Pages)| std::array::from_fn(|kind| after[kind] - before[kind]);
    before.iter().zip(&after).map(difference).collect()
}

fn sum(pages: &[Pages]) -> Pages {
    pages.iter().fold([0; 4], |sum, member| std::array::from_fn(|kind| sum[kind] + member[kind]))
}

/// Every level and number of members, stripe units of one row and of several, every way to make parity.
fn cases() -> impl Iterator<Item = Case> {
    let shapes = (3..=9).map(|members| (1, members)).chain((4..=9).map(|members| (2, members)));
    shapes.flat_map(|(parities, members)| {
        let rotation = Rotation::LeftSymmetric;
        let case = move |unit_rows, small_write| Case { parities, members, unit_rows, small_write, rotation };
        [1, 4].into_iter().flat_map(move |rows| METHODS.map(|method| case(rows, method)))
    })
}

/// The formulas, as they stand in text books, for k whole units of one row.
#[test]
fn small_writes_cost_what_the_closed_forms_say() {
    for case in cases() {
        let Case { parities, members: n, unit_rows, small_write, .. } = case;
        let mut array = case.array();
        let units = case.data_units();
        let mut id = 0;
        for k in 1..=units {
            for (first, stripe) in (0..=units - k).flat_map(|first| [(first, 0), (first, n + 1)]) {
                let (offset, length) = (stripe * case.stripe() + first * case.unit(), k * case.unit());
                let modify = k + parities;
                let reconstruct = units - k;
                let reads = match small_write {
                    _ if k == units => 0,
                    SmallWrite::ReadModifyWrite => modify,
                    SmallWrite::Reconstruct => reconstruct,
                    SmallWrite::Fewest => modify.min(reconstruct),
                };
                let cost = cost(&mut array, id, Operation::Write, offset, length);
                let expected = [0, reads, k, parities].map(|pages| pages * unit_rows);
                assert_eq!(sum(&cost), expected, "{case:?}: {k} units from {first} of stripe {stripe}");
                assert_eq!(cost, case.expected(offset, length), "the formula and the rule agree: {case:?}");
                id += 1;
            }
        }
    }
}

/// Any byte, any length: parts of pages, rows that are shared by two units, rows that are not, several stripes.
#[test]
fn any_write_costs_what_mds_rule_says_row_by_row() {
    for case in cases().chain(rotations()) {
        let mut array = case.array();
        let bytes = array.layout().logical_bytes();
        let mut rng = Rng::stream(case.members * 8 + case.parities, "writes");
        let mut pre_reads = 0;
        for id in 0..120 {
            let longest = if rng.chance(0.7) { case.stripe() } else { 4 * case.stripe() };
            let grain = if rng.chance(0.5) { 512 } else { PAGE };
            let length = (1 + rng.below(longest / grain)) * grain;
            let offset = rng.below((bytes - length) / grain + 1) * grain;
            let cost = cost(&mut array, id, Operation::Write, offset, length);
            assert_eq!(cost, case.expected(offset, length), "{case:?}: {offset}+{length}");
            pre_reads += sum(&cost)[1];
        }
        let counters = array.counters().redundancy;
        assert_eq!(counters.pre_read_bytes, pre_reads * PAGE, "{case:?}");
    }
}

/// One failed member, and of RAID-6 two.
fn failures(members: u64, parities: u64) -> Vec<Vec<u64>> {
    let one = (0..members).map(|member| vec![member]);
    let two = (0..members).flat_map(|first| (first + 1..members).map(move |second| vec![first, second]));
    one.chain(two.filter(|_| parities == 2)).collect()
}

/// Every number of members, every one of them gone and of RAID-6 every two, every run of units, whole and cut at either end.
#[test]
fn degraded_small_writes_cost_what_the_closed_forms_say() {
    for case in cases().filter(|case| case.unit_rows == 1) {
        for failed in failures(case.members, case.parities) {
            let mut array = case.without(&failed);
            let units = case.data_units();
            let runs = (0..units).flat_map(|first| (first..units).map(move |last| (first, last)));
            let runs = runs.flat_map(|run| (0..4).map(move |cuts| (run, cuts)));
            for (id, ((first, last), cuts)) in (0..).zip(runs) {
                let (head, tail) = (cuts & 1, cuts >> 1);
                let (offset, end) = (first * PAGE + 512 * head, (last + 1) * PAGE - 512 * tail);
                let mut partial = Vec::new();
                partial.extend((head == 1).then_some(first));
                partial.extend((tail == 1 && (head == 0 || first != last)).then_some(last));
                let cost = cost(&mut array, id, Operation::Write, offset, end - offset);
                let [reads, data, parity] = case.degraded(&failed, first..=last, &partial);
                let what =
                    format!("{case:?} without {failed:?}: units {first} to {last}, {partial:?} in part");
                assert_eq!(sum(&cost), [0, reads, data, parity], "{what}");
                for &member in &failed {
                    assert_eq!(cost[member as usize], [0; 4], "{what}: member {member} has failed");
                }
            }
            let losses = array.counters().losses;
            assert_eq!(losses, Default::default(), "{case:?} without {failed:?}: nothing is lost");
        }
    }
}

/// A read of one unit: its page, or without its member as many units of the row as hold data, whatever they are.
#[test]
fn degraded_reads_cost_the_data_units_of_a_row() {
    for case in cases().filter(|case| case.unit_rows == 1 && case.small_write == SmallWrite::Fewest) {
        for failed in failures(case.members, case.parities) {
            let mut array = case.without(&failed);
            let units = case.data_units();
            let mut lost = 0;
            for unit in 0..units {
                let is_gone = failed.contains(&case.data_member(0, unit));
                let cost = cost(&mut array, unit, Operation::Read, unit * PAGE, PAGE);
                let pages = if is_gone { units } else { 1 };
                lost += u64::from(is_gone);
                assert_eq!(sum(&cost), [pages, 0, 0, 0], "{case:?} without {failed:?}: unit {unit}");
            }
            let losses = array.counters().losses;
            assert_eq!((losses.rebuilt_pages, losses.extra_pages), (lost, lost * units));
            // All units at once: every unit that is left, and a parity for each that is not.
            let whole = cost(&mut array, units, Operation::Read, 0, units * PAGE);
            assert_eq!(sum(&whole), [units, 0, 0, 0], "{case:?} without {failed:?}");
            assert_eq!(array.counters().losses.extra_pages, lost * units + lost);
        }
    }
}

/// 512 bytes anywhere in a unit: one row, of which its page is read as old data or because the rest of it is kept.
#[test]
fn a_sector_costs_a_row() {
    for case in cases() {
        let mut array = case.array();
        let Case { parities, unit_rows, small_write, .. } = case;
        let units = case.data_units();
        for (id, unit) in (0..).zip(0..units) {
            let offset = case.stripe() + unit * case.unit() + (unit % unit_rows) * PAGE + 512 * (unit % 8);
            let cost = cost(&mut array, id, Operation::Write, offset, 512);
            // Nothing is overwritten as a whole, so a reconstruct-write reads every unit.
            let (modify, reconstruct) = (1 + parities, units);
            let reads = match small_write {
                SmallWrite::ReadModifyWrite => modify,
                SmallWrite::Reconstruct => reconstruct,
                SmallWrite::Fewest => modify.min(reconstruct),
            };
            assert_eq!(sum(&cost), [0, reads, 1, parities], "{case:?}: unit {unit}");
        }
    }
}

/// Rows that only the tail of one unit and only the head of the next touch are written apart; a row that both touch once.
#[test]
fn straddling_writes_are_cut_where_their_units_change() {
    let (small_write, rotation) = (SmallWrite::Fewest, Rotation::LeftSymmetric);
    let case = Case { parities: 1, members: 9, unit_rows: 4, small_write, rotation };
    // From row 3 of unit 0: (pages, transactions, rows of one unit, rows of two).
    for (pages, transactions, alone, shared) in
        [(1, 1, 1, 0), (2, 2, 2, 0), (4, 2, 4, 0), (5, 2, 3, 1), (6, 3, 2, 2)]
    {
        let mut array = case.array();
        let write = request(0, SimTime::ZERO, Operation::Write, 3 * PAGE, pages * PAGE);
        array.submit(write).unwrap();
        let before = counted(&case.array());
        assert_eq!(array.transactions_under_way(), transactions, "{pages} pages");
        assert_eq!(drain(&mut array).len(), 1);
        let after = counted(&array);
        let all = sum(&after)[1] - sum(&before)[1];
        assert_eq!(all, 2 * alone + 3 * shared, "{pages} pages: old data and old parity of each row");
        let programs = sum(&after)[2] - sum(&before)[2];
        assert_eq!((programs, sum(&after)[3]), (pages, alone + shared), "{pages} pages");
    }
}

/// Whole stripes: n pages a row, one of them parity (two of RAID-6), nothing read, however many stripes.
#[test]
fn full_stripes_program_every_page_once() {
    for case in cases() {
        let Case { parities, members, unit_rows, .. } = case;
        let mut array = case.array();
        let stripes = array.layout().logical_bytes() / case.stripe();
        for (id, (first, count)) in
            (0..).zip([(0, 1), (0, stripes), (1, members), (members - 1, 2 * members + 1)])
        {
            let cost = cost(&mut array, id, Operation::Write, first * case.stripe(), count * case.stripe());
            let rows = count * unit_rows;
            assert_eq!(sum(&cost), [0, 0, (members - parities) * rows, parities * rows], "{case:?}");
            for member in &cost {
                assert_eq!(member[2] + member[3], rows, "{case:?}: every member, every row");
            }
            assert_eq!(cost, case.expected(first * case.stripe(), count * case.stripe()), "{case:?}");
        }
        assert_eq!(
            array.counters().redundancy.rows_full,
            (1 + stripes + members + 2 * members + 1) * unit_rows
        );
    }
}

/// Every rotation with units of two rows.
fn rotations() -> impl Iterator<Item = Case> {
    let shapes = [(1, 3), (1, 5), (2, 4), (2, 6)].into_iter();
    shapes.flat_map(|(parities, members)| {
        let possible =
            Rotation::ALL.into_iter().filter(move |rotation| parities == 2 || !rotation.is_raid6_only());
        let small_write = SmallWrite::Fewest;
        possible.map(move |rotation| Case { parities, members, unit_rows: 2, small_write, rotation })
    })
}

/// A read costs its own pages and no parity, wherever it begins and however long it is.
#[test]
fn reads_cost_the_pages_they_touch() {
    for case in cases().filter(|case| case.small_write == SmallWrite::Fewest).chain(rotations()) {
        let mut array = case.array();
        let bytes = array.layout().logical_bytes();
        let mut rng = Rng::stream(case.members, "reads");
        for id in 0..200 {
            let longest = if rng.chance(0.7) { case.stripe() } else { bytes / 2 };
            let length = 1 + rng.below(longest);
            let offset = rng.below(bytes - length);
            let cost = cost(&mut array, id, Operation::Read, offset, length);
            let mut expected = vec![[0; 4]; case.members as usize];
            for page in offset / PAGE..(offset + length).div_ceil(PAGE) {
                let (stripe, unit) = (page * PAGE / case.stripe(), page * PAGE % case.stripe() / case.unit());
                expected[case.data_member(stripe, unit) as usize][0] += 1;
            }
            assert_eq!(cost, expected, "{case:?}: {offset}+{length}");
        }
    }
}

/// A row is 4 KiB of pages that are smaller, and one page where they are larger.
#[test]
fn rows_are_four_kibibytes_or_a_page() {
    for (page, pages_of_a_row) in [(512, 8), (1024, 4), (4096, 1), (16_384, 1)] {
        let mut ssd = one_die(24, 16, 6);
        ssd.geometry.page_size = page;
        let config = level(Level::Raid5(Default::default()), &ssd, 4, 16_384);
        let small_write = SmallWrite::ReadModifyWrite;
        let config = ArrayConfig { small_write, ..config };
        let mut array = Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap();
        let rows = sum(&cost(&mut array, 0, Operation::Write, 512, 512));
        assert_eq!(rows, [0, 2, 1, 1].map(|units| units * pages_of_a_row), "pages of {page} bytes");
    }
}
