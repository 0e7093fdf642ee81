//! While one plane collects, its sibling planes serve the host in the same multi-plane commands (GC-PAR).
//!
//! ```text
//! plane 0   read C   program D   read E   program F ...   erase      the collection, alone as fast as ever
//! plane 1   read I   program L      -     program N ...     -        host reads and writes that match
//! ```
//!
//! This happens for every page that the collection moves. Its read takes along the first waiting host read of the same page
//! offset in each sibling plane. Its program takes along the first waiting host write of each sibling plane that has an open
//! block at the destination's offset. The collection's data goes over the bus first. All other operations wait for the end of
//! the event. Nothing is paired with an erase.
//!
//! At the start of an event every plane of the die opens a new block, so that offsets are equal. Older open blocks are used up
//! afterwards. A plane may have `ssd.ftl.open_blocks` open blocks (2). If all of them are partly written, it opens none and
//! continues with the emptiest; any of them may match. A block set aside counts as free, so opening another block brings no
//! plane nearer to its threshold.
//!
//! Two choices that the paper leaves open are keys.
//!
//! `unmatched` says what a sibling plane does that has the offset of the collection's program and finds no write for it.
//! `stay`: its write offset stays behind, so it pairs with no later program of the event. The paper's Figure 6c says so.
//! `skip`: it leaves a page unwritten, and its offset stays equal. The paper's Algorithm 2 can be read so, because it has no
//! test for an empty queue. Pages that are skipped are lost until their block is erased. The report counts them
//! (`pairing.writes.skipped`). A block's worth of them costs about one erase more, with the page moves of its victim. Victims
//! with many valid pages win fewer pages than their moves would skip, and collection would never end. So a die skips at most
//! three quarters of the pages that its victims win, beside four blocks' worth for each plane in advance. Beyond that its
//! planes stay.
//!
//! `partial_writes` says what becomes of a write of a part of a page, whose rest must be read first. `alone`: it waits for the
//! end of the event. `along`: where its page has the offset of a page that the collection reads, it is read in the same
//! command. From then on the write goes along in a program like any other.
//!
//! Source: HPDC 2018, 4.1 (Algorithm 2), 4.2 and 6.6 (one request for every sibling of four planes). The limit of two open
//! blocks is from 4.2; the rule for when both are partly written is ours, and so are the bound on skipped pages and
//! `partial_writes = "along"`. The paper is silent on writes of parts of pages.
//!
//! Leaves out: the time the search takes in firmware (4.1 puts it at hundreds of nanoseconds).

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, Parameters, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Class, Decision, DieView, MultiPlane, Needs, Pairs, Schedule, Token};

/// Keys of `[ssd.gc.schedule]` with `policy = "io-parallel"` or `"preemptive-io-parallel"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    /// What a sibling plane does that finds no write for its place in a program.
    unmatched: Unmatched,
    /// Whether writes of parts of pages have the rest read along with the collection's reads.
    partial_writes: PartialWrites,
}

impl Default for Config {
    fn default() -> Self {
        Config { unmatched: Unmatched::Stay, partial_writes: PartialWrites::Alone }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Unmatched {
    Stay,
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum PartialWrites {
    Alone,
    Along,
}

/// Pairs garbage collection with host operations.
#[derive(Clone)]
pub(super) struct IoParallel(Config);

impl IoParallel {
    /// # Errors
    /// Says which of the keys is wrong.
    pub fn new(parameters: &Parameters<'_>) -> Result<Self, String> {
        parameters.config().map(IoParallel)
    }
}

impl Schedule for IoParallel {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let (class, place) = match view.half_due(now) {
            Ok(half) => half,
            Err(decision) => return decision,
        };
        let mut command = MultiPlane::new(Token::GcStep);
        view.join(now, &mut command, class, place);
        if class == Class::Read && self.0.partial_writes == PartialWrites::Along {
            view.join_partial_writes(now, &mut command, place);
        }
        command.decision()
    }

    fn needs(&self) -> Needs {
        let skips = self.0.unmatched == Unmatched::Skip;
        Needs {
            queues: true,
            serves_head: true,
            steps_alone: true,
            steps_unmatched: self.0.partial_writes == PartialWrites::Alone,
            pairs: Pairs::Always,
            fresh_blocks: true,
            skips,
            ..Needs::default()
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "io-parallel",
    summary: "while one plane collects, its siblings serve matching host operations in the same commands (GC-PAR)",
    source: "HPDC 2018, 4.1 (Algorithm 2), 4.2",
    keys: &own_keys::<Config>,
    build: &|parameters| Ok(Box::new(IoParallel::new(parameters)?)),
};
