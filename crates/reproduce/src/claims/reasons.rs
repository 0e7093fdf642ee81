//! Why claims are missed under the frozen configurations: which sentence of a paper is silent or contradicted, and which run
//! shows it. `@` names a reading of `experiments/readings/`.
//!
//! The only sentences on the page of findings that are not computed from results; a test asserts that every missed claim of
//! the papers that have readings has one, and that none is kept for a claim that is met. Leaves out: SOSP 2021 and IEEE Access 2019,
//! whose sections say it beside each claim.

/// One reason and the claims that are missed for it.
#[derive(Debug, Clone)]
pub struct Reason {
    /// Claims.
    pub claims: Vec<&'static str>,
    /// The sentence or the silence, and the run.
    pub text: String,
}

/// All reasons, in the order of the claims: items of a list, the claims in the first lines and the text behind a colon.
pub fn reasons() -> Vec<Reason> {
    let reason = |item: &'static str| {
        let (claims, text) = item.split_once("`:\n").expect("reasons: claims, then a text");
        let claims = claims.split('`').map(str::trim).filter(|id| !id.is_empty()).collect();
        let text = text.split("\n\n").next().unwrap_or_default();
        Reason { claims, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    };
    include_str!("reasons.md").split("\n- ").skip(1).map(reason).collect()
}

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
        for reason in reasons() {
            for id in reason.claims {
                assert!(known.contains(&id), "no claim {id}");
                assert!(seen.insert(id), "{id} has two reasons");
            }
            for named in reason.text.split("`@").skip(1) {
                let name = named.split('`').next().unwrap_or_default();
                assert!(readings.iter().any(|reading| reading.id == name), "no reading {name}");
            }
        }
    }
}
