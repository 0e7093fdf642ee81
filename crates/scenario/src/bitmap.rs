//! A write-intent bitmap: `bitmap_chunk` and `bitmap_delay`, which belong to `array.write_hole = "bitmap"`.
//!
//! Its blocks take a little from the end of each member, so the keys are read before anybody asks how large the array is. What a
//! bit stands for is settled once the stripe unit is known.

use harmonia_array::{Level, WriteHole};
use harmonia_types::{Bytes, SimDuration, units};

use crate::error::Parsed;
use crate::log::hole;
use crate::read::Section;
use crate::schema::array as keys;

/// What a bit stands for at most unless somebody says otherwise: md's.
const LARGEST_USUAL: Bytes = 64 << 20;
/// Bits of a bitmap unless somebody says otherwise: members here are smaller than those that md's is meant for.
const USUAL_BITS: u64 = 1024;
/// Bits of a bitmap at most.
const MOST_BITS: u64 = 1 << 20;
/// md's: from one pass that looks for bits to clear to the next.
const USUAL_DELAY: SimDuration = SimDuration::from_us(5_000_000);

/// Reads the keys; what a bit stands for is 0 where that is not written.
pub(crate) fn read(array: &Section<'_>, level: Level) -> Parsed<WriteHole> {
    if matches!(level, Level::Draid(_)) {
        let problem = "is not modelled for declustered parity";
        let allowed = "\"resync\", or array.level = \"raid1\", \"raid10\", \"raid4\", \"raid5\" or \"raid6\"";
        return Err(hole(array).fault_allowing(problem, allowed));
    }
    let chunk = array.get_or(&keys::BITMAP_CHUNK, 0)?;
    Ok(WriteHole::Bitmap { chunk, delay: array.get_or(&keys::BITMAP_DELAY, USUAL_DELAY)? })
}

/// Settles what a bit stands for, of members of so many bytes.
pub(crate) fn settle(
    array: &Section<'_>,
    write_hole: &mut WriteHole,
    unit: Bytes,
    member: Bytes,
) -> Parsed<()> {
    let WriteHole::Bitmap { chunk, .. } = write_hole else { return Ok(()) };
    let Some(field) = array.field(&keys::BITMAP_CHUNK) else {
        *chunk = member.div_ceil(USUAL_BITS).min(LARGEST_USUAL).next_multiple_of(unit);
        return Ok(());
    };
    let shown = units::format_bytes;
    if !chunk.is_multiple_of(unit) {
        return Err(field.fault(format!("is not a multiple of the stripe unit, {}", shown(unit))));
    }
    let bits = member.div_ceil(*chunk);
    if bits > MOST_BITS {
        let least = member.div_ceil(MOST_BITS).next_multiple_of(unit);
        let problem = format!("asks for {bits} bits, and a bitmap has at most {MOST_BITS}");
        return Err(field.fault_allowing(problem, format!("at least {}", shown(least))));
    }
    Ok(())
}
