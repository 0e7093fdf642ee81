//! Do dies that share buses serve reads and writes when a second, independent simulator says so?
//!
//! The oracle knows nothing of the device: FIFO dies, a bus for each channel, commands, pages and array times, all event by
//! event. It is driven by the same closed loop of operations as the device; every completion must agree to the nanosecond,
//! for one, two and four dies on a channel, random and sequential, at several depths.
//!
//! Not verified: multi-plane commands, collection, priorities, and the host link, which takes no time here.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::bench::{Bench, one_die, sub};
use harmonia_engine::Rng;
use harmonia_flash::{CommandOrder, Commands};
use harmonia_ssd::{Amount, SsdConfig};
use harmonia_types::{Operation, SimDuration, SimTime};

const CHANNELS: u32 = 8;

/// Times that share no factor, so that nothing coincides by chance.
#[derive(Debug, Clone, Copy)]
struct Times {
    read: u64,
    program: u64,
    page: u64,
    read_command: u64,
    program_command: u64,
    order: CommandOrder,
}

const DATA_ONLY: Times = Times {
    read: 50_021,
    program: 200_017,
    page: 8_197,
    read_command: 0,
    program_command: 0,
    order: CommandOrder::Fifo,
};
const FIFO: Times = Times { read_command: 293, program_command: 367, ..DATA_ONLY };
const AFTER_DATA: Times = Times { order: CommandOrder::AfterData, ..FIFO };

/// What a die wants from its bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Want {
    Command,
    Out,
    In,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The bus of this die's channel has served it.
    Served(usize, Want),
    Read(usize),
    Programmed(usize),
}

#[derive(Default)]
struct OracleDie {
    queue: VecDeque<(u32, bool)>,
    running: Option<u32>,
}

#[derive(Default)]
struct OracleBus {
    waiting: Vec<(usize, Want)>,
    is_busy: bool,
}

struct Oracle {
    times: Times,
    dies: Vec<OracleDie>,
    buses: Vec<OracleBus>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    events_so_far: u64,
    now: u64,
    done: Vec<u32>,
}

impl Oracle {
    fn new(times: Times, dies: u32) -> Self {
        Oracle {
            times,
            dies: (0..dies).map(|_| OracleDie::default()).collect(),
            buses: (0..CHANNELS).map(|_| OracleBus::default()).collect(),
            events: BinaryHeap::new(),
            events_so_far: 0,
            now: 0,
            done: Vec::new(),
        }
    }

    fn after(&mut self, time: u64, event: Event) {
        self.events_so_far += 1;
        self.events.push(Reverse((self.now + time, self.events_so_far, event)));
    }

    fn begin(&mut self, die: usize) {
        if self.dies[die].running.is_some() {
            return;
        }
        let Some((token, is_write)) = self.dies[die].queue.pop_front() else { return };
        self.dies[die].running = Some(token);
        match is_write {
            true => self.want(die, Want::In),
            false if self.times.read_command > 0 => self.want(die, Want::Command),
            false => self.after(self.times.read, Event::Read(die)),
        }
    }

    /// A bus that is free and that nobody waits for is taken at once.
    fn want(&mut self, die: usize, want: Want) {
        let channel = die % CHANNELS as usize;
        let is_free = !self.buses[channel].is_busy && self.buses[channel].waiting.is_empty();
        self.buses[channel].waiting.push((die, want));
        if is_free {
            self.serve(channel);
        }
    }

    fn finish(&mut self, die: usize) {
        let token = self.dies[die].running.take().expect("something runs");
        self.done.push(token);
        self.begin(die);
    }

    /// Gives a bus to the next of those who wait, if it is free.
    fn serve(&mut self, channel: usize) {
        let bus = &mut self.buses[channel];
        if bus.is_busy || bus.waiting.is_empty() {
            return;
        }
        let first_out = bus.waiting.iter().position(|&(_, want)| want == Want::Out);
        let next = first_out.filter(|_| self.times.order == CommandOrder::AfterData).unwrap_or(0);
        let (die, want) = bus.waiting.remove(next);
        bus.is_busy = true;
        let length = match want {
            Want::Command => self.times.read_command,
            Want::Out => self.times.page,
            Want::In => self.times.program_command + self.times.page,
        };
        self.after(length, Event::Served(die, want));
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Served(die, want) => {
                self.buses[die % CHANNELS as usize].is_busy = false;
                match want {
                    Want::Command => self.after(self.times.read, Event::Read(die)),
                    Want::In => self.after(self.times.program, Event::Programmed(die)),
                    Want::Out => self.finish(die),
                }
            }
            Event::Read(die) => self.want(die, Want::Out),
            Event::Programmed(die) => self.finish(die),
        }
    }
}

/// One of the two simulators in the closed loop.
trait System {
    fn submit(&mut self, now: u64, token: u32, page: u64, is_write: bool);
    /// Lets time pass to the next event; its time and what is done then.
    fn step(&mut self) -> (u64, Vec<u32>);
}

impl System for Oracle {
    fn submit(&mut self, now: u64, token: u32, page: u64, is_write: bool) {
        self.now = now;
        let die = page as usize % self.dies.len();
        self.dies[die].queue.push_back((token, is_write));
        self.begin(die);
    }

    fn step(&mut self) -> (u64, Vec<u32>) {
        let Some(&Reverse((now, ..))) = self.events.peek() else { panic!("nothing happens any more") };
        self.now = now;
        while let Some(&Reverse((time, _, event))) = self.events.peek() {
            if time > now {
                break;
            }
            self.events.pop();
            self.take(event);
        }
        // Whoever wants a bus at this moment has asked.
        (0..self.buses.len()).for_each(|channel| self.serve(channel));
        (now, std::mem::take(&mut self.done))
    }
}

