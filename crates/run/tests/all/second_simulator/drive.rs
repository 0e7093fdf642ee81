//! One drive with a write cache, simulated a second time.
//!
//! Written from the definitions (docs/write-cache.md, docs/inside-the-die.md, the docs of schedules and triggers), for few keys, as plainly
//! as possible: a heap of events, lists that are walked, a map that is a vector. It shares no code with the simulator that it is held
//! against, and ages its drive by itself.
//!
//! ```text
//! arrival ─► queue of its stream ─► window ─► latency ─► link ─► line ─► slot ─► program of a die ─► its slots are free
//!                                                          └─ read ─► die ─► channel ─► link ─► done
//! ```
//!
//! Left out: trims, flushes, requests of more or less than a unit, a read of a unit whose move is under way (the product merges the two),
//! more than one victim an event, wear.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Time. Unit: ns.
pub type Time = u64;

const NONE: u32 = u32::MAX;

/// What the drive is.
#[derive(Debug, Clone)]
pub struct Drive {
    pub channels: usize,
    pub dies: usize,
    /// Of a die.
    pub blocks: usize,
    pub programs_per_block: usize,
    /// Mapping units of a page; pages of a program: of so many planes, for each of the times to read a page.
    pub units_per_page: usize,
    pub planes: usize,
    pub read: Vec<Time>,
    pub program: Time,
    pub erase: Time,
    /// Of a mapping unit over a channel, and over the host's link.
    pub transfer: Time,
    pub link: Time,
    pub latency: Time,
    /// `None`: nothing is suspended.
    pub suspending: Option<Suspending>,
    /// Blocks of a die.
    pub reserved: usize,
    pub hard: usize,
    pub soft: usize,
    /// Units.
    pub cache: usize,
    pub ack: Time,
    /// Any die takes the next program; if not, the die follows from the number of a unit.
    pub dynamic: bool,
    /// The host and collection write to blocks of their own.
    pub frontiers_apart: bool,
    pub collection: Collection,
    pub window: Option<Window>,
}

#[derive(Debug, Clone, Copy)]
pub struct Suspending {
    pub cost: Time,
    pub resume: Time,
    pub minimum_run: Time,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collection {
    /// From soft on, between two operations of the host; at hard nothing goes between.
    Preemptive,
    /// The same, but writes and collection share a die by the room that it has.
    Proportional,
    /// At hard, in one go.
    Blocking,
}

#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub commands: usize,
    pub round_robin: bool,
}

/// A request of one unit.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub arrival: Time,
    pub unit: u32,
    pub is_write: bool,
    pub stream: usize,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(usize),
    /// The latency of the link is over.
    Reaches(usize),
    /// A command of the window is complete.
    Completes,
    /// Something in line may have its turn.
    Line,
    /// The array of a die has worked to the end of a step.
    Array(usize, u64),
    /// A transfer on a channel has ended.
    Channel(usize),
    /// A read may suspend what a die runs.
    Look(usize, u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Array(Time),
    /// Units over the channel.
    Transfer(usize),
}

#[derive(Debug, Clone)]
enum Kind {
    Read(usize),
    /// Slots of the cache, with their units.
    Program(Vec<(u64, u32)>),
    Move,
    Erase,
}

