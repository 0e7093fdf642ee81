//! A log that is written before the members: `[array.journal]` and `ppl_size`, which belong to `array.write_hole`.
//!
//! A journal is a device of its own, like most members unless it has a preset. A partial parity log takes a little from the end
//! of each member, so it is read before anybody asks how large the array is, and checked once that is known.

use harmonia_array::layout::Layout;
use harmonia_array::{Faults, Level, MemberConfig, WriteHole};
use harmonia_types::{Bytes, units};

use crate::bitmap;
use crate::error::Parsed;
use crate::failures::{SpareState, usual};
use crate::read::{Field, Section};
use crate::schema::Key;
use crate::schema::array as keys;
use crate::ssd::Draft;

/// Bytes of a partial parity log on each member unless somebody says otherwise: mdadm's for several in turn.
const USUAL_PPL: Bytes = 1 << 20;
/// Members of an array that one block of a journal can describe, and those of a partial parity log: md's.
const MOST_JOURNALED: usize = 203;
const MOST_PPL: usize = 64;

/// Reads what belongs to a log of members that have so many bytes at least; the state in which a journal begins.
pub(crate) fn read(
    array: &Section<'_>,
    level: Level,
    (members, member): (&[MemberConfig], Bytes),
    faults: &mut Faults,
) -> Parsed<SpareState> {
    belongs(array, faults.write_hole)?;
    match faults.write_hole {
        WriteHole::Journal(_) => journal(array, level, members, faults),
        WriteHole::PartialParityLog(_) => {
            faults.write_hole = WriteHole::PartialParityLog(ppl(array, level, members, member)?);
            Ok(SpareState::default())
        }
        WriteHole::Bitmap { .. } => {
            faults.write_hole = bitmap::read(array, level)?;
            Ok(SpareState::default())
        }
        WriteHole::Resync => Ok(SpareState::default()),
    }
}

/// Refuses keys of a log or bitmap that is not kept.
fn belongs(array: &Section<'_>, hole: WriteHole) -> Parsed<()> {
    let (journal, ppl) =
        (matches!(hole, WriteHole::Journal(_)), matches!(hole, WriteHole::PartialParityLog(_)));
    let bitmap = matches!(hole, WriteHole::Bitmap { .. });
    for (key, is_kept, kind) in [
        ("journal", journal, "journal"),
        ("ppl_size", ppl, "ppl"),
        ("bitmap_chunk", bitmap, "bitmap"),
        ("bitmap_delay", bitmap, "bitmap"),
    ] {
        if let Some(field) = array.named(key).filter(|_| !is_kept) {
            let allowed = format!("no `{key}`, or array.write_hole = \"{kind}\"");
            return Err(field.fault_allowing(format!("belongs to write_hole = \"{kind}\""), allowed));
        }
    }
    Ok(())
}

/// The field that asks for the log or bitmap.
pub(crate) fn hole<'a>(array: &Section<'a>) -> Field<'a> {
    array.field(&keys::WRITE_HOLE).expect("a log is kept where somebody asks for it")
}

fn most(array: &Section<'_>, members: &[MemberConfig], most: usize) -> Parsed<()> {
    if members.len() <= most {
        return Ok(());
    }
    let problem = format!("is for at most {most} members, and there are {}", members.len());
    Err(hole(array)
        .fault_allowing(problem, format!("at most {most} devices, or array.write_hole = \"resync\"")))
}

fn journal(
    array: &Section<'_>,
    level: Level,
    members: &[MemberConfig],
    faults: &mut Faults,
) -> Parsed<SpareState> {
    if level.parities() == 0 {
        let problem = format!("is for rows with parity, and {level} has none");
        let allowed = "\"resync\", or array.level = \"raid4\", \"raid5\" or \"raid6\"";
        return Err(hole(array).fault_allowing(problem, allowed));
    }
    most(array, members, MOST_JOURNALED)?;
    let section = array.child("array.journal")?;
    let device = device(&section, members)?;
    let page = u64::from(device.ssd.mapping_unit());
    let whole = device.ssd.resolve().map_or(0, |shape| u64::from(shape.logical_pages)) * page;
    let size =
        size(&section, &keys::JOURNAL_SIZE, page, whole, "the journal's device holds")?.unwrap_or(whole);
    faults.write_hole = WriteHole::Journal(size);
    faults.journal = Some(device);
    state(&section)
}

