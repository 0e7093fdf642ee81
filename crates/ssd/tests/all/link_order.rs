//! Who is first at a die when the data of a write is on the link? Not ready at t - 1, ready at t.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::LinkOrder;
use harmonia_ssd::{Allocation, Amount, SsdConfig};
use harmonia_types::{Blame, Operation};

fn in_order(mut config: SsdConfig, order: LinkOrder) -> SsdConfig {
    config.link.order = order;
    config
}

#[test]
fn a_read_overtakes_a_write_on_the_link_or_follows_it() {
    // The data of the write is over the link at 70; the read comes at 10.
    for allocation in [Allocation::CWDP, Allocation::Dynamic] {
        let mut config = in_order(one_die(), LinkOrder::Ready);
        config.ftl.allocation = allocation;
        let mut bench = Bench::with(&config, &[&[0, 1]]);
        bench.write(0, 1, 0, 1).read(10, 2, 1, 1);
        bench.known_at(1_310, 2, 1_380, read_blame());
        bench.known_at(6_610, 1, 6_610, Blame { queue_host: 1_240, ..write_blame() });

        config.link.order = LinkOrder::Arrival;
        let mut bench = Bench::with(&config, &[&[0, 1]]);
        bench.write(0, 1, 0, 1).read(10, 2, 1, 1);
        bench.known_at(5_370, 1, 5_370, write_blame());
        bench.known_at(6_670, 2, 6_740, Blame { queue_host: 5_300, link: 60 + LINK, ..read_blame() });
    }
}

#[test]
fn on_another_die_it_waits_for_the_link_alone() {
    for (order, waits) in [(LinkOrder::Ready, 0), (LinkOrder::Arrival, 200)] {
        let mut bench = Bench::with(&in_order(two_dies(), order), &[&[0, 1], &[0, 1]]);
        // Three pages until 210, on die 0; a read and a trim of die 1.
        bench.write(0, 1, 0, 1).write(0, 2, 2, 1).write(0, 3, 4, 1);
        bench.read(10, 4, 1, 1).submit(10, sub(5, Operation::Trim, 3, 1));
        let done = 10 + waits + 1_300;
        bench.known_at(done, 4, done + LINK, Blame { link: waits + LINK, ..read_blame() });
        bench.known_by(done, 5, done, Blame { queue_host: 1_300, link: waits, ..Blame::default() });
        // What is over holds up nobody, nor does data on its way out.
        bench.read(20_000, 6, 1, 1).read(21_310, 7, 0, 1).known_at(22_610, 7, 22_680, read_blame());
    }
}

/// Writes and trims at one die that nothing collects: each completion by the recursion of two queues, link and die.
#[test]
fn with_the_link_in_order_a_die_serves_in_order_of_arrival() {
    let mut config = in_order(one_die(), LinkOrder::Arrival);
    config.geometry.blocks_per_plane = 100;
    config.ftl.reserved_blocks = Amount::Blocks(90);
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3, 4, 5, 6, 7]]);
    let mut rng = Rng::stream(3, "link order");
    let (mut now, mut link, mut die) = (0, 0, 0);
    let mut finishes = Vec::new();
    for token in 0..300 {
        now += if token % 8 == 0 { 60_000 } else { rng.below(60) };
        let is_write = rng.chance(0.5);
        let operation = if is_write { Operation::Write } else { Operation::Trim };
        bench.submit(now, sub(token, operation, rng.below(8), 1));
        link = if is_write { now.max(link) + LINK } else { link };
        die = now.max(link).max(die) + if is_write { 5_300 } else { 0 };
        finishes.push(die);
    }
    bench.advance(now + 10_000_000);
    for (token, finish) in (0..).zip(finishes) {
        let found = bench.find(token).map(|done| done.finish.0);
        assert_eq!(found, Some(finish), "{token}");
    }
}
