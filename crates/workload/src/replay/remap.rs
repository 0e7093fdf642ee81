//! What happens to a trace's addresses on an array of another size.
//!
//! - *reject*: a request that ends beyond the array is an error.
//! - *wrap*: the offset modulo the array's size; what would then cross the array's end is cut off, so the request gets
//!   shorter. Requests inside the array are untouched.
//! - *scale*: the page number times array size / trace end, rounded down; the place inside the page and the length
//!   stay, so that an aligned request stays aligned. A request that would cross the end moves down to the last place
//!   it fits. Stretches a smaller trace as it shrinks a larger one. Neighbours overlap when shrunk and come apart when
//!   stretched: sequential runs are not kept.
//!
//! A request longer than the array is an error with any of them. A trim longer than the array trims all of it, except with
//! *reject*. What a trace of several volumes
//! has for addresses is decided before ([`super::volumes`]).

use harmonia_types::{Bytes, Operation};

use crate::{ArrayGeometryForLoad, Remap};

/// The rule, with the sizes it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remapper {
    pub(super) remap: Remap,
    pub(super) array: ArrayGeometryForLoad,
    /// First byte behind the highest address of the trace; needed by `scale` only.
    pub(super) trace_end: Bytes,
}

impl Remapper {
    /// Offset and length on the array of a request of the trace; `length > 0`.
    pub(super) fn place(&self, offset: Bytes, length: Bytes) -> Result<(Bytes, Bytes), String> {
        let size = self.array.logical_bytes;
        if length > size {
            return Err(format!("a request of {length} bytes is larger than the array of {size} bytes"));
        }
        match self.remap {
            Remap::Reject if offset > size - length => Err(format!(
                "a request of {length} bytes at address {offset} ends beyond the array of {size} bytes: \
                 set remap = \"wrap\" or \"scale\", or take a larger array"
            )),
            Remap::Reject => Ok((offset, length)),
            Remap::Wrap => {
                let offset = offset % size;
                Ok((offset, length.min(size - offset)))
            }
            Remap::Scale => Ok((self.scaled(offset, length), length)),
        }
    }

    /// As [`Remapper::place`]. A trim that is longer than the array is one of all of it, unless that is to be refused.
    pub(super) fn place_of(
        &self,
        operation: Operation,
        offset: Bytes,
        length: Bytes,
    ) -> Result<(Bytes, Bytes), String> {
        let size = self.array.logical_bytes;
        if operation == Operation::Trim && length >= size && self.remap != Remap::Reject {
            return Ok((0, size));
        }
        self.place(offset, length)
    }

    /// A placed request widened to whole pages of the array.
    pub(super) fn widened(&self, (offset, length): (Bytes, Bytes)) -> (Bytes, Bytes) {
        let ArrayGeometryForLoad { logical_bytes, page_size, .. } = self.array;
        let start = offset - offset % page_size;
        let end = (offset + length).next_multiple_of(page_size).min(logical_bytes);
        (start, end - start)
    }

