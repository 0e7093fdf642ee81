//! Lists of pages that may meet in one program: how many there are, how many the next program takes, and which of them rest.

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// What feeds one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Feeds {
    /// Pages that may be on their way to flash at a time; at least a program.
    pub most: u32,
    /// Pages of a program.
    pub program: u32,
    /// Pages of the least that a program writes: of all of it, or of one plane where the cache drains in part.
    pub part: u32,
    /// Pages that the first one takes, of which the rest was there before.
    pub first: u32,
    /// No other list feeds the same programs. So what one of them leaves is for the next one.
    pub is_alone: bool,
}

impl Feeds {
    /// The list of one place, in whole programs, of which so many pages may be on their way to flash at a time.
    #[cfg(test)]
    pub fn whole(most: u32, program: u32, first: u32) -> Feeds {
        Feeds { most, program, part: program, first, is_alone: true }
    }
}

/// Pages that may meet in one program and wait, oldest first: those of a die, or all where any die may take them.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub head: u32,
    pub tail: u32,
    pub waiting: u32,
    /// Of these, pages that rest until others make up a program with them.
    pub resting: u32,
    /// Of the oldest, pages that have come back and go again at once.
    pub returned: u32,
    /// Handed over and not on flash, with those that their programs lack.
    pub away: u32,
    /// Pages that the next program takes.
    pub takes: u32,
    /// Pages that came before the write of this number do not rest: the program of the last of them is awaited.
    pub urgent: u64,
    pub feeds: Feeds,
    pub is_due: bool,
}

impl List {
    pub fn new(feeds: Feeds) -> List {
        let takes = feeds.first;
        List {
            head: NONE,
            tail: NONE,
            waiting: 0,
            resting: 0,
            returned: 0,
            away: 0,
            takes,
            urgent: 0,
            feeds,
            is_due: false,
        }
    }

    /// Pages that it has to give: a program, or where that is `in_part` what there is of one.
    pub fn has(&self, in_part: bool) -> u32 {
        if self.waiting >= self.takes || in_part { self.takes.min(self.waiting) } else { 0 }
    }

    /// Pages beyond the programs that they make up.
    pub fn beyond(&self) -> u32 {
        let first = match self.takes % self.feeds.part {
            0 => self.feeds.part,
            rest => rest,
        };
        match self.waiting.checked_sub(first) {
            None => self.waiting,
            Some(more) => more % self.feeds.part,
        }
    }

    /// So many pages are handed over for a program.
    pub fn begin_program(&mut self, pages: u32) {
        let left = self.takes.saturating_sub(pages);
        let whole_parts = left - left % self.feeds.part;
        let goes_on = self.feeds.is_alone && pages > 0 && whole_parts > 0;
        self.takes = if goes_on { whole_parts } else { self.feeds.program };
    }
}
