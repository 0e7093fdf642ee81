//! Arrays that are compiled here for the programs of tests, as devices are in [`harmonia_ssd::compiled`].

use harmonia_ssd::probe::{AnyProbe, NoProbe, Probe};

use crate::Array;
use crate::payload::{AnyPayload, NoPayload, Payload};

/// What programs of tests call of arrays; how many there are, so that none is left out of the crate.
pub fn arrays() -> usize {
    methods::<NoProbe, NoPayload>().len() + methods::<AnyProbe, AnyPayload>().len()
}

fn methods<P: Probe, C: Payload>() -> [*const (); 9] {
    [
        Array::<P, C>::submit as *const (),
        Array::<P, C>::advance_until as *const (),
        Array::<P, C>::run_ahead as *const (),
        Array::<P, C>::submit_ahead as *const (),
        Array::<P, C>::begin_window as *const (),
        Array::<P, C>::fail as *const (),
        Array::<P, C>::lose_power as *const (),
        Array::<P, C>::counters as *const (),
        Array::<P, C>::audit as *const (),
    ]
}
