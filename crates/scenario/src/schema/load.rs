//! Loads while their keys are laid over them, and the places that keys have in them.
//!
//! One declaration serves every kind of load that has the key: `workload.align` one load, streams and traces, the keys of
//! `[workload.address]` one load and each stream. Beside a load without a place for it the key is refused.

use harmonia_workload::{AddressPattern, StreamConfig, StreamsConfig, SyntheticConfig, TraceConfig};

use super::held::{Draft, Held};
use super::{Declared, Key, KeyInfo};
use crate::error::{Fault, Parsed};
use crate::read::{Field, Section};
use crate::shown::Shown;

/// What the keys of `[workload]`, or of one `[workload.stream.NAME]`, are laid over.
pub(crate) enum Load {
    Synthetic(SyntheticConfig),
    Streams(StreamsConfig),
    Stream(StreamConfig),
    Trace(TraceConfig),
}

/// The kinds of these.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Synthetic,
    Streams,
    Stream,
    Trace,
}

impl Draft for Load {
    type Config = Self;

    fn config(&mut self) -> &mut Self {
        self
    }
}

impl Load {
    /// Where its requests go, of one load or one stream.
    pub fn pattern(&self) -> Option<&AddressPattern> {
        match self {
            Load::Synthetic(load) => Some(&load.address),
            Load::Stream(stream) => Some(&stream.address),
            Load::Streams(_) | Load::Trace(_) => None,
        }
    }

    /// [`Load::pattern`], to be changed.
    pub fn pattern_mut(&mut self) -> Option<&mut AddressPattern> {
        match self {
            Load::Synthetic(load) => Some(&mut load.address),
            Load::Stream(stream) => Some(&mut stream.address),
            Load::Streams(_) | Load::Trace(_) => None,
        }
    }

    /// A fault of a key that only loads of another kind have.
    pub fn foreign(&self, field: &Field<'_>, owner: Of) -> Box<Fault> {
        let is = match self {
            Load::Synthetic(_) => "a load without streams",
            Load::Streams(_) => "a load of several streams",
            Load::Stream(_) => "a stream",
            Load::Trace(_) => "a trace",
        };
        let allowed = match owner {
            Of::Synthetic => "only in a load without streams",
            Of::Streams => "only beside [workload.stream.NAME]",
            Of::Stream => "in [workload.stream.NAME.address]",
            Of::Trace => "only with kind = \"trace\"",
        };
        field.fault_allowing(format!("does not belong to {is}"), allowed)
    }
}

/// A key with its place in loads that have it.
pub(super) struct At<T: 'static> {
    pub key: Key<T>,
    pub get: fn(&Load) -> Option<&T>,
    pub place: fn(&mut Load) -> Option<&mut T>,
    /// Why a load without the place has no such key.
    pub foreign: fn(&Load, &Field<'_>) -> Box<Fault>,
    /// Refuses the key, whatever its value, where nothing would come of it.
    pub needs: fn(&Load, &Section<'_>, &Field<'_>) -> Parsed<()>,
    /// Whether it is shown.
    pub is_said: fn(&Load) -> bool,
    /// Why it has to be written, if it has.
    pub must: Option<&'static str>,
}

impl<T> Declared for At<T> {
    fn path(&self) -> &'static str {
        self.key.path
    }

    fn info(&self) -> KeyInfo {
        self.key.info()
    }
}

impl<T> Held<Load> for At<T> {
    fn lay(&self, load: &mut Load, table: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
        if (self.get)(load).is_none() {
            return Err((self.foreign)(load, field));
        }
        (self.needs)(load, table, field)?;
        let value = self.key.read(field)?;
        if let Some(place) = (self.place)(load) {
            *place = value;
        }
        Ok(())
    }

    fn absent(&self, load: &Load, table: &Section<'_>) -> Parsed<()> {
        match self.must.filter(|_| (self.get)(load).is_some()) {
            Some(why) => Err(table.missing(self.key.name(), why)),
            None => Ok(()),
        }
    }

    fn show(&self, load: &Load) -> Option<Shown> {
        (self.get)(load).filter(|_| (self.is_said)(load)).and_then(|value| self.key.show(value))
    }
}

/// A key at a place that one kind of load has or several have, such as `(Synthetic | Stream).footprint`, or, `in` a pattern of
/// addresses, at what the pattern binds. It is shown always or `if` a function says so. What it `needs` of the rest is checked
/// before its value is looked at. A key that `must` be written says why. A key `of` a kind of load or a pattern is refused beside
/// another one.
macro_rules! of {
    ($path:literal of $owner:literal, in $pattern:pat => $place:ident $(must $why:literal)?,
     $kind:expr, $default:expr, $meaning:expr) => {
        Box::new(At {
            key: Key { path: $path, kind: $kind, owner: $owner, default: $default, meaning: $meaning },
            get: |load| match load.pattern() {
                Some($pattern) => Some($place),
                _ => None,
            },
            place: |load| match load.pattern_mut() {
                Some($pattern) => Some($place),
                _ => None,
            },
            foreign: |_, field| {
                let allowed = concat!("only with pattern = \"", $owner, "\"");
                field.fault_allowing("does not belong to this pattern", allowed)
            },
            needs: of!(@needs),
            is_said: of!(@said),
            must: of!(@must $($why)?),
        }) as Box<dyn Held<Load>>
    };
    ($path:literal $(of $owner:literal)?, ($first:ident $(| $other:ident)*).$($place:ident).+
     $(if $is_said:ident)? $(needs $needs:ident)?, $kind:expr, $default:expr, $meaning:expr) => {
        of!(@ $path ($($owner)?) $first ($first $($other)*) ($($place).+) ($($is_said)?) ($($needs)?) $kind, $default, $meaning)
    };
    (@ $path:literal ($($owner:literal)?) $first:ident ($($load:ident)+) $place:tt ($($is_said:ident)?) ($($needs:ident)?)
     $kind:expr, $default:expr, $meaning:expr) => {
        Box::new(At {
            key: Key { path: $path, kind: $kind, owner: concat!($($owner)?), default: $default, meaning: $meaning },
            get: |load| match load {
                $(Load::$load(load) => Some(of!(@get load $place)),)+
                _ => None,
            },
            place: |load| match load {
                $(Load::$load(load) => Some(of!(@place load $place)),)+
                _ => None,
            },
            foreign: |load, field| load.foreign(field, Of::$first),
            needs: of!(@needs $($needs)?),
            is_said: of!(@said $($is_said)?),
            must: of!(@must),
        }) as Box<dyn Held<Load>>
    };
    (@get $load:ident ($($place:ident).+)) => { &$load.$($place).+ };
    (@place $load:ident ($($place:ident).+)) => { &mut $load.$($place).+ };
    (@needs) => { |_, _, _| Ok(()) };
    (@needs $needs:ident) => { $needs };
    (@said) => { |_| true };
    (@said $is_said:ident) => { $is_said };
    (@must) => { None };
    (@must $why:literal) => { Some($why) };
}

pub(super) use of;
