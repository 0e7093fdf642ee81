//! The drive that is looked for: `modern-tlc-1t` with the figures that measurements tell.
//!
//! Channels, dies, planes, cache, suspending and erasing are those of the preset. A load cannot tell them from outside: only dies times the
//! bytes of a program over its time is known. So there are as many dies as leave a program about 2 ms.

use harmonia_scenario::{BadInput, Scenario};
use harmonia_types::SimDuration;
use harmonia_types::units::format_duration;

/// The preset that all other figures are of.
pub const PRESET: &str = "modern-tlc-1t";

/// Bytes that one program of the preset carries: three pages of 16 KiB in each of four planes.
pub const PROGRAM_BYTES: f64 = 12.0 * 16_384.0;
/// Moving them from the controller to a die. Unit: us.
pub const PROGRAM_TRANSFER_US: f64 = 12.0 * PAGE_TRANSFER_US;
/// Moving a page of 16 KiB. Unit: us.
const PAGE_TRANSFER_US: f64 = 10.24;
/// From the admission of a write to its answer, beside the link. Unit: us.
const ACK_US: f64 = 1.0;
/// A program takes about so long. Unit: us.
const USUAL_PROGRAM_US: f64 = 2_000.0;
/// Bytes of a block in each of the four planes of a die.
const BLOCK_BYTES: f64 = 4.0 * 288.0 * 16_384.0;
/// Of all blocks so many are free when collection takes all of a die.
pub const FLOOR: f64 = 0.025;

/// Figures of a drive that differ from those of [`PRESET`].
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// A power of two.
    pub dies: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Of the three types of pages, in ascending order. Unit: us.
    pub read_us: [f64; 3],
    /// Unit: us.
    pub program_us: f64,
    /// What a command needs beside flash and cache. Unit: us.
    pub latency_us: f64,
    /// Of the link. Unit: bytes/s.
    pub bandwidth: u64,
    /// Of all blocks. Unit: percent.
    pub reserved: f64,
    /// Commands that are under way at once.
    pub window: u32,
    /// Before a program is suspended. Unit: us.
    pub minimum_run_us: f64,
}

/// As the preset has them.
impl Default for Drive {
    fn default() -> Self {
        Drive {
            dies: 16,
            blocks: 3641,
            read_us: [49.0, 50.0, 60.0],
            program_us: 2_000.0,
            latency_us: 8.0,
            bandwidth: 6_500_000_000,
            reserved: 20.0,
            window: 200,
            minimum_run_us: 280.0,
        }
    }
}

impl Drive {
    /// Dies that leave a program about 2 ms where so many bytes are programmed in a second: 2 to 64.
    pub fn dies_for(rate: f64) -> u32 {
        let exact = rate * (USUAL_PROGRAM_US + PROGRAM_TRANSFER_US) / 1e6 / PROGRAM_BYTES;
        1 << libm::round(libm::log2(exact)).clamp(1.0, 6.0) as u32
    }

    /// How long a program takes where all dies together program so many bytes in a second and nothing else holds them up. Unit: us.
    pub fn cycle_us(&self, rate: f64) -> f64 {
        f64::from(self.dies) * PROGRAM_BYTES / rate * 1e6
    }

    /// What a write of 4 KiB into a cache with room takes beside the latency of the link. Unit: us.
    pub fn write_rest_us(&self) -> f64 {
        ACK_US + self.link_us()
    }

    /// What a read of 4 KiB takes beside flash and the latency of the link. Unit: us.
    pub fn read_rest_us(&self) -> f64 {
        PAGE_TRANSFER_US / 4.0 + self.link_us()
    }

    fn link_us(&self) -> f64 {
        4096.0 / self.bandwidth as f64 * 1e6
    }

    /// Blocks of a plane that make this capacity.
    pub fn with_capacity(mut self, bytes: u64) -> Drive {
        let raw = bytes as f64 / (1.0 - self.reserved / 100.0);
        self.blocks = (raw / BLOCK_BYTES / f64::from(self.dies)).ceil().clamp(64.0, 60_000.0) as u32;
        self
    }

