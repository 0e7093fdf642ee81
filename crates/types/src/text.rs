//! What may be shown as it is: names of files, volumes and runs come from anywhere.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character moves the cursor, turns text around or cannot be seen, so that whoever reads it sees something else than
/// there is. Line feeds and tabs are text.
pub fn is_invisible(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Soft hyphens, zero-width characters, and marks of direction.
        '\u{ad}' | '\u{61c}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control(),
    }
}

/// The text with what is invisible written out as `\u001b`, which JSON and TOML read as the character again. Codes of colour
/// (`ESC [ 1;31 m`) stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = code_of_colour(rest).unwrap_or(0);
        if length > 0 || !is_invisible(character) {
            let (text, behind) = rest.split_at(length.max(character.len_utf8()));
            shown.push_str(text);
            rest = behind;
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(shown, "\\u{unit:04x}").expect("text grows");
        }
        rest = &rest[character.len_utf8()..];
    }
    Cow::Owned(shown)
}

/// The length of a code of colour that the text begins with.
fn code_of_colour(text: &str) -> Option<usize> {
    let code = text.strip_prefix("\x1b[")?;
    let numbers = code.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    (code.as_bytes().get(numbers) == Some(&b'm')).then_some(numbers + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_is_written_out_and_nothing_else() {
        assert!(matches!(visible("name µ 日本\t1\n"), Cow::Borrowed(_)));
        assert_eq!(visible("a\x1b]0;x\x07b"), "a\\u001b]0;x\\u0007b");
        assert_eq!(visible("a\u{202e}b\u{200b}"), "a\\u202eb\\u200b");
        assert_eq!(visible("\x1b[1;31merror:\x1b[0m \x1b[2J"), "\x1b[1;31merror:\x1b[0m \\u001b[2J");
        assert_eq!(visible("\u{e0041}"), "\\udb40\\udc41");
    }

    #[test]
    fn json_reads_the_same_text_again() {
        let name = "a\u{202e}b\x7f\u{e0041}";
        let json = serde_json::to_string(name).unwrap();
        assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), name);
    }
}
