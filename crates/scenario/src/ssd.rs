//! The `[ssd]` table, and the `ssd` of a member: overrides on a preset.

use std::collections::BTreeMap;

use harmonia_flash::Commands;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_ssd::{Infeasible, LevelingConfig, PolicyConfig, Rating, Shape, SsdConfig, WearConfig};
use harmonia_types::units::format_bytes;
use harmonia_types::{SimDuration, registry};

use crate::error::{Fault, Parsed, printable};
use crate::own::{Keys, PolicyTable, TOGETHER, refused_alone, said};
use crate::presets::device as presets;
use crate::read::{Field, Section};
use crate::resolved;
use crate::schema::held::{self, Draft as _};
use crate::schema::name_among;
use crate::schema::ssd::{KEYS, Transfer};
use crate::tree::{Place, Value};

/// The device without a preset of its own.
const DEFAULT_PRESET: &str = "msr-slc-32g";

/// A kind of policies of a device.
pub(crate) struct Axis<F: 'static> {
    table: PolicyTable,
    registry: &'static registry::Registry<F>,
    config: fn(&mut SsdConfig) -> &mut PolicyConfig,
}

pub(crate) const VICTIM: Axis<victim::Build> = Axis {
    table: PolicyTable { name: "victim", schema: "ssd.gc.victim" },
    registry: &victim::POLICIES,
    config: |config| &mut config.gc.victim,
};

pub(crate) const SCHEDULE: Axis<schedule::Build> = Axis {
    table: PolicyTable { name: "schedule", schema: "ssd.gc.schedule" },
    registry: &schedule::POLICIES,
    config: |config| &mut config.gc.schedule,
};

pub(crate) const PLACEMENT: Axis<placement::Build> = Axis {
    table: PolicyTable { name: "placement", schema: "ssd.ftl.placement" },
    registry: &placement::POLICIES,
    config: |config| &mut config.ftl.placement,
};

pub(crate) const CONCURRENCY: Axis<concurrency::Build> = Axis {
    table: PolicyTable { name: "concurrency", schema: "ssd.gc.concurrency" },
    registry: &concurrency::POLICIES,
    config: |config| &mut config.gc.concurrency,
};

/// A policy's own key that once was a key of `[ssd.gc]`.
pub(crate) struct OldKey {
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

pub(crate) const OLD_KEYS: [OldKey; 2] = [
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
    rated: Rated,
    /// Where keys and tables were written, by schema path.
    written: BTreeMap<String, Origin>,
}

/// What is written of a rating.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rated {
    pub dwpd: Option<f64>,
    pub years: Option<f64>,
    pub tbw: Option<u64>,
    pub cycles: Option<u32>,
}

#[derive(Clone)]
struct Origin {
    place: Place,
    path: String,
    value: Option<String>,
}

impl held::Draft for Draft {
    type Config = SsdConfig;

    fn config(&mut self) -> &mut SsdConfig {
        &mut self.config
    }

    fn note(&mut self, field: &Field<'_>) {
        let value = Some(field.node.shown());
        let origin = Origin { place: field.node.place, path: field.path.clone(), value };
        self.written.insert(field.schema.clone(), origin);
    }
}

impl Draft {
    /// The default device.
    pub fn new() -> Draft {
        let config = presets::find(DEFAULT_PRESET).expect("the default preset exists");
        let (old, written) = (BTreeMap::new(), BTreeMap::new());
        Draft { config, transfer_rate: None, old, rated: Rated::default(), written }
    }

    /// Lays a table over the draft. A preset starts afresh: nothing written before it stays.
    pub fn apply(&mut self, section: &Section<'_>) -> Parsed<()> {
        if let Some(field) = section.named("preset") {
            self.preset(&field)?;
        }
        self.lay(section)?;
        let tables = [
            "ssd.geometry",
            "ssd.timing",
            "ssd.link",
            "ssd.write_cache",
            // What it says needs a write cache, or not.
            "ssd.controller",
            "ssd.ftl",
            "ssd.gc",
            "ssd.leveling",
            "ssd.wear",
            "ssd.rating",
        ];
        tables.into_iter().try_for_each(|table| self.lay(&section.child(table)?))
    }

    /// Starts afresh with the preset that a key names.
    pub fn preset(&mut self, field: &Field<'_>) -> Parsed<()> {
        let name = name_among(field, presets::names())?;
        *self = Draft { config: presets::find(name).expect("just checked"), ..Draft::new() };
        self.note(field);
        Ok(())
    }

    fn note_table(&mut self, section: &Section<'_>) {
        if !section.table.entries.is_empty() {
            let origin = Origin { place: section.place, path: section.path.clone(), value: None };
            self.written.insert(section.schema.to_owned(), origin);
        }
    }

    /// Lays the keys of one table over the draft.
    fn lay(&mut self, table: &Section<'_>) -> Parsed<()> {
        self.note_table(table);
        held::lay(&KEYS, self, table)
    }