    /// Its keys below `ssd`, in the order of a file, with their values as TOML.
    pub fn keys(&self) -> Vec<(&'static str, String)> {
        let channels = self.dies.min(8);
        let time = |us: f64| format_duration(SimDuration((us * 1e3).round() as u64));
        let quoted = |text: String| format!("\"{text}\"");
        let read: Vec<String> = self.read_us.iter().map(|us| quoted(time(*us))).collect();
        vec![
            ("geometry.channels", channels.to_string()),
            ("geometry.chips_per_channel", (self.dies / channels).to_string()),
            ("geometry.blocks_per_plane", self.blocks.to_string()),
            ("timing.read", format!("[{}]", read.join(", "))),
            ("timing.program", quoted(time(self.program_us))),
            ("timing.minimum_run", quoted(time(self.minimum_run_us))),
            ("link.latency", quoted(time(self.latency_us))),
            ("link.bandwidth", quoted(format!("{}MB/s", self.bandwidth as f64 / 1e6))),
            ("controller.command_window", self.window.to_string()),
            ("ftl.reserved_blocks", quoted(format!("{:.2}%", self.reserved))),
            ("gc.trigger", quoted("proportional".to_owned())),
            ("gc.last_program", quoted("filled".to_owned())),
        ]
    }

    /// The `[ssd]` of a scenario that simulates one part in `divisor` of it.
    pub fn table(&self, divisor: u32) -> String {
        let mut text = format!("[ssd]\npreset = \"{PRESET}\"\n");
        if divisor > 1 {
            text.push_str(&format!("scale = \"1/{divisor}\"\n"));
        }
        for (key, value) in self.keys() {
            text.push_str(&format!("{key} = {value}\n"));
        }
        text
    }

    /// Capacity of one part in `divisor` of it. Unit: bytes.
    ///
    /// # Errors
    /// If no drive can have these figures, or no part is so small.
    pub fn part(&self, divisor: u32) -> Result<u64, BadInput> {
        let text = format!("workload.preset = \"hpc-w\"\n[array]\ndevices = 1\n{}", self.table(divisor));
        let ssd = &Scenario::parse(&text, "the drive", &[], None)?.array.members[0].ssd;
        Ok(ssd.resolve().map_or(0, |shape| u64::from(shape.logical_pages) * 4096))
    }

    /// The smallest part of it that can be simulated, and its capacity in bytes.
    ///
    /// # Errors
    /// If no drive can have these figures.
    pub fn smallest(&self) -> Result<(u32, u64), BadInput> {
        let (mut works, mut fails) = (1, 4096);
        let mut capacity = self.part(works)?;
        while fails - works > 1 {
            let middle = (works + fails) / 2;
            match self.part(middle) {
                Ok(bytes) => (works, capacity) = (middle, bytes),
                Err(_) => fails = middle,
            }
        }
        Ok((works, capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 dies of 192 KiB in 2.12 ms are 1.48 GB/s.
    #[test]
    fn dies_leave_a_program_its_usual_time() {
        assert_eq!([95e6, 371e6, 1.48e9, 7.1e9, 1e12].map(Drive::dies_for), [2, 4, 16, 64, 64]);
        let drive = Drive::default();
        assert!((drive.cycle_us(1.4835e9) - 2_120.0).abs() < 2.0);
    }

    /// What is not said is as in the preset, or the figures above would be those of another drive.
    #[test]
    fn the_default_is_the_preset() {
        let with = |ssd: &str| {
            let text = format!("workload.preset = \"hpc-w\"\n[array]\ndevices = 1\n{ssd}");
            Scenario::parse(&text, "x", &[], None).expect("a scenario").array.members[0].ssd.clone()
        };
        let preset = with("[ssd]\npreset = \"modern-tlc-1t\"\ngc.last_program = \"filled\"\n");
        assert_eq!(with(&Drive::default().table(1)), preset);
        let program =
            preset.geometry.program_planes * preset.geometry.program_pages * preset.geometry.page_size;
        assert_eq!(f64::from(program), PROGRAM_BYTES);
        assert_eq!(preset.timing.transfer.0 as f64 / 1e3, PAGE_TRANSFER_US);
        assert_eq!(preset.write_cache.ack.0 as f64 / 1e3, ACK_US);
        let block =
            preset.geometry.planes_per_die * preset.geometry.pages_per_block * preset.geometry.page_size;
        assert_eq!(f64::from(block), BLOCK_BYTES);
    }

    #[test]
    fn a_capacity_takes_blocks_and_a_small_part_is_simulated() {
        let drive = Drive { dies: 4, ..Drive::default() }.with_capacity(240_000_000_000);
        let (divisor, bytes) = drive.smallest().expect("a drive");
        assert!(divisor > 30 && bytes < 3_000_000_000, "{divisor}: {bytes}");
        let whole = bytes as f64 * f64::from(divisor);
        assert!((whole / 240e9 - 1.0).abs() < 0.1, "{whole}");
    }
}
