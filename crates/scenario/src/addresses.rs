//! Runs that are compared should serve the same requests, also where one array holds less than another.

use harmonia_array::ArrayConfig;
use harmonia_types::{Bytes, units};

use crate::{Scenario, Variant};

/// Has the requests of all variants go to the same addresses, those of the smallest array, and says so; `None` if all
/// arrays hold the same. What a scenario says itself ([`Scenario::space`]) stays.
///
/// Only arrays of members of one size are brought together. Where members differ in size, as in a sweep over spare, a
/// part of the larger ones would lie idle, which is spare as well.
pub fn share_addresses(variants: &mut [Variant]) -> Option<String> {
    let mut notices = Vec::new();
    let mut sizes: Vec<Bytes> =
        variants.iter().map(|variant| member_bytes(&variant.scenario.array)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let alike = variants.iter_mut().map(|variant| &mut variant.scenario);
        let alike =
            alike.filter(|scenario| scenario.space.is_none() && member_bytes(&scenario.array) == size);
        notices.extend(limit_to_smallest(alike.collect()));
    }
    (!notices.is_empty()).then(|| notices.join("; "))
}

fn limit_to_smallest(scenarios: Vec<&mut Scenario>) -> Option<String> {
    let holds = |scenario: &Scenario| scenario.array.layout().logical_bytes();
    let smallest = scenarios.iter().map(|scenario| holds(scenario)).min()?;
    let largest = scenarios.iter().map(|scenario| holds(scenario)).max()?;
    if smallest == largest {
        return None;
    }
    // The smallest says so, too: its report then stands for itself, and its load is the others' to the letter.
    scenarios.into_iter().for_each(|scenario| scenario.space = Some(smallest));
    let shown = units::format_bytes;
    Some(format!(
        "the arrays hold {} to {}; the requests of all runs go to the first {}, so that they are the same",
        shown(smallest),
        shown(largest),
        shown(smallest)
    ))
}

/// What the smallest member could hold, whatever the level takes of it.
fn member_bytes(array: &ArrayConfig) -> Bytes {
    let pages = array.members.iter().filter_map(|member| member.ssd.resolve().ok());
    pages.map(|shape| u64::from(shape.capacity_pages) * u64::from(shape.page_size)).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(keys: &[&str]) -> Vec<Variant> {
        let text =
            "workload.preset = \"hpc-w\"\nworkload.size.mean = \"16KiB\"\nssd.preset = \"tiny-test\"\n";
        let scenario = |keys: &&str| Scenario::parse(&format!("{text}{keys}"), "test", &[], None);
        let variant = |scenario| Variant { label: String::new(), scenario };
        keys.iter().map(|keys| variant(scenario(keys).unwrap_or_else(|error| panic!("{error}")))).collect()
    }

    fn spaces(variants: &[Variant]) -> Vec<Option<Bytes>> {
        variants.iter().map(|variant| variant.scenario.space).collect()
    }

    #[test]
    fn all_levels_address_what_the_smallest_holds() {
        let mut levels = variants(&["", "array.level = \"raid5\"", "array.level = \"raid10\""]);
        let smallest = levels[2].scenario.array.layout().logical_bytes();
        let notice = share_addresses(&mut levels).expect("they differ");
        assert!(notice.contains(&units::format_bytes(smallest)), "{notice}");
        assert_eq!(spaces(&levels), [Some(smallest); 3]);
        assert_eq!(share_addresses(&mut levels), None, "they are alike now");
        let again = Scenario::parse(&levels[1].scenario.to_toml(), "again", &[], None).expect("can be read");
        assert_eq!(again.space, Some(smallest));
    }

    /// They have more page numbers than others, and hold as much.
    #[test]
    fn thin_members_are_as_large_as_others() {
        let array = "array.level = \"raid5\"\narray.stripe_unit = \"4KiB\"";
        let floats = format!("{array}\narray.coordination.policy = \"gaftl\"");
        let mut policies = variants(&[array, &floats]);
        let [rows, floating] = [0, 1].map(|at| policies[at].scenario.array.layout().logical_bytes());
        assert!(floating < rows && policies[1].scenario.array.thin().is_some());
        assert!(share_addresses(&mut policies).is_some());
        assert_eq!(spaces(&policies), [Some(floating); 2]);
    }

    #[test]
    fn equal_arrays_and_unlike_members_stay_as_they_are() {
        let mut equal = variants(&["", "array.coordination.policy = \"gclock\""]);
        assert_eq!((share_addresses(&mut equal), spaces(&equal)), (None, vec![None, None]));
        let mut spare = variants(&["", "ssd.ftl.reserved_blocks = \"40%\""]);
        assert_eq!((share_addresses(&mut spare), spaces(&spare)), (None, vec![None, None]));
        let mut written = variants(&["", "workload.space = \"64KiB\"\narray.level = \"raid5\""]);
        assert_eq!(share_addresses(&mut written), None);
    }
}
