//! Where did the time of a request go in the array, operation by operation and wait by wait?
//!
//! ```text
//! a read: 25 us and 20 us of transfer        a write: 20 us of transfer and 200 us
//! ```

use std::collections::BTreeSet;

use crate::common::{PAGE, all_filled, at_once, drain, filled, level, one_die, raid0, request, us};
use harmonia_array::payload::NoPayload;
use harmonia_array::{
    Array, ArrayConfig, Befalls, CoordinationConfig, Fault, Faults, Followed, Followup, Holder, Level,
    MemberConfig, OperationAccount, StripeCacheConfig, What, When, WriteHole,
};
use harmonia_engine::Rng;
use harmonia_ssd::follow::{Follower, Switch};
use harmonia_ssd::probe::{AnyProbe, Probe, any};
use harmonia_types::{Blame, DeviceId, HostRequest, Operation, Phase, RequestBlame, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(harmonia_array::layout::Rotation::LeftSymmetric);

struct Follows(Follower);

impl Probe for Follows {
    fn follower(&mut self) -> Option<&mut Follower> {
        Some(&mut self.0)
    }

    fn followed(&self) -> Option<&Follower> {
        Some(&self.0)
    }
}

/// What is known of the requests that are followed, in order of their ids.
fn followed(config: &ArrayConfig, whom: Followed, requests: &[HostRequest]) -> Vec<Followup> {
    let switch = Switch::default();
    let probe = |_| any(Follows(Follower::new(1, &switch)));
    let mut states = all_filled(config, 1);
    let others = config.faults.spares.iter().chain(&config.faults.journal);
    states.extend(others.map(|other| filled(&other.ssd, config.devices, 0)));
    let mut array: Array<AnyProbe, NoPayload> = Array::new(config, states, None, probe).unwrap();
    array.follow(whom, switch.clone());
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    drain(&mut array);
    let mut all = std::mem::take(array.followed().expect("requests are followed"));
    all.sort_by_key(|one| one.completion.id);
    all
}

/// From when until when, in microseconds, and what.
fn steps(one: &Followup) -> Vec<(u64, u64, &What)> {
    one.steps.iter().map(|step| (step.from.0 / 1000, step.until.0 / 1000, &step.what)).collect()
}

/// An operation of a step.
fn operation(what: &What) -> &OperationAccount {
    let What::Operation(account) = what else { panic!("{what:?}") };
    account
}

fn small() -> ArrayConfig {
    level(RAID5, &one_die(16, 4, 12), 3, PAGE)
}

fn write(id: u64, at: u64, page: u64) -> HostRequest {
    request(id, us(at), Operation::Write, page * PAGE, PAGE)
}

/// Stripe 1 has page 3 on member 0, parity on member 1 and page 2 on member 2.
#[test]
fn a_small_write_is_a_read_and_then_a_write() {
    let all = followed(&small(), Followed::All, &[write(7, 5, 3)]);
    let [(5, 50, first), (50, 270, second)] = steps(&all[0])[..] else { panic!("{all:?}") };
    let (read, write) = (operation(first), operation(second));
    assert_eq!([read.operation, write.operation], [Operation::Read, Operation::Write]);
    assert_eq!([read.phase, write.phase], [Phase::Parity, Phase::Data]);
    for account in [read, write] {
        assert_eq!((account.offset, account.length, account.is_refused), (PAGE, PAGE, false));
        assert_eq!(
            (account.device, account.blame.total()),
            (account.member, if account == read { 45_000 } else { 220_000 })
        );
        let page = account.page.as_ref().expect("its member knows it");
        assert_eq!(page.blame, account.blame);
    }
}

#[test]
fn a_write_that_waits_for_its_row_is_told_for_which_request() {
    let all = followed(&small(), Followed::All, &[write(7, 5, 3), write(8, 6, 3)]);
    let told = steps(&all[1]);
    assert_eq!(told[0], (6, 270, &What::Rows(Holder::Host(Some(7)))));
    assert_eq!(told[1..].iter().map(|step| (step.0, step.1)).collect::<Vec<_>>(), [(270, 315), (315, 535)]);
}

#[test]
fn a_request_that_waits_for_room_at_a_member_is_told_for_which() {
    let mut config = raid0(&one_die(16, 4, 12), 2, PAGE);
    config.queue_depth = Some(1);
    // Pages 0 and 2 lie on member 0. All members together are given one.
    let reads = at_once(Operation::Read, 3);
    let all = followed(&config, Followed::Only(BTreeSet::from([1, 2])), &reads);
    assert_eq!(all.iter().map(|one| one.completion.id).collect::<Vec<_>>(), [1, 2]);
    for (one, waits, ends) in
        [(&all[0], What::Depth(DeviceId(1)), 52), (&all[1], What::Depth(DeviceId(0)), 97)]
    {
        let told = steps(one);
        assert_eq!((told.len(), told[0]), (2, (7, ends, &waits)));
        assert_eq!((told[1].0, told[1].1), (ends, ends + 45));
    }
}

fn fails(member: u16, at: u64) -> Fault {
    Fault { device: DeviceId(member), at: When::Time(us(at)), what: Befalls::Failure }
}

/// A spare has taken the place of member 1. It has number 3, and the journal number 4.
#[test]
fn members_are_told_by_their_places_and_with_the_devices_there() {
    let mut config = small();
    let device = MemberConfig { capable: true, ssd: one_die(16, 4, 12) };
    config.faults = Faults {
        events: vec![fails(1, 100)],
        spares: vec![device.clone()],
        write_hole: WriteHole::Journal(16 * PAGE),
        journal: Some(device),
        ..Faults::default()
    };
    let all = followed(&config, Followed::All, &[request(0, us(5_000_000), Operation::Write, 0, 2 * PAGE)]);
    let mut told = BTreeSet::new();
    for page in 0..6 {
        let read = request(0, us(5_000_000), Operation::Read, page * PAGE, PAGE);
        let all = followed(&config, Followed::All, &[read]);
        told.insert(steps(&all[0]).iter().map(|step| names(step.2)).collect::<Vec<_>>());
    }
    assert_eq!(told.into_iter().collect::<Vec<_>>(), [[(0, 0)], [(1, 3)], [(2, 2)]]);
    assert!(steps(&all[0]).iter().any(|step| names(step.2) == (4, 4)), "{all:?}");
}

/// The member and the device of an operation.
fn names(what: &What) -> (u16, u16) {
    (operation(what).member.0, operation(what).device.0)
}

/// The array is dirty and has lost a member when power is back: it does not start, and answers without the data.
#[test]
fn a_request_that_is_answered_without_an_operation_has_waited_for_power() {
    let mut config = small();
    config.faults.events = vec![fails(1, 5_000)];
    config.faults.power_losses = vec![When::Time(us(10_000))];
    let all = followed(&config, Followed::All, &[write(0, 9_900, 3), write(1, 10_100, 3)]);
    assert_eq!(steps(&all[0]), [(9_900, 10_000, &What::Restart)]);
    assert_eq!(all[0].completion.blame, RequestBlame { restart: 100_000, ..RequestBlame::NONE });
    assert_eq!(steps(&all[1]), []);
}

/// What a step is about.
fn kind(what: &What) -> &'static str {
    match what {
        What::Restart => "restart",
        What::EarlierWrites => "earlier writes",
        What::Rows(_) => "rows",
        What::Entries => "entries",
        What::Log => "log",
        What::Bitmap => "bitmap",
        What::Depth(_) => "depth",
        What::Window(_) => "window",
        What::Reserved(..) => "reserved",
        What::Late(..) => "late",
        What::Operation(account) if account.is_refused => "refused",
        What::Operation(_) => "operation",
    }
}

