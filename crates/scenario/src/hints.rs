//! What can be run and probably is not what was meant: one line each, to be shown beside a result.

use harmonia_array::MemberConfig;
use harmonia_ssd::BeginsAt;

use crate::Scenario;

impl Scenario {
    /// What its writer should know, each a line of its own; none if all is well.
    pub fn hints(&self) -> Vec<String> {
        let collecting = self.array.members.iter().find_map(|member| self.collects_for_ever(member));
        self.never_fires().into_iter().chain(collecting).collect()
    }

    /// A coordinator that waits for members to be at hard, where collections begin long before.
    fn never_fires(&self) -> Option<String> {
        let keys = self.policy_keys();
        keys.iter().find(|key| key.path == "array.coordination.fire_at" && key.value == "hard")?;
        let early = self.array.members.iter().find(|member| member.capable && member.begins_at_soft())?;
        let begins = match early.ssd.gc.begins_at {
            BeginsAt::Soft => "ssd.gc.begins_at = \"soft\"".to_owned(),
            BeginsAt::Schedule => format!("ssd.gc.schedule = \"{}\"", early.ssd.gc.schedule.policy),
        };
        Some(format!(
            "hint: {} fires when a member reaches its hard threshold. Under {begins} members start to collect at soft and \
             hardly ever reach hard. Set array.coordination.fire_at = \"soft\" to coordinate them",
            self.array.coordination.policy
        ))
    }

    /// Free blocks that never rise above the level at which collection begins. A concurrency policy that limits knows its
    /// own end, or on purpose none.
    fn collects_for_ever(&self, member: &MemberConfig) -> Option<String> {
        let unlimited = member.ssd.gc.concurrency.policy == "unlimited";
        let shape = member.ssd.resolve().ok().filter(|_| unlimited && member.begins_at_soft())?;
        let data = f64::from(shape.blocks_per_unit - shape.reserved_blocks) * self.precondition.fill;
        // One block is always open.
        let most_free = shape.blocks_per_unit - data.ceil() as u32 - 1;
        (shape.soft >= most_free).then(|| {
            let advice = match most_free.saturating_sub(1) {
                works if works > shape.hard => format!("at most {works} lets it end"),
                _ => "no more is left above hard: a larger ssd.ftl.reserved_blocks lets it end".to_owned(),
            };
            format!(
                "hint: with ssd.gc.soft_threshold = {} blocks, ssd.gc.schedule = \"{}\" never stops collecting, because data leaves \
                 at most {most_free} blocks of an allocation unit free; {advice}",
                shape.soft, member.ssd.gc.schedule.policy
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(keys: &str) -> Vec<String> {
        let text = format!("workload.preset = \"hpc-w\"\nssd.preset = \"tiny-test\"\n{keys}");
        Scenario::parse(&text, "test", &[], None).expect("can be run").hints()
    }

    #[test]
    fn a_reactive_policy_that_waits_for_hard_is_told_of_soft() {
        let preemptive =
            "ssd.gc.schedule = \"preemptive\"\narray.coordination.policy = \"reactive-selective\"\n";
        let found = hints(preemptive);
        assert!(found.len() == 1 && found[0].contains("array.coordination.fire_at = \"soft\""), "{found:?}");
        let found = hints("ssd.gc.schedule = \"slack\"\narray.coordination.policy = \"reactive-inclusive\"");
        assert!(found.len() == 1 && found[0].contains("\"slack\""), "{found:?}");
        assert_eq!(hints(&format!("{preemptive}array.coordination.fire_at = \"soft\"")), [""; 0]);
        assert_eq!(hints("array.coordination.policy = \"reactive-selective\""), [""; 0], "blocking");
        assert_eq!(hints("ssd.gc.schedule = \"preemptive\""), [""; 0], "local");
    }

    #[test]
    fn a_soft_threshold_that_is_never_left_is_told_the_largest_that_is() {
        let at = |soft: u32, more: &str| {
            hints(&format!("ssd.gc.schedule = \"preemptive\"\nssd.gc.soft_threshold = {soft}\n{more}"))
        };
        let shape =
            Scenario::parse("workload.preset = \"hpc-w\"\nssd.preset = \"tiny-test\"", "test", &[], None)
                .expect("can be run")
                .array
                .members[0]
                .ssd
                .resolve()
                .expect("can work");
        let largest = shape.reserved_blocks - 2;
        assert_eq!(at(largest, ""), [""; 0]);
        let found = at(largest + 1, "");
        assert!(
            found.len() == 1 && found[0].contains(&format!("at most {largest} lets it end")),
            "{found:?}"
        );
        assert_eq!(at(largest + 1, "precondition.fill = 0.5"), [""; 0], "half of the blocks are free");
        let limited = "ssd.gc.concurrency.policy = \"conv-0-allch\"";
        assert_eq!(at(largest + 1, limited), [""; 0], "collects for ever on purpose");
        let blocking = format!("ssd.gc.soft_threshold = {}", largest + 1);
        assert_eq!(hints(&blocking), [""; 0], "soft is no more than a word to the coordinator");
    }
}
