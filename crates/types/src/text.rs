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

/// The text with what is invisible written out as `\u001b`, which JSON and TOML read as the character again.
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, is_invisible, |_| None)
}

/// As [`visible`], on one line: line feeds and tabs are written out too. For names among other text.
pub fn one_line(text: &str) -> Cow<'_, str> {
    written_out(text, |character| matches!(character, '\n' | '\t') || is_invisible(character), |_| None)
}

/// As [`visible`], but codes of colour (`ESC [ 1;31 m`) stay. Those that hide what they colour do not.
pub fn painted(text: &str) -> Cow<'_, str> {
    written_out(text, is_invisible, code_of_colour)
}

/// `kept` says how many bytes of what is left stay as they are.
fn written_out(text: &str, hides: fn(char) -> bool, kept: fn(&str) -> Option<usize>) -> Cow<'_, str> {
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = kept(rest).unwrap_or(0);
        if length > 0 || !hides(character) {
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

/// Emphasis and colours of text (ECMA-48, 8.3.117) that can be read, whatever the terminal's background.
const READABLE: [u8; 20] = [0, 1, 3, 4, 22, 23, 24, 31, 32, 33, 34, 35, 36, 39, 91, 92, 93, 94, 95, 96];

/// The length of a code of colour that the text begins with.
fn code_of_colour(text: &str) -> Option<usize> {
    let (numbers, _) = text.strip_prefix("\x1b[")?.split_once('m')?;
    let is_readable =
        |number: &str| number.is_empty() || number.parse().is_ok_and(|number: u8| READABLE.contains(&number));
    numbers.split(';').all(is_readable).then_some(numbers.len() + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_is_written_out_and_nothing_else() {
        assert!(matches!(visible("name µ 日本\t1\n"), Cow::Borrowed(_)));
        assert_eq!(visible("a\x1b]0;x\x07b"), "a\\u001b]0;x\\u0007b");
        assert_eq!(visible("a\u{202e}b\u{200b}"), "a\\u202eb\\u200b");
        assert_eq!(visible("\x1b[1mx"), "\\u001b[1mx");
        assert_eq!(visible("\u{e0041}"), "\\udb40\\udc41");
    }

    #[test]
    fn colours_stay_where_they_are_wanted_and_hide_nothing() {
        assert_eq!(painted("\x1b[1;31merror:\x1b[0m \x1b[2J"), "\x1b[1;31merror:\x1b[0m \\u001b[2J");
        for hiding in ["\x1b[8m", "\x1b[1;8m", "\x1b[30;40m", "\x1b[7m", "\x1b[38;5;0m", "\x1b[999m"] {
            assert_eq!(painted(hiding), hiding.replace('\x1b', "\\u001b"));
        }
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(one_line("a\nb\tc\x1b[1m"), "a\\u000ab\\u0009c\\u001b[1m");
        assert_eq!(visible("a\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn json_reads_the_same_text_again() {
        let name = "a\u{202e}b\x7f\u{e0041}";
        let json = serde_json::to_string(name).unwrap();
        assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), name);
    }
}
