//! The build-time variables. Nothing else in this crate reads the environment, `OUT_DIR` excepted.

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::Error;
use crate::build_name::BuildName;
use crate::error::{escape_controls, nearest};

/// Where the default channel's documents are.
pub const BASE_URL: &str = "BASE_URL";
/// The channel that the constants at the root are of.
pub const DEFAULT_CHANNEL: &str = "DEFAULT_CHANNEL";
/// The build of the default channel.
pub const BUILD_NAME: &str = "BUILD_NAME";
/// The release payload, by digest.
pub const RELEASE_IMAGE: &str = "RELEASE_IMAGE";
/// The pins folder, in place of the crate's own.
pub const PINS_DIR: &str = "COREOS_PINS_DIR";
/// Only watched, never read: a checkout whose `.cargo/config.toml` sets it to its own folder is not taken for another
/// one that shares its target folder. Cargo gives the same package in two checkouts one place there, and goes by the
/// age of files alone.
pub const CHECKOUT: &str = "COREOS_PINS_CHECKOUT";

/// Forbids the network: the one trace that cargo's own offline mode leaves, where it is exported.
pub const NET_OFFLINE: &str = "CARGO_NET_OFFLINE";

/// A file of certificates, in place of the system's.
const SSL_CERT_FILE: &str = "SSL_CERT_FILE";
/// Folders of certificates, in place of the system's.
const SSL_CERT_DIR: &str = "SSL_CERT_DIR";

const HTTPS_PROXY: [&str; 2] = ["https_proxy", "HTTPS_PROXY"];
const HTTP_PROXY: [&str; 2] = ["http_proxy", "HTTP_PROXY"];
const ALL_PROXY: [&str; 2] = ["all_proxy", "ALL_PROXY"];
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Begins the other spelling of the first four variables, and no variable but ours.
const PREFIX: &str = "COREOS_PINS_";

/// The first four variables with their other spelling.
const NAMES: [[&str; 2]; 4] = [
    [BASE_URL, "COREOS_PINS_BASE_URL"],
    [DEFAULT_CHANNEL, "COREOS_PINS_DEFAULT_CHANNEL"],
    [BUILD_NAME, "COREOS_PINS_BUILD_NAME"],
    [RELEASE_IMAGE, "COREOS_PINS_RELEASE_IMAGE"],
];

/// The default channel where neither a variable nor `channels.json` names one.
pub const FALLBACK_CHANNEL: &str = "maipo";

/// Returns every variable to watch, whichever are set: those that may be read, in both spellings, and [`CHECKOUT`]. Those
/// that only http needs count where this crate has it.
pub fn watched() -> impl Iterator<Item = &'static str> {
    let http = [HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, [SSL_CERT_FILE, SSL_CERT_DIR]];
    let http = http.into_iter().flatten().filter(|_| cfg!(feature = "fetch"));
    NAMES.into_iter().flatten().chain([PINS_DIR, CHECKOUT, NET_OFFLINE]).chain(http)
}

/// A value and the variable it came from, under the name that was used.
///
/// `Debug` shows the name only: a value may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The variable's name.
    pub variable: &'static str,
    /// Its value.
    pub value: T,
}

impl<T> fmt::Debug for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value of {}", self.variable)
    }
}

/// What the variables ask for. `None` is unset or blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// [`BASE_URL`]
    pub base_url: Option<Setting<String>>,
    /// [`DEFAULT_CHANNEL`]
    pub default_channel: Option<Setting<String>>,
    /// [`BUILD_NAME`]
    pub build_name: Option<Setting<BuildName>>,
    /// [`RELEASE_IMAGE`]
    pub release_image: Option<Setting<String>>,
    /// [`PINS_DIR`]
    pub pins_dir: Option<Setting<String>>,
    /// Plain names that are set and not read, because a prefixed one is there.
    pub ignored: Vec<&'static str>,
}

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    ///
    /// As [`Settings::from_variables`].
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(std::env::vars_os())
    }

    /// Reads `variables`. Values are trimmed, and blank is unset. As soon as one of the first four is there by its
    /// prefixed name, even blank, none is read by its plain name.
    ///
    /// # Errors
    ///
    /// A value that is not UTF-8, that holds a control or text-direction character, or that is no build name where one belongs; and a
    /// variable that begins with `COREOS_PINS_` and is none of ours. Each names the variable.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, Error> {
        let variables: Vec<_> = variables.into_iter().collect();
        let names = variables.iter().filter_map(|(name, _)| name.to_str());
        check_names(names.clone())?;
        let sealed = names.clone().any(|name| NAMES.iter().any(|[_, prefixed]| name == *prefixed));

        let get = |[plain, prefixed]: [&'static str; 2]| {
            let variable = if sealed { prefixed } else { plain };
            let value = variables.iter().find(|(name, _)| name == variable).map(|(_, value)| value);
            value.map_or(Ok(None), |value| read(variable, value))
        };
        let is_set = |name: &str| {
            let value = variables.iter().find(|(found, _)| found == name).map(|(_, value)| value);
            value.is_some_and(|value| !value.to_string_lossy().trim().is_empty())
        };
        let plain = NAMES.map(|[plain, _]| plain);
        let ignored = plain.into_iter().filter(|name| sealed && is_set(name)).collect();
        let [base_url, default_channel, build_name, release_image] = NAMES;
        let build_name = get(build_name)?
            .map(|Setting { variable, value }| match BuildName::parse(&value) {
                Ok(value) => Ok(Setting { variable, value }),
                Err(error) => Err(error.prefixed(variable)),
            })
            .transpose()?;
        Ok(Self {
            base_url: get(base_url)?,
            default_channel: get(default_channel)?,
            build_name,
            release_image: get(release_image)?,
            pins_dir: get([PINS_DIR, PINS_DIR])?,
            ignored,
        })
    }
}

