//! The `harmonia` command: everything is in the library, so that a Python wheel can call it too.

fn main() -> std::process::ExitCode {
    harmonia_cli::run_cli(std::env::args_os()).into()
}
