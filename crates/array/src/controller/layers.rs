//! The layers that an operation passes on its way to its member, and its answer on the way back: one shape for those that commands
//! pass, and one answer of those before them.
//!
//! ```text
//! an operation of a plan   comes ─► Goes, To ──► the next layer ─► ... ─► it is a command
//!                            ├────► Cut: the layer is asked about the first bytes again, then about the rest
//!                            └────► Answered: it is over; Refused: the planner says what becomes of it
//! a command                comes ─► Goes ──────► the next layer ─► ... ─► its device
//!                            └────► Held, Until: it goes on later, to the next layer
//! an answer                comes ─► Goes ──────► the layer above ─► ... ─► its transaction
//!                            └────► Until: it goes on later
//! ```
//!
//! | layer | on the way down | on the way back |
//! |---|---|---|
//! | [stand-ins](super::standing_in) | `To` the member that stands in, `Cut` by rows | |
//! | [NVRAM](super::nvram::Nvram) | `Answered` if it has the pages, `Cut` where that changes | a write takes away what it has replaced |
//! | [copies](super::copying::Route) | the spare is given the same, or the spare alone | |
//! | [reserved and failed members](super::reserved::Reserved) | `Refused` | what the planner lets wait is kept |
//! | [depth](super::depth::Depth) | `Held` until there is room | makes room |
//! | [hedges](super::hedges::Hedges) | `Watched` | what another transaction has answered is swallowed |
//! | [link](super::link::SharedLink) | `Until` the data is over | `Until` a read has come, then later by its time on the link |
//!
//! The first four deal with operations of a plan, which may still become several, or none. The others deal with commands, of
//! which each has its device. [`CommandLayers`] has those in their order, and whoever adds one adds it there. `path` is the way
//! through all of them. On the way back it asks the command layers ([`Layer::up`]), of which only the link has an answer. The other
//! entries of that column stand in `path` itself. What a device refuses takes no way back: layers are asked only for the time that
//! it spent in them. A layer knows nothing of an array, of transactions or of blame but for the time that a command spends in it.

use harmonia_engine::EventQueue;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Arbitration, Device, Slab, SubCompletion, SubRequest};
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::depth::Depth;
use super::hedges::Hedges;
use super::link::SharedLink;
use super::messages::Message;
use super::tokens::Node;
use crate::config::{ArrayConfig, Reads};
use crate::planner::Refusal;

/// What a layer says to an operation of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Down {
    /// Nothing is in the way.
    Goes,
    /// It goes on, to this member.
    To(DeviceId),
    /// So many bytes at its beginning have another answer than the rest.
    Cut(Bytes),
    /// The layer does what it asks for.
    Answered,
    /// Its member does not take it.
    Refused(Refusal),
}

/// What a layer says to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Nothing is in the way.
    Goes,
    /// It goes on, and somebody looks after it at this time.
    Watched(SimTime),
    /// The layer keeps it. Only depth answers so, and `fill_room` in `resuming` lets it go.
    Held,
    /// It goes on at this time.
    Until(SimTime),
}

/// What a layer says to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Up {
    /// Nothing is in the way.
    Goes,
    /// The layer is asked again at this time.
    Until(SimTime),
}

/// A command on its way to a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// The slot of its device.
    pub slot: usize,
    pub sub: SubRequest,
    /// Its place among the operations under way.
    pub place: u32,
    /// The stream or volume of the request that waits for it, if any does.
    pub stream: Option<u16>,
}

/// What a device says of the commands that it takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// So many it is given at once.
    pub depth: Option<u32>,
    /// So many it fetches.
    pub window: Option<u32>,
    /// It fetches them from the queues of its host in turn.
    pub takes_turns: bool,
}

impl Terms {
    pub fn of<P: Probe>(device: &Device<P>) -> Terms {
        let controller = device.controller();
        let takes_turns = controller.command_window.is_some() && controller.arbitration != Arbitration::Fifo;
        Terms { depth: device.queue_depth(), window: controller.command_window, takes_turns }
    }
}

/// A layer that commands pass.
pub(super) trait Layer {
    /// A command comes from above.
    fn down(&mut self, _command: &Command, _now: SimTime) -> Pass {
        Pass::Goes
    }

    /// A command that waited until now goes on, or has been given up meanwhile.
    fn let_go(&mut self) {}

    /// How long a command was in this layer on its way down, by slot and by its place among those under way. It counts as time on a
    /// link; a wait for room in depth is charged apart.
    fn spent(&self, _slot: usize, _place: u32) -> SimDuration {
        SimDuration::ZERO
    }

    /// The answer to an operation comes from below, or is `due` because the layer has said so of this time.
    fn up(&mut self, _of: &Node, _done: &mut SubCompletion, _due: Option<SimTime>) -> Up {
        Up::Goes
    }

    /// There is one more device.
    fn add_slot(&mut self, terms: Terms);

    /// Another device is in a slot, and nothing is under way there.
    fn replace(&mut self, _slot: usize, _terms: Terms) {}

    /// Two devices change places.
    fn exchange(&mut self, one: usize, other: usize);

    /// Nothing is under way any more.
    fn lose_power(&mut self);
}

/// What waits for a time, and the layers that it has yet to pass: those from this number on, or on the way up those of smaller numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    Command(usize, SubRequest),
    Answer(usize, SubCompletion),
}

