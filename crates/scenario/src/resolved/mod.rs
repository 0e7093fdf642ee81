//! A scenario written out: every key with its value, in the form of a scenario file, so that it can be read again.
//!
//! How a value is written is said by the kind of its key. What is said here is when a key goes without saying, so that
//! scenarios of before there was such a key read as they did.

mod faults;
mod load;
mod trace;

use harmonia_array::{ArrayConfig, Level, MemberConfig};
use harmonia_ssd::SsdConfig;
use serde::{Serialize, Serializer};

use crate::failures::usual;
use crate::scenario::Scenario;
use crate::schema::ssd::KEYS;
use crate::schema::{array as keys, held, root};
use crate::shown::Shown;

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        shown(self).serialize(serializer)
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
    let value = serde_json::to_value(device(config).at(key.strip_prefix("ssd.")?)?).ok()?;
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
    serde_json::to_value(device(config)).expect("a device has only what JSON can say")
}

fn shown(scenario: &Scenario) -> Shown {
    let mut all = Shown::table();
    all.key(&root::NAME, &scenario.name);
    all.key(&root::SEED, &scenario.seed);
    all.put("workload", Some(load::shown(scenario)));
    all.put("precondition", Some(held::show(&root::PRECONDITION, &scenario.precondition)));
    all.put("array", Some(array(scenario)));
    all.put("ssd", Some(device(&usual(&scenario.array.members).ssd)));
    all
}

fn array(scenario: &Scenario) -> Shown {
    let array = &scenario.array;
    let ArrayConfig { devices, level, knowledge, coordination, .. } = array;
    let (name, layout) = match level {
        Level::Draid(_) => (level.to_string(), None),
        level => (level.name().to_owned(), level.placement()),
    };
    let mut shown = held::show(&keys::KEYS, array);
    shown.key(&keys::DEVICES, devices);
    shown.put(keys::LEVEL.name(), Some(name.into()));
    shown.some(&keys::LAYOUT, layout.as_ref());
    let shares = &array.parity_shares;
    shown.some(&keys::PARITY_SHARES, Some(shares).filter(|shares| !shares.is_empty()));
    shown.key(&keys::STRIPE_UNIT, &array.stripe_unit);
    shown.key(&keys::FREE_STRIPES, &knowledge.free_stripes);
    faults::put(&mut shown, array, scenario.spare_state);
    faults::put_log(&mut shown, array, scenario.journal_state);
    let table = shown.below(keys::COORDINATION.name());
    table.put(keys::POLICY.name(), Some(coordination.policy.as_str().into()));
    table.own(&coordination.own);
    shown.put(keys::MEMBER.name(), members(&array.members));
    shown.in_order("array");
    shown
}

/// The members that are not as most are.
fn members(members: &[MemberConfig]) -> Option<Shown> {
    let base = &usual(members).ssd;
    let tables: Vec<Shown> = (0..)
        .zip(members)
        .filter(|(_, member)| !member.capable || member.ssd != *base)
        .map(|(index, member)| {
            let mut shown = Shown::table();
            shown.key(&keys::MEMBER_INDEX, &index);
            shown.key(&keys::MEMBER_CAPABLE, &member.capable);
            shown.put("ssd", (member.ssd != *base).then(|| device(&member.ssd)));
            shown
        })
        .collect();
    (!tables.is_empty()).then_some(Shown::List(tables))
}

fn device(config: &SsdConfig) -> Shown {
    // A part of a drive is said as the drive and the part.
    held::show(&KEYS, config.full())
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
