//! What makes a piece of text stand out on a terminal.

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
    /// `text` with the codes for `emphasis`, or as it is.
    pub fn paint(self, emphasis: Emphasis, text: &str) -> String {
        let code = match emphasis {
            Emphasis::Bold => "1",
            Emphasis::Good => "1;32",
            Emphasis::Warning => "1;33",
            Emphasis::Error => "1;31",
        };
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
