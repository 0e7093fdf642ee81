//! Where the next generation lies: one step to either side of the best, along one key at a time.

use super::{Dimension, PARENTS, Point, Race};

impl Race<'_> {
    /// Points at half the distance around the best, those that are new; none where no finer values are left.
    pub(super) fn finer(&mut self) -> Vec<Point> {
        loop {
            let finest = self.strides.iter().all(|&stride| stride == 1);
            self.strides.iter_mut().for_each(|stride| *stride = stride.div_ceil(2));
            let parents = self.parents();
            // At the finest, a search goes on downhill only: as long as its leader moves.
            if finest && self.refined.first() == parents.first() {
                return Vec::new();
            }
            self.refined.clone_from(&parents);
            let points = self.around(&parents);
            if finest || !points.is_empty() {
                return points;
            }
        }
    }

    /// The best points with all seeds, the lowest mean first.
    fn parents(&self) -> Vec<usize> {
        let mut known = self.finished();
        known.truncate(PARENTS);
        known
    }

    /// Points in the race that have all seeds, the lowest mean first.
    pub(super) fn finished(&self) -> Vec<usize> {
        let seeds = self.plan.seeds;
        let mut known: Vec<usize> =
            self.racing().filter(|&index| self.candidates[index].costs.len() >= seeds).collect();
        let mean = |index: usize| self.candidates[index].mean(seeds);
        known.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        known
    }

    fn around(&self, parents: &[usize]) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for &parent in parents {
            let Some(centre) = &self.candidates[parent].point else { continue };
            for (key, dimension) in self.plan.dimensions.iter().enumerate() {
                for index in beside(centre[key], *dimension, self.strides[key]) {
                    let mut point = centre.clone();
                    point[key] = index;
                    if !points.contains(&point) && !self.knows(&point) {
                        points.push(point);
                    }
                }
            }
        }
        points
    }

    fn knows(&self, point: &Point) -> bool {
        self.candidates.iter().any(|candidate| candidate.point.as_ref() == Some(point))
    }
}

/// The values a stride below and above, at most up to the ends.
fn beside(index: u32, dimension: Dimension, stride: u32) -> Vec<u32> {
    match dimension {
        Dimension::Choices(_) => Vec::new(),
        Dimension::Ordered(count) => vec![index.saturating_sub(stride), (index + stride).min(count - 1)],
    }
}
