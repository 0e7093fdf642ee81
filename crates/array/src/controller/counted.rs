//! Is a measured window the difference of two readings, of everything that is counted?

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::background::BackgroundCounters;
use super::{ArrayCounters, MessageCounters};

/// What stands in the second reading is that of the window.
const LATEST: [&str; 7] =
    ["capacity_pages", "high_water_pages", "pages_left", "high_water", "copied", "built", "synced"];

/// Gives every number in a value one of its own.
fn number(value: &mut Value, next: &mut u64, step: u64) {
    match value {
        Value::Number(_) => {
            *value = Value::from(*next);
            *next += step;
        }
        Value::Array(values) => values.iter_mut().for_each(|value| number(value, next, step)),
        Value::Object(fields) => fields.values_mut().for_each(|value| number(value, next, step)),
        _ => {}
    }
}

/// Checks every number: a difference, or the latest.
fn check(name: &str, then: &Value, now: &Value, since: &Value) {
    match (then, now, since) {
        (Value::Object(then), Value::Object(now), Value::Object(since)) => {
            then.keys().for_each(|key| check(key, &then[key], &now[key], &since[key]));
        }
        (Value::Array(then), Value::Array(now), Value::Array(since)) => {
            then.iter().zip(now).zip(since).for_each(|((then, now), since)| check(name, then, now, since));
        }
        (Value::Number(then), Value::Number(now), Value::Number(since)) => {
            let [then, now, since] = [then, now, since].map(|number| number.as_u64().expect("a count"));
            let expected = if LATEST.contains(&name) { now } else { now - then };
            assert_eq!(since, expected, "{name}: {then}, then {now}");
        }
        _ => {}
    }
}

fn differs<T: Default + Serialize + DeserializeOwned>(since: impl Fn(&T, &T) -> T) {
    let reading = |first: u64, step| {
        let mut value = serde_json::to_value(T::default()).expect("counters");
        number(&mut value, &mut { first }, step);
        value
    };
    let (then, now) = (reading(3, 2), reading(1_000, 7));
    let read = |value: &Value| serde_json::from_value::<T>(value.clone()).expect("counters");
    let window = serde_json::to_value(since(&read(&now), &read(&then))).expect("counters");
    check("", &then, &now, &window);
}

#[test]
fn a_window_is_the_difference_of_two_readings() {
    differs(ArrayCounters::since);
    differs(MessageCounters::since);
    differs(BackgroundCounters::since);
}

#[test]
fn shares_are_parts_of_the_whole() {
    let mut value = serde_json::to_value(BackgroundCounters::default()).expect("counters");
    (value["copied"], value["built"]) = ((1u64 << 31).into(), (1u64 << 30).into());
    let halfway: BackgroundCounters = serde_json::from_value(value).expect("counters");
    assert_eq!((halfway.share_copied(), halfway.share_built()), (0.5, 0.25));
}
