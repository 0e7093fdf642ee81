//! What devices counted while each batch of requests arrived: erases, bytes programmed, victims.
//!
//! Counters are read when the first request of a batch arrives, so batch k has the work that was done between the arrivals
//! of its first request and of the next batch's first. Lengths double as those of [`Batches`](super::Batches) do.

use harmonia_types::{DeviceCounters, IoCause};

use super::{BatchReport, MOST, SHORTEST_LOG2};
use crate::flash_bytes::Flash;
use crate::report::ArrayReport;

/// A reading of all devices together.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    erases: u64,
    programmed: u64,
    host: u64,
    victims: u64,
    moved: u64,
}

impl Reading {
    fn of<'a>(devices: impl Iterator<Item = (&'a DeviceCounters, u64)> + Clone) -> Reading {
        let Flash { bytes, victims, moved } = Flash::of(devices.clone());
        Reading {
            erases: devices.map(|(counters, _)| counters.erases).sum(),
            programmed: bytes.of_array(),
            host: bytes[IoCause::Host],
            victims,
            moved,
        }
    }
}

/// Keeps readings by batch. Fixed in size: reading allocates nothing.
#[derive(Debug, Clone)]
pub struct CounterBatches {
    first: u64,
    length_log2: u32,
    readings: Vec<Reading>,
}

impl CounterBatches {
    /// No reading yet; batches begin with the request `first`.
    pub fn starting_at(first: u64) -> Self {
        CounterBatches { first, length_log2: SHORTEST_LOG2, readings: Vec::with_capacity(MOST + 1) }
    }

    /// The same for a window of exactly so many requests: batches are at once as long as they will be. A reading asks every device
    /// of an array, and most of those of shorter batches would be dropped.
    #[must_use]
    pub fn of_all(self, requests: u64) -> Self {
        let longest = requests.div_ceil(MOST as u64).next_power_of_two().ilog2();
        CounterBatches { length_log2: self.length_log2.max(longest), ..self }
    }

    /// Whether a batch begins with the request `id`, so that the counters are wanted as it arrives.
    #[inline]
    pub fn is_due(&self, id: u64) -> bool {
        id.wrapping_sub(self.first) == (self.readings.len() as u64) << self.length_log2
    }

    /// The counters of all devices as a request arrives that is due, each with the bytes of its pages.
    pub fn read<'a>(&mut self, devices: impl Iterator<Item = (&'a DeviceCounters, u64)> + Clone) {
        if self.readings.len() == MOST {
            for index in 0..MOST / 2 {
                self.readings[index] = self.readings[2 * index];
            }
            self.readings.truncate(MOST / 2);
            self.length_log2 += 1;
        }
        self.readings.push(Reading::of(devices));
    }

    /// Adds to `report` how the array's figures varied; `requests` is how many the window had.
    pub fn add_to(&self, report: &mut BatchReport, array: &ArrayReport, requests: u64) {
        let batches: Vec<[&Reading; 2]> = self.readings.windows(2).map(|pair| [&pair[0], &pair[1]]).collect();
        let each = |of: fn(&Reading) -> u64| -> Vec<f64> {
            batches.iter().map(|[from, to]| (of(to) - of(from)) as f64).collect()
        };
        let scale = requests as f64 / (1u64 << self.length_log2) as f64;
        report.erases = each(|reading| reading.erases).iter().map(|erases| erases * scale).collect();
        report.write_amplification = ratio(
            &each(|reading| reading.programmed),
            &each(|reading| reading.host),
            array.write_amplification,
        );
        let victims = each(|reading| reading.victims);
        let moved = each(|reading| reading.moved);
        let freed: Vec<f64> = victims.iter().zip(moved).map(|(bytes, moved)| bytes - moved).collect();
        report.write_amplification_whole_cycles =
            ratio(&victims, &freed, array.write_amplification_whole_cycles);
    }
}

