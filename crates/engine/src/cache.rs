//! Asking the caches of the processor for what will be needed soon.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0 as FIRST_LEVEL, _MM_HINT_T1 as SECOND_LEVEL};

#[cfg(not(target_arch = "x86_64"))]
const FIRST_LEVEL: i32 = 0;
#[cfg(not(target_arch = "x86_64"))]
const SECOND_LEVEL: i32 = 1;

/// Asks for `table[index]`, which is about to be used. Changes nothing, also where the table has no such entry.
#[inline]
pub fn prefetch<T>(table: &[T], index: usize) {
    ask::<FIRST_LEVEL, T>(table, index);
}

/// [`prefetch`] for one of many: it comes no nearer than the second-level cache. The first level has room for some twenty misses
/// at a time; with more, the program would wait for them at once instead of later.
#[inline]
pub fn prefetch_one_of_many<T>(table: &[T], index: usize) {
    ask::<SECOND_LEVEL, T>(table, index);
}

/// [`prefetch`] for all lines of a value. They come no nearer than the second-level cache, as those of one of many do.
#[inline]
pub fn prefetch_whole<T>(value: &T) {
    const LINE: usize = 64;
    // It need not begin at a line, so its last byte may lie in one more.
    for offset in (0..size_of::<T>()).step_by(LINE).chain(size_of::<T>().checked_sub(1)) {
        ask_at::<SECOND_LEVEL>(std::ptr::from_ref(value).cast::<i8>().wrapping_add(offset));
    }
}

#[expect(clippy::inline_always, reason = "one instruction")]
#[inline(always)]
fn ask<const LEVEL: i32, T>(table: &[T], index: usize) {
    // Whether the table has it is not asked: that would double what asking for it takes.
    ask_at::<LEVEL>(table.as_ptr().wrapping_add(index).cast());
}

#[expect(clippy::inline_always, reason = "one instruction")]
#[inline(always)]
fn ask_at<const LEVEL: i32>(place: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the caches, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<LEVEL>(place);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
