//! Static wear levelling, as a scenario asks for it.

use serde::Serialize;

/// The `[ssd.leveling]` table, with `policy = "least-worn"`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelingConfig {
    /// Erases by which the least worn block of a unit may be behind the most worn one.
    pub threshold: u32,
    /// Most blocks that are collected for levelling, as a share of all that are collected.
    pub budget: f64,
}

/// As drives do it that were measured: a gap of 130 erases, closed gradually.
impl Default for LevelingConfig {
    fn default() -> Self {
        LevelingConfig { threshold: 130, budget: 0.10 }
    }
}
