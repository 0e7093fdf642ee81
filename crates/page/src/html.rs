//! Text that cannot be taken for markup, in HTML and inside its scripts.

/// For text and attribute values.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            control if control.is_control() => {}
            other => safe.push(other),
        }
    }
    safe
}

/// Text in which [`named`] names stand out.
pub(super) fn emphasised(text: &str) -> String {
    let marked = text.split(NAME_BEGIN).map(|piece| match piece.split_once(NAME_END) {
        Some((name, rest)) => format!("<b>{}</b>{}", escaped(name), escaped(rest)),
        None => escaped(piece),
    });
    marked.collect()
}

/// Control characters, which [`escaped`] leaves out, so that no name can pretend to be marked.
const NAME_BEGIN: char = '\u{2}';
const NAME_END: char = '\u{3}';

/// A name marked as one; [`emphasised`] shows the mark, [`escaped`] forgets it.
pub(super) fn named(name: &str) -> String {
    let clean: String = name.chars().filter(|character| !character.is_control()).collect();
    format!("{NAME_BEGIN}{clean}{NAME_END}")
}

/// Text with places where a long key may be broken.
pub(super) fn breakable(text: &str) -> String {
    escaped(text).replace('=', "=<wbr>").replace('.', ".<wbr>")
}

/// A longer value, such as the path of a trace, may be broken.
const PART_MAX: usize = 28;

/// A run's name whose parts, values of axes, are broken only between one another.
pub(super) fn in_parts(text: &str) -> String {
    let part = |part: &str| match part.chars().count() {
        0..=PART_MAX => format!("<span class=\"part\">{}</span>", escaped(part)),
        _ => breakable(part),
    };
    text.split(" + ").map(part).collect::<Vec<_>>().join(" + ")
}

/// JSON that no HTML parser takes for the end of its script, or for a comment: every `<`, `>` and `&` is written as an
/// escape, which JSON allows wherever they can occur, inside strings.
pub(super) fn json(value: &serde_json::Value) -> String {
    let mut safe = String::new();
    for character in value.to_string().chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<b a='\"'>&\u{7}"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
    }

    #[test]
    fn names_stand_out_and_cannot_pretend_to() {
        let text = format!("{} wins", named("a<b>\u{3}\u{2}"));
        assert_eq!(
            (emphasised(&text).as_str(), escaped(&text).as_str()),
            ("<b>a&lt;b&gt;</b> wins", "a&lt;b&gt; wins")
        );
    }

    #[test]
    fn json_never_ends_its_script_and_stays_the_same_value() {
        let value = serde_json::json!({"</script><!--": "<script>&\u{2028}"});
        let text = json(&value);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
