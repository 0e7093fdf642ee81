//! Why a command ends without having done what was asked, and with which exit status.

use std::io;

use harmonia_run::RunError;
use harmonia_scenario::BadInput;

use crate::interrupt;

/// The end of a command that could not be carried out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user can mend it: a file, a key, a folder. Exit status 2.
    BadInput(String),
    /// clap has already said what is wrong with the arguments. Exit status 2.
    Usage,
    /// A defect of Harmonia. Exit status 1.
    Internal(String),
    /// Ctrl-C, or another signal that asks to stop. Exit status 130, or 128 and the signal.
    Interrupted,
    /// Whoever read stdout went away: they have what they wanted. Exit status 0, no message.
    ReaderGone,
}

impl Failure {
    /// The exit status that tells a script what happened.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::ReaderGone => 0,
            Failure::Internal(_) => 1,
            Failure::BadInput(_) | Failure::Usage => 2,
            Failure::Interrupted => interrupt::status(),
        }
    }

    /// What to tell the user, if there is anything to tell.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Failure::BadInput(text) => Some(text.clone()),
            Failure::Internal(text) => Some(format!(
                "internal error: {text}\nThis is a defect of Harmonia, not of your input; please report it with the scenario."
            )),
            Failure::Interrupted => Some("interrupted".to_owned()),
            Failure::Usage | Failure::ReaderGone => None,
        }
    }

    /// A failed write to stdout.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::BadInput(format!("cannot write to standard output: {error}")),
        }
    }
}

impl From<BadInput> for Failure {
    fn from(bad: BadInput) -> Self {
        Failure::BadInput(bad.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::BadInput(bad) => bad.into(),
            RunError::Cancelled => Failure::Interrupted,
            RunError::Internal(text) => Failure::Internal(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_is_no_failure_and_a_full_disk_is() {
        let gone = Failure::stdout(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.status(), gone.message()), (0, None));
        let full = Failure::stdout(&io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.status(), 2);
        assert!(full.message().expect("said").starts_with("cannot write to standard output: "));
    }

    #[test]
    fn what_ended_a_run_decides_the_exit_status() {
        assert_eq!(Failure::from(RunError::Cancelled).status(), 130);
        assert_eq!(Failure::from(RunError::Internal("lost a page".to_owned())).status(), 1);
    }
}
