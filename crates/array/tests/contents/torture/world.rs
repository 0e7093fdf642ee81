//! What every operation under way carries, and what the requests are owed: the array's side of the contents.
//!
//! ```text
//! request arrives ─► truth: a write is in flight
//! operation submitted ─► a write's contents, from the request's new data and what its transaction has read
//! flash reads, programs ─► pages of the operation's contents
//! operation done ─► a pre-read becomes known to its transaction; a host's read is compared with the truth
//! ```
//!
//! Parity is computed from what a transaction knows, not from what its planner says it does: if all data units of a row
//! are new or read, from them; otherwise from the old parity and the old data of the units that change. A plan that
//! allows neither is a broken invariant, and the test panics. What is found and should not be is an error.
//!
//! Where members are missing, what a transaction has not read is rebuilt from what it has. Only in rows that are broken, or of
//! which pages turned out to be unreadable beyond the redundancy, it may write anything: what that costs is written down in
//! `damage` and `truth`.

mod hooks;
mod parity;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use harmonia_array::Condition;
use harmonia_array::layout::Unit;
use harmonia_array::payload::{Owner, Payload};
use harmonia_array::planner::{PlannedOperation, Transaction};
use harmonia_ssd::probe::Origin;
use harmonia_types::{Completion, DeviceId, HostRequest, IoCause, Lpn, Operation, SimTime};

use super::content::{Content, SECTOR, Stamp, weight};
use super::damage::{Damage, Members};
use super::log::Logs;
use super::places::Places;
use super::rebuild::{position, rebuild};
use super::truth::Truth;
pub use hooks::Contents;

/// Everything that flash and array share.
pub struct World<C> {
    pub places: Places,
    pub truth: Truth,
    pub damage: Damage,
    /// Requests under way by id, from `first_request` on.
    requests: VecDeque<Option<Pending>>,
    first_request: u64,
    /// By place of the token.
    carried: Vec<Carried<C>>,
    /// By handle of the transaction.
    known: Vec<Known<C>>,
    /// Sectors of host reads that were compared.
    pub sectors_read: u64,
    /// The first thing found that should not be.
    pub wrong: Option<String>,
    /// NVRAM, by member and sector.
    parked: BTreeMap<(DeviceId, u64), C>,
    /// What entries of the stripe cache hold, by sector and member.
    kept: BTreeMap<(u64, DeviceId), C>,
    /// Reads may be found out in two ways at once.
    pub races: bool,
    /// Sectors that reads found out from other members than theirs.
    pub rebuilt_for_reads: u64,
    /// Sectors of members whose rows did not add up when power was lost, until all is resynced.
    pub unlike: BTreeSet<u64>,
    /// Logical sectors whose copies differed when power was lost, until all is resynced.
    pub apart: BTreeSet<u64>,
    /// Logical sectors that were written since power was lost, or that nothing was lost of; and what reads have found since in others.
    rewritten: BTreeSet<u64>,
    seen: BTreeMap<u64, C>,
    /// Reads that found again what another had found since a loss of power.
    pub seen_again: u64,
    /// Logical sectors that a write hole has taken, and what it has left there.
    pub predicted: BTreeMap<u64, C>,
    /// What the last read of a sector found that a write hole has taken.
    pub found_in_hole: BTreeMap<u64, C>,
    /// The array does not start any more.
    pub is_refused: bool,
    /// Sectors of reads that nobody could find out, and times that sectors were lost.
    pub unread: u64,
    pub lost: u64,
    /// What the log is to hold, and what is read of it.
    pub logs: Logs<C>,
    /// Times that sectors of parity were lost: no read will miss them.
    pub lost_parity: u64,
    /// Sectors that a transaction has read twice, and once could not. What it has read it knows here, so nobody misses them. The
    /// array does without pages that could not be read once.
    pub half_read: u64,
    data: Vec<DeviceId>,
    ranges: Vec<Vec<Range<u64>>>,
}

/// A request under way.
struct Pending {
    request: HostRequest,
    /// The logical sectors it reads or changes.
    touched: Vec<Range<u64>>,
    /// Of a read, by sector of `touched`: what it holds has been found out.
    found: Vec<bool>,
    /// Sectors of members that it needed and that could not be read.
    unreadable: Vec<(DeviceId, Range<u64>)>,
    /// Members that were not whole at any time since it arrived.
    ailed: Members,
    /// Power was lost since it arrived.
    is_cut: bool,
}

/// What a member operation carries to its member or back.
struct Carried<C> {
    token: u64,
    member: DeviceId,
    /// First sector on the member.
    first: u64,
    contents: Vec<C>,
    /// Pages of it that flash has not read or programmed.
    pages_left: u64,
    /// Sectors of it that its member refused, or NVRAM took.
    refused: Vec<Range<u64>>,
}

