//! Ageing by a load: what it writes and trims, without time, to the members that hold it.
//!
//! ```text
//!   load ──write──> layout ──data, copies, parity──> pages of member 0 ──> its FTL      one thread deals a batch,
//!                                                    pages of member 1 ──> its FTL      then each member takes its pages
//! ```
//!
//! Members meet what they meet in a run: hot pages, and parity that is written as often as all data of its row. A member takes its
//! pages in the order in which they were dealt, so the result is the same on any number of threads.
//!
//! Leaves out: whatever keeps writes from members or delays them, such as write caches of drives, a stripe cache and parked writes;
//! partial pages and the reads for parity, which change nothing about where pages lie. Stripes that float stay where they begin: nobody
//! collects while something is written.

use std::sync::atomic::Ordering;

use harmonia_engine::workers::{self, CancelOnPanic};
use harmonia_ssd::gc::victim::{self, Victim};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, Goal, OutOfBlocks, SsdConfig};
use harmonia_types::{Bytes, DeviceId, HostRequest, IoCause, Operation};

use super::{
    AgedState, AgeingError, AgeingPlan, Anywhere, MOST_THREADS, Marks, TOGETHER, age_device, empty,
    write_maps, write_to,
};
use crate::config::ArrayConfig;
use crate::layout::Layout;

/// Pages that members take, or requests that are dealt, before they take them. Unit: pages of all members.
const BATCH: u64 = 1 << 20;

/// Ages an array from empty: fills it, then takes what `next` gives until members have been written `plan.overwrite` times as many
/// pages as the fill gave them. `next` gives writes and trims, of which writes come again and again. `excluded` is the member of
/// a RAID-0 that only pinned requests go to.
///
/// # Errors
/// If it is cancelled, cannot work, `next` fails, or a device runs out of free blocks.
pub fn age_by(
    config: &ArrayConfig,
    plan: &AgeingPlan<'_>,
    excluded: Option<DeviceId>,
    next: &mut dyn FnMut() -> Result<HostRequest, String>,
) -> Result<AgedState, AgeingError> {
    let (mut devices, mut layout, filled) = empty(config, plan)?;
    let mut mapped = 0;
    for (index, (ftl, filled)) in devices.iter_mut().zip(&filled).enumerate() {
        age_device(&config.members[index].ssd, ftl, index as u16, filled, 0, plan)?;
        mapped += filled.overwritten();
    }
    if let Some(excluded) = excluded {
        layout = layout.all_but(excluded);
    }
    let members = config.members.iter().zip(devices).map(|(member, ftl)| Member::new(&member.ssd, ftl));
    let mut members = members.collect::<Result<Vec<Member>, _>>()?;
    let total = (mapped as f64 * plan.overwrite).round() as u64;
    // Readings before the last two windows of half the capacity, and at the end.
    let window = mapped / 2;
    let stops = [total.saturating_sub(2 * window), total.saturating_sub(window), total];
    let mut marks = Marks { units: 1, complete: 0 < window && 2 * window <= total, ..Marks::default() };
    let mut written = 0;
    for (mark, stop) in stops.into_iter().enumerate() {
        while written < stop {
            let most = (stop - written).min(BATCH);
            let (mut batch, mut dealt) = (0, 0);
            // Trims take memory, too, and reads of the load take time.
            while batch < most && dealt < BATCH {
                if plan.cancel.load(Ordering::Relaxed) {
                    return Err(AgeingError::Cancelled);
                }
                dealt += 1;
                let request = next().map_err(AgeingError::Load)?;
                batch += deal(&layout, config.page_size(), &request, &mut members);
            }
            let take = |(index, member): (usize, &mut Member)| {
                let _stop = CancelOnPanic(plan.cancel);
                member.take().map_err(|error| AgeingError::OutOfBlocks(index as u16, error))
            };
            workers::each(members.iter_mut().enumerate(), plan.threads.min(MOST_THREADS), take)?;
            if plan.cancel.load(Ordering::Relaxed) {
                return Err(AgeingError::Cancelled);
            }
            written += batch;
            plan.pages_done.fetch_add(batch, Ordering::Relaxed);
        }
        marks.programs[mark] = members.iter().map(|member| member.ftl.tally().data_programs()).sum();
        marks.host[mark] = written;
    }
    let mut devices: Vec<Ftl> = members.into_iter().map(|member| member.ftl).collect();
    write_maps(config, &mut devices)?;
    Ok(AgedState { devices, steadiness: marks.steadiness() })
}

/// Gives members the pages that a request writes or trims, and says how many are written.
fn deal(layout: &Layout, page: Bytes, request: &HostRequest, members: &mut [Member]) -> u64 {
    let HostRequest { operation, offset, length, member, .. } = *request;
    let trims = operation == Operation::Trim;
    let mut written = 0;
    let mut give = |member: DeviceId, offset: Bytes, length: Bytes| {
        let pages = offset / page..(offset + length).div_ceil(page);
        written += if trims { 0 } else { pages.end - pages.start };
        members[member.index()].dealt.push(Pages { first: pages.start as u32, end: pages.end as u32, trims });
    };
    let mut spread = |offset: Bytes, length: Bytes| match layout.trimmed(offset, length) {
        Some((offset, length)) if trims => layout.written(offset, length, &mut give),
        None if trims => {}
        _ => layout.written(offset, length, &mut give),
    };
    match (member, layout) {
        (None, _) => spread(offset, length),
        // A page that is trimmed in part stays.
        (Some(member), Layout::Striped(_)) if trims => {
            let (start, end) = (offset.next_multiple_of(page), (offset + length) / page * page);
            if start < end {
                give(member, start, end - start);
            }
        }
        (Some(member), Layout::Striped(_)) => give(member, offset, length),
        (Some(member), _) => layout.pinned(member, offset, length, spread),
    }
    written
}

