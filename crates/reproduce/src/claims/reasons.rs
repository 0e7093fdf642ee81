//! Why claims are missed under the frozen configurations: which sentence of a paper is silent or contradicted, and which run
//! shows it. `@` names a reading of `experiments/readings/`.
//!
//! The only sentences on the page of findings that are not computed from results; a test asserts that every missed claim of
//! the papers that have readings has one, and that none is kept for a claim that is met. Leaves out: SOSP 2021 and IEEE Access 2019,
//! whose sections say it beside each claim.

/// One reason and the claims that are missed for it.
#[derive(Debug, Clone, Copy)]
pub struct Reason {
    /// Claims.
    pub claims: &'static [&'static str],
    /// The sentence or the silence, and the run.
    pub text: &'static str,
}

const fn reason(claims: &'static [&'static str], text: &'static str) -> Reason {
    Reason { claims, text }
}

/// All reasons, in the order of the claims.
pub const REASONS: &[Reason] = &[
    // IEEE TC 2012 and MSST 2011.
    reason(
        &["response-hpc-w-die", "response-hpc-r-die"],
        "The text says that packages collect independently, and is silent about how full victims are. Our ageing leaves \
         victims about three quarters full. A device of 64 such dies is then hardly ever free of collection. `@ne-fp3` has \
         the die baseline and nearly empty victims.",
    ),
    reason(
        &["variability-hpc-w"],
        "The same silence. A wait lasts about as long as one collection, and full victims make that long under both \
         schemes. With nearly empty victims coordination takes away most of the long waits: `@ne-fp3`.",
    ),
    reason(
        &["rate-variability-grows", "rate-variability-gradual"],
        "Fig. 7 does not say how long its runs are, nor from which state. In a steady state requests meet collections at \
         every rate. In a fixed time from a device that has not been overwritten, faster loads collect more: \
         `@fixed-time-65s`.",
    ),
    reason(
        &["size-2", "size-18", "size-18-over-4", "size-floor"],
        "The papers name no bus, no limit on outstanding operations, and not how the space addressed grows with the array. In \
         configuration A/B every SSD brings a link of its own, so more SSDs have no floor. `@shared-bus` has one bus for all, as \
         the simulator ships, and meets all of these. It loses `size-8-is-2`, which `@constant-bytes` has. The limits that it ships with count a \
         request once for each member, and give none of these (`@queue-limits`).",
    ),
    reason(
        &["enterprise-ideal", "idle-ideal"],
        "\"Eliminates most of the impact\" needs collections that cost little. With full victims a collection takes many times as \
         long as a request, and even the one request that starts it shows in the mean. `@ne-fp3` has victims with little \
         to move.",
    ),
    reason(
        &["skew-response-others"],
        "The paper does not say where the half that is not skewed goes. If it avoids the skewed member, it meets forced \
         collections only. `skew-all` in the experiment `policies` sends it to all members, and is within.",
    ),
    reason(
        &["idle-hpc-w", "idle-burst-m", "idle-burst-h", "idle-most-response", "idle-most-variability"],
        "Table 9 names the rate within bursts, and neither their length nor how full victims are. Idle time is worth as much as \
         the collections that it hides. With full victims that is several times too much. `@ne-fp3-link2147` and `@bursts-300` show both.",
    ),
    reason(
        &["idle-monotone"],
        "At a hundred times the rate a burst waits in the queues of the array, whether the array collects or not, if a \
         member's link has 300 MB/s. The papers name no link. With a faster one and longer bursts (`@bursts-300`) idle time is worth \
         about as much at both rates. No reading has it grow between them.",
    ),
    reason(
        &["financial-erases", "financial-response"],
        "\"The financial workload is both skewed and bursty\" (IEEE TC 2012, 6). Our stand-in has published rate, size and \
         read share only, so it is neither. `@financial-skew80-bursts` is both.",
    ),
    reason(
        &["table10-burst-erases"],
        "The paper is silent about how full victims are, how long bursts are, and how much is measured. Full victims leave nothing to \
         collect early. With nearly empty ones (`@ne-fp3`) collecting in idle time erases more. Measured for longer, with shorter \
         bursts (`@bursts-30`), the difference all but goes.",
    ),
    // HPDC 2018.
    reason(
        &["die-utilisation-par", "die-utilisation-vic", "die-utilisation-par-four"],
        "The paper does not say how full victims are. A collection gives the host as many pages as its victim had invalid ones, so \
         utilisation has a bound, which the section on utilisation prints. With the victims of configuration C it lies below \
         the claim whatever the rule. `@one-page` has fewer valid pages, and nothing comes of it alone: 4.1 opens a block in every plane at \
         every start, and with the two of 4.2 that cannot be sustained. `@open-64` allows more, `@open-64-skip` keeps offsets equal \
         besides, and both come near the bound, which is still below the claim.",
    ),
    reason(
        &[
            "die-affected-writes-par",
            "die-affected-writes-vic",
            "die-affected-writes-par-four",
            "die-affected-writes-vic-four",
        ],
        "The same bound. In addition Figure 6c leaves the sibling's offset where it is if no write waits, while Algorithm 2 prints \
         no test for an empty queue. `@skip` reads the algorithm. It gains nothing with two open blocks, and `@open-64-skip` does.",
    ),
    reason(
        &[
            "die-affected-reads-par",
            "die-affected-reads-vic",
            "die-affected-reads-par-four",
            "die-affected-reads-vic-four",
        ],
        "Contradicted by the pairing rule itself. A read joins at its own page offset, so a read that waits when a \
         collection starts gains at most half of its wait, and one that arrives later gains less. The claimed gain needs fewer reads \
         that meet collection, not pairing. No reading of the rule reaches it.",
    ),
    reason(
        &["die-affected-reads-further", "die-affected-reads-high"],
        "The choice of victims counts reads that wait at the same offset. The paper publishes no queue of reads. In Table 2's loads \
         few reads wait, so that victims hardly differ: the row of places beside reads, above.",
    ),
    reason(
        &["die-par-ideal"],
        "\"Mostly overlap\" needs a device that keeps up while it collects. Under our calibrated bursts the queue outlasts \
         the burst under every schedule that moves pages. The paper does not give the length of bursts.",
    ),
    reason(
        &[
            "die-reads-par",
            "die-reads-vic",
            "die-writes-par",
            "die-writes-vic",
            "die-total-par",
            "die-total-vic",
        ],
        "Follows from the utilisation: what is not written along is not gained. The silence is the same, how full victims \
         are and how many blocks are open. `@open-64` and `@open-64-skip` have the claimed gains of writes. Those of reads contradict the \
         pairing rule, as above: reads wait for more programs of the host instead.",
    ),
    reason(
        &["die-throughput", "die-throughput-high", "die-throughput-low"],
        "Follows from the utilisation too. In configuration C the volumes that gain are those whose planes still open new \
         blocks, which the paper does not describe. With one open block for every start (`@open-64`) all volumes gain, and those with few \
         affected requests most, where the paper has it the other way round.",
    ),
    // Electronics 2025.
    reason(
        &[
            "channels-cassandra-read",
            "channels-cassandra-write",
            "channels-cassandra-read-max",
            "channels-cassandra-write-max",
            "channels-cassandra-write-turn",
            "channels-cassandra-read-max-turn",
            "channels-cassandra-write-max-turn",
        ],
        "The paper does not say which of equal channels goes first, and we took the lowest. It also shows schemes that \
         begin at 0.7 with \"steep drops in the number of empty blocks, followed by sudden surges\" (Fig. 6a), which ours, without \
         hysteresis, contradict. `@turn` changes the first, `@hysteresis-0.02` both.",
    ),
    reason(
        &[
            "channels-rocksdb-read",
            "channels-rocksdb-write",
            "channels-rocksdb-read-max",
            "channels-rocksdb-write-max",
            "channels-8k-lead-before",
        ],
        "The paper does not say when a block is worth collecting; we took one invalid page. \"Deletions lead to a large number \
         of invalid blocks and trigger intensive GC.\" `@turn-half` asks for half a block, and most of the loss goes. \
         `@hysteresis-0.02` adds the surges of Fig. 6a.",
    ),
    reason(
        &["channels-thresholds", "channels-thresholds-erases", "channels-most", "channels-most-erases"],
        "Tables 7 and 8 are not at hand. On cassandra-like the paper's choice is best or as good as any. On mysql-like later and \
         fewer is better, under every reading: small files leave a few invalid pages in every block. The paper's load for MySQL is \
         not published.",
    ),
    reason(
        &["channels-8k-fewer"],
        "Where the host writes 4 KiB at a time, a program takes a page of 8 KiB all the same. The paper does not say what a \
         device with larger pages does with such writes. On average over the loads there are fewer.",
    ),
    reason(
        &["channels-8k-gap", "channels-8k-lead"],
        "There is no lead that could narrow or get lost while equal channels do not take turns. `@hysteresis-0.02` has the lead \
         with 4 KiB.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Paper;
    use crate::reading::readings;

    /// A reading that a reason names exists, so does each claim, and no claim has two.
    #[test]
    fn reasons_name_claims_and_readings_that_exist() {
        let papers = [Paper::GlobalCollection, Paper::InsideTheDie, Paper::Channels];
        let known: Vec<&str> = papers.iter().flat_map(|paper| paper.claims()).map(|claim| claim.id).collect();
        let readings = readings().expect("valid readings");
        let mut seen = std::collections::BTreeSet::new();
        for reason in REASONS {
            for id in reason.claims {
                assert!(known.contains(id), "no claim {id}");
                assert!(seen.insert(id), "{id} has two reasons");
            }
            for named in reason.text.split("`@").skip(1) {
                let name = named.split('`').next().unwrap_or_default();
                assert!(readings.iter().any(|reading| reading.id == name), "no reading {name}");
            }
        }
    }
}
