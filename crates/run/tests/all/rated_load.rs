//! Is the built-in load by which endurance is rated the one that JESD219 describes?

use std::collections::BTreeMap;

use harmonia_scenario::Scenario;
use harmonia_types::{Operation, SimTime};
use harmonia_workload::{ArrayGeometryForLoad, Next};

const UNIT: u64 = 4096;

/// Shares of sizes and places within half a point, and so many units for the bytes of the host.
#[test]
fn sizes_and_places_are_those_of_the_standard() {
    let scenario = Scenario::load("jesd219", &[], None).unwrap_or_else(|error| panic!("{error}"));
    let logical_bytes = 100_000 * UNIT;
    let geometry = ArrayGeometryForLoad {
        logical_bytes,
        member_bytes: logical_bytes,
        members: 1,
        page_size: UNIT,
        scaled_from: None,
    };
    let mut source = scenario.workload.prepare(&geometry).unwrap().source(scenario.seed).unwrap();
    let (mut sizes, mut zones, mut units, mut bytes) = (BTreeMap::new(), [0_u32; 3], 0, 0);
    let requests = 100_000;
    for _ in 0..requests {
        let Ok(Next::At(request)) = source.next(SimTime::ZERO, &[]) else { panic!("it goes on") };
        assert_eq!((request.operation, request.offset % UNIT), (Operation::Write, 0));
        *sizes.entry(request.length).or_insert(0_u32) += 1;
        let place = request.offset as f64 / logical_bytes as f64;
        zones[usize::from(place >= 0.05) + usize::from(place >= 0.2)] += 1;
        units += request.length.div_ceil(UNIT);
        bytes += request.length;
    }
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(requests);
    let sectors = [(1, 4.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 1.0), (6, 1.0), (7, 1.0), (8, 67.0)];
    let wanted = sectors.into_iter().chain([(16, 10.0), (32, 7.0), (64, 3.0), (128, 3.0)]);
    let wanted: BTreeMap<u64, f64> = wanted.map(|(sectors, share)| (sectors * 512, share)).collect();
    assert!(sizes.keys().eq(wanted.keys()), "{sizes:?}");
    for (size, share) in wanted {
        assert!((percent(sizes[&size]) - share).abs() < 0.5, "{size} bytes: {}", percent(sizes[&size]));
    }
    for (zone, share) in zones.into_iter().zip([50.0, 30.0, 20.0]) {
        assert!((percent(zone) - share).abs() < 0.5, "{zones:?}");
    }
    // 1.97 units and 7,818.24 bytes a request: 1.0321 bytes of units for one of the host.
    assert_eq!((units, bytes), (197_000, 781_824_000));
}
