//! The exact CoreOS image that an installer boots, decided when the installer is built.
//!
//! This crate holds, as constants, one exact build of each pinned channel of a CoreOS-family system (Fedora CoreOS,
//! RHEL CoreOS, CentOS Stream CoreOS): the AMI in each AWS region, the URL of each disk image, its checksums. They come
//! from the pin files that are committed with the crate, or from a folder of your own. Building needs no network.
//!
//! # Flat constants
//!
//! The root has the default channel, with a module for each architecture; `channels` has the same for every channel.
//!
//! ```
//! # #[cfg(feature = "embed")] {
//! println!("{} of {}", coreos_pins::BUILD_NAME, coreos_pins::DEFAULT_CHANNEL);
//! println!("{}", coreos_pins::x86_64::AMI_US_EAST_1);
//! println!("{}", coreos_pins::channels::rhel_9::x86_64::QEMU_QCOW2_URL);
//! # }
//! ```
//!
//! `AMI_<REGION>` is an Amazon machine image. `<PLATFORM>_<FORMAT>_URL` is where a file is; `…_SHA256` is the SHA-256 of
//! the file as stored there, compressed or not; `…_UNCOMPRESSED_SHA256` is that of what it unpacks to;
//! `…_SIGNATURE_URL` is where its detached OpenPGP signature is. The suffix of a compressed file is left out of the
//! name, so that it survives a change of compression: `QEMU_QCOW2_URL`, `METAL_4K_RAW_URL`, `METAL_PXE_KERNEL_URL`.
//!
//! # Tables and lookups
//!
//! What is chosen at run time is looked up: in `DEFAULT`, in a `channel(name)`, or in `ALL`. Lookups are `const fn`,
//! and return `None` for what is not there. In a constant, that stops the compiler:
//!
//! ```
//! # #[cfg(feature = "embed")] {
//! use coreos_pins::{Architecture, DEFAULT};
//!
//! const X86_64: &Architecture = DEFAULT.architecture("x86_64").unwrap();
//! const AMI: &str = X86_64.ami("us-east-1").unwrap();
//!
//! let disk = DEFAULT.architecture("arm64").and_then(|a| a.disk("qemu")).unwrap();
//! assert_eq!(disk.url, coreos_pins::aarch64::QEMU_QCOW2_URL);
//! assert_eq!(coreos_pins::channel("no-such-channel"), None);
//! # }
//! ```
//!
//! # Environment
//!
//! Read by the build script, not at run time. Blank is unset. Each of the first four may be spelled with the prefix
//! `COREOS_PINS_`; if one is, the plain names are not read at all. The README has the table of what follows from them.
//!
//! | variable | unset means |
//! |---|---|
//! | `BASE_URL` | the base URL of the channel |
//! | `DEFAULT_CHANNEL` | `default` of `pins/channels.json`; without one `maipo` |
//! | `BUILD_NAME` | the pinned build; for a channel without a pin, the newest |
//! | `RELEASE_IMAGE` | the pin's `release-image`, if any |
//! | `COREOS_PINS_DIR` | the crate's own `pins/` |
//! | `CARGO_NET_OFFLINE` | the network may be used, if an override needs it |
//!
//! # Features
//!
//! * `embed` (default): the constants described above. Without it the crate is types, lookups and [`include_pins!`],
//!   its build script reads nothing, and the engine `coreos-pins-build` is not compiled.
//! * `fetch` (default): overrides may use http. It changes no constant.
//!
//! # Pins of one's own
//!
//! See [`include_pins!`].

#![no_std]

mod architecture;
mod artifact;
mod builder;
mod channel;
mod image;
mod text;

pub use architecture::Architecture;
pub use artifact::Artifact;
pub use builder::Builder;
pub use channel::{Channel, Origin};
pub use image::{AzureDisk, ContainerImage, GcpImage, MarketplaceImage, RegionImage, RegionObject};

/// What generated code names. Not for anything else.
#[doc(hidden)]
pub mod __private {
    pub use crate::channel::find_channel;
    pub use crate::{Architecture, Artifact, AzureDisk, Builder, Channel, ContainerImage, GcpImage};
    pub use crate::{MarketplaceImage, Origin, RegionImage, RegionObject};
}

/// The examples of the README are compiled.
#[cfg(all(doctest, feature = "embed"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Brings in the constants that the build script of *this* package has generated: the items that are described at the
/// root of this crate, from the pins of the package that says it.
///
/// A package with its own `pins/` has, in `Cargo.toml`,
///
/// ```toml
/// [dependencies]
/// coreos-pins = { version = "0.1", default-features = false }
///
/// [build-dependencies]
/// coreos-pins-build = "0.1"
/// ```
///
/// in `build.rs`
///
/// ```ignore
/// fn main() {
///     coreos_pins_build::Config::from_env().compile();
/// }
/// ```
///
/// and where the constants should be
///
/// ```ignore
/// pub mod pins {
///     coreos_pins::include_pins!();
/// }
/// ```
///
/// Code beside the macro may use every item; what is not used costs nothing. The crate's lints are not for generated
/// code, which `deny` allows; a `forbid` of lints such as `missing_docs` does not, and has to be a `deny`.
#[macro_export]
macro_rules! include_pins {
    () => {
        // Thousands of items, of which a crate uses a few: its own lints are not for them.
        #[allow(
            missing_docs,
            nonstandard_style,
            unreachable_pub,
            unused,
            unused_qualifications,
            clippy::all,
            clippy::nursery,
            clippy::pedantic,
            clippy::restriction
        )]
        mod __coreos_pins_generated {
            use $crate::__private as __coreos_pins;
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/coreos_pins.rs"));
        }
        #[allow(unreachable_pub, unused)]
        pub use __coreos_pins_generated::*;
    };
}

#[cfg(feature = "embed")]
include_pins!();
