//! Text from upstream is data in the generated code: a literal of the same value, and nothing else appears.

mod harness;

use std::collections::BTreeSet;

use coreos_pins_build::generate::{FILE, generate};
use harness::{document, generated, items, resolved, text_of};
use syn::visit::Visit;

/// What a document may hold to break out of a literal, a comment, a line, or a macro.
fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = [
        "\"; pub const PWNED: u8 = 0; //",
        "\"#; pub fn pwned() {} r#\"",
        "*/ pub fn pwned() {} /*",
        "a\\",
        "\\\"\\u{41}\\x41\\n",
        "a\npub fn pwned() {}\n",
        "a\r\ncargo::rustc-cfg=pwned",
        "\r",
        "\0\u{1}\u{1b}[31m\u{7f}\u{85}",
        "\u{202e}\u{2066}\u{200f}\u{feff}\u{2028}",
        "{} {0} {{}} {:?} %s $x $crate #[cfg]",
        "'a' b'c' r\"d\" é\u{301} 🦀 \u{10ffff}",
        "`](https://example.com) <b> ```",
        " ",
    ]
    .map(Into::into)
    .into();
    texts.push("x\"\\\n".repeat(25_000));
    texts
}

/// A pin whose texts are `text` and a number each, quoted for JSON.
fn pin(text: &str) -> String {
    let mut number = 0;
    let mut next = || {
        number += 1;
        serde_json::to_string(&format!("{text}{number}")).unwrap()
    };
    let sha = harness::SHA;
    format!(
        r#"{{"stream": {}, "architectures": {{"x86_64": {{
            "artifacts": {{"qemu": {{"release": "1", "formats": {{"qcow2.xz": {{"disk": {{
                "location": {}, "sha256": "{sha}", "signature": {} }} }} }} }} }},
            "images": {{
                "aws": {{"regions": {{"r": {{"release": {}, "image": {} }} }} }},
                "aliyun": {{"regions": {{"r": {{"release": {}, "image": {} }} }} }},
                "gcp": {{"project": {}, "name": {}, "family": {}, "release": {} }},
                "kubevirt": {{"release": {}, "image": {}, "digest-ref": {} }},
                "ibmcloud": {{"regions": {{"r": {{"release": {}, "object": {}, "bucket": {}, "url": {} }} }} }},
                "powervs": {{"regions": {{"r": {{"release": {}, "object": {}, "bucket": {}, "url": {} }} }} }} }},
            "rhel-coreos-extensions": {{
                "azure-disk": {{"release": {}, "url": {} }},
                "aws-winli": {{"regions": {{"r": {{"release": {}, "image": {} }} }} }},
                "marketplace": {{"azure": {{ "plan": {{"hyperVGen1":
                    {{"publisher": {}, "offer": {}, "sku": {}, "version": {} }} }} }} }} }} }} }} }}"#,
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
        next(),
    )
}

/// What is in a file: its identifiers and number of items, its literals, and its documentation.
#[derive(Default)]
struct Content {
    identifiers: Vec<String>,
    items: usize,
    literals: Vec<String>,
    documentation: Vec<String>,
}

impl Content {
    fn of(code: &str) -> Self {
        let mut content = Self::default();
        content.visit_file(&syn::parse_file(code).unwrap_or_else(|error| panic!("{error}\n{code}")));
        content
    }
}

impl<'ast> Visit<'ast> for Content {
    fn visit_ident(&mut self, ident: &'ast syn::Ident) {
        self.identifiers.push(ident.to_string());
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.items += 1;
        syn::visit::visit_item(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        // A hash of the texts themselves.
        if item.ident != "PINS_SHA256" {
            syn::visit::visit_item_const(self, item);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.literals.push(literal.value());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        match &attribute.meta {
            syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
                ..
            }) => self.documentation.push(text.value()),
            _ => syn::visit::visit_attribute(self, attribute),
        }
    }
}

