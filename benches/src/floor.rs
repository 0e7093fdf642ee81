//! The floor: the least any page-mapped simulation must do, and nothing else.
//!
//! One device of 8 M pages at 15% spare under uniform random page overwrites: map, reverse map, valid counts, greedy
//! buckets as doubly linked lists, copying of live pages. No time, no queues, no dies, no statistics. Speeds of the
//! simulator are given per page program (collection's copies included) as ratios to this loop, measured in the same
//! run, so that they mean something on a noisy machine.
//!
//! There are two. The *plain* floor is what anybody would write first: vectors, and every entry is asked for when it is needed. It
//! waits for memory most of the time. The *prefetching* floor does the same work, knows its next writes, and asks for all they need
//! ahead: map entries of writes to come, what they leave behind, the map entries of a victim's pages before the first of them
//! moves. Its big tables are on huge pages. A simulator that is near it wastes little.

use std::ops::DerefMut;

use harmonia_engine::prefetch;
use harmonia_ssd::HugeTable;

const NONE: u32 = u32::MAX;

/// Writes that the prefetching floor knows: of the first half of them the map has been read.
const KNOWN: usize = 32;

/// A big table of the floor.
pub trait Table: DerefMut<Target = [u32]> + Send {
    /// `len` entries, all `value`.
    fn new(len: usize, value: u32) -> Self;
}

impl Table for Vec<u32> {
    fn new(len: usize, value: u32) -> Self {
        vec![value; len]
    }
}

impl Table for HugeTable {
    fn new(len: usize, value: u32) -> Self {
        HugeTable::new(len, value)
    }
}

/// The plain floor.
pub type Plain = Floor<Vec<u32>, false>;
/// The prefetching floor.
pub type Prefetching = Floor<HugeTable, true>;

/// A bare page-mapped FTL, which may ask for what it needs `AHEAD` of the need.
pub struct Floor<T: Table, const AHEAD: bool> {
    pages_per_block: u32,
    map: T,
    reverse: T,
    valid: Vec<u32>,
    /// Doubly linked lists of closed blocks by valid count.
    bucket: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    free: Vec<u32>,
    open: u32,
    offset: u32,
    least_free: usize,
    /// Pages of a victim that are to move.
    live: Vec<u32>,
    state: u64,
    /// Page programs so far, copies included.
    pub programs: u64,
}

impl<T: Table, const AHEAD: bool> Floor<T, AHEAD> {
    /// A device of `blocks` x `pages_per_block` pages with `spare` of its blocks reserved, filled once.
    pub fn new(blocks: u32, pages_per_block: u32, spare: f64, seed: u64) -> Self {
        let logical = (f64::from(blocks) * (1.0 - spare)) as u32 * pages_per_block;
        let mut floor = Floor {
            pages_per_block,
            map: T::new(logical as usize, NONE),
            reverse: T::new((blocks * pages_per_block) as usize, NONE),
            valid: vec![0; blocks as usize],
            bucket: vec![NONE; pages_per_block as usize + 1],
            next: vec![NONE; blocks as usize],
            previous: vec![NONE; blocks as usize],
            free: (0..blocks).rev().collect(),
            open: 0,
            offset: pages_per_block,
            least_free: 2,
            live: Vec::with_capacity(pages_per_block as usize),
            state: seed | 1,
            programs: 0,
        };
        for lpn in 0..logical {
            floor.write(lpn);
        }
        floor
    }

    /// Overwrites `count` random pages.
    pub fn overwrite(&mut self, count: u64) {
        if !AHEAD {
            for _ in 0..count {
                let lpn = self.random();
                self.write(lpn);
            }
            return;
        }
        let mut known = [0; KNOWN];
        for lpn in &mut known {
            *lpn = self.random();
        }
        for at in (0..KNOWN).cycle().take(count as usize) {
            let old = self.map[known[(at + KNOWN / 2) % KNOWN] as usize];
            if old != NONE {
                let block = (old / self.pages_per_block) as usize;
                prefetch(&self.reverse, old as usize);
                prefetch(&self.valid, block);
                prefetch(&self.next, block);
                prefetch(&self.previous, block);
            }
            self.write(known[at]);
            known[at] = self.random();
            prefetch(&self.map, known[at] as usize);
        }
    }

