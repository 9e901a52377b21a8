//! The `coreos-pins` command: keeps the pin files that the crate `coreos-pins` embeds.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done or nothing to do, 1 the answer
//! is no, 2 usage or a file at fault, 3 nobody answered.

mod builds;
mod bump;
mod context;
mod diff;
mod difference;
mod folder;
mod hosts;
mod items;
mod order;
mod output;
mod pins;
mod show;
mod side_by_side;
mod table;
mod updates;
mod upstream;
mod verify;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use coreos_pins_build::{Error, settings};

use context::Context;
use output::Output;

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
    Builds(builds::Arguments),
    Bump(bump::Arguments),
    Diff(diff::Arguments),
    Show(show::Arguments),
    Verify(verify::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(output) => output.print(),
        Err(error) => {
            output::say_error(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

fn run(cli: &Cli) -> Result<Output, Error> {
    let names: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    settings::check_names(names.iter().map(String::as_str))?;
    let context = Context::new(cli.pins_dir.clone(), cli.json);
    match &cli.command {
        Command::Builds(arguments) => builds::run(&context, arguments),
        Command::Bump(arguments) => bump::run(&context, arguments),
        Command::Diff(arguments) => diff::run(&context, arguments),
        Command::Show(arguments) => show::run(&context, arguments),
        Command::Verify(arguments) => verify::run(&context, arguments),
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
