//! Losses of power, and what the array does about rows that were being written: `power_loss`, `write_hole`.
//!
//! Power may be lost on any level. Only a level that keeps data more than once has something that must agree afterwards.

use harmonia_array::{Level, When, WriteHole};
use harmonia_types::SimDuration;

use crate::error::Parsed;
use crate::failures::when;
use crate::read::Section;
use crate::tree::Value;

/// Most entries of `[[array.power_loss]]`.
const MOST_LOSSES: usize = 16;

/// Reads `[[array.power_loss]]`.
pub(crate) fn losses(array: &Section<'_>, level: Level) -> Parsed<Vec<When>> {
    let Some(field) = array.field("power_loss") else { return Ok(Vec::new()) };
    if matches!(level, Level::Draid(_)) {
        let problem = "is not modelled for declustered parity";
        return Err(field.fault_allowing(problem, "no `power_loss`, or array.level = \"raid5\" or \"raid6\""));
    }
    let Value::List(list) = &field.node.value else {
        return Err(field.fault(format!("must be an array of tables, not {}", field.node.kind())));
    };
    if list.len() > MOST_LOSSES {
        return Err(field.fault(format!("has {} entries, expected at most {MOST_LOSSES}", list.len())));
    }
    let loss = |(position, node)| {
        when(&Section::of(node, format!("array.power_loss[{position}]"), "array.power_loss", &[])?)
    };
    list.iter().enumerate().map(loss).collect()
}

/// Reads `write_hole`.
pub(crate) fn write_hole(array: &Section<'_>) -> Parsed<WriteHole> {
    // How large a log is, and what a bit stands for, follows.
    let (journal, ppl) = (WriteHole::Journal(0), WriteHole::PartialParityLog(0));
    let bitmap = WriteHole::Bitmap { chunk: 0, delay: SimDuration::ZERO };
    let names = [("resync", WriteHole::Resync), ("bitmap", bitmap), ("journal", journal), ("ppl", ppl)];
    Ok(array.field("write_hole").map(|field| field.choice(&names)).transpose()?.unwrap_or_default())
}
