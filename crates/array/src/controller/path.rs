//! The way of an operation down to its device, and of its answer back: [`Array::submit_piece`] and [`Array::completed`], each to be read
//! from top to bottom. What the layers on it are is said in `layers`.

use harmonia_ssd::probe::Probe;
use harmonia_ssd::{SubCompletion, SubRequest};
use harmonia_types::{DeviceId, IoCause, Operation, ParityPages, SimTime};

use super::copying::Route;
use super::depth::Waiting as InLine;
use super::layers::{Command, Down};
use super::messages::Message;
use super::payload::Payload;
use super::reserved::Reserved;
use super::states::Purpose;
use super::tokens::{NONE, Node, Parent};
use super::trails::What;
use super::transactions::{Chain, known_as};
use super::{Array, ArrayFailure, standing_in};

/// What of an operation is still to be handed over.
pub(super) struct Way {
    /// Whose place on the members is not asked yet.
    to_place: Option<u32>,
    /// What NVRAM has cut off.
    placed: Option<u32>,
    /// What the member gets after the spare that it is copied to.
    copied: Option<u32>,
}

impl Way {
    /// All of an operation.
    #[inline]
    pub fn of(node: u32) -> Way {
        Way { to_place: Some(node), placed: None, copied: None }
    }
}

/// What is handed over at a time.
pub(super) enum Piece {
    /// An operation, or a part of one, that has its place.
    Placed(u32),
    /// One that the spare has got: the member gets it, too.
    Copied(u32),
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// The next piece of an operation that is to be handed over. A layer may cut an operation in two. The second part comes to that
    /// layer when the first has been handed over, and with it all that layers below have made of the first.
    #[inline]
    pub(super) fn next_piece(&mut self, way: &mut Way) -> Option<Piece> {
        if let Some(node) = way.copied.take() {
            return Some(Piece::Copied(node));
        }
        if let Some(part) = way.placed.take() {
            return Some(Piece::Placed(part));
        }
        let part = way.to_place.take()?;
        // Stand-ins.
        if self.members.health.stand_ins().is_some() {
            way.to_place = self.place_by_rows(part);
        }
        Some(Piece::Placed(part))
    }

    /// The way of a piece of an operation down to where it is a command. At most one device is given one: the rest is left on its way.
    #[inline]
    pub(super) fn submit_piece(
        &mut self,
        piece: Piece,
        way: &mut Way,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let node = match piece {
            Piece::Placed(node) => node,
            Piece::Copied(node) => {
                let member = self.nodes.get(node).operation.device;
                return self.hand_over::<false>(node, member.index(), now);
            }
        };
        // NVRAM.
        if self.nvram.is_some() {
            let (down, rest) = self.ask(node, Self::ask_nvram);
            way.placed = rest;
            if down == Down::Answered {
                self.answer_from_nvram(node, now);
                return Ok(());
            }
        }
        self.tell_of_submission(node);
        // Copies: what is copied goes to the spare alone.
        let route = if self.failures.is_some() { self.route_of(node) } else { Route::Own };
        if let Route::Spare(slot) = route {
            self.nodes.get_mut(node).is_twin = true;
            return self.hand_over::<false>(node, slot, now);
        }
        // Reserved members.
        let Node { operation, is_promised, .. } = *self.nodes.get(node);
        let access = self.members.health.access(operation.device);
        if let Down::Refused(refusal) = Reserved::down(access, is_promised) {
            self.agenda.push(now, Message::Refused(self.nodes.token(node), refusal));
            return Ok(());
        }
        // Copies: what is written meanwhile goes to the spare as well.
        if let Route::Both(slot) = route {
            way.copied = Some(node);
            let twin = self.twin_of(node);
            return self.hand_over::<false>(twin, slot, now);
        }
        self.hand_over::<false>(node, operation.device.index(), now)
    }

    /// The way of a command from the layer with this number down to the device in a slot: depth, hedges, the link.
    #[inline]
    pub(super) fn give(
        &mut self,
        from: usize,
        slot: usize,
        sub: SubRequest,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        if self.layers.are_none() || self.passes(from, slot, sub, now) {
            self.submit_to_device(slot, sub, now)
        } else {
            Ok(())
        }
    }

