//! What befalls members and what is kept against it, as a scenario file has it.

use harmonia_array::{ArrayConfig, Befalls, Fault, Faults, Rebuild, Scrub, When, WriteHole};
use harmonia_types::{SimDuration, SimTime, units};
use serde::Serialize;

use super::is_none;
use crate::failures::{SpareState, shown_rate, usual};

/// Where nothing happens nothing is said, so that scenarios of before members could fail read as they did.
#[derive(Serialize)]
pub(super) struct FaultsView {
    #[serde(skip_serializing_if = "is_none")]
    page_errors: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spares: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spare_state: Option<SpareState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failure: Vec<FailureView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rebuild: Option<RebuildView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scrub: Option<ScrubView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    power_loss: Vec<LossView>,
}

#[derive(Serialize)]
struct LossView {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<u64>,
}

#[derive(Serialize)]
struct FailureView {
    device: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<u64>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
}

#[derive(Serialize)]
struct RebuildView {
    min_rate: String,
    max_rate: String,
    depth: u32,
    step: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<SimDuration>,
}

#[derive(Serialize)]
struct ScrubView {
    at: SimDuration,
    mode: &'static str,
}

impl FaultsView {
    pub fn new(faults: &Faults, state: SpareState) -> Self {
        // What is logged has a view of its own.
        let Faults { events, page_errors, spares, rebuild, scrub, power_losses, .. } = faults;
        let may_rebuild = !spares.is_empty() || scrub.is_some() || *rebuild != Rebuild::default();
        FaultsView {
            page_errors: *page_errors,
            spares: Some(spares.len()).filter(|&spares| spares > 0),
            spare_state: Some(state).filter(|&state| !spares.is_empty() || state != SpareState::default()),
            failure: events.iter().map(FailureView::from).collect(),
            rebuild: may_rebuild.then(|| RebuildView::from(rebuild)),
            scrub: scrub.as_ref().map(ScrubView::from),
            power_loss: power_losses.iter().map(LossView::from).collect(),
        }
    }
}

/// A log or bitmap, where one is kept.
#[derive(Serialize, Default)]
pub(super) struct LogView {
    #[serde(skip_serializing_if = "Option::is_none")]
    write_hole: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<JournalView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ppl_size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bitmap_chunk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bitmap_delay: Option<SimDuration>,
}

#[derive(Serialize)]
struct JournalView {
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    size: String,
    state: SpareState,
}

impl LogView {
    pub fn new(array: &ArrayConfig, state: SpareState) -> Self {
        let usual = usual(&array.members);
        match array.faults.write_hole {
            WriteHole::Journal(size) => {
                let device = array.faults.journal.as_ref().filter(|device| device.ssd != usual.ssd);
                let preset = device.map(|device| device.ssd.preset.clone());
                let journal = Some(JournalView { preset, size: units::format_bytes(size), state });
                LogView { write_hole: Some("journal"), journal, ..LogView::default() }
            }
            WriteHole::PartialParityLog(size) => {
                let ppl_size = Some(units::format_bytes(size));
                LogView { write_hole: Some("ppl"), ppl_size, ..LogView::default() }
            }
            WriteHole::Bitmap { chunk, delay } => LogView {
                write_hole: Some("bitmap"),
                bitmap_chunk: Some(units::format_bytes(chunk)),
                bitmap_delay: Some(delay),
                ..LogView::default()
            },
            WriteHole::Resync => LogView::default(),
        }
    }
}

/// A moment of a run, as it is written.
fn since_start(at: SimTime) -> SimDuration {
    at - SimTime::ZERO
}

impl From<&When> for LossView {
    fn from(when: &When) -> Self {
        match *when {
            When::Time(at) => LossView { at: Some(since_start(at)), request: None },
            When::Request(request) => LossView { at: None, request: Some(request) },
        }
    }
}

impl From<&Fault> for FailureView {
    fn from(fault: &Fault) -> Self {
        let LossView { at, request } = LossView::from(&fault.at);
        let (kind, factor) = match fault.what {
            Befalls::Failure => ("failure", None),
            Befalls::Slow(factor) => ("slow", Some(factor)),
            Befalls::Replacement => ("replace", None),
        };
        FailureView { device: fault.device.0, at, request, kind, factor }
    }
}

impl From<&Rebuild> for RebuildView {
    fn from(rebuild: &Rebuild) -> Self {
        RebuildView {
            min_rate: shown_rate(rebuild.min_rate),
            max_rate: shown_rate(rebuild.max_rate),
            depth: rebuild.depth,
            step: units::format_bytes(rebuild.step),
            delay: Some(rebuild.delay).filter(|delay| *delay > SimDuration::ZERO),
        }
    }
}

impl From<&Scrub> for ScrubView {
    fn from(scrub: &Scrub) -> Self {
        let mode = if scrub.repairs { "repair" } else { "check" };
        ScrubView { at: since_start(scrub.at), mode }
    }
}
