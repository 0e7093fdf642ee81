//! A scenario written out: every key with its value, in the form of a scenario file, so that it can be read again.

mod faults;
mod load;
mod trace;

use harmonia_array::{
    CoordinationConfig, DegradedWrites, Interface, Knowledge, Level, MemberConfig, Reads, SmallWrite,
};
use harmonia_flash::{Commands, Geometry, LinkConfig, Timing};
use harmonia_ssd::{BeginsAt, FtlConfig, GcConfig, SsdConfig};
use harmonia_types::{SimDuration, units};
use serde::{Serialize, Serializer};

use self::faults::{FaultsView, LogView};
use self::load::LoadView;
use crate::failures::usual;
use crate::presets::device;
use crate::scenario::{Precondition, Scenario};

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let base = &usual(&self.array.members).ssd;
        let fallback = MemberConfig { capable: true, ssd: base.clone() };
        let members = self.array.members.iter().enumerate();
        let different = members.filter(|(_, member)| **member != fallback);
        let cached = self.array.stripe_cache.entries > 0;
        let (degraded_writes, parities) = (self.array.degraded_writes, self.array.level.parities());
        let may_degrade = !self.array.faults.is_none() || degraded_writes != DegradedWrites::default();
        let view = View {
            name: &self.name,
            seed: self.seed,
            workload: LoadView::of(self),
            precondition: self.precondition,
            array: ArrayView {
                devices: self.array.devices,
                level: match self.array.level {
                    Level::Draid(_) => self.array.level.to_string(),
                    level => level.name().to_owned(),
                },
                layout: match self.array.level {
                    Level::Draid(_) => None,
                    level => level.placement(),
                },
                parity_shares: &self.array.parity_shares,
                small_write: (parities > 0).then_some(self.array.small_write),
                degraded_writes: (parities > 0 && may_degrade).then_some(degraded_writes),
                stripe_cache: cached.then_some(self.array.stripe_cache.entries),
                delay_pre_reads: (cached && !self.array.stripe_cache.delays).then_some(false),
                stripe_unit: units::format_bytes(self.array.stripe_unit),
                queue_depth: self.array.queue_depth,
                link: self.array.link_bandwidth.map(|bandwidth| SharedLinkView { bandwidth }),
                knowledge: self.array.knowledge.into(),
                faults: FaultsView::new(&self.array.faults, self.spare_state),
                log: LogView::new(&self.array, self.journal_state),
                coordination: &self.array.coordination,
                member: different.map(|(index, member)| MemberView::new(index, member, base)).collect(),
            },
            ssd: base.into(),
        };
        view.serialize(serializer)
    }
}

impl Scenario {
    /// The resolved scenario as a scenario file: every key with its value. Loading it gives the same scenario.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a scenario has only what TOML can say")
    }
}

/// The value of a key below `ssd.`, as it would be written.
pub(crate) fn value_at(config: &SsdConfig, key: &str) -> Option<String> {
    let tree = serde_json::to_value(SsdView::from(config)).ok()?;
    let value = key.split('.').skip(1).try_fold(&tree, |value, name| value.get(name))?;
    Some(value.to_string())
}

/// All keys below `table` with their values, as they would be written.
pub(crate) fn leaves(table: &str, value: &serde_json::Value) -> Vec<(String, String)> {
    match value {
        serde_json::Value::Object(map) => {
            map.iter().flat_map(|(name, value)| leaves(&format!("{table}.{name}"), value)).collect()
        }
        serde_json::Value::String(text) => vec![(table.to_owned(), text.clone())],
        other => vec![(table.to_owned(), other.to_string())],
    }
}

/// A device as JSON in the form of a scenario file.
pub(crate) fn ssd_json(config: &SsdConfig) -> serde_json::Value {
    serde_json::to_value(SsdView::from(config)).expect("a device has only what JSON can say")
}

#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    seed: u64,
    workload: LoadView<'a>,
    precondition: Precondition,
    array: ArrayView<'a>,
    ssd: SsdView<'a>,
}

