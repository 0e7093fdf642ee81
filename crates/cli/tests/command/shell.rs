use std::io::pipe;

use super::*;

/// Sources the script in bash and asks what it offers after these words, broken as bash breaks them.
fn offered_by_bash(script: &Path, words: &[&str]) -> Option<Vec<String>> {
    let asks = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; current=${COMP_WORDS[COMP_CWORD]}; \
                _clap_complete_harmonia harmonia \"${current#=}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                printf '%s\\n' \"${COMPREPLY[@]}\"";
    let folder = Path::new(env!("CARGO_BIN_EXE_harmonia")).parent().expect("a folder");
    let path = std::env::join_paths(
        [folder.into()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH")?)),
    );
    let mut bash = Command::new("bash");
    bash.env("PATH", path.expect("a path")).args(["--norc", "-c", asks, "bash"]).arg(script).args(words);
    let output = bash.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(
        String::from_utf8_lossy(&output.stdout)
            .split(['\n', '\u{b}'])
            .map(str::to_owned)
            .filter(|word| !word.is_empty())
            .collect(),
    )
}

#[test]
fn bash_completes_commands_options_names_keys_and_values() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (status, script, stderr) = outcome(&mut harmonia(&["completions", "bash"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let path = folder.path().join("harmonia.bash");
    std::fs::write(&path, script).expect("written");
    let Some(commands) = offered_by_bash(&path, &["harmonia", "co"]) else { return };
    assert_eq!(commands, ["compare", "completions"]);
    let offers = |words: &[&str], expected: &[&str]| {
        assert_eq!(offered_by_bash(&path, words).expect("bash is there"), expected, "{words:?}");
    };
    offers(&["harmonia", "run", "--no"], &["--no-cache", "--no-progress"]);
    offers(&["harmonia", "completions", "z"], &["zsh"]);
    offers(&["harmonia", "run", "raid5-h"], &["raid5-hpc-w"]);
    offers(&["harmonia", "compare", "tiny", "--policies", "local,reactive-i"], &["local,reactive-inclusive"]);
    let set = ["harmonia", "run", "tiny", "--set"];
    offers(&[&set[..], &["array.le"]].concat(), &["array.level="]);
    offers(&[&set[..], &["ssd.gc.victim", "=", "gr"]].concat(), &["greedy"]);
    offers(&[&set[..], &["workload.align", "="]].concat(), &["false", "true"]);
    offers(&[&set[..], &["array.devices", "=", "4", "--set", "array.le"]].concat(), &["array.level="]);
}

#[test]
fn every_shell_has_a_script_and_any_other_is_refused() {
    for (shell, part) in
        [("zsh", "#compdef harmonia"), ("fish", "--command harmonia"), ("powershell", "harmonia")]
    {
        let (status, script, stderr) = outcome(&mut harmonia(&["completions", shell]));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(script.contains(part), "{shell}");
    }
    refused(&["completions", "cobol"], &["cobol", "bash"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (status, page, _) = outcome(&mut harmonia(&["man"]));
    assert_eq!(status, Some(0));
    assert!(page.contains(".TH harmonia 1") && page.contains("harmonia compare hpc"), "{page}");
    let out = folder.path().to_str().expect("UTF-8");
    let (status, stdout, stderr) = outcome(&mut harmonia(&["man", "--out", out]));
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    let names = names_in(folder.path());
    for name in
        ["harmonia", "harmonia-run", "harmonia-compare", "harmonia-trace-convert", "harmonia-cache-clear"]
    {
        assert!(names.contains(&format!("{name}.1")), "{name}: {names:?}");
    }
    // Formatted without a complaint, where there is something to format them.
    for name in names {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", "-z"]).arg(folder.path().join(&name));
        let Ok(output) = groff.output() else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{name}: {said}");
    }
}

#[test]
fn a_reader_that_went_away_ends_them_quietly() {
    for arguments in [vec!["completions", "bash"], vec!["man"]] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let (status, _, stderr) = outcome(harmonia(&arguments).stdout(writer));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

/// Stored by the first command, read by the second, gone after `cache clear`; never seen with `--no-cache`.
#[test]
fn aged_arrays_stay_until_they_are_cleared() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let home = folder.path().join("cache");
    let cached = |arguments: &[&str]| outcome(harmonia(arguments).env("XDG_CACHE_HOME", &home));
    let run = [
        "run",
        "hpc-w",
        "--json",
        "-v",
        "--set",
        "array.devices=1",
        "--set",
        "workload.requests=200",
        "--set",
        "workload.warmup=0",
        "--set",
        "precondition.overwrite=0",
        "--set",
        "ssd.geometry.blocks_per_plane=64",
    ];
    let files = || names_in(&home.join("harmonia/aged")).len();
    let without = cached(&[&run[..], &["--no-cache"]].concat());
    assert!(without.0 == Some(0) && !home.exists() && !without.2.contains("aged state"), "{}", without.2);
    let tight = cached(&[&run[..], &["--cache-limit", "1KiB"]].concat());
    assert!(tight.2.contains("aged state not stored") && !home.exists(), "{}", tight.2);
    assert!(cached(&run).2.contains("aged state stored in "));
    assert_eq!(files(), 1);
    let again = cached(&run);
    assert!(again.2.contains("aged state read from "), "{}", again.2);
    let host = |json: &str| {
        let report: serde_json::Value = serde_json::from_str(json).expect("a report");
        report["host"].clone()
    };
    assert_eq!(host(&again.1), host(&without.1));
    let (status, text, _) = cached(&["cache"]);
    assert!(status == Some(0) && text.contains("aged arrays   1\n"), "{text}");
    let (_, json, _) = cached(&["cache", "--json"]);
    let listing: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&listing["files"], &listing["most_bytes"]), (&1.into(), &(8u64 << 30).into()));
    let (status, _, stderr) = cached(&["cache", "clear"]);
    assert!(status == Some(0) && stderr.starts_with("removed 1 aged arrays"), "{stderr}");
    assert_eq!(files(), 0);
}
