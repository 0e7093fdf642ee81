//! Do placement handles that requests name stay apart on the members of an array, and are they counted?
//!
//! All requests are of one volume, and each row of the stripes belongs to one handle:
//!
//! ```text
//! row        0   1   2   3             4 ...
//! request    0   1   2   3             none: the volume, which is the first
//! member     1   2   3   4, unknown    1          parity: 0
//! ```
//!
//! Not verified: handles of requests that are answered from NVRAM, whose writes come behind it as work of the array's own.

use std::collections::BTreeMap;

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::payload::{NoPayload, any as any_payload};
use harmonia_array::{Array, ArrayConfig, Level, StripeCacheConfig};
use harmonia_engine::Rng;
use harmonia_ssd::probe::{AnyProbe, FlashPage, Origin, Probe, any, probe_as};
use harmonia_ssd::{Frontiers, PolicyConfig};
use harmonia_types::{HostRequest, IoCause, Lpn, Operation, PlacementHandle};

const ROWS: u64 = 5;
/// Handles that members know besides the default one.
const KNOWN: u16 = 3;

/// What the host says of a row.
fn said(row: u64) -> Option<PlacementHandle> {
    PlacementHandle::new(row % ROWS).filter(|_| row % ROWS < 4)
}

/// What a member makes of it.
fn of_member(row: u64) -> u16 {
    [1, 2, 3, 0, 1][(row % ROWS) as usize]
}

/// A member, whose pages are rows: which handle each block holds.
#[derive(Debug, Default)]
struct Apart {
    handle_of: BTreeMap<Lpn, u16>,
    blocks: BTreeMap<(u32, u32), u16>,
    page_bits: u32,
    moved: [u64; 4],
}

impl Apart {
    fn lies(&mut self, page: FlashPage, handle: u16) {
        let block = (page.unit, page.ppn.0 >> self.page_bits);
        let of_block = *self.blocks.entry(block).or_insert(handle);
        assert_eq!(of_block, handle, "two handles share {block:?}");
    }
}

impl Probe for Apart {
    fn audits(&self) -> bool {
        true
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, cause: IoCause, _: Option<Origin>) {
        let handle = if cause == IoCause::Host { of_member(lpn.0.into()) } else { 0 };
        self.handle_of.insert(lpn, handle);
        self.lies(to, handle);
    }

    fn copy(&mut self, _: FlashPage, to: FlashPage, lpn: Lpn) {
        // What nobody wrote since the member was filled has the default handle.
        let handle = self.handle_of.get(&lpn).copied().unwrap_or(0);
        self.moved[usize::from(handle)] += 1;
        self.lies(to, handle);
    }

    fn erase(&mut self, unit: u32, block: u32) {
        self.blocks.remove(&(unit, block));
    }
}

fn array(of: Level, members: u16, entries: u32) -> ArrayConfig {
    let mut ssd = one_die(40, 8, 20);
    ssd.ftl.frontiers = Frontiers::Separate;
    ssd.ftl.placement = PolicyConfig::named("streams").with("handles", KNOWN).with("isolation", "persistent");
    ssd.gc.hard_threshold = harmonia_ssd::Amount::Blocks(3);
    let stripe_cache = StripeCacheConfig { entries, delays: false };
    ArrayConfig { stripe_cache, ..level(of, &ssd, members, PAGE) }
}

/// Serves writes of a page each. `data`: pages of data in a row; `copies`: of each.
fn serve(config: &ArrayConfig, data: u64, copies: u64, ahead: bool) {
    let states = all_filled(config, 1);
    let page_bits = states[0].shape().page_bits;
    let rows = u64::from(states[0].shape().unit_pages);
    let probe = |_| any(Apart { page_bits, ..Apart::default() });
    let mut array =
        Array::<AnyProbe, _>::with_payload(config, states, any_payload(NoPayload), probe).unwrap();
    let mut rng = Rng::stream(5, "handles");
    let mut written = [0; KNOWN as usize + 1];
    // What filled the members had none.
    written[0] = rows * u64::from(config.devices);
    let mut unknown = 0;
    if ahead {
        array.run_ahead().expect("a stripe");
    }
    for id in 0..12 * rows * data {
        let page = rng.below(rows * data);
        let row = page / data;
        let write = HostRequest {
            handle: said(row),
            ..request(id, us(id * 400), Operation::Write, page * PAGE, PAGE)
        };
        if ahead {
            array.submit_ahead(&write);
            array.catch_up(write.arrival, 1, |_| ()).unwrap();
        } else {
            array.advance_until(write.arrival).unwrap();
            array.submit(write).unwrap();
        }
        written[usize::from(of_member(row))] += copies;
        unknown += if row % ROWS == 3 { copies } else { 0 };
    }
    if ahead {
        array.catch_up(us(1 << 40), 1, |_| ()).unwrap();
    }
    drain(&mut array);
    let of_parity = array.devices().iter().map(|device| device.counters().programmed(IoCause::Parity));
    written[0] += of_parity.sum::<u64>();
    let (mut found, mut moved, mut of_unknown) = ([0; KNOWN as usize + 1], [0; KNOWN as usize + 1], 0);
    for device in array.devices() {
        let counters = device.counters();
        for (handle, stream) in counters.streams.iter().enumerate().take(found.len()) {
            found[handle] += stream.written_pages;
            moved[handle] += stream.moved_pages;
        }
        of_unknown += counters.unknown_handle_pages;
        for (sum, moved) in moved.iter_mut().zip(probe_as::<Apart>(device.probe()).moved) {
            *sum -= moved;
        }
    }
    assert_eq!((found, of_unknown), (written, unknown), "{}", config.level);
    assert_eq!(moved, [0; 4], "{}: every page that moved had its handle", config.level);
}

#[test]
fn two_handles_of_one_volume_never_share_a_block_and_each_is_counted() {
    serve(&array(Level::Raid0, 2, 0), 2, 1, false);
    serve(&array(Level::Raid0, 2, 0), 2, 1, true);
    serve(&array(Level::Raid1, 2, 0), 1, 2, false);
    serve(&array(Level::Raid5(Default::default()), 4, 0), 3, 1, false);
    serve(&array(Level::Raid5(Default::default()), 4, 8), 3, 1, false);
    serve(&array(Level::Raid6(Default::default()), 5, 0), 3, 1, false);
}