/// The journal's device: as most members, or a preset.
fn device(section: &Section<'_>, members: &[MemberConfig]) -> Parsed<MemberConfig> {
    let usual = usual(members);
    let Some(field) = section.field(&keys::JOURNAL_PRESET) else { return Ok(usual.clone()) };
    let mut draft = Draft::new();
    draft.preset(&field)?;
    let (ssd, shape) = draft.finish()?;
    let page = usual.ssd.mapping_unit();
    if shape.page_size != page {
        let shown = |page: u32| units::format_bytes(u64::from(page));
        let problem = format!("has pages of {}, and members have {}", shown(shape.page_size), shown(page));
        return Err(field.fault_allowing(problem, "a preset with pages like those of the members"));
    }
    Ok(MemberConfig { capable: usual.capable, ssd })
}

fn state(section: &Section<'_>) -> Parsed<SpareState> {
    let Some(field) = section.field(&keys::JOURNAL_STATE) else { return Ok(SpareState::default()) };
    let state = keys::JOURNAL_STATE.read(&field)?;
    if state == SpareState::Aged && section.field(&keys::JOURNAL_PRESET).is_some() {
        let problem = "is the state of members, and the journal has a preset of its own";
        return Err(field.fault_allowing(problem, "\"new\", or no array.journal.preset"));
    }
    Ok(state)
}

fn ppl(array: &Section<'_>, level: Level, members: &[MemberConfig], member: Bytes) -> Parsed<Bytes> {
    if !matches!(level, Level::Raid5(_)) {
        let problem = format!("is for raid5, whose rows have one parity that moves, and not for {level}");
        return Err(hole(array).fault_allowing(problem, "array.level = \"raid5\", or another `write_hole`"));
    }
    most(array, members, MOST_PPL)?;
    let page = u64::from(usual(members).ssd.mapping_unit());
    let written = size(array, &keys::PPL_SIZE, page, member / 2, "half of a member is")?;
    Ok(written.unwrap_or_else(|| USUAL_PPL.next_multiple_of(page).min(member / 2 / page * page)))
}

/// The size of a log, if written: whole pages, and no more than there is.
fn size(
    section: &Section<'_>,
    key: &Key<Bytes>,
    page: Bytes,
    most: Bytes,
    what: &str,
) -> Parsed<Option<Bytes>> {
    let Some(field) = section.field(key) else { return Ok(None) };
    let size = key.read(&field)?;
    let shown = units::format_bytes;
    if size > most {
        return Err(field.fault_allowing(
            format!("is too large: {what} {}", shown(most)),
            format!("at most {}", shown(most)),
        ));
    }
    if !size.is_multiple_of(page) {
        return Err(field.fault(format!("is not a multiple of the page size, {}", shown(page))));
    }
    Ok(Some(size))
}

/// Refuses a log without room for a stripe.
pub(crate) fn fits(array: &Section<'_>, faults: &Faults, layout: &Layout, page: Bytes) -> Parsed<()> {
    let Layout::Parity(parity) = layout else { return Ok(()) };
    let least = faults.write_hole.least(parity, page, layout.stripe_unit());
    let journal = array.child("array.journal")?;
    let (size, field) = match faults.write_hole {
        WriteHole::Journal(size) => (size, journal.field(&keys::JOURNAL_SIZE)),
        WriteHole::PartialParityLog(size) => (size, array.field(&keys::PPL_SIZE)),
        WriteHole::Resync | WriteHole::Bitmap { .. } => return Ok(()),
    };
    if size >= least {
        return Ok(());
    }
    let shown = units::format_bytes;
    let problem = format!("leaves no room: a log of {} needs {} for a stripe", shown(size), shown(least));
    Err(field
        .unwrap_or_else(|| hole(array))
        .fault_allowing(problem, format!("a log of at least {}", shown(least))))
}
