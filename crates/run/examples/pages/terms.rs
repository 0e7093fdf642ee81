//! Links from a generated page to the glossary: the first use of each term.

/// What a page may say, and the glossary's anchor for it. A longer term comes before one that it holds.
const TERMS: &[(&str, &str)] = &[
    ("allocation unit", "allocation-unit"),
    ("capable member", "capable-member"),
    ("deadline", "deadline"),
    ("event", "gc-event"),
    ("hard threshold", "hard-threshold"),
    ("member", "member"),
    ("multi-plane command", "multi-plane-command"),
    ("open block", "open-block"),
    ("over-provisioning", "over-provisioning"),
    ("registered", "registered"),
    ("soft threshold", "soft-threshold"),
    ("stripe unit", "stripe-unit"),
    ("token", "token"),
    ("unit", "allocation-unit"),
    ("utilisation", "utilisation"),
    ("valid page", "valid-page"),
    ("victim", "victim"),
];

/// The text with links to the glossary, which lies at `glossary` as seen from the page. Code stays as it is.
pub fn linked(text: &str, glossary: &str) -> String {
    let mut waiting = TERMS.to_vec();
    // Where a page is about stripes, their units are meant.
    waiting.retain(|(term, _)| *term != "unit" || !text.contains("stripe unit"));
    let mut in_code = false;
    let mut page = String::new();
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let mut line = line.to_owned();
        if !in_code {
            waiting.retain(|(term, anchor)| {
                let Some(at) = place(&line, term) else { return true };
                let end = at + term.len() + usize::from(line[at + term.len()..].starts_with('s'));
                let link = format!("[{}]({glossary}#{anchor})", &line[at..end]);
                line.replace_range(at..end, &link);
                false
            });
        }
        page.push_str(&line);
        page.push('\n');
    }
    page
}

/// Where a line uses a term as a word of its own, or in the plural, outside code and links.
fn place(line: &str, term: &str) -> Option<usize> {
    let is_free = |at: usize| {
        let (before, after) = (&line[..at], &line[at + term.len()..]);
        let after = after.strip_prefix('s').unwrap_or(after);
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "-_`\"".contains(c));
        let count = |c: char| before.matches(c).count();
        let in_target = before.rfind("](").is_some_and(|start| !before[start..].contains(')'));
        !joins(before.chars().next_back())
            && !joins(after.chars().next())
            && count('`') % 2 == 0
            && count('[') == count(']')
            && !in_target
    };
    line.match_indices(term).map(|(at, _)| at).find(|&at| is_free(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_is_linked_and_no_other() {
        let text = "A victim, two victims.\nThe victim again.\n";
        assert_eq!(linked(text, "g.md"), "A [victim](g.md#victim), two victims.\nThe victim again.\n");
    }

    #[test]
    fn a_plural_is_linked_and_a_longer_word_is_not() {
        assert_eq!(
            linked("Units: eventual unit-wise events", "g.md"),
            "Units: eventual unit-wise [events](g.md#gc-event)\n"
        );
    }

    #[test]
    fn code_and_links_stay_as_they_are() {
        for text in [
            "`a victim b` is code",
            "[a victim](victim.md) is a link",
            "detect = \"event\"",
            "```text\nvictim\n```",
        ] {
            assert_eq!(linked(text, "g.md"), format!("{text}\n"));
        }
    }

    #[test]
    fn a_term_within_another_is_not_linked_twice() {
        let expected = "An [allocation unit](g.md#allocation-unit) or [unit](g.md#allocation-unit).\n";
        assert_eq!(linked("An allocation unit or unit.", "g.md"), expected);
        let of_stripes = linked("A unit, a stripe unit.", "g.md");
        assert_eq!(of_stripes, "A unit, a [stripe unit](g.md#stripe-unit).\n");
    }

    #[test]
    fn the_glossary_has_every_term() {
        let glossary =
            std::fs::read_to_string(super::super::root().join("docs/glossary.md")).expect("a page");
        let headings = glossary.lines().filter_map(|line| line.strip_prefix("### "));
        let anchors: Vec<_> = headings.map(|heading| heading.to_lowercase().replace(' ', "-")).collect();
        for (term, anchor) in TERMS {
            assert!(anchors.iter().any(|known| known == anchor), "{term}");
        }
    }
}
