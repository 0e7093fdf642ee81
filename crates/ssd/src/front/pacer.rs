//! How fast a write cache takes writes while the drive collects.
//!
//! ```text
//! rate at which dies win pages   1 per period            period = (time of a victim / pages won + time of a page's program) / dies
//! admitted                       a a a a   a   a   a     a page of the flash at once, and then one unit per period
//! ```
//!
//! A cache without a pacer takes writes at the speed of the link until it is full, and then as dies program. With one it takes them at the rate at
//! which collection makes room for them, from the first on. So waits grow little by little towards saturation.
//!
//! The period follows from the victims of late: how long dies worked for them and how many pages they won. A drive that has nothing to collect is
//! not paced.
//!
//! Source: a model that was fitted to measured drives. Its pacer is described by what it does, so the mean over victims and the number of
//! writes that pass at once are ours. Not modelled: that reads take time of dies.

use harmonia_types::{SimDuration, SimTime};

/// Victims over which a mean is taken, about.
const VICTIMS: u64 = 16;

/// Fractions of a nanosecond and of a page are kept.
const FRACTIONS: u64 = 1 << 10;

/// When the next write may be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pacer {
    /// Writes that pass before others have to wait.
    at_once: u32,
    dies: u32,
    /// Of a page of the host. Unit: ns.
    program: SimDuration,
    /// Means of a victim, in fractions: how long dies worked for it, and pages that it won.
    worked: u64,
    won: u64,
    /// Whether something is to be collected.
    is_due: bool,
    period: SimDuration,
    /// When writes that came each a period after the last one would have had the next one's turn.
    turn: SimTime,
}

impl Pacer {
    /// Of a drive with so many dies, which program a page of the host in so much time each.
    pub fn new(dies: u32, program: SimDuration, at_once: u32) -> Pacer {
        Pacer {
            at_once,
            dies,
            program,
            worked: 0,
            won: 0,
            is_due: false,
            period: SimDuration::ZERO,
            turn: SimTime::ZERO,
        }
    }

    /// So many victims have been collected, for which a die worked so long and which won so many pages.
    pub fn note_victims(&mut self, victims: u32, worked: SimDuration, won: u32) {
        let victims = u64::from(victims);
        if victims == 0 {
            return;
        }
        let of = |whole: u64| whole.saturating_mul(FRACTIONS) / victims;
        let (worked, won) = (of(worked.0), of(won.into()));
        let mean = |before: u64, latest: u64| match before {
            0 => latest,
            before => before - before / VICTIMS + latest / VICTIMS,
        };
        (self.worked, self.won) = (mean(self.worked, worked), mean(self.won, won));
        if let Some(of_page) = self.worked.checked_div(self.won) {
            self.period = SimDuration(of_page.saturating_add(self.program.0) / u64::from(self.dies));
        }
    }

    /// Says whether something is to be collected.
    pub fn is_due(&mut self, is_due: bool) {
        self.is_due = is_due;
    }

    /// When the next write may be admitted.
    pub fn admits_at(&self) -> SimTime {
        let ahead = self.period * u64::from(self.at_once.saturating_sub(1));
        if self.is_due { SimTime(self.turn.0.saturating_sub(ahead.0)) } else { SimTime::ZERO }
    }

    /// A write is admitted.
    pub fn admit(&mut self, now: SimTime) {
        self.turn = self.turn.max(now) + self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two dies; a victim takes 900 ns and wins 10 pages, and a page is programmed in 110 ns: a page every 100 ns.
    fn pacer() -> Pacer {
        let mut pacer = Pacer::new(2, SimDuration(110), 4);
        pacer.note_victims(1, SimDuration(900), 10);
        pacer.is_due(true);
        pacer
    }

    /// When writes are admitted that come at these moments.
    fn admitted(pacer: &mut Pacer, arrivals: &[u64]) -> Vec<u64> {
        let admit = |&arrival: &u64| {
            let at = pacer.admits_at().max(SimTime(arrival));
            pacer.admit(at);
            at.0
        };
        arrivals.iter().map(admit).collect()
    }

    #[test]
    fn a_page_of_the_flash_passes_at_once_and_then_one_write_per_period() {
        assert_eq!(admitted(&mut pacer(), &[1_000; 7]), [1_000, 1_000, 1_000, 1_000, 1_100, 1_200, 1_300]);
        assert_eq!(admitted(&mut pacer(), &[0, 100, 200, 300, 400]), [0, 100, 200, 300, 400]);
    }

    #[test]
    fn nothing_waits_where_nothing_is_to_be_collected_or_nothing_has_been() {
        let mut calm = pacer();
        calm.is_due(false);
        assert_eq!(admitted(&mut calm, &[7; 6]), [7; 6]);
        let mut fresh = Pacer::new(2, SimDuration(110), 4);
        fresh.is_due(true);
        assert_eq!(admitted(&mut fresh, &[7; 6]), [7; 6]);
    }

    #[test]
    fn the_period_follows_the_victims() {
        let mut pacer = pacer();
        (0..200).for_each(|_| pacer.note_victims(2, SimDuration(2 * 3_900), 20));
        assert!((248..=250).contains(&pacer.period.0), "(390 + 110) / 2 is not {}", pacer.period);
        // Victims without anything to win are no division by zero.
        let mut none = Pacer::new(1, SimDuration(1), 1);
        none.note_victims(1, SimDuration(u64::MAX), 0);
        none.note_victims(0, SimDuration(5), 5);
        assert_eq!(none.period, SimDuration::ZERO);
    }
}
