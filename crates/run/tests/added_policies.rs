//! Is a policy that a program adds while it runs found, described and run like one that is built in?

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use harmonia_array::Interface;
use harmonia_array::coordination::{self, Action, Coordinator, DeliveredView, Event, Interests, Parameters};
use harmonia_engine::Rng;
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::schema::json_schema;
use harmonia_scenario::{Scenario, policies};
use harmonia_ssd::block::BlockId;
use harmonia_ssd::gc::victim::{self, Victim, VictimView};
use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, no_keys, own_keys};
use harmonia_types::{DeviceId, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// The member that is listened to.
    member: u16,
}

/// Counts what it hears of one member.
#[derive(Clone)]
struct Listener {
    member: DeviceId,
    heard: Arc<AtomicU64>,
}

impl Coordinator for Listener {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, _: SimTime, event: &Event, _: &DeliveredView<'_>, _: &mut Vec<Action>) {
        if matches!(event, Event::HardThreshold(member) if *member == self.member) {
            self.heard.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Any closed block, and counts how often it was asked.
#[derive(Clone)]
struct Counting(Arc<AtomicU64>);

impl Victim for Counting {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        self.0.fetch_add(1, Ordering::Relaxed);
        view.blocks.random_closed(rng)
    }

    fn may_take_full(&self) -> bool {
        true
    }
}

#[test]
fn policies_that_a_program_adds_are_policies_like_any_other() {
    let (heard, asked) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (for_listener, for_victim) = (Arc::clone(&heard), Arc::clone(&asked));
    let listener: coordination::Build = Box::leak(Box::new(move |parameters: &Parameters<'_>| {
        let Config { member } = parameters.config()?;
        let listener = Listener { member: DeviceId(member), heard: Arc::clone(&for_listener) };
        Ok(Box::new(listener) as Box<dyn Coordinator>)
    }));
    let counting: victim::Build = Box::leak(Box::new(move |_: &harmonia_types::registry::Parameters<'_>| {
        Ok(Box::new(Counting(Arc::clone(&for_victim))) as Box<dyn Victim>)
    }));
    let about = ("added by a test", "none");
    let (summary, source) = about;
    coordination::POLICIES
        .add(Entry { name: "listener", summary, source, keys: &own_keys::<Config>, build: listener })
        .expect("it is new");
    victim::POLICIES
        .add(Entry { name: "counting", summary, source, keys: &no_keys, build: counting })
        .expect("it is new");

    let listed = policies::list();
    let keys =
        listed.iter().find(|policy| policy.name == "listener").map(|policy| policy.keys[0].name.clone());
    assert_eq!(keys.as_deref(), Some("member"));
    assert!(json_schema().to_string().contains("listener: The member that is listened to."));

    let parse = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Scenario::load("tiny", &sets, None)
    };
    let wrong =
        parse(&["array.coordination.policy=listener", "array.coordination.membre=1"]).expect_err("misspelt");
    assert!(wrong.problem().contains("did you mean `member`"), "{wrong}");
    let scenario = parse(&[
        "array.coordination.policy=listener",
        "array.coordination.member=1",
        "ssd.gc.victim=counting",
    ])
    .expect("it can run");
    let options = RunOptions { checked: true, ..RunOptions::default() };
    let report = run(&scenario, &options).expect("it runs");
    assert!(report.array.erases > 0);
    assert!(heard.load(Ordering::Relaxed) > 0 && asked.load(Ordering::Relaxed) > 0);
}

/// Holds every member by day and lets them collect by night, from 22:00 to 06:00 UTC.
#[derive(Clone)]
struct AtNight(Arc<Mutex<Vec<Asked>>>);

/// What it was asked at: simulated time and UTC in hours, and whether it let members collect; `None` where there is no clock.
type Asked = Option<(f64, f64, bool)>;

const HOUR_NS: u64 = 3_600_000_000_000;
const NIGHT: [u64; 2] = [22 * HOUR_NS, 6 * HOUR_NS];

impl Coordinator for AtNight {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(clock) = view.clock else { return asked.push(None) };
        if !matches!(event, Event::Start | Event::Timer(_)) {
            return;
        }
        let time_of_day_ns = clock.time_of_day_ns(now);
        let is_night = time_of_day_ns >= NIGHT[0] || time_of_day_ns < NIGHT[1];
        let hours = |ns: u64| ns as f64 / HOUR_NS as f64;
        asked.push(Some((hours(now.0), hours(time_of_day_ns), is_night)));
        for member in view.capable() {
            actions.extend(match is_night {
                true => [Action::Release(member), Action::Force(member, Stop::Internal)].to_vec(),
                false => [Action::Hold(member)].to_vec(),
            });
        }
        let next = NIGHT.map(|time_of_day_ns| clock.next(now, time_of_day_ns)).into_iter().min();
        actions.extend(next.map(|next| Action::Timer(next, 0)));
    }
}

