//! Many things done by a few threads, with a result that does not show how many threads there were.
//!
//! Things are handed out in their order, one at a time, and are not made before a thread takes them: what an iterator
//! clones for each is in memory as often as there are threads. Results stand in the order of the things. After an error
//! or a panic nothing more is handed out. Whatever stands before the thing that failed has been handed out and is finished, so the first
//! error in that order is the same on any number of threads.
//!
//! Leaves out: stopping what has begun. Work that can be cancelled looks at a flag of its own and answers with an error.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use harmonia_types::sort_by_numbers;

/// Sets a flag if whoever holds it panics, so that work which looks at that flag does not go on for nothing.
pub struct CancelOnPanic<'a>(pub &'a AtomicBool);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// Does `work` on every item with so many threads at most, of which the caller's is one.
///
/// # Errors
/// The error of the first item whose work failed.
///
/// # Panics
/// If `work` panics, with what it panicked with.
pub fn each<I, T: Send, E: Send>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let most = items.size_hint().1.unwrap_or(threads);
    let items = Mutex::new(items.enumerate());
    let failed = AtomicBool::new(false);
    let worker = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, item)) = next else { break };
            let result = {
                let _stop = CancelOnPanic(&failed);
                work(item)
            };
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((index, result));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(most)).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    sort_by_numbers(&mut done, |(index, _)| (*index as u64, 0));
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items_on_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 200] {
            // Earlier items take longer.
            let slow = |item: u64| {
                std::thread::yield_now();
                let sum: u64 = (0..(100 - item) * 1_000).fold(0, |sum, n| sum ^ n.wrapping_mul(item));
                Ok::<_, ()>((item, sum))
            };
            let done = each(0..100, threads, slow).unwrap();
            assert!(done.iter().map(|(item, _)| *item).eq(0..100), "{threads}");
        }
    }

    /// Two items fail at the same time; the later one is known to have failed when the earlier one does.
    #[test]
    fn the_first_error_in_the_order_of_the_items_is_the_answer() {
        let meet = Barrier::new(2);
        let after = Barrier::new(2);
        let work = |item: u32| {
            meet.wait();
            if item == 1 {
                after.wait();
                return Err(item);
            }
            after.wait();
            std::thread::yield_now();
            Err::<(), u32>(item)
        };
        assert_eq!(each(0..2, 2, work), Err(0));
    }

    #[test]
    fn nothing_is_made_before_it_is_taken_nor_after_an_error() {
        let made = AtomicUsize::new(0);
        let items = (0..10usize).inspect(|_| {
            made.fetch_add(1, Ordering::Relaxed);
        });
        let work = |item| {
            assert_eq!(made.load(Ordering::Relaxed), item + 1);
            if item == 3 { Err(item) } else { Ok(item) }
        };
        assert_eq!(each(items, 1, work), Err(3));
        assert_eq!(made.into_inner(), 4);
    }

    #[test]
    fn nothing_is_handed_out_after_a_panic() {
        let (meet, done) = (Barrier::new(2), AtomicUsize::new(0));
        let cancel = AtomicBool::new(false);
        let work = |item: usize| {
            if item > 1 {
                std::thread::sleep(Duration::from_millis(1));
                done.fetch_add(1, Ordering::Relaxed);
                return Ok::<_, ()>(());
            }
            meet.wait();
            if item == 0 {
                let _cancel = CancelOnPanic(&cancel);
                resume_unwind(Box::new("of work"));
            }
            while !cancel.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Ok(())
        };
        let panic = std::panic::catch_unwind(|| each(0..1_000, 2, work)).expect_err("one panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"of work"));
        assert!(done.into_inner() < 998, "the panic was heard of before all was done");
    }

    /// The thread that panics is not the caller's, which has an item of its own.
    #[test]
    #[should_panic(expected = "of work")]
    fn a_panic_of_any_thread_is_the_callers() {
        let (caller, meet) = (std::thread::current().id(), Barrier::new(2));
        let work = |_| {
            meet.wait();
            assert!(std::thread::current().id() == caller, "of work");
            Ok::<_, ()>(())
        };
        let _ = each(0..2, 2, work);
    }
}
