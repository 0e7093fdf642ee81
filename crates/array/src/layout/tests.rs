//! Every level against an array that is laid out unit by unit.

use std::collections::{BTreeMap, BTreeSet};

use harmonia_engine::Rng;

use super::*;

/// An array filled by walking over it: no formula finds a unit, each is put where the next free place is.
struct Walked {
    /// Places (member, row) of each logical unit, copies in order.
    units: Vec<Vec<(u16, u64)>>,
    /// Places of parity.
    parity: BTreeSet<(u16, u64)>,
}

fn walked(level: Level, members: u16, rows: u64) -> Walked {
    let mut array = Walked { units: Vec::new(), parity: BTreeSet::new() };
    match level {
        Level::Raid0 => {
            for row in 0..rows {
                array.units.extend((0..members).map(|member| vec![(member, row)]));
            }
        }
        Level::Raid1 => {
            array.units = (0..rows).map(|row| (0..members).map(|member| (member, row)).collect()).collect();
        }
        Level::Raid10(Copies { pattern: Pattern::Near, count }) => {
            let places: Vec<_> =
                (0..rows).flat_map(|row| (0..members).map(move |member| (member, row))).collect();
            array.units = places.chunks_exact(usize::from(count)).map(<[_]>::to_vec).collect();
        }
        Level::Raid10(Copies { pattern, count }) => {
            // Rows of RAID-0, each put down `count` times, one member further every time.
            let data_rows = rows / u64::from(count);
            for data_row in 0..data_rows {
                for member in 0..members {
                    let place = |copy: u16| {
                        let row = match pattern {
                            Pattern::Far => data_row + u64::from(copy) * data_rows,
                            _ => data_row * u64::from(count) + u64::from(copy),
                        };
                        ((member + copy) % members, row)
                    };
                    array.units.push((0..count).map(place).collect());
                }
            }
        }
        Level::Raid4 => walk_stripes(&mut array, Rotation::ParityLast, 1, members, rows),
        Level::Raid5(rotation) => walk_stripes(&mut array, rotation, 1, members, rows),
        Level::Raid6(rotation) => walk_stripes(&mut array, rotation, 2, members, rows),
        Level::Draid(_) => unreachable!("no formula of md places it; it has tests of its own"),
    }
    array
}

/// P moves one member a stripe; Q lies beside it or stays; data takes the members that are left.
fn walk_stripes(array: &mut Walked, rotation: Rotation, parities: u16, members: u16, rows: u64) {
    use Rotation::*;
    let q_stays = matches!(
        rotation,
        LeftSymmetric6 | LeftAsymmetric6 | RightSymmetric6 | RightAsymmetric6 | ParityFirst6
    );
    let ring = members - u16::from(q_stays);
    let mut p = match rotation {
        LeftSymmetric | LeftAsymmetric | RotatingNContinue => ring - 1,
        LeftSymmetric6 | LeftAsymmetric6 => ring - 1,
        RotatingNRestart => ring - 2,
        ParityLast => members - parities,
        RightSymmetric | RightAsymmetric | RotatingZeroRestart | ParityFirst => 0,
        RightSymmetric6 | RightAsymmetric6 | ParityFirst6 => 0,
    };
    let step = match rotation {
        LeftSymmetric | LeftAsymmetric | LeftSymmetric6 | LeftAsymmetric6 => ring - 1,
        RotatingNRestart | RotatingNContinue => ring - 1,
        RightSymmetric | RightAsymmetric | RightSymmetric6 | RightAsymmetric6 | RotatingZeroRestart => 1,
        ParityFirst | ParityLast | ParityFirst6 => 0,
    };
    let is_symmetric = matches!(
        rotation,
        LeftSymmetric | RightSymmetric | LeftSymmetric6 | RightSymmetric6 | RotatingNContinue
    );
    for row in 0..rows {
        let q = match rotation {
            _ if parities == 1 => p,
            _ if q_stays => members - 1,
            RotatingNContinue => (p + members - 1) % members,
            _ => (p + 1) % members,
        };
        let from = if is_symmetric { p } else { 0 };
        let others =
            (0..members).map(|step| (from + step) % members).filter(|member| ![p, q].contains(member));
        array.units.extend(others.map(|member| vec![(member, row)]));
        array.parity.extend([(p, row), (q, row)]);
        p = (p + step) % ring;
    }
}

