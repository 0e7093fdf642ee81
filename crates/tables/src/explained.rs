//! Where the time of single requests went: a block of lines for each, the answer first.

use harmonia_metrics::Part;
use harmonia_run::explain::{
    Explained, ExplainedCollection, ExplainedPart, ExplainedStep, Explanation, MapOperation, MemberOperation,
    ServedBefore,
};

use crate::numbers::{bytes, count, duration, percent};
use crate::{Style, wrapped};

/// Lines of a request that tell of a part; what took less time is told together.
const LINES: usize = 7;
/// Collections told of a part, and victims of a collection.
const COLLECTIONS: usize = 2;
const VICTIMS: usize = 3;
/// Columns before the text of a part.
const INDENT: usize = 20;

/// Requests and where their time went.
pub fn explained(of: &Explanation, style: Style) -> String {
    let requests = of.requests.iter().map(|request| block(request, style));
    let heading = format!(
        "{}, seed {}: {} of {} measured requests\n",
        of.scenario,
        of.seed,
        count(of.requests.len() as u64),
        count(of.measured)
    );
    std::iter::once(heading).chain(requests).collect::<Vec<_>>().join("\n")
}

/// A request in words, for terminal and page.
pub struct Told {
    /// Its number.
    pub request: u64,
    /// What it did, as in "write of 16.0 KiB at 35.5 MiB".
    pub what: String,
    /// What it did, how long it took, and where most of that went.
    pub sentence: String,
    /// Unit: ns.
    pub response_ns: u64,
    /// All of its time, in order of its way.
    pub parts: Vec<ToldPart>,
}

/// Time that went to the same thing at the same place.
pub struct ToldPart {
    /// Its name in blame.
    pub cause: &'static str,
    /// Unit: ns.
    pub ns: u64,
    /// What it is, and where.
    pub text: String,
    /// The collections in it, those that were waited for longest first.
    pub collections: Vec<String>,
    /// The request that held what was waited for.
    pub held_by: Option<u64>,
}

impl Told {
    /// All there is to say of a request.
    pub fn of(request: &Explained) -> Self {
        let parts = parts(request);
        let what = match request.operation {
            "flush" => "flush".to_owned(),
            operation => format!("{operation} of {} at {}", bytes(request.length), bytes(request.offset)),
        };
        let mut sentence = format!(
            "Request {} ({what}, arrived at {:.6} s) took {}",
            count(request.request),
            request.arrival_ns as f64 / 1e9,
            duration(request.response_ns)
        );
        let mut longest: Vec<&ToldPart> = parts.iter().collect();
        longest.sort_by_key(|part| std::cmp::Reverse(part.ns));
        if let Some(most) = longest.first() {
            sentence.push_str(&format!(": {} {}", duration(most.ns), most.text));
            // Of two that are nearly equal the first alone would mislead.
            if let Some(next) = longest.get(1).filter(|next| 4 * next.ns >= 3 * most.ns) {
                sentence.push_str(&format!(", and {} {}", duration(next.ns), next.text));
            }
        }
        sentence.push('.');
        Told { request: request.request, what, sentence, response_ns: request.response_ns, parts }
    }
}

fn block(of: &Explained, style: Style) -> String {
    let Told { sentence, response_ns, parts: mut lines, .. } = Told::of(of);
    let mut told = wrapped(&sentence, style.columns);
    let mut longest: Vec<u64> = lines.iter().map(|line| line.ns).collect();
    longest.sort_unstable_by(|a, b| b.cmp(a));
    let least = longest.get(LINES - 1).map_or(0, |ns| ns + 1).max(response_ns / 100);
    if lines.iter().filter(|line| line.ns < least).count() > 1 {
        let (shown, others): (Vec<ToldPart>, Vec<ToldPart>) =
            lines.into_iter().partition(|line| line.ns >= least);
        let rest = ToldPart {
            cause: "",
            ns: others.iter().map(|line| line.ns).sum(),
            text: format!("{} shorter parts, which --json tells", others.len()),
            collections: Vec::new(),
            held_by: None,
        };
        lines = shown;
        lines.push(rest);
    }
    for line in &lines {
        let share = percent(line.ns as f64 / response_ns.max(1) as f64);
        told.push_str(&format!("{:>11} {share:>6}  {}", duration(line.ns), indented(&line.text, style)));
        for collection in line.collections.iter().take(COLLECTIONS) {
            told.push_str(&format!("{:INDENT$}{}", "", indented(collection, style)));
        }
        let others = line.collections.len().saturating_sub(COLLECTIONS);
        if others > 0 {
            told.push_str(&format!("{:INDENT$}and {others} more collections\n", ""));
        }
    }
    told
}

