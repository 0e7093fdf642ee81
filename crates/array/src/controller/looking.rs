//! What the controller can see of members that collect, by the rung of `array.interface`:
//!
//! * every rung: from which members it keeps operations itself, and which it was told to avoid;
//! * `log`, but no rung above it: also the last answer to a status query, as old as it is, and begins and ends delivered since;
//! * `window`: no more than every rung. A policy that sets windows says which members to avoid;
//! * `busy` and above: also whether a member would refuse an operation at once, page by page. Where a message or the link takes
//!   time, that is heard a round trip later, by refusals only.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::Access;
use super::members::Members;
use super::nvram::Nvram;
use crate::config::Interface;
use crate::planner::Look;
use crate::stand_ins::StandIns;

/// What can be seen of members by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// Nothing but how long they take.
    Nothing,
    /// What they answered when they were last asked.
    Answers,
    /// Which operations they would refuse.
    Members,
}

impl Sight {
    /// What is seen of members that reveal so much, `is_prompt` if neither messages nor links take time.
    pub fn of(rung: Interface, is_prompt: bool) -> Sight {
        match rung {
            Interface::Nothing | Interface::Window => Sight::Nothing,
            Interface::Log => Sight::Answers,
            Interface::Busy | Interface::Command if is_prompt => Sight::Members,
            Interface::Busy | Interface::Command => Sight::Nothing,
        }
    }
}

/// Looks at the members at one moment.
pub(super) struct Looking<'a, P: Probe> {
    pub members: &'a Members<P>,
    pub nvram: Option<&'a Nvram>,
    pub now: SimTime,
}

impl<P: Probe> Looking<'_, P> {
    /// How long the member as a whole is best left alone.
    fn whole(&self, device: usize) -> Option<SimDuration> {
        let members = self.members;
        if members.health.access(DeviceId(device as u16)) != Access::Open || members.avoided[device] {
            return Some(SimDuration(u64::MAX));
        }
        let known = &members.delivered[device];
        let status = known.status.filter(|_| members.sight == Sight::Answers && known.collecting)?;
        // Past the time it named it may be done or not: the next answer tells.
        let left = status.gc_remaining.0.saturating_sub((self.now - known.as_of).0);
        Some(SimDuration(left.max(1)))
    }
}

impl<P: Probe> Look for Looking<'_, P> {
    fn sees(&self, device: DeviceId) -> bool {
        self.members.sight == Sight::Members
            && match self.stood_in(device) {
                // Any other member may stand in for it.
                Some(_) => {
                    let mut members = self.members.delivered.iter().enumerate();
                    members.all(|(other, known)| known.capable || other == device.index())
                }
                None => self.members.delivered[device.index()].capable,
            }
    }

    fn busy(
        &self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        if let Some(all) = self.stood_in(device) {
            let (mut from, end) = (offset, offset + length);
            while from < end {
                let (other, to) = all.place(device, from);
                let to = to.min(end);
                self.busy_here(other, from, to - from, visit);
                from = to;
            }
            return;
        }
        self.busy_here(device, offset, length, visit);
    }
}

impl<P: Probe> Looking<'_, P> {
    /// Who stands in for a member, if anybody does.
    fn stood_in(&self, device: DeviceId) -> Option<&StandIns> {
        self.members.health.stand_ins().filter(|all| all.has_taken(device))
    }

    /// As [`Look::busy`], of the member itself.
    fn busy_here(
        &self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        let index = device.index();
        let mut not_parked = |mut from: Bytes, to: Bytes, left: SimDuration| {
            let Some(nvram) = self.nvram else { return visit(from, to, left) };
            while from < to {
                let (bytes, is_parked) = nvram.head_of_read(device, from, to - from);
                if !is_parked {
                    visit(from, from + bytes, left);
                }
                from += bytes;
            }
        };
        if let Some(left) = self.whole(index) {
            not_parked(offset, offset + length, left);
        } else if self.members.sight == Sight::Members && self.members.delivered[index].capable {
            self.members.devices[index].collection_in(offset, length, self.now, &mut not_parked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_would_refuse_is_seen_only_where_nothing_takes_time() {
        for rung in [Interface::Busy, Interface::Command] {
            assert_eq!([true, false].map(|prompt| Sight::of(rung, prompt)), [Sight::Members, Sight::Nothing]);
        }
        for prompt in [true, false] {
            let seen =
                [Interface::Nothing, Interface::Window, Interface::Log].map(|rung| Sight::of(rung, prompt));
            assert_eq!(seen, [Sight::Nothing, Sight::Nothing, Sight::Answers]);
        }
    }
}
