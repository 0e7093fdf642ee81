//! Running commands: what they read and write of the map, and how they go on step by step, over the bus where they need that.

use harmonia_flash::{Bus, CommandOrder, Grant, Turn, Urgency};
use harmonia_types::{IoCause, Ppn, SimDuration, SimTime};

use super::owner::Owner;
use super::queue::PageOp;
use super::rules::Rules;
use super::{Device, DeviceFailure};
use crate::die::Die;
use crate::die::command::{Activity, Command, NO_OP, Step};
use crate::ftl::To;
use crate::gc::schedule::Class;
use crate::probe::{FlashPage, Origin, Probe};
use crate::slab::Slab;

/// How urgent the next transfer of a die's command is.
#[inline]
fn urgency(die: &Die, ops: &Slab<PageOp>) -> Urgency {
    let (op, class) = match die.activity {
        Activity::Host(op) => (op, ops[op].kind.class()),
        Activity::Joint(class) => (die.transferring().op, class),
        _ => (NO_OP, Class::Write),
    };
    match class {
        _ if op == NO_OP => Urgency::Gc,
        Class::Read => Urgency::Read,
        Class::Write => Urgency::Write,
    }
}

/// Asks for the bus at `now`; `None` if others go first, or whoever comes later may.
#[expect(clippy::inline_always, reason = "a part of every transfer")]
#[inline(always)]
pub(super) fn ask(
    rules: &Rules,
    bus: &mut Bus,
    die: u32,
    (step, length, urgency): (Step, SimDuration, Urgency),
    now: SimTime,
) -> Option<Grant> {
    let after_data = rules.timing.command.order == CommandOrder::AfterData;
    if !rules.reads_first && !after_data {
        return Some(bus.take(now, length, urgency == Urgency::Gc));
    }
    let turn = Turn::new(die, length, urgency, after_data && !matches!(step, Step::Out(_)));
    bus.ask(now, if rules.reads_first { turn } else { turn.in_line() })
}

impl<P: Probe> Device<P> {
    #[expect(clippy::inline_always, reason = "a part of every operation of the host")]
    #[inline(always)]
    pub(super) fn origin(&self, op: &PageOp) -> Origin {
        match op.owner.get() {
            Owner::Host(sub) => Origin { token: self.subs[sub].token, page: op.page },
            Owner::Cache(slot) => self.origin_in_cache(slot),
            Owner::Map(_) => Origin::of_map(op.lpn),
        }
    }

    /// Where the data of an operation's page lies now.
    fn page_of(&self, op: &PageOp) -> Option<FlashPage> {
        let (block, page) = self.ftl.lookup(op.unit, op.lpn)?;
        Some(FlashPage { unit: op.unit, ppn: Ppn(block << self.rules.shape.page_bits | page) })
    }

    /// The host reads a page. `false` if it was never written, so that flash has nothing to do.
    #[expect(clippy::inline_always, reason = "a part of every read of the host")]
    #[inline(always)]
    pub(super) fn read_page(&mut self, op: &PageOp) -> bool {
        let page = self.page_of(op);
        self.probe.read(page, self.ftl.device_lpn(op.unit, op.lpn), self.origin(op));
        let read = match op.cause {
            IoCause::Parity => &mut self.counters.parity_pages_read,
            // The mapping cache has counted it.
            IoCause::Map => return page.is_some(),
            _ => &mut self.counters.host_pages_read,
        };
        *read += u64::from(page.is_some());
        page.is_some()
    }

    /// The rest of a page of which the host writes a part is read. `false` if there is none.
    pub(super) fn complete_page(&mut self, op: &PageOp) -> bool {
        let Some(page) = self.page_of(op) else { return false };
        self.probe.merge(page, self.ftl.device_lpn(op.unit, op.lpn), self.origin(op));
        self.counters.read_modify_write_reads += 1;
        true
    }

