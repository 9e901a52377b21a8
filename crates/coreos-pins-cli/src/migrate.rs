//! `migrate`: files of an older version made new. There is one version so far.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::policy::VERSION;

use crate::context::Context;
use crate::output::Output;

/// Bring the files in `pins/` to the newest version of their format
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins migrate --pins-dir pins")]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Output, Error> {
    // Reading refuses what is newer, and there is nothing older.
    Pins::load(&context.pins_dir()?)?;
    Ok(Output::ok(format!("every file is of version {VERSION}, the newest\n")))
}
