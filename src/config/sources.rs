//! Where settings come from: flags, then variables, then the settings file, then defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::setting::{Setting, nearest, shown};
use super::tracing;
use super::{Fault, Resolved, settings};

/// How the names of all variables begin.
const PREFIX: &str = "LOGGIA_";
/// A variable that is no setting: the task that panics, in tests of debug builds.
pub(super) const FAULT: &str = "LOGGIA_FAULT";

/// The places that settings come from, as plain maps, so that a test needs no environment.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// By name, from the command line.
    pub flags: BTreeMap<String, String>,
    /// By variable name.
    pub environment: BTreeMap<String, String>,
    /// The file's path, for messages, and its text.
    pub file: Option<(PathBuf, String)>,
}

impl Sources {
    /// Takes the process's environment, and the file that is named or `loggia.toml` here.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be read, and where the variable of a setting is not UTF-8.
    pub fn of_process(flags: BTreeMap<String, String>, file: Option<PathBuf>) -> Result<Sources> {
        let named = file.is_some();
        let path = file.unwrap_or_else(|| "loggia.toml".into());
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => Some((path, text)),
            Err(error) if !named && error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("the settings file {} cannot be read", path.display()));
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the settings' variables")]
        let environment = variables(std::env::vars_os())?;
        Ok(Sources { flags, environment, file })
    }

    /// Returns a sentence for each variable that begins like one of a setting and is none.
    pub(super) fn unknown_variables(&self) -> Vec<String> {
        let unknown = |name: &&String| name.starts_with(PREFIX) && !is_variable(name) && *name != FAULT;
        let unknown = self.environment.keys().filter(unknown);
        unknown
            .map(|name| {
                let nearest =
                    nearest(name.trim_start_matches(PREFIX), settings().map(|setting| setting.name));
                let meant = nearest
                    .map(|nearest| format!("; did you mean {PREFIX}{}?", nearest.to_ascii_uppercase()));
                let meant = meant.unwrap_or_default();
                format!("the variable {name} is no setting and has no effect{meant}")
            })
            .collect()
    }
}

fn is_variable(name: &str) -> bool {
    settings().any(|setting| setting.variable() == name)
}

/// Those whose names begin as the settings' do, and those that tell of traces.
fn variables(all: impl Iterator<Item = (OsString, OsString)>) -> Result<BTreeMap<String, String>> {
    let mut variables = BTreeMap::new();
    for (name, value) in all {
        let wanted = |name: &String| name.starts_with(PREFIX) || tracing::VARIABLES.contains(&name.as_str());
        let Some(name) = name.into_string().ok().filter(wanted) else { continue };
        match value.into_string() {
            Ok(value) => drop(variables.insert(name, value)),
            Err(_) if is_variable(&name) => {
                bail!("the variable {name} is not UTF-8; set it to text, or take it away")
            }
            Err(_) => drop(variables.insert(name, String::new())),
        }
    }
    Ok(variables)
}

