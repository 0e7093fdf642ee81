//! Does an array hold what was written to it, for as long as you like? The long form of `tests/contents`.
//!
//! ```sh
//! cargo run --release -p harmonia-array --example torture -- OPERATIONS SEED
//! ```
//!
//! Random arrays one after the other, from SEED on, until their members have read, programmed and moved OPERATIONS pages.
//! Members fail in a third of them. A quarter of those that can keep a log do so, and lose power, and another
//! quarter with a write-intent bitmap. Caches of drives lose what they hold in another quarter, below NVRAM in half of these. Every tenth holds real sectors, all others tags. Wrong contents end it, with the seed and the whole configuration;
//! `1 SEED` runs that history again.
#![expect(clippy::print_stdout, reason = "prints its progress")]
#![expect(clippy::disallowed_types, reason = "prints its rate, which no result depends on")]

#[path = "../tests/contents/torture/mod.rs"]
mod torture;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use torture::content::{Real, Tag};
use torture::history::{Counts, Failure, Locks, Options, run};
use torture::log::{Logged, run_logged, run_marked};
use torture::scenario::levels;
use torture::volatile::{Hole, run_parked, run_volatile};
use torture::wear::run_worn;

/// Requests of histories: short ones begin on empty devices more often, long ones collect more garbage.
const REQUESTS: [u64; 4] = [150, 600, 2_400, 10_000];

fn main() -> ExitCode {
    let arguments: Vec<Option<u64>> =
        std::env::args().skip(1).map(|argument| argument.parse().ok()).collect();
    let [Some(operations), Some(seed)] = *arguments else {
        println!("usage: torture OPERATIONS SEED");
        return ExitCode::FAILURE;
    };
    match torture(operations, seed) {
        Ok(sum) => {
            println!("{sum:#?}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn torture(operations: u64, first_seed: u64) -> Result<Counts, Failure> {
    let (clock, mut told) = (Instant::now(), Duration::ZERO);
    let (mut sum, mut seed) = (Counts::default(), first_seed);
    while sum.operations() < operations {
        sum.add(history(seed)?);
        seed += 1;
        let passed = clock.elapsed();
        if passed >= told + Duration::from_secs(10) {
            told = passed;
            let rate = sum.operations() as f64 / passed.as_secs_f64();
            println!(
                "{:6.0} s: {} page operations ({rate:.0} a second), {} histories",
                passed.as_secs_f64(),
                sum.operations(),
                seed - first_seed
            );
        }
    }
    Ok(sum)
}

/// The history of a seed. Levels take turns with the seed, so lengths change with every round of them.
fn history(seed: u64) -> Result<Counts, Failure> {
    let round = seed / levels().len() as u64;
    let requests = REQUESTS[(round % REQUESTS.len() as u64) as usize];
    let options =
        Options { seed, requests, locks: Locks::Always, faults: round % 3 == 1, power: round % 6 == 2 };
    if round % 4 == 2 {
        let how = Logged { faults: round % 3 == 1, power: true, replays: true };
        if let Some(logged) = run_logged::<Tag>(seed, requests, how) {
            return logged;
        }
    }
    if round % 4 == 3
        && let Some(marked) = run_marked::<Tag>(seed, requests)
    {
        return marked;
    }
    if round % 8 == 1
        && let Some(worn) = run_worn::<Tag>(seed, requests)
    {
        return worn;
    }
    if round % 8 == 5
        && let Some(parked) = run_parked::<Tag>(seed, requests)
    {
        return parked;
    }
    let holes = [Hole::Resync, Hole::Bitmap, Hole::Log];
    if round % 4 == 1
        && let Some(volatile) = run_volatile::<Tag>(seed, requests, holes[(round / 4 % 3) as usize])
    {
        return volatile;
    }
    if seed.is_multiple_of(10) { run::<Real>(options) } else { run::<Tag>(options) }
}
