use harmonia_metrics::{Comparison, Intervals, Report, ResourceSum};
use serde_json::json;

use super::fixtures::*;
use super::*;

const STYLE: Style = Style { columns: 120, color: Color(false) };

/// A comparison of policies that nothing else varies.
fn plain(of: &Comparison, style: Style) -> String {
    comparison(of, &Cross::default(), Rest::Shown, Detail::All, style)
}

fn compared(runs: Vec<Report>) -> Comparison {
    Comparison::new(runs, 1)
}

/// The four runs with seeds 7 to 9, of which some things vary with the seed alone and some with both.
fn three_seeds() -> Comparison {
    let seeded = |mut run: Report, (seed, harm): (u64, f64)| {
        run.seed = seed;
        let own = 1.0 + (run.array.erases % 7) as f64 * (seed as f64 - 8.0) / 300.0;
        let all = &mut run.host.response_ns.all;
        all.mean = all.mean.map(|mean| mean * harm * own);
        all.p99 = all.p99.map(|p99| (p99 as f64 * harm * own) as u64);
        run.array.erases = (run.array.erases as f64 * (harm + own) / 2.0) as u64;
        run
    };
    let seeds = [(7, 1.0), (8, 1.2), (9, 0.9)];
    let runs = four_runs().into_iter().flat_map(|run| seeds.map(|seed| seeded(run.clone(), seed)));
    Comparison::new(runs.collect(), 3)
}

#[test]
fn comparison_over_three_seeds() {
    insta::assert_snapshot!(plain(&three_seeds(), STYLE));
}

#[test]
fn one_scenario_over_three_seeds_in_eighty_columns() {
    let runs = three_seeds().runs[..3].to_vec();
    let text = single(&Comparison::new(runs, 3), Detail::All, Style { columns: 80, ..STYLE });
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80 || line.starts_with("-: ")), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn seeds_have_one_row_a_variant_whatever_their_number() {
    let text = plain(&three_seeds(), Style { columns: 80, ..STYLE });
    let rows = text.lines().filter(|line| line.starts_with("reactive-inclusive ")).count();
    let alone = plain(&compared(four_runs()), Style { columns: 80, ..STYLE });
    let alone = alone.lines().filter(|line| line.starts_with("reactive-inclusive ")).count();
    assert!(rows <= alone + 2, "the table of changes alone comes on top: {text}");
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80 || line.starts_with("-: ")), "{text}");
}

/// Two policies that are the same but for chance: said in the table and in the sentence.
#[test]
fn a_difference_that_may_be_chance_is_marked() {
    let mut runs = vec![run("local", "blocking", 40_000, 12_000, &[1.0, 0.0]); 2];
    runs[1].label = "other".to_owned();
    let batches = &mut runs[1].host.batches.mean;
    batches.iter_mut().enumerate().for_each(|(k, mean)| *mean *= if k % 2 == 0 { 1.05 } else { 0.94 });
    runs[1].host.response_ns.all.mean = runs[1].host.response_ns.all.mean.map(|mean| mean * 0.998);
    let text = plain(&compared(runs), STYLE);
    let row = text.lines().find(|line| line.starts_with("other")).expect("its row");
    assert!(row.contains("-0.2% ±") && row.contains("n.s."), "{row}");
    assert!(text.contains("mean    all tie: other (12.47 ms) and local (12.49 ms)"), "{text}");
    let row = text.lines().find(|line| line.starts_with("local")).expect("its row");
    assert!(!row.contains("n.s."), "{row}");
}

#[test]
fn comparison_of_four_runs() {
    insta::assert_snapshot!(plain(&compared(four_runs()), STYLE));
}