    /// An operation is at the device in a slot.
    #[inline]
    fn submit_to_device(&mut self, slot: usize, sub: SubRequest, now: SimTime) -> Result<(), ArrayFailure> {
        let result = self.members.devices[slot].submit(now, sub);
        result.map_err(|failure| {
            let place = self.nodes.place(sub.token);
            let device = place.map_or(DeviceId(slot as u16), |place| self.nodes.get(place).operation.device);
            ArrayFailure { device, failure }
        })?;
        self.gather(slot);
        Ok(())
    }

    /// The way of an answer from its device up through the layers that commands pass: the link.
    #[inline]
    pub(super) fn completed(&mut self, done: &SubCompletion) {
        if self.is_bare {
            self.node_done::<true>(done);
        } else if self.layers.are_none() {
            self.node_done::<false>(done);
        } else {
            self.comes_back(*done);
        }
    }

    /// The way of an answer from there up to its transaction or request.
    pub(super) fn node_done<const IS_BARE: bool>(&mut self, done: &SubCompletion) {
        debug_assert!(!IS_BARE || self.has_no_options());
        let Some(node) = self.nodes.take(done.token) else { return };
        if IS_BARE {
            self.members.outstanding[usize::from(node.slot)] -= node.operation.length;
            self.coupled[usize::from(node.slot)] -= u32::from(node.couples);
            return self.tell_parent(&node, done);
        }
        if let Some(trails) = &mut self.trails {
            trails.answered = Some((done.token, false));
        }
        let operation = &node.operation;
        self.is_done_with(usize::from(node.slot), operation.length, node.couples, done.finish);
        // Depth.
        if self.layers.depth.is_some() {
            self.makes_room(&node, done.finish);
        }
        if !node.is_twin {
            self.tell_answer(operation.device, operation.operation, done.finish, &done.blame);
        }
        // Hedges: another transaction has answered it before.
        if node.is_outrun() {
            return;
        }
        // NVRAM.
        if self.nvram.is_some() && !node.is_twin {
            self.write_ends(&node, done.token, done.finish);
        }
        if self.failures.is_some() {
            self.find_unreadable(&node, done);
        }
        if self.payload.is_active() {
            self.tell_payload(node.parent, |payload, owner| {
                payload.done(owner, &node.planned(), done.token);
            });
        }
        self.tell_parent(&node, done);
    }

    /// The transaction or the request of an operation hears that it is done.
    #[inline]
    fn tell_parent(&mut self, node: &Node, done: &SubCompletion) {
        let operation = &node.operation;
        let handle = match node.parent {
            Parent::Transaction(handle) => handle,
            Parent::Request(request) => return self.direct_is_done(request, node, done),
        };
        match self.transactions[handle].purpose {
            Purpose::Request { request, .. } if !operation.behind => {
                self.requests[request].met_gc |= done.met_gc;
                if done.met_gc && self.cache.is_some() {
                    self.merged_are_affected(handle);
                }
            }
            Purpose::Marks if done.met_gc => self.marks_are_affected(),
            _ => {}
        }
        self.operation_is_done(node, done.is_parity, done.finish, &done.blame);
    }

    /// What a layer says to an operation, or to the beginning of one that it cuts; and the rest of that.
    #[cold]
    fn ask(&mut self, node: u32, layer: fn(&Self, &Node) -> Down) -> (Down, Option<u32>) {
        let down = layer(self, self.nodes.get(node));
        let Down::Cut(head) = down else { return (down, None) };
        let rest = self.cut(node, head);
        let down = layer(self, self.nodes.get(node));
        debug_assert!(!matches!(down, Down::Cut(_)), "what is cut has one answer");
        (down, Some(rest))
    }

    fn ask_stand_ins(&self, node: &Node) -> Down {
        let all = self.members.health.stand_ins();
        all.map_or(Down::Goes, |all| standing_in::down(all, node, self.is_destage(node)))
    }

    fn ask_nvram(&self, node: &Node) -> Down {
        let nvram = self.nvram.as_deref();
        nvram.map_or(Down::Goes, |nvram| nvram.down(&node.operation, self.is_destage(node)))
    }

