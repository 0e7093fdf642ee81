//! Literal configurations: one die with one plane and nothing else, so that every closed form can be written down.

use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::payload::Payload;
use harmonia_array::{Array, ArrayConfig, CoordinationConfig, Interface, Level, MemberConfig};
use harmonia_flash::{Copyback, Geometry, Timing};
use harmonia_ssd::interface::Stop;
use harmonia_ssd::probe::{NoProbe, Probe};
use harmonia_ssd::{Amount, Ftl, FtlConfig, GcConfig, SsdConfig};
use harmonia_types::{Completion, DeviceId, HostRequest, IoCause, Operation, SimDuration, SimTime};

/// Bytes of a page of every device here.
pub const PAGE: u64 = 4096;

/// A device of one die and one plane with pins of its own: `blocks` of `data_pages`, `reserved` of them spare.
/// Collects when no block is free, until one is: the smallest free pool there can be. Its link takes no time.
pub fn one_die(blocks: u32, data_pages: u32, reserved: u32) -> SsdConfig {
    SsdConfig {
        geometry: Geometry {
            blocks_per_plane: blocks,
            pages_per_block: data_pages,
            page_size: PAGE as u32,
            own_pins: true,
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: SimDuration::from_us(25).into(),
            program: SimDuration::from_us(200).into(),
            erase: SimDuration::from_us(1500),
            transfer: SimDuration::from_us(20),
            copyback: Copyback::Die,
            ..Timing::PLAIN
        },
        ftl: FtlConfig { reserved_blocks: Amount::Blocks(reserved), ..FtlConfig::default() },
        gc: GcConfig { hard_threshold: Amount::Blocks(0), ..GcConfig::default() },
        ..SsdConfig::plain("literal")
    }
}

/// A RAID-0 array of `members` equal devices, each collecting on its own.
pub fn raid0(ssd: &SsdConfig, members: u16, stripe_unit: u64) -> ArrayConfig {
    level(Level::Raid0, ssd, members, stripe_unit)
}

/// The same of any level.
pub fn level(level: Level, ssd: &SsdConfig, members: u16, stripe_unit: u64) -> ArrayConfig {
    ArrayConfig {
        coordination: CoordinationConfig::of("local", SimDuration::ZERO),
        ..ArrayConfig::of(
            level,
            stripe_unit,
            vec![MemberConfig { capable: true, ssd: ssd.clone() }; usize::from(members)],
        )
    }
}

/// A member with every page written `times` times, each time in order.
pub fn filled(config: &SsdConfig, member: u16, times: u32) -> Ftl {
    let mut ftl = Ftl::new(config, 1, &format!("device/{member}")).unwrap();
    for _ in 0..times {
        for lpn in 0..ftl.shape().unit_pages {
            ftl.unit(0).program(lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
    }
    ftl
}

/// As [`filled`], for every member of an array.
pub fn all_filled(config: &ArrayConfig, times: u32) -> Vec<Ftl> {
    (0..config.devices)
        .map(|member| filled(&config.members[usize::from(member)].ssd, member, times))
        .collect()
}

/// A host request.
pub fn request(id: u64, arrival: SimTime, operation: Operation, offset: u64, length: u64) -> HostRequest {
    HostRequest::new(id, arrival, operation, offset, length)
}

/// Microseconds after the beginning.
pub const fn us(time: u64) -> SimTime {
    SimTime(time * 1000)
}

/// Lets everything under way finish; the completions.
pub fn drain<P: Probe, C: Payload>(array: &mut Array<P, C>) -> Vec<Completion> {
    while array.next_wakeup() != SimTime::NEVER {
        array.advance_until(array.next_wakeup()).unwrap();
    }
    array.audit();
    array.completions().drain(..).collect()
}

/// What a new and full array makes of these requests, in their order.
pub fn serve(config: &ArrayConfig, requests: &[HostRequest]) -> Vec<Completion> {
    let mut array = Array::new(config, all_filled(config, 1), None, |_| NoProbe).unwrap();
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    let mut done = drain(&mut array);
    done.sort_by_key(|done| done.id);
    assert_eq!(done.len(), requests.len());
    done
}

/// So many requests of one page each at 7 us, one behind the other.
pub fn at_once(operation: Operation, count: u64) -> Vec<HostRequest> {
    (0..count).map(|id| request(id, us(7), operation, id * PAGE, PAGE)).collect()
}

/// Forces members to collect, each at its time; otherwise nothing.
#[derive(Clone)]
pub struct Forces(pub Vec<(SimTime, u16)>);

impl Coordinator for Forces {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, _: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match event {
            Event::Start => {
                let timer = |&(at, member): &(SimTime, u16)| Action::Timer(at, u64::from(member));
                actions.extend(self.0.iter().map(timer));
            }
            Event::Timer(member) => actions.push(Action::Force(DeviceId(*member as u16), Stop::Internal)),
            _ => {}
        }
    }
}
