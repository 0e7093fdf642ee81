//! Response times in coarse classes, sixteen an octave, so that each batch can keep its own distribution.
//!
//! A class is known to 4%. That is enough: a batch is asked how many of its requests took longer than a percentile, and of
//! the one class that the percentile lies in every batch counts the same part.

/// Classes an octave, as a power of two.
const PER_OCTAVE_LOG2: u32 = 4;
/// Responses beyond 2^42 ns (73 minutes) share the last class.
const OCTAVES: u32 = 42;
/// How many classes there are.
pub(super) const CLASSES: usize = ((OCTAVES - PER_OCTAVE_LOG2 + 1) << PER_OCTAVE_LOG2) as usize;

/// The class of a response; classes rise with it.
#[inline]
pub(super) fn class_of(ns: u64) -> usize {
    let octave = ns.max(1).ilog2();
    if octave < PER_OCTAVE_LOG2 {
        return ns as usize;
    }
    let shift = octave - PER_OCTAVE_LOG2;
    // The leading one and the bits behind it, from 16 to 31.
    let leading = (ns >> shift) as usize;
    (((shift as usize) << PER_OCTAVE_LOG2) + leading).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_without_gaps() {
        let mut last = 0;
        for ns in 0..100_000 {
            let class = class_of(ns);
            assert!(class == last || class == last + 1, "{ns}: {class} after {last}");
            last = class;
        }
        assert_eq!([class_of(15), class_of(16), class_of(31), class_of(32)], [15, 16, 31, 32]);
        assert_eq!(class_of(u64::MAX), CLASSES - 1);
    }
}