/// A range of pages that a member is to write or to trim.
struct Pages {
    first: u32,
    end: u32,
    trims: bool,
}

struct Member {
    ftl: Ftl,
    goal: Goal,
    policy: Box<dyn Victim>,
    /// Where pages may lie anywhere.
    anywhere: Option<Anywhere>,
    dealt: Vec<Pages>,
}

impl Member {
    fn new(config: &SsdConfig, ftl: Ftl) -> Result<Member, AgeingError> {
        let policy = victim::build(&config.gc.victim).map_err(AgeingError::Infeasible)?;
        let shape = ftl.shape();
        let goal = Goal { stop: shape.stop, min_victims: config.gc.min_victims };
        let anywhere = shape.is_dynamic().then(|| Anywhere::new(shape));
        Ok(Member { goal, policy, anywhere, ftl, dealt: Vec::new() })
    }

    /// Takes what was dealt. A page's map entry is asked for [`TOGETHER`] pages ahead, and what is noted of the block in which its old data
    /// lies half as many.
    fn take(&mut self) -> Result<(), OutOfBlocks> {
        const HALF: usize = TOGETHER / 2;
        let Member { ftl, goal, policy, anywhere, dealt } = self;
        let mut pages =
            dealt.drain(..).flat_map(|Pages { first, end, trims }| (first..end).map(move |lpn| (lpn, trims)));
        let ask_for = |ftl: &Ftl, (lpn, trims): (u32, bool)| {
            let place = if ftl.shape().is_dynamic() { (0, lpn) } else { placed(ftl, lpn) };
            ftl.prefetch(place.0, place.1);
            Some((place, trims))
        };
        let mut known = [None; TOGETHER];
        for known in &mut known {
            *known = pages.next().and_then(|page| ask_for(ftl, page));
        }
        let mut at = 0;
        while let Some(((unit, within), trims)) = known[at] {
            known[at] = pages.next().and_then(|page| ask_for(ftl, page));
            if let Some(((unit, within), _)) = known[(at + HALF) % TOGETHER] {
                ftl.prefetch_old_block(unit, within);
            }
            let unit = match anywhere {
                None => unit,
                Some(_) if trims => ftl.home(within).unwrap_or(0),
                Some(anywhere) => anywhere.unit(ftl, within),
            };
            if trims {
                ftl.unit(unit).trim(within, &mut NoProbe);
            } else {
                write_to(ftl, unit, within, (*goal, IoCause::Host), &**policy)?;
            }
            at = (at + 1) % TOGETHER;
        }
        Ok(())
    }
}

/// The unit that the number of a page names, and its number there.
fn placed(ftl: &Ftl, lpn: u32) -> (u32, u32) {
    let (_, unit, within) = ftl.shape().locate(lpn);
    (unit, within)
}

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;
    use harmonia_flash::presets;
    use harmonia_ssd::{Allocation, Amount, FtlConfig};

    use super::*;

    /// The same page by page, with nothing asked for ahead.
    fn take_one_by_one(member: &mut Member) {
        let Member { ftl, goal, policy, anywhere, dealt } = member;
        for Pages { first, end, trims } in dealt.drain(..) {
            for lpn in first..end {
                let (unit, within) = match anywhere {
                    None => placed(ftl, lpn),
                    Some(_) if trims => (ftl.home(lpn).unwrap_or(0), lpn),
                    Some(anywhere) => (anywhere.unit(ftl, lpn), lpn),
                };
                if trims {
                    ftl.unit(unit).trim(within, &mut NoProbe);
                } else {
                    write_to(ftl, unit, within, (*goal, IoCause::Host), &**policy).expect("spare suffices");
                }
            }
        }
    }

    /// Batches of no page, of fewer pages than are asked for ahead, of as many and of more, with trims of pages that are about to be written.
    #[test]
    fn what_is_asked_for_ahead_changes_nothing() {
        for allocation in [Allocation::CWDP, Allocation::Dynamic] {
            let flash = presets::find("tiny-test").expect("the preset for tests");
            let ftl =
                FtlConfig { reserved_blocks: Amount::Percent(20.0), allocation, ..FtlConfig::default() };
            let config = SsdConfig { ftl, ..SsdConfig::of(flash) };
            let member = || Member::new(&config, Ftl::new(&config, 1, "member").expect("it works"));
            let [mut ahead, mut plain] = [(); 2].map(|()| member().expect("it works"));
            let pages = ahead.ftl.shape().logical_pages;
            let mut rng = Rng::stream(1, "dealt");
            for batch in [0, 1, 7, 31, 32, 33, 40_000, 3] {
                for _ in 0..batch {
                    let first = rng.below(u64::from(pages - 3)) as u32;
                    let end = first + 1 + rng.below(3) as u32;
                    let dealt = || Pages { first, end, trims: end == first + 3 };
                    ahead.dealt.push(dealt());
                    plain.dealt.push(dealt());
                }
                ahead.take().expect("spare suffices");
                take_one_by_one(&mut plain);
                assert!(ahead.dealt.is_empty());
            }
            let shape = ahead.ftl.shape();
            for lpn in 0..pages {
                let place = |ftl: &Ftl| match shape.is_dynamic() {
                    true => (ftl.home(lpn), ftl.home(lpn).and_then(|unit| ftl.lookup(unit, lpn))),
                    false => (None, ftl.lookup(placed(ftl, lpn).0, placed(ftl, lpn).1)),
                };
                assert_eq!(place(&ahead.ftl), place(&plain.ftl), "page {lpn}, {allocation:?}");
            }
            assert_eq!(ahead.ftl.tally(), plain.ftl.tally());
            assert!(ahead.ftl.tally().moves() > 1_000, "it collects");
        }
    }
}
