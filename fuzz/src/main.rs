//! Does any input make a parser panic, hang or break a promise that it documents?
//!
//! One program for all parsers, so that it is instrumented and linked once. `HARMONIA_FUZZ` names the parser: it is a
//! folder of `seeds`. `scenario_parser` reads scenarios; `NAME_reader` reads, describes and replays traces of that format.

#![no_main]

mod reader;
mod scenario;

use std::sync::OnceLock;

use harmonia_trace::FORMATS;

/// What `HARMONIA_FUZZ` names.
static TARGET: OnceLock<Target> = OnceLock::new();

enum Target {
    Scenario,
    Table,
    Format(&'static str),
}

impl Target {
    fn of(name: &str) -> Option<Target> {
        match name.strip_suffix("_reader") {
            Some("csv") => Some(Target::Table),
            Some(format) => FORMATS.iter().map(|known| known.name).find(|&known| known == format).map(Target::Format),
            None => (name == "scenario_parser").then_some(Target::Scenario),
        }
    }

    fn from_environment() -> Target {
        let name = std::env::var("HARMONIA_FUZZ").unwrap_or_default();
        Target::of(&name).unwrap_or_else(|| {
            eprintln!("HARMONIA_FUZZ is {name:?}: it must be a folder of fuzz/seeds, such as msr_reader");
            std::process::exit(2);
        })
    }
}

libfuzzer_sys::fuzz_target!(init: { TARGET.get_or_init(Target::from_environment); }, |data: &[u8]| {
    match TARGET.get_or_init(Target::from_environment) {
        Target::Scenario => scenario::check(data),
        Target::Table => reader::check_table(data),
        Target::Format(format) => reader::check(data, format),
    }
});
