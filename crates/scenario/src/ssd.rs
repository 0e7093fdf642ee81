//! The `[ssd]` table, and the `ssd` of a member: overrides on a preset.

use std::collections::BTreeMap;

use harmonia_flash::{CommandOrder, Commands, Copyback, LinkOrder, PageTimes};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::{
    Allocation, AllocationUnit, BeginsAt, Destination, Domain, Frontiers, Infeasible, Order, PolicyConfig,
    Priority, Shape, SsdConfig, Trigger,
};
use harmonia_types::{SimDuration, registry, units};

use crate::array::MOST_DEPTH;
use crate::error::{Fault, Parsed, printable};
use crate::own::{Keys, PolicyTable, TOGETHER, refused_alone, said};
use crate::presets::device as presets;
use crate::read::{Field, Section};
use crate::resolved;
use crate::tree::{Place, Value};

/// The device without a preset of its own.
const DEFAULT_PRESET: &str = "msr-slc-32g";

/// A kind of policies of a device.
struct Axis<F: 'static> {
    table: PolicyTable,
    registry: &'static registry::Registry<F>,
    config: fn(&mut SsdConfig) -> &mut PolicyConfig,
}

const VICTIM: Axis<victim::Build> = Axis {
    table: PolicyTable { name: "victim", schema: "ssd.gc.victim", common: &["policy"] },
    registry: &victim::POLICIES,
    config: |config| &mut config.gc.victim,
};

const SCHEDULE: Axis<schedule::Build> = Axis {
    table: PolicyTable { name: "schedule", schema: "ssd.gc.schedule", common: &["policy"] },
    registry: &schedule::POLICIES,
    config: |config| &mut config.gc.schedule,
};

const CONCURRENCY: Axis<concurrency::Build> = Axis {
    table: PolicyTable { name: "concurrency", schema: "ssd.gc.concurrency", common: &["policy"] },
    registry: &concurrency::POLICIES,
    config: |config| &mut config.gc.concurrency,
};

/// A policy's own key that once was a key of `[ssd.gc]`.
struct OldKey {
    old: &'static str,
    /// Where it is now: this key of this policy, in this table of `[ssd.gc]`.
    table: &'static str,
    policy: &'static str,
    name: &'static str,
    config: fn(&mut SsdConfig) -> &mut PolicyConfig,
}

impl OldKey {
    fn path(&self) -> String {
        format!("ssd.gc.{}.{}", self.table, self.name)
    }
}

const OLD_KEYS: [OldKey; 2] = [
    OldKey { old: "victim_d", table: "victim", policy: "d-choices", name: "d", config: VICTIM.config },
    OldKey { old: "slack", table: "schedule", policy: "slack", name: "slack", config: SCHEDULE.config },
];

/// A device while tables are laid over one another.
#[derive(Clone)]
pub(crate) struct Draft {
    config: SsdConfig,
    /// Bytes a second, where `transfer` was written as a rate: a page's time follows once its size is known.
    transfer_rate: Option<f64>,
    /// Policies' own keys in their older spelling, by that: the last word where a policy has such a key.
    old: BTreeMap<&'static str, serde_json::Value>,
    /// Where keys and tables were written, by schema path.
    written: BTreeMap<String, Origin>,
}

#[derive(Clone)]
struct Origin {
    place: Place,
    path: String,
    value: Option<String>,
}

impl Draft {
    /// The default device.
    pub fn new() -> Draft {
        let config = presets::find(DEFAULT_PRESET).expect("the default preset exists");
        Draft { config, transfer_rate: None, old: BTreeMap::new(), written: BTreeMap::new() }
    }

    /// Lays a table over the draft. A preset starts afresh: nothing written before it stays.
    pub fn apply(&mut self, section: &Section<'_>) -> Parsed<()> {
        if let Some(field) = section.field("preset") {
            self.preset(&field)?;
        }
        self.note_table(section);
        self.geometry(&section.child("geometry", "ssd.geometry")?)?;
        self.timing(&section.child("timing", "ssd.timing")?)?;
        self.link(&section.child("link", "ssd.link")?)?;
        self.ftl(&section.child("ftl", "ssd.ftl")?)?;
        self.gc(&section.child("gc", "ssd.gc")?)
    }

    /// Starts afresh with the preset that a key names.
    pub fn preset(&mut self, field: &Field<'_>) -> Parsed<()> {
        let name = field.name(presets::names())?;
        *self = Draft { config: presets::find(name).expect("just checked"), ..Draft::new() };
        self.note(field);
        Ok(())
    }

