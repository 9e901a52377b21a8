//! SHA-256, as hex.

/// Returns the SHA-256 of the parts, one after the other, as 64 lower-case hex digits.
pub fn hex<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = hmac_sha256::Hash::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_the_standard_and_with_itself_in_parts() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::hex([b"abc".as_slice()]), expected);
        assert_eq!(super::hex([b"a".as_slice(), b"", b"bc"]), expected);
    }
}
