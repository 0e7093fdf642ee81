//! What befalls members and what is kept against it, as a scenario file has it.

use harmonia_array::{ArrayConfig, Befalls, Fault, Faults, When, WriteHole};
use harmonia_types::{SimDuration, SimTime};

use crate::failures::{SpareState, usual};
use crate::schema::array as keys;
use crate::shown::Shown;

/// Where nothing happens nothing is said.
pub(super) fn put(array: &mut Shown, config: &ArrayConfig, state: SpareState) {
    // What is logged has a view of its own.
    let Faults { events, spares, scrub, power_losses, .. } = &config.faults;
    let has_spares = !spares.is_empty();
    array.some(&keys::SPARES, Some(&(spares.len() as u32)).filter(|_| has_spares));
    let says_state = has_spares || state != SpareState::default();
    array.some(&keys::SPARE_STATE, Some(&state).filter(|_| says_state));
    array.put(keys::FAILURE.name(), list(events.iter().map(failure)));
    if let Some(scrub) = scrub {
        let table = array.below(keys::SCRUB.name());
        table.key(&keys::SCRUB_AT, &since_start(scrub.at));
        table.key(&keys::SCRUB_MODE, &scrub.repairs);
    }
    let loss = |at: &When| {
        let mut shown = Shown::table();
        when(&mut shown, at);
        shown
    };
    array.put(keys::POWER_LOSS.name(), list(power_losses.iter().map(loss)));
}

fn list(tables: impl Iterator<Item = Shown>) -> Option<Shown> {
    let tables: Vec<Shown> = tables.collect();
    (!tables.is_empty()).then_some(Shown::List(tables))
}

fn failure(fault: &Fault) -> Shown {
    let mut shown = Shown::table();
    shown.key(&keys::FAILURE_DEVICE, &fault.device.0);
    when(&mut shown, &fault.at);
    shown.key(&keys::FAILURE_KIND, &fault.what);
    if let Befalls::Slow(factor) = &fault.what {
        shown.key(&keys::FAILURE_FACTOR, factor);
    }
    shown
}

fn when(shown: &mut Shown, at: &When) {
    match at {
        When::Time(at) => shown.key(&keys::FAILURE_AT, &since_start(*at)),
        When::Request(request) => shown.key(&keys::FAILURE_REQUEST, request),
    }
}

/// A moment of a run, as it is written.
fn since_start(at: SimTime) -> SimDuration {
    at - SimTime::ZERO
}

/// A log or bitmap, where one is kept.
pub(super) fn put_log(shown: &mut Shown, array: &ArrayConfig, state: SpareState) {
    let hole = &array.faults.write_hole;
    shown.some(&keys::WRITE_HOLE, Some(hole).filter(|hole| **hole != WriteHole::Resync));
    match hole {
        WriteHole::Journal(size) => {
            let usual = usual(&array.members);
            let device = array.faults.journal.as_ref().filter(|device| device.ssd != usual.ssd);
            let table = shown.below(keys::JOURNAL.name());
            table.put(keys::JOURNAL_PRESET.name(), device.map(|device| device.ssd.preset.as_str().into()));
            table.key(&keys::JOURNAL_SIZE, size);
            table.key(&keys::JOURNAL_STATE, &state);
        }
        WriteHole::PartialParityLog(size) => shown.key(&keys::PPL_SIZE, size),
        WriteHole::Bitmap { chunk, delay } => {
            shown.key(&keys::BITMAP_CHUNK, chunk);
            shown.key(&keys::BITMAP_DELAY, delay);
        }
        WriteHole::Resync => {}
    }
}
