//! Devices whose probe is none or any, compiled here for the programs of tests: a compiler looks for what is generic in the
//! crates below before it compiles it anew, and a device takes seconds.

use crate::Device;
use crate::probe::{AnyProbe, NoProbe, Probe};

/// What programs of tests call of devices; how many there are, so that none is left out of the crate.
pub fn devices() -> usize {
    methods::<NoProbe>().len() + methods::<AnyProbe>().len()
}

fn methods<P: Probe>() -> [*const (); 14] {
    [
        Device::<P>::new as *const (),
        Device::<P>::with_policies as *const (),
        Device::<P>::submit as *const (),
        Device::<P>::advance_until as *const (),
        Device::<P>::run_through as *const (),
        Device::<P>::quiet_until as *const (),
        Device::<P>::direct as *const (),
        Device::<P>::status as *const (),
        Device::<P>::counters as *const (),
        Device::<P>::begin_window as *const (),
        Device::<P>::fail as *const (),
        Device::<P>::lose_power as *const (),
        Device::<P>::slow_down as *const (),
        Device::<P>::audit as *const (),
    ]
}
