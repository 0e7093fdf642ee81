//! What kind of RAID `[array]` describes, and how much it holds: `level`, `layout`, `stripe_unit`,
//! `parity_shares`.

use harmonia_array::layout::{Copies, Layout, Pattern, Rotation};
use harmonia_array::{ArrayConfig, Level};
use harmonia_ssd::Shape;
use harmonia_types::{Bytes, DeviceId, units};

use crate::error::{Fault, Parsed};
use crate::read::{Field, Section};
use crate::schema::array::{self as keys, Named};
use crate::schema::workload::SPACE;
use crate::schema::{self, name_among};
use crate::{draid, reserve, shares};

/// The stripe unit of levels without parity.
const USUAL_UNIT: Bytes = 4 << 10;
/// That of levels with parity: md's chunk.
const USUAL_CHUNK: Bytes = 512 << 10;

/// What the array must allow for.
pub(crate) struct Room {
    layout: Layout,
    page: Bytes,
    /// Stripes behind those of the layout that are kept free.
    free_stripes: u64,
    /// The share of parity of each member, if they differ.
    shares: Vec<u16>,
    /// The part of the array that the load addresses, if not all of it.
    space: Option<Bytes>,
}

impl Room {
    pub fn devices(&self) -> u16 {
        self.layout.members()
    }

    pub fn level(&self) -> Level {
        self.layout.level()
    }

    pub fn free_stripes(&self) -> u64 {
        self.free_stripes
    }

    /// The share of parity of each member; empty where they do not differ.
    pub fn shares(&self) -> Vec<u16> {
        self.shares.clone()
    }

    /// Bytes that requests can go to.
    pub fn addressed_bytes(&self) -> Bytes {
        self.space.unwrap_or(self.layout.logical_bytes())
    }

    /// Data that requests pinned to a member can reach.
    pub fn pinned_bytes(&self, member: u16) -> Bytes {
        self.layout.pinned_bytes(DeviceId(member))
    }

    /// Whether every member holds all of the data, so that none can be preferred.
    pub fn keeps_all_on_each(&self) -> bool {
        match self.level() {
            Level::Raid0 | Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) | Level::Draid(_) => false,
            Level::Raid1 => true,
            Level::Raid10(copies) => copies.count == self.devices(),
        }
    }

    pub fn is_raid0(&self) -> bool {
        self.level() == Level::Raid0
    }

    /// Reads `workload.space`, the part of the array that the load addresses.
    pub fn limit(&mut self, workload: &Section<'_>) -> Parsed<Option<Bytes>> {
        let Some(field) = workload.field(&SPACE) else { return Ok(None) };
        let (space, whole) = (SPACE.read(&field)?, self.layout.logical_bytes());
        let shown = units::format_bytes;
        if space > whole {
            let problem = format!("is more than the array holds, {}", shown(whole));
            return Err(field.fault_allowing(problem, format!("at most {}", shown(whole))));
        }
        if !space.is_multiple_of(self.page) {
            let problem = format!("is not a multiple of the page size, {}", shown(self.page));
            return Err(field.fault(problem));
        }
        self.space = Some(space);
        Ok(self.space)
    }

    /// How the array's bytes lie on its members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The members that hold data, which lie side by side under every layout.
    pub fn data_members(&self) -> (u16, u16) {
        let mut holding = (0..self.devices()).filter(|&member| self.pinned_bytes(member) > 0);
        let first = holding.next().unwrap_or(0);
        (first, holding.next_back().unwrap_or(first))
    }
}

/// Reads `level` and `layout`, and refuses a number of members that the level cannot have.
pub(crate) fn level(section: &Section<'_>, devices: u16) -> Parsed<Level> {
    let level = match section.field(&keys::LEVEL) {
        Some(field) => match keys::LEVEL.read(&field)? {
            Named::Plain(level) => level,
            Named::Draid(parts) => draid::level(&field, parts, devices)?,
        },
        None => Level::default(),
    };
    let level = placed(section, level)?;
    has_members(section, level, devices)?;
    Ok(level)
}

