//! The `[array]` table: coordination, members that differ, and (in `level`) the kind of RAID.

use harmonia_array::coordination::{self, Parameters};
use harmonia_array::{ArrayConfig, CoordinationConfig, MemberConfig};
use harmonia_ssd::{Infeasible, Shape};
use harmonia_types::units;

use crate::bitmap;
use crate::error::{Fault, Parsed};
use crate::failures::{self, SpareState};
use crate::knowledge;
use crate::level::{self, Room};
use crate::log;
use crate::own::{Keys, PolicyTable};
use crate::policies;
use crate::read::Section;
use crate::reserve;
use crate::schema::array as keys;
use crate::schema::held;
use crate::shares;
use crate::ssd::Draft;
use crate::tree::Place;

/// In what states devices that are no members begin.
pub(crate) struct States {
    pub spares: SpareState,
    pub journal: SpareState,
}

/// `[ssd]` keys that `[[array.member]]` takes directly, too.
const OVERRIDES: &[&str] = &["preset", "geometry", "timing", "link", "ftl", "gc"];

/// Reads `[array]` and `[ssd]`.
pub(crate) fn read(root: &Section<'_>) -> Parsed<(ArrayConfig, States, Room)> {
    let section = root.child("array")?;
    let devices = section.get_or(&keys::DEVICES, 8)?;
    let level = level::level(&section, devices)?;
    let (members, mut shape) = members(root, &section, devices)?;
    let page = u64::from(shape.page_size);
    let whole = u64::from(shape.capacity_pages) * page;
    // How large a stripe unit is follows.
    let mut config = ArrayConfig::of(level, 0, members);
    // All tables before any value: what is misspelt is told before what does not belong.
    let tables = [
        section.clone(),
        section.child("array.link")?,
        section.child("array.rebuild")?,
        section.child("array.lifetime")?,
    ];
    failures::belong(&section, &config)?;
    tables.iter().try_for_each(|table| held::lay(&keys::KEYS, &mut config, table))?;
    failures::read(&section, &mut config)?;
    let journal = log::read(&section, level, (&config.members, whole), &mut config.faults)?;
    let area = config.faults.write_hole.area(whole, page);
    if area >= whole {
        let problem = format!("takes {}, which is all that a member holds", units::format_bytes(area));
        return Err(log::hole(&section).fault_allowing(problem, "larger members, or \"resync\""));
    }
    coordination(&section, &mut config)?;
    if config.provision() {
        for member in &config.members {
            let full = member.ssd.full().resolve();
            full.and(member.ssd.resolve()).map_err(|why| thinly(&section, &why))?;
        }
        shape = config.members[0].ssd.resolve().map_err(|why| thinly(&section, &why))?;
    }
    let (stripe_unit, room) = level::stripes(&section, &config, &shape, area)?;
    config.stripe_unit = stripe_unit;
    config.parity_shares = room.shares();
    shares::may_move(&section, &config)?;
    config.knowledge.free_stripes = room.free_stripes();
    bitmap::settle(&section, &mut config.faults.write_hole, stripe_unit, whole)?;
    log::fits(&section, &config.faults, room.layout(), page)?;
    reserve::allows(&section, &config)?;
    let spares = section.get_or(&keys::SPARE_STATE, SpareState::default())?;
    let policy = policies::built(&config, &config.coordination.policy).ok();
    if let Some(problem) = policy.and_then(|policy| reserve::unable_with(spares, &*policy)) {
        let field = section.require(&keys::SPARE_STATE, "spares are new by default")?;
        return Err(field.fault_allowing(problem, "\"new\", or array.coordination.thin = false"));
    }
    Ok((config, States { spares, journal }, room))
}