/// Pseudo-values of the ratio of two sums, to first order, scaled so that they stand around `figure`; empty where there is
/// none (Cochran, Sampling Techniques, 6.3).
fn ratio(above: &[f64], below: &[f64], figure: Option<f64>) -> Vec<f64> {
    let (top, bottom) = (above.iter().sum::<f64>(), below.iter().sum::<f64>());
    let Some(figure) = figure.filter(|_| top > 0.0 && bottom > 0.0) else { return Vec::new() };
    let (own, mean) = (top / bottom, bottom / below.len() as f64);
    let value = |(above, below): (&f64, &f64)| figure * (1.0 + (above / own - below) / mean);
    above.iter().zip(below).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(id: u64) -> DeviceCounters {
        DeviceCounters { erases: id / 16, programs: IoCause::by([id, 2 * id]), ..DeviceCounters::default() }
    }

    #[test]
    fn readings_stand_at_the_first_request_of_each_batch_however_often_lengths_doubled() {
        for (requests, length, count) in [(1_024, 16, 63), (1_025, 32, 32), (100_000, 2_048, 48)] {
            let mut batches = CounterBatches::starting_at(500);
            for id in (500..500 + requests).filter(|&id| batches.is_due(id)).collect::<Vec<_>>() {
                // Lengths double while reading, so what was due may not be due any more.
                if batches.is_due(id) {
                    batches.read([(&reading(id), 4_096)].into_iter());
                }
            }
            let mut batches = CounterBatches::starting_at(500);
            for id in 500..500 + requests {
                if batches.is_due(id) {
                    batches.read([(&reading(id - 500), 4_096)].into_iter());
                }
            }
            let mut report = BatchReport::default();
            let array = ArrayReport { write_amplification: Some(3.0), ..ArrayReport::default() };
            batches.add_to(&mut report, &array, requests);
            assert_eq!((1 << batches.length_log2, report.erases.len()), (length, count), "{requests}");
            let each = (length / 16) as f64 * requests as f64 / length as f64;
            assert!(report.erases.iter().all(|&erases| erases == each), "{:?}", report.erases);
            assert!(report.write_amplification.iter().all(|&ratio| (ratio - 3.0).abs() < 1e-9));
            assert!(report.write_amplification_whole_cycles.is_empty(), "no victims");
        }
    }

    #[test]
    fn who_knows_how_many_requests_come_reads_seldom_and_tells_the_same() {
        for requests in [1, 16, 1_023, 1_024, 1_025, 2_048, 2_049, 100_000, 1 << 20, (1 << 20) + 1] {
            let told = |mut batches: CounterBatches| {
                let mut readings = 0;
                for id in 500..500 + requests {
                    if batches.is_due(id) {
                        readings += 1;
                        batches.read([(&reading(id - 500), 4_096)].into_iter());
                    }
                }
                let mut report = BatchReport::default();
                let array = ArrayReport { write_amplification: Some(3.0), ..ArrayReport::default() };
                batches.add_to(&mut report, &array, requests);
                (readings, report)
            };
            let (_, report) = told(CounterBatches::starting_at(500));
            let (readings, knowing) = told(CounterBatches::starting_at(500).of_all(requests));
            assert_eq!(knowing, report, "{requests} requests");
            assert!(readings <= MOST, "{readings} readings of {requests} requests");
        }
    }

    /// Batches of 10 pages and 30, 20 and 60: always 3. Of 10 and 40, 20 and 50: 3, the first above, the second below.
    #[test]
    fn a_ratio_varies_with_what_is_not_proportional() {
        assert_eq!(ratio(&[30.0, 60.0], &[10.0, 20.0], Some(3.0)), [3.0, 3.0]);
        let values = ratio(&[40.0, 50.0], &[10.0, 20.0], Some(3.0));
        assert!(
            (values[0] - (3.0 + 10.0 / 15.0)).abs() < 1e-9 && (values[1] - (3.0 - 10.0 / 15.0)).abs() < 1e-9
        );
        assert_eq!(ratio(&[0.0], &[10.0], Some(1.0)), [0.0; 0]);
        assert_eq!(ratio(&[1.0], &[1.0], None), [0.0; 0]);
    }
}
