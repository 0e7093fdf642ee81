//! Stripes that the array keeps free at the end of its members, and what a policy that writes to them, or has stripes that leave a
//! member free each, needs.
//!
//! They are taken from the capacity whatever the policy, so that policies are compared on the same array.

use harmonia_array::coordination::{self, Coordinator, Placing, Stripes};
use harmonia_array::{ArrayConfig, Level, WriteHole};
use harmonia_types::registry::no_keys;
use harmonia_types::{Bytes, units};

use crate::error::Parsed;
use crate::failures::SpareState;
use crate::own::known;
use crate::policies;
use crate::read::Section;
use crate::schema::array::{FREE_STRIPES, POLICY};

/// Reads `free_stripes`; `member` and `unit` are the bytes of a member and of a stripe unit.
pub(crate) fn read(array: &Section<'_>, level: Level, member: Bytes, unit: Bytes) -> Parsed<u64> {
    let Some(field) = array.field(&FREE_STRIPES) else { return Ok(0) };
    let stripes = member / unit;
    let free = FREE_STRIPES.read(&field)?;
    if free > 0 && level.parities() == 0 {
        let problem = format!("{level} has no parity, and only rows with parity are written elsewhere");
        let allowed = "no `free_stripes`, or array.level = \"raid4\", \"raid5\" or \"raid6\"";
        return Err(field.fault_allowing(problem, allowed));
    }
    if free >= stripes {
        let problem = format!("leaves no room: there are {stripes} stripes of {}", units::format_bytes(unit));
        return Err(field.fault_allowing(problem, format!("0 to {}", stripes.saturating_sub(1))));
    }
    Ok(free)
}

/// What keeps a policy from this array: the reason, and what would help.
pub(crate) fn unable(array: &ArrayConfig, policy: &dyn Coordinator) -> Option<(String, String)> {
    let ArrayConfig { level, knowledge, faults, .. } = array;
    if !policy.displaces() {
        return None;
    }
    if !matches!(level, Level::Raid4 | Level::Raid5(_) | Level::Raid6(_)) {
        let problem = match level.parities() {
            0 => format!("it writes around parity, and {level} has none"),
            _ => format!("it knows stripes that all members have a part in, and {level} has others"),
        };
        return Some((problem, "array.level = \"raid4\", \"raid5\" or \"raid6\"".into()));
    }
    let placing = policy.placing();
    if placing.stripes == Stripes::Floating {
        return unable_to_float(array, placing.thin);
    }
    if array.stripe_cache.entries > 0 {
        let problem = "a stripe cache keeps rows as if all of them were at home";
        return Some((problem.into(), "array.stripe_cache = 0".into()));
    }
    if !faults.power_losses.is_empty() || faults.write_hole != WriteHole::Resync {
        let problem = "neither resync nor a log knows of rows that it writes elsewhere";
        return Some((problem.into(), "no array.power_loss and no array.write_hole".into()));
    }
    (knowledge.free_stripes == 0).then(|| {
        let rows = array.stripe_unit / 4096.min(array.stripe_unit);
        let problem = "it writes to stripes that the array keeps free, and there are none";
        let each = format!("a stripe takes {rows} units of 4KiB that cannot be written in their own place");
        (problem.into(), format!("array.free_stripes = 1 or more ({each})"))
    })
}

/// What keeps stripes that leave a member free each from this array.
fn unable_to_float(array: &ArrayConfig, thin: bool) -> Option<(String, String)> {
    let ArrayConfig { level, knowledge, faults, stripe_cache, .. } = array;
    let rows = "array.coordination.stripes = \"rows\"";
    let problem = if !matches!(level, Level::Raid5(_) | Level::Raid6(_)) {
        let problem = format!("floating stripes have their parity on any member, which {level} has not");
        return Some((problem, format!("array.level = \"raid5\" or \"raid6\"; or {rows}")));
    } else if !faults.power_losses.is_empty() && array.members_forget() {
        let problem = "a drive that forgets what it caches may lose a page whose older copy floating stripes have discarded";
        return Some((problem.into(), "ssd.write_cache.power_protected = true".into()));
    } else if faults.replacements() > 0 {
        let problem = "a copy of a member that works would fill what floating stripes leave free";
        let allowed = format!("array.failure with kind = \"failure\" or \"slow\"; or {rows}");
        return Some((problem.into(), allowed));
    } else if thin && !array.parity_shares.is_empty() {
        let problem = "whoever has more parity collects more and leaves its rows, and fills members that have more page numbers than pages";
        return Some((
            problem.into(),
            format!("array.coordination.thin = false; no array.parity_shares; or {rows}"),
        ));
    } else if knowledge.free_stripes > 0 {
        ("each floating stripe leaves a member free, and none is kept free besides", "array.free_stripes = 0")
    } else if stripe_cache.entries > 0 {
        ("a stripe cache keeps rows as if all of them were at home", "array.stripe_cache = 0")
    } else if knowledge.nvram > 0 {
        ("what is in the way of floating stripes moves, and nothing is parked", "array.nvram = \"0B\"")
    } else {
        return None;
    };
    Some((problem.0.into(), format!("{}; or {rows}", problem.1)))
}

/// Why a policy cannot work with spares in this state, if there are any.
pub(crate) fn unable_with(spares: SpareState, policy: &dyn Coordinator) -> Option<&'static str> {
    let Placing { stripes, thin, .. } = policy.placing();
    let fills = policy.displaces() && stripes == Stripes::Floating && thin;
    (fills && spares == SpareState::Aged).then_some(
        "a used spare holds rows that are not to be on it, and a thinly provisioned one has no room for others until it is rebuilt",
    )
}

/// Refuses a policy that cannot work on this array.
pub(crate) fn allows(array: &Section<'_>, config: &ArrayConfig) -> Parsed<()> {
    let name = &config.coordination.policy;
    let Some(policy) = policies::built(config, name).ok() else { return Ok(()) };
    let Some((problem, allowed)) = unable(config, &*policy) else { return Ok(()) };
    let own = coordination::POLICIES.find(name).map_or_else(no_keys, |entry| (entry.keys)());
    let section = array.child_with("array.coordination", &known(&own))?;
    let field = section.require(&POLICY, "the default works on every array")?;
    Err(field.fault_allowing(problem, format!("{allowed}; or another policy")))
}