/// How the network may be used. `None` is unset or blank.
///
/// Only what needs the network reads this: a broken value must not stop a build that needs none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// [`NET_OFFLINE`]: no request may be made.
    pub offline: bool,
    /// The proxy for `http://`: `HTTP_PROXY`, else `ALL_PROXY`.
    pub http_proxy: Option<Setting<String>>,
    /// The proxy for `https://`: `HTTPS_PROXY`, else `ALL_PROXY`.
    pub https_proxy: Option<Setting<String>>,
    /// The hosts that are asked without a proxy: `NO_PROXY`.
    pub no_proxy: Option<Setting<String>>,
    /// A file of trusted certificates: `SSL_CERT_FILE`. With it or the next, the system's do not count.
    pub ssl_cert_file: Option<Setting<OsString>>,
    /// Folders of trusted certificates: `SSL_CERT_DIR`.
    pub ssl_cert_dir: Option<Setting<OsString>>,
}

impl Network {
    /// Reads the environment of this process.
    ///
    /// # Errors
    ///
    /// As [`Network::from_variables`].
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(std::env::vars_os())
    }

    /// Reads `variables`. Of the two spellings of a proxy variable the one in lower case is first, unless it is blank.
    ///
    /// # Errors
    ///
    /// A value that is not UTF-8 (paths may be any), holds a control character, or is neither `true` nor `false` where
    /// that is asked. Each names the variable.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, Error> {
        let variables: Vec<_> = variables.into_iter().collect();
        let raw =
            |variable: &str| variables.iter().find(|(name, _)| name == variable).map(|(_, value)| value);
        let get = |variable| raw(variable).map_or(Ok(None), |value| read(variable, value));
        let either =
            |names: [&'static str; 2]| names.into_iter().find_map(|name| get(name).transpose()).transpose();
        let path = |variable| {
            let value = raw(variable).filter(|value| !value.to_string_lossy().trim().is_empty());
            value.map(|value| Setting { variable, value: value.clone() })
        };
        let all = either(ALL_PROXY)?;
        Ok(Self {
            offline: get(NET_OFFLINE)?.map_or(Ok(false), |setting| read_bool(&setting))?,
            http_proxy: either(HTTP_PROXY)?.or_else(|| all.clone()),
            https_proxy: either(HTTPS_PROXY)?.or(all),
            no_proxy: either(NO_PROXY)?,
            ssl_cert_file: path(SSL_CERT_FILE),
            ssl_cert_dir: path(SSL_CERT_DIR),
        })
    }
}

/// Refuses a variable that has our prefix and is not ours: a misspelled name must not pass unnoticed.
///
/// # Errors
///
/// Names the variable, and the one that was most likely meant.
pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
    let unknown =
        names.into_iter().find(|name| name.starts_with(PREFIX) && watched().all(|known| known != *name));
    let Some(unknown) = unknown else { return Ok(()) };
    let ours = || watched().filter(|name| name.starts_with(PREFIX));
    let guess = nearest(unknown, ours()).map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
    Err(Error::invalid(format!("unknown variable `{unknown}`{guess}"))
        .note(format!("variables that begin with `{PREFIX}` are {}", crate::error::quoted(ours())))
        .help(format!("unset {unknown}")))
}

fn read(variable: &'static str, value: &OsStr) -> Result<Option<Setting<String>>, Error> {
    let Some(text) = value.to_str() else {
        return Err(Error::invalid(format!("the value of {variable} is no UTF-8")));
    };
    let text = text.trim();
    if escape_controls(text) != text {
        return Err(Error::invalid(format!("the value of {variable} holds a control character")));
    }
    Ok((!text.is_empty()).then(|| Setting { variable, value: text.to_owned() }))
}

