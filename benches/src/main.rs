//! scratch
#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_types)]
mod floor;
use harmonia_array::*;
use harmonia_engine::Rng;
use harmonia_flash::*;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::*;
use harmonia_types::*;
use std::sync::atomic::*;
use std::time::Instant;
fn ssd(domain: Domain, schedule: &str) -> SsdConfig {
    SsdConfig {
        preset: "x".into(),
        geometry: Geometry {
            channels: 8,
            chips_per_channel: 8,
            dies_per_chip: 1,
            planes_per_die: 4,
            blocks_per_plane: 512,
            pages_per_block: 64,
            page_size: 4096,
            summary_pages: 1,
            own_pins: true,
        },
        timing: Timing {
            read: SimDuration::from_us(25),
            program: SimDuration::from_us(200),
            erase: SimDuration::from_us(1500),
            transfer: SimDuration(105_600),
            copyback: Copyback::Die,
        },
        link: LinkConfig { bandwidth: 300_000_000, latency: SimDuration::ZERO },
        ftl: FtlConfig {
            reserved_blocks: Amount::Percent(15.0),
            allocation: Allocation::Cwdp,
            allocation_unit: AllocationUnit::Die,
            frontiers: Frontiers::Shared,
        },
        gc: GcConfig {
            domain,
            trigger: Trigger::Foreground,
            hard_threshold: Amount::Percent(5.0),
            soft_threshold: Amount::AboveHard(1),
            stop_threshold: Amount::AboveHard(0),
            min_victims: 1,
            victim: "greedy".into(),
            victim_d: 3,
            schedule: schedule.into(),
            concurrency: ConcurrencyConfig { policy: "unlimited".into() },
        },
    }
}
fn array(policy: &str, domain: Domain, schedule: &str) -> ArrayConfig {
    ArrayConfig {
        devices: 8,
        level: Level::Raid0,
        stripe_unit: 4096,
        coordination: CoordinationConfig {
            policy: policy.into(),
            message_latency: SimDuration::ZERO,
            own: serde_json::Map::new(),
        },
        members: (0..8).map(|_| MemberConfig { capable: true, ssd: ssd(domain, schedule) }).collect(),
    }
}
fn main() {
    let t = Instant::now();
    let mut f = floor::Floor::new(131072, 64, 0.15, 1);
    let (p, e) = (f.programs, t.elapsed());
    println!("floor fill {:.1} ns/program", e.as_nanos() as f64 / p as f64);
    f.overwrite(10_000_000);
    let p = f.programs;
    let t = Instant::now();
    f.overwrite(5_000_000);
    let floor = t.elapsed().as_nanos() as f64 / (f.programs - p) as f64;
    println!("floor {floor:.1} ns/program, WA {}", (f.programs - p) as f64 / 5e6);
    drop(f);
    let cfg = array("local", Domain::Device, "blocking");
    let t = Instant::now();
    let cancel = AtomicBool::new(false);
    let pd = AtomicU64::new(0);
    let threads = std::env::args().nth(1).map_or(1, |s| s.parse().unwrap());
    let aged = age(
        &cfg,
        &AgeingPlan { fill: 1.0, overwrite: 3.0, seed: 1, threads, cancel: &cancel, pages_done: &pd },
    )
    .unwrap();
    let e = t.elapsed().as_nanos() as f64;
    let programs: u64 = aged.devices.iter().map(|d| d.tally().data_programs()).sum();
    println!(
        "ageing {:.1} s, {:.1} ns/program ratio {:.2} steady {:?}",
        e / 1e9,
        e / programs as f64,
        e / programs as f64 / floor,
        aged.steadiness
    );
    for rf in [0.2012] {
        for (policy, domain, schedule) in
            [("local", Domain::Device, "blocking"), ("reactive-inclusive", Domain::Device, "blocking")]
        {
            let cfg = array(policy, domain, schedule);
            let states = aged.devices.clone();
            let before: u64 = states.iter().map(|d| d.tally().data_programs()).sum();
            let beforeh: u64 = states.iter().map(|d| d.tally().programs[0]).sum();
            let t = Instant::now();
            let mut a = Array::new(&cfg, states, None, |_| NoProbe).unwrap();
            let (mut ra, mut rd, mut ro) =
                (Rng::stream(1, "arr"), Rng::stream(1, "addr"), Rng::stream(1, "op"));
            let mut now = 0.0;
            let n = 50_000;
            let pages = a.layout().logical_bytes() / 4096;
            let mut sum = 0.0;
            let mut sq = 0.0;
            let mut cnt = 0u64;
            let mut blame = Blame::default();
            let mut gcn = 0;
            for id in 0..n {
                now += ra.exponential(1e9 / 476.5);
                let arrival = SimTime(now as u64);
                a.advance_until(arrival).unwrap();
                let op = if ro.chance(rf) { Operation::Read } else { Operation::Write };
                let off = rd.below(pages - 125) * 4096;
                a.submit(HostRequest {
                    id,
                    arrival,
                    operation: op,
                    offset: off,
                    length: 125 * 4096,
                    volume: 0,
                    member: None,
                })
                .unwrap();
                for c in a.completions().drain(..) {
                    if c.id >= 2000 {
                        let r = c.response().0 as f64;
                        sum += r;
                        sq += r * r;
                        cnt += 1;
                        blame.add(&c.blame);
                        gcn += c.gc_affected as u64;
                    }
                }
                a.gc_intervals().clear();
            }
            a.advance_until(SimTime(u64::MAX - 1)).unwrap();
            for c in a.completions().drain(..) {
                let r = c.response().0 as f64;
                sum += r;
                sq += r * r;
                cnt += 1;
                blame.add(&c.blame);
                gcn += c.gc_affected as u64;
            }
            let e = t.elapsed().as_nanos() as f64;
            let programs = a.devices().iter().map(|d| d.ftl().tally().data_programs()).sum::<u64>() - before;
            let host = a.devices().iter().map(|d| d.ftl().tally().programs[0]).sum::<u64>() - beforeh;
            let events: u64 = a.devices().iter().map(|d| d.events()).sum();
            let mean = sum / cnt as f64;
            println!(
                "{policy} {domain:?} {schedule} rf {rf}: mean {:.3} ms sd {:.3} affected {:.3} WA {:.2} | {:.2} s, {:.1} ns/program, ratio {:.2}, {:.1} ns/hostwrite, events {} {:?} {:?}",
                mean / 1e6,
                (sq / cnt as f64 - mean * mean).sqrt() / 1e6,
                gcn as f64 / cnt as f64,
                programs as f64 / host as f64,
                e / 1e9,
                e / programs as f64,
                e / programs as f64 / floor,
                e / host as f64,
                events,
                a.message_counters(),
                Blame {
                    service: blame.service / cnt,
                    transfer: blame.transfer / cnt,
                    queue_host: blame.queue_host / cnt,
                    queue_gc: blame.queue_gc / cnt,
                    link: blame.link / cnt,
                    ..blame
                }
            );
        }
    }
}
