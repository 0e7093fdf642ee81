//! What the array makes of what members reveal of their collection: `reads`, and policies that need to know.
//!
//! A policy that needs more than the members reveal is refused here, as is one that reads around members on a level that
//! keeps data once.

use harmonia_array::coordination::{self, Parameters};
use harmonia_array::{ArrayConfig, Interface, Reads};
use harmonia_types::registry::Entry;

use crate::error::Parsed;
use crate::read::{Field, Section};
use crate::schema::array as keys;

/// Levels on which reads can do without a member.
pub(crate) const REDUNDANT: &str = "array.level = \"raid1\", \"raid10\", \"raid4\", \"raid5\", \"raid6\" or \"draid1\", which keep data more than once";

/// `reads`, unless the members of the array reveal too little for it, or nothing is kept more than once.
pub(crate) fn reads(array: &ArrayConfig, reads: Reads, field: &Field<'_>) -> Parsed<Reads> {
    let is_redundant = array.level.redundancy(array.devices) > 0;
    let refused = match (reads, array.knowledge.interface) {
        (Reads::Wait | Reads::Hedge(_), _) => None,
        (Reads::Avoid(_), _) if !is_redundant => Some((
            "the level keeps data once, so a read cannot go elsewhere".to_owned(),
            format!("\"wait\", or {REDUNDANT}"),
        )),
        (Reads::Avoid(_), Interface::Nothing) => Some((
            "with array.interface = \"nothing\" nobody tells which member collects".to_owned(),
            "\"wait\" (the policies sit-out and hedge go by response times instead), or array.interface = \"log\", \"busy\" \
             or \"command\""
                .to_owned(),
        )),
        (Reads::Avoid(_), Interface::Window) => Some((
            "with array.interface = \"window\" only a policy that gives windows knows which member may collect, and its own \
             rule for reads holds"
                .to_owned(),
            "\"wait\" (the policies plm and ioda read around the member whose window it is), or array.interface = \"log\", \
             \"busy\" or \"command\""
                .to_owned(),
        )),
        (Reads::Avoid(_), Interface::Log | Interface::Busy | Interface::Command) => None,
    };
    refused.map_or(Ok(reads), |(problem, allowed)| Err(field.fault_allowing(problem, allowed)))
}

/// Why a policy cannot work on an array: it needs members to reveal more, or data to be kept more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unable {
    /// It needs this rung.
    Interface(Interface),
    /// It reads around members.
    Redundancy,
}

/// What keeps a policy from working on such members, which reveal so much.
pub(crate) fn unable(
    entry: &Entry<coordination::Build>,
    parameters: &Parameters<'_>,
    offered: Interface,
) -> Option<Unable> {
    // On an array that keeps data once it would not say that it reads around members.
    let redundancy = parameters.redundancy.max(1);
    let policy = (entry.build)(&Parameters { redundancy, ..*parameters }).ok()?;
    if policy.interface() > offered {
        return Some(Unable::Interface(policy.interface()));
    }
    let dodges = policy.reads().is_some_and(|reads| reads != Reads::Wait);
    (dodges && parameters.redundancy == 0).then_some(Unable::Redundancy)
}

/// Refuses a policy that cannot work on these members. `section` is the table that names it.
pub(crate) fn allows(
    array: &Section<'_>,
    section: &Section<'_>,
    entry: &Entry<coordination::Build>,
    offered: Interface,
    parameters: &Parameters<'_>,
) -> Parsed<()> {
    let (name, others) = (entry.name, || able(offered, parameters));
    let (field, problem, allowed) = match unable(entry, parameters, offered) {
        None => return Ok(()),
        Some(Unable::Interface(needed)) => (
            array.named("interface").expect("the highest rung is the default"),
            format!(
                "`{name}` needs \"{needed}\" ({}), and \"{offered}\" offers less ({})",
                has(needed),
                has(offered)
            ),
            format!(
                "array.interface = \"{needed}\", or a policy that works with \"{offered}\": {}",
                others()
            ),
        ),
        Some(Unable::Redundancy) => (
            section.field(&keys::POLICY).expect("the default works on every level"),
            "it answers reads without the member that collects, and the level keeps data once".to_owned(),
            format!("{REDUNDANT}; or a policy that works here: {}", others()),
        ),
    };
    Err(field.fault_allowing(problem, allowed))
}

/// Names of the policies that work on such members.
fn able(offered: Interface, parameters: &Parameters<'_>) -> String {
    let own = &Default::default();
    let works = |entry: &&Entry<coordination::Build>| {
        unable(entry, &Parameters { own, ..*parameters }, offered).is_none()
    };
    let names: Vec<&str> =
        coordination::POLICIES.entries().into_iter().filter(works).map(|entry| entry.name).collect();
    names.join(", ")
}

/// What members of a rung reveal or accept, beyond those of the rung below.
fn has(rung: Interface) -> &'static str {
    match rung {
        Interface::Nothing => "only how long answers take",
        Interface::Log => "a status that can be asked for",
        Interface::Window => "windows to collect in",
        Interface::Busy => "operations refused at once instead of waiting for collection",
        Interface::Command => "word of when they collect, and orders to do so",
    }
}