/// As the rotation places its stripes, but parity stays on a member for as many of them as its share says.
fn shared(level: Level, shares: &[u16], rows: u64) -> Walked {
    let members = shares.len() as u16;
    let turn = walked(level, members, u64::from(members));
    let data = usize::from(members - 1);
    let is_divisor = |divisor: &u16| shares.iter().all(|share| share % divisor == 0);
    let divisor = (1..=4).rev().find(is_divisor).expect("one divides all");
    // The member of parity in each stripe of the rotation.
    let parity: BTreeMap<u64, u16> = turn.parity.iter().map(|&(member, stripe)| (stripe, member)).collect();
    let of_share = |(&stripe, &member): (&u64, &u16)| {
        (0..shares[usize::from(member)] / divisor).map(move |_| (stripe, member))
    };
    let period: Vec<(u64, u16)> = parity.iter().flat_map(of_share).collect();
    let mut array = Walked { units: Vec::new(), parity: BTreeSet::new() };
    for (row, &(stripe, member)) in (0..rows).zip(period.iter().cycle()) {
        let units = &turn.units[stripe as usize * data..][..data];
        array.units.extend(units.iter().map(|places| vec![(places[0].0, row)]));
        array.parity.insert((member, row));
    }
    array
}

/// A random small array: its layout, the same walked, and the bytes of a unit of the walk.
fn random(rng: &mut Rng) -> (Layout, Walked, u64) {
    let rotation = Rotation::ALL[rng.below(14) as usize];
    let pattern = Pattern::ALL[rng.below(3) as usize];
    let level = match rng.below(6) {
        0 => Level::Raid0,
        1 => Level::Raid1,
        2 => Level::Raid10(Copies { pattern, count: 2 + rng.below(4) as u16 }),
        3 => Level::Raid4,
        4 if !rotation.is_raid6_only() => Level::Raid5(rotation),
        _ => Level::Raid6(rotation),
    };
    let least = level.least_members();
    let members = (least + rng.below(8) as u16).min(level.most_members());
    let (page, pages_a_unit) = (1 + rng.below(3), 1 + rng.below(4));
    let unit = page * pages_a_unit;
    let member_bytes = rng.below(12 * unit);
    let layout = Layout::new(level, members, unit, page, member_bytes);
    let unit = if level == Level::Raid1 { page } else { unit };
    let rows = member_bytes / unit;
    let moves = matches!(level, Level::Raid5(rotation)
        if ![Rotation::ParityFirst, Rotation::ParityLast].contains(&rotation));
    if moves && rng.chance(0.5) {
        let mut shares: Vec<u16> = (0..members).map(|_| rng.below(4) as u16).collect();
        shares[rng.below(u64::from(members)) as usize] += 1;
        return (layout.sharing(&shares), shared(level, &shares, rows), unit);
    }
    (layout, walked(level, members, rows), unit)
}

/// Places of a logical byte in the walk.
fn places(walked: &Walked, unit: u64, byte: u64) -> Vec<(u16, u64)> {
    let places = walked.units[(byte / unit) as usize].iter();
    places.map(|&(member, row)| (member, row * unit + byte % unit)).collect()
}

/// What the layout says of a range, as pieces (places of the first byte, length).
fn split(layout: &Layout, offset: u64, length: u64) -> Vec<(Vec<(u16, u64)>, u64)> {
    let mut pieces = Vec::new();
    match layout {
        Layout::Striped(striped) => striped.split(offset, length, |device, start, bytes| {
            pieces.push((vec![(device.0, start)], bytes));
        }),
        Layout::Mirrored(mirrored) => mirrored.split(offset, length, |places, bytes| {
            pieces.push((places.iter().map(|&(device, start)| (device.0, start)).collect(), bytes));
        }),
        Layout::Parity(parity) => {
            let unit = layout.stripe_unit();
            for byte in offset..offset + length {
                let (stripe, rest) = (byte / parity.stripe_bytes(), byte % parity.stripe_bytes());
                let member = parity.data_member(stripe, (rest / unit) as u16);
                pieces.push((vec![(member.0, stripe * unit + rest % unit)], 1));
            }
        }
    }
    pieces
}

/// The fewest pieces of a range: each byte goes to the piece that it continues on every member, if there is one.
fn fewest(walked: &Walked, unit: u64, offset: u64, length: u64) -> Vec<(Vec<(u16, u64)>, u64)> {
    let mut pieces: Vec<(Vec<(u16, u64)>, u64)> = Vec::new();
    for byte in offset..offset + length {
        let places = places(walked, unit, byte);
        let continued = pieces.iter_mut().find(|(first, bytes)| {
            first.iter().zip(&places).all(|(from, to)| (from.0, from.1 + *bytes) == *to)
        });
        match continued {
            Some((_, bytes)) => *bytes += 1,
            None => pieces.push((places, 1)),
        }
    }
    pieces
}

