//! What went on inside a device over time: channels that collect, empty blocks, queue depth, victims erased, the write cache.
//!
//! ```text
//!   channels in GC  __--__--_       level x time, summed by bucket  --> means --.
//!   empty blocks    ‾‾\_/‾\__                                                   +--> OverTimeReport
//!   victims erased  ....:..:.       counted by bucket               ------------'
//! ```
//!
//! At most [`BUCKETS_MAX`](crate::BUCKETS_MAX) buckets whatever the run's length, so memory is bounded. `lanes`: what is put in.
//! Sums are integers, and a change costs the same however many came before it.
//!
//! Not kept: anything of single channels or dies, and changes within one event of the device.

mod lanes;
#[cfg(test)]
mod tests;

use harmonia_types::{Levels, SimTime};
use serde::{Deserialize, Serialize};

use lanes::{Counts, Steps};

/// The report's `over_time` of a device, over the measured window.
///
/// The lists have one entry a bucket, from the window's beginning; the last bucket ends with the window. Means are
/// weighted with time and given to a thousandth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OverTimeReport {
    /// Width of a bucket, a power of two. Unit: ns.
    pub bucket_ns: u64,
    /// Channels of which a die collects, mean over the bucket. Unit: count.
    pub channels_in_gc: Vec<f64>,
    /// Erased blocks, mean over the bucket; a victim is none until its erase has ended. Unit: blocks.
    pub empty_blocks: Vec<f64>,
    /// Page operations of the host that had arrived and were not done, mean over the bucket. Unit: operations.
    pub queue_depth: Vec<f64>,
    /// Victims erased in the bucket. Unit: blocks.
    pub victims_erased: Vec<u64>,
    /// Share of the window with 0, 1, .., N channels in GC, indexed by their number; sums to 1, empty without a window.
    /// Unit: fraction.
    pub channels_in_gc_fraction: Vec<f64>,
    /// Fewest empty blocks at any moment. Unit: blocks.
    pub empty_blocks_least: u64,
    /// How unevenly empty blocks came and went. From each whole bucket to the next, the change of their mean over the
    /// bucket is divided by the bucket's width: a rate. This is the variance of these rates (their mean squared distance
    /// from their mean): 0 for a steady decline, however steep. Null with fewer than two rates. It depends on the width:
    /// compare runs at one width, with the list below. Unit: (blocks/s)^2.
    pub empty_blocks_change_variance: Option<f64>,
    /// The same with 1, 2, 4, .. buckets taken together, as pairs of a width in ns and a variance, while there are at
    /// least two rates.
    pub empty_blocks_change_variance_by_width: Vec<(u64, f64)>,
    /// Mean queue depth over the window; null without a window. Unit: operations.
    pub queue_depth_mean: Option<f64>,
    /// The deepest queue at any moment. Unit: operations.
    pub queue_depth_max: u64,
    /// Share of the write cache's slots that hold a page, mean over the part of the bucket in which the device was a part of the array;
    /// null where it was none, because it waited as a spare or had failed. Absent without a write cache. Unit: fraction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_cache_filled: Vec<Option<f64>>,
}

impl OverTimeReport {
    /// Whether nothing was watched.
    pub fn is_empty(&self) -> bool {
        self.bucket_ns == 0
    }
}

/// Watches one device.
#[derive(Debug, Clone)]
pub struct OverTime {
    told: Levels,
    /// Since when so many channels collect.
    since: SimTime,
    /// Time with 0, 1, .., N of them. Unit: ns.
    with_channels_ns: Vec<u64>,
    window: Option<Box<Window>>,
}

#[derive(Debug, Clone)]
struct Window {
    from: SimTime,
    channels: Steps,
    empty: Steps,
    empty_least: u64,
    queue: Steps,
    cached: Steps,
    /// Slots of the write cache, of which those are.
    slots: Steps,
    victims: Counts,
}

impl OverTime {
    /// Of a device with so many channels; nothing is kept before [`window`](Self::window).
    pub fn new(channels: usize) -> Self {
        OverTime {
            told: Levels::default(),
            since: SimTime::ZERO,
            with_channels_ns: vec![0; channels + 1],
            window: None,
        }
    }

    /// The measured window begins; what was told before stands.
    pub fn window(&mut self, from: SimTime) {
        self.since = from;
        self.window = Some(Box::new(Window {
            from,
            channels: Steps::new(from, self.told.channels_in_gc.into()),
            empty: Steps::new(from, self.told.empty_blocks),
            empty_least: self.told.empty_blocks,
            queue: Steps::new(from, self.told.queue_depth),
            cached: Steps::new(from, self.told.cached_pages.into()),
            slots: Steps::new(from, self.told.cache_slots.into()),
            victims: Counts::new(from),
        }));
    }

    /// How the device stands from now on; times never fall.
    pub fn levels(&mut self, now: SimTime, levels: &Levels) {
        if levels.queue_depth != self.told.queue_depth {
            self.queue(now, levels.queue_depth);
        }
        if levels.cached_pages != self.told.cached_pages {
            self.cached(now, levels.cached_pages);
        }
        if *levels != self.told {
            self.rarer(now, levels);
        }
    }

