//! Measures as claims and pages write them: `ratio erases policies hpc-w/inclusive hpc-w/local`.
//!
//! * `QUANTITY EXPERIMENT VARIANT` is a figure of a variant: `read-p99 ioda iod1`.
//! * `ratio` and `cut QUANTITY EXPERIMENT A B` divide A's figure by B's, and say by how many percent B's is below A's.
//! * `over`, `minus` and `lowered A B` do so with any two measures.
//! * `average`, `highest` and `lowest LIST MEASURE` take the measure for every item of a list, which is `$it` in it, or `$name` of `name=LIST`. `rising` is
//!   the smallest step from one item to the next, `spread` the highest over the lowest.
//! * `first MEASURE` is that of the first seed alone.
//! * `reading NAME MEASURE` is a measure under another reading of its paper.
//! * Measures of one paper alone are `against-best`, `against-better`, `conventional`, `gap` and `most`.
//!
//! A list has a name ([`list`]) or is written out, with commas. A mistake is one in this crate: it panics, and tests read all
//! claims and write every page.

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use crate::claims::{ENTERPRISE, RATES, SSDS, Unit, adaptive, gaftl, inside_the_die, ioda};
use crate::experiment::experiment_id;
use crate::measure::{Measure, Met, Quantity, lowered, ratio};
use crate::reading::Reading;

/// What policies count that a page shows.
const COUNTED: [&str; 12] = [
    "displaced",
    "entered_n",
    "entered_p",
    "grants",
    "home_by_write",
    "home_in_idle",
    "migrated_away",
    "migrated_back",
    "parity_moved",
    "units_moved",
    "waits_full",
    "waits_several",
];

/// A measure, as a page writes it.
pub(crate) fn measure(text: &str, readings: &[Reading]) -> Measure {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    match parse(&words, readings) {
        Ok((measure, used)) if used == words.len() => measure,
        Ok((_, used)) => panic!("measure: {text}: the measure ends after {used} words"),
        Err(why) => panic!("measure: {text}: {why}"),
    }
}

/// A measure at the start of `words`, and how many of them it takes.
fn parse(words: &[String], readings: &[Reading]) -> Result<(Measure, usize), String> {
    let word = |at: usize| words.get(at).map(String::as_str).ok_or_else(|| "a word is missing".to_owned());
    let quantity = |at: usize| word(at).and_then(quantity);
    let experiment = |at: usize| {
        let name = word(at)?;
        experiment_id(name).ok_or_else(|| format!("no experiment {name}"))
    };
    Ok(match word(0)? {
        kind @ ("average" | "highest" | "lowest" | "rising" | "spread") => {
            let mut used = 0;
            let mut all = Vec::new();
            let (name, items) = word(1)?.split_once('=').unwrap_or(("it", word(1)?));
            let name = format!("${name}");
            for (_, item) in list(items) {
                let rest: Vec<String> = words[2..].iter().map(|word| word.replace(&name, &item)).collect();
                let (one, taken) = parse(&rest, readings)?;
                all.push(one);
                used = taken + 2;
            }
            let step = |pair: &[Measure]| Measure::Minus(pair[1].clone().into(), pair[0].clone().into());
            let measure = match kind {
                "average" => Measure::Average(all),
                "highest" => Measure::Highest(all),
                "lowest" => Measure::Lowest(all),
                "rising" => Measure::Lowest(all.windows(2).map(step).collect()),
                _ => Measure::Over(Measure::Highest(all.clone()).into(), Measure::Lowest(all).into()),
            };
            (measure, used)
        }
        kind @ ("over" | "minus" | "lowered") => {
            let (a, of_a) = parse(&words[1..], readings)?;
            let (b, of_b) = parse(&words[1 + of_a..], readings)?;
            let combine = match kind {
                "over" => Measure::Over,
                "minus" => Measure::Minus,
                _ => Measure::Lowered,
            };
            (combine(a.into(), b.into()), 1 + of_a + of_b)
        }
        "first" => {
            let (one, used) = parse(&words[1..], readings)?;
            (Measure::First(one.into()), used + 1)
        }
        "ratio" => (ratio(quantity(1)?, experiment(2)?, word(3)?, word(4)?), 5),
        "cut" => (lowered(quantity(1)?, experiment(2)?, word(3)?, word(4)?), 5),
        "against-best" => (adaptive::against_best(quantity(1)?, word(2)?, word(3)?), 4),
        "conventional" => (adaptive::best_conventional(quantity(1)?, word(2)?), 3),
        "gap" => (adaptive::gap(word(1)?, word(2)?), 3),
        "against-better" => (adaptive::against_better(quantity(1)?, word(2)?), 3),
        "most" => (gaftl::most(quantity(1)?), 2),
        "reading" => {
            let (name, (measure, used)) = (word(1)?, parse(&words[2..], readings)?);
            (under(name, measure, readings)?, used + 2)
        }
        _ => (Measure::Of(quantity(0)?, experiment(1)?, word(2)?.to_owned()), 3),
    })
}

