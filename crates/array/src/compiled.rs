//! Arrays that are compiled here for the programs of tests, as devices are in [`harmonia_ssd::compiled`].

use std::sync::atomic::AtomicPtr;

use harmonia_ssd::probe::{AnyProbe, NoProbe};

use crate::Array;
use crate::payload::{AnyPayload, NoPayload};

/// Pointers to the methods of an array with this probe and payload.
macro_rules! methods {
    ($probe:ty, $payload:ty: $($method:ident),*) => { [$(AtomicPtr::new(Array::<$probe, $payload>::$method as *mut ())),*] };
    ($probe:ty, $payload:ty) => {
        methods!(
            $probe, $payload: submit, advance_until, run_ahead, submit_ahead, begin_window, fail, lose_power, counters, audit
        )
    };
}

/// What programs of tests call of arrays. A static that others can name stays in the crate, with all that it points to.
pub static ARRAYS: [[AtomicPtr<()>; 9]; 2] = [methods!(NoProbe, NoPayload), methods!(AnyProbe, AnyPayload)];