#[derive(Debug, Clone)]
struct Command {
    kind: Kind,
    steps: VecDeque<Step>,
    began: Time,
    /// Of the array, where that works.
    works_from: Time,
    ends: Time,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Victim {
    block: usize,
    /// Units behind it have not been read.
    cursor: usize,
    moved: usize,
}

#[derive(Debug, Default)]
struct Die {
    reads: VecDeque<usize>,
    programs: VecDeque<Vec<(u64, u32)>>,
    running: Option<Command>,
    paused: Option<Command>,
    is_suspending: bool,
    /// Counts what has been begun, so that an event of what was suspended is known.
    turn: u64,
    /// Units that wait or are worked on.
    depth: usize,
    free: VecDeque<usize>,
    /// Block and next program, of the host and of collection.
    open: [Option<(usize, usize)>; 2],
    closed: Vec<bool>,
    valid: Vec<u32>,
    collects: bool,
    given: usize,
    victim: Option<Victim>,
    /// Units that were read and not programmed: where they lie.
    held: Vec<usize>,
    debt: i64,
}

#[derive(Debug, Default)]
struct Channel {
    busy: Option<usize>,
    /// Dies, by urgency: collection, reads, writes.
    waiting: [VecDeque<usize>; 3],
}

/// A drive that runs.
pub struct Simulator<'a> {
    drive: &'a Drive,
    requests: &'a [Request],
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    number: u64,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Where a unit lies: die, block and place in it, in one number; and what lies at such a place.
    map: Vec<u32>,
    reverse: Vec<u32>,
    link_free: Time,
    line: VecDeque<(usize, Time)>,
    in_line: BTreeMap<u32, usize>,
    /// The slot that has the latest data of a unit, and whether that waits.
    cached: BTreeMap<u32, (u64, bool)>,
    lists: Vec<VecDeque<(u64, u32)>>,
    away: Vec<usize>,
    slots: usize,
    next_slot: u64,
    next_die: usize,
    queues: Vec<VecDeque<usize>>,
    queue_turn: usize,
    under_way: usize,
    /// By request, when it is done.
    pub done: Vec<Time>,
}

impl Drive {
    fn program_units(&self) -> usize {
        self.units_per_page * self.planes * self.read.len()
    }

    fn block_units(&self) -> usize {
        self.programs_per_block * self.program_units()
    }

    /// Logical units of the drive.
    pub fn units(&self) -> usize {
        self.dies * (self.blocks - self.reserved) * self.block_units()
    }

    /// How long the page is read in which a place of a block lies.
    fn read_time(&self, place: usize) -> Time {
        self.read[place / (self.units_per_page * self.planes) % self.read.len()]
    }

    /// Free blocks at or below which collection begins.
    fn begins_at(&self) -> usize {
        if self.collection == Collection::Blocking { self.hard } else { self.soft }
    }
}

/// A generator of its own (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Between 0, left out, and 1.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

impl<'a> Simulator<'a> {
    /// A drive that was filled, and then overwritten at random `overwrites` times.
    pub fn aged(drive: &'a Drive, requests: &'a [Request], overwrites: usize, seed: u64) -> Self {
        let places = drive.dies * drive.blocks * drive.block_units();
        let die = || Die {
            free: (0..drive.blocks).collect(),
            closed: vec![false; drive.blocks],
            valid: vec![0; drive.blocks],
            ..Die::default()
        };
        let lists = if drive.dynamic { 1 } else { drive.dies };
        let mut this = Simulator {
            drive,
            requests,
            now: 0,
            events: BinaryHeap::new(),
            number: 0,
            dies: (0..drive.dies).map(|_| die()).collect(),
            channels: (0..drive.channels).map(|_| Channel::default()).collect(),
            map: vec![NONE; drive.units()],
            reverse: vec![NONE; places],
            link_free: 0,
            line: VecDeque::new(),
            in_line: BTreeMap::new(),
            cached: BTreeMap::new(),
            lists: vec![VecDeque::new(); lists],
            away: vec![0; lists],
            slots: 0,
            next_slot: 0,
            next_die: 0,
            queues: Vec::new(),
            queue_turn: 0,
            under_way: 0,
            done: vec![0; requests.len()],
        };
        let mut random = Random(seed);
        let units = drive.units();
        let writes = (0..units).chain((0..overwrites * units).map(|_| random.below(units)));
        let mut gathered = vec![Vec::new(); lists];
        let mut turn = 0;
        for unit in writes {
            let list = if drive.dynamic { 0 } else { unit % drive.dies };
            gathered[list].push(unit as u32);
            if gathered[list].len() < drive.program_units() {
                continue;
            }
            let die = if drive.dynamic { turn % drive.dies } else { list };
            turn += 1;
            while this.dies[die].free.len() <= drive.begins_at() {
                if !this.age_by_a_victim(die) {
                    break;
                }
            }
            let units = std::mem::take(&mut gathered[list]);
            this.place(die, 0, &units);
        }
        this
    }

