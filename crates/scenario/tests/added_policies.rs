//! Is a policy that a program adds while it runs found, described and run like one that is built in?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_array::Interface;
use harmonia_array::coordination::{self, Action, Coordinator, DeliveredView, Event, Interests, Parameters};
use harmonia_engine::Rng;
use harmonia_scenario::schema::json_schema;
use harmonia_scenario::{RunOptions, Scenario, Silent, Unobserved, policies, run};
use harmonia_ssd::block::BlockId;
use harmonia_ssd::gc::victim::{self, Victim, VictimView};
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
    let options = RunOptions {
        threads: 1,
        checked: true,
        cancel: &AtomicBool::new(false),
        progress: &Silent,
        observe: &Unobserved,
        cache: None,
    };
    let report = run(&scenario, &options).expect("it runs");
    assert!(report.array.erases > 0);
    assert!(heard.load(Ordering::Relaxed) > 0 && asked.load(Ordering::Relaxed) > 0);
}