/// A text whose further lines stand below its first one.
fn indented(text: &str, style: Style) -> String {
    let lines = wrapped(text, style.columns.saturating_sub(INDENT).max(40));
    let indent = " ".repeat(INDENT);
    lines.trim_end().split('\n').collect::<Vec<_>>().join(&format!("\n{indent}")) + "\n"
}

/// The parts in their order, those at the same place together.
fn parts(of: &Explained) -> Vec<ToldPart> {
    let mut parts: Vec<ToldPart> = Vec::new();
    let mut collections: Vec<Vec<(u64, &ExplainedCollection)>> = Vec::new();
    for (step, part) in of.steps.iter().flat_map(|step| step.parts.iter().map(move |part| (step, part))) {
        let text = words(of.request, step, part);
        let at = parts.iter().position(|same| same.text == text).unwrap_or_else(|| {
            let held_by = part.held_by_request.filter(|holder| *holder != of.request);
            parts.push(ToldPart { cause: part.cause, ns: 0, text, collections: Vec::new(), held_by });
            collections.push(Vec::new());
            parts.len() - 1
        });
        parts[at].ns += part.ns;
        collections[at].extend(part.collection.as_ref().map(|collection| (part.ns, collection)));
    }
    for (part, mut met) in parts.iter_mut().zip(collections) {
        met.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        let is_one_of_several = met.len() > 1;
        let told = met.into_iter().map(|(ns, collection)| collected(ns, collection, is_one_of_several));
        part.collections = told.collect();
    }
    parts
}

/// What a part of a request is, and where.
fn words(request: u64, step: &ExplainedStep, part: &ExplainedPart) -> String {
    let ssd = match (step.member, step.device) {
        (Some(member), Some(device)) => format!("SSD {member} (device {device})"),
        (Some(member), None) => format!("SSD {member}"),
        (None, _) => "the array".to_owned(),
    };
    let place = match (part.die, part.plane) {
        (Some(die), Some(plane)) => format!("{ssd}, die {die}, plane {plane}"),
        (Some(die), None) => format!("{ssd}, die {die}"),
        (None, _) => ssd.clone(),
    };
    let die = part.die.map_or_else(|| ssd.clone(), |die| format!("{ssd}, die {die}"));
    let bus = part.channel.map_or_else(|| ssd.clone(), |channel| format!("{ssd}, channel {channel}"));
    let role = step.operation.as_ref().map(role).unwrap_or_default();
    // What a drive does with its map is told as any other operation, with its purpose.
    let (cause, role, operation) = match part.map {
        Some(MapOperation { operation, cause }) => {
            let purpose = if operation == "read" {
                "to read a page of its map"
            } else {
                "to make room for a page of its map"
            };
            (cause, format!(", {purpose}{role}"), Some(operation))
        }
        None => (part.cause, role, step.operation.as_ref().map(|operation| operation.operation)),
    };
    let waiting = |what: &str| format!("waiting for {what}{role}");
    match (cause, part.at) {
        (_, "late") => waiting(&format!("{ssd}, before it was read another way")),
        ("service", "die") => format!("{} on {place}{role}", flash(operation)),
        ("service", _) => format!("answered by the write cache of {ssd}{role}"),
        ("transfer", _) => format!("page transfers on {bus}{role}"),
        ("queue_host", "die") => waiting(&format!("host operations on {die}{}", behind(part.before))),
        ("queue_host", "bus") => waiting(&format!("the bus of {bus}, in use by the host")),
        ("queue_host", "command") => waiting(&format!("other pages of its command on {die}")),
        ("queue_host", "earlier-writes") => "waiting for writes acknowledged before this flush".to_owned(),
        ("queue_host", _) => waiting(&ssd),
        ("queue_gc", "die") => waiting(&format!("garbage collection on {die}")),
        ("queue_gc", "bus") => waiting(&format!("the bus of {bus}, in use by garbage collection")),
        ("queue_gc", "command") => waiting(&format!("pages of garbage collection in its command on {die}")),
        ("queue_gc", _) if step.operation.is_none() => waiting(&format!("{ssd}, kept free to collect")),
        ("queue_gc", _) => waiting(&format!("garbage collection on {ssd}")),
        ("queue_rebuild", _) => waiting(&format!("rebuild, resync or scrub on {die}")),
        ("link", "shared-link") => format!("on the link that all SSDs share{role}"),
        ("link", _) => format!("on the host link of {ssd}, or waiting for it{role}"),
        ("controller", _) => format!("in the controller of {ssd}, or waiting for it{role}"),
        ("cache_wait", _) => waiting(&format!("the write cache of {ssd}")),
        ("map_wait", "mapping-cache") => {
            waiting(&format!("room for a page of the map in the memory of {ssd}{}", behind(part.before)))
        }
        ("map_wait", _) => waiting(&format!("{ssd} to read a page of its map")),
        (_, "stripe-cache") => waiting("the stripe cache: for an entry, or for others to read"),
        (_, "rows") => waiting(&held(request, part)),
        ("depth_wait", _) => waiting(&format!("a place in the queue of {ssd} or the controller")),
        ("window_wait", _) => waiting(&format!("{ssd} to fetch it from its queue")),
        ("log_wait", "bitmap") => waiting("the write-intent bitmap"),
        ("log_wait", _) => waiting("room in the log"),
        ("restart", _) => "until it was submitted again after a loss of power".to_owned(),
        (cause, _) => Part::named(cause).map_or(cause, |part| part.shown.meaning).to_owned() + &role,
    }
}