/// A policy knows the time of day of a trace that was recorded at one: by the clock of the trace, however fast it is replayed,
/// and wherever it begins.
#[test]
fn a_policy_can_collect_at_night() {
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let for_policy = Arc::clone(&asked);
    let build: coordination::Build = Box::leak(Box::new(move |_: &Parameters<'_>| {
        Ok(Box::new(AtNight(Arc::clone(&for_policy))) as Box<dyn Coordinator>)
    }));
    let (summary, source) = ("collects at night", "none");
    coordination::POLICIES
        .add(Entry { name: "at-night", summary, source, keys: &no_keys, build })
        .expect("it is new");
    let folder = tempfile::tempdir().expect("a folder");
    // Every ten minutes from 2018-10-01 17:00 UTC on, for two days; and the same by a clock that nobody knows.
    let row = |origin: u64, row: u64| format!("{},{},8,1,1\n", origin + 600 * row, row * 8 % 1024);
    for (name, origin) in [("absolute.csv", 1_538_413_200), ("relative.csv", 0)] {
        let rows: String = (0..288).map(|index| row(origin, index)).collect();
        std::fs::write(folder.path().join(name), rows).expect("it can be written");
    }
    let forced = |report: &Report| report.array.coordination.counters.get("forced").copied().unwrap_or(0);
    let asked_in = |name: &str, sets: &[&str]| {
        let text = format!(
            "[ssd]\npreset = \"tiny-test\"\n[array]\ndevices = 2\ncoordination.policy = \"at-night\"\n\
             [precondition]\noverwrite = 0.5\n[workload]\nkind = \"trace\"\nformat = \"tencent\"\npath = \"{name}\"\n"
        );
        let origin = folder.path().join("night.toml");
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let scenario =
            Scenario::parse(&text, &origin.display().to_string(), &sets, None).expect("it can run");
        let options = RunOptions { checked: true, ..RunOptions::default() };
        let report = run(&scenario, &options).expect("it runs");
        let asked = std::mem::take(&mut *asked.lock().expect("nothing panicked"));
        (asked, forced(&report), report.trace.and_then(|trace| trace.begins_utc_ns))
    };
    let close = |found: &[Asked], expected: &[(f64, f64, bool)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let (now, time_of_day, is_night) = found.expect("there is a clock");
            let is_close = (now - expected.0).abs() < 1e-6 && (time_of_day - expected.1).abs() < 1e-6;
            assert!(is_close && is_night == expected.2, "{found:?}, expected {expected:?}");
        }
    };
    let begins = Some(1_538_413_200_000_000_000);
    let two_days =
        [(0.0, 17.0, false), (5.0, 22.0, true), (13.0, 6.0, false), (29.0, 22.0, true), (37.0, 6.0, false)];
    let (found, forced, reported) = asked_in("absolute.csv", &[]);
    close(&found, &two_days);
    assert_eq!((forced, reported), (4, begins), "two members in two nights");
    // A replay in a tenth of the time has nights of 48 minutes.
    let (found, forced, reported) = asked_in("absolute.csv", &["workload.time_scale=0.1"]);
    close(&found, &two_days.map(|(now, time_of_day, is_night)| (now / 10.0, time_of_day, is_night)));
    assert_eq!((forced, reported), (4, begins));
    // A window begins later.
    let (found, _, reported) = asked_in("absolute.csv", &["workload.start=86401s"]);
    close(
        &found,
        &[
            (0.0, 17.0 + 1.0 / 3600.0, false),
            (5.0 - 1.0 / 3600.0, 22.0, true),
            (13.0 - 1.0 / 3600.0, 6.0, false),
        ],
    );
    assert_eq!(
        reported,
        Some((1_538_413_200 + 86_400 + 600) * 1_000_000_000),
        "the first request of the window"
    );
    // A copy goes on by the clock: three nights and the fourth of a trace of two days.
    let (found, _, reported) = asked_in("absolute.csv", &["workload.repeat=2"]);
    assert_eq!((found.len(), reported), (9, begins));
    // A run behind a warm-up of two hours under another policy begins with the first request behind it.
    let (found, _, reported) =
        asked_in("absolute.csv", &["workload.warmup=2h", "precondition.warmup_policy=local"]);
    close(
        &found,
        &two_days.map(|(now, time_of_day, is_night)| match now {
            0.0 => (0.0, 19.0, false),
            _ => (now - 2.0, time_of_day, is_night),
        }),
    );
    assert_eq!(reported, begins);
    // Nobody knows the time where it was not recorded, and where it is not followed.
    for (name, keys, expected) in
        [("relative.csv", None, None), ("absolute.csv", Some("workload.replay=closed"), begins)]
    {
        let (found, forced, reported) = asked_in(name, keys.as_slice());
        assert!(!found.is_empty() && found.iter().all(Option::is_none), "{found:?}");
        assert_eq!((forced, reported), (0, expected));
    }
}
