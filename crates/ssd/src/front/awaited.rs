//! Writes that are answered when their programs have ended: with FUA, where the cache loses what it holds with power.

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

use super::line::InLine;

/// A page of which the host hears when it is on flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
    pub page: InLine,
    /// When it was admitted, and how long it had waited by then for a die that collected, and for the gate.
    pub admitted: SimTime,
    pub collected: SimDuration,
    pub kept: SimDuration,
}

/// Pages whose programs are awaited, in the order in which they were admitted.
#[derive(Debug, Clone, Default)]
pub(super) struct AwaitedPages {
    /// `None` of those that have been answered meanwhile; with the number of the next one in its slot.
    pub pages: VecDeque<Option<(Awaited, u64)>>,
    /// The number of the first.
    pub first: u64,
}

/// No page that is awaited.
pub(super) const NOBODY: u64 = u64::MAX;

impl AwaitedPages {
    /// One more; its number.
    pub fn push(&mut self, page: Awaited) -> u64 {
        self.pages.push_back(Some((page, NOBODY)));
        self.first + self.pages.len() as u64 - 1
    }

    pub fn of(&mut self, number: u64) -> Option<&mut Option<(Awaited, u64)>> {
        self.pages.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The last one in a slot from there on.
    pub fn last(&mut self, mut number: u64) -> u64 {
        while let Some(&mut Some((_, next))) = self.of(number)
            && next != NOBODY
        {
            number = next;
        }
        number
    }

    /// One is answered; with the number of the next one in its slot.
    pub fn take(&mut self, number: u64) -> Option<(Awaited, u64)> {
        let taken = self.of(number)?.take();
        while let Some(None) = self.pages.front() {
            self.pages.pop_front();
            self.first += 1;
        }
        taken
    }
}
