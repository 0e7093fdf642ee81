//! What a scenario can name: devices, loads, and whole built-in scenarios; every figure with where it comes from.

pub(crate) mod builtin;
pub(crate) mod device;
pub(crate) mod stand_in;
pub(crate) mod workload;

use harmonia_flash::presets::Provenance;

use crate::resolved;

/// What a preset describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A device: `ssd.preset`.
    Device,
    /// A load: `workload.preset`.
    Workload,
    /// A whole scenario, named where a scenario file could be.
    Scenario,
}

/// One preset, for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct PresetInfo {
    /// The name users write.
    pub name: &'static str,
    /// What it describes.
    pub kind: Kind,
    /// One sentence.
    pub summary: &'static str,
    /// Its figures; none for a scenario, which is read instead.
    pub parameters: Vec<Parameter>,
}

/// One figure of a preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Scenario key.
    pub key: String,
    /// The value as it would be written.
    pub value: String,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// All presets: devices, loads, scenarios.
pub fn list() -> Vec<PresetInfo> {
    let device = |preset: &device::DevicePreset| {
        let config = preset.config();
        let figures = resolved::leaves("ssd", &resolved::ssd_json(&config));
        let parameter = |(key, value): (String, String)| {
            let provenance = preset.provenance(key.strip_prefix("ssd.").unwrap_or(&key))?;
            Some(Parameter { key, value, provenance })
        };
        PresetInfo {
            name: preset.name,
            kind: Kind::Device,
            summary: preset.flash().summary,
            parameters: figures.into_iter().filter_map(parameter).collect(),
        }
    };
    let load = |preset: &workload::WorkloadPreset| PresetInfo {
        name: preset.name,
        kind: Kind::Workload,
        summary: preset.summary,
        parameters: preset.parameters(),
    };
    let stand_in = |preset: &stand_in::StandIn| PresetInfo {
        name: preset.name,
        kind: Kind::Workload,
        summary: preset.summary,
        parameters: preset.parameters(),
    };
    let scenario = |scenario: &builtin::Builtin| PresetInfo {
        name: scenario.name,
        kind: Kind::Scenario,
        summary: scenario.question(),
        parameters: Vec::new(),
    };
    let devices = device::PRESETS.iter().map(device);
    let loads = workload::PRESETS.iter().map(load).chain(stand_in::PRESETS.iter().map(stand_in));
    devices.chain(loads).chain(builtin::SCENARIOS.iter().map(scenario)).collect()
}

/// The text of the built-in scenario called `name`, to start one's own from.
pub fn scenario_text(name: &str) -> Option<&'static str> {
    builtin::find(name).map(|scenario| scenario.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_a_device_has_a_provenance_and_none_is_left_over() {
        for preset in device::PRESETS {
            let figures = resolved::leaves("ssd", &resolved::ssd_json(&preset.config()));
            let mut keys: Vec<&str> = figures.iter().map(|(key, _)| &key["ssd.".len()..]).collect();
            keys.retain(|key| *key != "preset");
            let mut cited: Vec<&str> = preset.cited().collect();
            keys.sort_unstable();
            cited.sort_unstable();
            assert_eq!(keys, cited, "{}", preset.name);
        }
    }

    /// A drive with more would be a curve through its measurements.
    #[test]
    fn at_most_five_figures_of_a_device_are_fitted() {
        for preset in list() {
            let is_fitted = |figure: &&Parameter| matches!(figure.provenance, Provenance::Fitted(_));
            let fitted = preset.parameters.iter().filter(is_fitted).count();
            assert!(fitted <= 5, "{}: {fitted}", preset.name);
        }
    }

    #[test]
    fn every_preset_can_work() {
        for preset in device::PRESETS {
            preset.config().resolve().unwrap_or_else(|why| panic!("{}: {why}", preset.name));
        }
    }

    /// (512 - 76) / 512 x 63 / 64 of 32 GiB is 26.8 GiB; 5% of 2048 blocks is 102.
    #[test]
    fn the_msr_device_exports_what_the_base_model_does() {
        let shape = device::find("msr-slc-32g").unwrap().resolve().unwrap();
        assert_eq!((shape.reserved_blocks, shape.hard, shape.soft, shape.stop), (307, 102, 103, 102));
        let gib = f64::from(shape.logical_pages) * 4096.0 / f64::from(1 << 30);
        assert!((gib - 26.8).abs() < 0.05, "{gib}");
    }

    /// 15% and 5% of 1,024 blocks of a plane, floored; a plane for itself.
    #[test]
    fn the_micron_devices_collect_plane_by_plane() {
        for name in ["micron-mlc-1t", "micron-mlc-1t-4p"] {
            let shape = device::find(name).unwrap().resolve().unwrap();
            assert_eq!((shape.reserved_blocks, shape.hard, shape.soft, shape.stop), (153, 51, 52, 51));
            assert_eq!((shape.units(), shape.logical_pages), (128, 128 * 871 * 512));
        }
    }

    /// (1024 - 130) / 1024 of 1 TiB is 960 GB.
    #[test]
    fn the_tlc_drive_exports_960_gb() {
        let shape = device::find("tlc-nvme-1t").unwrap().resolve().unwrap();
        assert_eq!((shape.reserved_blocks, shape.hard, shape.soft, shape.stop), (130, 5, 10, 5));
        let gb = f64::from(shape.logical_pages) * 16384.0 / 1e9;
        assert!((gb - 960.0).abs() < 0.5, "{gb}");
    }

    /// 192 of 256 blocks of each die are 12 GiB; 10% and 5% of 256 are 25 and 12.
    #[test]
    fn the_emulated_device_exports_12_gib_and_collects_from_90_percent_used() {
        let shape = device::find("femu-16g").unwrap().resolve().unwrap();
        assert_eq!((shape.hard, shape.soft, shape.stop, shape.ages_at), (12, 25, 12, 25));
        assert_eq!(u64::from(shape.logical_pages) * 4096, 12 << 30);
    }
}