/// Who held the rows of a request. Parts of one request may need the same.
fn held(request: u64, part: &ExplainedPart) -> String {
    match (part.held_by, part.held_by_request) {
        (Some("host"), Some(holder)) if holder == request => {
            "its stripes, which another part of it held".to_owned()
        }
        (Some("host"), Some(holder)) => format!("its stripes, which request {} was changing", count(holder)),
        (Some("host"), None) => "its stripes, which another request was changing".to_owned(),
        (Some("upkeep"), _) => "its stripes, which rebuild, resync or scrub held".to_owned(),
        _ => "its stripes, which the array's own work held".to_owned(),
    }
}

fn flash(operation: Option<&str>) -> &'static str {
    match operation {
        Some("read") => "flash read",
        Some("write") => "flash program",
        _ => "flash",
    }
}

/// What an operation is for, where it is not the host's own data.
fn role(of: &MemberOperation) -> String {
    let role = match (of.carries, of.phase, of.operation) {
        ("log", ..) => " (log)",
        (_, "reconstruct", _) => " (to reconstruct data)",
        (_, "parity", "read") => " (old data or parity)",
        (_, "parity", _) => " (parity)",
        _ => "",
    };
    if of.is_refused { format!("{role} (refused)") } else { role.to_owned() }
}

fn behind(before: Option<ServedBefore>) -> String {
    let Some(ServedBefore { reads, programs, background }) = before else { return String::new() };
    let kinds = [(reads, "read"), (programs, "program"), (background, "rebuild page")];
    let told = kinds.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| {
        format!("{} {what}{}", count(number.into()), if number == 1 { "" } else { "s" })
    });
    format!(" ({})", told.collect::<Vec<_>>().join(", "))
}

