//! Which device an operation goes to while members are copied to spares, and what copies carry.
//!
//! A member and the spare that it is copied to are two devices. Devices are numbered as members are, spares behind them. A write of
//! such a member is told of twice: the first goes to the member, the second, its twin, to the spare. A copy reads the member and
//! writes the spare only.

use std::collections::BTreeMap;

use harmonia_types::Operation;

use super::array::Place;
use super::sum::Sum;
use crate::controller::payload::Owner;
use crate::planner::{Kind, PlannedOperation};

/// What is known of an operation that is under way.
pub(super) struct Told {
    pub device: u16,
    /// A step of a copy, and not of a rebuild.
    pub is_copy: bool,
    /// What a copy writes, row by row; none if the plan says it.
    pub sums: Vec<Sum>,
    /// Pages that the member has refused. If these are all, nobody hears of the operation again.
    pub refused: Vec<Place>,
}

/// What a copy has read.
#[derive(Default)]
struct Step {
    own: BTreeMap<Place, Sum>,
    others: Vec<Sum>,
}

pub(super) struct Copies {
    /// The device that is a member, by its number.
    devices: Vec<u16>,
    /// The spare that a member is copied to.
    spares: BTreeMap<u16, u16>,
    next: u16,
    told: BTreeMap<u64, Told>,
    /// The write that was told of last, if it is not a twin: the next one like it is its twin.
    last: Option<(u32, PlannedOperation)>,
    /// By handle of their transaction.
    steps: BTreeMap<u32, Step>,
    /// Spares that have taken a member's place.
    pub taken: u64,
}

impl Copies {
    pub fn of(members: u16) -> Copies {
        Copies {
            devices: (0..members).collect(),
            spares: BTreeMap::new(),
            next: members,
            told: BTreeMap::new(),
            last: None,
            steps: BTreeMap::new(),
            taken: 0,
        }
    }

    pub fn device_of(&self, member: u16) -> u16 {
        self.devices[usize::from(member)]
    }

    /// The spare that a member is copied to from now on.
    pub fn begins(&mut self, member: u16) -> u16 {
        self.next += 1;
        self.spares.insert(member, self.next - 1);
        self.next - 1
    }

    pub fn takes_place(&mut self, member: u16) {
        let spare = self.spares.remove(&member).expect("it is copied");
        self.devices[usize::from(member)] = spare;
        self.taken += 1;
    }

    pub fn submits(&mut self, of: &Owner<'_>, operation: &PlannedOperation, token: u64) {
        let (member, kind) = (operation.device.0, operation.operation);
        let spare = self.spares.get(&member).copied();
        let is_step = of.transaction.kind == Kind::Restore
            && of.transaction.operation == Operation::Write
            && of.transaction.member.is_some_and(|member| self.spares.contains_key(&member.0));
        if is_step {
            self.steps.entry(of.handle).or_default();
        }
        let is_copy = self.steps.contains_key(&of.handle);
        let this = (of.handle, *operation);
        let is_twin = self.last.take_if(|last| *last == this).is_some();
        let device = match spare {
            Some(spare) if kind != Operation::Read && (is_copy || is_twin) => spare,
            Some(_) if kind != Operation::Read => {
                self.last = Some(this);
                self.device_of(member)
            }
            _ => self.device_of(member),
        };
        self.told.insert(token, Told { device, is_copy, sums: Vec::new(), refused: Vec::new() });
    }

    /// Whether an operation that is under way is one of a copy.
    pub fn is_copy(&self, token: u64) -> bool {
        self.told[&token].is_copy
    }

    pub fn writes(&mut self, token: u64, sums: Vec<Sum>) {
        self.told.get_mut(&token).expect("it is under way").sums = sums;
    }

    /// Pages of an operation are refused. The rest of it, if there is any, is done later.
    pub fn refuses(&mut self, token: u64, pages: impl Iterator<Item = Place>) {
        if let Some(told) = self.told.get_mut(&token) {
            told.refused.extend(pages);
        }
    }

    /// An operation is done.
    pub fn ends(&mut self, token: u64) -> Option<Told> {
        self.told.remove(&token)
    }

    /// A copy has read a place of its member, or something else of which it makes what the member cannot read.
    pub fn has_read(&mut self, handle: u32, place: Option<Place>, sum: Sum) {
        let step = self.steps.entry(handle).or_default();
        match place {
            Some(place) => drop(step.own.insert(place, sum)),
            None => step.others.push(sum),
        }
    }

    pub fn read_of(&self, handle: u32, place: Place) -> Option<Sum> {
        self.steps.get(&handle)?.own.get(&place).cloned()
    }

    pub fn others_of(&self, handle: u32) -> &[Sum] {
        self.steps.get(&handle).map_or(&[], |step| &step.others)
    }

    /// A transaction is over.
    pub fn is_over(&mut self, handle: u32) {
        self.steps.remove(&handle);
    }
}
