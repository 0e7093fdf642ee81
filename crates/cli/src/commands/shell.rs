//! `harmonia completions` and `harmonia man`: what a shell and `man` want to know, made from the definition of the
//! arguments.
//!
//! Rendered in memory first: the generators fail when whoever reads them goes away.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::complete;
use crate::failure::Failure;
use crate::files::ResultFolder;
use crate::output::Output;

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell, output: &Output) -> Result<(), Failure> {
    let script = complete::script(shell).map_err(|error| Failure::Internal(error.to_string()))?;
    output.data(&text(script)?)
}

/// Prints the manual page of the command, or writes that of every subcommand too, into a folder.
pub(crate) fn man(folder: Option<&Path>, output: &Output) -> Result<(), Failure> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = folder else {
        return output.data(&page(&command)?);
    };
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    let files: Vec<(&str, &str)> = pages.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    ResultFolder::open(folder)?.write_all(&files)
}

/// The pages of a command and everything below it: `harmonia-trace-info.1` and so on.
fn collect(command: &clap::Command, pages: &mut Vec<(String, String)>) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((format!("{name}.1"), page(command)?));
    command.get_subcommands().try_for_each(|subcommand| collect(subcommand, pages))
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| Failure::Internal(format!("cannot render the manual: {error}")))?;
    text(page)
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| Failure::Internal(error.to_string()))
}