    /// An operation, or its beginning, goes to the member that has its place; the rest of it.
    #[cold]
    fn place_by_rows(&mut self, node: u32) -> Option<u32> {
        let (down, rest) = self.ask(node, Self::ask_stand_ins);
        if let Down::To(device) = down {
            self.nodes.get_mut(node).operation.device = device;
            if self.is_destage(self.nodes.get(node)) {
                self.tell_parity(node);
            }
        }
        rest
    }

    /// Whether what goes back is parity depends on whose place it is.
    fn tell_parity(&mut self, node: u32) {
        let Node { operation, .. } = *self.nodes.get(node);
        let row = operation.offset / self.layout.stripe_unit();
        let holder = self.members.health.role(operation.device, row).unwrap_or(operation.device);
        let parity = self.layout.parity_pages(holder, operation.offset, operation.length);
        self.nodes.get_mut(node).operation.parity = parity;
    }

    /// Which devices are given an operation.
    fn route_of(&self, node: u32) -> Route {
        let node = self.nodes.get(node);
        let spare = self.spare_of(node.operation.device);
        let copies = match node.parent {
            Parent::Transaction(handle) => spare.is_some() && self.is_copy(handle),
            Parent::Request(_) => false,
        };
        Route::of(spare, node.operation.operation, copies, node.is_direct())
    }

    /// What a member is about to be given, for the spare that it is copied to as well.
    #[cold]
    fn twin_of(&mut self, node: u32) -> u32 {
        let mut twin = *self.nodes.get(node);
        self.add_to_step(&mut twin);
        twin.is_twin = true;
        twin.operation.fast_fail = false;
        let twin = self.nodes.insert(twin);
        self.tell_of_submission(twin);
        twin
    }

    /// The payload hears of an operation that is handed to its member.
    fn tell_of_submission(&mut self, node: u32) {
        if !self.payload.is_active() {
            return;
        }
        let (token, whole) = (self.nodes.token(node), *self.nodes.get(node));
        if self.is_destage(&whole) {
            self.payload.destages(&whole.operation, token);
        } else {
            let planned = whole.planned();
            self.tell_payload(whole.parent, |payload, owner| payload.submits(owner, &planned, token));
        }
    }

    /// How a command is marked for its device, by the request of its operation: its placement handle ([`known_as`]), and
    /// whether the host wants it with FUA. What the array does by itself has neither mark. [`Purpose::Marks`] is something else: the bits of the
    /// bitmap.
    #[inline]
    fn marks_of(&self, parent: Parent) -> (u16, bool) {
        let Some(request) = self.request_of(parent) else { return (0, false) };
        let request = &self.requests[request].request;
        (
            known_as(request.handle, request.volume),
            request.fua || (self.cache.is_some() && self.merged_has_fua(parent)),
        )
    }

    /// When the request of an operation should be done.
    fn deadline_of(&self, parent: Parent) -> Option<SimTime> {
        let request = &self.requests[self.request_of(parent)?].request;
        Some(request.arrival + self.deadlines.of(request.operation)?)
    }

    /// Hands an operation over: from now on it is a command to the device in a slot. In a [bare](Array::has_no_options) array nothing
    /// comes before that.
    #[inline]
    pub(super) fn hand_over<const IS_BARE: bool>(
        &mut self,
        node: u32,
        slot: usize,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        debug_assert!(!IS_BARE || self.has_no_options());
        let token = self.nodes.token(node);
        let Node { operation, parent, is_twin, .. } = *self.nodes.get(node);
        let device = operation.device.index();
        let has_deadline = !IS_BARE && self.deadlines.is_set();
        let deadline = if has_deadline { self.deadline_of(parent) } else { None };
        self.members.outstanding[slot] += operation.length;
        let given = self.nodes.get_mut(node);
        given.progress.give();
        given.slot = slot as u16;
        let replaces_parked = !IS_BARE && self.nvram.is_some() && !is_twin && self.write_begins(node);
        let (couples, is_upkeep, background) = match parent {
            Parent::Request(_) => (false, false, false),
            Parent::Transaction(handle) => {
                let running = &self.transactions[handle];
                let purpose = running.purpose;
                let is_upkeep = !IS_BARE && purpose.is_upkeep();
                (running.has_sequel(), is_upkeep, !IS_BARE && purpose.is_background())
            }
        };
        if couples {
            self.nodes.get_mut(node).couples = true;
            self.coupled[slot] += 1;
        }
        let (handle, fua) = self.marks_of(parent);
        let sub = SubRequest {
            fast_fail: self.reserved.may_refuse(&operation) && self.members.delivered[device].capable,
            deadline,
            parity: if is_upkeep && operation.operation == Operation::Write {
                ParityPages::BACKGROUND
            } else {
                operation.parity
            },
            background,
            handle,
            // What the array keeps for itself is on flash when it is answered, and so is what NVRAM then no longer holds.
            fua: fua || replaces_parked || operation.parity.cause == IoCause::Log,
            ..SubRequest::new(token, operation.operation, operation.offset, operation.length)
        };
        if IS_BARE { self.submit_to_device(slot, sub, now) } else { self.give(0, slot, sub, now) }
    }

