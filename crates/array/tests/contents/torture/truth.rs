//! What a read may return.
//!
//! A write of a sector is in flight from its arrival to its acknowledgement. It *supersedes* every write that was
//! acknowledged before it arrived, from the moment at which it is acknowledged itself: until then the host cannot know
//! which of the two it reads. A read may return every write that had not been superseded when the read arrived. That is
//! the last acknowledged write and all that were in flight with it or with the read; writes that were in flight together
//! and then left in peace may be found in either order, for ever.
//!
//! ```text
//! write 1  |-----|                        read a  1, 2 or 3   (2 is not acknowledged when it arrives)
//! write 2            |------|             read b  2 or 3      (2 supersedes 1; 2 and 3 overlap)
//! write 3                |------|         read c  2 or 3
//! write 4                          |---|  read d  4           (4 supersedes both)
//! reads         --a--    ---b----  c     d
//! ```
//!
//! (Read b arrives after write 2 is acknowledged.) A discard is a write of zeros. A sector that failures have taken may
//! hold anything, until a write that arrives later is acknowledged.
//!
//! Drives without stored power for their caches may forget writes, but for those with FUA and those that a flush has made durable: one that
//! arrived after they were acknowledged, and was acknowledged before power was lost. A durable write supersedes for good. All others supersede until
//! power is lost; from then on each of these writes may be found, and what was found before need not be.
//!
//! Not verified: that two reads one after the other agree on the order of overlapping writes. Linearizability demands
//! it; disks promise less, and this file says what it admits in one comparison.

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

use super::content::{Content, Stamp};

/// The writes of a sector that a read may still return.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    request: u64,
    leaves: Leaves,
    arrived: SimTime,
    /// `NEVER` while in flight.
    acknowledged: SimTime,
    /// Reads that arrive from now on cannot return it.
    superseded: SimTime,
    durable: Durable,
}

/// Whether a write outlives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// If a flush comes after it, or it was with FUA and is acknowledged.
    NotYet,
    /// It went through a loss, and nobody knows whether it is there.
    Perhaps,
    Yes,
    /// It was superseded by one that does.
    Gone,
}

/// What is in a sector then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Data,
    Zeros,
    Anything,
}

/// Every sector of the array, and the reads under way.
pub struct Truth {
    sectors: Vec<Vec<Candidate>>,
    /// (request, arrival) of reads in the order they came; those that are done leave when all before them have.
    reads: VecDeque<(u64, SimTime, bool)>,
    /// The last arrival.
    now: SimTime,
    /// Writes may be forgotten with power.
    pub is_volatile: bool,
}

impl Truth {
    /// An array of zeros.
    pub fn new(sectors: u64) -> Self {
        let zeros = Candidate {
            request: u64::MAX,
            leaves: Leaves::Zeros,
            arrived: SimTime::ZERO,
            acknowledged: SimTime::ZERO,
            superseded: SimTime::NEVER,
            durable: Durable::Yes,
        };
        Truth {
            sectors: vec![vec![zeros]; sectors as usize],
            reads: VecDeque::new(),
            now: SimTime::ZERO,
            is_volatile: false,
        }
    }

    /// Requests arrive in the order of time.
    pub fn arrives(&mut self, now: SimTime) {
        self.now = now;
    }

    pub fn read_begins(&mut self, request: u64) {
        self.reads.push_back((request, self.now, false));
    }

    pub fn read_ends(&mut self, request: u64) {
        let read = self.reads.iter_mut().find(|read| read.0 == request).expect("a read has begun");
        read.2 = true;
        while self.reads.front().is_some_and(|read| read.2) {
            self.reads.pop_front();
        }
    }

    /// A write, or a discard, that has just arrived.
    pub fn write_begins(&mut self, sector: u64, request: u64, discards: bool) {
        let (arrived, never) = (self.now, SimTime::NEVER);
        self.sectors[sector as usize].push(Candidate {
            request,
            leaves: if discards { Leaves::Zeros } else { Leaves::Data },
            arrived,
            acknowledged: never,
            superseded: never,
            durable: if self.is_volatile { Durable::NotYet } else { Durable::Yes },
        });
    }

    /// A flush is acknowledged that arrived at `arrived`, and power has not been lost since. It is for these sectors.
    pub fn is_flushed(&mut self, arrived: SimTime, covers: impl Fn(u64) -> bool) {
        if !self.is_volatile {
            return;
        }
        let flushed = (0..).zip(&mut self.sectors).filter(|(sector, _)| covers(*sector));
        for (_, candidates) in flushed {
            for place in 0..candidates.len() {
                let Candidate { request, arrived: began, acknowledged, durable, .. } = candidates[place];
                if durable != Durable::NotYet || acknowledged > arrived {
                    continue;
                }
                outlasts(candidates, place, (request, began));
            }
        }
    }