    /// Collects a block outside of time. `false` if none would win anything.
    fn age_by_a_victim(&mut self, die: usize) -> bool {
        let Some(block) = self.fewest_valid(die) else { return false };
        self.dies[die].closed[block] = false;
        let places: Vec<usize> = (0..self.drive.block_units()).map(|at| self.at(die, block, at)).collect();
        let live: Vec<u32> = places.iter().map(|&at| self.reverse[at]).filter(|&unit| unit != NONE).collect();
        for units in live.chunks(self.drive.program_units()) {
            self.place(die, 1, units);
        }
        self.dies[die].free.push_back(block);
        true
    }

    fn at(&self, die: usize, block: usize, place: usize) -> usize {
        (die * self.drive.blocks + block) * self.drive.block_units() + place
    }

    fn home(&self, unit: u32) -> usize {
        self.map[unit as usize] as usize / (self.drive.blocks * self.drive.block_units())
    }

    fn fewest_valid(&self, die: usize) -> Option<usize> {
        let slot = &self.dies[die];
        let full = self.drive.block_units() as u32;
        let closed = (0..self.drive.blocks).filter(|&block| slot.closed[block] && slot.valid[block] < full);
        closed.min_by_key(|&block| slot.valid[block])
    }

    /// One program: units go to the open block of the host or of collection; the rest of it is lost.
    fn place(&mut self, die: usize, role: usize, units: &[u32]) {
        let role = if self.drive.frontiers_apart { role } else { 0 };
        let (block, program) = match self.dies[die].open[role] {
            Some(open) => open,
            None => (self.dies[die].free.pop_front().expect("a free block"), 0),
        };
        for (at, &unit) in units.iter().enumerate() {
            let old = self.map[unit as usize];
            if old != NONE {
                self.reverse[old as usize] = NONE;
                let block = old as usize / self.drive.block_units();
                self.dies[block / self.drive.blocks].valid[block % self.drive.blocks] -= 1;
            }
            let place = self.at(die, block, program * self.drive.program_units() + at);
            (self.map[unit as usize], self.reverse[place]) = (place as u32, unit);
            self.dies[die].valid[block] += 1;
        }
        let is_full = program + 1 == self.drive.programs_per_block;
        self.dies[die].closed[block] = is_full;
        self.dies[die].open[role] = (!is_full).then_some((block, program + 1));
    }

    /// Runs to the end of all requests.
    pub fn run(&mut self) {
        let streams = self.requests.iter().map(|request| request.stream + 1).max().unwrap_or(1);
        self.queues = vec![VecDeque::new(); streams];
        if !self.requests.is_empty() {
            self.later(self.requests[0].arrival, Event::Arrives(0));
        }
        while let Some(Reverse((time, _, event))) = self.events.pop() {
            self.now = time;
            match event {
                Event::Arrives(request) => self.arrive(request),
                Event::Reaches(request) => self.reach(request),
                Event::Completes => {
                    self.under_way -= 1;
                    self.fetch();
                }
                Event::Line => {}
                Event::Array(die, turn) => {
                    if self.dies[die].turn == turn {
                        self.array_has_worked(die);
                    }
                }
                Event::Channel(channel) => self.transferred(channel),
                Event::Look(die, turn) => {
                    if self.dies[die].turn == turn {
                        self.look(die);
                    }
                }
            }
            self.pump();
        }
    }

