//! The `[array]` table: layout, coordination, members that differ.

use harmonia_array::coordination::{self, Parameters};
use harmonia_array::{ArrayConfig, CoordinationConfig, Level, MemberConfig};
use harmonia_ssd::Shape;
use harmonia_types::{Bytes, SimDuration, registry, units};

use crate::error::{Fault, Parsed, printable};
use crate::read::{Field, Section};
use crate::ssd::Draft;
use crate::tree::{Place, Value};
use crate::workload::Room;

/// `[ssd]` keys that `[[array.member]]` takes directly, too.
const OVERRIDES: &[&str] = &["preset", "geometry", "timing", "link", "ftl", "gc"];

/// Reads `[array]` and `[ssd]`.
pub(crate) fn read(root: &Section<'_>) -> Parsed<(ArrayConfig, Room)> {
    let section = root.child("array", "array")?;
    let devices = section.field("devices").map(|field| field.count(1, 1024)).transpose()?.unwrap_or(8) as u16;
    let level = section.field("level").map(|field| field.choice(&[("raid0", Level::Raid0)])).transpose()?;
    let (members, shape) = members(root, &section, devices)?;
    let (stripe_unit, room) = stripes(&section, devices, &shape)?;
    let coordination = coordination(&section, devices)?;
    let level = level.unwrap_or(Level::Raid0);
    Ok((ArrayConfig { devices, level, stripe_unit, coordination, members }, room))
}

/// Reads every member's device. All must have one page size and one logical size; returns what they share.
fn members(root: &Section<'_>, array: &Section<'_>, devices: u16) -> Parsed<(Vec<MemberConfig>, Shape)> {
    let mut draft = Draft::new();
    draft.apply(&root.child("ssd", "ssd")?)?;
    let (ssd, shape) = draft.finish()?;
    let mut members = vec![MemberConfig { capable: true, ssd }; usize::from(devices)];
    let Some(field) = array.field("member") else { return Ok((members, shape)) };
    let Value::List(list) = &field.node.value else {
        return Err(field.fault(format!("must be an array of tables, not {}", field.node.kind())));
    };
    let mut shapes: Vec<(Shape, Place, String)> =
        vec![(shape, Place::Nowhere, "[ssd]".to_owned()); usize::from(devices)];
    let mut written = vec![false; usize::from(devices)];
    for (position, node) in list.iter().enumerate() {
        let section = Section::of(node, format!("array.member[{position}]"), "array.member", OVERRIDES)?;
        let field = section.require("index", "it says which member this is")?;
        let most = u32::from(devices) - 1;
        let index = field.count(0, u32::from(u16::MAX))? as usize;
        if index > most as usize {
            let problem = format!("there are only {devices} devices");
            return Err(field.fault_allowing(problem, format!("0 to {most}")));
        }
        if std::mem::replace(&mut written[index], true) {
            return Err(field.fault_allowing("is there twice", "one [[array.member]] for each index"));
        }
        if let Some(field) = section.field("capable") {
            members[index].capable = field.boolean()?;
        }
        let mut own = draft.clone();
        let direct = Section { schema: "ssd", ..section.clone() };
        own.apply(&direct)?;
        own.apply(&section.child("ssd", "ssd")?)?;
        let (ssd, shape) = own.finish()?;
        members[index].ssd = ssd;
        shapes[index] = (shape, section.place, section.path.clone());
    }
    alike(&shapes)?;
    let shape = shapes.swap_remove(0).0;
    Ok((members, shape))
}

/// RAID-0 needs members of one size: refuse others with both numbers.
fn alike(shapes: &[(Shape, Place, String)]) -> Parsed<()> {
    let (first, first_place, first_path) = &shapes[0];
    let logical = |shape: &Shape| u64::from(shape.logical_pages) * u64::from(shape.page_size);
    for (index, (shape, place, path)) in shapes.iter().enumerate() {
        let what = if shape.page_size != first.page_size {
            ("page size", u64::from(shape.page_size), u64::from(first.page_size))
        } else if logical(shape) != logical(first) {
            ("logical size", logical(shape), logical(first))
        } else {
            continue;
        };
        let (place, key) = if *place == Place::Nowhere { (first_place, first_path) } else { (place, path) };
        let shown = |bytes| format!("{} ({bytes} bytes)", units::format_bytes(bytes));
        return Err(Box::new(Fault {
            place: *place,
            key: key.clone(),
            value: None,
            problem: format!(
                "member {index} has a {} of {}, member 0 one of {}",
                what.0,
                shown(what.1),
                shown(what.2)
            ),
            allowed: "members of one page size and one logical size: a stripe takes the same from each"
                .into(),
        }));
    }
    Ok(())
}