    /// A key of wear that says something of blocks which wear out.
    pub fn wear(&mut self, field: &Field<'_>, set: impl FnOnce(&mut WearConfig)) -> Parsed<()> {
        let Some(wear) = &mut self.config.wear else {
            let problem = "says how blocks wear out, but nothing says how long they last";
            return Err(field.fault_allowing(problem, "ssd.wear.endurance beside it, such as 3000 erases"));
        };
        set(wear);
        self.note(field);
        Ok(())
    }

    /// A key of levelling that says how it is done.
    pub fn leveling(&mut self, field: &Field<'_>, set: impl FnOnce(&mut LevelingConfig)) -> Parsed<()> {
        let Some(leveling) = &mut self.config.leveling else {
            let problem = "says how wear is levelled, but it is not";
            return Err(field.fault_allowing(problem, "ssd.leveling.policy = \"least-worn\" beside it"));
        };
        set(leveling);
        self.note(field);
        Ok(())
    }

    /// A key of the rating; whether all of them together are one is said when they are all there.
    pub fn rated(&mut self, field: &Field<'_>, set: impl FnOnce(&mut Rated)) -> Parsed<()> {
        set(&mut self.rated);
        self.note(field);
        Ok(())
    }

    /// The rating, in one of its forms.
    fn rating(&self) -> Parsed<Option<Rating>> {
        const FORMS: &str = "one of { dwpd = 1, years = 5 }, { tbw = \"7008TB\" } and { cycles = 3000 }";
        let Rated { dwpd, years, tbw, cycles } = self.rated;
        let refuse = |key: &str, problem: &str| {
            let key = format!("ssd.rating.{key}");
            let origin = self.written.get(&key).cloned();
            let origin = origin.unwrap_or(Origin { place: Place::Nowhere, path: key, value: None });
            let Origin { place, path: key, value } = origin;
            Err(Box::new(Fault { place, key, value, problem: problem.to_owned(), allowed: FORMS.to_owned() }))
        };
        match (dwpd, years, tbw, cycles) {
            (None, None, None, None) => Ok(None),
            (Some(dwpd), Some(years), None, None) => Ok(Some(Rating::Dwpd { dwpd, years })),
            (None, None, Some(bytes), None) => Ok(Some(Rating::Tbw(bytes))),
            (None, None, None, Some(cycles)) => Ok(Some(Rating::Cycles(cycles))),
            (Some(_), None, None, None) => {
                refuse("dwpd", "says how much may be written a day, but nothing says for how many years")
            }
            (None, Some(_), None, None) => {
                refuse("years", "says for how many years, but nothing says how much may be written a day")
            }
            (_, _, Some(_), None) => refuse("tbw", "is a second rating beside that in drive writes a day"),
            (None, None, Some(_), Some(_)) => {
                refuse("cycles", "is a second rating beside that in bytes written")
            }
            (_, _, _, Some(_)) => refuse("cycles", "is a second rating beside that in drive writes a day"),
        }
    }

    /// One time for every kind of command, or each kind apart.
    pub fn command(
        &mut self,
        time: Option<SimDuration>,
        timing: &Section<'_>,
        field: &Field<'_>,
    ) -> Parsed<()> {
        let Some(time) = time else { return self.lay(&timing.child("ssd.timing.command")?) };
        let command = &mut self.config.timing.command;
        *command = Commands { read: time, program: time, erase: time, ..*command };
        self.note(field);
        Ok(())
    }

    pub fn read_retry(&mut self, (): (), timing: &Section<'_>, _: &Field<'_>) -> Parsed<()> {
        self.lay(&timing.child("ssd.timing.read_retry")?)
    }

    pub fn transfer(&mut self, transfer: Transfer, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
        match transfer {
            Transfer::Page(time) => (self.config.timing.transfer, self.transfer_rate) = (time, None),
            Transfer::Rate(rate) => self.transfer_rate = Some(rate),
        }
        self.note(field);
        Ok(())
    }