/// What a transaction has read so that it can write.
struct Known<C> {
    first: u64,
    /// Sectors of its rows on one member; 0 if it has read nothing.
    span: u64,
    /// By member and sector.
    contents: Vec<Option<C>>,
    /// The same where there is no parity, by logical sector.
    copies: BTreeMap<u64, (usize, C)>,
    /// Logical sectors that the host wants of it and that have been compared, or all of them.
    compared: BTreeSet<u64>,
    is_compared: bool,
    /// Whatever could be told was compared, and from then on what each read adds.
    is_in_parts: bool,
    /// Sectors of members that it needed and that could not be read.
    unreadable: Vec<(DeviceId, Range<u64>)>,
    /// It writes what it has read, for no request.
    restores: bool,
    /// What it reads and writes stays in the stripe cache.
    is_cached: bool,
    /// Other requests whose data it writes, too.
    joined: Vec<u64>,
}

impl<C: Content> World<C> {
    pub fn new(places: Places, damage: Damage) -> Self {
        World {
            truth: Truth::new(places.logical_sectors),
            requests: VecDeque::new(),
            first_request: 0,
            carried: Vec::new(),
            known: Vec::new(),
            sectors_read: 0,
            wrong: None,
            parked: BTreeMap::new(),
            kept: BTreeMap::new(),
            races: false,
            rebuilt_for_reads: 0,
            unlike: BTreeSet::new(),
            apart: BTreeSet::new(),
            rewritten: BTreeSet::new(),
            seen: BTreeMap::new(),
            seen_again: 0,
            predicted: BTreeMap::new(),
            found_in_hole: BTreeMap::new(),
            is_refused: false,
            unread: 0,
            lost: 0,
            lost_parity: 0,
            half_read: 0,
            damage,
            logs: Logs::default(),
            data: Vec::new(),
            ranges: Vec::new(),
            places,
        }
    }

    /// Keeps the first error.
    pub fn report(&mut self, what: impl FnOnce() -> String) {
        if self.wrong.is_none() {
            self.wrong = Some(what());
        }
    }

    /// A page of an operation is read.
    pub fn reads(&mut self, member: DeviceId, lpn: Lpn, origin: Origin, found: &[C]) {
        let sector = u64::from(lpn.0) * self.places.page_sectors;
        let carried = &mut self.carried[origin.token as u32 as usize];
        assert_eq!(self.damage.place(carried.member, sector), member, "where an operation goes");
        let (within, page) = carried.page(self.places.page_sectors, lpn, origin);
        carried.contents[within].copy_from_slice(&found[page]);
    }

    /// A page of an operation is programmed: lays what the operation carries over what `page` holds.
    pub fn programs(&mut self, member: DeviceId, lpn: Lpn, cause: IoCause, origin: Origin, into: &mut [C]) {
        let sector = u64::from(lpn.0) * self.places.page_sectors;
        let carried = &mut self.carried[origin.token as u32 as usize];
        assert_eq!(self.damage.place(carried.member, sector), member, "where an operation goes");
        let (within, page) = carried.page(self.places.page_sectors, lpn, origin);
        into[page].copy_from_slice(&carried.contents[within]);
        let role = self.damage.role(member, sector);
        let expected = match role {
            _ if self.places.is_log(member, sector) => IoCause::Log,
            Some(role) if self.places.is_parity(role, sector) => IoCause::Parity,
            _ => IoCause::Host,
        };
        // What is written behind the host's back is that, whatever it holds.
        let is_told = cause == expected || cause == IoCause::Background;
        assert!(is_told, "{lpn:?} of member {} is programmed as {expected:?}, not {cause:?}", member.0);
    }

    /// The sectors of a page that an operation carries.
    pub fn covers(&self, lpn: Lpn, origin: Origin) -> Range<usize> {
        let carried = &self.carried[origin.token as u32 as usize];
        let start = u64::from(lpn.0) * self.places.page_sectors;
        let end = carried.first + carried.contents.len() as u64;
        let within = |sector: u64| sector.saturating_sub(start).min(self.places.page_sectors) as usize;
        within(carried.first)..within(end)
    }

    /// What an operation that is under way carries of a page, all of which it covers.
    pub fn carried_page(&self, lpn: Lpn, origin: Origin) -> Vec<C> {
        let carried = &self.carried[origin.token as u32 as usize];
        assert_eq!(carried.token, origin.token, "the operation is under way");
        assert_eq!(self.covers(lpn, origin), 0..self.places.page_sectors as usize, "all of the page");
        let first = (u64::from(lpn.0) * self.places.page_sectors - carried.first) as usize;
        carried.contents[first..first + self.places.page_sectors as usize].to_vec()
    }

    /// Makes room for an operation of so many sectors; its contents are to be filled in.
    fn carry(&mut self, operation: &PlannedOperation, token: u64) -> &mut Carried<C> {
        let place = token as u32 as usize;
        if self.carried.len() <= place {
            self.carried.resize_with(place + 1, || Carried {
                token: 0,
                member: DeviceId(0),
                first: 0,
                contents: Vec::new(),
                pages_left: 0,
                refused: Vec::new(),
            });
        }
        let (start, end) = (operation.offset, operation.offset + operation.length);
        let page_size = self.places.page_sectors * SECTOR;
        let carried = &mut self.carried[place];
        carried.token = token;
        carried.member = operation.device;
        carried.first = start / SECTOR;
        carried.pages_left = end.div_ceil(page_size) - start / page_size;
        carried.contents.clear();
        carried.refused.clear();
        carried
    }

