//! What to say where simulated time runs out: nothing may happen after [`SimTime::LATEST`].
//!
//! The longest time of the scenario is named as what to change, whether or not it is the one that was waited for most.

use harmonia_flash::PageTimes;
use harmonia_types::{SimDuration, SimTime};

use crate::{RunError, bad_input};
use harmonia_scenario::Scenario;

/// The refusal of a run that came to its end of time with so many requests begun and not done.
#[cold]
pub(crate) fn refuse(scenario: &Scenario, submitted: u64, outstanding: u64) -> RunError {
    let (key, time) = longest(scenario);
    bad_input(
        format!(
            "simulated time passes 2^63 ns (292 years) with {submitted} requests begun, {outstanding} of them not done"
        ),
        &format!(
            "shorter times, of which {key} = {time} is the longest, or fewer requests (workload.requests)"
        ),
    )
}

/// The times of members and messages that anything may have to wait for.
fn longest(scenario: &Scenario) -> (&'static str, SimDuration) {
    let array = &scenario.array;
    let longest_page = |times: PageTimes| times.times().iter().copied().max().unwrap_or_default();
    let of_member = |member: &harmonia_array::MemberConfig| {
        let (timing, link) = (&member.ssd.timing, &member.ssd.link);
        [
            ("ssd.timing.read", longest_page(timing.read)),
            ("ssd.timing.program", longest_page(timing.program)),
            ("ssd.timing.erase", timing.erase),
            ("ssd.timing.transfer", timing.transfer),
            ("ssd.timing.command.read", timing.command.read),
            ("ssd.timing.command.program", timing.command.program),
            ("ssd.timing.command.erase", timing.command.erase),
            ("ssd.timing.suspend_program", timing.suspend_program.unwrap_or_default()),
            ("ssd.timing.suspend_erase", timing.suspend_erase.unwrap_or_default()),
            ("ssd.timing.suspend_host_program", timing.suspend_host_program.unwrap_or_default()),
            ("ssd.timing.minimum_run", timing.minimum_run),
            ("ssd.timing.resume", timing.resume),
            ("ssd.timing.read_retry.step", timing.read_retry.step.unwrap_or_default()),
            ("ssd.link.latency", link.latency),
            ("ssd.controller.command_overhead", member.ssd.controller.command_overhead),
        ]
    };
    let messages = ("array.coordination.message_latency", array.coordination.message_latency);
    let times = array.members.iter().flat_map(of_member).chain([messages]);
    times.reduce(|longest, next| if next.1 > longest.1 { next } else { longest }).unwrap_or(messages)
}

/// Whether a time that was summed up may have left the range of its type.
pub(crate) fn is_beyond(sum: SimDuration) -> bool {
    sum == SimDuration::MAX
}

/// Whether something would happen when nothing may happen any more.
#[inline]
pub(crate) fn is_too_late(time: SimTime) -> bool {
    time > SimTime::LATEST
}