/// Reads every member's device. All must have one page size and one logical size; returns what they share.
fn members(root: &Section<'_>, array: &Section<'_>, devices: u16) -> Parsed<(Vec<MemberConfig>, Shape)> {
    let mut draft = Draft::new();
    draft.apply(&root.child("ssd")?)?;
    let (ssd, shape) = draft.finish()?;
    let mut members = vec![MemberConfig { capable: true, ssd }; usize::from(devices)];
    let mut shapes: Vec<(Shape, Place, String)> =
        vec![(shape, Place::Nowhere, "[ssd]".to_owned()); usize::from(devices)];
    let mut written = vec![false; usize::from(devices)];
    for section in array.tables(&keys::MEMBER, usize::MAX, OVERRIDES)? {
        let field = section.require(&keys::MEMBER_INDEX, "it says which member this is")?;
        let most = devices - 1;
        let index = usize::from(keys::MEMBER_INDEX.read(&field)?);
        if index > usize::from(most) {
            let problem = format!("there are only {devices} devices");
            return Err(field.fault_allowing(problem, format!("0 to {most}")));
        }
        if std::mem::replace(&mut written[index], true) {
            return Err(field.fault_allowing("is given twice", "one [[array.member]] for each index"));
        }
        members[index].capable = section.get_or(&keys::MEMBER_CAPABLE, true)?;
        let mut own = draft.clone();
        let direct = Section { schema: "ssd", ..section.clone() };
        own.apply(&direct)?;
        own.apply(&section.child("ssd")?)?;
        let (ssd, shape) = own.finish()?;
        members[index].ssd = ssd;
        shapes[index] = (shape, section.place, section.path.clone());
    }
    alike(&shapes)?;
    let shape = shapes.swap_remove(0).0;
    Ok((members, shape))
}

/// A drive cannot work with more page numbers than pages.
fn thinly(array: &Section<'_>, why: &Infeasible) -> Box<Fault> {
    let problem = format!(
        "floating stripes take more page numbers than members have pages, and with them {} is refused: {}",
        why.key, why.why
    );
    let Some(field) = array.named("coordination") else { return array.missing("coordination", &problem) };
    field.fault_allowing(problem, "array.coordination.thin = false")
}

/// Every level takes the same from each member: refuse members of other sizes with both numbers.
fn alike(shapes: &[(Shape, Place, String)]) -> Parsed<()> {
    let (first, first_place, first_path) = &shapes[0];
    let logical = |shape: &Shape| u64::from(shape.capacity_pages) * u64::from(shape.page_size);
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

/// Reads `[array.coordination]` and builds the policy once, so that its own keys are checked by the policy itself.
fn coordination(array: &Section<'_>, config: &mut ArrayConfig) -> Parsed<()> {
    let table = PolicyTable { name: "coordination", schema: "array.coordination" };
    let (section, entry) = table.open(array, &coordination::POLICIES, "local")?;
    held::lay(&keys::KEYS, config, &section)?;
    let own = table.keys(&section)?;
    let ArrayConfig { devices, level, ref members, ref knowledge, ref coordination, .. } = *config;
    let (redundancy, message_latency) = (level.redundancy(devices), coordination.message_latency);
    let parameters = Parameters { devices, redundancy, members, message_latency, own: &own };
    let build = |own: &Keys| (entry.build)(&Parameters { own, ..parameters });
    match build(&own) {
        Ok(_) => knowledge::allows(array, &section, entry, knowledge.interface, &parameters)?,
        Err(why) if build(&Keys::new()).is_err_and(|usual| usual == why) => {
            let field = section.require(&keys::POLICY, "the default works on every array")?;
            let (why, works) = why.split_once("; ").unwrap_or((&why, "another array"));
            let problem = format!("does not work on this array: {why}");
            return Err(field.fault_allowing(problem, format!("{works}; or another policy")));
        }
        Err(why) => return Err(table.blame(&section, &own, &why, |own| build(own).map(drop))),
    }
    config.coordination = CoordinationConfig { policy: entry.name.to_owned(), message_latency, own };
    Ok(())
}