    /// A write with FUA is about to be acknowledged.
    pub fn is_written_through(&mut self, sector: u64, request: u64) {
        let candidates = &mut self.sectors[sector as usize];
        let place = candidates.iter().position(|candidate| candidate.request == request);
        if let Some(place) = place.filter(|_| self.is_volatile) {
            let began = candidates[place].arrived;
            outlasts(candidates, place, (request, began));
        }
    }

    /// Power is lost: what was superseded by what may be forgotten may be there again.
    pub fn loses_power(&mut self) {
        if !self.is_volatile {
            return;
        }
        for candidate in self.sectors.iter_mut().flatten() {
            if candidate.durable != Durable::Gone {
                candidate.superseded = SimTime::NEVER;
            }
            if candidate.durable == Durable::NotYet && candidate.acknowledged != SimTime::NEVER {
                candidate.durable = Durable::Perhaps;
            }
        }
    }

    /// A sector is lost, after the last arrival: writes in flight do not bring it back.
    pub fn lose(&mut self, sector: u64) {
        let (at, never) = (self.now + SimDuration(1), SimTime::NEVER);
        let candidates = &mut self.sectors[sector as usize];
        candidates.retain(|candidate| candidate.leaves != Leaves::Anything || candidate.superseded != never);
        candidates.push(Candidate {
            request: u64::MAX,
            leaves: Leaves::Anything,
            arrived: at,
            acknowledged: at,
            superseded: never,
            durable: Durable::Yes,
        });
    }

    /// Whether a read that arrived at `since` may find anything.
    pub fn is_lost(&self, sector: u64, since: SimTime) -> bool {
        let mut candidates = self.sectors[sector as usize].iter();
        candidates.any(|candidate| candidate.superseded > since && candidate.leaves == Leaves::Anything)
    }

    /// It is acknowledged at `at`.
    pub fn write_ends(&mut self, sector: u64, request: u64, at: SimTime) {
        let oldest_read = self.reads.front().map_or(self.now, |read| read.1);
        let candidates = &mut self.sectors[sector as usize];
        let write = candidates.iter_mut().find(|candidate| candidate.request == request);
        let write = write.expect("a write has begun");
        write.acknowledged = at;
        let arrived = write.arrived;
        // Reads that came at the moment of one that takes no time may have come before it.
        let over = at.max(arrived + SimDuration(1));
        for candidate in candidates.iter_mut().filter(|candidate| candidate.acknowledged <= arrived) {
            // A write that takes no time has superseded neither itself nor one that came at the same moment after it.
            if candidate.request < request || candidate.request == u64::MAX {
                candidate.superseded = candidate.superseded.min(over);
            }
        }
        // What is not gone for good may be there again when power is lost.
        let is_volatile = self.is_volatile;
        let stays = |durable| is_volatile && durable != Durable::Gone;
        candidates.retain(|candidate| candidate.superseded > oldest_read || stays(candidate.durable));
    }

    /// Whether a read that arrived at `since` may return this.
    pub fn admits<C: Content>(&self, sector: u64, found: &C, since: SimTime) -> bool {
        let mut candidates = self.sectors[sector as usize].iter().rev();
        candidates.any(|candidate| {
            let is_alike = candidate.leaves == Leaves::Anything || C::of(candidate.stamp(sector)) == *found;
            candidate.superseded > since && is_alike
        })
    }

    /// Whether no write of a sector is in flight at `now`.
    pub fn is_quiet(&self, sector: u64, now: SimTime) -> bool {
        let mut writes = self.sectors[sector as usize].iter();
        writes.all(|write| write.acknowledged <= now || write.leaves == Leaves::Anything)
    }

    /// Whether a sector has one value and no other, whoever reads it from `now` on.
    pub fn is_certain(&self, sector: u64, now: SimTime) -> bool {
        let candidates = self.sectors[sector as usize].iter();
        candidates.filter(|candidate| candidate.superseded > now).count() == 1
    }

    /// What a read may return, in words.
    pub fn describe(&self, sector: u64, since: SimTime) -> String {
        let admitted = self.sectors[sector as usize].iter().filter(|candidate| candidate.superseded > since);
        let words: Vec<String> = admitted.map(|candidate| candidate.stamp(sector).to_string()).collect();
        words.join(", or ")
    }
}

/// The write at a place outlives a loss of power, and supersedes for good.
fn outlasts(candidates: &mut [Candidate], place: usize, (request, began): (u64, SimTime)) {
    candidates[place].durable = Durable::Yes;
    let is_older = |other: &&mut Candidate| {
        other.acknowledged <= began && (other.request < request || other.request == u64::MAX)
    };
    candidates.iter_mut().filter(is_older).for_each(|older| older.durable = Durable::Gone);
}

