//! Shares of parity: members that hold more or less of it than others, so that they do not wear out at one time.
//!
//! ```text
//! shares 3, 1, 1, left-symmetric          member     0  1  2
//!                                         stripe 0   0  1  P
//!                                         stripe 1   1  P  0
//!                                         stripe 2   P  0  1
//!                                         stripe 3   P  0  1
//!                                         stripe 4   P  0  1       and again from stripe 5 on
//! ```
//!
//! Shares are divided by what divides all of them. Parity stays on a member for as many stripes as its share says, and then moves
//! to the next one of the rotation. Equal shares are the rotation itself. Each member's parity is one run of stripes in a period, so
//! every place is found without a search, in both directions.
//!
//! Under single-page writes a member with the share p of parity is written p (n - 1) + (1 - p) times for each time that one
//! without parity is.
//!
//! Source: Diff-RAID (Balakrishnan et al., EuroSys 2010), which IEEE Access 2019 builds on; where the parity of a stripe lies is
//! ours. Leaves out: members that are replaced, after which shares go to other members.

use harmonia_types::DeviceId;

use super::ParityPattern;

/// Most stripes after which shares may repeat, divided by what divides all of them.
pub const MOST_SHARES: u64 = 1024;

/// Which member has the parity of a stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shares {
    /// By stripe of a period.
    members: Vec<u16>,
    /// By member: its first stripe in a period, and how many follow.
    runs: Vec<(u64, u64)>,
}

impl Shares {
    /// Runs of stripes in the order of `turn`, which names every member once.
    ///
    /// # Panics
    /// If nobody has a share, or they repeat after more than [`MOST_SHARES`] stripes.
    pub fn new(shares: &[u16], turn: impl Iterator<Item = u16>) -> Self {
        let period = period(shares);
        assert!((1..=MOST_SHARES).contains(&period), "shares repeat after 1 to {MOST_SHARES} stripes");
        let divisor = divisor(shares);
        let (mut members, mut runs) = (Vec::new(), vec![(0, 0); shares.len()]);
        for member in turn {
            let run = u64::from(shares[usize::from(member)]) / divisor;
            runs[usize::from(member)] = (members.len() as u64, run);
            members.extend((0..run).map(|_| member));
        }
        Shares { members, runs }
    }

    #[inline]
    pub fn p(&self, stripe: u64) -> u64 {
        u64::from(self.members[(stripe % self.members.len() as u64) as usize])
    }

    pub fn pattern(&self, member: DeviceId) -> ParityPattern {
        let ((first, run), period) = (self.runs[member.index()], self.members.len() as u64);
        ParityPattern { phase: (period - first) % period, period, run }
    }
}

/// Stripes after which shares repeat; 0 if nobody has one.
pub fn period(shares: &[u16]) -> u64 {
    shares.iter().map(|&share| u64::from(share)).sum::<u64>() / divisor(shares).max(1)
}

fn divisor(shares: &[u16]) -> u64 {
    let of_two = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    shares.iter().fold(0, |divisor, &share| of_two(divisor, u64::from(share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_divided_by_what_divides_all_of_them() {
        let periods =
            [(&[70, 10, 10, 10][..], 10), (&[3, 3, 3], 3), (&[0, 5], 1), (&[0, 0], 0), (&[61, 13], 74)];
        periods.into_iter().for_each(|(shares, stripes)| assert_eq!(period(shares), stripes, "{shares:?}"));
    }

    #[test]
    fn a_member_has_as_many_stripes_of_a_period_as_its_share() {
        let shares = Shares::new(&[4, 0, 2], [2, 1, 0].into_iter());
        assert_eq!((0..6).map(|stripe| shares.p(stripe)).collect::<Vec<_>>(), [2, 0, 0, 2, 0, 0]);
        let pattern = |member| {
            let ParityPattern { phase, period, run } = shares.pattern(DeviceId(member));
            (phase, period, run)
        };
        assert_eq!([0, 1, 2].map(pattern), [(2, 3, 2), (2, 3, 0), (0, 3, 1)]);
    }
}