    fn note(&mut self, field: &Field<'_>) {
        let value = Some(field.node.shown());
        let origin = Origin { place: field.node.place, path: field.path.clone(), value };
        self.written.insert(field.schema.clone(), origin);
    }

    fn note_table(&mut self, section: &Section<'_>) {
        if !section.table.entries.is_empty() {
            let origin = Origin { place: section.place, path: section.path.clone(), value: None };
            self.written.insert(section.schema.to_owned(), origin);
        }
    }

    /// Reads `name` into `target`, if written.
    fn set<T>(
        &mut self,
        section: &Section<'_>,
        name: &str,
        target: impl FnOnce(&mut SsdConfig) -> &mut T,
        read: impl FnOnce(&Field<'_>) -> Parsed<T>,
    ) -> Parsed<()> {
        if let Some(field) = section.field(name) {
            *target(&mut self.config) = read(&field)?;
            self.note(&field);
        }
        Ok(())
    }

    fn geometry(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        self.set(section, "channels", |c| &mut c.geometry.channels, |f| f.count(1, 1024))?;
        self.set(section, "chips_per_channel", |c| &mut c.geometry.chips_per_channel, |f| f.count(1, 1024))?;
        self.set(section, "dies_per_chip", |c| &mut c.geometry.dies_per_chip, |f| f.count(1, 1024))?;
        self.set(section, "planes_per_die", |c| &mut c.geometry.planes_per_die, |f| f.count(1, 64))?;
        self.set(section, "blocks_per_plane", |c| &mut c.geometry.blocks_per_plane, |f| f.count(1, 1 << 20))?;
        self.set(section, "pages_per_block", |c| &mut c.geometry.pages_per_block, |f| f.count(1, 8191))?;
        self.set(section, "summary_pages", |c| &mut c.geometry.summary_pages, |f| f.count(0, 8190))?;
        self.set(section, "own_pins", |c| &mut c.geometry.own_pins, |f| f.boolean())?;
        let page_size = |field: &Field<'_>| match field.bytes(512)? {
            size if size <= 1 << 20 && size.is_multiple_of(512) => Ok(size as u32),
            _ => Err(field.fault("is not a page size")),
        };
        self.set(section, "page_size", |c| &mut c.geometry.page_size, page_size)
    }

    fn timing(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        self.set(section, "read", |c| &mut c.timing.read, page_times)?;
        self.set(section, "program", |c| &mut c.timing.program, page_times)?;
        self.set(section, "erase", |c| &mut c.timing.erase, |f| f.duration(true))?;
        let reach = [("none", Copyback::None), ("plane", Copyback::Plane), ("die", Copyback::Die)];
        self.set(section, "copyback", |c| &mut c.timing.copyback, |f| f.choice(&reach))?;
        self.set(section, "suspend_program", |c| &mut c.timing.suspend_program, |f| f.duration_or_none())?;
        self.set(section, "suspend_erase", |c| &mut c.timing.suspend_erase, |f| f.duration_or_none())?;
        self.set(
            section,
            "suspend_host_program",
            |c| &mut c.timing.suspend_host_program,
            |f| f.duration_or_none(),
        )?;
        self.set(section, "resume", |c| &mut c.timing.resume, |f| f.duration(false))?;
        self.command(section)?;
        let Some(field) = section.field("transfer") else { return Ok(()) };
        match transfer(&field)? {
            Transfer::Page(time) => (self.config.timing.transfer, self.transfer_rate) = (time, None),
            Transfer::Rate(rate) => self.transfer_rate = Some(rate),
        }
        self.note(&field);
        Ok(())
    }

    /// `ssd.timing.command`: one time for every kind of command, or each kind apart.
    fn command(&mut self, timing: &Section<'_>) -> Parsed<()> {
        let Some(written) = timing.field("command") else { return Ok(()) };
        if !matches!(written.node.value, Value::Table(_)) {
            let time = written.duration(false)?;
            let command = &mut self.config.timing.command;
            *command = Commands { read: time, program: time, erase: time, ..*command };
            self.note(&written);
            return Ok(());
        }
        let section = timing.child("command", "ssd.timing.command")?;
        self.note_table(&section);
        self.set(&section, "read", |c| &mut c.timing.command.read, |f| f.duration(false))?;
        self.set(&section, "program", |c| &mut c.timing.command.program, |f| f.duration(false))?;
        self.set(&section, "erase", |c| &mut c.timing.command.erase, |f| f.duration(false))?;
        let order = [("fifo", CommandOrder::Fifo), ("after-data", CommandOrder::AfterData)];
        self.set(&section, "order", |c| &mut c.timing.command.order, |f| f.choice(&order))
    }

