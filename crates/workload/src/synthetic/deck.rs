//! A pack of cards: deals the index of a value, every value exactly as often as it has cards ([`Choices`](crate::Choices)).

use harmonia_engine::Rng;

/// Deals, and begins a new pack when the old one is used up.
#[derive(Debug, Clone)]
pub(crate) struct Deck {
    counts: Vec<u64>,
    persistence: f64,
    /// Cards of each value, and of all, that are still to be dealt.
    left: Vec<u64>,
    left_in_all: u64,
    last: usize,
    rng: Rng,
}

impl Deck {
    /// Of counts that have been checked: none is 0, and there is one.
    pub(crate) fn new(counts: Vec<u64>, persistence: f64, rng: Rng) -> Self {
        Deck { left: vec![0; counts.len()], counts, persistence, left_in_all: 0, last: 0, rng }
    }

    /// Another pack from now on, of as many values; none has to have a card but one.
    pub(crate) fn renew(&mut self, counts: Vec<u64>) {
        self.left_in_all = 0;
        self.counts = counts;
    }

    /// The next card.
    pub(crate) fn draw(&mut self) -> usize {
        let is_first = self.left_in_all == 0;
        if is_first {
            self.left.clone_from(&self.counts);
            self.left_in_all = self.counts.iter().sum();
        }
        let repeats = self.persistence > 0.0 && self.rng.chance(self.persistence);
        if !(repeats && !is_first && self.left[self.last] > 0) {
            self.last = self.any();
        }
        self.left[self.last] -= 1;
        self.left_in_all -= 1;
        self.last
    }

    /// Any of the cards that are left.
    fn any(&mut self) -> usize {
        let mut card = self.rng.below(self.left_in_all);
        let is_it = |&left: &u64| {
            let found = card < left;
            if !found {
                card -= left;
            }
            found
        };
        self.left.iter().position(is_it).expect("a card is left")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(counts: &[u64], persistence: f64, draws: usize) -> Vec<usize> {
        let mut deck = Deck::new(counts.to_vec(), persistence, Rng::stream(7, "deck"));
        (0..draws).map(|_| deck.draw()).collect()
    }

    #[test]
    fn every_pack_has_every_card() {
        for persistence in [0.0, 0.9] {
            let cards = dealt(&[1, 70, 29], persistence, 300);
            for pack in cards.chunks(100) {
                let of = |value| pack.iter().filter(|&&card| card == value).count();
                assert_eq!([of(0), of(1), of(2)], [1, 70, 29]);
            }
            assert_ne!(cards[..100], cards[100..200], "packs are shuffled anew");
        }
    }

    /// A draw repeats the one before with `persistence`, and otherwise by chance: of two alike values in half of the cases.
    #[test]
    fn draws_repeat_as_often_as_asked() {
        for persistence in [0.0, 0.5, 0.8] {
            let cards = dealt(&[50_000, 50_000], persistence, 100_000);
            let alike = cards.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / 99_999.0;
            let expected = persistence + (1.0 - persistence) / 2.0;
            assert!((alike - expected).abs() < 0.01, "{alike}, not {expected}");
        }
    }
}
