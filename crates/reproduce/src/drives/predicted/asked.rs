//! Which loads are predicted, of which drives.

use harmonia_scenario::BadInput;

use super::super::measured::{Load, Pattern, drives};
use super::super::runs::{Run, Warmup, scenario_with};

/// A drive that is another preset with some keys of its own. No figure of it is fitted.
#[derive(Debug, Clone, Copy)]
pub struct Derived {
    /// What it is called here. There is no preset of that name.
    pub name: &'static str,
    /// The preset with the same flash.
    pub of: &'static str,
    /// What differs.
    pub keys: &'static [&'static str],
}

/// 800 GB of the 1,064 GiB of flash that the 960 GB of the 7450 PRO have.
pub const MICRON_7450_MAX_800G: Derived = Derived {
    name: "micron-7450-max-800g",
    of: "micron-7450-pro-960g",
    keys: &["ssd.ftl.reserved_blocks=30%"],
};

/// A quarter and two thirds of those of runs that are judged, so that all of it takes minutes.
const WARMUP: Warmup = Warmup { probe: 0.1, skewed: 0.5 };

/// Rates of the 7450 MAX. Unit: writes/s.
pub fn ladder_of_max() -> impl Iterator<Item = Load> {
    (1..=13).map(|step| Load::Offered(step * 10_000))
}

/// Footprints of the 7450 MAX.
pub fn footprints() -> impl Iterator<Item = Load> {
    (5..=10).map(|tenths| Load::Writes(Pattern::Footprint(f64::from(tenths) / 10.0)))
}

/// Skewed writes on this drive would take as long as all other runs together.
const WITHOUT_SKEWS: &str = "kioxia-cm7-r-3.84t";

/// Skews of the other drives.
pub const SKEWS: [Load; 2] = [Load::Writes(Pattern::Zipf(0.4)), Load::Writes(Pattern::Zipf(0.8))];

/// Drives of which loads between the published ones are predicted, with these loads.
pub fn between() -> Vec<(&'static str, Vec<Load>)> {
    let others = drives().into_iter().filter(|drive| drive.name != MICRON_7450_MAX_800G.of);
    others
        .map(|drive| {
            let rates: Vec<u32> = drive.ladder().into_iter().filter_map(Load::offered).collect();
            let middle = |pair: &[u32]| Load::Offered(pair[0].midpoint(pair[1]));
            (drive.name, rates.windows(2).map(middle).collect())
        })
        .collect()
}

/// All runs, those of a drive in a row.
///
/// # Errors
/// If there is no preset for a drive.
pub fn runs() -> Result<Vec<Run>, BadInput> {
    let max = MICRON_7450_MAX_800G;
    let mut asked: Vec<(Derived, Vec<Load>)> = vec![(max, ladder_of_max().chain(footprints()).collect())];
    for (name, loads) in between() {
        let skewed = [Load::UNIFORM].into_iter().chain(SKEWS).filter(|_| name != WITHOUT_SKEWS);
        asked.push((Derived { name, of: name, keys: &[] }, loads.into_iter().chain(skewed).collect()));
    }
    let run = |of: Derived, load| {
        let scenario = scenario_with(of.of, of.keys, load, WARMUP)?;
        Ok(Run { drive: of.name, load, scenario })
    };
    asked.into_iter().flat_map(|(of, loads)| loads.into_iter().map(move |load| run(of, load))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_was_published_is_not_predicted() {
        for drive in drives() {
            let (published, between) = (drive.ladder(), between());
            let asked = between.iter().find(|(name, _)| *name == drive.name);
            let asked = asked.map_or(&[][..], |(_, loads)| loads);
            assert!(asked.iter().all(|load| !published.contains(load)), "{}: {asked:?}", drive.name);
            let skews = drive.rows.iter().filter(|row| SKEWS.contains(&row.load));
            assert_eq!(skews.count(), 0, "{}", drive.name);
        }
        let pm9a3 = [20_000, 35_000, 50_000, 65_000, 80_000].map(Load::Offered);
        assert_eq!(between()[0], ("samsung-pm9a3-960g", pm9a3.to_vec()));
    }

    /// A hundredth, in units of 4 KiB; spare space is whole blocks, of which there are 254 at this scale.
    #[test]
    fn the_7450_max_exports_800_gb() {
        let all = runs().expect("presets");
        let of_max: Vec<&Run> = all.iter().filter(|run| run.drive == MICRON_7450_MAX_800G.name).collect();
        assert_eq!(of_max.len(), 13 + 6);
        let ssd = &of_max[0].scenario.array.members[0].ssd;
        let bytes = f64::from(ssd.resolve().expect("a drive").logical_pages) * 4096.0;
        assert!((bytes / 8e9 - 1.0).abs() < 0.015, "{bytes}");
        let text = of_max[13].scenario.to_toml();
        assert!(text.contains("footprint = 0.5") && text.contains("fill = 0.5"), "{text}");
    }
}