    fn link(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        self.set(section, "bandwidth", |c| &mut c.link.bandwidth, |f| f.bandwidth())?;
        self.set(section, "latency", |c| &mut c.link.latency, |f| f.duration(false))?;
        let order = [("ready", LinkOrder::Ready), ("arrival", LinkOrder::Arrival)];
        self.set(section, "order", |c| &mut c.link.order, |f| f.choice(&order))?;
        self.set(section, "queue_depth", |c| &mut c.link.queue_depth, |f| f.count(1, MOST_DEPTH).map(Some))
    }

    fn ftl(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        self.set(section, "reserved_blocks", |c| &mut c.ftl.reserved_blocks, |f| f.amount(false))?;
        let unit = [("die", AllocationUnit::Die), ("plane", AllocationUnit::Plane)];
        self.set(section, "allocation_unit", |c| &mut c.ftl.allocation_unit, |f| f.choice(&unit))?;
        self.set(section, "allocation", |c| &mut c.ftl.allocation, allocation)?;
        let frontiers = [("shared", Frontiers::Shared), ("separate", Frontiers::Separate)];
        self.set(section, "frontiers", |c| &mut c.ftl.frontiers, |f| f.choice(&frontiers))?;
        let priority = [("fifo", Priority::Fifo), ("reads-first", Priority::ReadsFirst)];
        self.set(section, "priority", |c| &mut c.ftl.priority, |f| f.choice(&priority))?;
        self.set(section, "multi_plane", |c| &mut c.ftl.multi_plane, |f| f.boolean())?;
        self.set(section, "open_blocks", |c| &mut c.ftl.open_blocks, |f| f.count(1, 64))
    }

    fn gc(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        let domain = [
            ("die", Domain::Die),
            ("device", Domain::Device),
            ("plane", Domain::Plane),
            ("channel", Domain::Channel),
        ];
        self.set(section, "domain", |c| &mut c.gc.domain, |f| f.choice(&domain))?;
        let trigger = [("foreground", Trigger::Foreground), ("background", Trigger::Background)];
        self.set(section, "trigger", |c| &mut c.gc.trigger, |f| f.choice(&trigger))?;
        self.set(section, "hard_threshold", |c| &mut c.gc.hard_threshold, |f| f.amount(false))?;
        self.set(section, "soft_threshold", |c| &mut c.gc.soft_threshold, |f| f.amount(true))?;
        self.set(section, "stop_threshold", |c| &mut c.gc.stop_threshold, |f| f.amount(true))?;
        let begins = [("schedule", BeginsAt::Schedule), ("soft", BeginsAt::Soft)];
        self.set(section, "begins_at", |c| &mut c.gc.begins_at, |f| f.choice(&begins))?;
        self.set(section, "min_victims", |c| &mut c.gc.min_victims, |f| f.count(1, 65_536))?;
        let destination = [("unit", Destination::Unit), ("device", Destination::Device)];
        self.set(section, "destination", |c| &mut c.gc.destination, |f| f.choice(&destination))?;
        self.policy(section, &VICTIM)?;
        self.policy(section, &SCHEDULE)?;
        self.policy(section, &CONCURRENCY)?;
        self.old_key(section, &OLD_KEYS[0], |f| f.count(1, 1000).map(Into::into))?;
        self.old_key(section, &OLD_KEYS[1], |f| f.duration(false).map(|slack| slack.to_string().into()))
    }

    /// A policy, as its name or as a table: naming one other than the one there is drops the keys of that.
    fn policy<F>(&mut self, gc: &Section<'_>, axis: &Axis<F>) -> Parsed<()> {
        let Some(written) = gc.field(axis.table.name) else { return Ok(()) };
        let schema = axis.table.schema;
        let config = (axis.config)(&mut self.config);
        if !matches!(written.node.value, Value::Table(_)) {
            let name = written.name(axis.registry.names())?;
            if config.policy != name {
                *config = name.into();
                self.forget(schema);
            }
            self.note(&written);
            return Ok(());
        }
        let (section, entry) = axis.table.open(gc, axis.registry, &config.policy)?;
        let is_other = config.policy != entry.name;
        if is_other {
            *config = entry.name.into();
        }
        config.own.append(&mut axis.table.keys(&section)?);
        if is_other {
            self.forget(schema);
        }
        self.note_table(&section);
        for entry in &section.table.entries {
            let path = section.below(&entry.name);
            self.note(&Field { node: &entry.node, path, schema: format!("{schema}.{}", entry.name) });
        }
        Ok(())
    }

