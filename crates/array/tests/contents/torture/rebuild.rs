//! Can every member be rebuilt from the others? Asked of rows that nobody is changing.
//!
//! Parity: each member's sectors from all others, and for RAID-6 each pair's, held against what their flash holds.
//! Copies: all the same. Data: what a read would be allowed to return. What members do not hold that are missing or partly built
//! is rebuilt from the others.
//!
//! Not verified: rows under way, which is what a write hole is made of.

use std::sync::{Arc, Mutex};

use harmonia_array::Array;
use harmonia_array::layout::{Parity, Unit};
use harmonia_array::payload::AnyPayload;
use harmonia_ssd::Device;
use harmonia_ssd::probe::{AnyProbe, probe_as};
use harmonia_types::{DeviceId, Lpn, SimTime};

use super::content::{Content, inverse, weight};
use super::flash::Flash;
use super::world::World;

/// An array whose contents are kept. Its probes are [`Flash`], its payload is [`super::world::Contents`].
pub type Kept = Array<AnyProbe, AnyPayload>;

/// The flash of a member.
pub fn flash<C: Content>(device: &Device<AnyProbe>) -> &Flash<C> {
    probe_as(device.probe())
}

/// What a member holds at one of its sectors, or NVRAM in its place.
pub(super) fn held<C: Content>(array: &Kept, world: &World<C>, member: DeviceId, sector: u64) -> C {
    if let Some(parked) = world.parked(member, sector) {
        return parked;
    }
    let member = world.damage.place(member, sector);
    let page_sectors = world.places.page_sectors;
    let device = &array.devices()[member.index()];
    let (lpn, within) = ((sector / page_sectors) as u32, (sector % page_sectors) as usize);
    let flash: &Flash<C> = flash(device);
    let page = flash.contents(device.ftl(), lpn);
    page.map_or_else(|| flash.unmapped(Lpn(lpn), within), |page| page[within])
}

/// Checks a row of a parity array that nobody holds; returns how many pages' worth of sectors were rebuilt.
pub fn check_row<C: Content>(
    array: &Kept,
    world: &Arc<Mutex<World<C>>>,
    row: u64,
    now: SimTime,
) -> Result<u64, String> {
    let world = world.lock().expect("one thread");
    let places = &world.places;
    let Some(parity) = places.parity() else { return Ok(0) };
    let mut rebuilt = 0;
    for line in row * places.row_sectors..(row + 1) * places.row_sectors {
        let (stripe, sector) = (line / places.unit_sectors, places.sector(line));
        let members = places.members(line);
        let mut units = vec![None; members.len()];
        for member in members {
            let is_there = world.damage.holds(member, sector);
            let unit = position(parity, parity.unit_on(stripe, member));
            units[unit] = is_there.then(|| held(array, &world, member, sector));
        }
        if !world.is_broken(line) && !world.unlike.contains(&line) {
            rebuilt += check_units(parity, &mut units).map_err(|what| {
                format!("row {row}, stripe {stripe}, sector {sector} of the members: {what}")
            })?;
        }
        for unit in 0..parity.data_units() {
            let logical = places.logical(parity.data_member(stripe, unit), sector);
            let logical = logical.ok_or("a data unit without data")?;
            if let Some(content) = &units[usize::from(unit)] {
                check_data(&world, logical, content, now)?;
            }
        }
    }
    Ok(rebuilt)
}

/// The power fails now: whatever a sector holds, on the flash of each of its places or in NVRAM, a write may have left there
/// that was not superseded. Returns how many sectors that were.
pub fn check_power_loss<C: Content>(
    array: &Kept,
    world: &Arc<Mutex<World<C>>>,
    now: SimTime,
) -> Result<u64, String> {
    let world = world.lock().expect("one thread");
    for logical in 0..world.places.logical_sectors {
        for (member, sector) in world.places.copies(logical) {
            if !world.damage.holds(member, sector) {
                continue;
            }
            check_data(&world, logical, &held(array, &world, member, sector), now)
                .map_err(|what| format!("after a loss of power: {what}"))?;
        }
    }
    Ok(world.places.logical_sectors)
}