#[test]
fn every_byte_has_its_own_places_and_no_more_would_fit() {
    let mut rng = Rng::stream(11, "layout/bytes");
    for _ in 0..1500 {
        let (layout, walked, unit) = random(&mut rng);
        assert_eq!(layout.logical_bytes(), walked.units.len() as u64 * unit, "{layout:?}");
        let mut taken: BTreeSet<(u16, u64)> = BTreeSet::new();
        for byte in 0..layout.logical_bytes() {
            let pieces = split(&layout, byte, 1);
            assert_eq!(pieces, [(places(&walked, unit, byte), 1)], "{layout:?} byte {byte}");
            let members: BTreeSet<u16> = pieces[0].0.iter().map(|place| place.0).collect();
            let copies = if let Layout::Mirrored(mirrored) = &layout { mirrored.copies() } else { 1 };
            assert_eq!(members.len(), usize::from(copies), "{layout:?}: copies on different members");
            for &(member, offset) in &pieces[0].0 {
                assert!(member < layout.members() && offset < layout.member_bytes(), "{layout:?}");
                assert!(!walked.parity.contains(&(member, offset / unit)), "{layout:?}: data on parity");
                assert!(taken.insert((member, offset)), "{layout:?}: two bytes share a place");
            }
        }
        let parity: BTreeSet<(u16, u64)> = if let Layout::Parity(parity) = &layout {
            let stripes = 0..layout.member_bytes() / unit;
            let of = |stripe| [Some(parity.p_member(stripe)), parity.q_member(stripe)].into_iter().flatten();
            stripes.flat_map(|stripe| of(stripe).map(move |member| (member.0, stripe))).collect()
        } else {
            BTreeSet::new()
        };
        assert_eq!(parity, walked.parity, "{layout:?}");
        // The member that is used most is used to its last byte.
        let rows = taken.iter().map(|place| place.1 / unit).chain(parity.iter().map(|place| place.1));
        assert_eq!(layout.member_bytes(), rows.max().map_or(0, |row| (row + 1) * unit), "{layout:?}");
    }
}

#[test]
fn a_range_is_split_into_the_fewest_pieces() {
    let mut rng = Rng::stream(12, "layout/split");
    let mut merged = 0;
    for _ in 0..3000 {
        let (layout, walked, unit) = random(&mut rng);
        let offset = rng.below(layout.logical_bytes() + 1);
        let length = rng.below(layout.logical_bytes() - offset + 1);
        if let Layout::Parity(_) = layout {
            continue;
        }
        let pieces = split(&layout, offset, length);
        assert_eq!(pieces, fewest(&walked, unit, offset, length), "{layout:?} {offset}+{length}");
        assert_eq!(pieces.iter().map(|piece| piece.1).sum::<u64>(), length);
        merged += u64::from(pieces.iter().any(|piece| piece.1 > unit));
    }
    assert!(merged > 100, "{merged} ranges with pieces of several units");
}

#[test]
fn pinned_is_the_inverse() {
    let mut rng = Rng::stream(13, "layout/pinned");
    for _ in 0..1500 {
        let (layout, walked, unit) = random(&mut rng);
        let member = rng.below(u64::from(layout.members())) as u16;
        // The data of the member, in the order of its bytes: which logical byte lies there.
        let mut data: Vec<(u64, u64)> = (0..layout.logical_bytes())
            .flat_map(|byte| places(&walked, unit, byte).into_iter().map(move |place| (place, byte)))
            .filter(|(place, _)| place.0 == member)
            .map(|(place, byte)| (place.1, byte))
            .collect();
        data.sort_unstable();
        assert_eq!(layout.pinned_bytes(DeviceId(member)), data.len() as u64, "{layout:?} member {member}");
        let offset = rng.below(data.len() as u64 + 1);
        let length = rng.below(data.len() as u64 - offset + 1);
        let mut pinned = Vec::new();
        layout.pinned(DeviceId(member), offset, length, |start, bytes| pinned.extend(start..start + bytes));
        let expected = data[offset as usize..(offset + length) as usize].iter().map(|entry| entry.1);
        assert!(pinned.iter().copied().eq(expected), "{layout:?} member {member}, {offset}+{length}");
    }
}

