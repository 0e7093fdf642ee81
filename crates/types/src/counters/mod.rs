//! Numbers that a run counts: each is declared once, and all that is done with it comes from there.
//!
//! A declaration says what a number is called, what it means, how readings of it are combined, and its unit:
//!
//! ```
//! harmonia_types::counters! {
//!     /// What a shop has counted.
//!     pub struct ShopCounters {
//!         /// Customers that came in.
//!         pub customers: u64 = Sum, "count";
//!         /// Most that were there at one time.
//!         pub crowd: u64 = Peak, "count";
//!     }
//! }
//! use harmonia_types::Counters;
//! let (noon, evening) = (ShopCounters { customers: 7, crowd: 3 }, ShopCounters { customers: 9, crowd: 4 });
//! assert_eq!(evening.since(&noon), ShopCounters { customers: 2, crowd: 4 });
//! assert_eq!(ShopCounters::TABLE[1].meaning(), "Most that were there at one time.");
//! ```
//!
//! From it come the field with its documentation, the key of the JSON, [windows](Counters::since),
//! [sums](Counters::add) over devices, [means](Counters::mean) over seeds, and the [table](Counters::TABLE) from which
//! `docs/files.md` is made. So a new counter is its declaration and the place that counts.
//!
//! [`array`](mod@self::array) has what arrays count, [`device`](mod@self::device) what devices count. Reports have these structs
//! as they are: nobody converts.

pub mod array;
pub mod device;

use crate::SimDuration;

/// How readings of a number become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combines {
    /// It counts on: a window is the difference of two readings, several devices have the sum.
    Sum,
    /// A maximum: whoever counts it begins anew with the window, or it is that of the whole run. Several devices have the largest.
    Peak,
    /// How something stands: a window ends with the later reading.
    Latest,
    /// Not a number, but a struct or list of them: each by its own declaration.
    Each,
}

/// The declaration of a number.
#[derive(Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the field, and its key in the JSON.
    pub name: &'static str,
    /// The name with the unit behind it, as columns have it: `queue_gc_ns`.
    pub column: &'static str,
    /// What tables call it.
    pub words: &'static str,
    /// What one of it is: `pages`, `bytes`, `ns`, `count`. Empty for a struct of numbers.
    pub unit: &'static str,
    /// The lines of its documentation, as they were written.
    pub lines: &'static [&'static str],
    /// How readings of it become one.
    pub combines: Combines,
}

