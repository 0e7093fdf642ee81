//! What about a scenario explains its figures and is easily overlooked; it stands in the report, too.
//!
//! * `keeps-apart`: a coordinator that lets members collect one after the other, and requests that need several;
//! * `parity-resonance`: a layout that puts the parity of a member on few of its dies;
//! * `stripe-cache`: a stripe cache that a single write fills, or that writes do not use while a member is missing;
//! * `address-space`: a load that leaves a part of the array alone;
//! * `ageing-seed`: a seed of ageing, which runs of several seeds share;
//! * `rounded`: requests that become at least twice as long because they are rounded up to whole pages;
//! * `scaled`: members that are scaled down;
//! * `policy`: what a policy says of its own keys on these members.

use harmonia_array::coordination::Coordinator;
use harmonia_array::layout::{Layout, ParityPattern};
use harmonia_array::{ArrayConfig, Level, Reads};
use harmonia_metrics::{Warning, judgement};
use harmonia_ssd::{Scaling, Shape};
use harmonia_types::{Bytes, DeviceId, units};
use harmonia_workload::{SizeDistribution, WorkloadConfig};

use crate::Scenario;
use crate::policies::built;

impl Scenario {
    /// What a reader of its results should know; none if all is well.
    pub fn warnings(&self) -> Vec<Warning> {
        let policy = built(&self.array, &self.array.coordination.policy).ok();
        let all = [
            ("keeps-apart", policy.as_deref().and_then(|policy| self.keeps_apart(policy))),
            ("parity-resonance", resonance(&self.array)),
            ("stripe-cache", self.fills_cache()),
            ("address-space", self.leaves_space()),
            ("ageing-seed", self.shares_ageing()),
            ("rounded", self.rounds_up()),
            ("scaled", self.is_scaled()),
        ];
        let warning = |(code, text): (&str, Option<String>)| Some(Warning::new(code, text?));
        let cautions = policy.iter().flat_map(|policy| policy.cautions());
        let cautions = cautions.map(|caution| Warning::new(judgement::POLICY, caution.trim_end_matches('.')));
        all.into_iter().filter_map(warning).chain(cautions).collect()
    }

    /// A coordinator that seldom wins with plain reads and writes, because requests wait for one member after the other.
    fn keeps_apart(&self, policy: &dyn Coordinator) -> Option<String> {
        let name = &self.array.coordination.policy;
        let reads = policy.reads().unwrap_or(self.array.knowledge.reads);
        (policy.keeps_apart() && reads == Reads::Wait && self.needs_several_members()).then(|| {
            format!(
                "{name} lets members collect one after the other, which pays where requests can do without the one that \
                 collects; with plain reads and writes they wait for each of them in turn"
            )
        })
    }

    /// Whether its requests usually need more than one member.
    fn needs_several_members(&self) -> bool {
        let ArrayConfig { devices, level, stripe_unit, .. } = self.array;
        let is_larger = |size: &SizeDistribution| size.mean() > stripe_unit;
        // A write of a level with redundancy needs several, however short it is.
        let of_load = || match &self.workload {
            WorkloadConfig::Synthetic(load) => is_larger(&load.size),
            WorkloadConfig::Streams(load) => load.streams.iter().any(|(_, stream)| is_larger(&stream.size)),
            WorkloadConfig::Trace(_) => true,
        };
        devices > 1 && (level != Level::Raid0 || of_load())
    }