/// The layers that commands pass, those there are.
#[derive(Debug, Clone)]
pub(super) struct CommandLayers {
    pub depth: Option<Box<Depth>>,
    pub hedges: Option<Box<Hedges>>,
    pub link: Option<Box<SharedLink>>,
    #[cfg(test)]
    fabric: Option<Box<tests::Fabric>>,
    waiting: Slab<Waiting>,
    /// There is none: commands go straight to their devices. Operations pass the layers of `path` all the same.
    are_none: bool,
}

fn layer<L: Layer>(of: &mut Option<Box<L>>) -> Option<&mut dyn Layer> {
    of.as_deref_mut().map(|layer| layer as &mut dyn Layer)
}

impl CommandLayers {
    /// The number of `depth`.
    pub const DEPTH: usize = 0;

    /// The layers of an array that is configured so, whose devices say this and in which reads follow this rule.
    pub fn new(config: &ArrayConfig, terms: Vec<Terms>, reads: Reads) -> CommandLayers {
        let mut layers = CommandLayers {
            depth: Depth::new(config, terms),
            hedges: Hedges::new(reads),
            link: SharedLink::new(config),
            #[cfg(test)]
            fabric: None,
            waiting: Slab::default(),
            are_none: false,
        };
        let are_none = layers.all().next().is_none();
        CommandLayers { are_none, ..layers }
    }

    /// From the top, each with its number.
    fn all(&mut self) -> impl DoubleEndedIterator<Item = (usize, &mut dyn Layer)> {
        let all = [
            layer(&mut self.depth),
            layer(&mut self.hedges),
            layer(&mut self.link),
            #[cfg(test)]
            layer(&mut self.fabric),
        ];
        all.into_iter().enumerate().filter_map(|(number, layer)| Some((number, layer?)))
    }

    #[inline]
    pub fn are_none(&self) -> bool {
        self.are_none
    }

    /// Takes a command down through the layers from this number on. Whether it has passed all of them.
    #[cold]
    pub fn down(
        &mut self,
        from: usize,
        command: &Command,
        now: SimTime,
        agenda: &mut EventQueue<Message>,
    ) -> bool {
        let mut below = self.all().filter(|(number, _)| *number >= from);
        let stop = below.find_map(|(number, layer)| match layer.down(command, now) {
            Pass::Goes => None,
            Pass::Watched(at) => {
                agenda.push(at, Message::Hedge(command.sub.token));
                None
            }
            Pass::Held => Some((number, None)),
            Pass::Until(at) => Some((number, Some(at))),
        });
        drop(below);
        let Some((number, until)) = stop else { return true };
        if let Some(at) = until {
            let waiting = self.waiting.insert(Waiting::Command(number + 1, command.sub));
            agenda.push(at, Message::Passes(waiting));
        }
        false
    }

    /// Takes the answer to an operation up through the layers of smaller numbers than `under`. Whether it has passed all of them. The
    /// first of them has held it if it is `due`; nothing else happens before `latest`.
    #[cold]
    pub fn up(
        &mut self,
        under: usize,
        (of, done): (&Node, &mut SubCompletion),
        (mut due, latest): (Option<SimTime>, SimTime),
        agenda: &mut EventQueue<Message>,
    ) -> bool {
        let mut above = self.all().rev().filter(|(number, _)| *number < under);
        let stop = above.find_map(|(number, layer)| match layer.up(of, done, due.take()) {
            Up::Goes => None,
            Up::Until(at) => Some((number, at)),
        });
        drop(above);
        let Some((number, at)) = stop else { return true };
        let waiting = self.waiting.insert(Waiting::Answer(number + 1, *done));
        agenda.push(at.max(latest), Message::Passes(waiting));
        false
    }

    /// What has waited until now.
    pub fn take(&mut self, waiting: u32) -> Waiting {
        let what = self.waiting[waiting];
        self.waiting.release(waiting);
        if let Waiting::Command(below, _) = what
            && let Some((_, layer)) = self.all().find(|(number, _)| number + 1 == below)
        {
            layer.let_go();
        }
        what
    }

    /// How long a command was in layers on its way to the device in a slot.
    #[inline]
    pub fn spent(&mut self, slot: usize, place: u32) -> SimDuration {
        if self.are_none { SimDuration::ZERO } else { self.spent_in_all(slot, place) }
    }

    #[cold]
    fn spent_in_all(&mut self, slot: usize, place: u32) -> SimDuration {
        SimDuration(self.all().map(|(_, layer)| layer.spent(slot, place).0).sum())
    }

    /// There is one more device.
    pub fn add_slot(&mut self, terms: Terms) {
        self.all().for_each(|(_, layer)| layer.add_slot(terms));
    }

    /// Another device is in a slot, and nothing is under way there.
    pub fn replace(&mut self, slot: usize, terms: Terms) {
        self.all().for_each(|(_, layer)| layer.replace(slot, terms));
    }

    /// Two devices change places.
    pub fn exchange(&mut self, one: usize, other: usize) {
        self.all().for_each(|(_, layer)| layer.exchange(one, other));
    }

    /// Nothing is under way any more.
    pub fn lose_power(&mut self) {
        self.waiting.release_all();
        self.all().for_each(|(_, layer)| layer.lose_power());
    }
}

#[cfg(test)]
pub(super) mod tests;
