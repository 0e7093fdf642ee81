use super::*;
use crate::config::MemberConfig;
use crate::controller::Array;
use crate::controller::payload::{self, AnyPayload, NoPayload};
use crate::controller::tokens::Parent;
use crate::controller::transactions::in_step;
use crate::layout::Level;
use crate::planner::PlannedOperation;
use harmonia_engine::Rng;
use harmonia_flash::{Geometry, Timing};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Amount, Ftl, FtlConfig, GcConfig, SsdConfig};
use harmonia_types::{Blame, Completion, HostRequest, Operation};

/// A layer that delays: a fabric, over which commands to a device, and its answers, take so long.
#[derive(Debug, Clone)]
pub(super) struct Fabric {
    /// By slot.
    latency: Vec<SimDuration>,
}

impl Layer for Fabric {
    fn down(&mut self, command: &Command, now: SimTime) -> Pass {
        match self.latency[command.slot] {
            SimDuration::ZERO => Pass::Goes,
            latency => Pass::Until(now + latency),
        }
    }

    fn spent(&self, slot: usize, _: u32) -> SimDuration {
        self.latency[slot]
    }

    fn up(&mut self, of: &Node, done: &mut SubCompletion, _: Option<SimTime>) -> Up {
        let latency = self.latency[usize::from(of.slot)];
        done.finish += latency;
        done.blame.link += latency.0;
        Up::Goes
    }

    fn add_slot(&mut self, _: Terms) {
        self.latency.push(SimDuration::ZERO);
    }

    fn exchange(&mut self, one: usize, other: usize) {
        self.latency.swap(one, other);
    }

    fn lose_power(&mut self) {}
}

const PAGE: Bytes = 4096;

/// What these requests complete with on members over a fabric, of so many nanoseconds each, if there is one.
fn serve(config: &ArrayConfig, fabric: Option<&[u64]>, requests: &[HostRequest]) -> Vec<Completion> {
    completions(config, requests, |array| {
        if let Some(latency) = fabric {
            let latency = latency.iter().copied().map(SimDuration).collect();
            array.layers.fabric = Some(Box::new(Fabric { latency }));
            array.layers.are_none = false;
            assert!(array.may_run_ahead().is_err(), "members that run ahead pass no layer");
        }
    })
}

/// What these requests complete with, by id, on an array of new members to which something is added.
pub(in crate::controller) fn completions(
    config: &ArrayConfig,
    requests: &[HostRequest],
    add: impl FnOnce(&mut Array<AnyProbe, AnyPayload>),
) -> Vec<Completion> {
    let ftl = |member: u16| Ftl::new(&config.members[0].ssd, 1, &format!("device/{member}"));
    let states = (0..config.devices).map(|member| ftl(member).expect("a device")).collect();
    let mut array =
        Array::with_payload(config, states, payload::any(NoPayload), |_| any(AuditProbe)).expect("an array");
    add(&mut array);
    for &request in requests {
        array.advance_until(request.arrival).expect("members go on");
        array.submit(request).expect("members go on");
    }
    while array.completions().len() < requests.len() && array.next_wakeup() != SimTime::NEVER {
        array.advance_until(array.next_wakeup()).expect("members go on");
    }
    let mut done = std::mem::take(array.completions());
    done.sort_by_key(|done| done.id);
    assert_eq!(done.len(), requests.len());
    done
}

/// Devices of one die: a page is read in 25 us, programmed in 200 us, and transferred in 20 us.
pub(in crate::controller) fn config(level: Level, members: u16) -> ArrayConfig {
    let ssd = SsdConfig {
        geometry: Geometry {
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_size: PAGE as u32,
            own_pins: true,
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: SimDuration::from_us(25).into(),
            program: SimDuration::from_us(200).into(),
            erase: SimDuration::from_us(1500),
            transfer: SimDuration::from_us(20),
            ..Timing::PLAIN
        },
        ftl: FtlConfig { reserved_blocks: Amount::Blocks(5), ..FtlConfig::default() },
        gc: GcConfig { hard_threshold: Amount::Blocks(0), ..GcConfig::default() },
        ..SsdConfig::plain("one die")
    };
    let member = MemberConfig { capable: true, ssd };
    ArrayConfig::of(level, PAGE, vec![member; usize::from(members)])
}

#[test]
fn a_fabric_delays_a_command_and_its_answer_by_the_latency_of_the_member() {
    let config = config(Level::Raid0, 2);
    let requests: Vec<HostRequest> = [(Operation::Write, 0), (Operation::Write, 1), (Operation::Read, 0)]
        .into_iter()
        .zip(0..)
        .map(|((operation, page), id)| {
            HostRequest::new(id, SimTime(7 + id * 10_000_000), operation, page * PAGE, PAGE)
        })
        .collect();
    let near = serve(&config, None, &requests);
    assert_eq!(serve(&config, Some(&[0, 0]), &requests), near);
    let far = serve(&config, Some(&[500, 30]), &requests);
    for ((far, near), round_trip) in far.iter().zip(&near).zip([1000, 60, 1000]) {
        assert_eq!(far.finish.0 - near.finish.0, round_trip, "request {}", far.id);
        assert_eq!(far.blame.data.link - near.blame.data.link, round_trip, "request {}", far.id);
    }
}

