//! What was measured on a drive, whatever file it stood in.
//!
//! Not measured here: the order of experiments. A load that only writes sequentially is taken for the fill of an erased drive, and
//! every other one for a load on a drive that is full and used.

/// All measurements of one drive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Loads with their figures, in the order in which they were given.
    pub experiments: Vec<Experiment>,
    /// Bandwidth from an erased drive on.
    pub over_time: Option<OverTime>,
    /// Lines of a data sheet and counters.
    pub sheet: Sheet,
}

/// Streams of requests that ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name: those of its jobs.
    pub name: String,
    /// At least one.
    pub streams: Vec<Stream>,
}

/// What an experiment tells about a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sequential writes as fast as the drive takes them.
    Fill,
    /// One random read at a time, and nothing else.
    IdleReads,
    /// One write at a time, and nothing else.
    IdleWrites,
    /// Random writes of 4 KiB, as many as the drive takes.
    Uniform,
    /// One read at a time beside more reads than the drive takes.
    Crowd,
    /// Reads beside more writes than the drive takes.
    Saturated,
    /// Reads beside writes that the drive keeps up with.
    Beside,
    /// Something that no stage uses; it can be predicted.
    Other,
}

/// Requests of one kind: a job of fio.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Share of its requests that read, 0..=1.
    pub reads: f64,
    /// At random places of the whole drive, or one after the other.
    pub is_random: bool,
    /// Length of a request. Unit: bytes.
    pub block: u64,
    /// Requests outstanding of each job.
    pub depth: u32,
    /// Jobs that share the stream.
    pub jobs: u32,
    /// Requests that are due in a second, all jobs together; `None` where the next one follows a completion.
    pub rate: Option<f64>,
    /// Whether gaps between them are random.
    pub is_poisson: bool,
    /// What its reads took.
    pub read: Option<Side>,
    /// What its writes took.
    pub write: Option<Side>,
}

/// Requests of a stream in one direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// Completed in a second.
    pub rate: f64,
    /// Mean latency. Unit: us.
    pub mean: Option<f64>,
    /// Latencies.
    pub latency: Cdf,
}

/// How latencies are distributed: points of their cumulative distribution, both columns in ascending order. Unit: us, share 0..=1.
#[derive(Debug, Clone, PartialEq)]
pub enum Cdf {
    /// Ends of bins, with the share up to each.
    Bins(Vec<(f64, f64)>),
    /// Some percentiles, between which a straight line is drawn.
    Percentiles(Vec<(f64, f64)>),
}

/// Nothing is known.
impl Default for Cdf {
    fn default() -> Self {
        Cdf::Percentiles(Vec::new())
    }
}

/// Rate of a drive while it is written over and over from the erased state.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// Its file, for messages.
    pub name: String,
    /// Seconds since it began and bytes a second, in the order of time.
    pub points: Vec<(f64, f64)>,
}

/// Lines of a data sheet, and counters of a drive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// What it is called.
    pub name: Option<String>,
    /// Capacity that the host sees. Unit: bytes.
    pub capacity: Option<u64>,
    /// Unit: bytes/s.
    pub sequential_write: Option<u64>,
    /// Unit: bytes/s.
    pub sequential_read: Option<u64>,
    /// Drive writes between the erase and the first point of the bandwidth over time. Unit: capacities.
    pub written_before: f64,
    /// Media bytes over host bytes of uniform writes in the steady state.
    pub uniform: Option<f64>,
    /// The same of a sequential fill.
    pub sequential: Option<f64>,
}

impl Cdf {
    /// From how many requests took so long (us).
    pub fn of_counts(mut counts: Vec<(f64, u64)>) -> Cdf {
        counts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let all = counts.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
        let mut below = 0;
        let point = |(value, count): (f64, u64)| {
            below += count;
            (value, below as f64 / all)
        };
        Cdf::Bins(counts.into_iter().map(point).collect())
    }

    /// From percentiles: latency in us, share 0..=1.
    pub fn of_percentiles(mut points: Vec<(f64, f64)>) -> Cdf {
        points.sort_by(|one, other| one.1.total_cmp(&other.1));
        Cdf::Percentiles(points)
    }

    /// The latency that this share of requests does not exceed; `None` outside of what is known. Unit: us.
    pub fn at(&self, share: f64) -> Option<f64> {
        let (Cdf::Bins(points) | Cdf::Percentiles(points)) = self;
        let above = points.iter().position(|&(_, below)| below >= share - 1e-9)?;
        let (value, below) = points[above];
        let before = above.checked_sub(1).map(|at| points[at]);
        match (self, before) {
            (Cdf::Bins(_), _) => Some(value),
            (Cdf::Percentiles(_), Some((before, low))) if below > low => {
                Some(before + (value - before) * (share - low) / (below - low))
            }
            (Cdf::Percentiles(_), _) => (below - share < 1e-9).then_some(value),
        }
    }

