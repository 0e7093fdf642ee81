use harmonia_types::{DeviceId, GcWait};

use super::*;

/// The longest wait is told; of equal ones the later, whose chain goes on.
#[test]
fn of_two_chains_the_longer_wait_for_collection_is_told() {
    let chain = |wait: Option<(u16, u64)>| {
        let mut chain = Chain::default().at(0);
        chain.gc_wait = wait.map(|(member, ns)| GcWait { member: DeviceId(member), ns });
        chain
    };
    for (first, then, told) in [
        (None, None, None),
        (Some((1, 10)), None, Some((1, 10))),
        (None, Some((2, 10)), Some((2, 10))),
        (Some((1, 11)), Some((2, 10)), Some((1, 11))),
        (Some((1, 10)), Some((2, 11)), Some((2, 11))),
        (Some((1, 10)), Some((2, 10)), Some((2, 10))),
    ] {
        let whole = chain(first).followed_by(&chain(then));
        assert_eq!(whole.gc_wait, chain(told).gc_wait, "{first:?}, then {then:?}");
    }
}