    /// Computes what a write carries.
    fn fill(&mut self, owner: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut contents = std::mem::take(&mut self.carry(operation, token).contents);
        if self.places.is_log(operation.device, operation.offset / SECTOR) {
            self.logs.fill(operation, &mut contents);
        } else if self.logs.is_replay(owner.handle) {
            self.fill_replay(owner, operation, &mut contents);
        } else {
            self.fill_write(owner, operation, &mut contents);
            self.keeps(owner, operation, &contents);
        }
        self.carried[token as u32 as usize].contents = contents;
    }

    /// What a write to a member carries, behind what is there.
    pub(super) fn fill_write(
        &mut self,
        owner: Owner<'_>,
        operation: &PlannedOperation,
        contents: &mut Vec<C>,
    ) {
        let (mut sector, end) = (operation.offset / SECTOR, (operation.offset + operation.length) / SECTOR);
        while sector < end {
            // A member holds one thing of a stripe: its parity, or one of its data units.
            let stop = (sector / self.places.unit_sectors + 1) * self.places.unit_sectors;
            let piece = sector..stop.min(end);
            sector = piece.end;
            self.fill_unit(owner, operation.device, piece, contents);
        }
    }

    /// The same for sectors within one stripe unit of a member.
    pub(super) fn fill_unit(
        &mut self,
        owner: Owner<'_>,
        member: DeviceId,
        piece: Range<u64>,
        contents: &mut Vec<C>,
    ) {
        let role = self.places.parity().map(|parity| {
            let stripe = parity.stripe_on(member, piece.start / self.places.unit_sectors);
            parity.unit_on(stripe.expect("nobody writes to spare space"), member)
        });
        match role {
            None | Some(Unit::Data(_)) => {
                contents.extend(piece.map(|sector| self.data_of(owner, member, sector)));
            }
            Some(unit) => self.fill_parity(owner, (member, unit), piece, contents),
        }
    }

    /// What a transaction writes to a sector that holds data: its request's new data, or what it has read there or can tell
    /// from what it has read elsewhere.
    fn data_of(&mut self, owner: Owner<'_>, member: DeviceId, sector: u64) -> C {
        let Some(logical) = self.places.logical(member, sector) else {
            // The last row of copies may end before the member does.
            assert!(owner.request.is_none(), "{owner:?} writes data where none lies");
            return C::ZERO;
        };
        if let Some(new) = self.new_data(owner, logical) {
            return new;
        }
        match self.tell(owner.handle, member, sector) {
            Some((content, is_rebuilt)) => {
                if is_rebuilt && self.is_broken(self.line(member, sector)) {
                    self.lose(logical);
                }
                content
            }
            None => {
                if !self.is_idle_write(owner, member, sector) {
                    self.gives_up(owner, member, sector, "a sector");
                    self.lose(logical);
                }
                C::of(Stamp::garbage(member.0, sector))
            }
        }
    }

    /// Whether a host's write goes to a part of a replacement that is yet to be built. Whatever it leaves there, nobody trusts it,
    /// and a plan made before the replacement came need not know what to write.
    fn is_idle_write(&self, owner: Owner<'_>, member: DeviceId, sector: u64) -> bool {
        owner.request.is_some() && !self.damage.holds(member, sector)
    }

    /// A transaction writes what it cannot know. It may, where what it needs is gone.
    fn gives_up(&mut self, owner: Owner<'_>, member: DeviceId, sector: u64, what: &str) {
        assert!(
            self.is_gone(owner, member, sector),
            "a plan that writes {what} without having read what it needs: sector {sector} of member {} by {owner:?}",
            member.0
        );
        self.breaks(self.line(member, sector));
    }

    /// Whether a transaction cannot find out what a member should hold, because too much is missing or unreadable.
    fn is_gone(&self, owner: Owner<'_>, member: DeviceId, sector: u64) -> bool {
        let of_request = owner.request.map(|request| &self.pending_of(request.id).unreadable[..]);
        let of_transaction = self.known.get(owner.handle as usize).map(|known| &known.unreadable[..]);
        let unreadable = || of_request.into_iter().chain(of_transaction).flatten();
        if self.places.parity().is_some() {
            let line = self.line(member, sector);
            let gone =
                self.missing(line) | (members_at(unreadable(), sector) & self.members(line)) | 1 << member.0;
            return self.is_broken(line) || !self.damage.allows(gone);
        }
        let copies = self.places.logical(member, sector).map(|logical| self.places.copies(logical));
        copies.unwrap_or_default().into_iter().filter(|copy| copy.0 != member).all(|(member, sector)| {
            !self.damage.holds(member, sector) || members_at(unreadable(), sector) & 1 << member.0 != 0
        })
    }

    /// Whether parity says nothing about a row any more.
    pub fn is_broken(&self, line: u64) -> bool {
        self.places.parity().is_some() && self.damage.is_broken(line)
    }

    /// The line of a sector that a member holds.
    fn line(&self, member: DeviceId, sector: u64) -> u64 {
        self.places.line(member, sector).expect("not in spare space")
    }

    /// The members of a line.
    fn members(&self, line: u64) -> Members {
        self.places.members(line).into_iter().fold(0, |all, member| all | 1 << member.0)
    }

