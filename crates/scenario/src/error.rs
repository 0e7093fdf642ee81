//! Bad input: one message with the place, the key, the value, and what is allowed.
//!
//! Readers raise a [`Fault`], which knows a place in the tree but no text; whoever holds the text turns it into a
//! [`BadInput`], once, at the edge of the crate.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use harmonia_types::text::is_invisible;

use crate::tree::Place;

/// What a person wrote cannot be used. [`Display`](fmt::Display) gives the whole message, without colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadInput {
    key: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    problem: String,
    rendered: String,
    /// Problem and advice without the flag that the value came from. Boxed, because errors are returned by value.
    bare: Box<(String, String)>,
}

impl BadInput {
    /// The key at fault, from the scenario's root, such as `ssd.gc.victim`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Line in the scenario file, counted from 1; `None` if the file is not at fault.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Column in the scenario file, in characters counted from 1.
    pub fn column(&self) -> Option<usize> {
        self.column
    }

    /// The first line of the message, without place and advice.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// What is wrong and what is allowed, without the place.
    pub(crate) fn bare(&self) -> (&str, &str) {
        (&self.bare.0, &self.bare.1)
    }

    /// A message that concerns no place in a scenario file.
    pub fn plain(problem: impl Into<String>, allowed: &str) -> Self {
        let problem = problem.into();
        let title = Level::ERROR.primary_title(problem.as_str());
        let group = match allowed {
            "" => Group::with_title(title),
            allowed => title.element(Level::HELP.message(allowed)),
        };
        let rendered = Renderer::plain().render(&[group]);
        let bare = Box::new((problem.clone(), allowed.to_owned()));
        BadInput { key: None, line: None, column: None, problem, rendered, bare }
    }

    /// A message that concerns the bytes `span` of a text that is no scenario, such as a file that names one. `origin`
    /// is what the text is called.
    pub fn at(
        origin: &str,
        text: &str,
        span: Range<usize>,
        key: &str,
        problem: impl Into<String>,
        allowed: &str,
    ) -> Self {
        let key = (!key.is_empty()).then(|| key.to_owned());
        marked(origin, text, span, key, problem.into(), allowed.to_owned())
    }

    /// The same message at the place in another text that the value came from.
    #[must_use]
    pub fn moved_to(&self, origin: &str, text: &str, span: Range<usize>) -> Self {
        let (problem, allowed) = (*self.bare).clone();
        marked(origin, text, span, self.key.clone(), problem, allowed)
    }
}

/// A message with the line that it is about.
fn marked(
    origin: &str,
    text: &str,
    span: Range<usize>,
    key: Option<String>,
    problem: String,
    allowed: String,
) -> BadInput {
    let at = locate(text, span);
    let annotation = AnnotationKind::Primary.span(at.span.clone());
    let snippet = Snippet::source(at.shown.as_str()).line_start(at.line).path(origin).annotation(annotation);
    let title = Level::ERROR.primary_title(problem.as_str());
    let group = title.element(snippet).element(Level::HELP.message(allowed.as_str()));
    let rendered = Renderer::plain().render(&[group]);
    let (line, column, bare) = (Some(at.line), Some(at.column), Box::new((problem.clone(), allowed)));
    BadInput { key, line, column, problem, rendered, bare }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for BadInput {}

/// A value that cannot be used, before the text it stands in is known.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub place: Place,
    pub key: String,
    /// The value as written.
    pub value: Option<String>,
    pub problem: String,
    /// What is allowed, and why where that is not plain.
    pub allowed: String,
}

/// What readers return. Boxed: the good case is the common one.
pub(crate) type Parsed<T> = Result<T, Box<Fault>>;

/// The text a tree was read from, and the flags that changed it.
pub(crate) struct Written<'a> {
    /// File name, or what stands for it.
    pub origin: &'a str,
    pub text: &'a str,
    /// `--set` flags, in order.
    pub sets: &'a [String],
}

impl Written<'_> {
    pub fn report(&self, fault: &Fault) -> BadInput {
        let value = fault.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
        let problem = match fault.key.as_str() {
            "" => fault.problem.clone(),
            key => format!("`{}`{value}: {}", printable(key, 120), fault.problem),
        };
        let key = (!fault.key.is_empty()).then(|| fault.key.clone());
        let allowed = format!("allowed: {}", fault.allowed);
        let flag = match fault.place {
            Place::Set(index) => {
                Some(format!("--set {}", printable(self.sets.get(index).map_or("", |set| set), 200)))
            }
            Place::Trace => Some("--trace".to_owned()),
            Place::Flag(flag) => Some(flag.to_owned()),
            Place::File(..) | Place::Nowhere => None,
        };
        if let Some(flag) = flag {
            let plain = BadInput::plain(format!("{flag}: {problem}"), &allowed);
            return BadInput { key, bare: Box::new((problem, allowed)), ..plain };
        }
        if let Place::File(start, end) = fault.place {
            return marked(self.origin, self.text, start as usize..end as usize, key, problem, allowed);
        }
        let title = Level::ERROR.primary_title(problem.as_str());
        let help = Level::HELP.message(allowed.as_str());
        let rendered = Renderer::plain().render(&[title.element(Origin::path(self.origin)).element(help)]);
        BadInput {
            key,
            line: None,
            column: None,
            problem: problem.clone(),
            rendered,
            bare: Box::new((problem, allowed)),
        }
    }
}

/// One line of the text with the faulty part marked.
struct Located {
    line: usize,
    column: usize,
    shown: String,
    span: Range<usize>,
}

/// Finds the line in which `span` starts. Total: any span of any text gives a valid place.
fn locate(text: &str, span: Range<usize>) -> Located {
    let start = boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let end = boundary(text, span.end.clamp(start, line_end));
    let line = text[..line_start].matches('\n').count() + 1;
    let column = text[line_start..start].chars().count() + 1;
    // A line nobody can read is cut behind the fault.
    let shown_end = boundary(text, (end + 120).min(line_end));
    let shown = text[line_start..shown_end].trim_end_matches('\r');
    let limit = shown.len();
    let span = (start - line_start).min(limit)..(end - line_start).min(limit);
    Located { line, column, shown: shown.to_owned(), span }
}

/// The first place at or behind `at` where `text` can be cut.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// Whether a character does not belong on one line that somebody reads.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// `text` on one line, what is hidden escaped, at most about `most` characters.
pub fn printable(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            out.push_str("...");
            break;
        }
        if is_hidden(c) { out.extend(c.escape_debug()) } else { out.push(c) }
    }
    out
}

/// The known name nearest to `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A misspelling of more than this many characters is not one.
    if name.len() > 64 {
        return None;
    }
    let distance = |known: &str| strsim::osa_distance(&name.to_lowercase(), known);
    let best =
        known.into_iter().map(|known| (distance(known), known)).min_by_key(|&(distance, _)| distance)?;
    (best.0 <= 1 + best.1.len().max(name.len()) / 3).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_span_of_any_text_has_a_place() {
        let text = "a = 1\r\nüü = \"é\"\n\n";
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let at = locate(text, start..end);
                assert!(at.shown.get(at.span.clone()).is_some(), "{start}..{end}");
            }
        }
        assert_eq!((locate(text, 7..11).line, locate(text, 14..18).column), (2, 6));
    }

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["greedy", "fifo", "random"];
        assert_eq!(nearest("gredy", known), Some("greedy"));
        assert_eq!(nearest("Greedy", known), Some("greedy"));
        assert_eq!(nearest("least-recently-used", known), None);
    }
}