    /// The host writes a page; returns the summary pages that costs.
    #[inline]
    pub(super) fn write_page(
        &mut self,
        die: u32,
        op: &PageOp,
        to: To,
        now: SimTime,
    ) -> Result<u32, DeviceFailure> {
        if self.rules.shape.is_dynamic()
            && let Some(home) = self.ftl.home(op.lpn)
        {
            // What it leaves behind there can be collected.
            self.dies[self.rules.shape.die_of(home) as usize].exhausted = false;
        }
        self.note_plane(die, op.unit);
        if let Owner::Cache(slot) = op.owner.get() {
            self.probe.drain(slot, self.ftl.device_lpn(op.unit, op.lpn));
        }
        let free = self.ftl.free_blocks(op.unit);
        let failure = self.failure(now);
        let origin = Some(self.origin(op));
        let summaries = if self.ftl.places() {
            self.note_handle(op);
            self.ftl.program_to((op.unit, op.lpn), to, op.cause, origin, &mut self.probe).map_err(failure)?
        } else {
            self.ftl.program(op.unit, op.lpn, op.cause, origin, &mut self.probe).map_err(failure)?
        };
        self.dies[die as usize].exhausted = false;
        match op.owner.get() {
            Owner::Host(sub) => {
                let edges = &self.subs[sub].edges;
                if edges.left_out != [0; 2] {
                    self.counters.padding[op.cause as usize] += u64::from(edges.left_out_of(op.page));
                }
            }
            Owner::Cache(slot) => self.counters.padding[op.cause as usize] += self.left_out_in_cache(slot),
            Owner::Map(_) => {}
        }
        if self.ftl.free_blocks(op.unit) != free {
            // A block was opened: utilisation changed, and there is less room.
            self.tell_thresholds(die, now);
            self.govern(now);
            self.warn_of_end(now);
        }
        Ok(summaries)
    }

    /// Puts a die to work on the command that it has begun.
    pub(super) fn start(&mut self, die: u32, now: SimTime) {
        self.watch_begin(die, now);
        self.note_command(die, now);
        let going = self.run_steps(die, now);
        debug_assert!(going, "a command takes time");
    }

    /// Runs the command's steps from `now` on as far as is known and sets the die's wake-up. `false` if it is done.
    #[inline]
    pub(super) fn run_steps(&mut self, die: u32, now: SimTime) -> bool {
        let command = &self.dies[die as usize].command;
        let going = command.next < command.len;
        if going {
            self.run_from(die, now, now);
        }
        going
    }

    /// Runs steps of which the first can begin at `time`, from `now` on.
    pub(super) fn run_from(&mut self, die: u32, mut time: SimTime, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        let rules = &self.rules;
        while slot.command.next < slot.command.len {
            let command = &mut slot.command;
            let step = command.steps[usize::from(command.next)];
            let length = match step {
                Step::Array(length) => {
                    time += length;
                    command.array += length;
                    command.next += 1;
                    continue;
                }
                Step::Command(length) => length,
                Step::Out(_) => rules.timing.transfer,
                Step::In(_) => rules.page_in,
            };
            if rules.geometry.own_pins {
                time = slot.transferred(Grant::at_once(time + length), length);
                if slot.activity == Activity::Joint(Class::Read) && slot.command.pages > 0 {
                    break;
                }
                continue;
            }
            if time > now {
                // The bus is asked for when the data is there, not before: others may want it until then.
                break;
            }
            let urgency = urgency(slot, &self.ops);
            let channel = rules.channel_of(die);
            let bus = &mut self.buses[channel];
            let Some(grant) = ask(rules, bus, die, (step, length, urgency), now) else {
                return self.await_bus(die, channel);
            };
            time = slot.transferred(grant, length);
        }
        self.wakes.set(die as usize, time);
        if self.rules.suspends {
            self.look_when_array_works(die, now);
        }
    }

    /// A die has asked for a bus that others go first on, or may.
    pub(super) fn await_bus(&mut self, die: u32, channel: usize) {
        if self.bus_wakes.time_of(channel) == SimTime::NEVER {
            self.bus_wakes.set(channel, self.buses[channel].free_at());
        }
        self.wakes.clear(die as usize);
    }

    /// Programs the summary pages of blocks that host operations filled. `false` if there are none.
    pub(super) fn begin_summaries(&mut self, die: u32, now: SimTime) -> bool {
        let Command { summaries, background, start, .. } = self.dies[die as usize].command;
        if background {
            self.log_background(die, start, now + self.rules.summary_time(summaries));
        }
        if summaries > 0 {
            let time = self.rules.summary_time(summaries);
            let command = self.dies[die as usize].begin(Activity::Summary, now);
            command.then(Step::Array(time)).background = background;
            self.start(die, now);
        }
        summaries > 0
    }
}
