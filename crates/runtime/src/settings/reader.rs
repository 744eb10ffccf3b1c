//! Reads variables one by one and gathers what is wrong with them.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use config::{Config, Environment, File};
use tracing_subscriber::filter::LevelFilter;
use trapi::Dialect;
use url::Url;

use super::parse;
use super::secrets::without_credentials;
use crate::telemetry::LogFormat;

/// Credentials would be shown wherever a URL is.
const URL: &str = "an http or https URL without credentials";

/// A variable with its effective value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub name: &'static str,
    /// Its value; a mask for a secret.
    pub value: String,
    /// What applies when it is not set.
    pub default: String,
    /// What it is for.
    pub about: &'static str,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// A variable with a bad value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// What was found; a mask for a secret.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file that `CONFIG_FILE` names cannot be read.
    #[error("CONFIG_FILE: {path} cannot be read: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why, without the lines of the file, one of which may be a password.
        why: String,
    },
    /// The environment cannot be read.
    #[error("the environment cannot be read")]
    Environment(#[source] Box<config::ConfigError>),
    /// Some values are bad.
    #[error("{}", list(.0))]
    Bad(Vec<Problem>),
}

fn list(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|p| format!("{}: expected {}, found {:?}", p.name, p.expected, p.found));
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads variables one by one.
pub(super) struct Reader {
    config: Config,
    /// Keys of the file, all of which must be known.
    file_keys: Vec<String>,
    pub(super) shown: Vec<Shown>,
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    pub(super) fn of_process() -> Result<Self, SettingsError> {
        let environment = Environment::default();
        let file = std::env::var_os("CONFIG_FILE").filter(|path| !path.is_empty()).map(PathBuf::from);
        Self::new(environment, file)
    }

    pub(super) fn of_variables<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SettingsError> {
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables: std::collections::HashMap<String, String> = variables.collect();
        let file = variables.get("CONFIG_FILE").map(PathBuf::from);
        Self::new(Environment::default().source(Some(variables)), file)
    }

    fn new(environment: Environment, file: Option<PathBuf>) -> Result<Self, SettingsError> {
        let mut builder = Config::builder();
        let mut file_keys = Vec::new();
        if let Some(path) = file {
            let unreadable = |error: config::ConfigError| {
                let why = error.to_string().lines().next().unwrap_or_default().to_owned();
                SettingsError::File { path: path.clone(), why }
            };
            let source = File::from(path.clone());
            let alone = Config::builder().add_source(source.clone()).build().map_err(unreadable)?;
            let table: std::collections::HashMap<String, config::Value> =
                alone.try_deserialize().map_err(unreadable)?;
            file_keys.extend(table.into_keys());
            builder = builder.add_source(source);
        }
        let config = builder
            .add_source(environment)
            .build()
            .map_err(|error| SettingsError::Environment(Box::new(error)))?;
        Ok(Self { config, file_keys, shown: Vec::new(), problems: Vec::new() })
    }

