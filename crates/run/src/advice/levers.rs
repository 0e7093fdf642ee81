//! What could be changed of an array, and what each change costs, in the order in which they are tried.
//!
//! Changes that start from the same aged array come first, because they are cheap: who coordinates, what a die does first, and which data
//! shares blocks. Then come drives with more memory, changes of the array that need no purchase, and purchases.

use harmonia_array::{Interface, Level};
use harmonia_scenario::policies::{self, IDEAL, sets_of};
use harmonia_scenario::{BadInput, Scenario, Template, TraceFile, Variant};
use harmonia_types::units;
use harmonia_workload::{Arrival, WorkloadConfig};
use serde::Serialize;

/// Handles that a drive takes at most, besides the default one; further streams share that one.
const HANDLES_MOST: usize = 8;

/// What kind of change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Which drive collects when.
    Coordination,
    /// What a die does first while it collects.
    Schedule,
    /// Whether the host's streams have blocks of their own.
    Streams,
    /// How much of its map a drive holds in memory.
    Map,
    /// How many bytes lie together on one drive.
    Chunk,
    /// How much of the drives is not used.
    Spare,
    /// How data is kept more than once.
    Level,
    /// How many drives there are.
    Drives,
}

/// One change.
#[derive(Debug, Clone)]
pub struct Lever {
    /// What kind of change it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
    /// What drives must reveal and accept for it.
    pub needs: Interface,
    /// What it costs, in words.
    pub costs: String,
    /// The array with it.
    pub variant: Variant,
}

/// Something that is not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotTried {
    /// What it is called.
    pub name: String,
    /// Why not.
    pub why: String,
}

/// What is run to give advice.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The array as it is, every drive collecting by itself, and the same if collection took no time.
    pub pair: [Variant; 2],
    /// The same two at twice the rate, where the load has one.
    pub doubled: Option<[Variant; 2]>,
    /// What is tried, in this order.
    pub levers: Vec<Lever>,
    /// What cannot be tried.
    pub not_tried: Vec<NotTried>,
}

impl Plan {
    /// For a scenario, changed by `sets`, and its load replaced by `trace` if given.
    ///
    /// # Errors
    /// If the scenario cannot be used.
    pub fn new(template: &Template, sets: &[String], trace: Option<&TraceFile>) -> Result<Plan, BadInput> {
        let with = |more: &[String]| template.with(&[sets, more].concat(), trace);
        let named = |label: &str, more: &[String]| {
            with(more).map(|scenario| Variant { label: label.to_owned(), scenario })
        };
        let pair = [named("as it is", &sets_of("local"))?, named(IDEAL, &sets_of(IDEAL))?];
        let base = &pair[0].scenario;
        let mut plan = Plan { doubled: None, levers: Vec::new(), not_tried: Vec::new(), pair: pair.clone() };
        for change in changes(base, &with(&[])?) {
            let Change { kind, name, needs, costs, sets } = change;
            match with(&[sets_of("local"), sets].concat()) {
                Ok(scenario) => {
                    let scenario = on_the_same_load(scenario, base, kind);
                    let variant = Variant { label: name.clone(), scenario };
                    plan.levers.push(Lever { kind, name, needs, costs, variant });
                }
                Err(bad) => plan.not_tried.push(NotTried { name, why: bad.problem().to_owned() }),
            }
        }
        plan.doubled = twice(base).and_then(|rate| {
            let [base, bound] =
                [sets_of("local"), sets_of(IDEAL)].map(|policy| [policy, vec![rate.clone()]].concat());
            Some([named("twice the rate", &base).ok()?, named("twice the rate, ideal", &bound).ok()?])
        });
        Ok(plan)
    }
}

/// A change as `--set` pairs.
struct Change {
    kind: Kind,
    name: String,
    needs: Interface,
    costs: String,
    sets: Vec<String>,
}

