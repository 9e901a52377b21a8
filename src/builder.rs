/// A container that the OS of a channel is built with, by digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Builder {
    /// The builder's name, such as `coreos-assembler`.
    pub name: &'static str,
    /// The repository, without tag or digest.
    pub image: &'static str,
    /// The digest of the image's index: `sha256:` and 64 hex digits.
    pub digest: &'static str,
    /// Both: `image@digest`.
    pub reference: &'static str,
    /// The git commit that the container was made from, where it says so.
    pub revision: Option<&'static str>,
    /// The architectures in the index, by RPM name; sorted.
    pub architectures: &'static [&'static str],
}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        image: &'static str,
        digest: &'static str,
        reference: &'static str,
        revision: Option<&'static str>,
        architectures: &'static [&'static str],
    ) -> Self {
        Self { name, image, digest, reference, revision, architectures }
    }
}
