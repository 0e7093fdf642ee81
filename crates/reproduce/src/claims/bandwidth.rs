//! What section 3 of IEEE TC 2012 and MSST 2011 measured on two SSDs that were sold, alone and in arrays.
//!
//! Their firmware is not published, and neither is how they were filled. So stand-ins are held against ratios and not against MB/s;
//! `experiments/bandwidth.toml` has them with their reasons.
//!
//! What is accepted was set before any run:
//!
//! * a ratio may have half to one and a half of the published effect, on its logarithm, so that no effect is never accepted;
//! * a fall in percent, too, may be half to one and a half of the published one;
//! * an order without a figure is settled by the seeds; "not a significant difference" is 15%.
//!
//! Slips of the papers: bandwidth "decreases by 41% and 28%" from 20% to 80% of writes, while these are its rises from 80% to 20%. Table 4
//! is of six SSDs by its place and of four by its figures: 689.6 MB/s with 60% of writes are four SSD(M) in section 3.2.1, and 961.2
//! four times the 240.3 of Table VI of MSST 2011. Its rows are claims of six, as printed, and second readings of four. Fig. 3 draws
//! Z scores, whose standard deviation is 1 whatever varies, so that the width of a curve says nothing. Its claims are held against
//! coefficients of variation.
//!
//! Leaves out: MB/s, all that can only be read off a plot, and peaks ("about 700 MB/s"), which lie above all published means.

/// A row of the papers' tables. Unit: MB/s.
struct Published {
    /// Table of IEEE TC 2012.
    table: &'static str,
    /// Variant of the experiment that stands for it.
    variant: &'static str,
    mean: f64,
    stddev: f64,
}

const fn published(table: &'static str, variant: &'static str, mean: f64, stddev: f64) -> Published {
    Published { table, variant, mean, stddev }
}

/// Tables 3, 4 and 6.
const TABLE: [Published; 22] = [
    published("3", "mlc/1/80", 176.4, 6.37),
    published("3", "mlc/1/60", 184.8, 7.88),
    published("3", "mlc/1/40", 207.4, 6.73),
    published("3", "mlc/1/20", 249.9, 1.42),
    published("3", "slc/1/80", 223.5, 7.96),
    published("3", "slc/1/60", 239.3, 8.38),
    published("3", "slc/1/40", 257.1, 5.86),
    published("3", "slc/1/20", 285.1, 0.28),
    published("4", "mlc/6/80", 601.2, 72.32),
    published("4", "mlc/6/60", 689.6, 110.5),
    published("4", "mlc/6/40", 751.2, 113.94),
    published("4", "mlc/6/20", 945.7, 11.14),
    published("4", "slc/6/80", 851.5, 34.98),
    published("4", "slc/6/60", 961.2, 46.37),
    published("4", "slc/6/40", 1026.1, 40.38),
    published("4", "slc/6/20", 1095.2, 11.39),
    published("6", "mlc/6/60", 847.4, 60.50),
    published("6", "mlc/raid5/60", 644.1, 56.16),
    published("6", "mlc/raid6/60", 479.8, 45.53),
    published("6", "slc/6/60", 1147.1, 72.02),
    published("6", "slc/raid5/60", 793.7, 53.14),
    published("6", "slc/raid6/60", 686.7, 49.44),
];

/// What a table of the paper has for a variant, by `asked`, `mean 3 mlc/1/80` or `cv 3 mlc/1/80`, in MB/s and in percent.
pub(crate) fn shown(asked: &str) -> String {
    let words: Vec<&str> = asked.split(' ').collect();
    let [figure, table, variant] = words[..] else {
        panic!("findings: published {asked}: a figure, a table, a variant")
    };
    let row = row(table, variant).unwrap_or_else(|| panic!("findings: published {asked}: no such row"));
    match figure {
        "mean" => format!("{:.1}", row.mean),
        "stddev" => format!("{:.1}", row.stddev),
        "cv" => format!("{:.1}%", 100.0 * row.stddev / row.mean),
        _ => panic!("findings: published {asked}: no figure {figure}"),
    }
}

fn row(table: &str, variant: &str) -> Option<&'static Published> {
    TABLE.iter().find(|row| (row.table, row.variant) == (table, variant))
}

#[cfg(test)]
mod tests {
    use super::super::{BANDWIDTH, table};
    use super::*;
    use crate::experiments;

    const SHARES: [&str; 3] = ["40", "60", "80"];

    fn mean(table: &str, variant: &str) -> f64 {
        row(table, variant).map_or(f64::NAN, |row| row.mean)
    }

    fn cv(table: &str, variant: &str) -> f64 {
        row(table, variant).map_or(f64::NAN, |row| row.stddev / row.mean)
    }

    /// By how much coefficients with more writes are above that with 20%.
    fn rise(table: &str, array: &str) -> f64 {
        SHARES
            .iter()
            .map(|share| cv(table, &format!("{array}/{share}")) / cv(table, &format!("{array}/20")))
            .sum::<f64>()
            / 3.0
    }

    /// A slipped digit of a table or of a claim would show. The table's own "Norm. CV" of 80% is 6.35, 36.3, 21.2 and 41.8.
    #[test]
    fn claims_have_the_ratios_of_the_tables() {
        let claims = table::read(BANDWIDTH);
        let claimed = |id: &str| {
            let claim = claims.iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("no claim {id}"));
            claim.claimed.split([' ', '%']).next().unwrap_or_default()
        };
        for drive in ["mlc", "slc"] {
            let of = |point: &str| format!("{drive}/{point}");
            let across = |table, a: &str, b: &str| mean(table, &of(a)) / mean(table, &of(b));
            let varies = |a: &str, b: &str| cv("6", &of(a)) / cv("6", &of(b));
            let alone = mean("3", &of("1/60"));
            for (claim, value) in [
                ("bandwidth-ssd", across("3", "1/20", "1/80")),
                ("variation-ssd", rise("3", &of("1"))),
                ("bandwidth-array", across("4", "6/20", "6/80")),
                ("variation-array", rise("4", &of("6"))),
                ("variation-six", cv("6", &of("6/60")) / cv("3", &of("1/60"))),
                ("per-drive", 100.0 * (1.0 - mean("6", &of("6/60")) / 6.0 / alone)),
                ("raid5-bandwidth", across("6", "raid5/60", "6/60")),
                ("raid6-bandwidth", across("6", "raid6/60", "6/60")),
                ("raid5-variation", varies("raid5/60", "6/60")),
                ("raid6-variation", varies("raid6/60", "6/60")),
            ] {
                let text = claimed(&format!("{claim}-{drive}"));
                let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
                assert_eq!(text, format!("{value:.digits$}"), "{claim}-{drive}");
            }
        }
        for (variant, rise) in [("mlc/1", 6.35), ("slc/1", 36.3)] {
            let of = |share: &str| cv("3", &format!("{variant}/{share}"));
            assert!((of("80") / of("20") - rise).abs() < 0.05, "{variant}");
        }
        for (drive, norm) in [("mlc", 21.2), ("slc", 41.8)] {
            let of = cv("4", &format!("{drive}/6/80")) / cv("3", &format!("{drive}/1/20"));
            assert!((of - norm).abs() < 0.05 * norm, "{drive}: {of}");
        }
    }

    /// Each row has a variant that stands for it.
    #[test]
    fn every_row_has_its_variant() {
        let experiments = experiments().expect("valid experiments");
        let variants =
            experiments.iter().find(|one| one.id == "bandwidth").expect("an experiment").variants();
        for row in TABLE {
            assert!(variants.iter().any(|variant| variant == row.variant), "{}", row.variant);
        }
    }
}