/// All that may be worth trying on this array.
fn changes(base: &Scenario, written: &Scenario) -> Vec<Change> {
    let mut all = coordination(written);
    all.extend(schedule(base));
    all.extend(streams(base));
    all.extend(map(base));
    all.extend(chunk(base));
    all.extend(spare(base));
    all.extend(level(base));
    all.extend(drives(base));
    all
}

/// One policy for each thing that drives may offer, and the first two of those for drives that take commands.
fn coordination(scenario: &Scenario) -> Vec<Change> {
    let needs = policies::needs();
    let of = |name: &str| needs.iter().find(|(known, _)| *known == name).map(|(_, needs)| needs.interface);
    let names = policies::choice(scenario).names;
    let able = names.into_iter().filter(|name| !["local", IDEAL].contains(name));
    let change = |name: &'static str| {
        let needs = of(name)?;
        let costs = match needs {
            Interface::Nothing => "software of the array".to_owned(),
            _ => "such drives; software of the array".to_owned(),
        };
        Some(Change { kind: Kind::Coordination, name: name.to_owned(), needs, costs, sets: sets_of(name) })
    };
    let mut all: Vec<Change> = able.filter_map(change).collect();
    all.sort_by_key(|change| change.needs);
    all
}

/// Collection that lets the host go first, if it does not yet.
fn schedule(base: &Scenario) -> Option<Change> {
    const POLICY: &str = "preemptive";
    let ssd = &base.array.members.first()?.ssd;
    (ssd.gc.schedule.policy != POLICY).then(|| Change {
        kind: Kind::Schedule,
        name: format!("{POLICY} collection"),
        needs: Interface::Nothing,
        costs: "firmware that collects page by page".to_owned(),
        sets: vec![format!("ssd.gc.schedule={POLICY}")],
    })
}

/// Blocks of their own for the streams of a load that has several. A trace does not say beforehand whether it has.
fn streams(base: &Scenario) -> Option<Change> {
    const POLICY: &str = "streams";
    let WorkloadConfig::Streams(load) = &base.workload else { return None };
    let count = load.jobs().count();
    let has_one = count < 2 || base.array.members.first()?.ssd.ftl.placement.policy == POLICY;
    let handles = count.min(HANDLES_MOST);
    (!has_one).then(|| Change {
        kind: Kind::Streams,
        name: format!("separation of {count} streams"),
        needs: Interface::Nothing,
        costs: "drives that take streams (NVMe FDP)".to_owned(),
        sets: vec![format!(
            "ssd.ftl.placement={{ policy = \"{POLICY}\", handles = {handles}, isolation = \"persistent\" }}"
        )],
    })
}

/// Twice the memory for the map, where all drives hold the same part of it.
fn map(base: &Scenario) -> Option<Change> {
    // What is asked for is a size of the whole drive, also where a part of it is simulated.
    let mut drives = base.array.members.iter().map(|member| member.ssd.full());
    let first = drives.next()?;
    let holds_all = first.resolve().is_ok_and(|shape| shape.map_pages().is_empty());
    if holds_all || drives.any(|other| other.ftl.mapping_cache != first.ftl.mapping_cache) {
        return None;
    }
    let size = first.ftl.mapping_cache?.saturating_mul(2);
    Some(Change {
        kind: Kind::Map,
        name: format!("mapping cache of {}", units::format_bytes(size)),
        needs: Interface::Nothing,
        costs: "drives with twice the memory for their map".to_owned(),
        sets: vec![format!("ssd.ftl.mapping_cache={size}B")],
    })
}

/// A quarter of the chunk, and four times as much.
fn chunk(base: &Scenario) -> Vec<Change> {
    let (unit, page) = (base.array.stripe_unit, base.array.page_size());
    if base.array.devices == 1 || base.array.level == Level::Raid1 {
        return Vec::new();
    }
    let sizes = [(unit / 4).next_multiple_of(page), unit * 4].into_iter().filter(|&size| size != unit);
    sizes
        .map(|size| Change {
            kind: Kind::Chunk,
            name: format!("chunk of {}", units::format_bytes(size)),
            needs: Interface::Nothing,
            costs: "a new array".to_owned(),
            sets: vec![format!("array.stripe_unit={size}B")],
        })
        .collect()
}