#[derive(Serialize)]
struct ArrayView<'a> {
    devices: u16,
    level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<String>,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    parity_shares: &'a [u16],
    #[serde(skip_serializing_if = "Option::is_none")]
    small_write: Option<SmallWrite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded_writes: Option<DegradedWrites>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stripe_cache: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_pre_reads: Option<bool>,
    stripe_unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<SharedLinkView>,
    #[serde(flatten)]
    knowledge: KnowledgeView,
    #[serde(flatten)]
    faults: FaultsView,
    #[serde(flatten)]
    log: LogView,
    coordination: &'a CoordinationConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    member: Vec<MemberView<'a>>,
}

/// The link that all members share.
#[derive(Serialize)]
struct SharedLinkView {
    #[serde(serialize_with = "units::as_rate")]
    bandwidth: u64,
}

/// What is as usual is left out, so that scenarios of before there were rungs read as they did.
#[derive(Serialize)]
struct KnowledgeView {
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<Interface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nvram: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_stripes: Option<u64>,
}

impl From<Knowledge> for KnowledgeView {
    fn from(Knowledge { interface, poll, reads, nvram, free_stripes }: Knowledge) -> Self {
        KnowledgeView {
            interface: (interface != Interface::default()).then_some(interface),
            poll: (interface == Interface::Log).then_some(poll),
            reads: matches!(reads, Reads::Avoid(_)).then_some("avoid"),
            nvram: (nvram > 0).then(|| units::format_bytes(nvram)),
            free_stripes: (free_stripes > 0).then_some(free_stripes),
        }
    }
}

#[derive(Serialize)]
struct MemberView<'a> {
    index: usize,
    capable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssd: Option<SsdView<'a>>,
}

impl<'a> MemberView<'a> {
    fn new(index: usize, member: &'a MemberConfig, base: &SsdConfig) -> Self {
        let ssd = (member.ssd != *base).then(|| SsdView::from(&member.ssd));
        MemberView { index, capable: member.capable, ssd }
    }
}

#[derive(Serialize)]
struct SsdView<'a> {
    preset: &'a str,
    geometry: &'a Geometry,
    timing: TimingView<'a>,
    link: &'a LinkConfig,
    ftl: &'a FtlConfig,
    gc: GcView<'a>,
}

impl<'a> From<&'a SsdConfig> for SsdView<'a> {
    fn from(config: &'a SsdConfig) -> Self {
        SsdView {
            preset: &config.preset,
            geometry: &config.geometry,
            timing: TimingView::of(config),
            link: &config.link,
            ftl: &config.ftl,
            gc: GcView::of(config),
        }
    }
}

/// Where events begin is left out if the schedule says it, unless the preset says another thing.
#[derive(Serialize)]
struct GcView<'a> {
    #[serde(rename = "begins_at", skip_serializing_if = "Option::is_none")]
    begins_as_usual: Option<BeginsAt>,
    #[serde(flatten)]
    gc: &'a GcConfig,
}

impl<'a> GcView<'a> {
    fn of(config: &'a SsdConfig) -> Self {
        let preset = device::find(&config.preset).map(|preset| preset.gc.begins_at).unwrap_or_default();
        let is_usual = config.gc.begins_at == BeginsAt::default();
        let begins_as_usual = (is_usual && preset != BeginsAt::default()).then_some(config.gc.begins_at);
        GcView { begins_as_usual, gc: &config.gc }
    }
}

/// What flash without it does not say either is left out, so that scenarios of before read as they did.
#[derive(Serialize)]
struct TimingView<'a> {
    #[serde(flatten)]
    times: &'a Timing,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Commands>,
}

impl<'a> TimingView<'a> {
    fn of(config: &'a SsdConfig) -> Self {
        let (times, preset) = (&config.timing, device::find(&config.preset));
        let is_plain = |timing: &Timing| timing.command == Commands::NONE;
        let says_none = is_plain(times) && preset.is_none_or(|preset| is_plain(&preset.timing));
        TimingView { times, command: (!says_none).then_some(times.command) }
    }
}

/// Whether a share is none: what the commonest load has not is left out.
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_member_is_the_base() {
        let scenario = Scenario::parse(
            "array.devices = 3\narray.member = [{ index = 0, gc.victim = \"fifo\" }]\nworkload.preset = \"hpc-w\"",
            "test",
            &[],
            None,
        );
        let scenario = scenario.unwrap();
        assert_eq!(usual(&scenario.array.members).ssd.gc.victim.policy, "greedy");
    }
}