/// A measure under another reading. Collection that takes no time has no scheme to read otherwise.
fn under(name: &str, mut measure: Measure, readings: &[Reading]) -> Result<Measure, String> {
    let reading = readings.iter().find(|reading| reading.id == name);
    let reading = reading.ok_or_else(|| format!("no reading {name}"))?;
    measure.rename(&|experiment, variant| match experiment {
        adaptive::IDEAL => variant.to_owned(),
        _ => reading.variant(experiment, variant),
    });
    Ok(measure)
}

/// A quantity by its name, `read-p99`; some have parameters, as in `age(0,1)`.
fn quantity(name: &str) -> Result<Quantity, String> {
    let unknown = || format!("no quantity {name}");
    let Some((kind, parameters)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) else {
        return Quantity::deserialize(StrDeserializer::<Error>::new(name)).map_err(|_| unknown());
    };
    let number = |text: &str| text.parse::<usize>().map_err(|_| unknown());
    Ok(match kind {
        "counted" => {
            let counted = COUNTED.into_iter().find(|counted| *counted == parameters);
            Quantity::Counted(counted.ok_or_else(unknown)?)
        }
        "met-gc-mean" => {
            let met = Met::deserialize(StrDeserializer::<Error>::new(parameters)).map_err(|_| unknown())?;
            Quantity::MetGcMean(met)
        }
        "utilisation-bound" => Quantity::UtilisationBound(number(parameters)? as u32),
        "parity-share" => Quantity::ParityShare(number(parameters)?),
        "bandwidth-at" => Quantity::BandwidthAt(number(parameters)?),
        "age" | "assigned" | "parity-of-assigned" => {
            let (one, other) = parameters.split_once(',').ok_or_else(unknown)?;
            let (one, other) = (number(one)?, number(other)?);
            match kind {
                "age" => Quantity::Age(one, other),
                "assigned" => Quantity::Assigned(one, other),
                _ => Quantity::ParityOfAssigned(one, other),
            }
        }
        _ => return Err(unknown()),
    })
}

/// The unit that a measure is shown in.
pub(crate) fn unit(measure: &Measure) -> Unit {
    match measure {
        Measure::Of(quantity, ..) => quantity.unit(),
        Measure::Minus(a, _) => unit(a),
        Measure::Over(..) => Unit::Times,
        Measure::Lowered(..) => Unit::Percent,
        Measure::First(of) => unit(of),
        Measure::Average(all) | Measure::Highest(all) | Measure::Lowest(all) => {
            all.first().map_or(Unit::Plain, unit)
        }
    }
}

