//! How unevenly the starts of requests spread over the places they go to.

use harmonia_trace::PAGE;
use harmonia_types::Bytes;
use hashbrown::HashTable;
use serde::Serialize;

/// Extents whose heat is measured.
const EXTENTS_BYTES: [Bytes; 4] = [PAGE, 64 << 10, 1 << 20, 16 << 20];
/// With fewer requests an extent, hot ones are hardly known from others.
const STARTS_ENOUGH: f64 = 8.0;

/// How unevenly the starts of requests spread over the extents they lie in.
///
/// Extents are ranked by one half of the requests and their traffic is that of the other half, both ways: ranking and
/// counting the same requests would find hot extents in any traffic by chance. Where most are touched once or twice the
/// shares come out too low, down to 0; so the smallest extents are taken in which enough requests start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Heat {
    /// Size of an extent, in bytes.
    pub extent_bytes: Bytes,
    /// Share of the traffic on the hottest fifth of the extents; 0.2 if it is uniform.
    pub hottest_fifth: f64,
    /// Share of the traffic on the hottest 4% of the extents.
    pub hottest_25th: f64,
    /// Extents in which a request starts.
    pub extents: f64,
    /// Requests that start in such an extent, on average.
    pub starts_per_extent: f64,
    /// Share of the extents that were counted: a sample where there are many.
    pub sampled: f64,
}

/// Starts counted in extents of some sizes, smallest first.
#[derive(Debug)]
pub(super) struct Places {
    of_sizes: Vec<(Bytes, Starts)>,
    /// Volumes and offsets that are not counted yet.
    waiting: Vec<(u16, Bytes)>,
}

/// So many are counted at a time: what one waits for in memory is there when the next looks for its own.
const BATCH: usize = 256;

impl Default for Places {
    /// Of every size.
    fn default() -> Self {
        Places::of(&EXTENTS_BYTES)
    }
}

impl Places {
    /// In extents of one size, as in another load.
    pub(super) fn like(heat: &Heat) -> Self {
        Places::of(&[heat.extent_bytes])
    }

    fn of(sizes: &[Bytes]) -> Self {
        let of_sizes = sizes.iter().map(|&extent_bytes| (extent_bytes, Starts::default())).collect();
        Places { of_sizes, waiting: Vec::with_capacity(BATCH) }
    }

    pub(super) fn add(&mut self, volume: u16, offset: Bytes) {
        self.waiting.push((volume, offset));
        if self.waiting.len() == BATCH {
            self.count();
        }
    }

    fn count(&mut self) {
        for (extent_bytes, starts) in &mut self.of_sizes {
            // A power of two, as all of them.
            let bits = extent_bytes.trailing_zeros();
            for &(volume, offset) in &self.waiting {
                starts.add(volume, offset >> bits);
            }
        }
        self.waiting.clear();
    }

    /// Over the smallest extents in which enough requests start to tell hot ones, or over the largest.
    pub(super) fn heat(&mut self) -> Heat {
        self.count();
        let enough = self.of_sizes.iter().find(|(_, starts)| starts.per_extent() >= STARTS_ENOUGH);
        let (extent_bytes, starts) = enough.or(self.of_sizes.last()).expect("a size");
        starts.heat(*extent_bytes)
    }
}

/// Requests by the extent they start in, for a sample of extents: those whose hash is below a limit that falls as they
/// become many, so that each is counted from its first request on or not at all.
#[derive(Debug)]
struct Starts {
    extents: HashTable<Started>,
    limit: u64,
    requests: u64,
}

/// An extent.
#[derive(Debug, Clone, Copy)]
struct Started {
    extent: u64,
    volume: u16,
    /// Requests of either half.
    counts: [u32; 2],
}

impl Started {
    fn hash(&self) -> u64 {
        mixed(self.extent ^ mixed(u64::from(self.volume) + 1))
    }
}

/// Extents that are counted at once: about 7 MB.
const EXTENTS_MAX: usize = 1 << 17;

impl Default for Starts {
    fn default() -> Self {
        Starts { extents: HashTable::new(), limit: u64::MAX, requests: 0 }
    }
}

impl Starts {
    #[inline]
    fn add(&mut self, volume: u16, extent: u64) {
        self.requests += 1;
        let new = Started { extent, volume, counts: [0; 2] };
        let hash = new.hash();
        if hash > self.limit {
            return;
        }
        // By a hash of the request's number: a load that alternates must not fall into two halves of a kind.
        let half = (mixed(self.requests) & 1) as usize;
        let is_it = |known: &Started| known.extent == extent && known.volume == volume;
        let mut known = self.extents.entry(hash, is_it, Started::hash).or_insert(new);
        let count = &mut known.get_mut().counts[half];
        *count = count.saturating_add(1);
        if self.extents.len() > EXTENTS_MAX {
            self.limit /= 2;
            self.extents.retain(|known| known.hash() <= self.limit);
        }
    }

    /// Requests that start in an extent that has any, on average.
    fn per_extent(&self) -> f64 {
        let starts: u64 = self.extents.iter().flat_map(|known| known.counts).map(u64::from).sum();
        starts as f64 / self.extents.len().max(1) as f64
    }

    fn heat(&self, extent_bytes: Bytes) -> Heat {
        let mut extents: Vec<&Started> = self.extents.iter().collect();
        extents.sort_unstable_by_key(|known| (known.hash(), known.volume, known.extent));
        let counts: Vec<[u32; 2]> = extents.into_iter().map(|known| known.counts).collect();
        let fifth = counts.len().div_ceil(5);
        let twenty_fifth = counts.len().div_ceil(25);
        let both = |hottest: usize| {
            let (by_first, by_second) = (share(&counts, 0, hottest), share(&counts, 1, hottest));
            (by_first + by_second) / 2.0
        };
        let sampled = if self.limit == u64::MAX { 1.0 } else { self.limit as f64 / u64::MAX as f64 };
        Heat {
            extent_bytes,
            hottest_fifth: both(fifth),
            hottest_25th: both(twenty_fifth),
            extents: counts.len() as f64 / sampled,
            starts_per_extent: self.per_extent(),
            sampled,
        }
    }
}

/// The share of one half's requests on the extents that have the most of the other half's, `ranking`.
fn share(counts: &[[u32; 2]], ranking: usize, hottest: usize) -> f64 {
    // Stable: equals stay in the order of their hashes, which says nothing about their traffic.
    let mut extents: Vec<&[u32; 2]> = counts.iter().collect();
    extents.sort_by_key(|counts| std::cmp::Reverse(counts[ranking]));
    let sum =
        |extents: &[&[u32; 2]]| extents.iter().map(|counts| u64::from(counts[1 - ranking])).sum::<u64>();
    sum(&extents[..hottest.min(extents.len())]) as f64 / sum(&extents).max(1) as f64
}

/// Spreads the bits of a number evenly (the finaliser of MurmurHash3).
fn mixed(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}