    /// Whether a command has passed all layers from the one with this number on.
    #[cold]
    fn passes(&mut self, from: usize, slot: usize, sub: SubRequest, now: SimTime) -> bool {
        let Some(place) = self.nodes.place(sub.token) else { return true };
        let request = self.request_of(self.nodes.get(place).parent);
        let stream = request.map(|request| self.requests[request].request.volume);
        self.layers.down(from, &Command { slot, sub, place, stream }, now, &mut self.agenda)
    }

    /// A device is done with a command.
    #[cold]
    fn comes_back(&mut self, mut done: SubCompletion) {
        if let Some(place) = self.nodes.place(done.token) {
            let slot = usize::from(self.nodes.get(place).slot);
            done.blame.link += self.layers.spent(slot, place).0;
        }
        self.rises(usize::MAX, done, None);
    }

    /// An answer goes up through the layers of smaller numbers than `under`, the first of which has held it if it is `due`.
    pub(super) fn rises(&mut self, under: usize, mut done: SubCompletion, due: Option<SimTime>) {
        if let Some(place) = self.nodes.place(done.token) {
            let answered = (self.nodes.get(place), &mut done);
            if !self.layers.up(under, answered, (due, self.latest), &mut self.agenda) {
                return;
            }
        }
        self.node_done::<false>(&done);
    }

    /// A device has nothing more to do with an operation from `at` on.
    #[cold]
    pub(super) fn makes_room(&mut self, node: &Node, at: SimTime) {
        if let Some(depth) = self.layers.depth.as_deref_mut() {
            depth.leaves(usize::from(node.slot), at);
            self.agenda.push(at.max(self.latest), Message::Room);
        }
        if node.is_outrun() && node.before != NONE {
            self.nodes.take_before(node.before);
        }
    }

    /// A device is gone; what it had been given has been given up.
    #[cold]
    pub(super) fn is_emptied(&mut self, slot: usize, now: SimTime) {
        let Some(depth) = self.layers.depth.as_deref_mut() else { return };
        for waiting in depth.forget(slot) {
            self.has_waited(&waiting, now);
        }
        self.agenda.push(now, Message::Room);
    }

    /// The wait of an operation becomes part of what it has behind it.
    pub(super) fn has_waited(&mut self, waiting: &InLine, now: SimTime) {
        let &InLine { sub: SubRequest { token, .. }, since, for_window, .. } = waiting;
        let Some(place) = self.nodes.place(token).filter(|_| since < now) else { return };
        let node = *self.nodes.get(place);
        let mut chain = match node.before {
            NONE if node.is_direct() => match node.parent {
                Parent::Request(request) if self.trails.is_some() => {
                    Chain::default().with_trail(self.trail_to(request, since))
                }
                _ => Chain::default(),
            },
            NONE => self.transactions[node.transaction()].before,
            before => self.nodes.take_before(before),
        };
        let member = self.name_of(node.operation.device);
        chain.finish = since;
        let what = if for_window { What::Window(member) } else { What::Depth(member) };
        chain.waited(&mut self.trails, now, what);
        self.nodes.get_mut(place).before = self.nodes.keep_before(chain);
    }
}
