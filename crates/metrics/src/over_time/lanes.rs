//! What is put into buckets: a number that changes in steps, and how often something happened.

use harmonia_types::SimTime;

use crate::buckets::Buckets;

/// A number that changes in steps; a bucket's sum is that number times the time it stood.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    value: u64,
    since: SimTime,
    buckets: Buckets,
    pub most: u64,
}

impl Steps {
    pub fn new(from: SimTime, value: u64) -> Self {
        Steps { value, since: from, buckets: Buckets::new(from), most: value }
    }

    /// It is another one from now on.
    #[inline]
    pub fn change(&mut self, now: SimTime, value: u64) {
        self.pass(now);
        self.value = value;
        self.most = self.most.max(value);
    }

    /// Lets time pass.
    #[inline]
    pub fn pass(&mut self, now: SimTime) {
        if now >= self.buckets.until {
            self.turn(now);
        }
        self.stand(now);
    }

    #[cold]
    fn turn(&mut self, now: SimTime) {
        while now >= self.buckets.until {
            self.stand(self.buckets.until);
            self.buckets.close();
        }
    }

    #[inline]
    fn stand(&mut self, until: SimTime) {
        self.buckets.open += u128::from(self.value) * u128::from((until - self.since).as_ns());
        self.since = until;
    }

    /// Level x time, over all of it.
    pub fn total(&self) -> u128 {
        self.buckets.whole.iter().sum::<u128>() + self.buckets.open
    }

    /// When it last changed, or time was let pass.
    pub fn since(&self) -> SimTime {
        self.since
    }

    /// Means over the buckets, the last of them as long as there was time.
    pub fn means(&self) -> Vec<f64> {
        let width_ns = self.buckets.width_ns;
        let rest_ns = width_ns - (self.buckets.until - self.since).as_ns();
        let open = (rest_ns > 0).then_some((self.buckets.open, rest_ns));
        let all = self.buckets.whole.iter().map(|&sum| (sum, width_ns)).chain(open);
        all.map(|(sum, length_ns)| sum as f64 / length_ns as f64).collect()
    }

    /// Sums over whole buckets, and how wide those are.
    pub fn whole(&self) -> (&[u128], u64) {
        (&self.buckets.whole, self.buckets.width_ns)
    }
}

/// How often something happened.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    buckets: Buckets,
}

impl Counts {
    pub fn new(from: SimTime) -> Self {
        Counts { buckets: Buckets::new(from) }
    }

    /// So often now.
    pub fn count(&mut self, now: SimTime, times: u64) {
        self.buckets.add(now, times);
    }

    /// By bucket, as many as [`Steps::means`] has at the same time; what happened at the very end is in the last.
    pub fn counts(&self, buckets: usize) -> Vec<u64> {
        let mut counts: Vec<u64> = self.buckets.whole.iter().map(|&times| times as u64).collect();
        let open = self.buckets.open as u64;
        if buckets > counts.len() {
            counts.push(open);
        } else if let Some(last) = counts.last_mut() {
            *last += open;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_at_the_very_end_is_in_the_last_bucket() {
        let mut counts = Counts::new(SimTime::ZERO);
        counts.count(SimTime::ZERO, 3);
        let until = counts.buckets.until;
        counts.count(until, 4);
        assert_eq!(counts.counts(1), [7], "its bucket has not begun for means");
        assert_eq!(counts.counts(2), [3, 4]);
    }
}