/// Less of every drive is used.
fn spare(base: &Scenario) -> Vec<Change> {
    let fill = base.precondition.fill;
    let less = [0.9, 0.8].into_iter().filter(|share| *share < fill);
    less.map(|share| Change {
        kind: Kind::Spare,
        name: format!("{:.0}% full", share * 100.0),
        needs: Interface::Nothing,
        costs: format!("{:.0}% of the capacity", (1.0 - share / fill) * 100.0),
        sets: vec![format!("precondition.fill={share}")],
    })
    .collect()
}

/// The other levels that this number of drives can have.
fn level(base: &Scenario) -> Vec<Change> {
    let devices = base.array.devices;
    let (layout, own) = (base.array.layout(), base.array.level.to_string());
    let family = own.split(' ').next().unwrap_or_default().to_owned();
    let others = ["raid5", "raid6", "raid10"].into_iter().filter(|name| *name != family && devices > 1);
    others
        .map(|name| {
            let data = match name {
                "raid5" => f64::from(devices - 1),
                "raid6" => f64::from(devices.saturating_sub(2)),
                _ => f64::from(devices) / 2.0,
            };
            let now = layout.logical_bytes() as f64 / layout.member_bytes().max(1) as f64;
            let change = (data / now - 1.0) * 100.0;
            let capacity = match change {
                change if change < -0.5 => format!("{:.0}% less capacity", -change),
                change if change > 0.5 => format!("nothing ({change:.0}% more capacity)"),
                _ => "no capacity".to_owned(),
            };
            // The layout of another level may not be one of this.
            let usual = if name == "raid10" { "near-2" } else { "left-symmetric" };
            Change {
                kind: Kind::Level,
                name: name.to_owned(),
                needs: Interface::Nothing,
                costs: format!("{capacity}; a new array"),
                sets: vec![format!("array.level={name}"), format!("array.layout={usual}")],
            }
        })
        .collect()
}

/// Two drives more.
fn drives(base: &Scenario) -> Vec<Change> {
    let more = base.array.devices.saturating_add(2);
    if base.array.level == Level::Raid1 || !base.array.parity_shares.is_empty() {
        return Vec::new();
    }
    vec![Change {
        kind: Kind::Drives,
        name: format!("{more} drives"),
        needs: Interface::Nothing,
        costs: "two drives more".to_owned(),
        sets: vec![format!("array.devices={more}")],
    }]
}

/// A generated load goes to a share of the array. It goes to as many bytes as before where the array holds more, and only to what is
/// filled where less is.
fn on_the_same_load(mut scenario: Scenario, base: &Scenario, kind: Kind) -> Scenario {
    if matches!(scenario.workload, WorkloadConfig::Trace(_)) || scenario.space.is_some() {
        return scenario;
    }
    let (bytes, page) = (scenario.array.layout().logical_bytes(), scenario.array.page_size());
    let same = match kind {
        Kind::Spare => (bytes as f64 * scenario.precondition.fill) as u64 / page * page,
        _ => base.array.layout().logical_bytes(),
    };
    scenario.space = (same < bytes).then_some(same);
    scenario
}

/// Twice the rate, if the load has one.
fn twice(base: &Scenario) -> Option<String> {
    match &base.workload {
        WorkloadConfig::Trace(trace) => Some(format!("workload.time_scale={}", trace.time_scale / 2.0)),
        WorkloadConfig::Synthetic(load) => match load.arrival {
            Arrival::Poisson { rate } | Arrival::Fixed { rate } => {
                Some(format!("workload.arrival.rate={}", rate * 2.0))
            }
            _ => None,
        },
        WorkloadConfig::Streams(_) => None,
    }
}
