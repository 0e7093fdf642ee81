//! One link between the controller and all members, beside each member's own.
//!
//! ```text
//! others  given ─► waits for the link ─► crosses ─► its member, over its own link ─► done
//! read    given ─► its member, over its own link ─► waits for the link ─► crosses ─► done
//! ```
//!
//! The link stores and forwards: data crosses it as a whole, the whole pages of one operation at a time, in either direction.
//! The first that has come goes first. Pages of a read that its member refuses do not cross. Trims and flushes carry no data, and
//! wait for what came before them, because copies must see writes and trims in one order. A read is given at once, and may
//! overtake a write that waits. Everything between controller and devices crosses: parity, the array's own work, and what goes to
//! spares and to the journal. What is answered from the controller's memory does not.
//!
//! An operation that crosses is under way at its member for everything else in the controller. A read that has come to the link
//! is answered even if its member fails while it waits, as on a member's own link. The time on the link, and waiting for it, is
//! `link` of the operation's blame.
//!
//! Source: the bus between controller and devices in DiskSim's configurations. Leaves out: arbitration, and commands, which take
//! no time.

use harmonia_ssd::SubCompletion;
use harmonia_types::{Bytes, Operation, SimDuration, SimTime};

use super::layers::{Command, Layer, Pass, Terms, Up};
use super::tokens::Node;
use crate::config::ArrayConfig;

/// Until when the link is busy, and with what.
#[derive(Debug, Clone)]
pub(super) struct SharedLink {
    bandwidth: Bytes,
    page_size: Bytes,
    /// When it is free.
    free: SimTime,
    /// Operations that are not at their members yet.
    outbound: u32,
    /// By place of an operation under way: what it has spent here.
    spent: Vec<SimDuration>,
}

impl SharedLink {
    /// A free link; `None` if members have only their own.
    pub fn new(config: &ArrayConfig) -> Option<Box<SharedLink>> {
        let (page_size, free) = (config.page_size(), SimTime::ZERO);
        let link = |bandwidth| SharedLink { bandwidth, page_size, free, outbound: 0, spent: Vec::new() };
        config.link_bandwidth.map(|bandwidth| Box::new(link(bandwidth)))
    }

    fn spends(&mut self, place: u32, time: SimDuration) {
        let place = place as usize;
        if place >= self.spent.len() {
            self.spent.resize(place + 1, SimDuration::ZERO);
        }
        self.spent[place] = time;
    }

    fn pages(&self, offset: Bytes, length: Bytes) -> u64 {
        (offset + length).div_ceil(self.page_size) - offset / self.page_size
    }