/// Below queues and a link, and where transactions have several steps.
#[test]
fn the_parts_of_blame_are_the_response_over_a_fabric_too() {
    for (level, members) in [(Level::Raid0, 3), (Level::Raid1, 2), (Level::Raid4, 3)] {
        for seed in 0..6 {
            let mut rng = Rng::stream(seed, "fabric");
            let mut config = config(level, members);
            config.queue_depth = rng.chance(0.5).then(|| 1 + rng.below(4) as u32);
            config.link_bandwidth = rng.chance(0.5).then_some(PAGE * 100_000);
            let latency: Vec<u64> = (0..members).map(|_| rng.below(3) * 50_000).collect();
            let mut now = SimTime::ZERO;
            let requests = (0..200).map(|id| {
                now += SimDuration(rng.below(200_000));
                let operation = if rng.chance(0.5) { Operation::Read } else { Operation::Write };
                HostRequest::new(id, now, operation, rng.below(60) * PAGE, PAGE * (1 + rng.below(3)))
            });
            let requests: Vec<HostRequest> = requests.collect();
            let done = serve(&config, Some(&latency), &requests);
            let is_explained = |done: &Completion| done.blame.total() == done.response().as_ns();
            assert!(done.iter().all(is_explained), "{level:?}, seed {seed}");
        }
    }
}

/// Of one device, with room for one command, reads that are hedged after 30 ns, and a link of 10 ns a page.
fn all() -> (CommandLayers, EventQueue<Message>) {
    let mut config = ArrayConfig::of(Level::Raid0, PAGE, Vec::new());
    (config.queue_depth, config.link_bandwidth) = (Some(1), Some(PAGE * 100_000_000));
    (
        CommandLayers::new(&config, vec![Terms::default()], Reads::Hedge(SimDuration(30))),
        EventQueue::default(),
    )
}

fn command(token: u64, operation: Operation) -> Command {
    let sub = SubRequest::new(token, operation, 0, PAGE);
    Command { slot: 0, sub, place: token as u32, stream: Some(0) }
}

#[test]
fn without_an_option_there_is_no_layer() {
    let config = ArrayConfig::of(Level::Raid0, PAGE, Vec::new());
    assert!(CommandLayers::new(&config, vec![Terms::default()], Reads::Wait).are_none());
    assert!(!all().0.are_none());
}

#[test]
fn a_command_passes_the_layers_one_after_the_other_and_goes_on_where_it_was_held() {
    let (mut layers, mut agenda) = all();
    assert_eq!(
        layers.all().next().expect("one").0,
        CommandLayers::DEPTH,
        "commands that wait in line have passed all above it"
    );
    let (write, read) = (command(1, Operation::Write), command(2, Operation::Read));
    assert!(!layers.down(CommandLayers::DEPTH, &write, SimTime(5), &mut agenda), "it crosses the link");
    assert!(!layers.down(CommandLayers::DEPTH, &read, SimTime(6), &mut agenda), "there is no room");
    let Some((at, Message::Passes(waiting))) = agenda.pop_due(SimTime(100)) else { panic!("one crosses") };
    assert!(agenda.is_empty(), "who waits for room is let go by the layer");
    let Waiting::Command(from, sub) = layers.take(waiting) else { panic!("it is a command") };
    assert_eq!((at, sub, layers.spent(0, 1)), (SimTime(15), write.sub, SimDuration(10)));
    assert!(layers.down(from, &write, at, &mut agenda), "nothing is below the link");
    let flush = command(3, Operation::Flush);
    assert!(
        layers.down(CommandLayers::DEPTH + 1, &flush, at, &mut agenda),
        "nothing is on the link any more"
    );
    let depth = layers.depth.as_deref_mut().expect("a layer");
    depth.leaves(0, SimTime(20));
    depth.make_room(SimTime(20));
    assert_eq!(depth.next().map(|(slot, waiting)| (slot, waiting.sub)), Some((0, read.sub)));
    assert!(layers.down(CommandLayers::DEPTH + 1, &read, SimTime(20), &mut agenda));
    assert_eq!(agenda.pop_due(SimTime(100)), Some((SimTime(50), Message::Hedge(2))));
}

#[test]
fn an_answer_comes_back_to_the_layer_that_held_it_and_then_to_those_above() {
    let (mut layers, mut agenda) = all();
    let planned = PlannedOperation::data(DeviceId(0), Operation::Read, 0, PAGE);
    let answer = in_step(Parent::Request(0), 0, planned);
    let (finish, blame) = (SimTime(40), Blame::default());
    let mut done = SubCompletion { token: 1, finish, blame, met_gc: false, is_parity: false };
    assert!(!layers.up(usize::MAX, (&answer, &mut done), (None, SimTime(45)), &mut agenda));
    let Some((at, Message::Passes(waiting))) = agenda.pop_due(SimTime(100)) else { panic!("it waits") };
    assert_eq!(at, SimTime(45), "nothing happens before the latest message");
    let Waiting::Answer(below, mut done) = layers.take(waiting) else { panic!("it is an answer") };
    assert!(layers.up(below, (&answer, &mut done), (Some(at), at), &mut agenda));
    assert_eq!((done.finish, done.blame.link), (SimTime(55), 15), "10 for its page, and it came 5 late");
}

#[test]
fn nothing_waits_after_a_loss_of_power() {
    let (mut layers, mut agenda) = all();
    for token in [1, 2] {
        layers.down(CommandLayers::DEPTH, &command(token, Operation::Write), SimTime(5), &mut agenda);
    }
    layers.lose_power();
    assert_eq!(layers.waiting.live(), 0);
    assert!(!layers.down(CommandLayers::DEPTH, &command(3, Operation::Write), SimTime(5), &mut agenda));
    let times = [(); 2].map(|()| agenda.pop_due(SimTime(100)).map(|(at, _)| at));
    assert_eq!(times, [Some(SimTime(15)); 2], "the link is free again, and so is the device");
}
