//! Losses of power, and what the array does about rows that were being written: `power_loss`, `write_hole`.
//!
//! Power may be lost on any level. Only a level that keeps data more than once has something that must agree afterwards. There, and where
//! NVRAM forgets what a drive has answered for, a write cache without stored power is refused: md flushes its members before it marks an
//! array clean, clears a bit of its bitmap or reuses a log, and those flushes are not modelled.

use harmonia_array::{Knowledge, Level, MemberConfig, When};

use crate::error::Parsed;
use crate::failures::when;
use crate::read::{Field, Section};
use crate::schema::array::POWER_LOSS;

/// Most entries of `[[array.power_loss]]`.
const MOST_LOSSES: usize = 16;

/// Reads `[[array.power_loss]]`.
pub(crate) fn losses(
    array: &Section<'_>,
    level: Level,
    members: &[MemberConfig],
    knowledge: &Knowledge,
) -> Parsed<Vec<When>> {
    if let Some(field) = array.field(&POWER_LOSS).filter(|_| matches!(level, Level::Draid(_))) {
        let problem = "is not modelled for declustered parity";
        return Err(field.fault_allowing(problem, "no `power_loss`, or array.level = \"raid5\" or \"raid6\""));
    }
    let loses = |member: &MemberConfig| {
        let cache = &member.ssd.write_cache;
        cache.size.is_some() && !cache.power_protected
    };
    let volatile = array.field(&POWER_LOSS).filter(|_| members.iter().any(loses));
    let refused = |field: Field<'_>, with: &str, other: &str| {
        let problem = format!("is not modelled for drives whose write cache loses what it holds {with}");
        let allowed = format!("no `power_loss`, ssd.write_cache.power_protected = true, or {other}");
        Err(field.fault_allowing(problem, allowed))
    };
    match volatile {
        Some(field) if level.redundancy(members.len() as u16) > 0 => {
            return refused(field, "below a level with redundancy", "array.level = \"raid0\"");
        }
        Some(field) if knowledge.nvram > 0 => return refused(field, "below NVRAM", "array.nvram = \"0B\""),
        _ => {}
    }
    array.tables(&POWER_LOSS, MOST_LOSSES, &[])?.iter().map(when).collect()
}
