//! What stands in line for a slot, and what its turn is for.

use harmonia_types::{IoCause, SimTime};

use super::written::Written;

/// A page that the host writes, or what has to keep its place behind one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InLine {
    /// Sub-request and its page.
    pub sub: u32,
    pub page: u32,
    pub lpn: u32,
    /// When its data is over the link.
    pub ready: SimTime,
    pub turn: Turn,
}

/// What its turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A slot.
    Write(Write),
    /// Reading its page, from the cache or from flash.
    Read { fast_fail: bool },
    /// Unmapping its page. Some are answered when that cannot be undone any more.
    Trim { fast_fail: bool, is_awaited: bool },
}

/// A write of a page, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    pub written: Written,
    pub cause: IoCause,
    /// Token of its sub-request.
    pub token: u64,
    /// The pages that go where this one goes are counted in this list.
    pub list: u32,
    /// The array writes it behind its host's back.
    pub is_background: bool,
    /// The handle of its request.
    pub handle: u16,
    /// It is answered when its program has ended.
    pub is_awaited: bool,
}
