//! How many pages a die may leave unwritten so that the write offsets of its planes stay equal.
//!
//! A page that is skipped is lost until its block is erased. A collection that skips as many pages as its victims win gains
//! nothing, and never ends. So the die keeps a budget. Every skipped page takes one from it, and every victim gives back three
//! quarters of the pages that it wins. In the long run a quarter of what victims win is there to be written. The budget begins
//! with the pages of a few blocks and never holds more. Victims that win little may draw on others that won much.
//!
//! The rule is ours. The paper that skipping is read from says nothing of its price.

/// Of so many pages that a victim wins, one is not to be skipped.
const KEPT_OF: u32 = 4;

/// What a die has taken of its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Skips {
    /// Unit: 1 / `KEPT_OF` of a page.
    taken: u32,
}

impl Skips {
    /// Whether one more page may be skipped of a budget of so many.
    pub fn may_skip(self, budget: u32) -> bool {
        self.taken + KEPT_OF <= budget * KEPT_OF
    }

    /// A page is skipped.
    pub fn skip(&mut self) {
        self.taken += KEPT_OF;
    }

    /// A victim with so many invalid pages is to be collected.
    pub fn win(&mut self, invalid: u32) {
        self.taken = self.taken.saturating_sub(invalid * (KEPT_OF - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skips whatever a budget of ten pages has.
    fn skip_all(skips: &mut Skips) -> u32 {
        let mut count = 0;
        while skips.may_skip(10) {
            skips.skip();
            count += 1;
        }
        count
    }

    #[test]
    fn of_four_pages_won_three_are_skipped_whatever_their_victims() {
        for victims in [&[4, 4][..], &[1, 7], &[1; 8], &[8]] {
            let mut skips = Skips::default();
            assert_eq!(skip_all(&mut skips), 10, "the budget");
            let skipped = |&invalid: &u32| {
                skips.win(invalid);
                skip_all(&mut skips)
            };
            assert_eq!(victims.iter().map(skipped).sum::<u32>(), 6, "{victims:?}");
        }
    }

    #[test]
    fn the_budget_never_holds_more_than_at_the_beginning() {
        let mut skips = Skips::default();
        skips.win(100);
        assert_eq!(skip_all(&mut skips), 10);
    }
}
