//! The `coreos-pins` command: keeps the pin files that the crate `coreos-pins` embeds.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done or nothing to do, 1 the answer
//! is no, 2 usage or a file at fault, 3 nobody answered.

mod builders;
mod builds;
mod bump;
mod context;
mod diff;
mod difference;
mod download;
mod edit;
mod export;
mod folder;
mod hold;
mod hosts;
mod import;
mod items;
mod migrate;
mod order;
mod output;
mod pins;
mod registry;
mod schema;
mod shell;
mod show;
mod side_by_side;
mod table;
mod updates;
mod upstream;
mod verify;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
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
    Check(builders::check::Arguments),
    CheckPromotion(builders::check_promotion::Arguments),
    Diff(diff::Arguments),
    Download(download::Arguments),
    Export(export::Arguments),
    Guard(builders::guard::Arguments),
    Hold(hold::Hold),
    Import(import::Arguments),
    ListGuards(builders::list_guards::Arguments),
    Migrate(migrate::Arguments),
    Promote(builders::promote::Arguments),
    #[command(name = "ref")]
    Reference(builders::reference::Arguments),
    Resolve(builders::resolve::Arguments),
    Schema(schema::Arguments),
    Set(builders::set::Set),
    Show(show::Arguments),
    Unhold(hold::Unhold),
    Update(builders::set::Update),
    Verify(verify::Arguments),
    Completions(Completions),
    Man(Man),
}

/// Print a script that completes this command in a shell
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins completions bash > /etc/bash_completion.d/coreos-pins")]
struct Completions {
    /// Which shell
    shell: clap_complete::Shell,
}

/// Print the manual page, or write one for every command into a folder
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins man /usr/local/share/man/man1")]
struct Man {
    /// The folder to write to; it is made if it is not there
    dir: Option<PathBuf>,
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
        Command::Check(arguments) => builders::check::run(&context, arguments),
        Command::CheckPromotion(arguments) => builders::check_promotion::run(&context, arguments),
        Command::Diff(arguments) => diff::run(&context, arguments),
        Command::Download(arguments) => download::run(&context, arguments),
        Command::Export(arguments) => export::run(&context, arguments),
        Command::Guard(arguments) => builders::guard::run(&context, arguments),
        Command::Hold(arguments) => hold::hold(&context, arguments),
        Command::Import(arguments) => import::run(&context, arguments),
        Command::ListGuards(arguments) => builders::list_guards::run(&context, arguments),
        Command::Migrate(_) => migrate::run(&context),
        Command::Promote(arguments) => builders::promote::run(&context, arguments),
        Command::Reference(arguments) => builders::reference::run(&context, arguments),
        Command::Resolve(arguments) => builders::resolve::run(&context, arguments),
        Command::Schema(arguments) => Ok(schema::run(arguments)),
        Command::Set(arguments) => builders::set::set(&context, arguments),
        Command::Show(arguments) => show::run(&context, arguments),
        Command::Unhold(arguments) => hold::unhold(&context, arguments),
        Command::Update(arguments) => builders::set::update(&context, arguments),
        Command::Verify(arguments) => verify::run(&context, arguments),
        Command::Completions(Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "coreos-pins", &mut script);
            Ok(Output::document(String::from_utf8_lossy(&script)))
        }
        Command::Man(Man { dir: Some(dir) }) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
                .map_err(|error| Error::io("write to", dir, error))?;
            Ok(Output::ok(""))
        }
        Command::Man(Man { dir: None }) => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.map_err(|error| Error::io("print", "the manual page".as_ref(), error))?;
            Ok(Output::document(String::from_utf8_lossy(&page)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
