//! Whatever stands where a command reads or writes, and whenever it is asked to stop: it ends, says why, and leaves all that is no
//! result of its own as it was.
//!
//! `HARMONIA_TRIES=500 cargo test --test command odd_files -- --nocapture` is the long form. Not verified: how soon a command ends;
//! there is a limit that only something that hangs reaches.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::{harmonia, names_in, outcome, refused, tiny_in};

/// What hangs is found out after a minute.
const LOOKS: u32 = 30_000;

const TRACE: &str = "1000,h,0,Write,0,4096,1\n1020,h,0,Read,4096,4096,1\n1040,h,0,Write,4096,512,1\n";
const SWEEP: &str =
    "scenario = \"tiny\"\nseeds = 2\n[set]\nworkload.requests = 300\n[axes]\narray.devices = [2, 4]\n";

/// What may stand under a name.
const KINDS: [&str; 9] = [
    "nothing",
    "file",
    "folder",
    "fifo",
    "socket",
    "link",
    "link to nothing",
    "link to a device",
    "link to a folder",
];

/// Puts a thing of this kind there. A link leads to `kept`, which is not to change.
fn put(kind: &str, path: &Path, text: &str, kept: &Path) {
    match kind {
        "nothing" => {}
        "file" => fs::write(path, text).expect("written"),
        "folder" => fs::create_dir(path).expect("made"),
        "fifo" => assert!(Command::new("mkfifo").arg(path).status().expect("coreutils").success()),
        "socket" => drop(UnixListener::bind(path).expect("bound")),
        "link" => symlink(kept.join("file"), path).expect("linked"),
        "link to nothing" => symlink(kept.join("nothing"), path).expect("linked"),
        "link to a device" => symlink("/dev/null", path).expect("linked"),
        _ => symlink(kept.join("folder"), path).expect("linked"),
    }
}

/// What stands there: its type, and where a link leads to.
fn stands(path: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(path) else { return "nothing".to_owned() };
    let kind = metadata.file_type();
    match () {
        () if kind.is_symlink() => format!("a link to {}", fs::read_link(path).expect("a link").display()),
        () if kind.is_fifo() => "a FIFO".to_owned(),
        () if kind.is_socket() => "a socket".to_owned(),
        () if kind.is_dir() => "a folder".to_owned(),
        () => "a file".to_owned(),
    }
}

/// Waits for the end; `None` if there is none.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..LOOKS {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    None
}

/// Numbers that look random (Knuth's linear congruential generator, The Art of Computer Programming 2, 3.3.4).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The commands, with what they read and where they write.
const COMMANDS: [(&str, &[&str]); 15] = [
    ("tiny", &["run", "IN", "--set", "workload.requests=2000"]),
    ("tiny", &["run", "IN", "--set", "workload.requests=2000", "--parquet", "--out", "OUT"]),
    (
        "tiny",
        &[
            "compare",
            "IN",
            "--policies",
            "local,ideal",
            "--seeds",
            "1",
            "--set",
            "workload.requests=2000",
            "--out",
            "OUT",
        ],
    ),
    ("tiny", &["check", "IN"]),
    ("tiny", &["tune", "IN", "--set", "workload.requests=300", "--out", "OUT"]),
    ("sweep", &["sweep", "IN", "--out", "OUT"]),
    ("sweep", &["sweep", "IN", "--out", "OUT", "--point", "1"]),
    ("results", &["results", "ls", "IN"]),
    ("results", &["results", "export", "IN", "--out", "OUT.csv"]),
    ("results", &["results", "export", "IN", "--out", "OUT"]),
    ("results", &["diff", "IN", "IN"]),
    ("trace", &["trace", "info", "IN"]),
    ("trace", &["trace", "convert", "IN", "--to", "msr", "--out", "OUT"]),
    ("trace", &["trace", "convert", "IN", "--to", "harmonia", "--out", "OUT", "--force"]),
    ("trace", &["trace", "fit", "IN", "--out", "OUT"]),
];

