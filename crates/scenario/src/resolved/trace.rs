//! A trace and how it is replayed, as a scenario file has it.

use harmonia_workload::{Pacing, TraceConfig};

use super::load::put_limit;
use crate::schema::workload as keys;
use crate::shown::Shown;

/// What was not said is left out: it is the format's.
pub(super) fn put(shown: &mut Shown, trace: &TraceConfig) {
    let name = |path: &std::path::PathBuf| Shown::Text(path.to_string_lossy().into_owned());
    let paths = match trace.paths.as_slice() {
        [only] => name(only),
        several => Shown::List(several.iter().map(name).collect()),
    };
    let options = &trace.options;
    shown.put(keys::PATH.name(), Some(paths));
    shown.put(keys::FORMAT.name(), Some(options.format.as_str().into()));
    shown.some(&keys::COLUMNS, options.columns.as_ref());
    shown.some(&keys::TIME_UNIT, options.units.time_ns.as_ref());
    shown.some(&keys::ADDRESS_UNIT, options.units.address.as_ref());
    shown.some(&keys::SIZE_UNIT, options.units.size.as_ref());
    shown.some(&keys::READ_IS, options.units.read_is.as_ref());
    shown.some(&keys::OPS, options.ops.as_ref());
    shown.some(&keys::EVENT_FORMAT, options.event_format.as_ref());
    shown.some(&keys::ACTION, options.action.as_ref());
    shown.some(&keys::SORT_WINDOW, options.sort_window.as_ref());
    shown.some(&keys::SPREAD, options.spread.as_ref());
    shown.some(&keys::SAME_VOLUMES, options.same_volumes.as_ref());
    shown.key(&keys::VOLUMES, &(trace.volumes, options.only.clone()));
    shown.some(&keys::START, options.start.as_ref());
    shown.some(&keys::END, options.end.as_ref());
    shown.key(&keys::SKIP_BAD, &options.skip_bad);
    shown.key(&keys::REPEAT, &trace.repeat);
    shown.key(&keys::REPLAY, &trace.pacing);
    match &trace.pacing {
        Pacing::Closed { queue_depth } => shown.key(&keys::QUEUE_DEPTH, queue_depth),
        Pacing::Open | Pacing::ThinkTimes => shown.key(&keys::TIME_SCALE, &trace.time_scale),
    }
    shown.key(&keys::REMAP, &trace.remap);
    shown.key(&keys::ALIGN, &trace.align);
    put_limit(shown, trace.limit, trace.warmup);
}
