//! What makes a piece of text stand out on a terminal.

use harmonia_types::text::visible;

/// Emphasis of a piece of text; plain text where colour is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// Headings.
    Bold,
    /// The best of its column.
    Good,
    /// Something to look at twice.
    Warning,
    /// An error.
    Error,
}

/// Whether to emit colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub bool);

impl Color {
    /// `text` with the codes for `emphasis`, or as it is. It has no codes of its own: what looks like one is written out.
    pub fn paint(self, emphasis: Emphasis, text: &str) -> String {
        let code = match emphasis {
            Emphasis::Bold => "1",
            Emphasis::Good => "1;32",
            Emphasis::Warning => "1;33",
            Emphasis::Error => "1;31",
        };
        let text = visible(text);
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into_owned() }
    }
}