    /// Whether a member, or who stands in for it, does not hold what it is to of a line, and this one has a part in that.
    fn is_lost_on(&self, member: DeviceId, line: u64) -> bool {
        let sector = self.places.sector(line);
        let has_part = |&one: &DeviceId| self.damage.with_stand_ins(one, sector) & 1 << member.0 != 0;
        let mut all = self.places.members(line).into_iter().filter(has_part);
        all.any(|one| !self.damage.holds(one, sector))
    }

    /// Those of them that do not hold it.
    fn missing(&self, line: u64) -> Members {
        let (members, sector) = (self.places.members(line), self.places.sector(line));
        let missing = members.into_iter().filter(|&member| !self.damage.holds(member, sector));
        missing.fold(0, |all, member| all | 1 << member.0)
    }

    /// Those of them that were not whole, or had others in their place that were not.
    fn ailed_at(&self, line: u64, ailed: Members) -> Members {
        let sector = self.places.sector(line);
        let members = self.places.members(line).into_iter();
        let ailing = members.filter(|&member| self.damage.with_stand_ins(member, sector) & ailed != 0);
        ailing.fold(0, |all, member| all | 1 << member.0)
    }

    /// Parity says nothing any more about a row: what is missing of it is lost.
    fn breaks(&mut self, line: u64) {
        if self.places.parity().is_none() {
            return;
        }
        self.damage.breaks(line);
        let sector = self.places.sector(line);
        for member in self.places.members(line) {
            match self.places.logical(member, sector) {
                _ if self.damage.holds(member, sector) => {}
                Some(logical) => self.lose(logical),
                None => self.lost_parity += 1,
            }
        }
    }

    /// A logical sector may hold anything from now on.
    pub fn lose(&mut self, logical: u64) {
        self.lost += 1;
        self.truth.lose(logical);
    }

    /// A member holds more or less than before.
    fn holds(&mut self, member: DeviceId, condition: Condition) {
        let is_less = self.damage.set(member, condition);
        let ailing = self.damage.ailing();
        self.requests.iter_mut().flatten().for_each(|pending| pending.ailed |= ailing);
        if !is_less {
            return;
        }
        for line in 0..self.damage.lines() {
            if self.places.parity().is_some() {
                if self.is_lost_on(member, line)
                    && (self.is_broken(line) || !self.damage.allows(self.missing(line)))
                {
                    self.breaks(line);
                }
            } else if let Some(logical) = self.places.logical(member, line) {
                let copies = self.places.copies(logical);
                if !copies.iter().any(|&(member, sector)| self.damage.holds(member, sector)) {
                    self.lose(logical);
                }
            }
        }
    }

    /// Whether a write that is acknowledged is where reads will look for it. Where the parity of a row cannot be made, nothing of
    /// it need be written.
    fn is_kept(&self, pending: &Pending, logical: u64) -> bool {
        if self.is_refused {
            return false;
        }
        if pending.ailed == 0 && pending.unreadable.is_empty() {
            return true;
        }
        let copies = self.places.copies(logical);
        if self.places.parity().is_none() {
            return copies.iter().any(|&(member, _)| pending.ailed & 1 << member.0 == 0);
        }
        let (member, sector) = copies[0];
        let line = self.line(member, sector);
        let unreadable = members_at(&pending.unreadable, sector) & self.members(line);
        let ailed = self.ailed_at(line, pending.ailed);
        !self.is_broken(line) && (unreadable == 0 || self.damage.allows(unreadable | ailed))
    }

    /// Whether a read may do without a sector, because failures have taken it.
    fn is_excused(&self, pending: &Pending, logical: u64) -> bool {
        if self.is_refused || self.truth.is_lost(logical, pending.request.arrival) {
            return true;
        }
        let copies = self.places.copies(logical);
        let (member, sector) = copies[0];
        if self.places.parity().is_some() {
            let line = self.line(member, sector);
            let ailed = self.ailed_at(line, pending.ailed);
            let unreadable = members_at(&pending.unreadable, sector) & self.members(line);
            return (unreadable != 0 && !self.damage.allows(unreadable | ailed))
                || (self.is_broken(line) && ailed & 1 << member.0 != 0);
        }
        copies.iter().all(|&(member, sector)| {
            (pending.ailed | members_at(&pending.unreadable, sector)) & 1 << member.0 != 0
        })
    }

    /// A transaction that restores pages is over. Of what it could not read, it cannot have written what is missing.
    fn restored(&mut self, handle: u32) {
        let unreadable = std::mem::take(&mut self.known[handle as usize].unreadable);
        for (member, sector) in
            unreadable.iter().flat_map(|(member, range)| range.clone().map(move |sector| (*member, sector)))
        {
            if self.places.parity().is_some() {
                let line = self.line(member, sector);
                let gone = self.missing(line) | (members_at(&unreadable, sector) & self.members(line));
                if !self.damage.allows(gone) {
                    self.breaks(line);
                }
            } else if let Some(logical) = self.places.logical(member, sector) {
                let copies = self.places.copies(logical);
                let is_missing = copies.iter().any(|&(member, sector)| !self.damage.holds(member, sector));
                if is_missing && !self.known[handle as usize].copies.contains_key(&logical) {
                    self.lose(logical);
                }
            }
        }
    }