    fn later(&mut self, time: Time, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    fn arrive(&mut self, request: usize) {
        if let Some(next) = self.requests.get(request + 1) {
            self.later(next.arrival, Event::Arrives(request + 1));
        }
        let round_robin = self.drive.window.is_some_and(|window| window.round_robin);
        let queue = if round_robin { self.requests[request].stream } else { 0 };
        self.queues[queue].push_back(request);
        self.fetch();
    }

    /// The drive fetches what its window takes.
    fn fetch(&mut self) {
        while self.drive.window.is_none_or(|window| self.under_way < window.commands) {
            let all = self.queues.len();
            let in_turn = (1..=all).map(|step| (self.queue_turn + step) % all);
            let Some(queue) = { in_turn }.find(|&queue| !self.queues[queue].is_empty()) else { return };
            self.queue_turn = queue;
            let request = self.queues[queue].pop_front().expect("it has one");
            self.under_way += 1;
            self.later(self.now + self.drive.latency, Event::Reaches(request));
        }
    }

    fn complete(&mut self, request: usize, time: Time) {
        self.done[request] = time;
        self.later(time, Event::Completes);
    }

    fn reach(&mut self, request: usize) {
        let Request { unit, is_write, .. } = self.requests[request];
        if is_write {
            self.link_free = self.link_free.max(self.now) + self.drive.link;
            let ready = self.link_free;
            self.stand_in_line(request, ready);
            self.later(ready, Event::Line);
        } else if self.in_line.contains_key(&unit) {
            // The drive has its data, or will when the link gets to the read.
            self.send(request);
        } else {
            self.read(request);
        }
    }

    fn stand_in_line(&mut self, request: usize, ready: Time) {
        let ready = self.line.back().map_or(ready, |last| last.1.max(ready));
        *self.in_line.entry(self.requests[request].unit).or_default() += 1;
        self.line.push_back((request, ready));
    }

    fn read(&mut self, request: usize) {
        let unit = self.requests[request].unit;
        if self.cached.contains_key(&unit) {
            return self.send(request);
        }
        let die = self.home(unit);
        self.dies[die].reads.push_back(request);
        self.dies[die].depth += 1;
        if self.dies[die].running.is_none() && !self.dies[die].is_suspending {
            self.go_on(die);
        } else {
            self.look(die);
        }
    }

    /// The data of a read goes over the link.
    fn send(&mut self, request: usize) {
        self.link_free = self.link_free.max(self.now) + self.drive.link;
        self.complete(request, self.link_free);
    }

    /// The cache does what it can.
    fn pump(&mut self) {
        loop {
            let program = self.drive.program_units();
            let most = if self.drive.dynamic { program * self.drive.dies } else { program };
            let ready =
                |list: &usize| self.lists[*list].len() >= program && self.away[*list] + program <= most;
            if let Some(list) = (0..self.lists.len()).find(ready) {
                self.hand_over(list);
                continue;
            }
            let Some(&(request, ready)) = self.line.front() else { return };
            if ready > self.now {
                return;
            }
            let Request { unit, is_write, .. } = self.requests[request];
            let absorbs = self.cached.get(&unit).is_some_and(|&(_, waits)| waits);
            if is_write && !absorbs && self.slots == self.drive.cache {
                return;
            }
            self.line.pop_front();
            let left = self.in_line.get_mut(&unit).expect("it is in line");
            *left -= 1;
            if *left == 0 {
                self.in_line.remove(&unit);
            }
            if !is_write {
                self.read(request);
                continue;
            }
            if !absorbs {
                self.slots += 1;
                self.next_slot += 1;
                self.cached.insert(unit, (self.next_slot, true));
                let list = if self.drive.dynamic { 0 } else { unit as usize % self.drive.dies };
                self.lists[list].push_back((self.next_slot, unit));
            }
            self.complete(request, self.now + self.drive.ack);
        }
    }

    fn hand_over(&mut self, list: usize) {
        let program = self.drive.program_units();
        let units: Vec<(u64, u32)> = self.lists[list].drain(..program).collect();
        for (slot, unit) in &units {
            self.cached.insert(*unit, (*slot, false));
        }
        self.away[list] += program;
        let die = if self.drive.dynamic { self.choose_die() } else { list };
        self.dies[die].depth += program;
        self.dies[die].programs.push_back(units);
        if self.dies[die].running.is_none() && !self.dies[die].is_suspending {
            self.go_on(die);
        }
    }

    /// Of dies that do not collect, or have room where the two share, the one with the least to do; at equal rank in turn.
    fn choose_die(&mut self) -> usize {
        let all = self.drive.dies;
        let rank = |step: usize| {
            let die = (self.next_die + step) % all;
            let slot = &self.dies[die];
            let shares = self.drive.collection == Collection::Proportional;
            let avoided = slot.collects && (!shares || slot.free.len() <= self.drive.hard);
            (avoided, slot.depth, step)
        };
        let (.., step) = (0..all).map(rank).min().expect("there are dies");
        let die = (self.next_die + step) % all;
        self.next_die = (die + 1) % all;
        die
    }

    fn start(&mut self, die: usize, kind: Kind, steps: &[Step]) {
        let steps = steps.iter().copied().collect();
        let command = Command { kind, steps, began: self.now, works_from: 0, ends: 0 };
        self.dies[die].running = Some(command);
        self.dies[die].turn += 1;
        self.next_step(die);
    }

    fn next_step(&mut self, die: usize) {
        let command = self.dies[die].running.as_mut().expect("a command");
        match command.steps.pop_front() {
            Some(Step::Array(time)) => {
                (command.works_from, command.ends) = (self.now, self.now + time);
                let (ends, turn) = (command.ends, self.dies[die].turn);
                self.later(ends, Event::Array(die, turn));
                self.look(die);
            }
            Some(Step::Transfer(units)) => {
                // Unit by unit, so that what is more urgent goes between.
                if units > 1 {
                    command.steps.push_front(Step::Transfer(units - 1));
                }
                let urgency = match command.kind {
                    Kind::Move | Kind::Erase => 0,
                    Kind::Read(_) => 1,
                    Kind::Program(_) => 2,
                };
                let channel = die % self.drive.channels;
                self.channels[channel].waiting[urgency].push_back(die);
                self.grant(channel);
            }
            None => self.end(die),
        }
    }

    fn grant(&mut self, number: usize) {
        let channel = &mut self.channels[number];
        if channel.busy.is_some() {
            return;
        }
        let Some(die) = channel.waiting.iter_mut().find_map(VecDeque::pop_front) else { return };
        channel.busy = Some(die);
        self.later(self.now + self.drive.transfer, Event::Channel(number));
    }

    fn transferred(&mut self, channel: usize) {
        let die = self.channels[channel].busy.take().expect("a transfer");
        // Others that waited go by their urgency; the die asks anew for its next unit.
        self.next_step(die);
        self.grant(channel);
    }

    fn array_has_worked(&mut self, die: usize) {
        if self.dies[die].is_suspending {
            self.dies[die].is_suspending = false;
            return self.go_on(die);
        }
        self.next_step(die);
    }

    fn end(&mut self, die: usize) {
        let command = self.dies[die].running.take().expect("a command");
        match command.kind {
            Kind::Read(request) => {
                self.dies[die].depth -= 1;
                self.send(request);
            }
            Kind::Program(units) => {
                self.dies[die].depth -= units.len();
                let list = if self.drive.dynamic { 0 } else { die };
                self.away[list] -= units.len();
                self.slots -= units.len();
                for (slot, unit) in units {
                    if self.cached.get(&unit).is_some_and(|latest| latest.0 == slot) {
                        self.cached.remove(&unit);
                    }
                }
                self.pump();
            }
            Kind::Move => self.has_collected(die, command.began, self.now),
            Kind::Erase => {
                self.has_collected(die, command.began, self.now);
                let slot = &mut self.dies[die];
                let victim = slot.victim.take().expect("a victim");
                slot.free.push_back(victim.block);
                slot.given += 1;
            }
        }
        if self.dies[die].running.is_none() {
            self.go_on(die);
        }
    }

    fn has_collected(&mut self, die: usize, since: Time, until: Time) {
        let slot = &mut self.dies[die];
        if self.drive.collection == Collection::Proportional && slot.debt > 0 {
            slot.debt -= (until - since) as i64;
        }
    }

    /// Collection keeps reads out, too.
    fn keeps_all_out(&self, die: usize) -> bool {
        let slot = &self.dies[die];
        match self.drive.collection {
            Collection::Preemptive => slot.collects && slot.free.len() <= self.drive.hard,
            Collection::Proportional => false,
            Collection::Blocking => slot.collects,
        }
    }

    /// A read may suspend what a die runs, now or later.
    fn look(&mut self, die: usize) {
        let Some(Suspending { cost, minimum_run, .. }) = self.drive.suspending else { return };
        let keeps_out = self.keeps_all_out(die);
        let slot = &mut self.dies[die];
        let Some(running) = &slot.running else { return };
        let is_last = running.steps.is_empty() && self.now < running.ends;
        let yields = !matches!(running.kind, Kind::Read(_)) && !keeps_out && slot.paused.is_none();
        if slot.reads.is_empty() || !is_last || !yields {
            return;
        }
        let due = running.works_from + minimum_run;
        if due > self.now {
            let turn = slot.turn;
            if due < running.ends {
                self.later(due, Event::Look(die, turn));
            }
            return;
        }
        let command = slot.running.take().expect("it runs");
        slot.paused = Some(Command { ends: command.ends - self.now, ..command });
        slot.is_suspending = true;
        slot.turn += 1;
        let turn = slot.turn;
        let collects =
            slot.paused.as_ref().is_some_and(|paused| matches!(paused.kind, Kind::Move | Kind::Erase));
        if collects {
            let began = slot.paused.as_ref().map_or(self.now, |paused| paused.began);
            // What it takes to suspend a step, and to resume it, counts as work of the step.
            self.has_collected(die, began, self.now + cost);
        }
        self.later(self.now + cost, Event::Array(die, turn));
    }

    /// What a die does that runs nothing.
    fn go_on(&mut self, die: usize) {
        if self.dies[die].paused.is_some() {
            let lets_in = !self.keeps_all_out(die);
            if lets_in && let Some(request) = self.dies[die].reads.pop_front() {
                return self.start_read(die, request);
            }
            let resume = self.drive.suspending.map_or(0, |suspending| suspending.resume);
            let mut command = self.dies[die].paused.take().expect("it is paused");
            command.ends += self.now + resume;
            (command.works_from, command.began) = (self.now, self.now);
            let ends = command.ends;
            self.dies[die].running = Some(command);
            self.dies[die].turn += 1;
            self.later(ends, Event::Array(die, self.dies[die].turn));
            return self.look(die);
        }
        let mut looks = true;
        loop {
            let slot = &self.dies[die];
            let (reads, writes) = (!slot.reads.is_empty(), !slot.programs.is_empty());
            let free = slot.free.len();
            if !slot.collects {
                if !reads && !writes {
                    return;
                }
                if looks && free <= self.drive.begins_at() && self.fewest_valid(die).is_some() {
                    (self.dies[die].collects, self.dies[die].given) = (true, 0);
                    looks = false;
                    continue;
                }
                return self.serve(die);
            }
            if slot.victim.is_none() && slot.given > 0 {
                // Whether to go on is clear at once, and takes no time.
                if free > self.drive.hard {
                    self.dies[die].collects = false;
                    looks = true;
                } else {
                    self.choose_victim(die);
                }
                continue;
            }
            let writes_wait = self.drive.collection == Collection::Proportional
                && (slot.debt > 0 || free <= self.drive.hard);
            if !self.keeps_all_out(die) && (reads || writes && !writes_wait) {
                return self.serve(die);
            }
            if slot.victim.is_none() {
                self.choose_victim(die);
                continue;
            }
            return self.collect(die);
        }
    }

    fn choose_victim(&mut self, die: usize) {
        match self.fewest_valid(die) {
            Some(block) => {
                self.dies[die].closed[block] = false;
                self.dies[die].victim = Some(Victim { block, cursor: 0, moved: 0 });
            }
            None => self.dies[die].collects = false,
        }
    }

    /// The host's next operation: reads go first.
    fn serve(&mut self, die: usize) {
        if let Some(request) = self.dies[die].reads.pop_front() {
            return self.start_read(die, request);
        }
        let units = self.dies[die].programs.pop_front().expect("something waits");
        let all: Vec<u32> = units.iter().map(|&(_, unit)| unit).collect();
        self.place(die, 0, &all);
        let transfer = all.len() as Time * self.drive.transfer;
        self.owe(die, transfer + self.drive.program);
        let steps = [Step::Transfer(all.len()), Step::Array(self.drive.program)];
        self.start(die, Kind::Program(units), &steps);
    }

    fn start_read(&mut self, die: usize, request: usize) {
        let place = self.map[self.requests[request].unit as usize] as usize % self.drive.block_units();
        let steps = [Step::Array(self.drive.read_time(place)), Step::Transfer(1)];
        self.start(die, Kind::Read(request), &steps);
    }

    /// The host has written for `work`: what collection has to do before it writes again.
    fn owe(&mut self, die: usize, work: Time) {
        if self.drive.collection != Collection::Proportional {
            return;
        }
        let block = self.drive.block_units();
        let slot = &mut self.dies[die];
        if !slot.collects {
            slot.debt = 0;
            return;
        }
        let open = slot.open.iter().flatten().map(|open| block - open.1 * self.drive.program_units());
        let moved = slot.victim.map_or(0, |victim| victim.moved);
        let kept = self.drive.hard + 1 + usize::from(self.drive.frontiers_apart);
        let left = (slot.free.len() * block + open.sum::<usize>() + moved).saturating_sub(kept * block);
        let span = (self.drive.soft - self.drive.hard) * block;
        let owed = u128::from(work) * span.saturating_sub(left) as u128 / left.max(1) as u128;
        slot.debt = slot.debt.saturating_add(i64::try_from(owed).unwrap_or(i64::MAX));
    }

    /// The next step of a collection.
    fn collect(&mut self, die: usize) {
        if self.drive.collection == Collection::Blocking {
            return self.collect_in_one_go(die);
        }
        match self.due(die) {
            Due::Read(count, time) => {
                self.start(die, Kind::Move, &[Step::Array(time), Step::Transfer(count)]);
            }
            Due::Program => {
                let count = self.program_held(die);
                self.start(die, Kind::Move, &[Step::Transfer(count), Step::Array(self.drive.program)]);
            }
            Due::Erase => self.start(die, Kind::Erase, &[Step::Array(self.drive.erase)]),
        }
    }

    /// Reads and a program are one command.
    fn collect_in_one_go(&mut self, die: usize) {
        let (mut array, mut all) = (0, 0);
        loop {
            match self.due(die) {
                Due::Read(count, time) => (array, all) = (array + time, all + count),
                Due::Program => {
                    let count = self.program_held(die);
                    let steps = [
                        Step::Array(array),
                        Step::Transfer(all),
                        Step::Transfer(count),
                        Step::Array(self.drive.program),
                    ];
                    return self.start(die, Kind::Move, &steps);
                }
                Due::Erase => return self.start(die, Kind::Erase, &[Step::Array(self.drive.erase)]),
            }
        }
    }

    /// What a collection does next. A page that is to be read counts as read.
    fn due(&mut self, die: usize) -> Due {
        let Victim { block, cursor, .. } = self.dies[die].victim.expect("a victim");
        let reverse = &self.reverse;
        self.dies[die].held.retain(|&place| reverse[place] != NONE);
        let next =
            (cursor..self.drive.block_units()).find(|&place| reverse[self.at(die, block, place)] != NONE);
        let held = self.dies[die].held.len();
        match next {
            Some(place) if held < self.drive.program_units() => {
                let page = place - place % self.drive.units_per_page;
                let end = page + self.drive.units_per_page;
                let places = (page..end).map(|place| self.at(die, block, place));
                let live: Vec<usize> = places.filter(|&place| self.reverse[place] != NONE).collect();
                let victim = self.dies[die].victim.as_mut().expect("a victim");
                victim.cursor = end;
                let count = live.len();
                self.dies[die].held.extend(live);
                Due::Read(count, self.drive.read_time(page))
            }
            None if held == 0 => Due::Erase,
            _ => Due::Program,
        }
    }

    /// Units that were read go to one program. Returns how many.
    fn program_held(&mut self, die: usize) -> usize {
        let most = self.drive.program_units().min(self.dies[die].held.len());
        let places: Vec<usize> = self.dies[die].held.drain(..most).collect();
        let units: Vec<u32> = places.iter().map(|&place| self.reverse[place]).collect();
        self.place(die, 1, &units);
        let victim = self.dies[die].victim.as_mut().expect("a victim");
        victim.moved += units.len();
        units.len()
    }
}

enum Due {
    /// Units of a page, and the time of its array.
    Read(usize, Time),
    Program,
    Erase,
}
