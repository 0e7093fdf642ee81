//! Devices whose probe is none or any, compiled here for the programs of tests: a compiler looks for what is generic in the
//! crates below before it compiles it anew, and a device takes seconds.

use std::sync::atomic::AtomicPtr;

use crate::Device;
use crate::probe::{AnyProbe, NoProbe};

/// Pointers to the methods of a device with this probe. Plain ones would not do in a static, because threads share it.
macro_rules! methods {
    ($probe:ty: $($method:ident),*) => { [$(AtomicPtr::new(Device::<$probe>::$method as *mut ())),*] };
    ($probe:ty) => {
        methods!(
            $probe: new, with_policies, submit, advance_until, run_through, quiet_until, direct, status, counters,
            begin_window, fail, lose_power, slow_down, audit
        )
    };
}

/// What programs of tests call of devices. A static that others can name stays in the crate, with all that it points to.
pub static DEVICES: [[AtomicPtr<()>; 14]; 2] = [methods!(NoProbe), methods!(AnyProbe)];