/// One try: what was typed, and what went wrong.
fn tried(seed: u64, results: &Path) -> Result<(), String> {
    let mut dice = Dice(seed);
    (0..4).for_each(|_| {
        dice.below(2);
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (kept, work) = (folder.path().join("kept"), folder.path().join("work"));
    fs::create_dir_all(kept.join("folder")).expect("made");
    fs::create_dir(&work).expect("made");
    let (what, words) = COMMANDS[dice.below(COMMANDS.len() as u64) as usize];
    let text = match what {
        "tiny" => fs::read_to_string(tiny_in(folder.path())).expect("written"),
        "sweep" => SWEEP.to_owned(),
        "trace" => TRACE.to_owned(),
        _ => "{}".to_owned(),
    };
    fs::write(kept.join("file"), &text).expect("written");
    let (input, mut output) = (work.join("in"), work.join("out"));
    if words.contains(&"OUT.csv") {
        output.set_extension("csv");
    }
    // Half of the inputs are what they should be, so that there is something to write.
    let kind = if dice.below(2) == 0 { "file" } else { dice.pick(&KINDS) };
    if what == "results" && kind != "fifo" && kind != "socket" {
        // A folder of results in which something bears the name of a result.
        fs::create_dir(&input).expect("made");
        for name in names_in(results) {
            fs::copy(results.join(&name), input.join(&name)).expect("copied");
        }
        put(dice.pick(&KINDS), &input.join(format!("{:032x}.json", 7)), &text, &kept);
    } else {
        put(kind, &input, &text, &kept);
    }
    put(dice.pick(&KINDS), &output, "somebody else's", &kept);
    if output.is_dir() && dice.below(2) == 0 {
        // In a folder of results, too, there may be something else.
        let name = dice.pick(&["report.json", "scenario.toml", "report.html", "results.parquet"]);
        put(dice.pick(&KINDS[3..]), &output.join(name), "", &kept);
    }
    let inside = |path: &Path| {
        if path.is_dir() && !path.is_symlink() {
            names_in(path).iter().map(|name| path.join(name)).collect()
        } else {
            Vec::new()
        }
    };
    let watched: Vec<PathBuf> = [input.clone(), output.clone(), kept.join("file"), kept.join("folder")]
        .into_iter()
        .chain(inside(&input))
        .chain(inside(&output))
        .collect();
    let before: Vec<String> = watched.iter().map(|path| stands(path)).collect();

    let word = |word: &&str| match *word {
        "IN" => input.display().to_string(),
        "OUT" | "OUT.csv" => output.display().to_string(),
        word => word.to_owned(),
    };
    let arguments: Vec<String> = words.iter().map(word).collect();
    let said = File::create(folder.path().join("said")).expect("made");
    let stdout = dice.pick(&["/dev/null", "/dev/full"]);
    let mut command = Command::new("sh");
    let limit = dice.pick(&["unlimited", "unlimited", "1"]);
    command.args(["-c", &format!("ulimit -f {limit}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_harmonia")]);
    command.args(&arguments).env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    command
        .stdin(Stdio::null())
        .stderr(said)
        .stdout(fs::OpenOptions::new().write(true).open(stdout).expect("there"));
    let mut child = command.spawn().expect("starts");
    let signal = dice.pick(&["", "", "TERM", "INT"]);
    if !signal.is_empty() {
        std::thread::sleep(Duration::from_millis(dice.below(80)));
        let _ =
            Command::new("sh").args(["-c", &format!("kill -{signal} {} 2> /dev/null", child.id())]).status();
    }
    let status = ended(&mut child);
    let stderr = String::from_utf8_lossy(&fs::read(folder.path().join("said")).expect("there")).into_owned();
    let wrong = |what: &str| {
        let is_in = stands(&input);
        Err(format!(
            "seed {seed}: {what}\n{arguments:?}, in: {is_in}, before: {before:?}, ulimit -f {limit}, signal {signal:?}, {stdout}\n{stderr}"
        ))
    };
    let Some(status) = status else { return wrong("it hangs") };
    let by_signal = matches!(status.signal(), Some(libc::SIGTERM | libc::SIGINT)) && !signal.is_empty();
    if !by_signal && !matches!(status.code(), Some(0 | 2 | 130 | 143)) {
        return wrong(&format!("it ends with {status}"));
    }
    if stderr.contains("panicked") || (status.code() == Some(2) && !stderr.contains("error")) {
        return wrong("it does not say what is wrong");
    }
    for (path, before) in watched.iter().zip(&before) {
        let after = stands(path);
        // A folder may be made where nothing was, and a file replace a file.
        if after != *before && before != "nothing" {
            return wrong(&format!("{} was {before} and is {after}", path.display()));
        }
    }
    if fs::read_to_string(kept.join("file")).expect("there") != text {
        return wrong("what a link leads to has changed");
    }
    let left =
        [&work, &output, &kept].into_iter().filter(|path| path.is_dir()).flat_map(|path| names_in(path));
    let halves: Vec<String> =
        left.filter(|name| name.starts_with(".harmonia-") || name.starts_with(".tmp")).collect();
    if !halves.is_empty() {
        return wrong(&format!("{halves:?} are left"));
    }
    Ok(())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how many tries, is the caller's to say")]
fn whatever_stands_there_and_whenever_it_is_stopped_a_command_ends_and_destroys_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = folder.path().join("sweep.toml");
    fs::write(&sweep, SWEEP).expect("written");
    let results = folder.path().join("results");
    let arguments =
        ["sweep", sweep.to_str().expect("UTF-8"), "--out", results.to_str().expect("UTF-8"), "-q"];
    assert_eq!(outcome(&mut harmonia(&arguments)).0, Some(0));
    let tries = std::env::var("HARMONIA_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let wrong: Vec<String> = (1..=tries).filter_map(|seed| tried(seed, &results).err()).collect();
    assert!(wrong.is_empty(), "{} of {tries}:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// One of twelve left a temporary file: commands that take no time died of the signal where they stood.
#[test]
fn commands_that_take_no_time_are_not_stopped_between_a_file_and_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (sweep, results) = (folder.path().join("sweep.toml"), folder.path().join("results"));
    fs::write(&sweep, SWEEP).expect("written");
    let (sweep, results) = (sweep.display().to_string(), results.display().to_string());
    assert_eq!(outcome(&mut harmonia(&["sweep", &sweep, "--out", &results, "-q"])).0, Some(0));
    let mut dice = Dice(1);
    for _ in 0..90 {
        let out = tempfile::tempdir().expect("a folder");
        let table = |name: &str| out.path().join(name).display().to_string();
        let manual = ["man".to_owned(), "--out".to_owned(), out.path().display().to_string()];
        let export = |name| ["results", "export", &results, "--out", &table(name)].map(str::to_owned);
        let arguments = match dice.below(3) {
            0 => manual.to_vec(),
            1 => export("t.csv").to_vec(),
            _ => export("t.parquet").to_vec(),
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_harmonia"))
            .args(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_micros(dice.below(30_000)));
        let _ = Command::new("sh").args(["-c", &format!("kill -TERM {} 2> /dev/null", child.id())]).status();
        assert!(ended(&mut child).is_some(), "{arguments:?} hangs");
        let left: Vec<String> =
            names_in(out.path()).into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "{arguments:?} leaves {left:?}");
    }
}

/// As root it once replaced a device of the system.
#[test]
fn a_table_takes_the_place_of_nothing_but_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("made");
    let results = results.to_str().expect("UTF-8");
    for (kind, what) in [
        ("fifo", "a FIFO"),
        ("link", "a symbolic link"),
        ("link to a device", "a symbolic link"),
        ("socket", "a socket"),
    ] {
        for name in ["table.csv", "table.parquet"] {
            let path = folder.path().join(name);
            put(kind, &path, "", folder.path());
            let before = stands(&path);
            refused(
                &["results", "export", results, "--out", path.to_str().expect("UTF-8")],
                &[what, "not a regular file"],
            );
            assert_eq!(stands(&path), before);
            fs::remove_file(path).expect("there");
        }
    }
}

/// It waited for the writer of a FIFO, for ever, and `sweep` did not even hear SIGTERM.
#[test]
fn a_fifo_with_the_name_of_a_result_is_a_damaged_result() {
    let folder = tempfile::tempdir().expect("a folder");
    put("fifo", &folder.path().join(format!("{:032x}.json", 1)), "", folder.path());
    let results = folder.path().to_str().expect("UTF-8");
    for arguments in
        [&["results", "ls", results][..], &["results", "export", results], &["diff", results, results]]
    {
        let mut child =
            harmonia(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        assert!(ended(&mut child).is_some(), "{arguments:?} hangs");
    }
}

#[test]
fn a_name_is_printed_on_its_line_and_commands_no_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "a\nb\u{1b}[8mc.csv";
    fs::write(folder.path().join(name), TRACE).expect("written");
    let said = |arguments: &[&str]| {
        let (_, stdout, stderr) = outcome(harmonia(arguments).current_dir(folder.path()));
        stdout + &stderr
    };
    for arguments in [
        &["trace", "info", name][..],
        &["trace", "info", name, "--color", "always"],
        &["trace", "convert", name, "--to", "msr", "--out", "x\ny\u{1b}[8m"],
        &["trace", "convert", name, "--to", "msr", "--out", "x\ny\u{1b}[8m"],
        &["run", "msr-trace", "--trace", name, "--set", "ssd.preset=tiny-test", "--color", "always"],
        &["results", "ls", name],
        &["run", "tiny", "--out", name],
    ] {
        let said = said(arguments);
        assert!(
            !said.contains("\u{1b}[8m") && !said.contains("a\nb") && !said.contains("x\ny"),
            "{arguments:?}: {said:?}"
        );
    }
}
