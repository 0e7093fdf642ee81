//! How many years drives last: only where something says what they endure.

use harmonia_metrics::{
    Comparison, Evenness, Interval, Limit, RateOf, VariantLifetime, YEARS_MOST, Years, age_first_of,
};

use crate::numbers::{self, NONE, or_none};
use crate::{Cell, Style, Table, capital, layout, titled, years};

const TITLE: &str = "Lifetime at this rate, of the drive that ends first";

/// A column that stands only if a variant has a value for it.
struct Column {
    heading: &'static str,
    show: fn(&VariantLifetime) -> Option<String>,
}

const COLUMNS: [Column; 10] = [
    Column {
        heading: "host writes a day",
        show: |life| Some(numbers::decimal_bytes(life.host_bytes_per_day.mean)),
    },
    Column { heading: "DWPD", show: |life| Some(digits(life.drive_writes_per_day.mean)) },
    Column {
        heading: "write amp",
        show: |life| Some(or_none(life.write_amplification, |ratio| format!("{:.3}", ratio.mean))),
    },
    Column {
        heading: "flash a day",
        show: |life| Some(or_none(life.flash_bytes_per_day, |bytes| numbers::decimal_bytes(bytes.mean))),
    },
    Column { heading: "mean cycles", show: |life| Some(in_years(life.years.cycles?)) },
    Column { heading: "rated TBW", show: |life| Some(in_years(life.years.rated_bytes?)) },
    Column { heading: "first block", show: |life| Some(in_years(life.years.first_block?)) },
    Column { heading: "read-only", show: |life| Some(in_years(life.years.read_only?)) },
    Column { heading: "simulated", show: |life| Some(in_years(life.simulated?)) },
    Column { heading: "ends with", show: |life| Some(or_none(life.limit, |limit| words(limit).to_owned())) },
];

/// Table and notes of the variants that have a lifetime.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let lives = harmonia_metrics::lifetimes(comparison);
    (!lives.is_empty()).then(|| lifetimes(&lives, style))
}

/// The table, a row a variant, and what it assumes.
pub fn lifetimes(lives: &[VariantLifetime], style: Style) -> String {
    let shown: Vec<&Column> =
        COLUMNS.iter().filter(|column| lives.iter().any(|life| (column.show)(life).is_some())).collect();
    let mut table = Table::new(std::iter::once("run").chain(shown.iter().map(|column| column.heading)));
    for life in lives {
        let cells = shown.iter().map(|column| Cell::from(or_none((column.show)(life), |text| text)));
        table.push(std::iter::once(Cell::from(life.label.clone())).chain(cells).collect());
    }
    let mut notes = assumptions(lives);
    if lives.iter().any(|life| limits(life).any(|years| years.mean > YEARS_MOST)) {
        notes.push(format!("> {YEARS_MOST:.0} years: the exact figure is in JSON (--json)."));
    }
    titled(TITLE, &table, style)
        + &notes.iter().map(|note| layout::wrapped(note, style.columns)).collect::<String>()
        + &years::section(lives, style).unwrap_or_default()
}

/// What the years of these variants assume, a paragraph each.
pub fn assumptions(lives: &[VariantLifetime]) -> Vec<String> {
    let mut notes = Vec::new();
    for life in lives {
        let rate = rate(life);
        if !notes.contains(&rate) {
            notes.push(rate);
        }
    }
    let ends = lives.iter().filter_map(|life| Some((ends_after(life)?.mean, life.rated_years)));
    notes.extend(age_first_of(ends).map(|text| capital(&text) + "."));
    let has = |of: fn(&VariantLifetime) -> bool| lives.iter().any(of);
    if has(|life| life.write_amplification.is_none() && life.host_bytes_per_day.mean > 0.0) {
        notes.push(
            "At least one drive collected no block in the window, so its write amplification and what depends on it are not \
             known: years by cycles are those of the others. Use a longer run, or an array that is aged."
                .to_owned(),
        );
    }
    if has(|life| life.years.cycles.is_some()) {
        notes.push(
            "Mean cycles: cycles x flash / (bytes to the drive a day x write amplification).".to_owned(),
        );
    }
    if has(|life| life.years.first_block.is_some()) {
        notes.push(
            "First block and read-only: from the endurance that ssd.wear draws for each block. Its spread is an assumption. Write \
             amplification grows with the blocks that are lost as under uniform writes."
                .to_owned(),
        );
    }
    if has(|life| life.years.cycles.is_some() || life.years.read_only.is_some()) {
        notes.extend(evenness(lives));
    }
    if lives.iter().any(|life| life.years.cycles.is_some_and(|years| years.half_width.is_some())) {
        notes.push("\u{b1}: half of a 95% confidence interval, from the spread between seeds.".to_owned());
    }
    notes
}