/// Arrays in which requests wait for most of what there is. Steps of each request follow one another from its arrival to its end, and
/// have its blame.
#[test]
fn steps_make_up_the_response() {
    let mut seen = BTreeSet::new();
    let serial =
        |config: &mut ArrayConfig| config.coordination = CoordinationConfig::of("serial", SimDuration::ZERO);
    let losses = || Faults {
        power_losses: [20_000, 40_000, 60_000].map(|at| When::Time(us(at))).to_vec(),
        ..Faults::default()
    };
    let edits: [&dyn Fn(&mut ArrayConfig); 6] = [
        &|config| config.queue_depth = Some(2),
        &|config| config.stripe_cache = StripeCacheConfig { entries: 3, ..StripeCacheConfig::default() },
        &|config| {
            config.faults.write_hole = WriteHole::Bitmap { chunk: 4 * PAGE, delay: SimDuration::from_us(50) };
        },
        &serial,
        &|config| config.faults = losses(),
        &|config| *config = ArrayConfig { faults: losses(), ..raid0(&one_die(16, 4, 4), 4, PAGE) },
    ];
    for (number, edit) in (0..).zip(edits) {
        let mut config = level(RAID5, &one_die(16, 4, 4), 4, PAGE);
        edit(&mut config);
        let mut rng = Rng::stream(number, "trails");
        let pages = config.layout().logical_bytes() / PAGE;
        let mut at = SimTime::ZERO;
        let requests: Vec<HostRequest> = (0..400)
            .map(|id| {
                at += SimDuration(rng.below(400_000));
                let (first, length) = (rng.below(pages - 4), 1 + rng.below(4));
                let operation = match rng.below(10) {
                    0..=2 => Operation::Read,
                    3 => Operation::Flush,
                    _ => Operation::Write,
                };
                let length = if operation == Operation::Flush { 0 } else { length * PAGE };
                request(id, at, operation, first * PAGE, length)
            })
            .collect();
        let all = followed(&config, Followed::All, &requests);
        assert_eq!(all.len(), requests.len());
        for one in &all {
            let (mut now, mut blame) = (one.completion.arrival, RequestBlame::NONE);
            for step in &one.steps {
                assert_eq!(step.from, now, "without a gap: {one:?}");
                now = step.until;
                blame.add(&step.blame());
                if let What::Operation(account) = &step.what
                    && let Some(page) = &account.page
                {
                    assert_eq!(page.blame, Blame { link: page.blame.link, ..account.blame }, "{account:?}");
                }
                seen.insert(kind(&step.what));
            }
            assert_eq!((now, blame), (one.completion.finish, one.completion.blame), "{one:?}");
        }
    }
    let expected = ["bitmap", "depth", "entries", "operation", "refused", "reserved", "restart", "rows"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}
