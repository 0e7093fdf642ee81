//! How worn drives are at the end of a run: only where blocks wear out, or where wear is levelled.
//!
//! One run has a row a device. A comparison has a row a variant, over all devices and seeds.

use harmonia_metrics::{Comparison, DeviceReport, LevelingReport, LifeReport, Report};

use crate::numbers::{self, or_none};
use crate::{Cell, Style, Table, devices, label, layout, titled};

const TITLE: &str = "Wear at the end of the run";
const HEADINGS: [&str; 7] = [
    "erases min..max",
    "mean",
    "retired blocks",
    "available spare",
    "used",
    "levelled blocks",
    "levelled pages",
];
const NOTE: &str = "Erases: of a block since the drive was new. Available spare: what is left of the blocks that may retire, in the \
                    allocation unit that has lost most; a drive at 0% is read-only. Used: mean erases as a share of the mean \
                    endurance. Levelled: by static wear levelling, whose pages count in write amplification, but not as moved by garbage collection.\n";

/// A row a device.
pub(crate) fn of_devices(run: &Report, style: Style) -> Option<String> {
    let mut table = Table::new(std::iter::once("device").chain(HEADINGS));
    for (index, device) in run.devices.iter().enumerate() {
        table.push(row(devices::name(index, device), &[device]));
    }
    run.devices.iter().any(DeviceReport::has_life).then(|| told(&table, style))
}

/// A row a variant.
pub(crate) fn of_variants(comparison: &Comparison, style: Style) -> Option<String> {
    let mut table = Table::new(std::iter::once("run").chain(HEADINGS));
    for runs in comparison.variants() {
        let devices: Vec<&DeviceReport> = runs.iter().flat_map(|run| &run.devices).collect();
        table.push(row(label(&runs[0]).to_owned(), &devices));
    }
    let has_life = |run: &Report| run.devices.iter().any(DeviceReport::has_life);
    comparison.runs.iter().any(has_life).then(|| told(&table, style))
}

fn told(table: &Table, style: Style) -> String {
    titled(TITLE, table, style) + &layout::wrapped(NOTE, style.columns)
}

/// The extremes and sums of these devices.
fn row(name: String, devices: &[&DeviceReport]) -> Vec<Cell> {
    let lives: Vec<&LifeReport> = devices.iter().filter_map(|device| device.life.as_ref()).collect();
    let leveled: Vec<&LevelingReport> =
        devices.iter().filter_map(|device| device.leveling.as_ref()).collect();
    let min = lives.iter().map(|life| life.erases_min).min();
    let max = lives.iter().map(|life| life.erases_max).max();
    let mean = |of: fn(&LifeReport) -> f64| {
        (!lives.is_empty()).then(|| lives.iter().map(|life| of(life)).sum::<f64>() / lives.len() as f64)
    };
    let of_leveled = |of: fn(&LevelingReport) -> u64| {
        (!leveled.is_empty()).then(|| leveled.iter().map(|leveled| of(leveled)).sum())
    };
    let retired = (!lives.is_empty()).then(|| lives.iter().map(|life| life.retired_blocks).sum());
    let spare = lives.iter().map(|life| life.available_spare).min_by(f64::total_cmp);
    vec![
        name.into(),
        or_none(min.zip(max), |(min, max)| format!("{}..{}", numbers::count(min), numbers::count(max)))
            .into(),
        or_none(mean(|life| life.erases_mean), |mean| format!("{mean:.2}")).into(),
        or_none(retired, numbers::count).into(),
        or_none(spare, numbers::percent).into(),
        or_none(mean(|life| life.used), numbers::percent).into(),
        or_none(of_leveled(|leveled| leveled.blocks), numbers::count).into(),
        or_none(of_leveled(|leveled| leveled.pages), numbers::count).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn worn() -> Report {
        let mut run = run("local", "blocking", 40_000, 12_000, &[1.0, 0.0]);
        let life = LifeReport {
            erases_min: 1_200,
            erases_mean: 1_234.5,
            erases_max: 1_301,
            retired_blocks: 3,
            available_spare: 0.75,
            used: 0.4115,
            ..LifeReport::default()
        };
        run.devices[0].life = Some(life);
        run.devices[1].life = Some(LifeReport { erases_min: 900, available_spare: 0.5, ..life });
        run.devices[1].leveling = Some(LevelingReport { blocks: 7, pages: 1_024 });
        run
    }

    #[test]
    fn a_drive_that_wears_has_a_row_and_nothing_is_said_without_one() {
        let text = of_devices(&worn(), STYLE).expect("there is wear");
        let rows: Vec<&str> = text.lines().skip(2).take(3).collect();
        insta::assert_snapshot!(rows.join("\n"));
        let mut ageless = worn();
        ageless.devices.drain(..2);
        assert_eq!(of_devices(&ageless, STYLE), None);
    }

    #[test]
    fn a_variant_has_the_extremes_of_its_drives() {
        let comparison = Comparison::new(vec![worn()], 1);
        let text = of_variants(&comparison, STYLE).expect("there is wear");
        let row = text.lines().find(|line| line.starts_with("local")).expect("its row");
        for part in ["900..1,301", "1234.50", "  6  ", "50.0%", "41.1%", "  7  ", "1,024"] {
            assert!(row.contains(part), "{part}: {row}");
        }
    }
}
