//! A write of one page on a RAID-5 of five members with every option off, and nothing else in `one_plain_write`: `tests/plain_write.py`
//! looks which files of the controller that enters.

#[path = "../tests/all/common/mod.rs"]
#[allow(dead_code, reason = "what tests share")]
mod common;

use common::{PAGE, all_filled, level, one_die, request};
use harmonia_array::layout::Rotation;
use harmonia_array::{Array, Level};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Operation, SimTime};

fn main() -> Result<(), String> {
    let config = level(Level::Raid5(Rotation::LeftSymmetric), &one_die(64, 16, 16), 5, 4 * PAGE);
    let mut array = Array::new(&config, all_filled(&config, 1), None, |_| NoProbe)?;
    // The coordinator has heard of the beginning.
    array.advance_until(SimTime::ZERO).map_err(|failure| failure.to_string())?;
    one_plain_write(&mut array).map_err(|failure| failure.to_string())?;
    match array.completions().as_slice() {
        [done] if done.operation == Operation::Write => Ok(()),
        other => Err(format!("one write was to complete, not {other:?}")),
    }
}

#[inline(never)]
fn one_plain_write(array: &mut Array) -> Result<(), harmonia_array::ArrayFailure> {
    array.submit(request(0, SimTime(1_000), Operation::Write, 0, PAGE))?;
    array.advance_until(SimTime(1_000_000_000))
}
