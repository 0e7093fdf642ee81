//! Which bytes of a page a slot holds.
//!
//! A page is looked at in 64 equal pieces, so that writes of parts of it add up. Of writes whose edges lie within a piece it may be said
//! that they leave out more than they do; one write by itself is known to the byte.

/// Which bytes of a page were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    /// A bit for every piece that is written as a whole.
    pieces: u64,
    /// Unit: bytes.
    left_out: u32,
}

impl Written {
    /// The bytes `from..to` of a page of `page` bytes.
    pub fn of(from: u32, to: u32, page: u32) -> Written {
        let piece = page / 64;
        let (first, end) = (from.div_ceil(piece), to / piece);
        let below = |piece: u32| if piece >= 64 { u64::MAX } else { (1 << piece) - 1 };
        let pieces = if first < end { below(end) & !below(first) } else { 0 };
        Written { pieces, left_out: page - (to - from) }
    }

    /// Another write goes over it.
    pub fn add(&mut self, other: Written, page: u32) {
        self.pieces |= other.pieces;
        let missing = (64 - self.pieces.count_ones()) * (page / 64);
        self.left_out = self.left_out.min(other.left_out).min(missing);
    }

    /// Bytes of the page that nobody wrote.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Whether all of the page is there.
    pub fn is_whole(&self) -> bool {
        self.left_out == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 16_384;

    #[test]
    fn a_write_by_itself_is_known_to_the_byte() {
        for (from, to) in [(0, PAGE), (0, 1), (5, 6), (1, PAGE), (4_096, 8_192), (PAGE - 3, PAGE)] {
            let written = Written::of(from, to, PAGE);
            assert_eq!(written.left_out(), PAGE - (to - from), "{from}..{to}");
            assert_eq!(written.is_whole(), (from, to) == (0, PAGE));
        }
    }

    #[test]
    fn parts_add_up_to_a_page_in_any_order_and_twice_is_once() {
        let quarter = |number: u32| Written::of(number * 4_096, (number + 1) * 4_096, PAGE);
        let mut written = quarter(2);
        let left: Vec<u32> = [0, 2, 3, 1]
            .map(|number| {
                written.add(quarter(number), PAGE);
                written.left_out()
            })
            .into();
        assert_eq!(left, [8_192, 8_192, 4_096, 0]);
        assert!(written.is_whole());
    }

    #[test]
    fn edges_within_a_piece_count_as_left_out() {
        // A piece is 256 bytes.
        let mut written = Written::of(0, 300, PAGE);
        written.add(Written::of(300, PAGE, PAGE), PAGE);
        assert_eq!(written.left_out(), 256);
        assert!(!written.is_whole());
    }
}
