//! Whose garbage collection requests waited for, said only where it is uneven: members of other ages or models, a skewed
//! load, a member that is spared or burdened by a policy.

use harmonia_metrics::Report;

use crate::label;
use crate::numbers::percent;

/// A member stands out if requests waited for it so many times as often as they would if all were alike.
const STANDS_OUT: f64 = 1.5;
/// With fewer requests a member that waited, chance is enough: requests that wait for one collection come together.
const WAITED_FEW: u64 = 100;
/// More members than this are no exception worth naming.
const NAMED_MOST: usize = 4;

/// Who stands out in a run, and by how much; `None` where nobody does.
pub(crate) fn sentence(run: &Report) -> Option<String> {
    let members = run.devices.iter().take(run.members());
    let waited: Vec<u64> = members.map(|device| device.gc_waits.requests).collect();
    let members = standing_out(&waited);
    let named = (1..=NAMED_MOST).contains(&members.len());
    named.then(|| {
        let all: u64 = waited.iter().sum();
        let theirs: u64 = members.iter().map(|&member| waited[member]).sum();
        let even = members.len() as f64 / waited.len() as f64;
        format!(
            "Under {}, {} of the requests that waited for garbage collection waited longest for {}; an even share \
             would be {}.\n",
            label(run),
            percent(theirs as f64 / all as f64),
            named_members(&members),
            percent(even)
        )
    })
}

/// Members that far more requests waited for than for others.
fn standing_out(waited: &[u64]) -> Vec<usize> {
    let all: u64 = waited.iter().sum();
    if all < WAITED_FEW * waited.len() as u64 {
        return Vec::new();
    }
    let even = all as f64 / waited.len() as f64;
    (0..waited.len()).filter(|&member| waited[member] as f64 > even * STANDS_OUT).collect()
}

/// "member 3", "members 3, 5 and 7".
fn named_members(members: &[usize]) -> String {
    let names: Vec<String> = members.iter().map(usize::to_string).collect();
    match names.split_last() {
        Some((last, [])) => format!("member {last}"),
        Some((last, others)) => format!("members {} and {last}", others.join(", ")),
        None => "no member".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::run;

    fn waited(requests: [u64; 4]) -> Option<String> {
        let mut run = run("local", "blocking", 40_000, 12_000, &[1.0, 0.0]);
        for (device, requests) in run.devices.iter_mut().zip(requests) {
            device.gc_waits.requests = requests;
        }
        sentence(&run)
    }

    #[test]
    fn who_stands_out_is_named() {
        let text = waited([100, 600, 100, 200]).expect("uneven");
        let expected = "Under local, 60.0% of the requests that waited for garbage collection waited longest for \
                        member 1; an even share would be 25.0%.\n";
        assert_eq!(text, expected);
        let text = waited([400, 100, 100, 400]).expect("uneven");
        assert!(
            text.contains("80.0%") && text.contains("members 0 and 3; an even share would be 50.0%"),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_said_up_to_one_and_a_half_times_an_even_share_or_of_few_requests() {
        assert_eq!(waited([375, 225, 200, 200]), None);
        assert!(waited([376, 224, 200, 200]).is_some());
        assert_eq!(waited([399, 0, 0, 0]), None);
        assert!(waited([400, 0, 0, 0]).is_some());
        assert_eq!(waited([0; 4]), None);
    }
}