    /// Whether a request under way writes or discards a logical sector.
    pub fn is_being_written(&self, logical: u64) -> bool {
        let mut pending = self.requests.iter().flatten();
        pending.any(|pending| {
            pending.request.operation != Operation::Read
                && pending.touched.iter().any(|range| range.contains(&logical))
        })
    }

    /// Power is lost: what was found out for requests under way is forgotten.
    fn loses_power(&mut self) {
        self.known.clear();
        self.logs.loses_power();
        self.truth.loses_power();
        self.seen.clear();
        self.rewritten.clear();
        let writes = |pending: &&Pending| pending.request.operation != Operation::Read;
        let written = self.requests.iter().flatten().filter(writes);
        self.rewritten.extend(written.flat_map(|pending| pending.touched.iter().cloned().flatten()));
        for pending in self.requests.iter_mut().flatten() {
            pending.is_cut = true;
            pending.found.fill(false);
            pending.unreadable.clear();
        }
    }

    /// What the request of a transaction writes to a logical sector, if it is this transaction's to write.
    fn new_data(&self, owner: Owner<'_>, logical: u64) -> Option<C> {
        let request = owner.request?;
        let joined = self.known.get(owner.handle as usize).map_or(&[][..], |known| &known.joined);
        if !joined.is_empty() {
            let all = [request.id].into_iter().chain(joined.iter().copied());
            let mut new = all.filter(|&id| self.pending_of(id).touches(logical));
            return new.next().map(|id| C::of(Stamp::new(id, logical)));
        }
        let is_new = if self.places.parity().is_some() {
            let Transaction { offset, length, .. } = owner.transaction;
            (offset / SECTOR..(offset + length) / SECTOR).contains(&logical)
        } else {
            let pending = self.requests[(request.id - self.first_request) as usize].as_ref();
            pending.is_some_and(|pending| pending.touched.iter().any(|range| range.contains(&logical)))
        };
        is_new.then(|| C::of(Stamp::new(request.id, logical)))
    }

    /// What a transaction has read at a sector of a member.
    pub(super) fn known(&self, transaction: u32, member: DeviceId, sector: u64) -> Option<C> {
        let known = self.known.get(transaction as usize)?;
        if self.places.parity().is_none() {
            return known.copies.get(&self.places.logical(member, sector)?).map(|copy| copy.1);
        }
        known.contents.get(known.index(member, sector)?).copied().flatten()
    }

    /// A pre-read is done: what it found is known to its transaction.
    fn learn(&mut self, owner: Owner<'_>, operation: &PlannedOperation, token: u64) {
        self.knows(owner);
        if self.places.parity().is_some() {
            self.has_room(owner);
        }
        let World { known, carried, places, kept, half_read, .. } = self;
        let (known, carried) = (&mut known[owner.handle as usize], &carried[token as u32 as usize]);
        if places.parity().is_none() {
            let read = (carried.first..).zip(&carried.contents);
            for (sector, &content) in read.filter(|(sector, _)| !carried.has_refused(*sector)) {
                if let Some(logical) = places.logical(operation.device, sector) {
                    // Copies that do not agree: the first one counts, whichever is read first.
                    let of = (operation.device, sector);
                    let place = places.copies(logical).iter().position(|&copy| copy == of).unwrap_or(0);
                    let entry = known.copies.entry(logical).or_insert((place, content));
                    if place <= entry.0 {
                        *entry = (place, content);
                    }
                }
            }
            return;
        }
        for (sector, &content) in (carried.first..).zip(&carried.contents) {
            if carried.has_refused(sector) {
                continue;
            }
            let index = known.index(operation.device, sector);
            known.contents[index.expect("a pre-read lies in the transaction's rows")] = Some(content);
            *half_read += u64::from(members_at(&known.unreadable, sector) & 1 << operation.device.0 != 0);
            if known.is_cached {
                kept.insert((sector, operation.device), content);
            }
        }
    }

    /// What a write carries stays in the stripe cache, if its transaction has entries there.
    fn keeps(&mut self, owner: Owner<'_>, operation: &PlannedOperation, contents: &[C]) {
        if self.known.get(owner.handle as usize).is_some_and(|known| known.is_cached) {
            let sectors = operation.offset / SECTOR..;
            let all = sectors.zip(contents).map(|(sector, &content)| ((sector, operation.device), content));
            self.kept.extend(all);
        }
    }

    /// A pre-read is answered from the stripe cache: what it holds is known to the transaction.
    fn finds_kept(&mut self, owner: Owner<'_>, operation: &PlannedOperation) {
        let device = operation.device;
        self.has_room(owner);
        for sector in operation.offset / SECTOR..(operation.offset + operation.length) / SECTOR {
            let content = self.kept.get(&(sector, device)).copied();
            if content.is_none() {
                self.report(|| format!("the stripe cache has sector {sector} of {device:?}, and cannot"));
            }
            let known = &mut self.known[owner.handle as usize];
            let index = known.index(device, sector).expect("it lies in the transaction's rows");
            known.contents[index] = content;
        }
    }