/// The values that were set, by the settings' names, each with where it was set.
#[derive(Debug, Default)]
pub(super) struct Given(BTreeMap<&'static str, (String, String)>);

impl Given {
    /// Takes each value from the first place that has it. What the file has beside settings is added to `faults`.
    pub(super) fn of(sources: &Sources, faults: &mut Vec<String>) -> Given {
        let file = sources.file.as_ref().map(|(path, text)| (path, file_values(path, text, faults)));
        let present = |value: &&String| !value.trim().is_empty();
        let find = |setting: &Setting| {
            if let Some(value) = sources.flags.get(setting.name) {
                return Some((value.clone(), "flag".to_owned()));
            }
            if let Some(value) = sources.environment.get(&setting.variable()).filter(present) {
                return Some((value.clone(), format!("variable {}", setting.variable())));
            }
            let (path, values) = file.as_ref()?;
            Some((values.get(setting.name).filter(present)?.clone(), path.display().to_string()))
        };
        Given(settings().filter_map(|setting| Some((setting.name, find(setting)?))).collect())
    }

    /// Takes a value away, so that the default holds. Returns whether one was set.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// Returns the value of a setting, or its default.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let given = self.0.get(name).map(|(value, _)| value.as_str());
        given.or_else(|| settings().find(|setting| setting.name == name)?.default)
    }

    /// Where it was set.
    fn source(&self, setting: &Setting) -> &str {
        match self.0.get(setting.name) {
            Some((_, source)) => source,
            None if setting.default.is_some() => "default",
            None => "unset",
        }
    }

    /// The setting as it is shown.
    pub(super) fn resolved(&self, setting: &Setting) -> Resolved {
        Resolved {
            name: setting.name,
            value: self.value(setting.name).map(|value| shown(setting, value)),
            source: self.source(setting).to_owned(),
            default: setting.default,
            variable: setting.variable(),
            about: setting.about,
        }
    }

    /// A fault of a setting: its name, its value and where it was set, and then `reason`.
    pub(super) fn fault(&self, name: &'static str, reason: impl std::fmt::Display) -> Fault {
        let setting = settings().find(|setting| setting.name == name);
        let (value, source) = setting.map_or((None, ""), |found| (self.value(name), self.source(found)));
        let value = setting.zip(value).map_or_else(String::new, |(found, value)| shown(found, value));
        Fault { setting: name, sentence: format!("{name} is “{value}” ({source}){reason}") }
    }
}

/// What a settings file sets.
fn file_values(path: &Path, text: &str, faults: &mut Vec<String>) -> BTreeMap<String, String> {
    let path = path.display();
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            faults.push(format!("the settings file {path} is not TOML: {error}"));
            return BTreeMap::new();
        }
    };
    let mut values = BTreeMap::new();
    for (name, value) in table {
        if !settings().any(|setting| setting.name == name) {
            let nearest = nearest(&name, settings().map(|setting| setting.name));
            let meant = nearest.map(|nearest| format!("did you mean {nearest}? ")).unwrap_or_default();
            faults.push(format!(
                "{path} sets “{name}”, which is no setting; {meant}`loggia config` lists them all"
            ));
            continue;
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(flag) => flag.to_string(),
            _ => {
                faults.push(format!(
                    "{path} sets “{name}” to something that is no text, number or truth value"
                ));
                continue;
            }
        };
        values.insert(name, value);
    }
    values
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn read(pairs: &[(&str, &[u8])]) -> Result<BTreeMap<String, String>> {
        let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        variables(pairs.iter().map(|(name, value)| (os(name.as_bytes()), os(value))))
    }

    #[test]
    fn a_variable_that_is_no_setting_is_told_with_the_one_that_was_meant() {
        let names =
            ["LOGGIA_LISTN", "LOGGIA_FORMER", "LOGGIA_COLOUR", "LOGGIA_FAULT", "LOGGIA_DATA", "LISTEN"];
        let environment = read(&names.map(|name| (name, &b"x"[..]))).unwrap();
        let told = Sources { environment, ..Sources::default() }.unknown_variables();
        let expected = [
            "the variable LOGGIA_COLOUR is no setting and has no effect",
            "the variable LOGGIA_FORMER is no setting and has no effect",
            "the variable LOGGIA_LISTN is no setting and has no effect; did you mean LOGGIA_LISTEN?",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_variables_of_traces_are_known() {
        let pairs = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &b"http://c"[..]),
            ("OTEL_OTHER", b"x"),
            ("TRACEPARENT", b"\xff"),
        ];
        let environment = read(&pairs).unwrap();
        let expected = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("TRACEPARENT", "")];
        assert_eq!(environment, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(Sources { environment, ..Sources::default() }.unknown_variables(), [""; 0]);
    }

    #[test]
    fn a_variable_that_is_not_text_is_refused_where_it_is_a_setting() {
        assert_eq!(
            read(&[("LOGGIA_DATA", b"/srv/\xff")]).unwrap_err().to_string(),
            "the variable LOGGIA_DATA is not UTF-8; set it to text, or take it away"
        );
        assert!(read(&[("LOGGIA_COLOUR", b"\xff"), ("PATH", b"\xff")]).is_ok());
    }
}
