//! Where text goes: data to stdout, everything else to stderr, colour only where it is wanted.
//!
//! The only module that writes to stdout. `print!` panics when the reader of a pipe went away, so nothing uses it. What names of
//! files and volumes hold that cannot be seen is written out, so that none of them commands the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use harmonia_tables::{Color, Emphasis, wrapped};
use harmonia_types::text::{painted, visible};

use crate::args::ColorChoice;
use crate::failure::Failure;

/// Columns of a table that goes to a file or pipe.
const PIPE_COLUMNS: usize = 120;
/// No table is squeezed into fewer columns.
const COLUMNS_MIN: usize = 60;

/// Stdout and stderr as the user wants them.
pub(crate) struct Output {
    color: ColorChoice,
    quiet: bool,
    verbose: u8,
}

impl Output {
    /// Output as asked for on the command line.
    pub(crate) fn new(color: ColorChoice, quiet: bool, verbose: u8) -> Self {
        Output { color, quiet, verbose }
    }

    /// Writes `text` to stdout, whole.
    ///
    /// # Errors
    /// [`Failure::ReaderGone`] on a closed pipe; bad input if, say, the disk behind it is full.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(shown(text, self.stdout_color()).as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::stdout(&error))
    }

    /// Writes one line to stderr if the user asked for more than usual.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose > 0 {
            self.error_line(text);
        }
    }

    /// Writes one line to stderr unless the user wants quiet.
    pub(crate) fn notice(&self, text: &str) {
        if !self.quiet {
            match terminal_size::terminal_size_of(io::stderr()) {
                Some((width, _)) if !text.contains('\n') => {
                    self.error_line(wrapped(text, usize::from(width.0).max(COLUMNS_MIN)).trim_end());
                }
                _ => self.error_line(text),
            }
        }
    }

    /// Tells the user why the command ended.
    pub(crate) fn failure(&self, failure: &Failure) {
        let Some(message) = failure.message() else { return };
        let text = match failure {
            Failure::Interrupted => message,
            // The scenario crate shows the place in the file under an "error: ..." line of its own.
            _ if message.starts_with("error") => message,
            _ => format!("{} {message}", self.stderr_color().paint(Emphasis::Error, "error:")),
        };
        self.error_line(text.trim_end());
    }

    /// Shows what clap says: help and version on stdout, complaints on stderr.
    ///
    /// # Errors
    /// [`Failure::Usage`] unless help or the version was asked for.
    pub(crate) fn usage(&self, usage: &clap::Error) -> Result<(), Failure> {
        let color = if usage.use_stderr() { self.stderr_color() } else { self.stdout_color() };
        let styled = usage.render();
        let text = if color.0 { styled.ansi().to_string() } else { styled.to_string() };
        if !usage.use_stderr() {
            return self.data(&text);
        }
        self.error_line(text.trim_end());
        Err(Failure::Usage)
    }

    /// Whether progress bars have someone to look at them.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Colour on stdout.
    pub(crate) fn stdout_color(&self) -> Color {
        self.color(io::stdout().is_terminal())
    }

    fn stderr_color(&self) -> Color {
        self.color(io::stderr().is_terminal())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "NO_COLOR and TERM are the user's wishes about this terminal"
    )]
    fn color(&self, is_terminal: bool) -> Color {
        Color(match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let refused = std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty());
                let dumb = std::env::var("TERM").is_ok_and(|value| value == "dumb");
                is_terminal && !refused && !dumb
            }
        })
    }

    /// Columns a table may take: those of the terminal, or what COLUMNS says of a pipe.
    #[expect(clippy::disallowed_methods, reason = "COLUMNS is the user's wish about this pipe")]
    pub(crate) fn columns(&self) -> usize {
        let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        let wished = || std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        terminal.or_else(wished).map_or(PIPE_COLUMNS, |columns: usize| columns.max(COLUMNS_MIN))
    }

    /// A closed stderr leaves nobody to tell.
    fn error_line(&self, text: &str) {
        let mut line = String::new();
        let _ = writeln!(line, "{}", shown(text, self.stderr_color()));
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }
}

/// What may be written: the only codes of colour are our own, and those only where colour is wanted.
fn shown(text: &str, color: Color) -> Cow<'_, str> {
    if color.0 { painted(text) } else { visible(text) }
}
