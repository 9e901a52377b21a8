//! `schema`: the JSON Schemas of the files in `pins/`.

use clap::{Args, ValueEnum};
use coreos_pins_build::builder::BuilderPin;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy::Policy;
use schemars::Schema;

use crate::output::Output;

/// Print the JSON Schema of a file in `pins/`, for editors
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins schema policy > channels.schema.json")]
pub(crate) struct Arguments {
    /// Which file
    file: Kind,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// `channels.json`
    Policy,
    /// `CHANNEL.json`
    Pin,
    /// `builders/BUILDER/CHANNEL.json`
    BuilderPin,
}

pub(crate) fn run(arguments: &Arguments) -> Output {
    let schema = match arguments.file {
        Kind::Policy => schema_of::<Policy>("channels.json: what a person decides"),
        Kind::Pin => schema_of::<Pin>("CHANNEL.json: stream metadata, and what was pinned"),
        Kind::BuilderPin => schema_of::<BuilderPin>("builders/BUILDER/CHANNEL.json: a container, by digest"),
    };
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    Output::document(text + "\n")
}

fn schema_of<T: schemars::JsonSchema>(title: &str) -> Schema {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}