    /// Of requests of two kinds, of which so many come in a second. Percentiles of two are not those of both, so only bins are joined.
    pub(crate) fn joined(self, rate: f64, other: Cdf, other_rate: f64) -> Cdf {
        let (Cdf::Bins(one), Cdf::Bins(other)) = (self, other) else { return Cdf::default() };
        let weight = rate / (rate + other_rate);
        let shares = |points: Vec<(f64, f64)>, weight: f64| {
            let mut before = 0.0;
            let share = move |(value, below): (f64, f64)| {
                let own = (below - before) * weight;
                before = below;
                (value, own)
            };
            points.into_iter().map(share).collect::<Vec<_>>()
        };
        let mut all = [shares(one, weight), shares(other, 1.0 - weight)].concat();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut below = 0.0;
        let point = |(value, share): (f64, f64)| {
            below += share;
            (value, below)
        };
        Cdf::Bins(all.into_iter().map(point).collect())
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        let (Cdf::Bins(points) | Cdf::Percentiles(points)) = self;
        points.is_empty()
    }
}

impl Stream {
    /// Whether it only writes.
    pub fn writes_only(&self) -> bool {
        self.reads == 0.0
    }

    /// Whether it gets the rate that is due, within 3%; a stream without a rate does not.
    fn keeps_up(&self) -> bool {
        let done: f64 = [&self.read, &self.write].into_iter().flatten().map(|side| side.rate).sum();
        self.rate.is_some_and(|rate| done >= 0.97 * rate)
    }
}

impl Experiment {
    /// What it tells.
    pub fn kind(&self) -> Kind {
        let is_single = |stream: &Stream| stream.depth == 1 && stream.jobs == 1;
        if let [stream] = &self.streams[..] {
            return match stream {
                Stream { reads: 0.0, is_random: false, rate: None, block, .. } if *block >= 1 << 16 => {
                    Kind::Fill
                }
                Stream { reads: 1.0, is_random: true, block: 4096, .. } if is_single(stream) => {
                    Kind::IdleReads
                }
                Stream { reads: 0.0, block: 4096, .. } if is_single(stream) => Kind::IdleWrites,
                Stream { reads: 0.0, is_random: true, rate: None, block: 4096, .. } => Kind::Uniform,
                _ => Kind::Other,
            };
        }
        let is_small = self.streams.iter().all(|stream| stream.is_random && stream.block == 4096);
        let reads_on = |stream: &Stream| stream.reads == 1.0 && stream.rate.is_none();
        if is_small && is_single(&self.streams[0]) && self.streams.iter().all(reads_on) {
            return Kind::Crowd;
        }
        let is_mixed = self.streams.iter().any(Stream::writes_only) && self.probe().is_some();
        let writes = || self.streams.iter().filter(|stream| stream.writes_only());
        match (is_mixed && is_small, writes().all(Stream::keeps_up)) {
            (false, _) => Kind::Other,
            (true, true) => Kind::Beside,
            (true, false) => Kind::Saturated,
        }
    }

    /// The stream whose reads are looked at: the first that reads.
    pub fn probe(&self) -> Option<usize> {
        self.streams.iter().position(|stream| stream.reads > 0.0)
    }

    /// Requests that are outstanding at most, all jobs together.
    pub fn outstanding(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.depth) * u64::from(stream.jobs)).sum()
    }

    /// Requests completed in a second, all streams together.
    pub fn completed(&self) -> f64 {
        let sides = self.streams.iter().flat_map(|stream| [&stream.read, &stream.write]);
        sides.flatten().map(|side| side.rate).sum()
    }

    /// Whether it begins with an erased drive.
    pub fn is_of_erased(&self) -> bool {
        self.streams.iter().all(|stream| stream.writes_only() && !stream.is_random)
    }

    /// Bytes written in a second, all streams together.
    pub fn written(&self) -> f64 {
        let written = |stream: &Stream| Some(stream.write.as_ref()?.rate * stream.block as f64);
        self.streams.iter().filter_map(written).sum()
    }
}

impl OverTime {
    /// Rate before the cliff, and bytes written until then; `None` where there is no cliff. Unit: bytes/s, bytes.
    pub fn cliff(&self) -> Option<(f64, f64)> {
        let smooth = self.smooth();
        let first = median(smooth.get(..(smooth.len() / 20).clamp(5, 20))?);
        let below = |rates: &[f64]| rates.iter().all(|&rate| rate < 0.8 * first);
        // The middle of five is the first of them that is slow; until then the flash was erased.
        let at = smooth.windows(5).position(below)?;
        Some((first, self.written(at + 2)))
    }

    /// Rate in the end, if so many bytes were written until then, and the rates of the last eighth and of the one before it differ by less
    /// than 5%. Unit: bytes/s.
    pub fn steady(&self, least: f64) -> Option<f64> {
        if self.written(self.points.len()) < least {
            return None;
        }
        let rates: Vec<f64> = self.points.iter().map(|point| point.1).collect();
        let eighth = rates.len() / 8;
        if eighth < 2 {
            return None;
        }
        let (before, last) = rates[rates.len() - 2 * eighth..].split_at(eighth);
        let (before, last) = (median(before), median(last));
        ((last / before - 1.0).abs() < 0.05).then_some(last)
    }

