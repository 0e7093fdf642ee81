//! Sorting lists that are short, or sorted once: a sort that is compiled once.

/// Sorts by two numbers, the second where the first are equal. Items that are equal in both keep their order.
///
/// `sort_by_key` is compiled for every kind of item and key, some 8 KB of code each time. This one is as fast within a
/// factor of two, but needs memory for a copy of the list.
pub fn sort_by_numbers<T>(items: &mut Vec<T>, key: impl Fn(&T) -> (u64, u64)) {
    let mut order: Vec<(u64, u64, usize)> = Vec::with_capacity(items.len());
    order.extend(items.iter().map(key).enumerate().map(|(place, (first, second))| (first, second, place)));
    sort(&mut order);
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.iter().filter_map(|&(_, _, place)| unsorted[place].take()));
}

/// No two are equal, since their places differ.
#[inline(never)]
fn sort(order: &mut [(u64, u64, usize)]) {
    order.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_stable_sort_does() {
        // Keys that are equal, in both or in one of the two numbers, and in no order.
        let items: Vec<u64> = (0..200).map(|k| k * k * 7_919 % 1_009).collect();
        let key = |item: &u64| (item % 5, item % 3);
        let (mut sorted, mut expected) = (items.clone(), items);
        sort_by_numbers(&mut sorted, key);
        expected.sort_by_key(key);
        assert_eq!(sorted, expected);
        sort_by_numbers(&mut Vec::<u64>::new(), key);
    }
}
