//! The end of a search: what cannot be told from the best, and how the best few do with seeds nothing was chosen by.

use harmonia_run::Outcome;

use super::{Candidate, Fate, Found, Oracle, Race, Stopped, worse};

impl Race<'_> {
    /// Names the best and tries it, with its nearest rivals, on held-out seeds.
    pub(super) fn finish<E>(mut self, stopped: Stopped, oracle: &mut Oracle<'_, E>) -> Result<Found, E> {
        let finished = self.finished();
        let best = finished.first().copied();
        let ties = |&index: &usize| best.is_some_and(|best| self.ties(index, best));
        let plateau: Vec<usize> = finished.iter().copied().filter(ties).collect();
        let plainest = self.plainest(&plateau);
        let finalists = self.finalists(&finished, plainest);
        self.hold_out(&finalists, oracle)?;
        let Race { candidates, runs, generation, .. } = self;
        Ok(Found { candidates, best, plateau, plainest, finalists, runs, generations: generation, stopped })
    }

    /// The best, the plainest, the runner-up and the scenario as it stands, each once.
    fn finalists(&self, finished: &[usize], plainest: Option<usize>) -> Vec<usize> {
        let Some(best) = finished.first() else { return Vec::new() };
        let wanted = [Some(best), plainest.as_ref(), finished.get(1), Some(&0)];
        let mut finalists: Vec<usize> = Vec::new();
        for &index in wanted.into_iter().flatten() {
            let refused = matches!(self.candidates[index].fate, Fate::Refused(_));
            if !refused && !finalists.contains(&index) {
                finalists.push(index);
            }
        }
        finalists
    }

    fn ties(&self, index: usize, best: usize) -> bool {
        worse(&self.candidates[index].costs, &self.candidates[best].costs).is_none()
    }

    /// The nearest to the scenario as it stands, each key counted by its range; of several the one with the lowest mean. What
    /// costs the same as the scenario, seed by seed, is the scenario: keys it does not write have a default nobody knows here.
    fn plainest(&self, plateau: &[usize]) -> Option<usize> {
        let as_is = &self.candidates[0].costs;
        let is_it = |costs: &[f64]| !costs.is_empty() && as_is.starts_with(costs);
        let far = |index: usize| {
            let candidate = &self.candidates[index];
            if is_it(&candidate.costs) { -1.0 } else { self.distance(candidate) }
        };
        plateau.iter().copied().min_by(|&a, &b| far(a).total_cmp(&far(b)))
    }

    fn distance(&self, candidate: &Candidate) -> f64 {
        let point = candidate.point.iter().flatten();
        let keys = point.zip(&self.plan.place).zip(&self.plan.dimensions);
        keys.map(|((&index, place), dimension)| dimension.distance(index, *place)).sum()
    }

    fn hold_out<E>(&mut self, finalists: &[usize], oracle: &mut Oracle<'_, E>) -> Result<(), E> {
        let seeds = self.plan.seeds;
        let wanted: Vec<(usize, usize)> =
            (seeds..2 * seeds).flat_map(|seed| finalists.iter().map(move |&index| (index, seed))).collect();
        for ((index, _), outcome) in wanted.iter().zip(self.ask(&wanted, oracle)?) {
            match outcome {
                Outcome::Measured(cost) => self.candidates[*index].held_out.push(cost),
                Outcome::Refused(why) => self.candidates[*index].fate = Fate::Refused(why),
            }
        }
        // Without one of them the others are no pairs.
        self.candidates
            .iter_mut()
            .filter(|one| one.held_out.len() < seeds)
            .for_each(|one| one.held_out.clear());
        Ok(())
    }
}

impl super::Dimension {
    /// How far a value is from where the scenario stands, as a share of the range; another choice is all of it away.
    fn distance(self, index: u32, place: Option<f64>) -> f64 {
        match (self, place) {
            (_, None) => 0.0,
            (super::Dimension::Choices(_), Some(place)) => f64::from(u8::from(f64::from(index) != place)),
            (super::Dimension::Ordered(count), Some(place)) => {
                (f64::from(index) - place).abs() / f64::from((count - 1).max(1))
            }
        }
    }
}
