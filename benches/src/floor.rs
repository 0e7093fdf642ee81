//! The floor: the least any page-mapped simulation must do, and nothing else.
//!
//! One device of 8 M pages at 15% spare under uniform random page overwrites: map, reverse map, valid counts, greedy
//! buckets as doubly linked lists, copying of live pages. No time, no queues, no dies, no statistics. Speeds of the
//! simulator are given per page program (collection's copies included) as ratios to this loop, measured in the same
//! run, so that they mean something on a noisy machine.
//!
//! The floor's tables are plain vectors, as anybody would write them first; a second floor has map and reverse map on
//! huge pages, as the simulator does, to show how much of the difference that makes.

use std::ops::DerefMut;

use harmonia_ssd::HugeTable;

const NONE: u32 = u32::MAX;

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

/// A bare page-mapped FTL.
pub struct Floor<T: Table = Vec<u32>> {
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
    state: u64,
    /// Page programs so far, copies included.
    pub programs: u64,
}

impl<T: Table> Floor<T> {
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
        for _ in 0..count {
            // xorshift*, so that the floor's generator costs next to nothing.
            self.state ^= self.state >> 12;
            self.state ^= self.state << 25;
            self.state ^= self.state >> 27;
            let random = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D);
            let lpn = ((u128::from(random) * self.map.len() as u128) >> 64) as u32;
            self.write(lpn);
        }
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

    fn clean(&mut self) {
        let fewest = (0..self.bucket.len()).find(|&valid| self.bucket[valid] != NONE).unwrap_or(0);
        let victim = self.bucket[fewest];
        self.unlink(victim, fewest as u32);
        let base = victim * self.pages_per_block;
        for ppn in base..base + self.pages_per_block {
            let lpn = std::mem::replace(&mut self.reverse[ppn as usize], NONE);
            if lpn != NONE {
                self.place(lpn);
            }
        }
        self.valid[victim as usize] = 0;
        self.free.insert(0, victim);
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
