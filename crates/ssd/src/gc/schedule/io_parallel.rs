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
//! Source: HPDC 2018, 4.1 (Algorithm 2), 4.2 and 6.6 (one request for every sibling of four planes). The limit of two open
//! blocks is from 4.2; the rule for when both are partly written is ours.
//!
//! Leaves out: the time the search takes in firmware (4.1 puts it at hundreds of nanoseconds).

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Class, Decision, DieView, Gc, GcPhase, MultiPlane, Needs, Schedule, Token};

/// Pairs garbage collection with host operations.
#[derive(Clone)]
pub(super) struct IoParallel;

impl Schedule for IoParallel {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let job = match view.gc {
            Gc::Idle => return view.serve_head(now),
            Gc::Wanted { .. } => return Decision::Single(Token::GcStep),
            Gc::Job(job) => job,
        };
        let (class, place) = match job.phase {
            GcPhase::Choose => return Decision::Single(Token::GcStep),
            GcPhase::Erase => return Decision::Erase,
            GcPhase::Away => return Decision::Wait(SimTime::NEVER),
            GcPhase::Read => (Class::Read, (job.source_plane, job.cursor)),
            GcPhase::Program => (Class::Write, job.destination),
        };
        let mut command = MultiPlane::new(Token::GcStep);
        view.join(now, &mut command, class, place);
        command.decision()
    }

    fn needs(&self) -> Needs {
        Needs { queues: true, pairs: true, fresh_blocks: true, ..Needs::default() }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "io-parallel",
    summary: "while one plane collects, its siblings serve matching host operations in the same commands (GC-PAR)",
    source: "HPDC 2018, 4.1 (Algorithm 2), 4.2",
    keys: &no_keys,
    build: &|_| Ok(Box::new(IoParallel)),
};