/// Whole rows of the range, with every copy, and the parity of these rows; no byte twice.
#[test]
fn a_write_writes_its_rows_and_their_parity() {
    let mut rng = Rng::stream(16, "layout/written");
    for _ in 0..1500 {
        let (layout, walked, unit) = random(&mut rng);
        let bytes = layout.logical_bytes();
        if bytes == 0 {
            continue;
        }
        let offset = rng.below(bytes);
        let length = 1 + rng.below(bytes - offset);
        let row = layout.page_size();
        let range = offset / row * row..(offset + length).next_multiple_of(row);
        let mut expected: Vec<(u16, u64)> = range.flat_map(|byte| places(&walked, unit, byte)).collect();
        // A byte of parity is made of the bytes that lie as far from the start of other members.
        let with_parity: BTreeSet<u64> = expected.iter().map(|place| place.1).collect();
        let of_unit =
            |&(member, row): &(u16, u64)| (row * unit..(row + 1) * unit).map(move |byte| (member, byte));
        expected
            .extend(walked.parity.iter().flat_map(of_unit).filter(|place| with_parity.contains(&place.1)));
        expected.sort_unstable();
        let mut written = Vec::new();
        layout.written(offset, length, |member, start, bytes| {
            written.extend((start..start + bytes).map(|byte| (member.0, byte)));
        });
        written.sort_unstable();
        assert_eq!(written, expected, "{layout:?} {offset}+{length}");
    }
}

/// Literal numbers for 8 members of 1000 KiB and units of 16 KiB (62 rows).
#[test]
fn capacities() {
    let near = |count| Level::Raid10(Copies { pattern: Pattern::Near, count });
    let far = |count| Level::Raid10(Copies { pattern: Pattern::Far, count });
    let rotation = Rotation::default();
    // (level, members, logical KiB, used KiB of a member)
    let capacities = [
        (Level::Raid0, 8, 8 * 992, 992),
        (Level::Raid1, 8, 1000, 1000),
        (near(2), 8, 4 * 992, 992),
        (near(3), 8, 165 * 16, 992),
        (near(3), 7, 144 * 16, 992),
        (near(7), 8, 70 * 16, 992),
        (far(2), 8, 4 * 992, 992),
        (far(3), 8, 160 * 16, 960),
        (Level::Raid4, 8, 7 * 992, 992),
        (Level::Raid5(rotation), 8, 7 * 992, 992),
        (Level::Raid6(rotation), 8, 6 * 992, 992),
    ];
    for (level, members, logical, used) in capacities {
        let layout = Layout::new(level, members, 16 << 10, 4 << 10, 1000 << 10);
        assert_eq!((layout.logical_bytes() >> 10, layout.member_bytes() >> 10), (logical, used), "{level}");
        assert_eq!((layout.level(), layout.members(), layout.stripe_unit()), (level, members, 16 << 10));
    }
    let raid4 = Layout::new(Level::Raid4, 8, 16 << 10, 4 << 10, 1000 << 10);
    assert_eq!([6, 7].map(|member| raid4.pinned_bytes(DeviceId(member)) >> 10), [992, 0]);
    // 62 rows of left-symmetric: P of stripe s on member 7 - s % 8, so members 2 to 7 lose eight, 0 and 1 seven.
    let raid5 = Layout::new(Level::Raid5(rotation), 8, 16 << 10, 4 << 10, 1000 << 10);
    assert_eq!([0, 1, 2, 7].map(|member| raid5.pinned_bytes(DeviceId(member)) >> 14), [55, 55, 54, 54]);
}

/// A share of whole rows is exactly what the walk fills; near copies that end within a row may differ by a unit.
#[test]
fn filled_is_what_the_share_fills() {
    let mut rng = Rng::stream(14, "layout/filled");
    for _ in 0..3000 {
        let (layout, walked, unit) = random(&mut rng);
        let members = u64::from(layout.members());
        let (row, slack) = match layout.level() {
            Level::Raid0 => (members, 0),
            Level::Raid1 => (1, 0),
            Level::Raid10(Copies { pattern: Pattern::Near, count }) => {
                (members, if members % u64::from(count) == 0 { 0 } else { unit })
            }
            Level::Raid10(_) => (members, 0),
            Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) | Level::Draid(_) => {
                (members - u64::from(layout.level().parities()), 0)
            }
        };
        let filled = rng.below(walked.units.len() as u64 / row + 1) * row;
        if filled == 0 {
            continue;
        }
        let share = filled as f64 / walked.units.len() as f64;
        // Parity of a filled stripe is filled.
        let expected: BTreeSet<u64> = walked.units[..filled as usize]
            .iter()
            .flatten()
            .flat_map(|place| place.1 * unit..(place.1 + 1) * unit)
            .collect();
        let zones: Vec<_> = layout.filled_zones(share).collect();
        let said: BTreeSet<u64> = zones.iter().cloned().flatten().collect();
        let missed = expected.symmetric_difference(&said).count() as u64;
        assert!(missed <= slack, "{layout:?} share {share}: {missed} bytes differ");
        let pair = layout.filled(share);
        match &zones[..] {
            [only] => assert_eq!(pair, [only.clone(), 0..0]),
            [first, between @ .., last] => {
                let second = between.first().unwrap_or(last).start..last.end;
                assert_eq!(pair, [first.clone(), second]);
            }
            [] => panic!("there is a zone"),
        }
        assert_eq!(layout.filled(0.0), [0..0, 0..0], "{layout:?}");
    }
}