/// Reads `true` or `false`, as cargo does; and 1 or 0, which cargo itself refuses.
fn read_bool(setting: &Setting<String>) -> Result<bool, Error> {
    match setting.value.as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        value => {
            Err(Error::invalid(format!("{}: expected `true` or `false`, got `{value}`", setting.variable)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(variables: &[(&str, &str)]) -> Result<Network, Error> {
        Network::from_variables(variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn lower_case_proxies_are_first_and_all_proxy_is_last() {
        let read = network(&[
            ("HTTP_PROXY", "upper"),
            ("http_proxy", "lower"),
            ("https_proxy", " "),
            ("HTTPS_PROXY", "other"),
            ("ALL_PROXY", "all"),
        ])
        .unwrap();
        let setting = |variable, value: &str| Some(Setting { variable, value: value.to_owned() });
        assert_eq!(read.http_proxy, setting("http_proxy", "lower"));
        assert_eq!(read.https_proxy, setting("HTTPS_PROXY", "other"));
        let read = network(&[("ALL_PROXY", "all"), ("NO_PROXY", "a, b")]).unwrap();
        assert_eq!(read.http_proxy, setting("ALL_PROXY", "all"));
        assert_eq!(read.https_proxy, setting("ALL_PROXY", "all"));
        assert_eq!(read.no_proxy, setting("NO_PROXY", "a, b"));
    }

    #[test]
    fn a_blank_network_variable_is_unset() {
        for variable in watched() {
            assert_eq!(network(&[(variable, " ")]).unwrap(), Network::default(), "{variable}");
        }
    }

    #[test]
    fn offline_is_true_or_false_and_nothing_else() {
        for (value, offline) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            assert_eq!(network(&[(NET_OFFLINE, value)]).unwrap().offline, offline, "{value}");
        }
        let error = network(&[(NET_OFFLINE, "yes")]).unwrap_err().to_string();
        assert_eq!(error, "CARGO_NET_OFFLINE: expected `true` or `false`, got `yes`");
    }

    #[test]
    fn debug_shows_no_value() {
        let read = network(&[("HTTPS_PROXY", "http://bob:s3cr3t@proxy")]).unwrap();
        assert!(!format!("{read:?}").contains("s3cr3t"));
    }

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::from_variables(variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn blank_is_unset_and_values_are_trimmed() {
        for blank in ["", " ", "\t\n"] {
            for variable in watched() {
                assert_eq!(settings(&[(variable, blank)]).unwrap(), Settings::default(), "{variable}");
            }
        }
        let read = settings(&[(DEFAULT_CHANNEL, " next\n"), (BUILD_NAME, "44.1 ")]).unwrap();
        assert_eq!(read.default_channel.unwrap().value, "next");
        assert_eq!(read.build_name.unwrap().value, BuildName::Id("44.1".into()));
    }

    #[test]
    fn one_prefixed_name_seals_the_build_even_when_blank() {
        let plain =
            [(BASE_URL, "/"), (BUILD_NAME, "ci-1234"), (DEFAULT_CHANNEL, "next"), (RELEASE_IMAGE, "x")];
        for [_, prefixed] in NAMES {
            let mut variables = plain.to_vec();
            variables.push((prefixed, ""));
            let ignored = vec![BASE_URL, DEFAULT_CHANNEL, BUILD_NAME, RELEASE_IMAGE];
            let expected = Settings { ignored, ..Settings::default() };
            assert_eq!(settings(&variables).unwrap(), expected, "{prefixed}");
            assert_eq!(settings(&[(prefixed, ""), (BASE_URL, " ")]).unwrap(), Settings::default());
        }
        let mut variables = plain.to_vec();
        variables.push(("COREOS_PINS_DEFAULT_CHANNEL", "testing"));
        let sealed = settings(&variables).unwrap();
        let channel = Setting { variable: "COREOS_PINS_DEFAULT_CHANNEL", value: "testing".to_owned() };
        assert_eq!((&sealed.default_channel, &sealed.base_url), (&Some(channel), &None));
    }

    #[test]
    fn the_pins_folder_seals_nothing() {
        let read = settings(&[(PINS_DIR, "mine"), (DEFAULT_CHANNEL, "next")]).unwrap();
        assert_eq!(read.default_channel.unwrap().value, "next");
        assert_eq!(read.pins_dir.unwrap().value, "mine");
    }

    #[test]
    fn a_control_character_inside_is_an_error_that_names_the_variable_and_hides_the_value() {
        let error = settings(&[(BUILD_NAME, "x\ncargo::rustc-cfg=pwned")]).unwrap_err().to_string();
        assert_eq!(error, "the value of BUILD_NAME holds a control character");
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_utf8_is_an_error_that_names_the_variable() {
        use std::os::unix::ffi::OsStringExt;
        let value = OsString::from_vec(vec![b'x', 0xff]);
        let error = Settings::from_variables([(BASE_URL.into(), value)]).unwrap_err().to_string();
        assert_eq!(error, "the value of BASE_URL is no UTF-8");
    }

    #[test]
    fn a_misspelled_prefixed_name_is_an_error_with_a_guess() {
        let error = settings(&[("COREOS_PINS_BUILDNAME", "44.1")]).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "unknown variable `COREOS_PINS_BUILDNAME`, did you mean `COREOS_PINS_BUILD_NAME`?\nvariables that begin"
            ),
            "{error}"
        );
    }

    #[test]
    fn a_build_name_that_is_none_names_the_variable() {
        let error = settings(&[("COREOS_PINS_BUILD_NAME", "x86_64=")]).unwrap_err().to_string();
        assert!(error.starts_with("COREOS_PINS_BUILD_NAME: `x86_64=` is no build name"), "{error}");
    }
}