/// Years until the limit that comes first.
fn ends_after(life: &VariantLifetime) -> Option<Interval> {
    match life.limit? {
        Limit::Cycles => life.years.cycles,
        Limit::RatedBytes => life.years.rated_bytes,
        Limit::ReadOnly => life.years.read_only,
    }
}

/// All years of its row.
fn limits(life: &VariantLifetime) -> impl Iterator<Item = Interval> {
    let Years { cycles, rated_bytes, first_block, read_only } = life.years;
    [cycles, rated_bytes, first_block, read_only, life.simulated].into_iter().flatten()
}

/// Where the rate comes from.
fn rate(life: &VariantLifetime) -> String {
    let window = span(life.window_s);
    match life.rate {
        RateOf::ClosedLoop => format!(
            "Rate: a closed loop, which writes as fast as the array takes it ({window} were measured). Going on so day and night \
             is the shortest life, not a likely one."
        ),
        RateOf::Arrivals => {
            format!("Rate: what the load wrote in the measured {window}, as if it went on so day and night.")
        }
        RateOf::Trace => format!(
            "Rate: what the trace wrote in the measured {window}, as if it went on so day and night. An hour of a trace is not \
             a day."
        ),
    }
}

/// Whether blocks were erased evenly, as all of this assumes.
fn evenness(lives: &[VariantLifetime]) -> Option<String> {
    let worst =
        lives.iter().max_by(|one, other| one.evenness.spread().total_cmp(&other.evenness.spread()))?;
    let Evenness { erases_min, erases_mean, erases_stddev, .. } = worst.evenness;
    let seen = format!(
        "a block had {erases_mean:.1} erases on average, {erases_min} at least, with a standard deviation of {erases_stddev:.1}"
    );
    Some(match worst.evenness.is_even() {
        Some(true) if worst.evenness.leveled => {
            "These years hold if blocks are erased equally often. Static wear levelling sees to that."
                .to_owned()
        }
        Some(true) => {
            format!("These years hold if blocks are erased equally often. They were so far: {seen}.")
        }
        Some(false) => format!(
            "warning: these years are too many. They hold if blocks are erased equally often. Under {}, {seen}. \
             The most worn blocks retire first, and data that is not rewritten keeps its blocks from being used, unless wear is \
             levelled (ssd.leveling.policy = \"least-worn\").",
            worst.label
        ),
        None => format!(
            "These years hold if blocks are erased equally often. The run is too short to tell: {seen}."
        ),
    })
}

fn words(limit: Limit) -> &'static str {
    match limit {
        Limit::Cycles => "mean cycles",
        Limit::RatedBytes => "rated TBW",
        Limit::ReadOnly => "read-only",
    }
}

/// Years with their half-width.
fn in_years(interval: Interval) -> String {
    let text = numbers::life(interval.mean);
    let is_exact = 0.0 < interval.mean && interval.mean <= YEARS_MOST;
    let share = interval.half_width.filter(|_| is_exact).map(|width| width / interval.mean);
    text + &share.map(|share| format!(" \u{b1}{:.1}%", share * 100.0)).unwrap_or_default()
}

/// A ratio with three digits that count.
pub(crate) fn digits(ratio: f64) -> String {
    match ratio {
        0.0 => NONE.to_owned(),
        ratio if ratio < 0.01 => format!("{ratio:.1e}"),
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio if ratio < 100.0 => format!("{ratio:.1}"),
        ratio => numbers::count(ratio.round() as u64),
    }
}

