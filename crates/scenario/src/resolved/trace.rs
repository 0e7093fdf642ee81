//! A trace and how it is replayed, as a scenario file has it.

use harmonia_workload::TraceConfig;

use super::load::put_limit;
use crate::schema::load::Load;
use crate::schema::{held, owned, workload as keys};
use crate::shown::Shown;

/// What was not said is left out: it is the format's.
pub(super) fn put(shown: &mut Shown, trace: &TraceConfig) {
    let name = |path: &std::path::PathBuf| Shown::Text(path.to_string_lossy().into_owned());
    let paths = match trace.paths.as_slice() {
        [only] => name(only),
        several => Shown::List(several.iter().map(name).collect()),
    };
    shown.put(keys::PATH.name(), Some(paths));
    held::put(&keys::KEYS, &Load::Trace(trace.clone()), "workload", shown);
    // What other loads have, too, comes last.
    let own = owned("workload").filter(|(_, owner)| owner.starts_with("trace")).map(|(name, _)| name);
    shown.begin(&[keys::KIND.name()].into_iter().chain(own).collect::<Vec<_>>());
    put_limit(shown, trace.limit, trace.warmup);
}
