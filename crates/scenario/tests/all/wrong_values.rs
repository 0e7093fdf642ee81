//! What does a person read whose value is wrong? Wrong values of every key, one line each.

use std::fmt::Write;

use harmonia_scenario::schema::{self, Form};
use harmonia_scenario::{BadInput, Scenario};

use crate::scenarios::given;

/// Of another type, below and above, without a unit or with a strange one, not finite, empty, too deep, unheard of.
const VALUES: &[&str] = &[
    "[1979-05-27]",
    "-1",
    "1e10",
    "\"\"",
    "\"5\"",
    "nan",
    "true",
    "\"0B\"",
    "99999999999999999999",
    "\"2h\"",
    "[]",
    "0",
    "\"1 parsec\"",
    "inf",
    "{ zzz = 1 }",
    "\"101%\"",
    "70000",
    "\"zzz\"",
    "0.5",
    "\"5000TiB\"",
    "\"1B/s\"",
];

/// A number that a key keeps whatever others there are.
fn drawn(path: &str) -> usize {
    path.bytes().fold(0, |sum, byte| sum * 31 % 65_521 + usize::from(byte))
}

fn refused(flags: &[String]) -> Option<BadInput> {
    Scenario::parse("", "empty.toml", flags, None).err()
}

/// The problem, and what is allowed where that is not what the key takes in general.
fn told(error: &BadInput, allowed: &str) -> String {
    let message = error.to_string();
    let said = message.split("allowed: ").nth(1).unwrap_or_default();
    let problem = error.problem().split_once(": `").map_or(error.problem(), |(_, problem)| problem);
    if said == allowed { problem.to_owned() } else { format!("{problem} | {said}") }
}

#[test]
fn every_key_says_what_is_wrong_with_a_value() {
    let mut report = String::new();
    for key in schema::keys() {
        let first = drawn(key.path);
        let values = (0..VALUES.len()).map(|next| VALUES[(first + next) % VALUES.len()]);
        let mut errors = values.filter_map(|value| refused(&given(key.path, value)));
        let error = errors.next().expect("no key takes all of them");
        writeln!(report, "{}", told(&error, &key.allowed)).unwrap();
        if let Form::OneOf(words) = &key.form {
            let misspelt = format!("\"{}\"", &words[0][1..]);
            let error = refused(&given(key.path, &misspelt)).expect("misspelt");
            writeln!(report, "{}", told(&error, &key.allowed)).unwrap();
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_misspelt_key_is_told_the_nearest() {
    let mut report = String::new();
    for key in schema::keys().filter(|key| drawn(key.path).is_multiple_of(4)) {
        let (table, name) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        let misspelt = format!("{}{}", &name[..1], &name[2..]);
        let flags = match table {
            "array.member" | "array.failure" | "array.power_loss" => {
                vec![format!("{table}=[{{ {misspelt} = 1 }}]")]
            }
            "" => vec![format!("{misspelt}=1")],
            table => vec![format!("{}.{misspelt}=1", table.replace("workload.stream", "workload.stream.x"))],
        };
        let error = refused(&flags).expect("misspelt");
        writeln!(report, "{}", error.problem().trim_start_matches("--set ")).unwrap();
    }
    insta::assert_snapshot!(report);
}