    fn scaled(&self, offset: Bytes, length: Bytes) -> Bytes {
        let ArrayGeometryForLoad { logical_bytes: size, page_size, .. } = self.array;
        let inside = offset % page_size;
        let start = u128::from(offset - inside) * u128::from(size) / u128::from(self.trace_end.max(1));
        // At most `size`, as `offset < trace_end`; the limit makes that so for any input.
        let start = start.min(u128::from(size)) as Bytes;
        let placed = start - start % page_size + inside;
        let last = size - length;
        if placed <= last {
            return placed;
        }
        // The last place with the same alignment, or, where there is none, the last.
        let aligned = (last / page_size * page_size).saturating_add(inside);
        if aligned <= last { aligned } else { aligned.checked_sub(page_size).unwrap_or(last) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: Bytes = 1 << 20;

    fn remapper(remap: Remap, logical_bytes: Bytes, trace_end: Bytes) -> Remapper {
        let array = ArrayGeometryForLoad {
            logical_bytes,
            member_bytes: logical_bytes,
            members: 1,
            page_size: 4096,
            scaled_from: None,
        };
        Remapper { remap, array, trace_end }
    }

    #[test]
    fn reject_takes_what_ends_at_the_end_and_nothing_beyond() {
        let reject = remapper(Remap::Reject, MIB, 0);
        assert_eq!(reject.place(MIB - 512, 512), Ok((MIB - 512, 512)));
        let error = reject.place(MIB - 511, 512).unwrap_err();
        assert!(error.contains("at address 1048065 ends beyond the array of 1048576 bytes"), "{error}");
        assert!(reject.place(u64::MAX - 1, 1).is_err());
    }

    #[test]
    fn wrap_folds_and_cuts_at_the_end() {
        let wrap = remapper(Remap::Wrap, MIB, 0);
        assert_eq!(wrap.place(4096, 8192), Ok((4096, 8192)));
        assert_eq!(wrap.place(3 * MIB + 512, 512), Ok((512, 512)));
        assert_eq!(wrap.place(2 * MIB - 1000, 4096), Ok((MIB - 1000, 1000)));
    }

    #[test]
    fn scale_maps_end_to_end_and_keeps_the_place_in_the_page() {
        let halve = remapper(Remap::Scale, MIB, 2 * MIB);
        assert_eq!(halve.place(0, 4096), Ok((0, 4096)));
        assert_eq!(halve.place(MIB, 4096), Ok((MIB / 2, 4096)));
        assert_eq!(halve.place(MIB + 100, 8192), Ok((MIB / 2 + 100, 8192)));
        assert_eq!(halve.place(2 * MIB - 8192, 8192), Ok((MIB - 8192, 8192)));
        assert_eq!(halve.place(2 * MIB - 3596, 3596), Ok((MIB - 3596, 3596)));
        let double = remapper(Remap::Scale, 2 * MIB, MIB);
        assert_eq!(double.place(MIB - 4096, 4096), Ok((2 * MIB - 8192, 4096)));
    }

    #[test]
    fn widened_requests_are_whole_pages_inside_the_array() {
        let rule = remapper(Remap::Reject, MIB, 0);
        assert_eq!(rule.widened((4096, 4096)), (4096, 4096));
        assert_eq!(rule.widened((4095, 2)), (0, 8192));
        assert_eq!(rule.widened((MIB - 1, 1)), (MIB - 4096, 4096));
    }

    #[test]
    fn a_request_larger_than_the_array_fits_nowhere() {
        for remap in [Remap::Reject, Remap::Wrap, Remap::Scale] {
            assert!(
                remapper(remap, MIB, MIB).place(0, MIB + 1).unwrap_err().contains("larger than the array")
            );
        }
    }

    #[test]
    fn a_trim_larger_than_the_array_is_of_all_of_it() {
        for remap in [Remap::Wrap, Remap::Scale] {
            let place = |operation| remapper(remap, MIB, 1 << 40).place_of(operation, 4096, 1 << 31);
            assert_eq!(place(Operation::Trim), Ok((0, MIB)));
            assert!(place(Operation::Write).is_err());
        }
        assert!(remapper(Remap::Reject, MIB, MIB).place_of(Operation::Trim, 0, MIB + 1).is_err());
    }

    proptest! {
        #[test]
        fn what_is_placed_lies_inside(
            pages in 1u64..1000,
            offset in prop_oneof![0u64..10_000_000, any::<u64>()],
            length in 1u64..5_000_000,
            end in prop_oneof![0u64..10_000_000, any::<u64>()],
        ) {
            let offset = offset.min(u64::MAX - length);
            for remap in [Remap::Reject, Remap::Wrap, Remap::Scale] {
                let rule = remapper(remap, pages * 4096, end.max(offset + length));
                match rule.place(offset, length) {
                    Ok((placed, kept)) => {
                        prop_assert!(kept > 0 && kept <= length && placed + kept <= pages * 4096);
                        if remap == Remap::Scale && (offset % 4096) + length <= pages * 4096 {
                            prop_assert_eq!(placed % 4096, offset % 4096);
                        }
                    }
                    Err(_) => prop_assert!(length > pages * 4096 || remap == Remap::Reject),
                }
            }
        }
    }
}