/// The level with the placement that `layout` names.
fn placed(section: &Section<'_>, level: Level) -> Parsed<Level> {
    let Some(field) = section.field(&keys::LAYOUT) else { return Ok(level) };
    let copies = || {
        let names: Vec<String> = Pattern::ALL.iter().map(|pattern| format!("{}-2", pattern.name())).collect();
        format!("{}, or with up to {} copies", names.join(", "), harmonia_array::layout::MOST_COPIES)
    };
    match level {
        Level::Raid0 | Level::Raid1 | Level::Raid4 | Level::Draid(_) => Err(field.fault_allowing(
            format!("{level} has only one layout"),
            "no `layout`, or array.level = \"raid5\", \"raid6\" or \"raid10\"",
        )),
        Level::Raid10(_) => {
            let copies = Copies::parse(&keys::LAYOUT.read(&field)?)
                .ok_or_else(|| field.fault_allowing("is not a layout of raid10", copies()))?;
            Ok(Level::Raid10(copies))
        }
        Level::Raid5(_) => rotation(&field, |rotation| !rotation.is_raid6_only()).map(Level::Raid5),
        Level::Raid6(_) => rotation(&field, |_| true).map(Level::Raid6),
    }
}

/// The rotation that `layout` names, among those that the level can have.
fn rotation(field: &Field<'_>, fits: impl Fn(Rotation) -> bool) -> Parsed<Rotation> {
    let named = Rotation::parse(&keys::LAYOUT.read(field)?);
    let names = || Rotation::ALL.into_iter().filter(|&rotation| fits(rotation)).map(Rotation::name);
    match named {
        Some(rotation) if fits(rotation) => Ok(rotation),
        Some(_) => Err(field.fault_allowing(
            "is a layout of raid6: it says where the second parity lies",
            names().collect::<Vec<_>>().join(", "),
        )),
        None => name_among(field, names()).map(|_| unreachable!("a name of a rotation is a rotation")),
    }
}

fn has_members(section: &Section<'_>, level: Level, devices: u16) -> Parsed<()> {
    let (least, most) = (level.least_members(), level.most_members().min(keys::MOST_DEVICES));
    let problem = match devices {
        _ if devices < least => format!("{level} needs at least {least} members, and there are {devices}"),
        _ if devices > most => {
            format!("{level} has at most {most} members, each a copy of all, and there are {devices}")
        }
        _ => return Ok(()),
    };
    let field = section.field(&keys::DEVICES).or_else(|| section.field(&keys::LEVEL));
    let field = field.expect("the usual number of members is enough for the usual level");
    Err(field.fault_allowing(problem, format!("{least} to {most} devices with {level}, or another level")))
}

/// Reads `stripe_unit`. So many bytes of each member are taken by what the array keeps there for itself. What a member holds beyond its last whole stripe unit is not used.
pub(crate) fn stripes(
    section: &Section<'_>,
    config: &ArrayConfig,
    shape: &Shape,
    taken: Bytes,
) -> Parsed<(Bytes, Room)> {
    let ArrayConfig { level, devices, .. } = *config;
    let page = u64::from(shape.page_size);
    let member = u64::from(shape.capacity_pages) * page - taken;
    let unit = section.get(&keys::STRIPE_UNIT)?.unwrap_or_else(|| usual_unit(level, page, member));
    let shown = units::format_bytes;
    if !unit.is_multiple_of(page) {
        return unfit(section, unit, format!("is not a multiple of the page size, {}", shown(page)));
    }
    if unit > member {
        return unfit(section, unit, format!("is larger than a member, {}", shown(member)));
    }
    let free_stripes = reserve::read(section, level, member, unit)?;
    let left = harmonia_array::member_bytes(shape, config.thin(), unit, taken + free_stripes * unit);
    let shares = shares::read(section, level, devices, left / unit)?;
    let layout = Layout::new(level, devices, unit, page, left).sharing(&shares);
    let layout = config.placed(layout);
    if layout.logical_bytes() == 0 {
        let problem = format!(
            "leaves no room: {level} takes several units of a member at once, which has {}",
            shown(member)
        );
        return unfit(section, unit, problem);
    }
    Ok((unit, Room { layout, page, free_stripes, shares, space: None }))
}

fn usual_unit(level: Level, page: Bytes, member: Bytes) -> Bytes {
    if level.parities() == 0 {
        page.max(USUAL_UNIT)
    } else {
        (USUAL_CHUNK.min(member) / page * page).max(page)
    }
}

/// A stripe unit that cannot be, written or not.
fn unfit<T>(section: &Section<'_>, unit: Bytes, problem: String) -> Parsed<T> {
    Err(match section.field(&keys::STRIPE_UNIT) {
        Some(field) => field.fault(problem),
        None => Box::new(Fault {
            place: section.place,
            key: "array.stripe_unit".into(),
            value: Some(format!("\"{}\"", units::format_bytes(unit))),
            problem,
            allowed: schema::allowed("array.stripe_unit"),
        }),
    })
}
