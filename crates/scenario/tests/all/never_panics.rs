//! Does any text at all make the parser panic? Mutations of scenarios that work, and of flags.

use harmonia_scenario::{Scenario, presets, sweep};
use proptest::prelude::*;

const SCENARIOS: &[&str] = &["hpc-w", "hpc-w-skew", "tiny", "msr-trace", "raid5-hpc-w"];

/// Pieces that are likely to matter where they do not belong.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\r",
    "#",
    "\"\"\"",
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "0x7f",
    "99999999999999999999999999999999999999999999",
    "1979-05-27",
    "\u{0}",
    "\u{7f}",
    "é",
    "\u{202e}",
    "\u{feff}",
    "5%",
    "hard+4294967295",
    "\"1000TiB\"",
    "\"99%\"",
    "[[array.member]]\nindex = 0\n",
    "ssd = {}",
    "1048576",
    "true",
    "[ssd.geometry]\n",
    "blocks_per_plane = 1048576\n",
    "[[[[[[[[[[[[[[[[[[[[",
    "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q",
];

fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..20_usize, prop::sample::select(PIECES));
    (prop::sample::select(SCENARIOS), prop::collection::vec(edit, 0..6)).prop_map(|(name, edits)| {
        let mut text = presets::scenario_text(name).expect("built in").to_owned();
        for (at, length, piece) in edits {
            let cut =
                |at: usize| (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
            let start = cut(at.index(text.len() + 1));
            let end = cut(start + length);
            text.replace_range(start..end, piece);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios_are_read_or_refused(text in mutated()) {
        match Scenario::parse(&text, "mutated.toml", &[], None) {
            Ok(scenario) => {
                let again = Scenario::parse(&scenario.to_toml(), "again.toml", &[], None);
                prop_assert_eq!(again.unwrap(), scenario);
            }
            Err(error) => prop_assert!(error.to_string().contains("error: ")),
        }
    }

    #[test]
    fn any_flag_is_read_or_refused(key in "[a-z_.]{0,20}", value in "\\PC{0,40}") {
        let _ = sweep("tiny", &[format!("{key}={value}"), format!("ssd.gc.{value}")], None);
    }
}

/// Tables inside tables, thousands deep, in both of TOML's spellings.
#[test]
fn deep_nesting_is_refused() {
    let dotted = format!("{} = 1", vec!["a"; 79].join("."));
    let keys = vec!["a"; 60].join(".");
    let inline = format!("{}1{}", format!("{keys} = {{ ").repeat(70), " }".repeat(70));
    for text in [dotted, inline, "x = ".to_owned() + &"[".repeat(100_000), "a.".repeat(400_000) + "b = 1"] {
        assert!(Scenario::parse(&text, "deep.toml", &[], None).is_err());
    }
    let own = format!("array.coordination.fire_at={}1{}", "[".repeat(60), "]".repeat(60));
    let policy = "array.coordination.policy=reactive-inclusive".to_owned();
    assert!(sweep("tiny", &[policy, own], None).is_err());
}