    /// Forgets where a table and its keys were written.
    fn forget(&mut self, schema: &str) {
        let within = |key: &str| {
            key.strip_prefix(schema).is_some_and(|rest| matches!(rest.as_bytes(), [] | [b'.', ..]))
        };
        self.written.retain(|key, _| !within(key));
    }

    /// A policy's own key in its older spelling, beside the policy: it waits for a policy that has it.
    fn old_key(
        &mut self,
        gc: &Section<'_>,
        key: &OldKey,
        read: impl FnOnce(&Field<'_>) -> Parsed<serde_json::Value>,
    ) -> Parsed<()> {
        let in_table = match gc.table.get(key.table).map(|entry| &entry.node.value) {
            Some(Value::Table(table)) => table.get(key.name).is_some(),
            _ => false,
        };
        let Some(field) = gc.field(key.old) else {
            if in_table {
                self.old.remove(key.old);
            }
            return Ok(());
        };
        let value = read(&field)?;
        if in_table {
            let problem = format!("is the older spelling of {}, which is written, too", key.path());
            return Err(field.fault_allowing(problem, "one of the two"));
        }
        self.note(&field);
        self.old.insert(key.old, value);
        Ok(())
    }

    /// The finished device; refused if it cannot work.
    pub fn finish(&self) -> Parsed<(SsdConfig, Shape)> {
        let mut config = self.config.clone();
        for key in &OLD_KEYS {
            let policy = (key.config)(&mut config);
            if let Some(value) = self.old.get(key.old).filter(|_| policy.policy == key.policy) {
                policy.own.insert(key.name.to_owned(), value.clone());
            }
        }
        if let Some(rate) = self.transfer_rate {
            let ns = f64::from(config.geometry.page_size) / rate * 1e9;
            config.timing.transfer = SimDuration(ns.round() as u64);
        }
        // A policy says itself what is wrong with its keys.
        self.check_policy(&VICTIM, &config.gc.victim, |policy| victim::build(policy).map(drop))?;
        self.check_policy(&SCHEDULE, &config.gc.schedule, |policy| schedule::build(policy).map(drop))?;
        let shape = config.resolve().map_err(|why| self.blame(&config, &why))?;
        let channels = config.geometry.channels;
        let pages = shape.data_pages;
        let build = |policy: &PolicyConfig| match concurrency::build(policy, channels)?.min_invalid() {
            least if least > pages => {
                let allowed = format!("1 to {pages}, the data pages of a block");
                Err(format!("min_invalid is out of range, expected {allowed}"))
            }
            _ => Ok(()),
        };
        self.check_policy(&CONCURRENCY, &config.gc.concurrency, build)?;
        Ok((config, shape))
    }

    fn check_policy<F>(
        &self,
        axis: &Axis<F>,
        config: &PolicyConfig,
        build: impl Fn(&PolicyConfig) -> Result<(), String>,
    ) -> Parsed<()> {
        let Err(why) = build(config) else { return Ok(()) };
        let build = |own: &Keys| build(&PolicyConfig { policy: config.policy.clone(), own: own.clone() });
        let table = axis.table.schema;
        let (key, problem, allowed) = match refused_alone(&config.own, build) {
            Some((name, why)) => {
                let (problem, allowed) = said(&why);
                (format!("{table}.{name}"), problem, allowed)
            }
            None => (table.to_owned(), TOGETHER.to_owned(), printable(&why, 300)),
        };
        let (place, key, value) = match self.written.get(&key) {
            Some(origin) => (origin.place, origin.path.clone(), origin.value.clone()),
            None => (Place::Nowhere, key, None),
        };
        Err(Box::new(Fault { place, key, value, problem, allowed }))
    }

    /// Where and how to report an impossible device: at the key, at one it does not go with that was set later or
    /// alone, or at the nearest table around it.
    fn blame(&self, config: &SsdConfig, infeasible: &Infeasible) -> Box<Fault> {
        let preset = &config.preset;
        let written = |key: &&str| self.written.contains_key(*key);
        let by_flag =
            |key: &&str| matches!(self.written.get(*key), Some(Origin { place: Place::Set(_), .. }));
        let candidates = || std::iter::once(infeasible.key).chain(rivals(infeasible.key).iter().copied());
        let set = candidates().find(by_flag).or_else(|| candidates().find(written));
        let allowed =
            crate::schema::find(set.unwrap_or(infeasible.key)).map_or("", |key| key.allowed).to_owned();
        let mut problem = infeasible.why.clone();
        if let Some((set, origin)) = set.and_then(|set| Some((set, self.written.get(set)?))) {
            if set != infeasible.key {
                let other = resolved::value_at(config, infeasible.key).unwrap_or_default();
                problem = format!("does not go with {} = {other}: {problem}", infeasible.key);
            }
            let (key, value) = (origin.path.clone(), origin.value.clone());
            return Box::new(Fault { place: origin.place, key, value, problem, allowed });
        }
        let around = |key: &str| {
            let mut table = key;
            while let Some((outer, _)) = table.rsplit_once('.') {
                table = outer;
                if let Some(origin) = self.written.get(table) {
                    return origin.place;
                }
            }
            self.written.get("ssd.preset").map_or(Place::Nowhere, |origin| origin.place)
        };
        Box::new(Fault {
            place: around(infeasible.key),
            key: infeasible.key.to_owned(),
            value: resolved::value_at(config, infeasible.key),
            problem: format!("{problem} (the value is that of preset {preset})"),
            allowed,
        })
    }
}

/// Keys that may be as much at fault as `key`, if they were set and it was not.
fn rivals(key: &str) -> &'static [&'static str] {
    match key {
        "ssd.ftl.reserved_blocks" => &[
            "ssd.gc.stop_threshold",
            "ssd.gc.soft_threshold",
            "ssd.gc.begins_at",
            "ssd.gc.hard_threshold",
            "ssd.ftl.frontiers",
        ],
        "ssd.gc.soft_threshold" | "ssd.gc.stop_threshold" => &["ssd.gc.hard_threshold"],
        "ssd.gc.hard_threshold" => &["ssd.ftl.frontiers", "ssd.gc.victim"],
        "ssd.gc.domain" => &["ssd.ftl.allocation_unit"],
        "ssd.gc.destination" => &["ssd.ftl.allocation"],
        "ssd.ftl.allocation" => &["ssd.ftl.allocation_unit"],
        _ => &[],
    }
}

