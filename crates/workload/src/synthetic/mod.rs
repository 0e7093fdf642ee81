//! Generated load: when ([`clock`]), how long ([`size`]), where ([`place`], [`working_set`], [`files`]), read, write or
//! trim.
//!
//! Each decision has its own random stream (`workload/arrival`, `/arrival-reads`, `/size`, `/address`, `/direction`, `/trim`, `/fua`, `/skew`, `/hot`,
//! and of files `/file-size`, `/file-read`, `/file-deleted`),
//! and each request draws once from each (arrivals that tell reads from writes draw from the stream of the kind; zipf addresses: as often as their sampler needs): changing the sizes of a scenario leaves its arrival times, directions and skew as
//! they were, and its addresses at the same fraction of the space.
//!
//! Requests that would leave the addressed space do not occur: a start is drawn among those where the request fits.
//! A size larger than that space is an error, when the source is made if the mean already is, else at that request.
//!
//! Not modelled: hot addresses that move, correlated sizes or directions, think time in closed loops.

mod clock;
mod deck;
mod files;
mod place;
mod size;
mod working_set;
mod zipf;

use harmonia_engine::Rng;
use harmonia_types::{Completion, HostRequest, Operation, SimTime};

use crate::{ArrayGeometryForLoad, Limit, Next, Source, SourceError, SyntheticConfig};
pub(crate) use clock::Clock;
pub(crate) use deck::Deck;
use place::Placement;
pub(crate) use place::{check_extent, shown};
use size::Sizes;

/// A generated workload.
#[derive(Debug, Clone)]
pub struct Synthetic {
    limit: Limit,
    clock: Clock,
    requests: Requests,
    /// Set when the limit is reached (`Ok`) or a request could not be made (`Err`): the answer from then on.
    finished: Option<Result<(), SourceError>>,
}

impl Synthetic {
    /// The load `config` describes on `array`, its random streams under the root `seed`.
    ///
    /// # Errors
    /// If a share is outside its range, a rate, depth or size is not positive, the skewed member does not exist or
    /// has no other beside it, or the mean size exceeds the addressed space. The text gives the value and the limit.
    pub fn new(config: &SyntheticConfig, array: ArrayGeometryForLoad, seed: u64) -> Result<Self, String> {
        let requests = Requests::new(config, &array, seed)?;
        Ok(Synthetic {
            limit: config.limit,
            clock: Clock::new(&config.arrival, config.read_fraction, seed)?,
            requests,
            finished: None,
        })
    }

    /// As [`Requests::lie_as`].
    pub(crate) fn lie_as(&mut self, other: &Synthetic) {
        self.requests.lie_as(&other.requests);
    }

    /// The next request.
    #[expect(clippy::inline_always, reason = "a part of the loop that draws many requests")]
    #[inline(always)]
    fn draw(&mut self, now: SimTime) -> Result<Next, SourceError> {
        if self.finished.is_none() && self.past_limit(SimTime::ZERO) {
            self.finished = Some(Ok(()));
        }
        if let Some(answer) = &self.finished {
            return answer.clone().map(|()| Next::End);
        }
        let made = match self.clock.next_arrival(now) {
            Ok(None) => return Ok(Next::AfterCompletion),
            Ok(Some(arrival)) if self.past_limit(arrival) => {
                self.finished = Some(Ok(()));
                return Ok(Next::End);
            }
            Ok(Some(arrival)) => self.requests.next(arrival, self.clock.is_read()),
            Err(reason) => Err(SourceError(format!("synthetic request {}: {reason}", self.requests.issued))),
        };
        if let Err(error) = &made {
            self.finished = Some(Err(error.clone()));
        }
        made.map(Next::At)
    }

    /// Whether a request arriving at `arrival` would be past the limit.
    fn past_limit(&self, arrival: SimTime) -> bool {
        match self.limit {
            Limit::Requests(count) => self.requests.issued >= count,
            Limit::Duration(duration) => arrival.0 >= duration.0,
        }
    }
}

impl Source for Synthetic {
    fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
        Ok(Box::new(self.clone()))
    }

    fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError> {
        self.clock.complete(completed);
        self.draw(now)
    }

    fn fill(
        &mut self,
        mut now: SimTime,
        most: usize,
        into: &mut Vec<HostRequest>,
    ) -> Result<(), SourceError> {
        for _ in 0..most {
            let Next::At(request) = self.draw(now)? else { break };
            now = request.arrival;
            into.push(request);
        }
        Ok(())
    }

    fn wants_completions(&self) -> bool {
        self.clock.is_closed()
    }
}

/// Everything about requests but their time.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    sizes: Sizes,
    placement: Placement,
    read_fraction: f64,
    direction: Rng,
    /// Share of the requests that do not read which trim, and what decides it.
    trims: (f64, Rng),
    /// The same of writes that are with FUA.
    fua: (f64, Rng),
    issued: u64,
}

