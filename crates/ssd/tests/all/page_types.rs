//! How long does a page take whose cells hold several? Not ready at t - 1, ready at t.
//!
//! ```text
//! offset 0, 2   tR 1,000   tPROG 5,000      offset 1, 3   tR 2,000   tPROG 9,000
//! ```

use crate::bench::*;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::SsdConfig;
use harmonia_types::{Blame, SimDuration, SimTime};

fn times(times: &[u64]) -> PageTimes {
    let times: Vec<SimDuration> = times.iter().copied().map(SimDuration).collect();
    PageTimes::by_type(&times).unwrap()
}

fn mlc(mut config: SsdConfig) -> SsdConfig {
    config.timing.read = times(&[1_000, 2_000]);
    config.timing.program = times(&[5_000, 9_000]);
    config
}

#[test]
fn a_read_takes_the_time_of_the_page_that_it_finds() {
    let mut bench = Bench::with(&mlc(one_die()), &[&[0, 1, 2]]);
    bench.read(0, 1, 0, 1).known_at(1_300, 1, 1_370, read_blame());
    bench.read(10_000, 2, 1, 1).known_at(12_300, 2, 12_370, Blame { service: 2_000, ..read_blame() });
    // Written again, page 1 lies at offset 3.
    bench.write(20_000, 3, 1, 1).known_at(29_370, 3, 29_370, Blame { service: 9_000, ..write_blame() });
    bench.read(30_000, 4, 1, 1).known_at(32_300, 4, 32_370, Blame { service: 2_000, ..read_blame() });
    // Slowed down, each takes so many times its own.
    bench.device.slow_down(SimTime(40_000), 3.0);
    bench.read(40_000, 5, 1, 1).known_at(46_300, 5, 46_370, Blame { service: 6_000, ..read_blame() });
}

#[test]
fn a_write_takes_the_time_of_the_page_that_it_gets() {
    let mut bench = Bench::empty(&mlc(one_die()));
    bench.write(0, 1, 7, 1).known_at(5_370, 1, 5_370, write_blame());
    bench.write(10_000, 2, 3, 1).known_at(19_370, 2, 19_370, Blame { service: 9_000, ..write_blame() });
    // The rest of page 3 is read from offset 1, and goes to offset 2.
    let blame = Blame { service: 2_000 + 5_000, transfer: 600, ..write_blame() };
    bench.submit(20_000, partial(3, 3)).known_at(27_670, 3, 27_670, blame);
}

#[test]
fn planes_work_together_at_one_offset() {
    let mut config = mlc(planes(2));
    config.ftl.multi_plane = true;
    let mut bench = Bench::with(&config, &[&[0, 1, 2], &[0, 1, 2]]);
    // Page 4 of plane 0 keeps the die until 1,300; pages 2 and 3 lie at offset 1.
    bench.read(0, 1, 4, 1).read(100, 2, 2, 1).read(100, 3, 3, 1);
    bench.known_at(3_600, 2, 3_670, Blame { service: 2_000, queue_host: 1_200, ..read_blame() });
    bench.known_at(3_900, 3, 3_970, Blame { service: 2_000, queue_host: 1_500, ..read_blame() });
    // Two writes at offset 3: transfers until 20,670, then 9,000.
    bench.write(20_000, 4, 0, 1).write(20_000, 5, 1, 1);
    bench.advance(40_000);
    assert_eq!([4, 5].map(|token| bench.find(token).unwrap().blame.service), [9_000, 9_000]);
}

/// The victim holds one page, at offset 3, which goes to offset 1.
#[test]
fn collection_reads_and_programs_as_long_as_its_pages_take() {
    for schedule in ["blocking", "io-parallel", "preemptive", "preemptive-io-parallel"] {
        for (copyback, transfers) in [(Copyback::Die, 0), (Copyback::None, 600)] {
            for own_pins in [true, false] {
                let mut config = mlc(one_die());
                config.gc.schedule = schedule.into();
                config.timing.copyback = copyback;
                config.geometry.own_pins = own_pins;
                let intervals = Bench::aged(&config, &[0]).read(0, 1, 0, 1).collected();
                let expected = (0, 2_000 + 9_000 + 20_000 + transfers);
                assert_eq!(intervals[0], expected, "{schedule}, {copyback:?}, own pins: {own_pins}");
            }
        }
    }
}

/// Pages 0 to 5 of the first type, 6 and 7 of the second, and then two of each in turn.
#[test]
fn pages_of_three_bits_follow_their_order() {
    let mut config = one_die();
    config.geometry.pages_per_block = 20;
    config.timing.program = times(&[5_000, 7_000, 9_000]);
    let mut bench = Bench::empty(&config);
    for page in 0..20 {
        bench.write(u64::from(page) * 10_000, page, page.into(), 1);
    }
    bench.advance(1_000_000);
    let service = |page| bench.find(page).unwrap().blame.service / 1_000;
    let took: Vec<u64> = (0..20).map(service).collect();
    assert_eq!(took, [5, 5, 5, 5, 5, 5, 7, 7, 5, 5, 7, 7, 9, 9, 5, 5, 7, 7, 9, 9]);
}