/// The items of a list: what each is called, and what stands for it in measures. A list is one of these names, or written out
/// with spaces, commas, or `|` where an item has spaces or is called otherwise: `of chips = chip | of dies = dies`.
pub(crate) fn list(text: &str) -> Vec<(String, String)> {
    let known: &[&str] = match text {
        "enterprise" => &ENTERPRISE,
        "rates" => &RATES,
        "ssds" => &SSDS,
        "volumes" => &inside_the_die::VOLUMES.map(|volume| volume.name),
        "channel-loads" => &adaptive::LOADS,
        "eager-loads" => &adaptive::EAGER_LOADS,
        "databases" => &adaptive::DATABASES,
        "low" => &adaptive::LOW,
        "high" => &adaptive::HIGH,
        "channels" => &adaptive::MOST,
        "modes" => &ioda::MODES,
        "modes-in-order" => &ioda::ORDER,
        "gaftl-policies" => &gaftl::POLICIES,
        "sizes" => &gaftl::SIZES,
        "gaps" => &gaftl::GAPS,
        "reads" => &gaftl::READS,
        "sequential" => &gaftl::SEQUENTIAL,
        "real" => &gaftl::REAL,
        "migrations" => &gaftl::MIGRATIONS,
        _ => &[],
    };
    let same = |item: &str| (item.to_owned(), item.to_owned());
    if !known.is_empty() {
        return known.iter().map(|item| same(item)).collect();
    }
    match text {
        "affected-volumes" => inside_the_die::by_share().0.iter().map(|volume| same(volume.name)).collect(),
        "other-volumes" => inside_the_die::by_share().1.iter().map(|volume| same(volume.name)).collect(),
        "other-thresholds" => {
            adaptive::other_thresholds().iter().map(|(low, high)| same(&format!("{low}/{high}"))).collect()
        }
        "gaftl-evaluated" => {
            let named =
                |(experiment, point)| (format!("{experiment}: {point}"), format!("{experiment} {point}"));
            gaftl::evaluated().into_iter().map(named).collect()
        }
        "channel-cells" => {
            let of_load = |load: &str| {
                let schemes = [adaptive::ADAPTIVE, adaptive::ALL, adaptive::HALF].into_iter();
                let eager = adaptive::EAGER_LASTS.contains(&load).then_some(adaptive::FROM_EMPTY);
                let cell = |scheme| (format!("{load}, {scheme}"), adaptive::cell(load, scheme));
                schemes.chain(eager).map(cell).collect::<Vec<_>>()
            };
            adaptive::LOADS.iter().flat_map(|load| of_load(load)).collect()
        }
        text if text.contains('|') => {
            let item = |item: &str| match item.trim().split_once(" = ") {
                Some((called, item)) => (called.to_owned(), item.to_owned()),
                None => same(item.trim()),
            };
            text.split('|').map(item).collect()
        }
        text => text.split([',', ' ']).filter(|item| !item.is_empty()).map(same).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_reads_as_it_is_written() {
        let of = |variant: &str| Measure::Of(Quantity::Mean, "victims", variant.to_owned());
        let step = |a, b| Measure::Minus(Box::new(of(b)), Box::new(of(a)));
        assert_eq!(measure("mean victims 1/local", &[]), of("1/local"));
        assert_eq!(
            measure("rising 1,2,4 mean victims $it/local", &[]),
            Measure::Lowest(vec![step("1/local", "2/local"), step("2/local", "4/local")])
        );
        let over = Measure::Over(Box::new(of("1/local")), Box::new(Measure::Average(vec![of("2/local")])));
        assert_eq!(measure("over mean victims 1/local average 2 mean victims $it/local", &[]), over);
        assert_eq!(unit(&over), Unit::Times);
        assert_eq!(quantity("age(1,10)"), Ok(Quantity::Age(1, 10)));
        assert_eq!(quantity("assigned(0,2)"), Ok(Quantity::Assigned(0, 2)));
        assert_eq!(quantity("parity-of-assigned(0,60)"), Ok(Quantity::ParityOfAssigned(0, 60)));
        assert_eq!(measure("first mean victims 1/local", &[]), Measure::First(Box::new(of("1/local"))));
        assert_eq!(quantity("met-gc-mean(own-reads)"), Ok(Quantity::MetGcMean(Met::OwnReads)));
    }

    #[test]
    fn a_word_that_is_wrong_is_named() {
        let why =
            |text: &str| parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), &[]).unwrap_err();
        assert_eq!(why("meen victims 1/local"), "no quantity meen");
        assert_eq!(why("mean victim 1/local"), "no experiment victim");
        assert_eq!(why("ratio mean victims 1/local"), "a word is missing");
        assert_eq!(why("counted(wait_full) gaftl chip/4kB/gaftl"), "no quantity counted(wait_full)");
        assert_eq!(why("reading none mean victims 1/local"), "no reading none");
    }
}