impl Requests {
    pub(crate) fn new(
        config: &SyntheticConfig,
        array: &ArrayGeometryForLoad,
        seed: u64,
    ) -> Result<Self, String> {
        array.check()?;
        check_share("read_fraction", config.read_fraction)?;
        check_share("trim_fraction", config.trim_fraction)?;
        check_share("fua_fraction", config.fua_fraction)?;
        let placement = Placement::new(config, array, seed)?;
        let sizes = Sizes::new(&config.size, seed)?;
        placement.check_fits(config.size.must_fit())?;
        Ok(Requests {
            sizes,
            placement,
            read_fraction: config.read_fraction,
            direction: Rng::stream(seed, "workload/direction"),
            trims: (trims_of_rest(config)?, Rng::stream(seed, "workload/trim")),
            fua: (config.fua_fraction, Rng::stream(seed, "workload/fua")),
            issued: 0,
        })
    }

    /// Lies where `other` does, made of the same configuration: what a seed decides about places, such as which pages are hot.
    pub(crate) fn lie_as(&mut self, other: &Requests) {
        self.placement.lie_as(&other.placement);
    }

    /// The next request, which arrives at `arrival` and, if that is known, reads or not.
    #[expect(clippy::inline_always, reason = "a part of the loop that draws many requests")]
    #[inline(always)]
    pub(crate) fn next(
        &mut self,
        arrival: SimTime,
        is_read: Option<bool>,
    ) -> Result<HostRequest, SourceError> {
        let length = self.sizes.draw();
        // Where the answer is known nothing is drawn: the streams serve nobody else.
        let drawn = self.read_fraction > 0.0 && self.direction.chance(self.read_fraction);
        let trim = self.trims.0 > 0.0 && self.trims.1.chance(self.trims.0);
        let fua = self.fua.0 > 0.0 && self.fua.1.chance(self.fua.0);
        let operation = match (is_read.unwrap_or(drawn), trim) {
            (true, _) => Operation::Read,
            (false, true) => Operation::Trim,
            (false, false) => Operation::Write,
        };
        let placed = self
            .placement
            .place(operation, length)
            .map_err(|reason| SourceError(format!("synthetic request {}: {reason}", self.issued)))?;
        let id = self.issued;
        self.issued += 1;
        Ok(HostRequest {
            member: placed.member,
            fua: fua && placed.operation == Operation::Write,
            ..HostRequest::new(id, arrival, placed.operation, placed.offset, placed.length)
        })
    }
}

/// Share of the requests that do not read which trim.
fn trims_of_rest(config: &SyntheticConfig) -> Result<f64, String> {
    let (reads, trims) = (config.read_fraction, config.trim_fraction);
    match 1.0 - reads {
        rest if trims > rest => {
            Err(format!("trim_fraction = {trims}: with read_fraction = {reads} it is at most {rest}"))
        }
        rest if trims > 0.0 => Ok(trims / rest),
        _ => Ok(0.0),
    }
}

/// Refuses what is not a share of a whole.
fn check_share(key: &str, share: f64) -> Result<(), String> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err(format!("{key} = {share}: it is a share of all requests, from 0 to 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeDistribution;

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let n = a.len() as f64;
        let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
        let product = |x: &[f64], y: &[f64]| {
            let (mean_x, mean_y) = (mean(x), mean(y));
            x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / n
        };
        product(a, b) / (product(a, a) * product(b, b)).sqrt()
    }

    /// Two decisions that shared a stream (by a name used twice) would go together.
    #[test]
    fn decisions_are_independent_of_each_other() {
        let n = 20_000;
        let config = SyntheticConfig {
            size: SizeDistribution::Exponential { mean: 4000 },
            read_fraction: 0.5,
            trim_fraction: 0.2,
            fua_fraction: 0.3,
            skew_fraction: 0.5,
            skew_member: 1,
            align: false,
            ..SyntheticConfig::writes(n, 1000.0, 0)
        };
        let gib = 1 << 30;
        // Two members: pinned and other requests address the same amount, so skew alone moves no offset.
        let array = ArrayGeometryForLoad {
            logical_bytes: 2 * gib,
            member_bytes: gib,
            members: 2,
            page_size: 4096,
            scaled_from: None,
        };
        let mut source = Synthetic::new(&config, array, 5).unwrap();
        let mut decisions: [Vec<f64>; 7] = Default::default();
        let mut before = SimTime::ZERO;
        while let Ok(Next::At(request)) = source.next(SimTime::ZERO, &[]) {
            let drawn = [
                (request.arrival - before).0 as f64,
                request.length as f64,
                request.offset as f64,
                f64::from(request.operation == Operation::Read),
                f64::from(request.member.is_some()),
                // Of the requests that do not read; those that do stand at the mean of the others, so that the two
                // decisions, which exclude each other, are compared where both are free.
                match request.operation {
                    Operation::Read => 0.4,
                    operation => f64::from(operation == Operation::Trim),
                },
                // The same of writes.
                if request.operation == Operation::Write { f64::from(request.fua) } else { 0.3 },
            ];
            before = request.arrival;
            decisions.iter_mut().zip(drawn).for_each(|(column, value)| column.push(value));
        }
        assert_eq!(decisions[0].len() as u64, n);
        for a in 0..decisions.len() {
            for b in 0..a {
                let r = correlation(&decisions[a], &decisions[b]);
                assert!(r.abs() < 5.0 / (n as f64).sqrt(), "decisions {a} and {b}: {r}");
            }
        }
    }
}
