//! A region that is not there stops the compiler, not the installer.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, stream};

#[test]
fn a_region_that_is_not_there_does_not_compile_in_a_constant() {
    let main = |region: &str| {
        format!(
            "mod pins {{ coreos_pins::include_pins!(); }}\n\
             const AMI: &str = pins::DEFAULT.architecture(\"x86_64\").unwrap().ami({region:?}).unwrap();\n\
             fn main() {{ println!(\"{{AMI}}\"); }}\n"
        )
    };
    let project = Project::own_pins("const-region", "");
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    project.write("src/main.rs", &main("us-east-1"));
    assert_eq!(project.run(&[]).stdout(), "ami-1\n");

    project.write("src/main.rs", &main("us-gov-east-1"));
    let error = project.run(&[]).refusal();
    assert!(
        error.contains("error[E0080]") && error.contains("called `Option::unwrap()` on a `None` value"),
        "{error}"
    );
    assert!(error.contains("src/main.rs:2:"), "{error}");
}

#[test]
fn a_constant_of_a_region_that_is_not_there_is_no_name() {
    let project =
        Project::own_pins("no-such-constant", "fn main() { println!(\"{}\", pins::x86_64::AMI_EU_WEST_1); }");
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    let error = project.run(&[]).refusal();
    assert!(error.contains("cannot find value `AMI_EU_WEST_1` in module `pins::x86_64`"), "{error}");
}
