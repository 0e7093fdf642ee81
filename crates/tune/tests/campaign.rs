//! Does a search of simulations find what is there, go on where it was stopped, and say the same on any thread count?
//!
//! A shrunken array of two tiny devices. Collecting one block at a time is plainly better for the tail than eight, so the
//! search has something to find.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_run::{Progress, RunError, RunOptions, Silent, Stage};
use harmonia_scenario::Template;
use harmonia_tune::{Campaign, Request, Space, TuneReport, Watch, objective, picture};

/// Counts what needed no simulation.
#[derive(Default)]
struct Known(Cell<usize>);

impl Watch for Known {
    fn known(&self, runs: usize) {
        self.0.set(self.0.get() + runs);
    }
}

const SETS: [&str; 3] = ["array.devices=2", "workload.requests=1500", "ssd.gc.min_victims=6"];

struct Setup {
    sets: Vec<String>,
    overs: Vec<String>,
    objective: &'static str,
}

impl Setup {
    fn new(overs: &[&str]) -> Setup {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut sets: Vec<String> = own(&SETS);
        sets.retain(|set| !overs.iter().any(|over| over.split('=').next() == set.split('=').next()));
        Setup { sets, overs: own(overs), objective: "mean" }
    }

    fn request(&self) -> Request<'_> {
        Request {
            template: Template::open("tiny").expect("built in"),
            sets: &self.sets,
            trace: None,
            space: Space::parse(&self.overs).expect("ranges"),
            objective: objective::find(self.objective).expect("an objective"),
            seeds: 3,
            budget: 60,
        }
    }

    fn run(
        &self,
        folder: Option<&Path>,
        threads: usize,
        progress: &dyn Progress,
        cancel: &AtomicBool,
    ) -> (Result<TuneReport, RunError>, usize) {
        let options = RunOptions { threads, cancel, progress, ..RunOptions::default() };
        let known = Known::default();
        let campaign = Campaign::new(self.request()).unwrap_or_else(|why| panic!("{why}"));
        (campaign.run(folder, &options, &known), known.0.get())
    }

    fn report(&self, folder: Option<&Path>, threads: usize) -> (String, usize) {
        let (report, known) = self.run(folder, threads, &Silent, &AtomicBool::new(false));
        (json(&report.unwrap_or_else(|why| panic!("{why}"))), known)
    }
}

fn json(report: &TuneReport) -> String {
    serde_json::to_string_pretty(report).expect("JSON")
}

/// Presses Ctrl-C when so many runs have begun.
struct Impatient<'a> {
    left: std::sync::atomic::AtomicUsize,
    cancel: &'a AtomicBool,
}

impl Progress for Impatient<'_> {
    fn begin(&self, _: usize, _: &str, stage: Stage, _: u64) {
        if stage == Stage::Simulate && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

#[test]
fn a_search_that_was_stopped_ends_with_the_same_bytes_on_any_thread_count() {
    let setup =
        Setup::new(&["ssd.gc.min_victims=1..8", "array.coordination.policy=local,reactive-selective"]);
    let (whole, _) = setup.report(None, 1);
    let (threaded, _) = setup.report(None, 3);
    assert!(whole == threaded, "thread counts show");
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(false);
    let impatient = Impatient { left: 20.into(), cancel: &cancel };
    let (stopped, _) = setup.run(Some(folder.path()), 1, &impatient, &cancel);
    assert!(matches!(stopped, Err(RunError::Cancelled)));
    let kept = std::fs::read_dir(folder.path()).expect("readable").count();
    assert!(kept > 0, "what was finished is kept");
    let (resumed, known) = setup.report(Some(folder.path()), 2);
    assert!(known >= kept, "{known} of {kept} kept runs were used");
    assert!(resumed == whole, "a stopped search ends otherwise");
    let (again, _) = setup.report(Some(folder.path()), 2);
    assert!(again == whole);
}

/// Another objective uses the same runs: those of the first grid and of the scenario as it stands.
#[test]
fn another_objective_finds_the_runs_of_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut setup = Setup::new(&["ssd.gc.min_victims=1,8"]);
    setup.report(Some(folder.path()), 2);
    setup.objective = "erases";
    let (_, known) = setup.report(Some(folder.path()), 2);
    assert!(known >= 9, "{known}");
}