/// Page counts as ageing has always rounded them.
#[test]
fn filled_rounds_to_pages() {
    let raid0 = Layout::new(Level::Raid0, 4, 8192, 4096, 41 * 4096);
    let pages = |share: f64| raid0.filled(share).map(|range| (range.start / 4096, range.end / 4096));
    assert_eq!(pages(1.0), [(0, 40), (0, 0)]);
    assert_eq!(pages(0.512), [(0, 20), (0, 0)]);
    assert_eq!(pages(0.513), [(0, 21), (0, 0)]);
    let far =
        Layout::new(Level::Raid10(Copies { pattern: Pattern::Far, count: 2 }), 4, 8192, 4096, 41 * 4096);
    let pages = |share: f64| far.filled(share).map(|range| (range.start / 4096, range.end / 4096));
    assert_eq!(pages(1.0), [(0, 20), (20, 40)]);
    assert_eq!(pages(0.26), [(0, 5), (20, 25)]);
    let far4 =
        Layout::new(Level::Raid10(Copies { pattern: Pattern::Far, count: 4 }), 4, 8192, 4096, 41 * 4096);
    assert_eq!(far4.filled(0.5).map(|range| (range.start / 4096, range.end / 4096)), [(0, 5), (10, 35)]);
    let zones: Vec<_> = far4.filled_zones(0.5).map(|range| (range.start / 4096, range.end / 4096)).collect();
    assert_eq!(zones, [(0, 5), (10, 15), (20, 25), (30, 35)]);
}

#[test]
fn one_member_left_out_is_left_out_of_raid0_only() {
    let raid0 = Layout::new(Level::Raid0, 3, 10, 1, 100).all_but(DeviceId(1));
    assert_eq!((raid0.logical_bytes(), raid0.members(), raid0.pinned_bytes(DeviceId(1))), (200, 3, 100));
    assert_eq!(split(&raid0, 10, 10), [(vec![(2, 0)], 10)]);
    raid0.pinned(DeviceId(1), 0, 100, |_, _| panic!("no logical byte lies there"));
    let mut pinned = Vec::new();
    raid0.pinned(DeviceId(2), 5, 10, |offset, length| pinned.push((offset, length)));
    assert_eq!(pinned, [(15, 5), (30, 5)]);
    let alone = Layout::new(Level::Raid0, 1, 10, 1, 100);
    assert_eq!(alone.clone().all_but(DeviceId(0)), alone);
    let raid1 = Layout::new(Level::Raid1, 3, 10, 1, 100);
    assert_eq!(raid1.clone().all_but(DeviceId(1)), raid1);
}

#[test]
fn what_cannot_be_is_refused() {
    let copies = |pattern, count| Level::Raid10(Copies { pattern, count });
    let refused = [
        (Level::Raid0, 0, 10, 1),
        (Level::Raid1, 9, 10, 1),
        (copies(Pattern::Near, 2), 1, 10, 1),
        (copies(Pattern::Far, 4), 3, 10, 1),
        (copies(Pattern::Near, 1), 4, 10, 1),
        (copies(Pattern::Offset, 9), 9, 10, 1),
        (Level::Raid4, 2, 10, 1),
        (Level::Raid5(Rotation::default()), 2, 10, 1),
        (Level::Raid5(Rotation::LeftSymmetric6), 5, 10, 1),
        (Level::Raid6(Rotation::default()), 3, 10, 1),
        (Level::Raid0, 4, 0, 1),
        (Level::Raid1, 4, 0, 1),
        (Level::Raid6(Rotation::default()), 4, 0, 1),
        (Level::Raid0, 4, 10, 0),
    ];
    for (level, members, unit, page) in refused {
        let built = std::panic::catch_unwind(|| Layout::new(level, members, unit, page, 1000));
        assert!(built.is_err(), "{level} of {members}, unit {unit}, page {page}");
    }
    for (level, members) in
        [(Level::Raid0, 1), (Level::Raid1, 8), (copies(Pattern::Far, 3), 3), (Level::Raid4, 3)]
    {
        assert_eq!(Layout::new(level, members, 10, 1, 1000).members(), members);
    }
}