impl Candidate {
    fn stamp(&self, sector: u64) -> Stamp {
        if self.leaves == Leaves::Data { Stamp::new(self.request, sector) } else { Stamp::ZEROS }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::Tag;
    use super::*;

    /// Which of writes 1 to 4, and of the zeros before them, a read that arrived at `since` may return.
    fn admitted(truth: &Truth, since: u64) -> Vec<u64> {
        let admits = |stamp| truth.admits(0, &Tag::of(stamp), SimTime(since));
        let zeros = admits(Stamp::ZEROS).then_some(0);
        zeros.into_iter().chain((1..=4).filter(|&request| admits(Stamp::new(request, 0)))).collect()
    }

    /// The picture at the top of this file.
    #[test]
    fn a_read_may_return_what_was_not_superseded_when_it_arrived() {
        let mut truth = Truth::new(1);
        let begin = |truth: &mut Truth, request, at| {
            truth.arrives(SimTime(at));
            truth.write_begins(0, request, false);
        };
        begin(&mut truth, 1, 10);
        assert_eq!(admitted(&truth, 15), [0, 1]);
        truth.write_ends(0, 1, SimTime(20));
        assert_eq!((admitted(&truth, 19), admitted(&truth, 20)), (vec![0, 1], vec![1]));
        begin(&mut truth, 2, 30);
        truth.arrives(SimTime(32));
        truth.read_begins(100);
        begin(&mut truth, 3, 35);
        truth.write_ends(0, 2, SimTime(40));
        // Read a, from 32 on, is under way; read b arrives at 41.
        assert_eq!((admitted(&truth, 32), admitted(&truth, 41)), (vec![1, 2, 3], vec![2, 3]));
        truth.read_ends(100);
        truth.write_ends(0, 3, SimTime(50));
        assert_eq!(admitted(&truth, 51), [2, 3]);
        assert!(truth.is_quiet(0, SimTime(50)) && !truth.is_certain(0, SimTime(50)));
        begin(&mut truth, 4, 60);
        truth.write_ends(0, 4, SimTime(70));
        assert_eq!(admitted(&truth, 70), [4]);
        assert!(truth.is_certain(0, SimTime(70)));
        assert_eq!(truth.describe(0, SimTime(70)), "sector 0 of request 4");
    }

    /// A write that was in flight when its sector was lost does not bring it back; the next one does.
    #[test]
    fn a_lost_sector_may_hold_anything_until_it_is_written_again() {
        let mut truth = Truth::new(1);
        let begin = |truth: &mut Truth, request, at| {
            truth.arrives(SimTime(at));
            truth.write_begins(0, request, false);
        };
        begin(&mut truth, 1, 10);
        assert!(!truth.is_lost(0, SimTime(10)));
        truth.lose(0);
        truth.write_ends(0, 1, SimTime(20));
        assert!(truth.is_lost(0, SimTime(20)) && truth.is_quiet(0, SimTime(20)));
        assert_eq!(admitted(&truth, 20), [0, 1, 2, 3, 4]);
        begin(&mut truth, 2, 30);
        truth.write_ends(0, 2, SimTime(40));
        assert!(truth.is_lost(0, SimTime(39)) && !truth.is_lost(0, SimTime(40)));
        assert_eq!(admitted(&truth, 40), [2]);
    }

    /// A read may come before a write of the same moment that takes no time.
    #[test]
    fn a_write_that_takes_no_time_supersedes_for_reads_of_later_moments() {
        let mut truth = Truth::new(1);
        for (request, at) in [(1, 10), (2, 20)] {
            truth.arrives(SimTime(at));
            truth.write_begins(0, request, false);
            truth.write_ends(0, request, SimTime(at));
        }
        assert_eq!((admitted(&truth, 20), admitted(&truth, 21)), (vec![1, 2], vec![2]));
    }

    #[test]
    fn a_discard_writes_zeros() {
        let mut truth = Truth::new(1);
        for (request, discards) in [(0, false), (1, true)] {
            truth.arrives(SimTime(10 + 10 * request));
            truth.write_begins(0, request, discards);
            truth.write_ends(0, request, SimTime(15 + 10 * request));
        }
        let admits = |stamp, since| truth.admits(0, &Tag::of(stamp), SimTime(since));
        assert!(admits(Stamp::new(0, 0), 24) && admits(Stamp::ZEROS, 24));
        assert!(!admits(Stamp::new(0, 0), 25) && admits(Stamp::ZEROS, 25));
    }
}
