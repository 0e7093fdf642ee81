//! What the charts need: figures as JSON, and recordings as bytes.

use std::fmt::Write as _;

use harmonia_metrics::recording::Recording;
use harmonia_metrics::{Comparison, Part, Report};
use harmonia_tables::{label, numbers};
use serde_json::{Value, json};

use super::frontier::Frontier;
use super::marks::Mark;
use super::planes::Planes;
use super::{encode, over_time};

/// What charts are drawn from.
pub(super) struct Charts<'a> {
    pub comparison: &'a Comparison,
    /// One report a variant; what follows is by variant too.
    pub runs: &'a [Report],
    pub marks: &'a [Mark],
    /// Whether the charts begin with it.
    pub shown: &'a [bool],
    /// Whether what went on inside it is on the page.
    pub kept: &'a [bool],
    pub recordings: &'a [Option<&'a Recording>],
    pub planes: &'a Planes,
    pub frontier: Option<&'a Frontier>,
    /// SSDs of each run whose series are on the page.
    pub ssds_shown: usize,
}

/// What goes into the page.
pub(super) struct Encoded {
    /// All but what was recorded.
    pub data: Value,
    /// Elements with the recordings.
    pub recordings: String,
}

impl Charts<'_> {
    pub(super) fn encode(&self) -> Encoded {
        let mut recordings = String::new();
        let runs: Vec<Value> = (0..self.runs.len()).map(|run| self.of(run, &mut recordings)).collect();
        let parts = Part::all().into_iter();
        let parts = parts.map(|part| json!({"name": part.counter.words, "meaning": part.shown.meaning}));
        Encoded {
            data: json!({
                "runs": runs, "parts": parts.collect::<Vec<_>>(), "frontier": self.frontier.map(Frontier::data),
            }),
            recordings,
        }
    }

    /// Seeds of each variant, of which the first is drawn.
    pub(super) fn seeds(&self) -> usize {
        self.comparison.intervals.variants.first().map_or(1, |variant| variant.seeds.len())
    }

    /// One run; its recordings are appended.
    fn of(&self, index: usize, recordings: &mut String) -> Value {
        let recording = self.recordings[index];
        let header = recording.map(|recording| {
            let encode::Encoded { header, base64 } = encode::recording(recording);
            let _ = writeln!(
                recordings,
                "<script type=\"application/octet-stream\" id=\"recording-{index}\">{base64}</script>"
            );
            header
        });
        let mut data = of_run(&self.runs[index], recording, header);
        data["mark"] = self.marks[index].data();
        data["shown"] = self.shown[index].into();
        let ssds = if self.kept[index] { self.ssds_shown } else { 0 };
        data["overTime"] = over_time::encode(&self.comparison.runs[index * self.seeds()], ssds);
        data["planes"] = self.planes.encode(recording, index, recordings);
        data
    }
}

/// Everything but its looks and what was recorded inside its SSDs.
fn of_run(run: &Report, recording: Option<&Recording>, header: Option<Value>) -> Value {
    let per_request = |part: u128| match run.host.requests {
        0 => 0.0,
        requests => part as f64 / requests as f64,
    };
    let (ns, share): (Vec<u64>, Vec<f64>) = run.host.response_cdf.iter().copied().unzip();
    let devices = run.devices.iter().map(|device| {
        let wear = &device.wear;
        json!({"erases": device.erases, "wear": [wear.min, wear.mean, wear.max]})
    });
    json!({
        "label": label(run), "ideal": run.is_ideal(), "seed": run.seed, "requests": run.host.requests,
        "min": run.host.response_ns.all.min.unwrap_or(0), "max": run.host.response_ns.all.max.unwrap_or(0),
        "cdf": {"ns": ns, "share": share},
        "blame": Part::all().iter().map(|part| per_request(part.of(&run.host.blame_ns))).collect::<Vec<_>>(),
        "collecting": run.array.devices_in_gc_fraction, "erases": run.array.erases,
        "devices": devices.collect::<Vec<_>>(), "planesBusy": run.array.plane_utilisation_in_gc,
        "momentTitle": moment_title(run, recording), "recording": header,
    })
}

/// What the slowest request waited for.
fn moment_title(run: &Report, recording: Option<&Recording>) -> String {
    let slowest = recording.and_then(|recording| {
        recording.kept.iter().map(|kept| &kept.completion).max_by_key(|completion| completion.response())
    });
    let Some(slowest) = slowest else { return "Moment by moment".to_owned() };
    let response = numbers::ms(slowest.response().as_ns() as f64);
    match slowest.blame.queue_gc() {
        0 => {
            format!("The slowest request under {} took {response} ms, without garbage collection", label(run))
        }
        gc => format!(
            "The slowest request under {} took {response} ms, {} ms of it waiting for garbage collection",
            label(run),
            numbers::ms(gc as f64)
        ),
    }
}
