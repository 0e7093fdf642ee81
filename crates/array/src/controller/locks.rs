//! Row locks: whoever comes first holds its rows first.
//!
//! A ticket is taken for all its rows at once, when its transaction arrives, and waits for every earlier ticket with a
//! row in common. Since tickets wait for earlier ones only, there is no deadlock. Rows are kept in buckets of 64, of
//! which only those with a ticket exist: an idle stripe costs nothing.
//!
//! ```text
//! bucket 7: busy 0011100..   last ticket of each busy row: . . b a a . .      c takes the rows of a and b, and waits for both
//! ticket a ─► c              who waits for whom, an edge each
//! ticket b ─► c
//! ```
//!
//! Cost of a ticket: one step for each row and one look-up for each bucket, however many tickets wait. Not modelled: shared locks; reads
//! that must not meet a write take the rows as a write does.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use harmonia_ssd::Slab;

use super::gate::Gate;
use crate::planner::Rows;

const NONE: u32 = u32::MAX;
const BUCKET_BITS: u32 = 6;
const BUCKET_ROWS: u64 = 1 << BUCKET_BITS;

/// Names a ticket; reused once it is released.
pub(super) type Ticket = u32;

/// All tickets that are held or waited for.
#[derive(Debug, Clone, Default)]
pub(super) struct RowLocks {
    tickets: Slab<TicketState>,
    edges: Slab<Edge>,
    buckets: Slab<Bucket>,
    /// Bucket number to bucket. Looked up only, never walked through: its order shows nowhere.
    index: HashMap<u64, u32, FxBuildHasher>,
}

#[derive(Debug, Clone, Copy)]
struct TicketState {
    owner: u32,
    rows: Rows,
    /// Edges that end here.
    waits_for: u32,
    /// Edges that begin here, the first to be told first.
    first_edge: u32,
    last_edge: u32,
}

#[derive(Debug, Clone)]
struct Edge {
    to: Ticket,
    next: u32,
}

#[derive(Debug, Clone)]
struct Bucket {
    busy: u64,
    /// The last ticket of each busy row.
    last: [Ticket; BUCKET_ROWS as usize],
}

impl RowLocks {
    /// Takes a ticket on `rows` for `owner`, who goes if it holds them at once.
    pub fn take(&mut self, rows: Rows, owner: u32) -> (Ticket, Gate) {
        let state = TicketState { owner, rows, waits_for: 0, first_edge: NONE, last_edge: NONE };
        let ticket = self.tickets.insert(state);
        for (number, mask) in buckets(rows) {
            let bucket = *self.index.entry(number).or_insert_with(|| {
                self.buckets.insert(Bucket { busy: 0, last: [NONE; BUCKET_ROWS as usize] })
            });
            let busy = self.buckets[bucket].busy & mask;
            let mut before = NONE;
            for row in ones(busy) {
                let last = self.buckets[bucket].last[row];
                if last != before {
                    self.wait(ticket, last);
                    before = last;
                }
            }
            let bucket = &mut self.buckets[bucket];
            bucket.busy |= mask;
            ones(mask).for_each(|row| bucket.last[row] = ticket);
        }
        (ticket, if self.tickets[ticket].waits_for == 0 { Gate::Goes } else { Gate::Waits })
    }

    /// Gives a ticket back that held its rows; appends the owners that now hold theirs, in the order they came.
    pub fn release(&mut self, ticket: Ticket, granted: &mut Vec<u32>) {
        for (number, mask) in buckets(self.tickets[ticket].rows) {
            let handle = self.index[&number];
            let bucket = &mut self.buckets[handle];
            for row in ones(mask) {
                if bucket.last[row] == ticket {
                    bucket.busy &= !(1 << row);
                }
            }
            if bucket.busy == 0 {
                self.index.remove(&number);
                self.buckets.release(handle);
            }
        }
        let mut edge = self.tickets[ticket].first_edge;
        while edge != NONE {
            let Edge { to, next } = self.edges[edge];
            self.edges.release(edge);
            edge = next;
            let state = &mut self.tickets[to];
            state.waits_for -= 1;
            if state.waits_for == 0 {
                granted.push(state.owner);
            }
        }
        self.tickets.release(ticket);
    }

    /// The ticket on the same rows that comes next, with its owner, if it waits for this one and no other.
    pub fn next_in_line(&self, ticket: Ticket) -> Option<(Ticket, u32)> {
        let TicketState { first_edge, rows, .. } = self.tickets[ticket];
        let to = (first_edge != NONE).then(|| self.edges[first_edge].to)?;
        let TicketState { owner, rows: of_next, waits_for, .. } = self.tickets[to];
        (of_next == rows && waits_for == 1).then_some((to, owner))
    }

    /// Whether a ticket is held or waited for on a row.
    pub fn is_busy(&self, row: u64) -> bool {
        let bucket = self.index.get(&(row >> BUCKET_BITS));
        bucket.is_some_and(|&bucket| self.buckets[bucket].busy & (1 << (row % BUCKET_ROWS)) != 0)
    }

    /// Buckets that exist now.
    #[cfg(test)]
    fn buckets_in_use(&self) -> usize {
        self.index.len()
    }