    /// How long so many pages are on it, to the nearest nanosecond.
    fn time(&self, pages: u64) -> SimDuration {
        let bandwidth = u128::from(self.bandwidth.max(1));
        let bytes = u128::from(pages) * u128::from(self.page_size);
        let ns = (bytes * 1_000_000_000 + bandwidth / 2) / bandwidth;
        SimDuration(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Whether it keeps so many pages at `now` for no time at all.
    fn is_instant(&self, pages: u64, now: SimTime) -> bool {
        self.free <= now && self.time(pages) == SimDuration::ZERO
    }

    /// So many pages come to it at `now`; when they are over.
    fn cross(&mut self, pages: u64, now: SimTime) -> SimTime {
        self.free = self.free.max(now) + self.time(pages);
        self.free
    }
}

impl Layer for SharedLink {
    /// Anything but a read goes on when it is over the link.
    fn down(&mut self, command: &Command, now: SimTime) -> Pass {
        let sub = &command.sub;
        let over = match sub.operation {
            Operation::Read => now,
            Operation::Write => self.cross(self.pages(sub.offset, sub.length), now),
            Operation::Trim | Operation::Flush => self.cross(0, now),
        };
        self.spends(command.place, over - now);
        // Nothing but a read goes before what is due at this moment.
        let waits = over > now || (self.outbound > 0 && sub.operation != Operation::Read);
        self.outbound += u32::from(waits);
        if waits { Pass::Until(over) } else { Pass::Goes }
    }

    fn let_go(&mut self) {
        self.outbound -= 1;
    }

    fn spent(&self, _: usize, place: u32) -> SimDuration {
        self.spent.get(place as usize).copied().unwrap_or_default()
    }

    /// A read comes to the link when its member is done with it, and goes on at once: it says when its data is over.
    fn up(&mut self, of: &Node, done: &mut SubCompletion, due: Option<SimTime>) -> Up {
        let operation = &of.operation;
        if operation.operation != Operation::Read {
            return Up::Goes;
        }
        let pages = self.pages(operation.offset, operation.length).saturating_sub(u64::from(of.refused));
        match due {
            None if self.is_instant(pages, done.finish) => {}
            None => return Up::Until(done.finish),
            Some(now) => {
                let over = self.cross(pages, now);
                done.blame.link += (over - done.finish).0;
                done.finish = over;
            }
        }
        Up::Goes
    }

    fn add_slot(&mut self, _: Terms) {}

    fn exchange(&mut self, _: usize, _: usize) {}

    fn lose_power(&mut self) {
        (self.free, self.outbound) = (SimTime::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Parent;
    use super::super::transactions::in_step;
    use super::*;
    use crate::layout::Level;
    use crate::planner::PlannedOperation;
    use harmonia_ssd::SubRequest;
    use harmonia_types::{Blame, DeviceId};

    const PAGE: Bytes = 4096;

    /// 10 ns a page.
    fn link() -> SharedLink {
        SharedLink {
            bandwidth: PAGE * 100_000_000,
            page_size: PAGE,
            free: SimTime::ZERO,
            outbound: 0,
            spent: Vec::new(),
        }
    }

    fn down(link: &mut SharedLink, operation: Operation, place: u32, now: u64) -> Pass {
        let sub = SubRequest::new(1, operation, 0, PAGE);
        link.down(&Command { slot: 0, sub, place, stream: None }, SimTime(now))
    }

    #[test]
    fn there_is_one_where_a_bandwidth_is_given() {
        let mut config = ArrayConfig::of(Level::Raid0, PAGE, Vec::new());
        assert!(SharedLink::new(&config).is_none());
        config.link_bandwidth = Some(1);
        assert!(SharedLink::new(&config).is_some());
    }

    #[test]
    fn writes_cross_one_after_the_other_and_only_reads_overtake_them() {
        use Operation::{Flush, Read, Write};
        let mut link = link();
        assert_eq!(down(&mut link, Write, 0, 5), Pass::Until(SimTime(15)));
        assert_eq!(down(&mut link, Write, 1, 6), Pass::Until(SimTime(25)));
        assert_eq!(down(&mut link, Read, 2, 7), Pass::Goes);
        assert_eq!(down(&mut link, Flush, 3, 7), Pass::Until(SimTime(25)), "it carries nothing, and waits");
        let spent = [0, 1, 2, 3].map(|place| link.spent(0, place).0);
        assert_eq!(spent, [10, 19, 0, 18]);
        assert_eq!(down(&mut link, Flush, 4, 25), Pass::Until(SimTime(25)), "others are due at this moment");
        (0..4).for_each(|_| link.let_go());
        assert_eq!(down(&mut link, Flush, 4, 25), Pass::Goes);
        link.lose_power();
        assert_eq!(down(&mut link, Write, 0, 0), Pass::Until(SimTime(10)), "it is free again");
    }

    #[test]
    fn a_read_crosses_without_the_pages_that_were_refused() {
        let mut link = link();
        let mut read = |length, refused, due: Option<u64>| {
            let planned = PlannedOperation::data(DeviceId(0), Operation::Read, 0, length);
            let of = Node { refused, ..in_step(Parent::Request(0), 0, planned) };
            let mut done = SubCompletion {
                token: 1,
                finish: SimTime(100),
                blame: Blame::default(),
                met_gc: false,
                is_parity: false,
            };
            let up = link.up(&of, &mut done, due.map(SimTime));
            (up, done.finish.0, done.blame.link)
        };
        assert_eq!(read(3 * PAGE, 1, None), (Up::Until(SimTime(100)), 100, 0));
        assert_eq!(read(3 * PAGE, 1, Some(100)), (Up::Goes, 120, 20), "two pages");
        assert_eq!(read(PAGE, 0, Some(110)), (Up::Goes, 130, 30), "behind those");
        assert_eq!(read(PAGE, 1, None), (Up::Until(SimTime(100)), 100, 0), "it waits, and carries nothing");
    }
}
