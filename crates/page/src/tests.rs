use harmonia_metrics::recording::{DiePlanes, Limits, MemberPlanes, PlaneSpan, Recorder};
use harmonia_metrics::{Observer, Warning, judgement};
use harmonia_tables::{
    Cross,
    fixtures::axis,
    fixtures::{four_runs, run},
};
use harmonia_types::{Blame, Completion, DeviceId, GcWait, Operation, PlaneWork, RequestBlame, SimTime};

use serde_json::json;

use super::*;

/// The comparison of runs that were judged one by one, as simulated ones are.
fn comparison(mut runs: Vec<Report>) -> Comparison {
    for run in &mut runs {
        let judged = judgement::of_run(run);
        run.warnings.extend(judged);
    }
    Comparison::new(runs, 1)
}

/// The same run with responses that grow from batch to batch.
fn overloaded(run: &Report) -> Report {
    let mut run = run.clone();
    run.host.arrivals_ns = Some(run.simulated_ns);
    run.host.batches.mean = (1..=31).map(|batch| f64::from(batch) * 1e6).collect();
    run
}

fn words_of(comparison: &Comparison, cross: &Cross) -> words::Words {
    let runs = tables::means(comparison);
    words::of(comparison, &runs, &loads::parts(comparison, cross, &runs))
}

/// Words as a reader meets them.
fn said(comparison: &Comparison) -> String {
    said_of(words_of(comparison, &Cross::default()))
}