    /// The stripe cache keeps nothing of a row any more.
    fn forgets(&mut self, row: u64) {
        let (first, end) = (row * self.places.row_sectors, (row + 1) * self.places.row_sectors);
        let all = self.kept.range((first, DeviceId(0))..(end, DeviceId(0))).map(|(&key, _)| key);
        for key in all.collect::<Vec<_>>() {
            self.kept.remove(&key);
        }
    }

    /// There is room for what a transaction reads of rows of parity.
    fn has_room(&mut self, owner: Owner<'_>) {
        let span = self.places.span(owner.transaction.rows);
        let members = u64::from(self.places.layout.members());
        let known = self.knows(owner);
        if known.span == 0 {
            (known.first, known.span) = span;
            known.contents.resize((known.span * members) as usize, None);
        }
    }

    /// What a transaction has read so far, from now on.
    fn knows(&mut self, owner: Owner<'_>) -> &mut Known<C> {
        let handle = owner.handle as usize;
        if self.known.len() <= handle {
            self.known.resize_with(handle + 1, Known::default);
        }
        let known = &mut self.known[handle];
        known.restores |= owner.request.is_none() && owner.transaction.operation == Operation::Write;
        known
    }

    /// Pages of a read turn out to be unreadable, when flash has read them.
    fn finds_unreadable(&mut self, owner: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let PlannedOperation { device, offset, length, .. } = *operation;
        let range = offset / SECTOR..(offset + length) / SECTOR;
        self.carried[token as u32 as usize].refused.push(range.clone());
        let known = self.knows(owner);
        known.unreadable.push((device, range.clone()));
        let knew = |sector| known.index(device, sector).is_some_and(|index| known.contents[index].is_some());
        let half_read = range.clone().filter(|&sector| knew(sector)).count() as u64;
        self.half_read += half_read;
        for sector in range.clone().filter(|sector| self.unlike.contains(sector)).collect::<Vec<_>>() {
            // It may be rebuilt from parity that does not agree, and so may what is missing besides.
            let gone = self.missing(sector) | 1 << device.0;
            let members = (0..self.places.layout.members()).filter(|member| gone & 1 << member != 0);
            for member in members.collect::<Vec<_>>() {
                if let Some(logical) = self.places.logical(DeviceId(member), sector) {
                    self.lose(logical);
                    self.predicted.remove(&logical);
                }
            }
        }
        if let Some(request) = owner.request {
            self.pending(request.id).unreadable.push((device, range.clone()));
        }
        for id in self.known[owner.handle as usize].joined.clone() {
            self.pending(id).unreadable.push((device, range.clone()));
        }
    }

    /// A host's read has come back: each sector must hold what it may.
    fn compare(&mut self, request: &HostRequest, operation: &PlannedOperation, token: u64) {
        let carried = &mut self.carried[token as u32 as usize];
        let (contents, refused) =
            (std::mem::take(&mut carried.contents), std::mem::take(&mut carried.refused));
        for (sector, found) in (operation.offset / SECTOR..).zip(&contents) {
            if refused.iter().any(|range| range.contains(&sector)) {
                continue;
            }
            let Some(logical) = self.places.logical(operation.device, sector) else {
                self.report(|| format!("{request:?} reads parity: {operation:?}"));
                break;
            };
            self.found(request, logical, found, operation);
        }
        let carried = &mut self.carried[token as u32 as usize];
        (carried.contents, carried.refused) = (contents, refused);
    }

    /// A host's read has found out what a sector holds.
    fn found(&mut self, request: &HostRequest, logical: u64, found: &C, by: &PlannedOperation) {
        if self.predicted.contains_key(&logical) {
            self.found_in_hole.insert(logical, *found);
        }
        match self.pending(request.id).finds(logical) {
            None => return self.report(|| format!("{request:?} reads logical sector {logical} as well")),
            Some(true) if !self.races => {
                self.report(|| format!("{request:?} reads logical sector {logical} twice"));
            }
            Some(_) => {}
        }
        if !self.truth.admits(logical, found, request.arrival) {
            let may = self.truth.describe(logical, request.arrival);
            self.report(|| {
                format!("{request:?} found wrong data in logical sector {logical} by {by:?}: it may be {may}")
            });
        }
        self.sectors_read += 1;
        self.finds_again(request, logical, found);
    }

    /// Power was lost: from now on reads find this in logical sectors that nobody writes.
    pub fn are_to_find(&mut self, all: Vec<(u64, C)>) {
        self.seen.extend(all.into_iter().filter(|(logical, _)| !self.rewritten.contains(logical)));
    }

    /// Since power was lost nobody has written a sector: all reads that came since find the same there.
    fn finds_again(&mut self, request: &HostRequest, logical: u64, found: &C) {
        let is_steady = self.truth.is_volatile && self.damage.ailing() == 0 && self.lost == 0;
        if !is_steady || self.rewritten.contains(&logical) || self.pending_of(request.id).is_cut {
            return;
        }
        match self.seen.insert(logical, *found) {
            Some(before) if before != *found => {
                self.report(|| {
                    format!("{request:?} finds other data in logical sector {logical} than a read before")
                });
            }
            Some(_) => self.seen_again += 1,
            None => {}
        }
    }