#[test]
fn the_report_holds_the_evidence() {
    let setup = Setup::new(&["ssd.gc.min_victims=1..8"]);
    let (report, _) = setup.run(None, 2, &Silent, &AtomicBool::new(false));
    let report = report.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.default.sets, [""; 0]);
    assert_eq!((report.seeds.search.clone(), report.seeds.held_out.clone()), (vec![1, 2, 3], vec![4, 5, 6]));
    let best = &report.points[report.best.point];
    assert_eq!((best.fate, best.costs.len(), best.sets.len()), ("best", 3, 1));
    assert!(report.plateau.points.contains(&report.best.point));
    assert!(report.plateau.points.contains(&report.plateau.plainest.point));
    for point in report.points.iter().filter(|point| point.fate == "beaten") {
        let beaten = point.beaten.as_ref().expect("by whom");
        assert!(beaten.difference.excludes(0.0) && beaten.difference.mean > 0.0);
    }
    assert_eq!(report.held_out[0].point, report.best.point);
    assert!(report.held_out.iter().any(|one| one.point == 0) && report.held_out[0].costs.len() == 3);
    let svg = picture::draw(&report);
    assert!(svg.starts_with("<svg") && svg.matches("<circle").count() >= 5 && !svg.contains("NaN"), "{svg}");
    let (intervals, discs) = (svg.matches("class=\"interval\"").count(), svg.matches("<circle").count());
    assert!(intervals >= discs, "an interval each, and those that reach down from above the axis: {svg}");
    assert!(svg.contains("rotate(-90)\" text-anchor=\"middle\">mean response time, ms</text>"), "{svg}");
}

/// A combination that validation refuses is passed over; where every one is, the first message is the error.
#[test]
fn what_cannot_be_run_is_told_and_an_unknown_key_is_an_error_at_once() {
    let setup = Setup::new(&["ssd.gc.hard_threshold=5%,99%", "ssd.gc.min_victims=1,2"]);
    let (report, _) = setup.run(None, 2, &Silent, &AtomicBool::new(false));
    let report = report.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.refused.iter().map(|refusal| refusal.points).sum::<usize>(), 2, "{:?}", report.refused);
    assert!(report.refused[0].reason.contains("hard_threshold"), "{:?}", report.refused);
    let message = |overs: &[&str], sets: &[&str]| {
        let mut setup = Setup::new(overs);
        setup.sets.extend(sets.iter().map(|set| (*set).to_owned()));
        Campaign::new(setup.request()).err().map(|why| why.to_string()).expect("refused")
    };
    let unknown = message(&["ssd.gc.min_victim=1..8"], &[]);
    assert!(
        unknown.contains("ssd.gc.min_victim") && unknown.contains("did you mean `min_victims`"),
        "{unknown}"
    );
    let all = message(&["ssd.gc.hard_threshold=98%,99%"], &[]);
    assert!(all.contains("ssd.gc.hard_threshold") && all.contains("98%"), "the first: {all}");
    let both = message(&["ssd.gc.victim=greedy,fifo"], &["ssd.gc.victim=random"]);
    assert!(both.contains("varied by --over and given by --set"), "{both}");
    assert!(message(&["seed=1..5"], &[]).contains("--over seed"));
}

#[test]
fn seeds_and_budgets_that_cannot_work_are_refused_with_what_would() {
    let setup = Setup::new(&["ssd.gc.min_victims=1..8"]);
    let refused = |change: &dyn Fn(&mut Request<'_>)| {
        let mut request = setup.request();
        change(&mut request);
        Campaign::new(request).err().map(|why| why.to_string()).expect("refused")
    };
    assert!(refused(&|request| request.seeds = 1).contains("--seeds 1"));
    assert!(refused(&|request| request.seeds = 501).contains("2 to 500"));
    let budget = refused(&|request| request.budget = 20);
    assert!(budget.contains("--budget 20") && budget.contains("at least 33"), "{budget}");
}

/// p999 of 1500 requests, a tenth of them warm-up, is the second largest: too few to say.
#[test]
fn an_objective_that_runs_cannot_answer_is_refused() {
    let setup = Setup { objective: "p999", ..Setup::new(&["ssd.gc.min_victims=1..8"]) };
    let (report, _) = setup.run(None, 2, &Silent, &AtomicBool::new(false));
    let message = report.expect_err("too few requests").to_string();
    assert!(message.contains("--objective p999") && message.contains("workload.requests"), "{message}");
}
