//! Which rows a preset may be fitted on, and which judge it.
//!
//! > Of the loads below the knee the first, the fourth, the seventh and so on are *fitted*, and so are the load beyond the knee
//! > and the rate of the sequential fill. All other loads, the knee, write amplification, the fill over uniform writes and skewed
//! > writes are *judged*.
//!
//! The rule knows the place of a load and no figure, so that nobody can choose rows by how well they fit. It does not make the judged rows blind:
//! all of them had been seen in earlier trials, in which mechanisms were chosen. It is a split for the fit of the numbers of a preset alone.
//! And the rate of the fill over that of uniform writes nearly follows from two fitted rows.

use super::measured::{Load, Quantity};

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Numbers of a preset may be chosen on it.
    Fitted,
    /// It says how good they are.
    Judged,
}

/// One in so many loads below the knee is fitted.
const EVERY: usize = 3;

/// The rule in words, for whoever reads a table.
pub const RULE: &str = "Fitted rows: of the loads below the knee the first and every third after it, the load beyond the knee, and the \
                        sequential fill. Judged rows: all others. All rows had been seen in earlier trials, so the split holds for the \
                        fit of numbers, not for the choice of mechanisms.";

/// The side of a row of a drive that was offered these loads below the knee, in ascending order.
pub fn side(offered: &[u32], load: Load, quantity: Quantity) -> Side {
    let is_fitted = match (load, quantity) {
        (_, Quantity::Knee | Quantity::WriteAmplification) => false,
        (Load::Offered(rate), _) => {
            offered.iter().position(|&known| known == rate).is_some_and(|index| index % EVERY == 0)
        }
        (Load::Saturated(_) | Load::Sequential, _) => true,
        (Load::Writes(_), _) => false,
    };
    if is_fitted { Side::Fitted } else { Side::Judged }
}

impl Side {
    /// In a word.
    pub fn text(self) -> &'static str {
        match self {
            Side::Fitted => "fitted",
            Side::Judged => "judged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::{Pattern, drives};
    use super::*;

    #[test]
    fn every_third_load_is_fitted_and_what_lies_beyond_the_knee() {
        let offered = [10, 30, 40, 60, 70, 90, 100, 120];
        let fitted: Vec<u32> = offered
            .into_iter()
            .filter(|&rate| side(&offered, Load::Offered(rate), Quantity::ReadP99) == Side::Fitted)
            .collect();
        assert_eq!(fitted, [10, 60, 100]);
        assert_eq!(side(&offered, Load::Saturated(130), Quantity::WritesDone), Side::Fitted);
        assert_eq!(side(&offered, Load::Saturated(130), Quantity::Knee), Side::Judged);
        assert_eq!(side(&offered, Load::Sequential, Quantity::Sequential), Side::Fitted);
        assert_eq!(side(&offered, Load::Writes(Pattern::Zipf(1.0)), Quantity::OverUniform), Side::Judged);
    }

    /// A split in which nearly all is fitted would judge nothing.
    #[test]
    fn more_rows_are_judged_than_fitted() {
        for drive in drives() {
            let judged = drive.rows.iter().filter(|row| row.side == Side::Judged).count();
            assert!(2 * judged >= drive.rows.len(), "{}: {judged} of {}", drive.name, drive.rows.len());
        }
    }
}
