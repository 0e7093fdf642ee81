//! How members age where parity is spread unevenly, and where it moves away from members that collect.

use super::super::Finding;
use super::super::write::{Reader, Shape, count, entry, head, line};
use crate::claims::Unit;
use crate::claims::gaftl::{AGES_OF, MIGRATIONS};
use crate::measure::Quantity::{Age, Counted, ParityShare};
use crate::measure::{Measure, Quantity};

/// Slots by age, and replacements as the figures have them.
const SLOTS: [&str; 5] = ["oldest", "second", "third", "fourth", "youngest"];
const REPLACEMENTS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

pub(super) fn finding(reader: &Reader<'_>) -> Finding {
    let of = |quantity, migration: &str| Measure::Of(quantity, AGES_OF, migration.to_owned());
    let say = |quantity: Quantity, migration| reader.say(&of(quantity, migration), Unit::Percent);
    let drawn = |title, migration: &'static str| {
        let shape = Shape::lines(title, "replacement", "age, per cent of a life").scaled(1.0);
        reader.chart(&shape, &REPLACEMENTS, &SLOTS, |slot, replacement| {
            let at = |names: &[&str], name| names.iter().position(|known| *known == name).unwrap_or(0);
            of(Age(at(&SLOTS, slot), at(&REPLACEMENTS, replacement) + 1), migration)
        })
    };
    let columns =
        ["migration", "parity of the oldest", "of the second", "age of the second at replacement 1"];
    let later = ["2", "3", "5", "10", "moved away", "moved back"];
    let mut table = head(&[columns.as_slice(), later.as_slice()].concat());
    for migration in MIGRATIONS {
        let figures =
            [ParityShare(0), ParityShare(1), Age(1, 1), Age(1, 2), Age(1, 3), Age(1, 5), Age(1, 10)];
        let cells = figures.map(|quantity| entry(reader, &of(quantity, migration), Unit::Percent));
        let moved =
            ["migrated_away", "migrated_back"].map(|name| count(reader, &of(Counted(name), migration)));
        line(&mut table, [migration.to_owned()].into_iter().chain(cells).chain(moved));
    }
    Finding {
        id: "gaftl-ages",
        question: "How do members age under GAFTL?".into(),
        text: format!(
            "The paper spreads parity unevenly, so that members wear out one after the other. Here the oldest has 60% of it and each \
             other one 10%, which is invented. Under GAFTL parity leaves a member that collects. If it stays away (`away`), the \
             oldest writes {} of all parity and the second oldest {}. If it returns in idle time (`back`), these are {} and {}. \
             Ages come from a recursion, not from a simulation of ten replacements: erases of each member are its rate, and \
             all begin new. The second oldest is then {} through its life at the first replacement under `away` and {} under \
             `back`. Shares under `away` were still on their way: they were counted after about 30 writes of every row.\n\n\
             Two claims fail for a reason that the runs show. The second oldest gains several times its share, because all that \
             the oldest gives away goes to it, and what the others give away goes to the oldest. Ages do not settle in ten \
             replacements, even where no parity moves: under `none` the second oldest is {} through its life at the third, \
             {} at the fifth and {} at the tenth. Rates are constant in the recursion, while the paper steers shares as \
             members age. Little parity returns under `back`, because displaced units go home first and leave little idle \
             time.\n\n\
             Two verdicts depend on the reading. The paper says that the oldest has less parity than expected. The claim compares \
             parity written under `away` with that under `none`, where the oldest writes {} of it, since writes around a member \
             that collects move parity a little. Against the share of the layout the difference is larger, and would not be \
             within. The paper also lists the critical replacements. The claim only counts them, and the figure shows others.",
            say(ParityShare(0), "away"),
            say(ParityShare(1), "away"),
            say(ParityShare(0), "back"),
            say(ParityShare(1), "back"),
            say(Age(1, 1), "away"),
            say(Age(1, 1), "back"),
            say(Age(1, 3), "none"),
            say(Age(1, 5), "none"),
            say(Age(1, 10), "none"),
            say(ParityShare(0), "none"),
        ),
        figures: vec![
            drawn("Ages at replacements, parity stays away (Fig. 18)", "away"),
            drawn("Ages at replacements, parity returns in idle time (Fig. 19)", "back"),
        ],
        claims: vec![
            "gaftl-age-oldest",
            "gaftl-age-second",
            "gaftl-age-second-age",
            "gaftl-age-critical",
            "gaftl-age-stable",
        ],
        table,
        ..Finding::default()
    }
}
