//! What a coordinator that displaces writes tells the planner that goes with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a policy that displaces places whole stripes, and parity whose member collects.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placing {
    /// Whole stripes are written as two random writes.
    pub forces: bool,
    /// Where parity goes.
    pub migration: Migration,
    /// Share of the rows of parity that may lie off the shares of the layout before rows return.
    pub imbalance: f64,
    /// Where stripes lie.
    pub stripes: Stripes,
    /// Stripes that float have more rows than members have pages.
    pub thin: bool,
    /// Members stand in the order of their ages, the oldest first. Otherwise ages follow from shares of parity.
    pub oldest_first: bool,
}

/// Where the stripes of an array lie whose writes go around a member that collects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stripes {
    /// In rows of all members. What is in the way goes to stripes that are kept free, and comes home.
    #[default]
    Rows,
    /// Each leaves one member free. What is in the way goes to that member, and stays there.
    Floating,
}

/// What becomes of parity whose member collects when it is to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Migration {
    /// It stays as it is, and all that is written is displaced.
    #[default]
    None,
    /// It is written on another member, and stays there.
    Away,
    /// It is, and returns in idle time.
    Back,
}
