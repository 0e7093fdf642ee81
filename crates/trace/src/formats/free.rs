//! Names and numbers for volumes of formats that cannot have those they have: each given out once.
//!
//! As many volumes may want the same one as there are volumes, so none is looked for from the start again.

use std::collections::{BTreeMap, BTreeSet};

/// Names given out.
#[derive(Debug, Default)]
pub(super) struct FreeNames {
    taken: BTreeSet<String>,
    /// What the next that wants a name is numbered with.
    next: BTreeMap<String, u64>,
}

impl FreeNames {
    /// Whether nobody has `name`.
    #[cfg(any(feature = "parquet", test))]
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    /// `name`, or, if it is taken, `name_2`, `name_3` ...: the first that is free.
    pub(super) fn take(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}_{next}");
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Numbers given out.
#[derive(Debug, Default)]
pub(super) struct FreeNumbers {
    /// For each, one before which all are taken.
    taken: BTreeMap<u64, u64>,
}

impl FreeNumbers {
    /// `wanted`, or the first that is free behind it; 0 is behind the last.
    pub(super) fn take(&mut self, wanted: u64) -> u64 {
        let mut free = wanted;
        while let Some(&next) = self.taken.get(&free) {
            free = next;
        }
        let behind = free.wrapping_add(1);
        // Whoever comes this way again is spared the steps.
        let mut at = wanted;
        while let Some(next) = self.taken.insert(at, behind) {
            at = next;
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_taken_name_is_numbered() {
        let mut names = FreeNames::default();
        let given = ["a", "a_3", "a", "a", "a_2", "a"].map(|name| names.take(name.to_owned()));
        assert_eq!(given, ["a", "a_3", "a_2", "a_4", "a_2_2", "a_5"]);
    }

    #[test]
    fn behind_the_last_number_is_0() {
        let mut numbers = FreeNumbers::default();
        assert_eq!([u64::MAX, u64::MAX, 0, u64::MAX].map(|wanted| numbers.take(wanted)), [u64::MAX, 0, 1, 2]);
    }

    proptest! {
        #[test]
        fn a_number_is_the_first_that_is_free(wanted in prop::collection::vec(0u64..40, 1..60)) {
            let (mut numbers, mut slow) = (FreeNumbers::default(), BTreeSet::new());
            for wanted in wanted {
                let first = (wanted..).find(|&number| slow.insert(number));
                prop_assert_eq!(Some(numbers.take(wanted)), first);
            }
        }
    }

    /// Looking from the start each time would take minutes.
    #[test]
    fn as_many_as_there_may_be_take_no_time() {
        let (mut names, mut numbers) = (FreeNames::default(), FreeNumbers::default());
        for index in 0..500_000 {
            names.take("volume".to_owned());
            numbers.take(index / 2);
        }
        assert_eq!(names.take("volume".to_owned()), "volume_500001");
        assert_eq!(numbers.take(0), 500_000);
    }
}