    /// An empty variable counts as not set, as Helm writes it for a value left blank.
    pub(super) fn raw(&self, name: &str) -> Option<String> {
        let text = self.config.get_string(&name.to_ascii_lowercase()).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn value<T>(
        &mut self,
        name: &'static str,
        default: &str,
        about: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
        on_problem: T,
    ) -> T {
        let text = self.raw(name).unwrap_or_else(|| default.to_owned());
        let parsed = parse(&text);
        if parsed.is_none() {
            let expected = match text.strip_prefix("tcp://") {
                // Kubernetes sets such variables for every Service, here one named `redis`
                Some(_) => {
                    format!("{expected}; this looks like a Kubernetes service link (enableServiceLinks)")
                }
                None => expected.to_owned(),
            };
            self.problems.push(Problem {
                name: name.to_owned(),
                found: without_credentials(&text),
                expected,
            });
        }
        let value = without_credentials(&text);
        self.shown.push(Shown { name, value, default: default.to_owned(), about });
        parsed.unwrap_or(on_problem)
    }

    pub(super) fn text(&mut self, name: &'static str, default: &str, about: &'static str) -> String {
        self.value(name, default, about, "a text", |text| Some(text.to_owned()), String::new())
    }

    /// Words separated by commas, in lower case; none by default.
    pub(super) fn list(&mut self, name: &'static str, about: &'static str) -> Vec<String> {
        let words = |text: &str| {
            let words = text.split(',').map(|word| word.trim().to_ascii_lowercase());
            Some(words.filter(|word| !word.is_empty()).collect())
        };
        self.value(name, "", about, "words separated by commas", words, Vec::new())
    }

    pub(super) fn seconds(&mut self, name: &'static str, default: &str, about: &'static str) -> Duration {
        self.value(name, default, about, "seconds, 0 or more", parse::seconds, Duration::ZERO)
    }

    pub(super) fn size(&mut self, name: &'static str, default: &str, about: &'static str) -> usize {
        self.value(name, default, about, "a size such as 512Mi", parse::size, 0)
    }

    pub(super) fn flag(&mut self, name: &'static str, default: &str, about: &'static str) -> bool {
        self.value(name, default, about, "true or false", parse::flag, false)
    }

    pub(super) fn level(&mut self, name: &'static str, default: &str, about: &'static str) -> LevelFilter {
        self.value(name, default, about, "DEBUG, INFO, WARNING or ERROR", parse::level, LevelFilter::INFO)
    }

    pub(super) fn log_format(&mut self, name: &'static str, default: &str, about: &'static str) -> LogFormat {
        self.value(name, default, about, "json or pretty", parsed, LogFormat::default())
    }

    pub(super) fn ratio(&mut self, name: &'static str, default: &str, about: &'static str) -> f64 {
        let parse = |text: &str| parsed(text).filter(|ratio| (0.0..=1.0).contains(ratio));
        self.value(name, default, about, "a number from 0 to 1", parse, 0.0)
    }

    pub(super) fn dialect(&mut self, name: &'static str, default: &str, about: &'static str) -> Dialect {
        self.value(name, default, about, "a TRAPI version such as 1.6 or 2.0", parsed, Dialect::default())
    }

    pub(super) fn count(&mut self, name: &'static str, default: &str, about: &'static str) -> u32 {
        self.value(name, default, about, "a whole number, 0 or more", parsed, 0)
    }

    pub(super) fn positive(&mut self, name: &'static str, default: &str, about: &'static str) -> usize {
        let parse = |text: &str| parsed(text).filter(|number| (1..=1_000_000_000).contains(number));
        self.value(name, default, about, "a whole number, 1 or more", parse, 1)
    }

    pub(super) fn partitions(&mut self, name: &'static str, default: &str, about: &'static str) -> u16 {
        self.value(name, default, about, "a whole number from 1 to 65535", parsed, 1)
    }

    pub(super) fn port(&mut self, name: &'static str, default: &str, about: &'static str) -> u16 {
        self.value(name, default, about, "a port number", parsed, 0)
    }

    pub(super) fn address(&mut self, name: &'static str, default: &str, about: &'static str) -> SocketAddr {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        self.value(name, default, about, "an address such as 0.0.0.0:5439", parsed, nowhere)
    }

    /// The default must be a valid URL, or reading always fails.
    pub(super) fn url(&mut self, name: &'static str, default: &str, about: &'static str) -> Url {
        let web = |text: &str| {
            let url = Url::parse(text).ok()?;
            let bare = url.username().is_empty() && url.password().is_none();
            (matches!(url.scheme(), "http" | "https") && url.has_host() && bare).then_some(url)
        };
        let nowhere = web(default).or_else(|| web("http://localhost"));
        let found = self.value(name, default, about, URL, |text| web(text).map(Some), nowhere);
        // a bad value has been noted, and a bad default cannot get here
        found.unwrap_or_else(|| unreachable!("http://localhost is a URL"))
    }

    pub(super) fn problem(&mut self, name: &'static str, expected: &str) {
        let found = self.shown.iter().find(|shown| shown.name == name).map(|shown| shown.value.clone());
        self.problems.push(Problem {
            name: name.to_owned(),
            found: found.unwrap_or_default(),
            expected: expected.to_owned(),
        });
    }

    pub(super) fn finish(mut self) -> Result<Vec<Shown>, SettingsError> {
        for key in &self.file_keys {
            if !self.shown.iter().any(|shown| shown.name.eq_ignore_ascii_case(key)) {
                let expected = "no such setting in the file".to_owned();
                self.problems.push(Problem { name: key.clone(), found: key.clone(), expected });
            }
        }
        if self.problems.is_empty() { Ok(self.shown) } else { Err(SettingsError::Bad(self.problems)) }
    }
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}
