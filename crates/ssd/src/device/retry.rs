//! Pages that a die reads again, because what it read could not be corrected.
//!
//! ```text
//! [array tR][again][again][page out]        each attempt is followed by another with the same probability
//! ```
//!
//! Every page that is read draws for itself, whoever it is read for: the host, the RAID array, or collection. Dies draw from streams of their own, named
//! after the drive and the die, so that members differ and what one die reads changes nothing on another. Planes that are read by one
//! command work side by side: the command takes as long as the page that needs most attempts.
//!
//! Source: ours; a geometric law is the simplest that has a far tail. Not modelled: that retries become more likely with wear, with time
//! since the program, with reads of neighbours and with the type of the page, and that a drive remembers what helped.

use harmonia_engine::Rng;
use harmonia_types::{SimDuration, SimTime};

use super::Device;
use crate::block::BlockId;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Which of its pages are read again depends on this seed from now on, and on its number among the drives of the array, if
    /// [pages are](harmonia_flash::ReadRetry).
    pub fn retry_reads(&mut self, seed: u64, drive: u16) {
        let dies = if self.rules.timing.read_retry.is_off() { 0 } else { self.rules.shape.dies };
        let of_die = |die: u32| Rng::at(seed, "read-retry", &[drive.into(), die.into()]);
        self.retries = (0..dies).map(of_die).collect();
    }

    /// How long the array of a die reads a page of a block, further attempts included.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn read_time(&mut self, die: u32, place: (BlockId, u32), now: SimTime) -> SimDuration {
        if !self.rules.by_page {
            return self.rules.only_read_time();
        }
        let once = self.rules.read_time(place, now);
        if self.retries.is_empty() { once } else { self.read_again(die, once, 1) }
    }

    /// How long that of the pages of a command takes which planes read side by side.
    pub(super) fn read_time_of_parts(
        &mut self,
        die: u32,
        place: (BlockId, u32),
        now: SimTime,
    ) -> SimDuration {
        let once = self.rules.read_time(place, now);
        if self.retries.is_empty() {
            return once;
        }
        let pages = self.dies[die as usize].parts.iter().filter(|part| !part.rides).count();
        self.read_again(die, once, pages)
    }

    /// How long a read of so many pages takes, of which the first attempt takes `once`.
    #[cold]
    pub(super) fn read_again(&mut self, die: u32, once: SimDuration, pages: usize) -> SimDuration {
        let Some(rng) = self.retries.get_mut(die as usize) else { return once };
        let retry = &self.rules.timing.read_retry;
        let mut longest = 0;
        for _ in 0..pages {
            let mut attempts = 0;
            while rng.chance(retry.probability) {
                attempts += 1;
            }
            longest = longest.max(attempts);
            self.counters.inside.read_retries += attempts;
        }
        once + retry.step.unwrap_or(once) * longest
    }
}