#[test]
fn every_text_is_a_literal_of_its_value_and_nothing_else_appears() {
    let plain = Content::of(&generated(&[("s", &pin("PLAIN"))]).unwrap());
    let texts: BTreeSet<&String> = plain.literals.iter().filter(|text| text.starts_with("PLAIN")).collect();
    // Of the 30 texts only the stream's own name for itself is in no table.
    assert_eq!(texts.len(), 29);
    for text in hostile() {
        let found = Content::of(&generated(&[("s", &pin(&text))]).unwrap());
        assert_eq!(found.identifiers, plain.identifiers, "{text:.80}");
        assert_eq!(found.items, plain.items);
        let expected: Vec<String> =
            plain.literals.iter().map(|plain| plain.replace("PLAIN", &text)).collect();
        assert!(found.literals == expected, "{text:.80}");
    }
}

#[test]
fn a_release_with_any_text_is_a_build_name_and_stays_in_its_line_of_documentation() {
    let with = |release: &str| {
        let release = serde_json::to_string(release).unwrap();
        let text = document(&["x86_64"], &[("qemu", "qcow2.xz", "disk")], &[]);
        text.replace("\"release\":\"1\"", &format!("\"release\":{release}"))
    };
    let plain = Content::of(&generated(&[("s", &with("PLAIN"))]).unwrap());
    for text in hostile() {
        let code = generated(&[("s", &with(&text))]).unwrap();
        let found = Content::of(&code);
        assert_eq!((found.items, found.documentation.len()), (plain.items, plain.documentation.len()));
        assert!(found.documentation.iter().all(|line| !line.contains(char::is_control)));
        for path in [&[][..], &["channels", "s"], &["channels", "s", "x86_64"]] {
            assert!(text_of(&code, path, "BUILD_NAME") == text, "{text:.80}");
        }
    }
}

#[test]
fn a_channel_and_an_architecture_of_any_name_break_out_of_nothing() {
    for name in hostile() {
        let code = generated(&[(&name, &document(&["x86_64"], &[], &["r"]))]).unwrap();
        assert!(text_of(&code, &[], "DEFAULT_CHANNEL") == name, "{name:.80}");
        let plain = Content::of(&generated(&[("s", &document(&["x86_64"], &[], &["r"]))]).unwrap());
        let found = Content::of(&code);
        assert_eq!((found.items, found.documentation.len()), (plain.items, plain.documentation.len()));
        assert!(found.documentation.iter().all(|line| !line.contains(char::is_control)));

        let found = Content::of(&generated(&[("s", &document(&[&name], &[], &["r"]))]).unwrap());
        assert_eq!((found.items, found.documentation.len()), (plain.items, plain.documentation.len()));
        assert!(found.literals.contains(&name), "{name:.80}");
    }
}

#[test]
fn platforms_formats_and_regions_of_any_name_are_in_the_tables_as_they_are() {
    let plain = document(&["x86_64"], &[("p", "f", "disk")], &["r"]);
    let plain = Content::of(&generated(&[("s", &plain)]).unwrap());
    for name in hostile() {
        let text = document(&["x86_64"], &[(&name, &format!("{name}f"), "disk")], &[&format!("{name}r")]);
        let code = generated(&[("s", &text)]).unwrap();
        let found = Content::of(&code);
        assert_eq!(found.items, plain.items, "{name:.80}");
        for text in [name.clone(), format!("{name}f"), format!("{name}r")] {
            assert!(found.literals.contains(&text), "{text:.80}");
        }
        let path = ["channels", "s", "x86_64"];
        let upper_case = |name: &str| !name.contains(|c: char| !matches!(c, 'A'..='Z' | '0'..='9' | '_'));
        let constants = items(&code, &path).into_iter().filter_map(|item| match item {
            syn::Item::Const(item) => Some(item.ident.to_string()),
            _ => None,
        });
        assert!(constants.into_iter().all(|name| upper_case(&name)), "{name:.80}");
    }
}

#[test]
fn the_embedded_document_has_every_text_too() {
    for text in hostile() {
        let text = pin(&text);
        let files = generate(&resolved(&[("s", &text)])).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&files["coreos_pins/s.json"]).unwrap() == expected);
        assert_eq!(files.keys().collect::<Vec<_>>(), ["coreos_pins.rs", "coreos_pins/s.json"]);
        assert!(files[FILE].contains("include_str!(\"coreos_pins/s.json\")"));
    }
}
