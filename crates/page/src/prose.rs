//! Sentences as HTML.

use super::html::emphasised;

/// As many cautions are seen at once.
const CAUTIONS_OPEN: usize = 2;

/// The first cautions, and the others folded under their number.
pub(super) fn cautions(cautions: &[String]) -> String {
    let list = |cautions: &[String]| {
        let items: String = cautions.iter().map(|text| format!("<li>{}</li>\n", caution(text))).collect();
        format!("<ul>\n{items}</ul>\n")
    };
    let (open, folded) = cautions.split_at(cautions.len().min(CAUTIONS_OPEN));
    let folded = match folded.len() {
        0 => String::new(),
        1 => format!("<details><summary>1 more caution</summary>\n{}</details>\n", list(folded)),
        more => format!("<details><summary>{more} more cautions</summary>\n{}</details>\n", list(folded)),
    };
    match open {
        [] => String::new(),
        open => format!("<aside class=\"caution\" aria-label=\"Cautions\">\n{}{folded}</aside>", list(open)),
    }
}

/// Its first sentence stands out.
fn caution(text: &str) -> String {
    match text.split_once(". ") {
        Some((first, rest)) => {
            format!("<strong>{}.</strong> {}", shown(first), shown(rest))
        }
        None => shown(text),
    }
}

/// Sentences as one paragraph, or as a list in which each stands by itself.
pub(super) fn sentences(sentences: &[String], as_list: bool) -> String {
    match sentences {
        [] => String::new(),
        sentences if as_list => {
            let items: String = sentences.iter().map(|text| format!("<li>{}</li>\n", shown(text))).collect();
            format!("<ul>\n{items}</ul>")
        }
        sentences => format!("<p>{}</p>", shown(&sentences.join(" "))),
    }
}

/// Text with its names and with options such as `--seeds 5` in one piece.
fn shown(text: &str) -> String {
    let text = emphasised(text);
    let mut pieces = text.split(" --");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_option = |character: char| character.is_ascii_alphanumeric() || " -=".contains(character);
        let end = piece.find(|character| !is_option(character)).unwrap_or(piece.len());
        // An option and its value are two words.
        let end = piece[..end].match_indices(' ').nth(1).map_or(end, |(at, _)| at);
        let (option, rest) = piece.split_at(end);
        whole.push_str(&format!(" <code>--{option}</code>{rest}"));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_and_its_value_stay_together() {
        assert_eq!(shown("Use --seeds 5 to <see>."), "Use <code>--seeds 5</code> to &lt;see&gt;.");
        assert_eq!(shown("Run it with --seeds 5."), "Run it with <code>--seeds 5</code>.");
        assert_eq!(shown("no option"), "no option");
    }

    #[test]
    fn more_than_two_cautions_are_folded_and_counted() {
        let all: Vec<String> = ["One. More.", "Two.", "Three.", "Four."].map(str::to_owned).to_vec();
        let text = cautions(&all);
        assert!(text.contains("<li><strong>One.</strong> More.</li>"), "{text}");
        assert!(text.contains("<summary>2 more cautions</summary>\n<ul>\n<li>Three.</li>"), "{text}");
        assert!(cautions(&all[..3]).contains("<summary>1 more caution</summary>"));
        assert!(!cautions(&all[..2]).contains("<summary>") && cautions(&[]).is_empty());
    }
}
