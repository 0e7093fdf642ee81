//! Is every text either a scenario that reads back as itself or a refusal in words? A line `#set key=value` is a flag.

use harmonia_scenario::Scenario;

/// Parses `bytes` as a scenario; prints and parses what is accepted.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let flags = text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_owned);
    let flags: Vec<String> = flags.take(3).collect();
    match Scenario::parse(text, "fuzz.toml", &flags, None) {
        Ok(scenario) => {
            let printed = scenario.to_toml();
            match Scenario::parse(&printed, "printed.toml", &[], None) {
                Ok(again) => assert_eq!(again, scenario, "reads back as another scenario:\n{printed}"),
                Err(error) => panic!("what was printed is refused: {error}\n{printed}"),
            }
        }
        Err(error) => assert!(error.to_string().starts_with("error: ")),
    }
}
