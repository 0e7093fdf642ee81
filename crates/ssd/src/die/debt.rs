//! What collection has yet to do on a die before the host's next write, where the two share the die's work.
//!
//! ```text
//! host write |        | owes three times as long    gc | gc | gc | gc        host write | ...
//! debt         +6,000                              4,700  -600   the last step went beyond it: 600 less next time
//! ```
//!
//! A step that the debt asked for is worked off in full, so what goes beyond the debt is credit. A step that went because the host
//! had nothing to do is none: what it has won, the next share takes into account.

use harmonia_types::SimDuration;

/// Time that collection owes to a die; below zero: that it has had too much. Unit: ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Debt(i64);

impl Debt {
    /// Collection has to work before the host writes again.
    #[inline]
    pub fn is_due(self) -> bool {
        self.0 > 0
    }

    /// The host has written for `work`: collection owes `ratio.0 / ratio.1` times as much.
    pub fn grow(&mut self, work: SimDuration, ratio: (u64, u64)) {
        let owed = u128::from(work.0) * u128::from(ratio.0) / u128::from(ratio.1.max(1));
        self.0 = self.0.saturating_add(i64::try_from(owed).unwrap_or(i64::MAX));
    }

    /// Collection has worked for so long.
    pub fn work_off(&mut self, work: SimDuration) {
        if self.is_due() {
            self.0 = self.0.saturating_sub_unsigned(work.0);
        }
    }

    /// There is nothing to collect.
    pub fn forget(&mut self) {
        *self = Debt::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_beyond_the_debt_is_credit_and_one_without_a_debt_is_not() {
        let mut debt = Debt::default();
        debt.work_off(SimDuration(900));
        assert_eq!(debt, Debt(0), "nobody asked for it");
        debt.grow(SimDuration(2_000), (3, 1));
        assert_eq!(debt, Debt(6_000));
        debt.work_off(SimDuration(5_999));
        assert!(debt.is_due());
        debt.work_off(SimDuration(601));
        assert_eq!((debt, debt.is_due()), (Debt(-600), false));
        debt.work_off(SimDuration(5_000));
        debt.grow(SimDuration(2_000), (1, 4));
        assert_eq!(debt, Debt(-100), "500 owed and 600 of credit");
    }

    #[test]
    fn a_share_of_nothing_and_of_all_is_no_overflow() {
        let mut debt = Debt::default();
        debt.grow(SimDuration(u64::MAX), (u64::MAX, 0));
        debt.grow(SimDuration(1), (1, 1));
        assert_eq!(debt, Debt(i64::MAX));
        debt.forget();
        assert!(!debt.is_due());
    }
}
