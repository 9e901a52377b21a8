//! The `coreos-pins` command: keeps the pin files that the crate `coreos-pins` embeds.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done or nothing to do, 1 the answer
//! is no, 2 usage or a file at fault.

mod bump;
mod folder;
mod write;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use coreos_pins_build::{Error, settings};

/// Keeps the pin files that coreos-pins embeds.
#[derive(Parser)]
#[command(name = "coreos-pins", version, propagate_version = true)]
struct Cli {
    /// The pins folder [default: COREOS_PINS_DIR, or `pins/` here or above]
    #[arg(long, global = true, value_name = "DIR")]
    pins_dir: Option<PathBuf>,

    /// Print facts as JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bump(bump::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(output) => print(&output),
        Err(error) => {
            for (index, line) in error.lines().enumerate() {
                say(&format!("{}{line}", if index == 0 { "error: " } else { "" }));
            }
            ExitCode::from(error.exit_status())
        }
    }
}

fn run(cli: &Cli) -> Result<String, Error> {
    let names: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    settings::check_names(names.iter().map(String::as_str))?;
    let dir = folder::find(cli.pins_dir.as_deref(), std::env::var_os(settings::PINS_DIR).as_deref())?;
    match &cli.command {
        Command::Bump(arguments) => bump::run(&dir, arguments).map(|bumped| bumped.report(cli.json)),
    }
}

/// Prints a line to standard error, if that can be.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the result. A reader that has gone away is no fault.
fn print(output: &str) -> ExitCode {
    match std::io::stdout().write_all(output.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(&format!("error: failed to write to standard output: {error}"));
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent_and_every_command_has_an_example() {
        Cli::command().debug_assert();
        let mut command = Cli::command();
        command.build();
        for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
            let name = sub.get_name().to_owned();
            let help = sub.render_long_help().to_string();
            assert!(help.contains(&format!("  coreos-pins {name} ")), "{help}");
        }
    }
}