impl Counter {
    /// What it means, in one line.
    pub fn meaning(&self) -> String {
        self.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// What was counted between two readings.
    #[inline]
    fn since(&self, now: u128, then: u128) -> u128 {
        match self.combines {
            Combines::Sum | Combines::Each => now
                .checked_sub(then)
                .unwrap_or_else(|| panic!("{}: a counter must never run backwards", self.name)),
            Combines::Peak | Combines::Latest => now,
        }
    }

    /// What two devices have together.
    #[inline]
    fn together(&self, one: u128, other: u128) -> u128 {
        if self.combines == Combines::Peak { one.max(other) } else { one.saturating_add(other) }
    }
}

/// Makes one number of two that were declared so.
pub trait Combine: FnMut(&'static Counter, u128, u128) -> u128 {}

impl<F: FnMut(&'static Counter, u128, u128) -> u128> Combine for F {}

/// What a counter can be: a number, or several.
pub trait Number: Sized {
    /// Nothing counted.
    const ZERO: Self;

    /// Takes every number of it and of `other` to what `combine` makes of them. `of` declares it.
    fn zip(&mut self, other: &Self, of: &'static Counter, combine: &mut impl Combine);
}

impl Number for u128 {
    const ZERO: Self = 0;

    #[inline]
    fn zip(&mut self, other: &Self, of: &'static Counter, combine: &mut impl Combine) {
        *self = combine(of, *self, *other);
    }
}

/// What is too large for it stays at the largest.
impl Number for u64 {
    const ZERO: Self = 0;

    #[inline]
    fn zip(&mut self, other: &Self, of: &'static Counter, combine: &mut impl Combine) {
        *self = u64::try_from(combine(of, (*self).into(), (*other).into())).unwrap_or(u64::MAX);
    }
}

impl Number for SimDuration {
    const ZERO: Self = SimDuration::ZERO;

    #[inline]
    fn zip(&mut self, other: &Self, of: &'static Counter, combine: &mut impl Combine) {
        self.0.zip(&other.0, of, combine);
    }
}

impl<T: Number, const N: usize> Number for [T; N] {
    const ZERO: Self = [T::ZERO; N];

    #[inline]
    fn zip(&mut self, other: &Self, of: &'static Counter, combine: &mut impl Combine) {
        self.iter_mut().zip(other).for_each(|(own, other)| own.zip(other, of, combine));
    }
}

/// A struct of numbers, as [`counters!`](macro@crate::counters) makes it.
pub trait Counters: Number + Copy + Default + 'static {
    /// Its declarations, in the order of its fields.
    const TABLE: &'static [Counter];

    /// What was counted after `start`.
    ///
    /// # Panics
    /// If a number that counts on is below its value at `start`.
    #[must_use]
    fn since(&self, start: &Self) -> Self {
        let mut window = *self;
        window.zip(start, &WHOLE, &mut |counter, now, then| counter.since(now, then));
        window
    }

    /// Adds what another device has counted.
    #[inline]
    fn add(&mut self, other: &Self) {
        self.zip(other, &WHOLE, &mut |counter, own, other| counter.together(own, other));
    }

    /// Adds what was counted so many times over: of numbers that count on.
    fn add_times(&mut self, other: &Self, times: u64) {
        self.zip(other, &WHOLE, &mut |_, own, other| own.saturating_add(other.saturating_mul(times.into())));
    }

    /// The mean of each number, rounded; zeros of nothing.
    fn mean<'a>(of: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0);
        for one in of {
            sum.zip(one, &WHOLE, &mut |_, sum, number| sum.saturating_add(number));
            count += 1;
        }
        let same = sum;
        sum.zip(&same, &WHOLE, &mut |_, sum, _| (2 * sum + count) / (2 * count).max(1));
        sum
    }

    /// Goes through all numbers with their declarations, in order; those of structs and lists one by one.
    #[inline]
    fn each(&self, mut number: impl FnMut(&'static Counter, u128)) {
        let mut same = *self;
        same.zip(self, &WHOLE, &mut |counter, own, _| {
            number(counter, own);
            own
        });
    }

    /// All numbers with their declarations, as [`each`](Self::each) has them.
    fn values(&self) -> Vec<(&'static Counter, u128)> {
        let mut values = Vec::new();
        self.each(|counter, number| values.push((counter, number)));
        values
    }
}

/// Declares a struct as a whole.
const WHOLE: Counter =
    Counter { name: "", column: "", words: "", unit: "", lines: &[], combines: Combines::Each };

/// Declares structs of numbers; see [the module](mod@crate::counters).
///
/// A field is `name: Type = Combines, "unit" as "words of tables", [serde(..)];`. Everything behind the type may be left out of a struct
/// of numbers, the words where they are the name, and what serde should know where there is nothing.
#[macro_export]
macro_rules! counters {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $line:literal])+ $of:vis $field:ident: $type:ty
            $(= $combines:ident, $unit:literal)? $(as $words:literal)? $(, [$($serde:meta),+])?;)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default)]
        $vis struct $name {
            $($(#[doc = $line])+ $(#[doc = concat!(" Unit: ", $unit, ".")])? $($(#[$serde])+)? $of $field: $type,)+
        }

        impl $crate::Number for $name {
            const ZERO: Self = $name { $($field: <$type as $crate::Number>::ZERO),+ };

            #[inline]
            fn zip(
                &mut self,
                other: &Self,
                _: &'static $crate::Counter,
                combine: &mut impl $crate::Combine,
            ) {
                let [$($field),+] = <Self as $crate::Counters>::TABLE else { unreachable!("a line a field") };
                $($crate::Number::zip(&mut self.$field, &other.$field, $field, combine);)+
            }
        }

        impl $crate::Counters for $name {
            const TABLE: &'static [$crate::Counter] = &[$($crate::Counter {
                name: stringify!($field),
                column: concat!(stringify!($field) $(, "_", $unit)?),
                words: [$($words,)? stringify!($field)][0],
                unit: [$($unit,)? ""][0],
                lines: &[$($line),+],
                combines: [$($crate::Combines::$combines,)? $crate::Combines::Each][0],
            }),+];
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;

    counters! {
        /// Each kind of number.
        struct Shop {
            /// Customers
            /// that came.
            customers: u64 = Sum, "count";
            /// Most at one time.
            crowd: u64 = Peak, "count" as "most at once";
            /// How long they stayed.
            stay: SimDuration = Sum, "ns";
            /// Goods left.
            left: u128 = Latest, "goods";
            /// Of each till.
            tills: [Till; 2];
        }

        /// A struct within.
        struct Till {
            /// Money taken.
            taken: u64 = Sum, "cents";
        }
    }

    fn shop(numbers: [u64; 6]) -> Shop {
        let [customers, crowd, stay, left, one, other] = numbers;
        let tills = [Till { taken: one }, Till { taken: other }];
        Shop { customers, crowd, stay: SimDuration(stay), left: left.into(), tills }
    }

    #[test]
    fn a_window_is_a_difference_or_how_things_stand() {
        let (then, now) = (shop([1, 9, 3, 4, 5, 6]), shop([10, 2, 30, 3, 50, 60]));
        assert_eq!(now.since(&then), shop([9, 2, 27, 3, 45, 54]));
    }

    #[test]
    #[should_panic(expected = "stay: a counter must never run backwards")]
    fn a_counter_that_runs_backwards_is_found() {
        let _ = shop([10, 2, 2, 0, 0, 0]).since(&shop([1, 9, 3, 0, 0, 0]));
    }

    #[test]
    fn several_devices_have_sums_the_largest_maximum_and_no_overflow() {
        let mut both = shop([1, 9, u64::MAX, 4, 5, 6]);
        both.add(&shop([10, 2, 30, 3, 50, 60]));
        assert_eq!(both, shop([11, 9, u64::MAX, 7, 55, 66]));
    }

    #[test]
    fn what_is_counted_many_times_over_is_not_added_one_by_one() {
        let mut all = shop([1, 9, 3, 4, 5, u64::MAX]);
        all.add_times(&shop([2, 0, 0, 1, 3, 4]), 1 << 40);
        assert_eq!(all, shop([1 + (2 << 40), 9, 3, 4 + (1 << 40), 5 + (3 << 40), u64::MAX]));
    }

    #[test]
    fn seeds_have_means_that_are_rounded() {
        let seeds = [shop([1, 1, 3, 4, 5, 6]), shop([2, 2, 3, 5, 0, 7])];
        assert_eq!(Shop::mean(&seeds), shop([2, 2, 3, 5, 3, 7]));
        assert_eq!((Shop::mean(&[]), Shop::ZERO), (Shop::default(), Shop::default()));
    }

    #[test]
    fn the_declaration_has_what_was_written() {
        let [customers, crowd, stay, _, tills] = Shop::TABLE else { panic!("a line a field") };
        assert_eq!((customers.meaning(), customers.words), ("Customers that came.".into(), "customers"));
        assert_eq!((crowd.words, stay.column, stay.unit), ("most at once", "stay_ns", "ns"));
        assert_eq!((tills.combines, tills.unit), (Combines::Each, ""));
        let values = shop([1, 2, 3, 4, 5, 6]).values();
        let expected = [("customers", 1), ("crowd", 2), ("stay", 3), ("left", 4), ("taken", 5), ("taken", 6)];
        assert_eq!(values.iter().map(|(of, number)| (of.name, *number)).collect::<Vec<_>>(), expected);
        let text = serde_json::to_string(&shop([1, 2, 3, 4, 5, 6])).expect("JSON");
        let json = r#"{"customers":1,"crowd":2,"stay":"3ns","left":4,"tills":[{"taken":5},{"taken":6}]}"#;
        assert_eq!(text, json);
    }
}