    /// By far the most often only the queue is another one.
    #[inline]
    pub fn queue(&mut self, now: SimTime, depth: u64) {
        self.told.queue_depth = depth;
        if let Some(window) = &mut self.window {
            window.queue.change(now, depth);
        }
    }

    fn cached(&mut self, now: SimTime, pages: u32) {
        self.told.cached_pages = pages;
        if let Some(window) = &mut self.window {
            window.cached.change(now, pages.into());
        }
    }

    #[cold]
    fn rarer(&mut self, now: SimTime, levels: &Levels) {
        let told = std::mem::replace(&mut self.told, *levels);
        let Some(window) = &mut self.window else { return };
        if levels.empty_blocks != told.empty_blocks {
            window.empty.change(now, levels.empty_blocks);
            window.empty_least = window.empty_least.min(levels.empty_blocks);
        }
        if levels.victims_erased != told.victims_erased {
            window.victims.count(now, levels.victims_erased - told.victims_erased);
        }
        if levels.cache_slots != told.cache_slots {
            window.slots.change(now, levels.cache_slots.into());
        }
        if levels.channels_in_gc != told.channels_in_gc {
            window.channels.change(now, levels.channels_in_gc.into());
            self.with_channels_ns[told.channels_in_gc as usize] += (now - self.since).as_ns();
            self.since = now;
        }
    }

    /// What was seen up to `end`; if the device was told of later, up to then. Nothing without a window.
    pub fn report(&self, end: SimTime) -> OverTimeReport {
        let Some(window) = &self.window else { return OverTimeReport::default() };
        let Window {
            from,
            mut channels,
            mut empty,
            empty_least,
            mut queue,
            mut cached,
            mut slots,
            mut victims,
        } = window.as_ref().clone();
        let lanes = [&mut channels, &mut empty, &mut queue, &mut cached, &mut slots];
        let end = lanes.iter().map(|lane| lane.since()).fold(end, SimTime::max);
        lanes.into_iter().for_each(|lane| lane.pass(end));
        victims.count(end, 0);
        let length_ns = (end - from).as_ns();
        let mut with_channels_ns = self.with_channels_ns.clone();
        with_channels_ns[self.told.channels_in_gc as usize] += (end - self.since).as_ns();
        let share = |&ns: &u64| ns as f64 / length_ns as f64;
        let (sums, bucket_ns) = empty.whole();
        let by_width = variances(sums, bucket_ns);
        let means = thousandths(empty.means());
        OverTimeReport {
            bucket_ns,
            channels_in_gc: thousandths(channels.means()),
            victims_erased: victims.counts(means.len()),
            empty_blocks: means,
            queue_depth: thousandths(queue.means()),
            channels_in_gc_fraction: with_channels_ns
                .iter()
                .map(share)
                .filter(|share| share.is_finite())
                .collect(),
            empty_blocks_least: empty_least,
            empty_blocks_change_variance: by_width.first().map(|&(_, variance)| variance),
            empty_blocks_change_variance_by_width: by_width,
            queue_depth_mean: (length_ns > 0).then(|| queue.total() as f64 / length_ns as f64),
            queue_depth_max: queue.most,
            write_cache_filled: shares(&cached, &slots),
        }
    }
}

fn thousandths(means: Vec<f64>) -> Vec<f64> {
    means.into_iter().map(thousandth).collect()
}

fn thousandth(mean: f64) -> f64 {
    (mean * 1e3).round() / 1e3
}

/// What share of a number another one is, by bucket; `None` where there is nothing to have a share of, and no bucket if that is so in all.
fn shares(part: &Steps, whole: &Steps) -> Vec<Option<f64>> {
    let both = part.means().into_iter().zip(whole.means());
    let shares: Vec<_> = both.map(|(part, whole)| (whole > 0.0).then(|| thousandth(part / whole))).collect();
    if shares.iter().any(Option::is_some) { shares } else { Vec::new() }
}

/// The variance of rates, by width: of whole buckets, then of each two of them, and so on.
fn variances(sums: &[u128], bucket_ns: u64) -> Vec<(u64, f64)> {
    let (mut sums, mut width_ns) = (sums.to_vec(), bucket_ns);
    let mut found = Vec::new();
    while let Some(variance) = variance_of_rates(&sums, width_ns) {
        found.push((width_ns, variance));
        sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        width_ns *= 2;
    }
    found
}

/// Of the rates at which the mean over a bucket changes; `sums` are level x time.
fn variance_of_rates(sums: &[u128], width_ns: u64) -> Option<f64> {
    let seconds = width_ns as f64 / 1e9;
    let rate = |pair: &[u128]| (pair[1] as f64 - pair[0] as f64) / width_ns as f64 / seconds;
    let rates: Vec<f64> = sums.windows(2).map(rate).collect();
    if rates.len() < 2 {
        return None;
    }
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    Some(rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n)
}