#[test]
fn comparison_in_eighty_columns() {
    let text = plain(&compared(four_runs()), Style { columns: 80, ..STYLE });
    let footnote = |line: &str| line.starts_with("-: ");
    assert_eq!(
        text.lines().filter(|line| line.chars().count() > 80 && !footnote(line)).collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
    insta::assert_snapshot!(text);
}

/// The eighth part, the table of phases, and the member whom requests waited for.
#[test]
fn a_redundant_array_beside_one_without() {
    let text = plain(&compared(vec![four_runs()[1].clone(), redundant()]), STYLE);
    let (_, from) = text.split_once("Where the time went:").expect("the table of parts");
    let (shown, _) = from.split_once("The aged array").expect("what follows");
    insta::assert_snapshot!(format!("Where the time went:{shown}"));
    let narrow = plain(&compared(vec![four_runs()[1].clone(), redundant()]), Style { columns: 80, ..STYLE });
    assert!(
        narrow.lines().skip(1).all(|line| line.chars().count() <= 80 || line.starts_with("-: ")),
        "{narrow}"
    );
}

/// Means over seeds: of 300 and 100 requests that waited for member 2, and of phases that took time under one seed.
#[test]
fn phases_and_waits_are_means_over_seeds() {
    let mut other = redundant();
    other.seed += 1;
    other.devices[2].gc_waits.requests = 100;
    other.host.blame_phases_ns.reconstruct = ResourceSum::default();
    other.host.blame_ns.stripe_wait = 0;
    let [mean] = &means(&Comparison::new(vec![redundant(), other], 2))[..] else { panic!("one variant") };
    let waited: Vec<u64> = mean.devices.iter().map(|device| device.gc_waits.requests).collect();
    assert_eq!(waited, [0, 0, 200, 100]);
    let (whole, half) = (redundant().host, &mean.host);
    assert_eq!(half.blame_phases_ns.parity, whole.blame_phases_ns.parity);
    assert_eq!(half.blame_phases_ns.reconstruct.bus * 2, whole.blame_phases_ns.reconstruct.bus);
    assert_eq!(half.blame_ns.stripe_wait * 2, whole.blame_ns.stripe_wait);
}

#[test]
fn one_run_with_its_devices() {
    insta::assert_snapshot!(single(&compared(four_runs()[..1].to_vec()), Detail::All, STYLE));
}

#[test]
fn no_colour_code_reaches_a_pipe_and_the_best_mean_stands_out_on_a_terminal() {
    assert!(!plain(&compared(four_runs()), STYLE).contains('\x1b'));
    let coloured = plain(&compared(four_runs()), Style { color: Color(true), ..STYLE });
    let best = coloured.lines().find(|line| line.starts_with("reactive-inclusive")).expect("its row");
    assert!(best.contains("\x1b[1;32m"), "{best:?}");
    let ideal = coloured.lines().find(|line| line.starts_with("ideal")).expect("its row");
    assert!(!ideal.contains("\x1b[1;32m"), "the bound is not the best choice: {ideal:?}");
}

#[test]
fn an_unsteady_array_is_a_warning_and_differing_ones_are_told_apart() {
    let mut runs = four_runs();
    for run in &mut runs {
        run.precondition.steady = false;
        run.precondition.write_amplification_windows = [Some(3.1), Some(4.2)];
    }
    let judged = |runs: &[Report]| {
        let mut runs = runs.to_vec();
        for run in &mut runs {
            run.warnings = harmonia_metrics::judgement::of_run(run);
        }
        plain(&compared(runs), STYLE).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!judged(&four_runs()).contains("warning: "));
    let text = judged(&runs);
    assert!(text.contains("warning: the array was far from settled when the run began. Write amplification went from 3.10 to 4.20"), "{text}");
    assert!(text.contains("nobody no winner can be named: the array was not settled"), "{text}");
    runs[3].precondition.write_amplification_windows = [None, None];
    let text = judged(&runs);
    assert!(text.contains("warning: the array was far"), "{text}");
    assert!(text.contains("warning: under ideal, ageing was too short"), "{text}");
}

/// The four runs on arrays of such a level with so many usable bytes each.
fn arrays_of(levels: [(&str, u64); 4]) -> Vec<Report> {
    let mut runs = four_runs();
    for (run, (level, usable)) in runs.iter_mut().zip(levels) {
        run.scenario["array"] = json!({"level": level});
        run.array.usable_bytes = usable;
        run.array.redundancy = (level != "raid0").then(Default::default);
    }
    runs
}

#[test]
fn redundant_arrays_say_what_the_host_can_use() {
    let usable = |levels| plain(&compared(arrays_of(levels)), STYLE);
    let text = usable([("raid5", 3 << 30); 4]);
    assert!(text.contains("devices, raid5, 3.00 GiB usable, 100% full, 2,000 requests"), "{text}");
    assert!(!text.contains("Usable: "), "{text}");
    let text = usable([("raid5", 3 << 30), ("raid6", 2 << 30), ("raid0", 4 << 30), ("raid5", 3 << 30)]);
    assert!(!text.lines().next().unwrap().contains("usable"), "{text}");
    for part in
        ["  usable\n", "  3.00 GiB\n", "  2.00 GiB\n", "  4.00 GiB\n", "\nUsable: capacity that the host"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let text = usable([("raid0", 4 << 30), ("raid0", 8 << 30), ("raid0", 4 << 30), ("raid0", 4 << 30)]);
    assert!(!text.contains("sable"), "{text}");
}

/// A bound is not built, so it needs nothing.
#[test]
fn what_runs_need_of_their_ssds_is_a_column_where_it_differs() {
    let needing = |rungs: [&str; 4]| {
        let mut runs = four_runs();
        for (run, rung) in runs.iter_mut().zip(rungs) {
            run.array.coordination.interface = rung.to_owned();
        }
        plain(&compared(runs), Style { columns: 200, ..STYLE })
    };
    let text = needing(["nothing", "command", "busy", "nothing"]);
    let table = text.split("Response time in ms").nth(1).expect("the table");
    let last: Vec<&str> =
        table.lines().skip(1).take(5).filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(last, ["needs", "nothing", "command", "busy", "-"]);
    assert!(text.contains("Needs: what the SSDs must reveal or accept (array.interface)."));
    assert!(!needing(["nothing", "nothing", "nothing", ""]).contains("Needs"), "the bound is no difference");
}

/// The rule of a million requests is the judgement's; here it is only put into words.
#[test]
fn the_lowest_p999_of_reads_is_told_where_it_was_judged() {
    let mut of = compared(four_runs());
    assert!(!plain(&of, STYLE).contains("p99.9 of reads"));
    of.winners.read_p999 = of.winners.p99.clone();
    assert!(plain(&of, STYLE).contains("p99.9 of reads"));
}

#[test]
fn nothing_completed_is_said_and_not_divided_by() {
    let empty = |label: &str| {
        let mut run = run(label, "blocking", 0, 0, &[1.0, 0.0]);
        run.host = harmonia_metrics::HostReport::default();
        run
    };
    let text = plain(&compared(vec![empty("local"), empty("reactive-inclusive")]), STYLE);
    assert!(text.ends_with("No request completed: there is nothing to say.\n"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
    let text = single(&compared(vec![empty("local")]), Detail::All, STYLE);
    assert!(text.ends_with("No request completed: there is nothing to say.\n"), "{text}");
}

#[test]
fn the_last_sentence_never_calls_the_bound_a_choice() {
    let runs = four_runs();
    let last = |runs: &[Report]| verdict::sentence(runs, &Intervals::of(runs, 1)).trim_end().to_owned();
    let bound = "With garbage collection that takes no time (ideal) it would be 2.500 ms.";
    assert_eq!(
        last(&[runs[0].clone(), runs[3].clone()]),
        format!("local takes 12.49 ms on average. {bound}")
    );
    assert_eq!(
        last(&[runs[3].clone(), runs[0].clone()]),
        format!("local takes 12.49 ms on average (+399.8% against ideal). {bound}")
    );
    assert_eq!(last(&[runs[3].clone(), runs[3].clone()]), "ideal takes 2.500 ms on average.");
    assert_eq!(last(&runs[..2]), "", "who wins is said elsewhere");
}

/// The four runs with reads, of drives that last for so many years and are rated for five.
fn mixed(years: f64) -> Comparison {
    let mut runs = four_runs();
    for (at, run) in runs.iter_mut().enumerate() {
        run.host.read_requests = 500;
        run.host.response_ns.read.p99 = Some(3_000_000 + 1_000_000 * at as u64);
        run.scenario["ssd"]["rating"] = json!({"dwpd": 1.0, "years": 5.0});
        run.array.lifetime = Some(harmonia_metrics::ArrayLifetime {
            rate: harmonia_metrics::RateOf::Arrivals,
            window_s: 4.197,
            host_bytes_per_day: 1e9,
            first: Some(harmonia_metrics::First {
                device: 0,
                limit: harmonia_metrics::Limit::RatedBytes,
                years,
            }),
            evenness: harmonia_metrics::Evenness::of(run.devices.iter()),
        });
    }
    compared(runs)
}

fn first_screen(of: &Comparison, columns: usize) -> String {
    comparison(of, &Cross::default(), Rest::Shown, Detail::Answer, Style { columns, ..STYLE })
}

/// What a choice does, the tie, the column of reads and the drives that age before they wear.
#[test]
fn the_first_screen() {
    let text = first_screen(&mixed(240.0), 100);
    assert!(text.lines().count() <= 25 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::assert_snapshot!(text);
    assert!(!first_screen(&mixed(4.0), 100).contains("age ends"));
}

/// The column of reads stands where all others leave room for it, and there are writes beside the reads.
#[test]
fn the_p99_of_reads_has_a_column_where_there_is_room() {
    let heading = |of: &Comparison, columns: usize| {
        let text = first_screen(of, columns);
        text.lines().find(|line| line.contains("mean vs local")).map(str::to_owned).expect("the headings")
    };
    let of = mixed(4.0);
    let width = heading(&of, 200).chars().count();
    assert!(heading(&of, width).contains("p99 of reads"));
    assert!(!heading(&of, width - 1).contains("p99 of reads"));
    let reads = |runs: &[Report]| Comparison::new(runs.to_vec(), 1);
    let mut alone = of.runs.clone();
    alone.iter_mut().for_each(|run| run.host.write_requests = 0);
    assert!(!heading(&reads(&alone), 200).contains("p99 of reads"));
    let mut few = of.runs.clone();
    few[1].host.response_ns.read.p99 = None;
    assert!(first_screen(&reads(&few), 200).contains("-: too few requests"));
}

/// Means over seeds: the p99 of reads is no longer that of the first one.
#[test]
fn the_reads_of_several_seeds_are_means() {
    let mut runs = vec![mixed(4.0).runs[0].clone(); 2];
    (runs[1].seed, runs[1].host.response_ns.read.p99) = (8, Some(5_000_000));
    let [mean] = &means(&Comparison::new(runs, 2))[..] else { panic!("one variant") };
    assert_eq!(mean.host.response_ns.read.p99, Some(4_000_000));
}