/// Checks all copies of a page of an array without parity, where nobody is writing it.
pub fn check_copies<C: Content>(
    array: &Kept,
    world: &Arc<Mutex<World<C>>>,
    page: u64,
    now: SimTime,
) -> Result<u64, String> {
    let world = world.lock().expect("one thread");
    let places = &world.places;
    let mut compared = 0;
    for logical in page * places.page_sectors..(page + 1) * places.page_sectors {
        if !world.truth.is_quiet(logical, now) {
            continue;
        }
        let mut copies = places.copies(logical);
        copies.retain(|&(member, sector)| world.damage.holds(member, sector));
        if world.truth.is_lost(logical, now) || world.apart.contains(&logical) {
            continue;
        }
        if copies.is_empty() {
            return Err(format!("logical sector {logical} has no copy left, and is not lost"));
        }
        let first = held(array, &world, copies[0].0, copies[0].1);
        check_data(&world, logical, &first, now)?;
        for &(member, sector) in &copies[1..] {
            if held(array, &world, member, sector) != first {
                return Err(format!("logical sector {logical}: the copy of member {} differs", member.0));
            }
        }
        compared += copies.len() as u64 - 1;
    }
    Ok(compared)
}

/// A sector that nobody is writing holds what a read that arrives now may return.
fn check_data<C: Content>(world: &World<C>, logical: u64, found: &C, now: SimTime) -> Result<(), String> {
    if world.truth.admits(logical, found, now) {
        return Ok(());
    }
    let may = world.truth.describe(logical, now);
    Err(format!("logical sector {logical} lies wrong on flash: it may be {may}"))
}

/// Data units by number, then P, then Q.
pub(super) fn position(parity: &Parity, unit: Unit) -> usize {
    match unit {
        Unit::Data(unit) => usize::from(unit),
        Unit::P => usize::from(parity.data_units()),
        Unit::Q => usize::from(parity.data_units()) + 1,
        Unit::None => unreachable!("only members of a stripe are asked"),
    }
}

/// Rebuilds what is missing. Then takes every unit away, and every pair, as far as there is parity left, and rebuilds it.
fn check_units<C: Content>(parity: &Parity, units: &mut [Option<C>]) -> Result<u64, String> {
    let data = usize::from(parity.data_units());
    if units.iter().all(|unit| *unit == Some(C::ZERO)) {
        // Zeros rebuild zeros; much of a small array is never written.
        return Ok(0);
    }
    let missing: Vec<usize> = (0..units.len()).filter(|&unit| units[unit].is_none()).collect();
    let left = usize::from(parity.parities()).checked_sub(missing.len());
    let left = left.ok_or("more is missing than can be rebuilt, and nobody knows")?;
    rebuild(units, data);
    let mut rebuilt = missing.len() as u64;
    let mut check = |lost: &[usize]| {
        let mut partial = units.to_vec();
        lost.iter().chain(&missing).for_each(|&unit| partial[unit] = None);
        rebuild(&mut partial, data);
        rebuilt += 1;
        if partial == units {
            Ok(())
        } else {
            Err(format!("units {lost:?} (data, then P, Q) are not what the others say, without {missing:?}"))
        }
    };
    for first in (0..units.len()).filter(|_| left > 0) {
        check(&[first])?;
        for second in (first + 1..units.len()).filter(|_| left > 1) {
            check(&[first, second])?;
        }
    }
    Ok(rebuilt)
}

/// Fills in what is missing of `data` data units, P and perhaps Q: no more than there are parities.
pub(super) fn rebuild<C: Content>(units: &mut [Option<C>], data: usize) {
    let missing: Vec<usize> = (0..data).filter(|&unit| units[unit].is_none()).collect();
    // What is missing of each parity once the data that is there is taken off.
    let rest = |units: &[Option<C>], parity: usize, factor: fn(usize) -> u8| {
        let mut rest = (*units.get(data + parity)?)?;
        for (unit, content) in units[..data].iter().enumerate() {
            if let Some(content) = content {
                rest.add_times(factor(unit), content);
            }
        }
        Some(rest)
    };
    match *missing {
        [] => {}
        [unit] => {
            units[unit] = match rest(units, 0, |_| 1) {
                Some(content) => Some(content),
                None => rest(units, 1, weight).map(|weighted| weighted.times(inverse(weight(unit)))),
            };
        }
        [first, second] => {
            let (Some(sum), Some(weighted)) = (rest(units, 0, |_| 1), rest(units, 1, weight)) else { return };
            // first + second = sum, and g^first * first + g^second * second = weighted.
            let mut content = weighted;
            content.add_times(weight(second), &sum);
            let content = content.times(inverse(weight(first) ^ weight(second)));
            let mut other = sum;
            other.add(&content);
            (units[first], units[second]) = (Some(content), Some(other));
        }
        _ => {}
    }
    let (known, parities) = units.split_at_mut(data);
    for (parity, lost) in parities.iter_mut().enumerate().filter(|(_, parity)| parity.is_none()) {
        let mut sum = C::ZERO;
        for (unit, content) in known.iter().enumerate() {
            let Some(content) = content else { return };
            sum.add_times(if parity == 0 { 1 } else { weight(unit) }, content);
        }
        *lost = Some(sum);
    }
}
