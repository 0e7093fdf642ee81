//! What the array tells of its operations, passed on to the world that it shares with flash.

use super::*;

/// The array's ear.
pub struct Contents<C>(pub Arc<Mutex<World<C>>>);

impl<C: Content> Contents<C> {
    fn world(&self) -> std::sync::MutexGuard<'_, World<C>> {
        self.0.lock().expect("one thread")
    }
}

impl<C: Content> Payload for Contents<C> {
    fn arrives(&mut self, request: &HostRequest) {
        self.world().arrives(request);
    }

    fn submits(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        match operation.operation {
            Operation::Read => {
                let sectors = (operation.length / SECTOR) as usize;
                world.carry(operation, token).contents.resize(sectors, C::ZERO);
            }
            Operation::Write => world.fill(of, operation, token),
            Operation::Trim | Operation::Flush => {}
        }
    }

    fn done(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        if !matches!(operation.operation, Operation::Read | Operation::Write) {
            return;
        }
        let left = world.carried[token as u32 as usize].pages_left;
        assert_eq!(left, 0, "{operation:?} is done with pages that flash has not seen");
        if world.places.is_log(operation.device, operation.offset / SECTOR) {
            if operation.operation == Operation::Read {
                let World { logs, carried, .. } = &mut *world;
                logs.is_read(of.handle, operation, &carried[token as u32 as usize].contents);
            }
            return;
        }
        match (operation.operation, of.transaction.operation) {
            (Operation::Read, Operation::Read) if of.transaction.rows.count > 0 => {
                world.learn(of, operation, token);
                world.compare_around(of, operation);
            }
            (Operation::Read, Operation::Read) => match of.request {
                Some(request) => world.compare(request, operation, token),
                None => assert!(world.races, "only what has lost a race reads for nobody"),
            },
            (Operation::Read, _) => world.learn(of, operation, token),
            _ => {}
        }
    }

    fn refused(&mut self, _: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        let page_sectors = world.places.page_sectors;
        if !matches!(operation.operation, Operation::Read | Operation::Write) {
            return;
        }
        let World { carried, damage, .. } = &mut *world;
        // Pages that could not be read have a token of their own, and were refused when they were found.
        let carried = carried.get_mut(token as u32 as usize).filter(|carried| carried.token == token);
        let Some(carried) = carried else { return };
        // As a whole also where a spare has taken the place of the member that failed.
        let place = damage.place(operation.device, operation.offset / SECTOR);
        if damage.has_failed(place) || carried.is_whole(operation) {
            carried.is_lost();
        } else {
            carried.refuses(operation, page_sectors);
        }
    }

    fn finds_unreadable(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        self.world().finds_unreadable(of, operation, token);
    }

    fn holds(&mut self, device: DeviceId, condition: Condition) {
        self.world().holds(device, condition);
    }

    fn parks(&mut self, _: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        let page_sectors = world.places.page_sectors;
        let World { carried, parked, damage, .. } = &mut *world;
        let carried = &mut carried[token as u32 as usize];
        carried.refuses(operation, page_sectors);
        for sector in operation.offset / SECTOR..(operation.offset + operation.length) / SECTOR {
            let place = damage.place(operation.device, sector);
            parked.insert((place, sector), carried.contents[(sector - carried.first) as usize]);
        }
    }

    fn finds_parked(&mut self, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        let World { carried, parked, damage, .. } = &mut *world;
        let carried = &mut carried[token as u32 as usize];
        let sectors = operation.offset / SECTOR..(operation.offset + operation.length) / SECTOR;
        let contents = sectors.map(|sector| parked[&(damage.place(operation.device, sector), sector)]);
        carried.contents.clear();
        carried.contents.extend(contents);
        carried.pages_left = 0;
    }

    fn destages(&mut self, operation: &PlannedOperation, token: u64) {
        let mut world = self.world();
        let sectors = operation.offset / SECTOR..(operation.offset + operation.length) / SECTOR;
        let contents: Vec<C> = sectors.map(|sector| world.parked[&(operation.device, sector)]).collect();
        world.carry(operation, token).contents.extend(contents);
    }

    fn unparks(&mut self, device: DeviceId, page: u64) {
        let mut world = self.world();
        let sectors = world.places.page_sectors;
        for sector in page * sectors..(page + 1) * sectors {
            world.parked.remove(&(device, sector)).expect("a parked page has all its sectors");
        }
    }

    fn logs(&mut self, of: Owner<'_>, writes: &[PlannedOperation], log: &[PlannedOperation]) {
        self.world().keep_log(of, writes, log);
    }

    fn replays(
        &mut self,
        by: Owner<'_>,
        of: &Transaction,
        writes: &[PlannedOperation],
        log: &[PlannedOperation],
    ) {
        self.world().begin_replay(by, of, writes, log);
    }

    fn caches(&mut self, of: Owner<'_>) {
        self.world().knows(of).is_cached = true;
    }

    fn finds_kept(&mut self, of: Owner<'_>, operation: &PlannedOperation) {
        self.world().finds_kept(of, operation);
    }

    fn forgets(&mut self, row: u64) {
        self.world().forgets(row);
    }

    fn joins(&mut self, of: Owner<'_>, request: &HostRequest) {
        self.world().knows(of).joined.push(request.id);
    }

    fn ends(&mut self, of: Owner<'_>) {
        let mut world = self.world();
        world.logs.ends(of.handle);
        if world.known.get(of.handle as usize).is_some_and(|known| known.restores) {
            world.restored(of.handle);
        }
        if let Some(known) = world.known.get_mut(of.handle as usize) {
            (known.span, known.is_compared, known.is_in_parts, known.restores) = (0, false, false, false);
            known.is_cached = false;
            known.joined.clear();
            known.contents.clear();
            known.copies.clear();
            known.compared.clear();
            known.unreadable.clear();
        }
    }

    fn loses_power(&mut self) {
        self.world().loses_power();
    }

    fn is_copied(&mut self, device: DeviceId) {
        self.world().damage.begin_copy(device);
    }

    fn retires(&mut self, device: DeviceId) {
        self.world().damage.end_copy(device, false);
    }

    fn fails_over(&mut self, device: DeviceId) {
        self.world().damage.end_copy(device, true);
    }

    fn refuses(&mut self) {
        self.world().is_refused = true;
    }

    fn completes(&mut self, completion: &Completion) {
        self.world().completes(completion.id, completion.finish);
    }
}
