//! The planes of one die: which die all runs are shown on, and what is said of it.

use std::fmt::Write as _;

use harmonia_metrics::Report;
use harmonia_metrics::recording::{DiePlanes, MemberPlanes, Recording, SPANS_MAX, common_die};
use harmonia_tables::{label, numbers};
use harmonia_types::{DeviceId, PlaneWork};
use serde_json::{Value, json};

use super::encode;
use super::html::named;

/// The die that is shown, if any collected.
pub(super) struct Planes {
    shown: Option<(DeviceId, u32)>,
}

impl Planes {
    pub(super) fn of<'a>(recordings: impl Iterator<Item = &'a Recording>) -> Self {
        let members = recordings.filter_map(|recording| recording.planes.as_ref());
        Planes { shown: common_die(members) }
    }

    /// Whether there is nothing to show, as an attribute.
    pub(super) fn hidden(&self) -> &'static str {
        if self.shown.is_none() { " hidden" } else { "" }
    }

    /// The die that is shown, as a run has recorded it.
    fn of_run<'a>(&self, recording: Option<&'a Recording>) -> Option<&'a DiePlanes> {
        let (recording, (member, die)) = recording.zip(self.shown)?;
        recorded(recording.planes.as_ref().filter(|planes| planes.member == member)?, die)
    }

    /// Whether any of these runs suspended a program of the host there.
    pub(super) fn has_suspended(&self, recordings: &[Option<&Recording>]) -> bool {
        let dies = recordings.iter().filter_map(|recording| self.of_run(*recording));
        dies.flat_map(|die| &die.spans).any(|span| span.work == PlaneWork::HostSuspended)
    }

    /// What the charts need of a run, null if it has not recorded that die; its bytes are appended.
    pub(super) fn encode(&self, recording: Option<&Recording>, index: usize, encoded: &mut String) -> Value {
        let Some((die, recording)) = self.of_run(recording).zip(recording) else { return Value::Null };
        let _ = writeln!(
            encoded,
            "<script type=\"application/octet-stream\" id=\"planes-{index}\">{}</script>",
            encode::planes(die)
        );
        let start = die.spans.first().map_or(recording.from, |span| span.start);
        json!({"planes": die.planes, "start": start.saturating_since(recording.from).as_ns()})
    }

    pub(super) fn caption(&self) -> String {
        let Some((DeviceId(member), die)) = self.shown else { return String::new() };
        format!(
            "Die {die} of SSD {member} under every run that recorded it, from the moment at which it first collects, up to \
             {} bars. A lane is a plane. A bar is what the plane does in one command of the die, transfers and waiting \
             for the bus included. A host operation that begins and ends with one of garbage collection is served by the \
             same multi-plane command. The line above counts host operations that wait at this die. <b>Grey is an idle \
             plane</b>, which could have served the host while its neighbour collects.",
            numbers::count(SPANS_MAX as u64)
        )
    }
}

fn recorded(planes: &MemberPlanes, die: u32) -> Option<&DiePlanes> {
    planes.dies.iter().find(|recorded| recorded.die == die)
}

/// How busy planes were, from the least to the most, where that differs.
pub(super) fn title(runs: &[Report]) -> String {
    let busy = runs.iter().filter(|run| !run.is_ideal());
    let mut busy: Vec<(f64, &Report)> =
        busy.filter_map(|run| Some((run.array.plane_utilisation_in_gc?, run))).collect();
    busy.sort_by(|a, b| a.0.total_cmp(&b.0));
    let under = |(share, run): &(f64, &Report)| {
        format!("{} of the time under {}", numbers::percent(*share), named(label(run)))
    };
    match busy.as_slice() {
        [least, .., most] if most.0 - least.0 >= 0.005 => {
            format!("In a die that collects, planes are busy {} and {}", under(least), under(most))
        }
        _ => "The planes of a die that collects".to_owned(),
    }
}
