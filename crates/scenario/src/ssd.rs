//! The `[ssd]` table, and the `ssd` of a member: overrides on a preset.

use std::collections::BTreeMap;

use harmonia_flash::Copyback;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::{
    Allocation, AllocationUnit, BeginsAt, ConcurrencyConfig, Destination, Domain, Frontiers, Infeasible,
    Order, Priority, Shape, SsdConfig, Trigger,
};
use harmonia_types::{SimDuration, registry, units};

use crate::error::{Fault, Parsed, printable};
use crate::own::{Keys, PolicyTable, TOGETHER, refused_alone, said};
use crate::presets::device as presets;
use crate::read::{Field, Section};
use crate::resolved;
use crate::tree::{Place, Value};

/// The device without a preset of its own.
const DEFAULT_PRESET: &str = "msr-slc-32g";

const CONCURRENCY: &str = "ssd.gc.concurrency";

/// A device while tables are laid over one another.
#[derive(Clone)]
pub(crate) struct Draft {
    config: SsdConfig,
    /// Bytes a second, where `transfer` was written as a rate: a page's time follows once its size is known.
    transfer_rate: Option<f64>,
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
        Draft { config, transfer_rate: None, written: BTreeMap::new() }
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
        self.set(section, "read", |c| &mut c.timing.read, |f| f.duration(true))?;
        self.set(section, "program", |c| &mut c.timing.program, |f| f.duration(true))?;
        self.set(section, "erase", |c| &mut c.timing.erase, |f| f.duration(true))?;
        let reach = [("none", Copyback::None), ("plane", Copyback::Plane), ("die", Copyback::Die)];
        self.set(section, "copyback", |c| &mut c.timing.copyback, |f| f.choice(&reach))?;
        self.set(section, "suspend_program", |c| &mut c.timing.suspend_program, |f| f.duration_or_none())?;
        self.set(section, "suspend_erase", |c| &mut c.timing.suspend_erase, |f| f.duration_or_none())?;
        self.set(section, "resume", |c| &mut c.timing.resume, |f| f.duration(false))?;
        let Some(field) = section.field("transfer") else { return Ok(()) };
        match transfer(&field)? {
            Transfer::Page(time) => (self.config.timing.transfer, self.transfer_rate) = (time, None),
            Transfer::Rate(rate) => self.transfer_rate = Some(rate),
        }
        self.note(&field);
        Ok(())
    }

    fn link(&mut self, section: &Section<'_>) -> Parsed<()> {
        self.note_table(section);
        self.set(section, "bandwidth", |c| &mut c.link.bandwidth, |f| f.bandwidth())?;
        self.set(section, "latency", |c| &mut c.link.latency, |f| f.duration(false))
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
        self.set(section, "victim_d", |c| &mut c.gc.victim_d, |f| f.count(1, 1000))?;
        let victim = |f: &Field<'_>| f.name(registry::names(victim::REGISTRY)).map(str::to_owned);
        self.set(section, "victim", |c| &mut c.gc.victim, victim)?;
        let schedule = |f: &Field<'_>| f.name(registry::names(schedule::REGISTRY)).map(str::to_owned);
        self.set(section, "schedule", |c| &mut c.gc.schedule, schedule)?;
        self.set(section, "slack", |c| &mut c.gc.slack, |f| f.duration(false))?;
        let destination = [("unit", Destination::Unit), ("device", Destination::Device)];
        self.set(section, "destination", |c| &mut c.gc.destination, |f| f.choice(&destination))?;
        self.concurrency(section)
    }

    /// `[ssd.gc.concurrency]`: naming a policy other than the one there is drops the keys of that.
    fn concurrency(&mut self, gc: &Section<'_>) -> Parsed<()> {
        let table = PolicyTable { name: "concurrency", schema: CONCURRENCY, common: &["policy"] };
        let config = &mut self.config.gc.concurrency;
        let (section, entry) = table.open(gc, concurrency::REGISTRY, &config.policy)?;
        if config.policy != entry.name {
            *config = ConcurrencyConfig::named(entry.name);
            self.written.retain(|key, _| !key.starts_with(CONCURRENCY));
        }
        config.own.append(&mut table.keys(&section)?);
        self.note_table(&section);
        for entry in &section.table.entries {
            let (path, value) = (section.below(&entry.name), Some(entry.node.shown()));
            let origin = Origin { place: entry.node.place, path, value };
            self.written.insert(format!("{CONCURRENCY}.{}", entry.name), origin);
        }
        Ok(())
    }

    /// The finished device; refused if it cannot work.
    pub fn finish(&self) -> Parsed<(SsdConfig, Shape)> {
        let mut config = self.config.clone();
        if let Some(rate) = self.transfer_rate {
            let ns = f64::from(config.geometry.page_size) / rate * 1e9;
            config.timing.transfer = SimDuration(ns.round() as u64);
        }
        match config.resolve() {
            Ok(shape) => self.check_concurrency(&config).map(|()| (config, shape)),
            Err(why) => Err(self.blame(&config, &why)),
        }
    }

    /// Builds the concurrency policy once, so that its own keys are checked by the policy itself.
    fn check_concurrency(&self, config: &SsdConfig) -> Parsed<()> {
        let ConcurrencyConfig { policy, own } = &config.gc.concurrency;
        let build = |own: &Keys| {
            let config = ConcurrencyConfig { policy: policy.clone(), own: own.clone() };
            concurrency::build(&config, self.config.geometry.channels).map(drop)
        };
        let Err(why) = build(own) else { return Ok(()) };
        let alone = refused_alone(own, build);
        let key = alone
            .as_ref()
            .map_or_else(|| CONCURRENCY.to_owned(), |(name, _)| format!("{CONCURRENCY}.{name}"));
        let (problem, allowed) = match alone {
            Some((_, why)) => said(&why),
            None => (TOGETHER.to_owned(), printable(&why, 300)),
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
        _ => &[],
    }
}

/// `dynamic`, or the letters of a static order.
fn allocation(field: &Field<'_>) -> Parsed<Allocation> {
    match field.text()? {
        "dynamic" => Ok(Allocation::Dynamic),
        letters => match Order::parse(letters) {
            Some(order) => Ok(Allocation::Static(order)),
            None => Err(field.fault("is not an order of the letters c, w, d and p, each once")),
        },
    }
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