    /// A read that is planned around members has read something more: as soon as all that the host wants of its rows can be
    /// told from it, compares that. Where failures have taken some of it, whatever can be told is compared.
    fn compare_around(&mut self, of: Owner<'_>, operation: &PlannedOperation) {
        let Some(request) = of.request else { return };
        if self.known[of.handle as usize].is_compared {
            return;
        }
        let takes_part = !self.known[of.handle as usize].unreadable.is_empty() || self.lost > 0;
        let in_parts = std::mem::replace(&mut self.known[of.handle as usize].is_in_parts, takes_part);
        let (first, end) = (operation.offset / SECTOR, (operation.offset + operation.length) / SECTOR);
        let (mut all, mut is_all) = (Vec::new(), true);
        for (member, sector) in self.wanted_of(of.transaction) {
            // With parity, what can be told of a sector depends on what is known of this sector of all members. Reads of mirrors are
            // not planned around anybody.
            if in_parts && takes_part && !(first..end).contains(&sector) {
                is_all = false;
                continue;
            }
            let Some(logical) = self.places.logical(member, sector) else { continue };
            match self.tell(of.handle, member, sector) {
                Some((content, is_rebuilt)) => all.push((logical, (member, sector), content, is_rebuilt)),
                None if takes_part => is_all = false,
                None => return,
            }
        }
        self.known[of.handle as usize].is_compared = is_all;
        for (logical, (member, sector), content, is_rebuilt) in all {
            if !self.known[of.handle as usize].compared.insert(logical) {
                continue;
            }
            self.rebuilt_for_reads += u64::from(is_rebuilt);
            if is_rebuilt && self.is_broken(self.line(member, sector)) {
                // Whatever parity says here, it need not be so.
                self.pending(request.id).finds(logical);
            } else {
                self.found(request, logical, &content, operation);
            }
        }
    }

    /// The sectors of members that the host wants of the rows of a read.
    fn wanted_of(&self, transaction: &Transaction) -> Vec<(DeviceId, u64)> {
        let Transaction { rows, units, offset, length, member, .. } = *transaction;
        let (first, end) = (offset / SECTOR, (offset + length) / SECTOR);
        if let Some(member) = member {
            return (first..end).map(|sector| (member, sector)).collect();
        }
        let Some(parity) = self.places.parity() else { return Vec::new() };
        let mut wanted = Vec::new();
        for line in rows.first * self.places.row_sectors..rows.end() * self.places.row_sectors {
            let sector = self.places.sector(line);
            for unit in units.0..=units.1 {
                let member = parity.data_member(line / self.places.unit_sectors, unit);
                let logical = self.places.logical(member, sector);
                if logical.is_some_and(|logical| (first..end).contains(&logical)) {
                    wanted.push((member, sector));
                }
            }
        }
        wanted
    }

    /// What a transaction can tell of a sector of a member: it has read it, or enough of the others.
    fn tell(&self, handle: u32, member: DeviceId, sector: u64) -> Option<(C, bool)> {
        if let Some(content) = self.known(handle, member, sector) {
            return Some((content, false));
        }
        let (parity, line) = (self.places.parity()?, self.places.line(member, sector)?);
        let (stripe, members) = (line / self.places.unit_sectors, self.places.members(line));
        let mut units = vec![None; members.len()];
        for other in members {
            units[position(parity, parity.unit_on(stripe, other))] = self.known(handle, other, sector);
        }
        rebuild(&mut units, usize::from(parity.data_units()));
        units[position(parity, parity.unit_on(stripe, member))].map(|content| (content, true))
    }

    /// What NVRAM has of a sector of a member.
    pub fn parked(&self, member: DeviceId, sector: u64) -> Option<C> {
        self.parked.get(&(self.damage.place(member, sector), sector)).copied()
    }

    fn pending(&mut self, request: u64) -> &mut Pending {
        let pending = self.requests[(request - self.first_request) as usize].as_mut();
        pending.expect("a request is under way until it completes")
    }

    fn pending_of(&self, request: u64) -> &Pending {
        let pending = self.requests[(request - self.first_request) as usize].as_ref();
        pending.expect("a request is under way until it completes")
    }

    fn arrives(&mut self, request: &HostRequest) {
        assert_eq!(request.id, self.first_request + self.requests.len() as u64, "ids count requests");
        let mut touched = self.ranges.pop().unwrap_or_default();
        self.places.touched(request, &mut touched);
        self.truth.arrives(request.arrival);
        match request.operation {
            Operation::Read => self.truth.read_begins(request.id),
            Operation::Write | Operation::Trim => {
                let discards = request.operation == Operation::Trim;
                for sector in touched.iter().cloned().flatten() {
                    self.truth.write_begins(sector, request.id, discards);
                }
                if self.truth.is_volatile {
                    self.rewritten.extend(touched.iter().cloned().flatten());
                }
            }
            Operation::Flush => {}
        }
        let wanted: u64 = touched.iter().map(|range| range.end - range.start).sum();
        let found = vec![false; if request.operation == Operation::Read { wanted as usize } else { 0 }];
        let (ailed, unreadable) = (self.damage.ailing(), Vec::new());
        let is_cut = false;
        self.requests.push_back(Some(Pending {
            request: *request,
            touched,
            found,
            unreadable,
            ailed,
            is_cut,
        }));
    }

