//! How much room GAFTL needs: stripes kept free, and spare space that keeps collections short.

use super::super::Finding;
use super::super::write::{Reader, Shape, count, entry, head, line, ms};
use super::{by_point, pairs};
use crate::claims::Unit;
use crate::claims::gaftl::{FILLS_OF, POLICIES, RESERVES_OF, at, unaware_over_gaftl};
use crate::measure::Quantity::{Counted, Erases, Mean, MembersInGc};
use crate::measure::ratio;

const FILLS: [&str; 4] = ["70", "85", "100", "100-filled"];
const FILL_SIZES: [&str; 2] = ["4kB", "10kB"];
const RESERVES: [&str; 4] = ["256", "1024", "4096", "16384"];
const RESERVE_LOADS: [&str; 4] = ["4kB", "10kB", "10kB-3ms", "postmark"];

pub(super) fn reserves(reader: &Reader<'_>) -> Finding {
    let gain = |load: &str, stripes: &str| unaware_over_gaftl(RESERVES_OF, &format!("{load}/{stripes}"));
    let full = |load: &str, stripes: &str| {
        at(Counted("waits_full"), RESERVES_OF, &format!("{load}/{stripes}"), "gaftl")
    };
    let mut table = head(&[
        "load and free stripes",
        "unaware, ms",
        "gaftl, ms",
        "unaware / gaftl",
        "no free stripe",
        "displaced",
        "home by a write",
        "home in idle time",
        "erases, gaftl / unaware",
    ]);
    for point in pairs(&RESERVE_LOADS, &RESERVES) {
        let of = |name| at(Counted(name), RESERVES_OF, &point, "gaftl");
        let means = ["unaware", "gaftl"].map(|policy| ms(reader, &at(Mean, RESERVES_OF, &point, policy)));
        let counts =
            ["waits_full", "displaced", "home_by_write", "home_in_idle"].map(|name| count(reader, &of(name)));
        let erases = ratio(Erases, RESERVES_OF, &format!("{point}/gaftl"), &format!("{point}/unaware"));
        let gain = entry(reader, &unaware_over_gaftl(RESERVES_OF, &point), Unit::Times);
        let cells = [point.clone()].into_iter().chain(means).chain([gain]).chain(counts);
        line(&mut table, cells.chain([entry(reader, &erases, Unit::Times)]));
    }
    Finding {
        id: "gaftl-reserve",
        question: "How many stripes does GAFTL have to keep free?".into(),
        text: format!(
            "Configuration D keeps 1,024 stripes free, which is invented. With 10 kB an unaware array takes {} as long as GAFTL \
             with them and {} with 16,384, which is 15% of a member. Under the stand-in for Postmark it takes {} and {}. Free \
             stripes are spare space under every policy, so an unaware array gets faster with them, too. A free stripe is taken \
             until its data is written again, or is brought home while no request is under way. This sweep was added after the \
             claims had been measured; the verdicts are those of 1,024. Where requests of 10 kB come every 3 ms (*10kB-3ms*), {} \
             rows found no free stripe.",
            reader.say(&gain("10kB", "1024"), Unit::Times),
            reader.say(&gain("10kB", "16384"), Unit::Times),
            reader.say(&gain("postmark", "1024"), Unit::Times),
            reader.say(&gain("postmark", "16384"), Unit::Times),
            count(reader, &full("10kB-3ms", "1024")),
        ),
        conclusions: vec![(
            reader.above(&full("10kB", "16384"), 0.0)
                && reader.above(&full("postmark", "16384"), 0.0)
                && reader.below(&full("4kB", "256"), 1.0),
            "More free stripes are no way out. With 4 kB, 256 are never all taken. With 10 kB every ms and under Postmark even 16,384 \
             are, because data does not come home as fast as it is displaced: hardly a moment passes in which no request is under way."
                .into(),
        )],
        figures: vec![reader.chart(
            &Shape::lines("Mean of an unaware array over GAFTL's", "free stripes", "times").scaled(1.0).reference(1.0),
            &RESERVES,
            &RESERVE_LOADS,
            gain,
        )],
        table,
        ..Finding::default()
    }
}

pub(super) fn fills(reader: &Reader<'_>) -> Finding {
    let busy = |point: &str, policy| at(MembersInGc, FILLS_OF, point, policy);
    let n = |point: &str| at(Counted("entered_n"), FILLS_OF, point, "gaftl");
    let mut table =
        by_point(reader, Mean, FILLS_OF, "in use, per cent, and size", &pairs(&FILLS, &FILL_SIZES));
    table.push('\n');
    table.push_str(&head(&[
        "in use, per cent, and size",
        "n x g, unaware",
        "n x g, gaftl",
        "no free stripe",
        "state N",
    ]));
    for point in pairs(&FILLS, &FILL_SIZES) {
        let shares = ["unaware", "gaftl"].map(|policy| entry(reader, &busy(&point, policy), Unit::Plain));
        let full = count(reader, &at(Counted("waits_full"), FILLS_OF, &point, "gaftl"));
        line(&mut table, [point.clone()].into_iter().chain(shares).chain([full, count(reader, &n(&point))]));
    }
    Finding {
        id: "gaftl-fill",
        question: "How full may members be that collect in turn?".into(),
        text: format!(
            "In configuration D 70% of the space holds data. In a full array that has been overwritten until collection is steady, {} \
             members of an unaware array collect at a time at 4 kB, on average. *100-filled* was filled once and never overwritten, as the \
             paper's simulator starts; its collection has not settled.",
            reader.say(&busy("100/4kB", "unaware"), Unit::Plain),
        ),
        conclusions: vec![
            (
                reader.above(&busy("100/4kB", "unaware"), 1.0) && reader.above(&n("100/4kB"), 0.0),
                "In a full array members cannot take turns at this load: more than one has to collect at a time. GAFTL then \
                 falls back on collection without turns again and again, and gains little."
                    .into(),
            ),
            (
                reader.above(&n("100-filled/4kB"), 0.0),
                format!(
                    "An array that was only filled does not fit the paper either. With 4 kB it has several members that must \
                     collect at once {} times (state N), which the paper never saw.",
                    count(reader, &n("100-filled/4kB")),
                ),
            ),
        ],
        figures: vec![reader.chart(
            &Shape::lines("Mean of 4 kB requests by share of the space in use", "in use, per cent", "ms").log(),
            &FILLS,
            &POLICIES,
            |policy, fill| at(Mean, FILLS_OF, &format!("{fill}/4kB"), policy),
        )],
        table,
        ..Finding::default()
    }
}
