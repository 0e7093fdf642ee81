//! Members of arrays over the years: when they are replaced, and what a rebuild risks. For terminal and page.

use harmonia_metrics::{Interval, RebuildRisk, Replacements, VariantLifetime};

use crate::lifetime::digits;
use crate::numbers::{self, NONE, or_none};
use crate::{Cell, Style, Table, layout, titled};

/// What the table is about.
pub const TITLE: &str = "Members over the years at this rate";

type Show = fn(&Replacements<Interval>) -> String;

/// Columns with what they show.
const COLUMNS: [(&str, Show); 5] = [
    ("first replaced", |of| or_none(of.years.first().copied(), years)),
    ("last replaced", |of| or_none(of.years.last().copied(), years)),
    ("drives a year", |of| digits(of.per_year.mean)),
    ("life unused", |of| numbers::percent(of.unused.mean)),
    ("next oldest", |of| numbers::percent(of.next_oldest.mean)),
];

type ShowRisk = fn(&RebuildRisk<Interval>) -> String;

/// Those that need the time of a rebuild.
const RISKS: [(&str, ShowRisk); 5] = [
    ("rebuild", |risk| hours(risk.rebuild_hours)),
    ("second by wear", |risk| chance(risk.second_by_wear)),
    ("second by chance", |risk| chance(risk.second_by_failure)),
    ("unreadable", |risk| chance(risk.unreadable)),
    ("loss a year", |risk| chance(risk.loss)),
];

/// From this share on of the drives that wear out while another one is rebuilt, the table warns.
const MANY_SECONDS: f64 = 0.01;

fn has_risk(lives: &[VariantLifetime]) -> bool {
    lives.iter().any(|life| life.replacements.as_ref().is_some_and(|of| of.risk.is_some()))
}

/// Headings of the table, that of the variants not among them.
pub fn headings(lives: &[VariantLifetime]) -> Vec<&'static str> {
    let risks = RISKS.iter().map(|column| column.0).filter(|_| has_risk(lives));
    COLUMNS.iter().map(|column| column.0).chain(risks).collect()
}

/// A row for each variant of which something is known: its label and its cells.
pub fn rows(lives: &[VariantLifetime]) -> Vec<(String, Vec<String>)> {
    let has_risk = has_risk(lives);
    let row = |life: &VariantLifetime| {
        let of = life.replacements.as_ref()?;
        let risks = RISKS.iter().filter(|_| has_risk);
        let risks = risks.map(|(_, show)| or_none(of.risk.as_ref(), show));
        Some((life.label.clone(), COLUMNS.iter().map(|(_, show)| show(of)).chain(risks).collect()))
    };
    lives.iter().filter_map(row).collect()
}

/// What the table assumes, and what to beware of; a paragraph each.
pub fn assumptions(lives: &[VariantLifetime]) -> Vec<String> {
    let all = || lives.iter().filter_map(|life| Some((life, life.replacements.as_ref()?)));
    if all().next().is_none() {
        return Vec::new();
    }
    let mut notes = vec![
        "Members over the years: each wears at the rate that the run measured, and lives of drives differ by ssd.wear.drive_spread \
         (3% by default). That spread is an assumption, and chances by wear fall as it grows. Life unused, next oldest: of the drive that is \
         replaced, and of the oldest of the others."
            .to_owned(),
    ];
    if has_risk(lives) {
        notes.push(
            "Second by wear: the share of worn-out members in whose rebuild another one wears out. Second by chance and \
             unreadable: another one fails, or a page cannot be read, at array.lifetime.failure_rate and array.lifetime.unreadable, \
             which are assumptions. Loss a year: the probability that data is lost; with two parities, losses by wear alone below \
             about 1e-4 are not resolved."
                .to_owned(),
        );
    }
    let seconds = all().filter_map(|(life, of)| Some((life, of.risk?.second_by_wear)));
    let worst = seconds.max_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    if let Some((life, second)) = worst.filter(|(_, second)| second.mean >= MANY_SECONDS) {
        notes.push(format!(
            "warning: under {}, another member wears out in {} of the rebuilds after wear. Replace members earlier \
             (array.lifetime.replace = \"age\", or a smaller replace_at), or, on RAID-5 with array.parity_shares, let the oldest have \
             most parity (array.lifetime.shares = \"by-age\").",
            life.label,
            chance(second)
        ));
    }
    notes
}

/// The table, if there is anything in it.
pub(crate) fn section(lives: &[VariantLifetime], style: Style) -> Option<String> {
    let rows = rows(lives);
    let mut table = Table::new(std::iter::once("run").chain(headings(lives)));
    for (label, cells) in &rows {
        table.push(std::iter::once(label).chain(cells).map(|text| Cell::from(text.clone())).collect());
    }
    let notes = assumptions(lives);
    let notes = notes.iter().map(|note| layout::wrapped(note, style.columns)).collect::<String>();
    (!rows.is_empty()).then(|| format!("\n{}{notes}", titled(TITLE, &table, style)))
}

fn years(of: Interval) -> String {
    numbers::life(of.mean)
}

fn hours(of: Interval) -> String {
    numbers::years(of.mean / (365.0 * 24.0))
}

/// A probability, small ones as powers, with its half-width.
fn chance(of: Interval) -> String {
    let text = |share: f64| match share {
        0.0 => "0".to_owned(),
        share if share < 0.001 => format!("{share:.1e}"),
        share => numbers::percent(share),
    };
    match of.half_width.filter(|&width| width > 0.0) {
        Some(width) => format!("{} \u{b1}{}", text(of.mean), text(width)),
        None if of.mean.is_nan() => NONE.to_owned(),
        None => text(of.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::lifetime::tests::life;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn exact(mean: f64) -> Interval {
        Interval { mean, half_width: None, samples: 1 }
    }

    fn replaced(second_by_wear: f64) -> Replacements<Interval> {
        let chance = Interval { mean: second_by_wear, half_width: Some(0.002), samples: 5 };
        let risk = RebuildRisk {
            rebuild_hours: exact(6.5),
            second_by_wear: chance,
            second_by_failure: exact(1.3e-5),
            unreadable: exact(0.012),
            loss: exact(0.03),
            losses_by_wear: exact(0.02),
            losses_by_failure: exact(1e-7),
            losses_by_unreadable: exact(1e-4),
            losses_by_both: exact(0.01),
        };
        Replacements {
            years: [2.9, 3.0, 3.1].map(exact).to_vec(),
            per_year: exact(1.0),
            unused: exact(0.0),
            next_oldest: exact(0.98),
            risk: Some(risk),
        }
    }

    #[test]
    fn an_array_that_ages_has_a_row_and_its_assumptions() {
        let of = |label: &str, replacements| VariantLifetime { replacements, ..life(label) };
        let known = of("local", Some(replaced(0.026)));
        let without = Replacements { risk: None, ..replaced(0.0) };
        let lives = [known, of("gclock", Some(without)), of("raid0", None)];
        insta::assert_snapshot!(section(&lives, STYLE).expect("a table"));
        assert!(section(&lives[2..], STYLE).is_none() && assumptions(&lives[2..]).is_empty());
    }

    #[test]
    fn members_that_wear_out_together_are_warned_of() {
        let warns = |second: f64| {
            let life = VariantLifetime { replacements: Some(replaced(second)), ..life("local") };
            assumptions(&[life]).iter().any(|note| note.starts_with("warning:"))
        };
        assert!(warns(0.01) && !warns(0.0099));
    }
}
