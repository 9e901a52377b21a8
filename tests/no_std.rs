//! A program without the standard library embeds pins, and none of our code brings the library in.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, root, stream};

/// A library that is its own panic handler: with `std` anywhere in the build, there would be two.
const LIBRARY: &str = r#"#![no_std]
pub mod pins { coreos_pins::include_pins!(); }

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }

#[unsafe(no_mangle)]
pub extern "C" fn length_of_ami() -> usize {
    let x86_64 = pins::DEFAULT.architecture("x86_64").unwrap();
    x86_64.ami("us-east-1").map_or(0, str::len) + x86_64.regions("aws").count()
}
"#;

fn library(name: &str, features: &str, code: &str) -> Project {
    let project = Project::own_pins(name, "fn main() {}");
    project.remove("src/main.rs");
    project.manifest(
        name,
        &format!("coreos-pins = {{ path = {:?}, {features} }}", root()),
        &format!(
            "[build-dependencies]\ncoreos-pins-build = {{ path = {:?} }}\n\n[lib]\ncrate-type = [\"staticlib\"]\n\n\
             [profile.dev]\npanic = \"abort\"\n",
            root().join("crates/coreos-pins-build")
        ),
    );
    project.write("src/lib.rs", code);
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    project
}

#[test]
fn pins_of_ones_own_need_no_std() {
    library("no-std-own", "default-features = false", LIBRARY).cargo(&["build"], &[]).stdout();
}

#[test]
fn the_crates_own_pins_need_no_std() {
    let code = LIBRARY.replace("pub mod pins { coreos_pins::include_pins!(); }", "use coreos_pins as pins;");
    library("no-std-embed", "default-features = false, features = [\"embed\"]", &code)
        .cargo(&["build"], &[])
        .stdout();
}

#[test]
fn the_standard_library_would_have_been_noticed() {
    let code = LIBRARY.replace("#![no_std]", "#![no_std]\nextern crate std;");
    let error = library("no-std-std", "default-features = false", &code).cargo(&["build"], &[]).refusal();
    assert!(error.contains("found duplicate lang item `panic_impl`"), "{error}");
}
