//! The colours of all pictures: those of Okabe and Ito, which people who see few colours tell apart, and a grey.
//!
//! Style sheets name them as `@vermilion` and so on, so that a colour stands here and nowhere else.

/// Strong orange: the baseline, what was measured, what collects.
pub const VERMILION: &str = "#D55E00";
/// Strong blue.
pub const BLUE: &str = "#0072B2";
/// Bluish green.
pub const GREEN: &str = "#009E73";
/// Reddish purple.
pub const PINK: &str = "#CC79A7";
/// Light orange.
pub const AMBER: &str = "#E69F00";
/// Light blue.
pub const SKY: &str = "#56B4E9";
/// What is not at issue.
pub const GREY: &str = "#8A8A8A";

/// What a style sheet may name.
const NAMES: [(&str, &str); 5] =
    [("@vermilion", VERMILION), ("@blue", BLUE), ("@green", GREEN), ("@pink", PINK), ("@sky", SKY)];

/// A style sheet with its colours.
pub(crate) fn coloured(css: &str) -> String {
    NAMES.iter().fold(css.to_owned(), |css, (name, color)| css.replace(name, &color.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_sheet_gets_its_colours() {
        assert_eq!(coloured(".a{fill:@sky}.b{fill:@blue}"), ".a{fill:#56b4e9}.b{fill:#0072b2}");
    }
}
