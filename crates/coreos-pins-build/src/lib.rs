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
//! # Environment
//!
//! [`Config::from_env`] reads `BASE_URL`, `DEFAULT_CHANNEL`, `BUILD_NAME`, `RELEASE_IMAGE` (each also with the prefix
//! `COREOS_PINS_`) and `COREOS_PINS_DIR`; see [`settings`]. [`Config::new`] reads none.
//!
//! [coreos-pins]: https://docs.rs/coreos-pins

pub mod build_name;
mod cargo;
mod config;
pub mod documents;
mod error;
mod field;
pub mod generate;
pub mod json;
mod object;
pub mod pin;
pub mod pins;
mod platform;
pub mod policy;
pub mod resolve;
pub mod settings;
pub mod sha256;
pub mod stream;
mod url;

pub use config::Config;
pub use error::Error;
#[doc(hidden)]
pub use error::quoted;