    fn completes(&mut self, id: u64, finish: SimTime) {
        let pending = self.requests[(id - self.first_request) as usize].take();
        let mut pending = pending.expect("a request completes once");
        match pending.request.operation {
            Operation::Read => {
                self.truth.read_ends(id);
                let sectors = pending.touched.iter().cloned().flatten().zip(&pending.found);
                for (sector, _) in sectors.filter(|(_, is_found)| !**is_found) {
                    self.unread += 1;
                    if !self.is_excused(&pending, sector) {
                        self.report(|| format!("{:?} did not read logical sector {sector}", pending.request));
                    }
                }
            }
            Operation::Write | Operation::Trim => {
                for sector in pending.touched.iter().cloned().flatten() {
                    if pending.request.fua {
                        self.truth.is_written_through(sector, id);
                    }
                    self.truth.write_ends(sector, id, finish);
                    if !self.is_kept(&pending, sector) {
                        self.lose(sector);
                    }
                }
            }
            // What was lost before it came again is not what it made durable.
            Operation::Flush if !pending.is_cut => {
                let HostRequest { arrival, member, .. } = pending.request;
                let covers = |sector| member.is_none_or(|member| self.places.copies(sector)[0].0 == member);
                self.truth.is_flushed(arrival, covers);
            }
            Operation::Flush => {}
        }
        pending.touched.clear();
        self.ranges.push(pending.touched);
        while self.requests.front().is_some_and(Option::is_none) {
            self.requests.pop_front();
            self.first_request += 1;
        }
    }
}

/// The members whose pages at a sector are among these.
fn members_at<'a>(unreadable: impl IntoIterator<Item = &'a (DeviceId, Range<u64>)>, sector: u64) -> Members {
    let here = unreadable.into_iter().filter(|(_, range)| range.contains(&sector));
    here.fold(0, |members, (member, _)| members | 1 << member.0)
}

impl Pending {
    fn touches(&self, logical: u64) -> bool {
        self.touched.iter().any(|range| range.contains(&logical))
    }

    /// The read has found out what a sector holds. Whether it had before; `None` if it does not want it.
    fn finds(&mut self, logical: u64) -> Option<bool> {
        let mut first = 0;
        for range in &self.touched {
            if range.contains(&logical) {
                let found = &mut self.found[(first + logical - range.start) as usize];
                return Some(std::mem::replace(found, true));
            }
            first += range.end - range.start;
        }
        None
    }
}

/// The weight of data unit `index` in a parity.
fn factor(unit: Unit, index: usize) -> u8 {
    if unit == Unit::Q { weight(index) } else { 1 }
}

impl<C> Carried<C> {
    fn has_refused(&self, sector: u64) -> bool {
        self.refused.iter().any(|range| range.contains(&sector))
    }

    /// Flash will not see these sectors.
    fn refuses(&mut self, operation: &PlannedOperation, page_sectors: u64) {
        let (first, end) = (operation.offset / SECTOR, (operation.offset + operation.length) / SECTOR);
        if !self.has_refused(first) {
            self.refused.push(first..end);
            self.pages_left -= end.div_ceil(page_sectors) - first / page_sectors;
        }
    }

    /// Whether an operation is all that it carries.
    fn is_whole(&self, operation: &PlannedOperation) -> bool {
        (operation.offset / SECTOR, operation.length / SECTOR) == (self.first, self.contents.len() as u64)
    }

    /// Its member has failed: whatever flash has seen of it, nothing comes of it.
    fn is_lost(&mut self) {
        self.refused.push(self.first..self.first + self.contents.len() as u64);
        self.pages_left = 0;
    }

    /// The sectors of a page of the operation: among those it carries, and in the page. Each page is asked for once.
    fn page(&mut self, page_sectors: u64, lpn: Lpn, origin: Origin) -> (Range<usize>, Range<usize>) {
        assert_eq!(self.token, origin.token, "the operation is under way");
        let page = self.first / page_sectors + u64::from(origin.page);
        assert_eq!(page, u64::from(lpn.0), "page {} of the operation", origin.page);
        self.pages_left -= 1;
        let start = page * page_sectors;
        let (from, to) =
            (self.first.max(start), (self.first + self.contents.len() as u64).min(start + page_sectors));
        let relative = |to_first: u64| (from - to_first) as usize..(to - to_first) as usize;
        (relative(self.first), relative(start))
    }
}

impl<C> Default for Known<C> {
    fn default() -> Self {
        Known {
            first: 0,
            span: 0,
            contents: Vec::new(),
            copies: BTreeMap::new(),
            compared: BTreeSet::new(),
            is_compared: false,
            is_in_parts: false,
            unreadable: Vec::new(),
            restores: false,
            is_cached: false,
            joined: Vec::new(),
        }
    }
}

impl<C> Known<C> {
    fn index(&self, member: DeviceId, sector: u64) -> Option<usize> {
        let within = sector.checked_sub(self.first).filter(|&within| within < self.span)?;
        Some((u64::from(member.0) * self.span + within) as usize)
    }
}
