#![allow(clippy::all, warnings)]
#[path = "../tests/contents/torture/mod.rs"]
mod torture;
use torture::content::{Real, Tag};
use torture::history::{Counts, Failure, Locks, Options, run};
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let (kind, requests) = (a[0].as_str(), a[1].parse::<u64>().unwrap());
    let (from, count) = (a[2].parse::<u64>().unwrap(), a[3].parse::<u64>().unwrap());
    let mut sum = Counts::default();
    let verbose = a.len() > 4;
    if !verbose {
        std::panic::set_hook(Box::new(|_| {}));
    }
    for seed in from..from + count {
        let options = Options {
            seed,
            requests,
            locks: Locks::Always,
            faults: kind.contains('f'),
            power: kind.contains('p'),
        };
        let caught = std::panic::catch_unwind(|| run::<Tag>(options));
        match caught {
            Ok(Ok(c)) => sum.add(c),
            Ok(Err(f)) => {
                if verbose {
                    println!("{f}")
                } else {
                    println!("{seed}: {}", f.what)
                }
            }
            Err(e) => println!(
                "{seed}: panic {}",
                e.downcast_ref::<String>()
                    .cloned()
                    .or(e.downcast_ref::<&str>().map(|s| s.to_string()))
                    .unwrap_or_default()
            ),
        }
    }
    println!(
        "{kind} {requests} {from}+{count}: failures {} copies {} power {:?}",
        sum.failures, sum.copies, sum.power
    );
}