    /// Medians of five neighbours.
    fn smooth(&self) -> Vec<f64> {
        let rates: Vec<f64> = self.points.iter().map(|point| point.1).collect();
        rates.windows(5).map(median).collect()
    }

    /// Bytes written in the first `count` intervals, one or more.
    fn written(&self, count: usize) -> f64 {
        let points = &self.points[..count];
        // The log may count its time from elsewhere: its first interval is as long as the second at most.
        let second = points.get(1).map_or(points[0].0, |next| next.0 - points[0].0);
        let first = points[0].0.min(second) * points[0].1;
        first + points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[1].1).sum::<f64>()
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(reads: f64, rate: Option<f64>, done: f64) -> Stream {
        let side = Some(Side { rate: done, ..Side::default() });
        let (read, write) = if reads > 0.0 { (side, None) } else { (None, side) };
        Stream {
            reads,
            is_random: true,
            block: 4096,
            depth: 8,
            jobs: 1,
            rate,
            is_poisson: false,
            read,
            write,
        }
    }

    fn kind(streams: &[Stream]) -> Kind {
        Experiment { name: "x".into(), streams: streams.to_vec() }.kind()
    }

    #[test]
    fn a_load_tells_by_its_shape_what_it_is_for() {
        let (reads, writes) = (stream(1.0, Some(100.0), 100.0), stream(0.0, Some(1_000.0), 970.0));
        assert_eq!(kind(&[reads.clone(), writes.clone()]), Kind::Beside);
        let late = stream(0.0, Some(1_000.0), 969.0);
        assert_eq!(kind(&[reads.clone(), late]), Kind::Saturated, "3% of the writes are not done");
        assert_eq!(kind(&[reads.clone(), stream(0.0, None, 969.0)]), Kind::Saturated);
        assert_eq!(kind(&[stream(0.0, None, 1.0)]), Kind::Uniform);
        assert_eq!(kind(&[Stream { depth: 1, ..reads.clone() }]), Kind::IdleReads);
        assert_eq!(kind(&[Stream { depth: 1, ..writes.clone() }]), Kind::IdleWrites);
        assert_eq!(
            kind(&[Stream { is_random: false, block: 1 << 16, ..stream(0.0, None, 1.0) }]),
            Kind::Fill
        );
        assert_eq!(kind(&[reads]), Kind::Other);
        let (crowd, probe) = (stream(1.0, None, 1.0), Stream { depth: 1, ..stream(1.0, None, 1.0) });
        assert_eq!(kind(&[probe.clone(), crowd.clone()]), Kind::Crowd);
        assert_eq!(kind(&[crowd.clone(), crowd.clone()]), Kind::Other, "no read is alone");
        let due = Stream { rate: Some(1.0), ..crowd };
        assert_eq!(kind(&[probe, due]), Kind::Other, "no more are outstanding than are due");
    }

    /// Bins hold all values up to them; between percentiles lies a line.
    #[test]
    fn shares_lie_in_bins_and_between_percentiles() {
        let bins = Cdf::of_counts(vec![(60.0, 1), (50.0, 2), (70.0, 1)]);
        assert_eq!(
            [0.25, 0.5, 0.51, 1.0].map(|share| bins.at(share)),
            [Some(50.0), Some(50.0), Some(60.0), Some(70.0)]
        );
        let percentiles = Cdf::of_percentiles(vec![(80.0, 0.9), (40.0, 0.1)]);
        assert_eq!(percentiles.at(0.5), Some(60.0));
        assert_eq!((percentiles.at(0.04), percentiles.at(0.99), Cdf::default().at(0.5)), (None, None, None));
    }

    /// 100 bytes a second for 50 s, then 30 with a spike of one point in each.
    #[test]
    fn a_cliff_is_no_spike() {
        let rate = |at: u32| match at {
            20 => 10.0,
            80 => 100.0,
            at if at <= 50 => 100.0,
            _ => 30.0,
        };
        let points: Vec<(f64, f64)> = (1..=120).map(|at| (f64::from(at), rate(at))).collect();
        let over_time = OverTime { name: "x".into(), points };
        let (first, written) = over_time.cliff().expect("a cliff");
        assert_eq!(first, 100.0);
        assert_eq!(written, 49.0 * 100.0 + 10.0);
        assert_eq!((over_time.steady(7_000.0), over_time.steady(7_200.0)), (Some(30.0), None));
        let level = OverTime { points: over_time.points[..40].to_vec(), ..over_time.clone() };
        assert_eq!((level.cliff(), level.steady(0.0)), (None, Some(100.0)));
        let falls =
            OverTime { points: (1..100).map(|at| (f64::from(at), 200.0 - f64::from(at))).collect(), ..level };
        assert_eq!(falls.steady(0.0), None);
    }
}