    /// A policy, as its name or as a table: naming one other than the one there is drops the keys of that.
    pub fn policy<F>(&mut self, gc: &Section<'_>, written: &Field<'_>, axis: &Axis<F>) -> Parsed<()> {
        let schema = axis.table.schema;
        let config = (axis.config)(&mut self.config);
        if !matches!(written.node.value, Value::Table(_)) {
            let name = name_among(written, axis.registry.names())?;
            if config.policy != name {
                *config = name.into();
                self.forget(schema);
            }
            self.note(written);
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
        let is_newer = |key: &&OldKey| key.table == axis.table.name && section.table.get(key.name).is_some();
        if let Some(key) = OLD_KEYS.iter().find(is_newer) {
            self.old.remove(key.old);
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
    pub fn old_key(
        &mut self,
        gc: &Section<'_>,
        field: &Field<'_>,
        key: &OldKey,
        value: serde_json::Value,
    ) -> Parsed<()> {
        if let Some(Value::Table(table)) = gc.table.get(key.table).map(|entry| &entry.node.value)
            && table.get(key.name).is_some()
        {
            let problem = format!("is the older spelling of {}, which is written, too", key.path());
            return Err(field.fault_allowing(problem, "one of the two"));
        }
        self.note(field);
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
        config.rating = self.rating()?;
        // A policy says itself what is wrong with its keys.
        self.check_policy(&VICTIM, &config.gc.victim, |policy| victim::build(policy).map(drop))?;
        let frontiers = config.ftl.frontiers;
        let build = |policy: &PolicyConfig| placement::build(policy, frontiers).map(drop);
        self.check_policy(&PLACEMENT, &config.ftl.placement, build)?;
        self.check_policy(&SCHEDULE, &config.gc.schedule, |policy| schedule::build(policy).map(drop))?;
        // What is at fault is told with the values that were written, before pages became wide and the drive small.
        let refuse = |why| self.blame(&config, &why);
        let config = config.clone().widened().map_err(refuse)?;
        let shape = config.resolve().map_err(refuse)?;
        needs_cache(&config, &shape).map_err(refuse)?;
        let config = config.scaled().map_err(refuse)?;
        let shape = config.resolve().map_err(refuse)?;
        needs_cache(&config, &shape).map_err(refuse)?;
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
        let (key, problem, allowed) = match refused_alone(&config.own, &why, build) {
            Some(name) => {
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
        let allowed = crate::schema::allowed(set.unwrap_or(infeasible.key));
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

/// Refuses a program of several mapping units where nothing gathers them: the host's units come one by one, so that most of
/// every program would be padding. A write cache gathers them if it holds a program for each allocation unit; where the device chooses the
/// unit, one that fills and one that is programmed are enough.
fn needs_cache(config: &SsdConfig, shape: &Shape) -> Result<(), Infeasible> {
    let packing = shape.packing;
    if !packing.packs() {
        return Ok(());
    }
    let units = packing.slots_per_program();
    let (programs, why_so_many) = match shape.names_die {
        true => (shape.units(), "one for each allocation unit"),
        false => (2, "one that fills and one that is programmed"),
    };
    let needed = units.saturating_mul(programs);
    let size = format_bytes(u64::from(needed) * u64::from(shape.page_size));
    if let Some(held) = config.write_cache.pages(shape.page_size) {
        if held >= needed {
            return Ok(());
        }
        let why = format!(
            "holds {held} units of {} bytes, less than {programs} programs of {units} units: {why_so_many}; \"{size}\" works",
            shape.page_size
        );
        return Err(Infeasible { key: "ssd.write_cache.size", why });
    }
    let key = match () {
        () if packing.slots_per_page() > 1 => "ssd.ftl.mapping_unit",
        () if config.geometry.program_planes > 1 => "ssd.geometry.program_planes",
        () => "ssd.geometry.program_pages",
    };
    let why = format!(
        "a program of {units} units needs a write cache, which gathers them: without one most of it would be padding; \
         ssd.write_cache.size = \"{size}\" works"
    );
    Err(Infeasible { key, why })
}

/// Keys that may be as much at fault as `key`, if they were set and it was not.
fn rivals(key: &str) -> &'static [&'static str] {
    match key {
        "ssd.ftl.reserved_blocks" => &[
            "ssd.gc.stop_threshold",
            "ssd.gc.soft_threshold",
            "ssd.gc.begins_at",
            "ssd.gc.hard_threshold",
            "ssd.ftl.placement",
            "ssd.ftl.frontiers",
            "ssd.wear.endurance",
            "ssd.ftl.mapping_cache",
        ],
        "ssd.ftl.mapping_cache" => &["ssd.ftl.allocation", "ssd.ftl.superblock", "ssd.write_cache.drain"],
        "ssd.gc.soft_threshold" | "ssd.gc.stop_threshold" => &["ssd.gc.hard_threshold"],
        "ssd.gc.hard_threshold" => &[
            "ssd.ftl.placement",
            "ssd.ftl.frontiers",
            "ssd.gc.victim",
            "ssd.wear.endurance",
            "ssd.leveling.policy",
        ],
        "ssd.gc.domain" => &["ssd.ftl.allocation_unit"],
        "ssd.gc.destination" => &["ssd.ftl.allocation", "ssd.leveling.policy"],
        "ssd.ftl.allocation" => &["ssd.ftl.allocation_unit"],
        "ssd.ftl.mapping_unit" => &[
            "ssd.write_cache.size",
            "ssd.geometry.page_size",
            "ssd.geometry.pages_per_block",
            "ssd.geometry.program_planes",
        ],
        "ssd.geometry.program_planes" => {
            &["ssd.write_cache.size", "ssd.geometry.planes_per_die", "ssd.ftl.allocation_unit"]
        }
        "ssd.geometry.program_pages" => {
            &["ssd.write_cache.size", "ssd.geometry.pages_per_block", "ssd.geometry.summary_pages"]
        }
        "ssd.write_cache.drain" => &["ssd.geometry.program_planes"],
        "ssd.write_cache.size" => &[
            "ssd.ftl.mapping_unit",
            "ssd.geometry.program_planes",
            "ssd.geometry.program_pages",
            "ssd.ftl.allocation",
        ],
        _ => &[],
    }
}