/// A collection that was waited for.
fn collected(ns: u64, of: &ExplainedCollection, is_one_of_several: bool) -> String {
    let low = |level: &str| match (of.low_die, of.free_blocks) {
        (Some(die), Some(free)) => {
            format!(
                "die {die} was down to {free} free block{} ({level} threshold)",
                if free == 1 { "" } else { "s" }
            )
        }
        _ => format!("{level} threshold"),
    };
    let why = match of.why {
        "hard-threshold" => low("hard"),
        "soft-threshold" => low("soft"),
        "ordered" => format!("{} ordered it", of.ordered_by),
        "ordered-while-idle" => format!("{} ordered it for idle time", of.ordered_by),
        _ => format!("{} gave the die a turn", of.ordered_by),
    };
    let length = match of.ended_ns {
        Some(ended) => format!("and took {}", duration(ended - of.began_ns)),
        None => "and went on".to_owned(),
    };
    let blocks = of.victims.iter().take(VICTIMS).map(|victim| {
        let why = if victim.levels { ", to level wear" } else { "" };
        format!("plane {} block {} with {} live pages{why}", victim.plane, victim.block, victim.live)
    });
    let mut victims = blocks.collect::<Vec<_>>().join(", ");
    if of.victims.len() > VICTIMS {
        victims.push_str(&format!(" and {} more", of.victims.len() - VICTIMS));
    }
    let victims = if victims.is_empty() { String::new() } else { format!("; victims: {victims}") };
    if is_one_of_several && of.ended_ns == Some(of.began_ns + ns) {
        let (took, began) = (duration(ns), of.began_ns as f64 / 1e9);
        return format!(
            "{took}: the whole length of a collection that began at {began:.6} s because {why}{victims}"
        );
    }
    let share = if is_one_of_several { format!("{} of the wait: ", duration(ns)) } else { String::new() };
    format!(
        "{share}a collection that began at {:.6} s because {why}, {length}{victims}",
        of.began_ns as f64 / 1e9
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_was_too_slow_is_not_told_as_a_member_kept_free() {
        let step = ExplainedStep { member: Some(3), ..ExplainedStep::default() };
        let said = |at| words(1, &step, &ExplainedPart { cause: "queue_gc", at, ..ExplainedPart::default() });
        assert_eq!(said("late"), "waiting for SSD 3, before it was read another way");
        assert_eq!(said("member"), "waiting for SSD 3, kept free to collect");
    }

    /// A write of parity to a drive that keeps a part of its map in memory.
    #[test]
    fn what_a_drive_does_with_its_map_is_told_as_any_operation_with_its_purpose() {
        let of_map = |ns, at, (operation, cause), before| ExplainedPart {
            cause: if cause == "queue_gc" { cause } else { "map_wait" },
            ns,
            at,
            channel: Some(1),
            die: Some(3),
            plane: Some(0),
            map: Some(MapOperation { operation, cause }),
            before,
            ..ExplainedPart::default()
        };
        let before = |reads, programs| Some(ServedBefore { reads, programs, background: 0 });
        let collection = ExplainedCollection {
            why: "ordered",
            ordered_by: "gcsync".to_owned(),
            low_die: None,
            free_blocks: None,
            wanted_ns: 1_000_000,
            began_ns: 2_000_000,
            ended_ns: Some(7_000_000),
            victims: Vec::new(),
        };
        let room = ExplainedPart {
            cause: "map_wait",
            ns: 30_000_000,
            at: "mapping-cache",
            before: before(12, 30),
            ..ExplainedPart::default()
        };
        let parts = vec![
            room,
            of_map(300_000, "die", ("write", "queue_host"), before(1, 0)),
            of_map(200_000, "die", ("write", "service"), None),
            ExplainedPart {
                collection: Some(collection),
                ..of_map(4_000_000, "die", ("read", "queue_gc"), None)
            },
            of_map(90_000, "bus", ("read", "queue_host"), None),
            of_map(40_000, "bus", ("read", "transfer"), None),
            of_map(50_000, "die", ("read", "service"), None),
        ];
        let ns = parts.iter().map(|part| part.ns).sum();
        let operation = MemberOperation {
            operation: "write",
            offset: 0,
            length: 4096,
            phase: "parity",
            carries: "parity",
            is_refused: false,
        };
        let step = ExplainedStep {
            member: Some(1),
            operation: Some(operation),
            ns,
            parts,
            ..ExplainedStep::default()
        };
        let told = Told::of(&Explained {
            request: 7,
            operation: "write",
            offset: 0,
            length: 4096,
            arrival_ns: 0,
            finish_ns: ns,
            response_ns: ns,
            steps: vec![step],
        });
        let texts: Vec<&str> = told.parts.iter().map(|part| &*part.text).collect();
        assert_eq!(
            texts,
            [
                "waiting for room for a page of the map in the memory of SSD 1 (12 reads, 30 programs) (parity)",
                "waiting for host operations on SSD 1, die 3 (1 read), to make room for a page of its map (parity)",
                "flash program on SSD 1, die 3, plane 0, to make room for a page of its map (parity)",
                "waiting for garbage collection on SSD 1, die 3, to read a page of its map (parity)",
                "waiting for the bus of SSD 1, channel 1, in use by the host, to read a page of its map (parity)",
                "page transfers on SSD 1, channel 1, to read a page of its map (parity)",
                "flash read on SSD 1, die 3, plane 0, to read a page of its map (parity)",
            ]
        );
        assert_eq!(told.parts.iter().map(|part| part.ns).sum::<u64>(), ns);
        assert_eq!(
            told.parts[3].collections,
            ["a collection that began at 0.002000 s because gcsync ordered it, and took 5.000 ms"]
        );
        assert!(
            told.sentence.contains("took 34.68 ms: 30.00 ms waiting for room for a page"),
            "{}",
            told.sentence
        );
    }
}