/// `dynamic`, or the letters of an order; three of them leave the plane open.
fn allocation(field: &Field<'_>) -> Parsed<Allocation> {
    match field.text()? {
        "dynamic" => Ok(Allocation::Dynamic),
        letters => {
            let fixed = Order::parse(letters).map(Allocation::Static);
            let open = || Order::of_dies(letters).map(Allocation::DynamicPlane);
            let fault = "is not an order of the letters c, w, d and p, each once, nor of c, w and d";
            fixed.or_else(open).ok_or_else(|| field.fault(fault))
        }
    }
}

/// One time for all pages, or a list of one for each type of page.
fn page_times(field: &Field<'_>) -> Parsed<PageTimes> {
    if !matches!(field.node.value, Value::List(_)) {
        return field.duration(true).map(PageTimes::same);
    }
    let times = field.list(PageTimes::MOST, |time| time.duration(true))?;
    PageTimes::by_type(&times).ok_or_else(|| field.fault("is not a list of one to three times"))
}

enum Transfer {
    Page(SimDuration),
    Rate(f64),
}

/// `105.6us` a page, or `166MT/s`: megatransfers, one byte each.
fn transfer(field: &Field<'_>) -> Parsed<Transfer> {
    let Value::Text(text) = &field.node.value else { return field.duration(false).map(Transfer::Page) };
    let units = [("GT/s", 1e9), ("MT/s", 1e6), ("kT/s", 1e3)];
    let rate = units.iter().find_map(|(unit, scale)| Some((text.trim().strip_suffix(unit)?, *scale)));
    if let Some((number, scale)) = rate {
        // The reader of bytes refuses signs, exponents and the like.
        let plain = units::parse_bytes(&format!("{}B", number.trim())).is_ok();
        let value = number.trim().replace('_', "").parse::<f64>().unwrap_or(0.0) * scale;
        return match (1e3..=1e12).contains(&value) {
            true if plain => Ok(Transfer::Rate(value)),
            _ => Err(field.fault("is out of range: 1kT/s to 1000GT/s")),
        };
    }
    let time = units::parse_duration(text).map_err(|why| field.fault(printable(&why, 200)))?;
    if time.0 > 3_600_000_000_000 { Err(field.fault("is out of range")) } else { Ok(Transfer::Page(time)) }
}
