//! The engine of [coreos-pins]: pin files in, Rust constants out.
//!
//! # Pins of one's own
//!
//! A crate that keeps its own pins has `pins/` beside its `Cargo.toml`, depends on `coreos-pins` with
//! `default-features = false`, and on this crate in `[build-dependencies]`. Its `build.rs`:
//!
//! ```ignore
//! fn main() {
//!     coreos_pins_build::Config::from_env().compile();
//! }
//! ```
//!
//! and `coreos_pins::include_pins!();` where the constants should be, usually in a module of their own.
//!
//! # From a folder to constants
//!
//! Each stage is public and can be called alone: [`Pins::load`](pins::Pins::load) reads a folder into the one model,
//! [`stream::Stream`]; [`resolve::resolve`] chooses each channel's build by the variables in
//! [`settings::Settings`]; [`generate::generate`] makes Rust text of it. [`Config`] does all three.
//!
//! A build that no pin has is looked up: [`layout`] says which URL holds what, [`source`] gets the bytes, [`documents`]
//! makes the one model of whatever upstream has there, [`locate`] finds the build, [`mirror`] compares it with the pin
//! where it has to be the same.
//!
//! # Environment
//!
//! [`Config::from_env`] reads `BASE_URL`, `DEFAULT_CHANNEL`, `BUILD_NAME`, `RELEASE_IMAGE` (each also with the prefix
//! `COREOS_PINS_`) and `COREOS_PINS_DIR`, and what the network needs where it is needed; see [`settings`].
//! [`Config::new`] reads none.
//!
//! # Features
//!
//! * `fetch`: `http://` and `https://`. Without it, builds are looked up at `file://` only.
//!
//! [coreos-pins]: https://docs.rs/coreos-pins

pub mod build_name;
pub mod builder;
mod cargo;
mod config;
pub mod documents;
mod error;
mod field;
pub mod generate;
pub mod json;
pub mod layout;
pub mod locate;
pub mod mirror;
mod object;
mod overrides;
pub mod pin;
pub mod pins;
mod platform;
pub mod policy;
pub mod reference;
pub mod resolve;
pub mod settings;
pub mod sha256;
pub mod source;
pub mod stream;
pub mod url;

pub use config::Config;
pub use error::Error;
#[doc(hidden)]
pub use error::{escape_controls, quoted};
#[doc(hidden)]
pub use url::mask;
