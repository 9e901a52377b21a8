//! Turns `pins/` into the constants of this crate. All of the work is in `coreos-pins-build`.

fn main() {
    #[cfg(feature = "embed")]
    coreos_pins_build::Config::from_env().compile();

    // Nothing is read then, so nothing but this file may run it again.
    #[cfg(not(feature = "embed"))]
    println!("cargo::rerun-if-changed=build.rs");
}
