//! Values that are dealt like cards: an empirical distribution that a load keeps exactly.
//!
//! Value `i` stands on `counts[i]` cards. They are dealt until none is left, and then from a new pack. So a load of as
//! many requests as there are cards has every value exactly as often as was asked for, however heavy the tail:
//! independent draws of a few large sizes would miss the bytes by several percent.

/// Values, each with the number of its cards.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices<T> {
    /// The values.
    pub values: Vec<T>,
    /// How many cards each value stands on; at least 1.
    pub counts: Vec<u64>,
    /// Share of draws that repeat the value before, as long as it has cards left; 0..1. The others do not look back.
    pub persistence: f64,
}

impl<T> Choices<T> {
    /// Cards in a pack.
    pub fn cards(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean of what `of` says of the values.
    pub fn mean(&self, of: impl Fn(&T) -> f64) -> f64 {
        let sum: f64 = self.values.iter().zip(&self.counts).map(|(value, &n)| of(value) * n as f64).sum();
        sum / self.cards().max(1) as f64
    }

    /// Refuses what cannot be dealt. `key` is the table it stands in, `values` the key of its values.
    pub(crate) fn check(&self, key: &str, values: &str) -> Result<(), String> {
        let Choices { counts, persistence, .. } = self;
        if self.values.is_empty() || self.values.len() != counts.len() {
            let (found, wanted) = (counts.len(), self.values.len());
            return Err(format!(
                "{key}.counts: {found} numbers for {wanted} {values}: one for each, at least one"
            ));
        }
        check_counts(&format!("{key}.counts"), counts)?;
        check_persistence(&format!("{key}.persistence"), *persistence)
    }
}

/// Refuses counts of which one is 0, or that are together too many.
pub(crate) fn check_counts(key: &str, counts: &[u64]) -> Result<(), String> {
    let sum = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
    match sum {
        Some(_) if counts.contains(&0) => Err(format!("{key} has a 0: what never occurs is left out")),
        Some(sum) if sum <= 1 << 62 => Ok(()),
        _ => Err(format!("{key}: together they are more than 2^62")),
    }
}

/// Refuses what is no share, and 1, with which nothing but the first value would occur.
pub(crate) fn check_persistence(key: &str, persistence: f64) -> Result<(), String> {
    match (0.0..1.0).contains(&persistence) {
        true => Ok(()),
        false => Err(format!("{key} = {persistence}: it is a share of the draws, from 0 to below 1")),
    }
}