fn said_of(words: words::Words) -> String {
    let cautions = words.cautions.iter().map(|caution| format!("Note: {caution}"));
    let titles = [words.titles.responses, words.titles.overlap, words.titles.blame, words.titles.wear];
    let titles = titles.into_iter().map(|title| format!("| {title}"));
    let lead = words.lead.into_iter().map(|sentence| format!("- {sentence}"));
    let why = words.why.into_iter().map(|sentence| format!("  {sentence}"));
    let lines = [format!("# {}", words.headline)].into_iter();
    let lines = lines.chain(cautions).chain(lead).chain(why).chain(titles);
    escaped(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_page_repeats_the_warnings_of_the_scenarios() {
    let mut runs = four_runs();
    let warning = |code: &str, text: &str| Warning::new(code, text);
    for run in &mut runs {
        run.warnings.push(warning("parity-resonance", "parity lies on few dies"));
        run.warnings.push(warning("address-space", "requests go to a part"));
    }
    runs[1].warnings.push(warning("keeps-apart", "gclock lets members wait"));
    let text = said(&comparison(runs));
    assert!(text.contains("Note: Parity lies on few dies.\n"), "{text}");
    assert!(text.contains("Note: Under reactive-inclusive, gclock lets members wait.\n"), "{text}");
    assert!(!text.contains("requests go to a part"), "{text}");
}

/// A run that ties for the fewest erases with the baseline wears nothing out: only the end of the window tells them apart.
#[test]
fn who_wears_the_flash_most_is_said_unless_it_ties() {
    let mut runs = four_runs();
    runs[2].array.erases *= 3;
    let mut told = comparison(runs);
    assert!(said(&told).contains("reactive-selective wears the flash most: "), "{}", said(&told));
    let fewest = told.winners.erases.as_mut().expect("counts of erases");
    fewest.labels = vec!["local".to_owned(), "reactive-selective".to_owned()];
    assert!(!said(&told).contains("wears the flash most"), "{}", said(&told));
}

fn without_collections(label: &str) -> Report {
    let mut run = run(label, "blocking", 0, 0, &[1.0, 0.0, 0.0, 0.0, 0.0]);
    run.devices
        .iter_mut()
        .for_each(|device| (device.erases, device.gc_victims, device.gc_busy_ns) = (0, 0, 0));
    run
}

/// Two runs whose means tie for want of certainty.
fn maybe_chance() -> Comparison {
    let mut pair = comparison(four_runs()[..2].to_vec());
    let versus = pair.intervals.variants[1].versus_baseline.as_mut().expect("a baseline");
    versus.mean.as_mut().expect("a mean").significant = Some(false);
    let winner = pair.winners.mean.as_mut().expect("a choice");
    winner.labels.push("local".to_owned());
    (winner.next, winner.baseline) = (None, None);
    pair
}

/// The mean falls as usual; p99 and p99.9 become these shares of the baseline's.
fn with_tail(p99: f64, p999: f64) -> Comparison {
    let mut runs = four_runs()[..2].to_vec();
    let all = |run: &Report| (run.host.response_ns.all.p99.unwrap_or(0), 90_000_000);
    let (of_p99, of_p999) = all(&runs[0]);
    runs[0].host.response_ns.all.p999 = Some(of_p999);
    runs[1].host.response_ns.all.p99 = Some((of_p99 as f64 * p99) as u64);
    runs[1].host.response_ns.all.p999 = Some((of_p999 as f64 * p999) as u64);
    comparison(runs)
}

#[test]
fn the_words_follow_from_the_figures() {
    let four = four_runs();
    let of = |runs: &[Report]| said(&comparison(runs.to_vec()));
    let mut unsteady = four[..2].to_vec();
    unsteady[1].precondition.steady = false;
    let mut dear = four.clone();
    dear[1].array.erases = 48_000;
    let mut apart = four.clone();
    for (devices, run) in apart.iter_mut().enumerate() {
        run.scenario["array"] = serde_json::json!({"devices": devices});
    }
    let mut floats = four[..2].to_vec();
    (floats[0].array.usable_bytes, floats[1].array.usable_bytes) = (64 << 30, 60 << 30);
    let mut few = four[..2].to_vec();
    few[1].host.requests = 900;
    let nothing = Report { host: harmonia_metrics::HostReport::default(), ..four[0].clone() };
    let text = [
        ("four policies", of(&four)),
        ("one run", of(&four[..1])),
        ("one policy and the bound", of(&[four[0].clone(), four[3].clone()])),
        ("the baseline is best", of(&[four[1].clone(), four[0].clone()])),
        ("maybe chance", said(&maybe_chance())),
        ("p99.9 is no better", said(&with_tail(0.8, 1.0))),
        ("p99 is worse", said(&with_tail(1.2, 1.3))),
        ("four times the erases", of(&dear)),
        ("a sweep", of(&apart)),
        ("few requests", of(&few)),
        ("one has other stripes", of(&floats)),
        ("no collections", of(&[without_collections("local"), without_collections("gclock")])),
        ("one does not keep up", said(&comparison(vec![overloaded(&unsteady[0]), unsteady[1].clone()]))),
        ("none keeps up", said(&comparison(vec![overloaded(&four[0])]))),
        ("no request", of(&[nothing])),
    ];
    let text: Vec<String> = text.iter().map(|(name, text)| format!("-- {name} --\n{text}\n")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

/// Policies under two rates; waiting for collection as given, rate by rate.
fn two_loads(gc_us: [[u64; 2]; 2]) -> (Comparison, Cross) {
    let axes = vec![
        axis("array.coordination.policy", &["local", "gclock"]),
        axis("workload.arrival.rate", &["500", "1000"]),
    ];
    let cross = Cross::full(axes);
    let of = |index: usize| gc_us[index % 2][index / 2];
    let runs =
        (0..4).map(|index| run(&cross.name(index), "blocking", of(index), 9_000, &[0.5, 0.5])).collect();
    (Comparison::new(runs, 1), cross)
}

/// The lowest mean of all is that of local at the lower rate, which is no finding about local.
#[test]
fn a_winner_is_named_within_one_load_only() {
    let of = |gc_us: [[u64; 2]; 2]| {
        let (comparison, cross) = two_loads(gc_us);
        (said_of(words_of(&comparison, &cross)), render(&comparison, &cross, &[], ""))
    };
    let (alike, page) = of([[9_000, 3_000], [90_000, 40_000]]);
    assert!(
        alike.starts_with("# gclock cuts the mean response time under every load, by 32% to 50%\n"),
        "{alike}"
    );
    assert!(
        alike.contains("- At rate=500 the mean is ") && alike.contains("- At rate=1000 the mean is "),
        "{alike}"
    );
    assert!(
        page.contains("<h3>Who is best, rate=500</h3>") && page.contains("<h3>Who is best, rate=1000</h3>")
    );
    assert_eq!(page.matches("<td>baseline</td>").count(), 2, "each load has its baseline");
    assert!(page.contains("Mean response, against the baseline of each load"));
    let (differ, _) = of([[9_000, 3_000], [40_000, 90_000]]);
    assert!(differ.starts_with("# Which choice is best depends on the load\n"), "{differ}");
    let (once, _) = of([[9_000, 9_000], [90_000, 40_000]]);
    assert!(once.starts_with("# gclock cuts the mean response time under 1 of 2 loads, by 50%\n"), "{once}");
    let (never, _) = of([[3_000, 9_000], [40_000, 90_000]]);
    assert!(never.starts_with("# local has the lowest mean response time under every load\n"), "{never}");
    let (none, _) = of([[9_000, 9_000], [40_000, 40_000]]);
    assert!(none.starts_with("# No choice has a clearly lower mean under any load"), "{none}");
}

fn recording() -> Recording {
    let mut recorder = Recorder::new(Limits { slices: 4, sample: 4, window_part: 2, intervals: 4 });
    recorder.begin(SimTime(1_000), 2);
    for id in 0..40 {
        let arrival = SimTime(1_000 + id * 1_000);
        let completion = Completion {
            id,
            operation: Operation::Write,
            offset: 0,
            length: 4096,
            arrival,
            finish: SimTime(arrival.0 + 700 + id),
            blame: RequestBlame {
                data: Blame { service: 300, queue_gc: 400 + id, ..Blame::default() },
                ..RequestBlame::default()
            },
            met_gc: true,
            gc_wait: Some(GcWait { member: DeviceId(1), ns: 400 + id }),
        };
        recorder.completion(&completion);
    }
    recorder.gc_interval(DeviceId(1), SimTime(2_000), SimTime(9_000));
    recorder.end(SimTime(41_000));
    recorder.finish(SimTime(41_000))
}

#[test]
fn the_page_is_whole_and_asks_for_nothing() {
    let page =
        render(&comparison(four_runs()), &Cross::default(), &[Some(recording())], "name = \"hpc-w\"\n");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("{{") && !page.contains("NaN"));
    // The only addresses: the name of the SVG elements, which is not one, and the empty icon.
    let addresses = page.replace("http://www.w3.org/2000/svg", "").replace("href=\"data:,\"", "");
    for fetched in ["http:", "https:", "src=", "url(\"", "@import", "<link rel=\"style"] {
        assert!(!addresses.contains(fetched), "{fetched}");
    }
    assert!(page.contains("id=\"recording-0\"") && !page.contains("id=\"recording-1\""));
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let name = "</script><script>alert(1)</script>{{data}}<!--\u{2}\u{3}";
    let mut runs =
        vec![run(name, "blocking", 10, 5, &[0.9, 0.1]), run("local", "blocking", 20, 5, &[0.9, 0.1])];
    runs[0].scenario["name"] = name.into();
    let page = render(&comparison(runs), &Cross::default(), &[], name);
    let of_ours = SCRIPTS.iter().map(|(_, script)| script.matches("<script").count()).sum::<usize>();
    assert_eq!(page.matches("<script").count() - of_ours, 2, "the data and the program");
    assert!(!page.contains("alert(1)</script>") && page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

#[test]
fn winners_and_the_matrix_of_a_cross_are_on_the_page() {
    let axes = vec![
        axis("ssd.gc.victim", &["greedy", "fifo"]),
        axis("array.coordination.policy", &["local", "gclock"]),
    ];
    let cross = Cross::full(axes);
    let of = [40_000, 6_000, 5_000, 4_000].into_iter().enumerate();
    let runs = of.map(|(index, gc_us)| run(&cross.name(index), "blocking", gc_us, 9_000, &[0.9, 0.1]));
    let page = render(&Comparison::new(runs.collect(), 1), &cross, &[], "");
    let part = page.split("<h3>Who is best</h3>").nth(1).and_then(|rest| rest.split("</section>").next());
    insta::assert_snapshot!(part.expect("winners"));
    assert!(page.contains("<th scope=\"col\">victim + policy</th>"));
    assert!(page.contains("title=\"Half of all requests take no longer\">median"));
    let alone = render(&comparison(four_runs()[..1].to_vec()), &Cross::default(), &[], "");
    assert!(!alone.contains("Who is best") && !alone.contains("class=\"matrices\""));
}

/// The bytes of a small recording, worked out by hand.
#[test]
fn a_recording_is_written_as_its_reader_expects() {
    let mut recorder = Recorder::new(Limits { slices: 4, sample: 4, window_part: 2, intervals: 4 });
    recorder.begin(SimTime(1_000), 1);
    recorder.completion(&Completion {
        id: 5,
        operation: Operation::Write,
        offset: 0,
        length: 300,
        arrival: SimTime(1_010),
        finish: SimTime(1_310),
        blame: RequestBlame {
            data: Blame { service: 100, queue_gc: 200, ..Blame::default() },
            ..RequestBlame::default()
        },
        met_gc: true,
        gc_wait: Some(GcWait { member: DeviceId(0), ns: 200 }),
    });
    recorder.gc_interval(DeviceId(0), SimTime(1_050), SimTime(1_150));
    let encode::Encoded { header, base64 } = encode::recording(&recorder.finish(SimTime(1_310)));
    let level = [1, 1, 1, 1, 1];
    let request = [1, 5, 10, 1 | 1 << 2 | 0b11 << 3, 0xac, 2, 1 | 1 << 4, 100, 0xc8, 1, 1, 0];
    let interval = [1, 50, 100, 0];
    let bytes = [&level[..], &request, &interval].concat();
    assert_eq!(base64, encode::base64(&bytes));
    assert_eq!(
        (&header["length"], &header["stride"], &header["members"]),
        (&json!(310), &json!(1), &json!(1))
    );
}

/// Parts of every phase, and 50 ns of waiting for collection that were for other members than SSD 3.
#[test]
fn a_degraded_request_is_written_with_all_its_phases() {
    let mut recorder = Recorder::new(Limits { slices: 4, sample: 4, window_part: 2, intervals: 4 });
    recorder.begin(SimTime(1_000), 1);
    recorder.completion(&Completion {
        id: 5,
        operation: Operation::Read,
        offset: 0,
        length: 1,
        arrival: SimTime(1_010),
        finish: SimTime(1_305),
        blame: RequestBlame {
            parity: Blame { service: 30, queue_gc: 20, link: 10, queue_rebuild: 5, ..Blame::default() },
            reconstruct: Blame { transfer: 40, queue_gc: 90, ..Blame::default() },
            stripe_wait: 100,
            ..RequestBlame::default()
        },
        met_gc: true,
        gc_wait: Some(GcWait { member: DeviceId(3), ns: 60 }),
    });
    let encode::Encoded { base64, .. } = encode::recording(&recorder.finish(SimTime(1_310)));
    let level = [1, 1, 1, 1, 1];
    let request = [1, 5, 10, 1 << 2 | 0b11 << 3, 1, 0b1111_0000, 0b11, 110, 40, 40, 100, 5, 4, 50];
    let no_interval = [0];
    assert_eq!(base64, encode::base64(&[&level[..], &request, &no_interval].concat()));
}

/// Text and list of winners cannot contradict each other: who ties there ties here, and who loses there is not named.
#[test]
fn ties_are_those_of_the_winners() {
    let mut comparison = comparison(four_runs()[..3].to_vec());
    let words = words_of(&comparison, &Cross::default());
    assert!(!escaped(&words.headline).contains("ties"), "{}", words.headline);
    let winner = comparison.winners.mean.as_mut().expect("a choice");
    winner.labels.push("reactive-selective".to_owned());
    let words = words_of(&comparison, &Cross::default());
    assert!(escaped(&words.headline).ends_with(" and ties with reactive-selective"), "{}", words.headline);
    assert!(escaped(&words.lead.join(" ")).contains("Choose reactive-inclusive or reactive-selective"));
    let mut more = four_runs()[..3].to_vec();
    more.push(run("gcsync", "blocking", 7_000, 12_000, &[0.9, 0.1]));
    let mut more = Comparison::new(more, 1);
    let labels = ["reactive-inclusive", "reactive-selective", "gcsync"].map(str::to_owned);
    more.winners.mean.as_mut().expect("a choice").labels = labels.to_vec();
    let words = words_of(&more, &Cross::default());
    assert!(words.headline.ends_with(" and ties with 2 others"), "{}", words.headline);
    assert!(
        escaped(&words.lead.join(" "))
            .contains("Choose reactive-inclusive or one of the 2 that tie with it. reactive-inclusive: the first SSD at its threshold")
    );
}

/// A die of two planes: a page is read, then programmed while the other plane programs for the host.
fn die(die: u32) -> DiePlanes {
    let span = |plane, work, start, end| PlaneSpan { plane, work, start: SimTime(start), end: SimTime(end) };
    DiePlanes {
        die,
        planes: 2,
        spans: vec![
            span(Some(1), PlaneWork::GcRead, 2_000, 2_050),
            span(Some(0), PlaneWork::HostProgram, 2_060, 2_360),
            span(Some(1), PlaneWork::GcProgram, 2_060, 2_360),
            span(None, PlaneWork::Summary, 2_360, 2_400),
        ],
        waiting: vec![(SimTime(2_000), 3), (SimTime(2_200), 4)],
    }
}

/// The bytes of a die's planes, worked out by hand.
#[test]
fn planes_are_written_as_their_reader_expects() {
    let spans = [4, 2 << 4 | 2, 0, 50, 1 << 4 | 1, 60, 0xac, 2, 2 << 4 | 3, 0, 0xac, 2, 8, 0xac, 2, 40];
    let waiting = [2, 0, 3, 0xc8, 1, 4];
    assert_eq!(encode::planes(&die(0)), encode::base64(&[&spans[..], &waiting].concat()));
}

fn recorded(dies: &[u32]) -> Option<Recording> {
    let planes = MemberPlanes { member: DeviceId(0), dies: dies.iter().map(|&index| die(index)).collect() };
    Some(Recording { planes: Some(planes), ..recording() })
}

/// Whatever was recorded, runs are shown on one die; who has not recorded it, or nothing, is not shown.
#[test]
fn planes_are_those_of_one_die() {
    let page = |recordings: &[Option<Recording>]| {
        render(&comparison(four_runs()), &Cross::default(), recordings, "")
    };
    let text = page(&[recorded(&[0, 5]), recorded(&[5]), recorded(&[]), None]);
    assert!(
        text.contains("Die 5 of SSD 0") && text.contains("id=\"planes\" aria-labelledby=\"planes-title\">")
    );
    let has = |index: usize| text.contains(&format!("id=\"planes-{index}\">"));
    assert_eq!([0, 1, 2, 3].map(has), [true, true, false, false]);
    let none = page(&[Some(recording()), recorded(&[])]);
    assert!(none.contains("aria-labelledby=\"planes-title\" hidden>") && !none.contains("id=\"planes-0\""));
}

/// A run whose first SSD was watched over time; empty blocks have this variance at two widths.
fn watched(label: &str, variance: f64) -> Report {
    let mut run = run(label, "blocking", 10, 5, &[0.9, 0.1]);
    run.simulated_ns = 40_000;
    run.devices[0].over_time = harmonia_metrics::OverTimeReport {
        bucket_ns: 16_384,
        channels_in_gc: vec![0.5, 1.0, 0.0],
        empty_blocks: vec![12.125, 11.0, 10.0],
        queue_depth: vec![3.0, 4.0, 5.0],
        victims_erased: vec![2, 0, 1],
        empty_blocks_change_variance_by_width: vec![(16_384, variance), (32_768, 1.0)],
        ..harmonia_metrics::OverTimeReport::default()
    };
    run
}

/// Section and series, and the finding in the title: a variance of 16 times is 4 times as uneven.
#[test]
fn what_went_on_inside_an_ssd_is_on_the_page() {
    let page = |runs: Vec<Report>| render(&comparison(runs), &Cross::default(), &[], "");
    let text = page(vec![watched("smooth", 2.0), watched("surges", 32.0)]);
    assert!(text.contains("<section id=\"over-time\" aria-labelledby=\"over-time-title\">"));
    let title =
        "Empty blocks of SSD 0 come and go 4.0 times as unevenly under <b>surges</b> as under <b>smooth</b>";
    assert!(text.contains(title));
    let series = r#""overTime":{"host":{"bytes":[],"width":0},"length":40000,"ssds":[{"channels":[0.5,1.0,0.0],"empty":[12.125,11.0,10.0],"queue":[3.0,4.0,5.0],"victims":[2,0,1],"width":16384}"#;
    assert!(text.contains(series));
    assert!(page(vec![watched("one", 2.0), watched("two", 2.2)]).contains(">Inside an SSD over time<"));
    let still = over_time::title(&[watched("still", 1e-6), watched("surges", 32.0)]);
    assert_eq!(
        html::escaped(&still),
        "Empty blocks of SSD 0 come and go under surges, and hardly under still"
    );
    assert!(
        page(four_runs()).contains("aria-labelledby=\"over-time-title\" hidden>"),
        "of reports of before"
    );
}

/// Lanes, data and words of write caches are on pages that have any, and on no other.
#[test]
fn write_caches_over_time_are_on_the_page_where_there_are_any() {
    let page = |runs: Vec<Report>| render(&comparison(runs), &Cross::default(), &[], "");
    let mut cached = watched("cached", 2.0);
    cached.devices[0].over_time.write_cache_filled = vec![Some(0.5), None, Some(0.25)];
    let text = page(vec![watched("plain", 2.0), cached]);
    let caches = r#""overTime":{"caches":[{"filled":[0.5,null,0.25],"width":16384}],"host""#;
    assert!(text.contains(caches) && text.matches("\"caches\":").count() == 1);
    assert!(text.contains("cacheMost") && text.contains("A cache at 100% has no room"));
    let plain = page(vec![watched("plain", 2.0), watched("other", 2.0)]);
    assert!(["\"caches\":", "cacheMost", "A cache at 100%"].iter().all(|what| !plain.contains(what)));
}

#[test]
fn programs_of_the_host_that_were_suspended_are_drawn_where_there_are_any() {
    let page = |work| {
        let mut recorded = recorded(&[0]);
        let dies = &mut recorded.as_mut().and_then(|of| of.planes.as_mut()).expect("planes").dies;
        dies[0].spans[3].work = work;
        render(&comparison(four_runs()), &Cross::default(), &[recorded, None], "")
    };
    let script = "program of the host suspended";
    assert!(page(PlaneWork::HostSuspended).contains(script));
    assert!(!page(PlaneWork::Suspended).contains(script));
}

/// Variances are compared at a width that all have: the widest bucket's.
#[test]
fn unevenness_is_compared_at_one_width() {
    let mut longer = watched("longer", 0.0);
    longer.devices[0].over_time.bucket_ns = 32_768;
    longer.devices[0].over_time.empty_blocks_change_variance_by_width = vec![(32_768, 9.0)];
    let title = over_time::title(&[watched("short", 1e9), longer]);
    assert_eq!(
        html::escaped(&title),
        "Empty blocks of SSD 0 come and go 3.0 times as unevenly under longer as under short"
    );
}

#[test]
fn a_page_of_many_runs_shows_the_first_ssds_and_says_so() {
    let four = four_runs();
    assert_eq!(over_time::shown(4, &four), 4);
    let many: Vec<Report> = (0..100).map(|_| four[0].clone()).collect();
    assert_eq!(over_time::shown(100, &many), 2);
    assert!(over_time::caption(&many, 2).ends_with("Shown are the first 2 of 4 SSDs."));
    assert!(!over_time::caption(&four, 4).contains("Shown"));
}