    /// The next page: xorshift*, so that the floor's generator costs next to nothing.
    fn random(&mut self) -> u32 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let random = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(random) * self.map.len() as u128) >> 64) as u32
    }

    fn write(&mut self, lpn: u32) {
        while self.free.len() < self.least_free {
            self.clean();
        }
        let old = self.map[lpn as usize];
        if old != NONE {
            self.reverse[old as usize] = NONE;
            let block = old / self.pages_per_block;
            self.valid[block as usize] -= 1;
            if block != self.open {
                self.relink(block, self.valid[block as usize] + 1);
            }
        }
        self.place(lpn);
    }

    fn place(&mut self, lpn: u32) {
        if self.offset == self.pages_per_block {
            if self.programs > 0 {
                self.link(self.open);
            }
            self.open = self.free.pop().unwrap_or_else(|| unreachable!("cleaning keeps a block free"));
            self.offset = 0;
        }
        let ppn = self.open * self.pages_per_block + self.offset;
        self.offset += 1;
        self.map[lpn as usize] = ppn;
        self.reverse[ppn as usize] = lpn;
        self.valid[self.open as usize] += 1;
        self.programs += 1;
    }

    fn fewest(&self) -> usize {
        (0..self.bucket.len()).find(|&valid| self.bucket[valid] != NONE).unwrap_or(0)
    }

    fn clean(&mut self) {
        let fewest = self.fewest();
        let victim = self.bucket[fewest];
        self.unlink(victim, fewest as u32);
        let base = victim * self.pages_per_block;
        if AHEAD {
            self.move_all(base);
        } else {
            for ppn in base..base + self.pages_per_block {
                let lpn = std::mem::replace(&mut self.reverse[ppn as usize], NONE);
                if lpn != NONE {
                    self.place(lpn);
                }
            }
        }
        self.valid[victim as usize] = 0;
        self.free.insert(0, victim);
    }

    /// Moves the live pages of a victim, all of whose map entries are asked for before. Then asks for what is likely to be the next
    /// victim.
    fn move_all(&mut self, base: u32) {
        let mut live = std::mem::take(&mut self.live);
        for ppn in base..base + self.pages_per_block {
            let lpn = std::mem::replace(&mut self.reverse[ppn as usize], NONE);
            if lpn != NONE {
                prefetch(&self.map, lpn as usize);
                live.push(lpn);
            }
        }
        for lpn in live.drain(..) {
            self.place(lpn);
        }
        self.live = live;
        let likely = self.bucket[self.fewest()];
        if likely != NONE {
            let pages = likely as usize * self.pages_per_block as usize;
            // 16 entries a line of the cache.
            (0..self.pages_per_block as usize)
                .step_by(16)
                .for_each(|page| prefetch(&self.reverse, pages + page));
        }
    }

    fn link(&mut self, block: u32) {
        let valid = self.valid[block as usize] as usize;
        let head = std::mem::replace(&mut self.bucket[valid], block);
        self.next[block as usize] = head;
        self.previous[block as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = block;
        }
    }

    fn unlink(&mut self, block: u32, valid: u32) {
        let (previous, next) = (self.previous[block as usize], self.next[block as usize]);
        if previous == NONE {
            self.bucket[valid as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    fn relink(&mut self, block: u32, was: u32) {
        self.unlink(block, was);
        self.link(block);
    }
}

/// Both floors do the same work: the same pages move, and as many are programmed.
///
/// # Panics
/// If they do not.
pub fn check() {
    let mut plain = Plain::new(256, 64, 0.15, 7);
    let mut prefetching = Prefetching::new(256, 64, 0.15, 7);
    plain.overwrite(100_000);
    prefetching.overwrite(100_000);
    assert_eq!(plain.programs, prefetching.programs, "programs of two floors");
    assert_eq!(plain.map[..], prefetching.map[..], "maps of two floors");
    assert_eq!(plain.reverse[..], prefetching.reverse[..], "reverse maps of two floors");
}