/// A span of simulated time.
fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7_200.0 => format!("{:.1} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3_600.0),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Color;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn exact(mean: f64) -> Interval {
        Interval { mean, half_width: None, samples: 1 }
    }

    pub(crate) fn life(label: &str) -> VariantLifetime {
        VariantLifetime {
            label: label.to_owned(),
            seeds: vec![1],
            rate: RateOf::Trace,
            window_s: 3_600.0,
            host_bytes_per_day: exact(7.68e12),
            drive_writes_per_day: exact(1.25),
            write_amplification: Some(exact(2.5)),
            flash_bytes_per_day: Some(exact(19.2e12)),
            years: Years {
                cycles: Some(exact(6.57)),
                rated_bytes: Some(exact(4.0)),
                first_block: None,
                read_only: None,
            },
            limit: Some(Limit::RatedBytes),
            rated_years: None,
            simulated: None,
            replacements: None,
            evenness: Evenness { erases_min: 40, erases_mean: 50.0, erases_stddev: 2.0, leveled: false },
        }
    }

    #[test]
    fn only_limits_that_are_known_have_a_column_and_the_rate_is_said() {
        let text = lifetimes(&[life("local")], STYLE);
        insta::assert_snapshot!(text);
        assert!(!text.contains("read-only") && !text.contains("simulated"));
    }

    #[test]
    fn with_blocks_that_wear_out_and_seeds() {
        let mut other = life("gclock");
        other.rate = RateOf::ClosedLoop;
        let spread = |mean: f64| Some(Interval { mean, half_width: Some(mean / 50.0), samples: 5 });
        other.years = Years {
            cycles: spread(0.5),
            rated_bytes: None,
            first_block: spread(0.4),
            read_only: spread(0.45),
        };
        other.limit = Some(Limit::ReadOnly);
        other.simulated = spread(0.46);
        other.evenness.erases_min = 0;
        insta::assert_snapshot!(lifetimes(&[life("local"), other], STYLE));
    }

    /// Nobody keeps a drive for so long: the figure is cut short, and what ends the drive before is said.
    #[test]
    fn more_years_than_a_drive_is_kept_for_are_no_figure() {
        let text = |years: f64, rated_years: Option<f64>| {
            let mut life = life("local");
            life.years.rated_bytes = Some(Interval { mean: years, half_width: Some(1.0), samples: 5 });
            lifetimes(&[VariantLifetime { rated_years, ..life }], STYLE)
        };
        let (none, cut) = ("age ends the drives first", "> 100 years: the exact figure is in JSON");
        let short = text(4.0, Some(5.0));
        assert!(
            short.contains("4.00 years \u{b1}25.0%") && !short.contains(none) && !short.contains(cut),
            "{short}"
        );
        let old = text(50.0, Some(5.0));
        let rated = "Where they exceed 5 (ssd.rating), age ends the drives first";
        assert!(old.contains("50.0 years \u{b1}2.0%") && old.contains(rated) && !old.contains(cut), "{old}");
        let ancient = text(730_477.0, None);
        assert!(ancient.contains("> 100 years  rated TBW") && ancient.contains(cut), "{ancient}");
        assert!(ancient.contains("Where they exceed 100, age ends the drives first."), "{ancient}");
        assert!(!ancient.contains("730,477"), "{ancient}");
    }

    #[test]
    fn years_that_do_not_hold_say_so() {
        let of = |erases_min, erases_mean, leveled| {
            let erases_stddev = if erases_min == 0 { 2.5 } else { 2.0 };
            let evenness = Evenness { erases_min, erases_mean, erases_stddev, leveled };
            assumptions(&[VariantLifetime { evenness, ..life("local") }]).join(" ")
        };
        assert!(of(40, 50.0, false).contains("They were so far"));
        assert!(of(0, 50.0, false).contains("warning: these years are too many"));
        assert!(of(0, 2.0, false).contains("too short to tell"));
        assert!(of(0, 50.0, true).contains("Static wear levelling"));
    }
}