    fn wait(&mut self, ticket: Ticket, before: Ticket) {
        let edge = self.edges.insert(Edge { to: ticket, next: NONE });
        let state = &mut self.tickets[before];
        match std::mem::replace(&mut state.last_edge, edge) {
            NONE => state.first_edge = edge,
            last => self.edges[last].next = edge,
        }
        self.tickets[ticket].waits_for += 1;
    }
}

/// The buckets of some rows, and which of their rows these are.
fn buckets(rows: Rows) -> impl Iterator<Item = (u64, u64)> {
    let (mut first, end) = (rows.first, rows.end());
    std::iter::from_fn(move || {
        (first < end).then(|| {
            let number = first >> BUCKET_BITS;
            let stop = end.min((number + 1) << BUCKET_BITS);
            let count = stop - first;
            let mask = (u64::MAX >> (BUCKET_ROWS - count)) << (first % BUCKET_ROWS);
            first = stop;
            (number, mask)
        })
    })
}

/// Positions of the ones of `mask`, lowest first.
fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let position = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            position
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_engine::Rng;

    fn rows(first: u64, count: u64) -> Rows {
        Rows { first, count }
    }

    #[test]
    fn rows_go_to_whoever_came_first() {
        let mut locks = RowLocks::default();
        let (a, gate) = locks.take(rows(3, 2), 10);
        assert_eq!(gate, Gate::Goes);
        let (b, gate) = locks.take(rows(5, 1), 11);
        assert_eq!(gate, Gate::Goes, "another row");
        let (c, gate) = locks.take(rows(4, 2), 12);
        assert_eq!(gate, Gate::Waits, "rows of both");
        let (d, gate) = locks.take(rows(5, 100), 13);
        assert_eq!(gate, Gate::Waits, "behind c, which does not hold its rows yet");
        let mut granted = Vec::new();
        locks.release(b, &mut granted);
        assert!(granted.is_empty());
        locks.release(a, &mut granted);
        assert_eq!(granted, [12]);
        locks.release(c, &mut granted);
        assert_eq!(granted, [12, 13]);
        assert!(locks.is_busy(104) && !locks.is_busy(105) && !locks.is_busy(4));
        locks.release(d, &mut granted);
        assert_eq!(locks.buckets_in_use(), 0, "nothing is stored for idle rows");
    }

    #[test]
    fn the_next_in_line_wants_the_same_rows_and_waits_for_nobody_else() {
        let mut locks = RowLocks::default();
        let (a, _) = locks.take(rows(3, 2), 10);
        assert_eq!(locks.next_in_line(a), None);
        let (b, _) = locks.take(rows(3, 2), 11);
        let (c, _) = locks.take(rows(3, 1), 12);
        assert_eq!((locks.next_in_line(a), locks.next_in_line(b)), (Some((b, 11)), None), "c wants one row");
        let (d, _) = locks.take(rows(3, 1), 13);
        assert_eq!(locks.next_in_line(c), Some((d, 13)));
        let (e, _) = locks.take(rows(8, 2), 14);
        locks.take(rows(9, 1), 15);
        locks.take(rows(8, 2), 16);
        assert_eq!(locks.next_in_line(e), None, "another one comes between");
    }

    #[test]
    fn every_shape_of_mask_is_covered() {
        for first in 0..130 {
            for count in 0..200 {
                let mut covered: Vec<u64> = Vec::new();
                for (number, mask) in buckets(rows(first, count)) {
                    covered.extend(ones(mask).map(|row| number * 64 + row as u64));
                }
                assert_eq!(covered, (first..first + count).collect::<Vec<_>>());
            }
        }
    }

    /// The oracle: a list of tickets in order of arrival; one holds its rows if no earlier one overlaps.
    #[test]
    fn random_tickets_are_granted_as_a_list_says() {
        for seed in 0..200 {
            let mut rng = Rng::stream(seed, "locks");
            let mut locks = RowLocks::default();
            // (ticket, owner, rows), oldest first; and who holds.
            let mut list: Vec<(Ticket, u32, Rows)> = Vec::new();
            let mut holders: Vec<u32> = Vec::new();
            let free = |list: &[(Ticket, u32, Rows)], at: usize| {
                let mine = list[at].2;
                list[..at].iter().all(|other| other.2.end() <= mine.first || mine.end() <= other.2.first)
            };
            for owner in 0..300 {
                if rng.chance(0.5) || list.is_empty() {
                    let longest = if rng.chance(0.1) { 300 } else { 5 };
                    let wanted = rows(rng.below(90), 1 + rng.below(longest));
                    let (ticket, gate) = locks.take(wanted, owner);
                    let held = gate == Gate::Goes;
                    list.push((ticket, owner, wanted));
                    assert_eq!(held, free(&list, list.len() - 1), "seed {seed}");
                    if held {
                        holders.push(owner);
                    }
                } else if !holders.is_empty() {
                    let owner = holders.remove(rng.below(holders.len() as u64) as usize);
                    let at = list.iter().position(|entry| entry.1 == owner).expect("a holder has a ticket");
                    let (ticket, _, _) = list.remove(at);
                    let mut granted = Vec::new();
                    locks.release(ticket, &mut granted);
                    let expected: Vec<u32> = (0..list.len())
                        .filter(|&at| free(&list, at) && !holders.contains(&list[at].1))
                        .map(|at| list[at].1)
                        .collect();
                    granted.sort_unstable();
                    assert_eq!(granted, expected, "seed {seed}");
                    holders.extend(granted);
                }
            }
        }
    }
}