    /// A write that takes all entries of the stripe cache, or writes that take none.
    fn fills_cache(&self) -> Option<String> {
        let entries = u64::from(self.array.stripe_cache.entries);
        let Layout::Parity(parity) = self.array.layout() else { return None };
        let row = parity.row_bytes();
        let of_size = |size: &SizeDistribution| {
            (size.mean() / parity.stripe_bytes()).max(1) * self.array.stripe_unit.min(size.mean())
        };
        let rows = match &self.workload {
            WorkloadConfig::Synthetic(load) => of_size(&load.size) / row,
            WorkloadConfig::Streams(load) => {
                load.streams.values().map(|stream| of_size(&stream.size) / row).max().unwrap_or(0)
            }
            WorkloadConfig::Trace(_) => 0,
        };
        let fails = !self.array.faults.events.is_empty();
        match entries {
            0 => None,
            _ if rows > entries => Some(format!(
                "a write of mean size has {rows} rows and array.stripe_cache {entries} entries: it takes all of them, and \
                 writes go one after the other"
            )),
            _ if fails => Some(
                "while a member is missing, writes bypass array.stripe_cache: nothing is kept or merged"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn shares_ageing(&self) -> Option<String> {
        let seed = self.precondition.seed?;
        Some(format!(
            "precondition.seed = {seed} gives runs of all seeds one aged array: their intervals say nothing of how arrays differ"
        ))
    }

    /// Requests of the load that are much shorter than a page.
    fn rounds_up(&self) -> Option<String> {
        let page = self.array.page_size();
        let is_short = |size: &SizeDistribution| 2 * size.mean() <= page;
        let is_rounded = match &self.workload {
            WorkloadConfig::Synthetic(load) => load.align && is_short(&load.size),
            WorkloadConfig::Streams(load) => {
                load.align && load.streams.values().any(|stream| is_short(&stream.size))
            }
            WorkloadConfig::Trace(_) => false,
        };
        is_rounded.then(|| {
            format!(
                "requests are rounded up to whole pages, which makes short ones {} long. With workload.align = false they stay short, and a \
                 write of a part of a page reads the page first",
                units::format_bytes(page)
            )
        })
    }

    fn is_scaled(&self) -> Option<String> {
        let ssd = &self.array.members.first()?.ssd;
        let Scaling { blocks, programs, pool, error, uniform, apart } = ssd.scaling()?;
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let shorter = match programs {
            (now, before) if now < before => format!(", a block {now} programs instead of {before}"),
            _ => String::new(),
        };
        let how_far = match apart {
            false => format!(
                "about {} under uniform writes and {} under skewed ones",
                percent(uniform),
                percent(error)
            ),
            true => format!("about {}, or more if a few pages take most writes", percent(error)),
        };
        Some(format!(
            "drives are simulated at ssd.scale = {}: write amplification may differ from that of whole drives by {how_far}. An \
             allocation unit has {} blocks instead of {}{shorter}, and collection chooses among {pool} blocks. Years and drive \
             writes a day are those of full drives",
            ssd.scale, blocks.0, blocks.1,
        ))
    }

    fn leaves_space(&self) -> Option<String> {
        let (space, whole) = (self.space?, self.array.layout().logical_bytes());
        let shown = units::format_bytes;
        (space < whole).then(|| {
            format!("requests go to the first {} of the {} that the array holds", shown(space), shown(whole))
        })
    }
}

/// Parity that lies on fewer than half of the dies of a member: these are written more often than the others, and where
/// one die of a device that collects stops all of them, the whole member pays for them.
fn resonance(array: &ArrayConfig) -> Option<String> {
    let Layout::Parity(parity) = array.layout() else { return None };
    if parity.declustered().is_some() {
        // Permutations keep step with nothing.
        return None;
    }
    let shape = array.members.first()?.ssd.resolve().ok().filter(|shape| shape.names_die)?;
    let mut patterns = (0..array.devices).map(|member| parity.parity_pattern(DeviceId(member)));
    let pattern = patterns.find(|pattern| 0 < pattern.run && pattern.run < pattern.period)?;
    let (page, unit) = (array.page_size(), array.stripe_unit / array.page_size());
    let dies = parity_dies(pattern, unit, &shape);
    if 2 * dies >= shape.dies {
        return None;
    }
    let avoids = |unit: &u64| parity_dies(pattern, *unit, &shape) == shape.dies;
    // As many pages as there are allocation units reach every die.
    let most = u64::from(shape.units()).max(unit);
    let smallest = (unit + 1..=most).find(avoids).unwrap_or(most) * page;
    // Pages need not be powers of two; then no such unit is a multiple of them.
    let mut powers =
        std::iter::successors(Some((unit * page).next_power_of_two()), |size| Some(size * 2)).take(16);
    let power = powers.find(|size| size.is_multiple_of(page) && avoids(&(size / page)));
    let advice = match power {
        Some(power) if power != smallest => {
            format!("{} (of powers of two, {})", shown(smallest), shown(power))
        }
        _ => shown(smallest),
    };
    Some(format!(
        "parity lies on {dies} of the {} dies of a member, because {} members with a stripe unit of {} repeat in step with \
         them; these dies are written and collected more often than the others; the smallest array.stripe_unit that spreads \
         it over all of them is {advice}",
        shape.dies,
        array.devices,
        shown(array.stripe_unit),
    ))
}

fn shown(bytes: Bytes) -> String {
    units::format_bytes(bytes)
}

/// Dies of a member that hold parity, where a stripe unit has `unit` pages.
fn parity_dies(pattern: ParityPattern, unit: u64, shape: &Shape) -> u32 {
    // Pages are dealt to allocation units in turn, so both patterns together repeat after so many stripes.
    let units = u64::from(shape.units());
    let stripes = pattern.period * (units / gcd(pattern.period * unit, units));
    let mut holds = vec![false; shape.dies as usize];
    for stripe in (0..stripes).filter(|&stripe| pattern.has(stripe)) {
        for page in 0..unit.min(units) {
            let lpn = (stripe * unit + page) % units;
            holds[shape.locate(lpn as u32).0 as usize] = true;
        }
    }
    holds.into_iter().filter(|&holds| holds).count() as u32
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(keys: &str) -> Vec<Warning> {
        let text = format!("workload.preset = \"hpc-w\"\n{keys}");
        Scenario::parse(&text, "test", &[], None).unwrap_or_else(|error| panic!("{error}")).warnings()
    }

    fn codes(keys: &str) -> Vec<String> {
        warnings(keys).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_seed_of_ageing_is_told_what_its_intervals_leave_out() {
        assert_eq!(codes("precondition.seed = 7"), ["ageing-seed"]);
        assert_eq!(codes("seed = 7"), [""; 0]);
    }

    const RAID5: &str = "array.level = \"raid5\"\n";

    /// Eight members of 64 dies: with one page a unit, every eighth page of a member is parity.
    #[test]
    fn parity_on_few_dies_is_told_the_unit_that_spreads_it() {
        let found = warnings(&format!("{RAID5}array.stripe_unit = \"4KiB\""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "parity-resonance");
        let text = &found[0].text;
        assert!(
            text.contains("8 of the 64 dies") && text.contains("36KiB (of powers of two, 256KiB)"),
            "{text}"
        );
        for (unit, devices, resonates) in [
            ("16KiB", 8, true),
            ("20KiB", 8, false),
            ("64KiB", 8, true),
            ("128KiB", 8, false),
            ("512KiB", 8, false),
            ("4KiB", 7, false),
            ("4KiB", 4, true),
        ] {
            let keys = format!("{RAID5}array.stripe_unit = \"{unit}\"\narray.devices = {devices}");
            assert_eq!(codes(&keys).len(), usize::from(resonates), "{unit} {devices}");
        }
        let fixed = "array.level = \"raid4\"\narray.stripe_unit = \"4KiB\"";
        assert_eq!(codes(fixed), [""; 0], "a member that holds parity holds nothing else");
        assert_eq!(codes("array.stripe_unit = \"4KiB\""), [""; 0], "no parity");
        let dynamic = format!("{RAID5}array.stripe_unit = \"4KiB\"\nssd.ftl.allocation = \"dynamic\"");
        assert_eq!(codes(&dynamic), [""; 0], "parity goes anywhere");
    }

    #[test]
    fn keeping_members_apart_is_told_where_requests_need_several() {
        for policy in ["gcsync", "gclock"] {
            let keys = format!("array.coordination.policy = \"{policy}\"\n");
            assert_eq!(codes(&keys), ["keeps-apart"]);
            assert_eq!(codes(&format!("{keys}{RAID5}")), ["keeps-apart"]);
            assert_eq!(codes(&format!("{keys}array.devices = 1")), [""; 0]);
            assert_eq!(
                codes(&format!("{keys}array.stripe_unit = \"1MiB\"")),
                [""; 0],
                "one member a request"
            );
        }
        assert_eq!(codes("array.coordination.policy = \"reactive-inclusive\""), [""; 0]);
        let around = format!("{RAID5}array.coordination.policy = \"gclock\"\narray.reads = \"avoid\"");
        assert_eq!(codes(&around), [""; 0], "reads do without the member that collects");
    }

    #[test]
    fn keeping_members_apart_is_not_told_where_reads_go_around_them() {
        for policy in ["serial", "ttflash"] {
            let keys = format!("array.coordination.policy = \"{policy}\"\n");
            assert_eq!(codes(&format!("{keys}{RAID5}")), [""; 0], "{policy} on RAID-5");
        }
        // As long as a collection, which the windows in question have to be.
        let ioda = |mode: &str| {
            let soft = "ssd.gc.soft_threshold = \"7%\"\narray.coordination.buffer = \"10ms\"\n";
            let keys = format!("policy = \"ioda\"\nmode = \"{mode}\"\nwindow = \"50ms\"");
            format!("{soft}array.coordination.{}", keys.replace('\n', "\narray.coordination."))
        };
        for (mode, told) in
            [("windows", &["keeps-apart"][..]), ("all", &[]), ("fast-fail", &[]), ("off", &[])]
        {
            assert_eq!(codes(&format!("{RAID5}{}", ioda(mode))), told, "{mode}");
        }
    }

    #[test]
    fn keys_that_cannot_work_are_told() {
        let keys =
            format!("{RAID5}array.coordination.policy = \"ioda\"\narray.coordination.window = \"200ms\"");
        let found = warnings(&keys);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "policy");
        assert!(found[0].text.contains("array.coordination.window is 200ms"), "{}", found[0].text);
    }

    #[test]
    fn a_stripe_cache_that_one_write_fills_is_told() {
        let cache = |keys: &str| codes(&format!("{RAID5}array.stripe_unit = \"512KiB\"\n{keys}"));
        assert_eq!(cache("array.stripe_cache = 17"), ["stripe-cache"]);
        assert_eq!(cache("array.stripe_cache = 256"), [""; 0]);
        let fails = "array.stripe_cache = 256\narray.failure = [{ device = 1, at = \"1s\" }]";
        assert_eq!(cache(fails), ["stripe-cache"]);
        assert_eq!(cache("array.failure = [{ device = 1, at = \"1s\" }]"), [""; 0]);
    }

    /// Pages of 4 KiB: requests of 2 KiB become twice as long.
    #[test]
    fn requests_that_rounding_makes_much_longer_are_told() {
        let of = |mean: u32, keys: &str| {
            let size = format!("workload.size = {{ distribution = \"fixed\", mean = \"{mean}B\" }}");
            warnings(&format!("{size}\n{keys}"))
        };
        let found = of(2_048, "");
        assert!(found.len() == 1 && found[0].code == "rounded", "{found:?}");
        assert!(found[0].text.contains("makes short ones 4KiB long"), "{found:?}");
        assert_eq!(of(2_049, ""), []);
        assert_eq!(of(2_048, "workload.align = false"), []);
    }

    #[test]
    fn a_space_that_leaves_a_part_alone_is_told() {
        let found = warnings("workload.space = \"1GiB\"");
        assert!(found.len() == 1 && found[0].text.contains("the first 1GiB of the"), "{found:?}");
    }
}