impl System for Bench {
    fn submit(&mut self, now: u64, token: u32, page: u64, is_write: bool) {
        let operation = if is_write { Operation::Write } else { Operation::Read };
        self.device.submit(SimTime(now), sub(token, operation, page, 1)).expect("there is room");
    }

    fn step(&mut self) -> (u64, Vec<u32>) {
        let now = self.device.next_wakeup();
        self.device.advance_until(now, false).expect("there is room");
        let done = self.device.completions().drain(..).map(|done| {
            assert_eq!(done.finish, now, "the link takes no time");
            done.token as u32
        });
        (now.0, done.collect())
    }
}

/// Page and whether it is written, of each operation in its order.
type Load = Vec<(u64, bool)>;

/// Keeps `depth` operations outstanding; when each began and was done.
fn drive(system: &mut dyn System, load: &Load, depth: usize) -> Vec<(u64, u64)> {
    let mut times = vec![(0, 0); load.len()];
    let (mut next, mut left, mut now, mut room) = (0, load.len(), 0, depth);
    loop {
        while room > 0 && next < load.len() {
            let (page, is_write) = load[next];
            times[next].0 = now;
            system.submit(now, next as u32, page, is_write);
            (next, room) = (next + 1, room - 1);
        }
        if left == 0 {
            return times;
        }
        let (then, done) = system.step();
        now = then;
        for token in done {
            times[token as usize].1 = now;
            (room, left) = (room + 1, left - 1);
        }
    }
}

fn device(times: Times, dies_per_channel: u32) -> SsdConfig {
    let mut config = one_die();
    config.geometry.channels = CHANNELS;
    config.geometry.chips_per_channel = dies_per_channel;
    config.geometry.own_pins = false;
    config.geometry.blocks_per_plane = 200;
    config.ftl.reserved_blocks = Amount::Blocks(196);
    config.timing.read = SimDuration(times.read).into();
    config.timing.program = SimDuration(times.program).into();
    config.timing.transfer = SimDuration(times.page);
    config.timing.command = Commands {
        read: SimDuration(times.read_command),
        program: SimDuration(times.program_command),
        erase: SimDuration(97),
        order: times.order,
    };
    config.link.bandwidth = 100_000_000_000_000;
    config
}

const LOGICAL_PAGES: u64 = 16;

fn load(kind: &str, dies: u64, operations: u64) -> Load {
    let mut rng = Rng::stream(1, kind);
    let pages = dies * LOGICAL_PAGES;
    let page =
        |rng: &mut Rng, index: u64| if kind == "sequential" { index % pages } else { rng.below(pages) };
    (0..operations).map(|index| (page(&mut rng, index), kind == "mixed" && rng.chance(0.3))).collect()
}

fn both(times: Times, dies_per_channel: u32, load: &Load, depth: usize) -> [Vec<(u64, u64)>; 2] {
    let dies = CHANNELS * dies_per_channel;
    let written: Vec<u32> = (0..LOGICAL_PAGES as u32).collect();
    let mut bench = Bench::with(&device(times, dies_per_channel), &vec![&written[..]; dies as usize]);
    [drive(&mut bench, load, depth), drive(&mut Oracle::new(times, dies), load, depth)]
}

#[test]
fn every_completion_agrees_with_the_oracle_to_the_nanosecond() {
    for times in [DATA_ONLY, FIFO, AFTER_DATA] {
        for dies_per_channel in [1, 2, 4] {
            for kind in ["random", "sequential", "mixed"] {
                for depth in [1, 4, 16, 64] {
                    let case = format!("{kind}, depth {depth}, {dies_per_channel} dies a channel, {times:?}");
                    let load = load(kind, u64::from(CHANNELS * dies_per_channel), 800);
                    let [device, oracle] = both(times, dies_per_channel, &load, depth);
                    let first = device.iter().zip(&oracle).position(|(device, oracle)| device != oracle);
                    let differs = first.map(|index| (index, device[index], oracle[index]));
                    assert_eq!(differs, None, "{case}: operation, device, oracle");
                }
            }
        }
    }
}

/// Eight channels, 50 us of array, 8.2 us of page: even with four dies a channel a bus has data for less than half of the
/// time. A command of 0.3 us costs far more than 0.3 us, because its array cannot begin before a page of another die is over.
#[test]
fn what_commands_cost_grows_with_the_dies_on_a_bus() {
    let mean = |times: Times, dies: u32, load: &Load, depth: usize| {
        let done = drive(&mut Oracle::new(times, dies), load, depth);
        done.iter().map(|(from, to)| to - from).sum::<u64>() as f64 / done.len() as f64
    };
    for (dies_per_channel, kind, depth, fifo, after_data) in [
        (1, "random", 64, 0.5, 0.5),
        (2, "random", 64, 7.1, 7.1),
        (4, "random", 64, 13.4, 24.7),
        (4, "sequential", 16, 14.6, 14.6),
    ] {
        let dies = CHANNELS * dies_per_channel;
        let load = load(kind, dies.into(), 40_000);
        for (times, expected) in [(FIFO, fifo), (AFTER_DATA, after_data)] {
            let plain = mean(DATA_ONLY, dies, &load, depth);
            let cost = (mean(times, dies, &load, depth) / plain - 1.0) * 100.0;
            let case = format!("{kind}, depth {depth}, {dies_per_channel} dies a channel, {:?}", times.order);
            assert!((cost - expected).abs() < 0.5, "{case}: costs {cost:.2}%, not {expected}%");
        }
    }
}