/// Reads `stripe_unit`. What a member holds beyond its last whole stripe unit is not used.
fn stripes(section: &Section<'_>, devices: u16, shape: &Shape) -> Parsed<(Bytes, Room)> {
    let page = u64::from(shape.page_size);
    let member = u64::from(shape.logical_pages) * page;
    let field = section.field("stripe_unit");
    let unit = field.as_ref().map(|field| field.bytes(1)).transpose()?.unwrap_or(page.max(4096));
    let problem = if !unit.is_multiple_of(page) {
        Some(format!("is not a multiple of the page size, {}", units::format_bytes(page)))
    } else if unit > member {
        Some(format!("is larger than a member, {}", units::format_bytes(member)))
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(match field {
            Some(field) => field.fault(problem),
            None => Box::new(Fault {
                place: section.place,
                key: "array.stripe_unit".into(),
                value: Some(format!("\"{}\"", units::format_bytes(unit))),
                problem,
                allowed: crate::schema::find("array.stripe_unit").map_or("", |key| key.allowed).into(),
            }),
        });
    }
    let member_bytes = member / unit * unit;
    Ok((unit, Room { devices, member_bytes, array_bytes: member_bytes * u64::from(devices) }))
}

/// Reads `[array.coordination]` and builds the policy once, so that its own keys are checked by the policy itself.
fn coordination(array: &Section<'_>, devices: u16) -> Parsed<CoordinationConfig> {
    // The policy decides which other keys there are, so it is read before the table is checked.
    let written = array.table.get("coordination").map(|entry| &entry.node);
    let policy = match written.map(|node| &node.value) {
        Some(Value::Table(table)) => table.get("policy").map(|entry| &entry.node),
        _ => None,
    };
    let path = "array.coordination.policy".to_owned();
    let name = match policy {
        Some(node) => {
            let field = Field { node, path: path.clone(), schema: path };
            field.name(registry::names(coordination::REGISTRY))?.to_owned()
        }
        None => "local".to_owned(),
    };
    let entry = registry::find(coordination::REGISTRY, &name).expect("just checked");
    let section = array.child_with("coordination", "array.coordination", entry.keys)?;
    let message_latency = match section.field("message_latency") {
        Some(field) => field.duration(false)?,
        None => SimDuration::ZERO,
    };
    let mut own = serde_json::Map::new();
    for entry in &section.table.entries {
        if matches!(entry.name.as_str(), "policy" | "message_latency") {
            continue;
        }
        let field = own_field(&section, &entry.name, &entry.node);
        let value = entry.node.to_json().ok_or_else(|| {
            field.fault_allowing(format!("cannot be {}", entry.node.kind()), "text, a number, true or false")
        })?;
        own.insert(entry.name.clone(), value);
    }
    let build =
        |own: &serde_json::Map<_, _>| (entry.build)(&Parameters { devices, message_latency, own }).map(drop);
    if let Err(why) = build(&own) {
        return Err(blame(&section, &own, &why, build));
    }
    Ok(CoordinationConfig { policy: name, message_latency, own })
}

fn own_field<'a>(section: &Section<'a>, name: &str, node: &'a crate::tree::Node) -> Field<'a> {
    Field { node, path: section.below(name), schema: "array.coordination".into() }
}

/// Finds which of the policy's own keys is at fault: the one that is refused alone, too.
fn blame(
    section: &Section<'_>,
    own: &serde_json::Map<String, serde_json::Value>,
    why: &str,
    build: impl Fn(&serde_json::Map<String, serde_json::Value>) -> Result<(), String>,
) -> Box<Fault> {
    for (name, value) in own {
        let alone = serde_json::Map::from_iter([(name.clone(), value.clone())]);
        if let (Err(why), Some(entry)) = (build(&alone), section.table.get(name)) {
            let field = own_field(section, name, &entry.node);
            let why = printable(&why, 300);
            // serde's wording: "unknown variant `x`, expected `a` or `b`".
            let (problem, allowed) = match why.rsplit_once(", expected ") {
                Some((problem, "u64")) => (problem, "a whole number, 0 or more"),
                Some(said) => said,
                None if why.ends_with("for a duration") || why.contains("is not a duration") => {
                    (&*why, "a time such as \"25us\" or \"1.5ms\"")
                }
                None => (&*why, "what the policy takes"),
            };
            return field.fault_allowing(format!("the policy refuses it: {problem}"), allowed);
        }
    }
    let (place, key) = (section.place, section.path.clone());
    let problem = "the policy refuses these keys together".to_owned();
    Box::new(Fault { place, key, value: None, problem, allowed: printable(why, 300) })
}
