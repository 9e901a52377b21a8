//! The side file of marketplace images, which the installer keeps beside its stream files and merges in when it runs.

use crate::Error;
use crate::json::{self, Map};
use crate::stream::{Marketplace, Stream};

/// Marketplace images, by architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketplaceFile {
    architectures: Map<Marketplace>,
}

impl MarketplaceFile {
    /// Reads a side file. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is no side file, which includes one that has no Azure images for any architecture.
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        let architectures: Map<Marketplace> = json::read(document, bytes)?;
        if !architectures.values().any(|marketplace| marketplace.azure.is_some()) {
            return Err(Error::invalid(format!(
                "{document}: expected marketplace images, an `azure` object per architecture; found none"
            )));
        }
        Ok(Self { architectures })
    }

    /// Returns the architectures that there are images for, sorted.
    pub fn architectures(&self) -> impl Iterator<Item = &str> {
        self.architectures.keys()
    }

    /// Puts the images into `stream`, for each architecture that both have, in place of any that are there.
    pub fn merge_into(&self, stream: &mut Stream) {
        for (name, architecture) in stream.architectures.iter_mut() {
            if let Some(marketplace) = self.architectures.get(name) {
                architecture.extensions.get_or_insert_default().marketplace = Some(marketplace.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = br#"{
        "x86_64": {"azure": {"no-purchase-plan": {"hyperVGen2":
            {"publisher": "p", "offer": "o", "sku": "s", "version": "1", "thirdParty": false}}, "ocp": {}}},
        "ppc64le": {"azure": {}}}"#;

    #[test]
    fn images_go_to_the_architectures_that_both_have() {
        let mut stream = Stream::read(
            "s",
            br#"{"stream": "s", "architectures": {
                "x86_64": {"images": {"aws": {"regions": {"r": {"release": "1", "image": "ami-1"}}}}},
                "s390x": {"images": {"aws": {"regions": {"r": {"release": "1", "image": "ami-1"}}}}}}}"#,
        )
        .unwrap();
        let file = MarketplaceFile::read("m", FILE).unwrap();
        assert_eq!(file.architectures().collect::<Vec<_>>(), ["ppc64le", "x86_64"]);
        file.merge_into(&mut stream);
        assert_eq!(stream.architectures.keys().collect::<Vec<_>>(), ["s390x", "x86_64"]);
        assert_eq!(stream.architectures["s390x"].extensions, None);
        let marketplace = stream.architectures["x86_64"].extensions.as_ref().unwrap().marketplace.as_ref();
        let plans = marketplace.unwrap().azure.as_ref().unwrap();
        assert_eq!(plans.keys().collect::<Vec<_>>(), ["no-purchase-plan", "ocp"]);
        let plan = &plans["no-purchase-plan"];
        assert!(plan.gen1.is_none());
        assert_eq!(plan.gen2.as_ref().unwrap().sku, "s");
        assert!(plan.gen2.as_ref().unwrap().extra.contains_key("thirdParty"));
    }

    #[test]
    fn what_came_with_the_stream_stays_beside_it() {
        let mut stream = Stream::read(
            "s",
            br#"{"stream": "s", "architectures": {"x86_64": {"rhel-coreos-extensions": {
                "azure-disk": {"release": "1", "url": "u"}, "marketplace": {"azure": {"old": {}}}}}}}"#,
        )
        .unwrap();
        MarketplaceFile::read("m", FILE).unwrap().merge_into(&mut stream);
        let extensions = stream.architectures["x86_64"].extensions.as_ref().unwrap();
        assert!(extensions.azure_disk.is_some());
        let azure = extensions.marketplace.as_ref().unwrap().azure.as_ref().unwrap();
        assert!(!azure.contains_key("old") && azure.contains_key("ocp"));
    }

    #[test]
    fn another_document_is_refused() {
        let refusal = |text: &[u8]| MarketplaceFile::read("m", text).unwrap_err().to_string();
        assert!(refusal(br#"{"stream": "s"}"#).starts_with("m: stream: invalid type: string"));
        assert!(refusal(br#"{"x86_64": {}}"#).contains("expected marketplace images"));
        let image = br#"{"x86_64": {"azure": {"ocp": {"hyperVGen1": {"publisher": "", "offer": "o"}}}}}"#;
        assert!(refusal(image).starts_with("m: x86_64.azure.ocp.hyperVGen1.publisher: invalid value"));
    }
}
