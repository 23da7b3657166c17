//! Where settings come from: flags, variables, and the settings file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Table, nearest};

/// The sources of settings, as plain maps.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The flags, by the names of the settings.
    pub flags: BTreeMap<String, String>,
    /// The environment variables of the table, by their names.
    pub environment: BTreeMap<String, String>,
    /// The path of the settings file, for messages, and its text.
    pub file: Option<(PathBuf, String)>,
}

/// Why the sources cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The settings file cannot be read.
    #[error("the settings file {} cannot be read", .path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The variable of a setting is not text.
    #[error("the variable {0} is not UTF-8; set it to text, or remove it")]
    NotUtf8(String),
}

impl Sources {
    /// Reads the flags, the variables of the process, and the settings file: the one that is named, or that of the program in the
    /// current folder if there is one.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, and if the variable of a setting is not UTF-8.
    pub fn of_process(
        table: &Table,
        flags: BTreeMap<String, String>,
        variables: impl Iterator<Item = (OsString, OsString)>,
        file: Option<PathBuf>,
    ) -> Result<Sources, SourceError> {
        let is_named = file.is_some();
        let path = file.unwrap_or_else(|| format!("{}.toml", table.program).into());
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => Some((path, text)),
            Err(error) if !is_named && error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(SourceError::File { path, source }),
        };
        Ok(Sources { flags, environment: relevant(table, variables)?, file })
    }

    /// Returns a sentence for each variable that has the prefix of the program and is not one of the table.
    pub fn unknown_variables(&self, table: &Table) -> Vec<String> {
        let prefix = table.prefix();
        let is_unknown = |name: &&String| {
            name.starts_with(&prefix)
                && !table.is_variable(name)
                && !table.other_variables.contains(&name.as_str())
        };
        let unknown = self.environment.keys().filter(is_unknown);
        unknown
            .map(|name| {
                let nearest =
                    nearest(name.trim_start_matches(&prefix), table.settings().map(|setting| setting.name));
                let meant = nearest
                    .map(|nearest| format!("; did you mean {prefix}{}?", nearest.to_ascii_uppercase()));
                let meant = meant.unwrap_or_default();
                format!("the variable {name} is not a setting and has no effect{meant}")
            })
            .collect()
    }
}

/// Returns the variables that have the prefix of the program or that the table names.
fn relevant(
    table: &Table,
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<String, String>, SourceError> {
    let prefix = table.prefix();
    let mut variables = BTreeMap::new();
    for (name, value) in all {
        let is_relevant =
            |name: &String| name.starts_with(&prefix) || table.other_variables.contains(&name.as_str());
        let Some(name) = name.into_string().ok().filter(is_relevant) else { continue };
        match value.into_string() {
            Ok(value) => drop(variables.insert(name, value)),
            Err(_) if table.is_variable(&name) => return Err(SourceError::NotUtf8(name)),
            Err(_) => drop(variables.insert(name, String::new())),
        }
    }
    Ok(variables)
}

/// Returns the values of a settings file by name. What is wrong with it is added to `errors`.
pub(crate) fn file_values(
    table: &Table,
    path: &Path,
    text: &str,
    errors: &mut Vec<String>,
) -> BTreeMap<String, String> {
    let path = path.display();
    let file: toml::Table = match text.parse() {
        Ok(file) => file,
        Err(error) => {
            errors.push(format!("the settings file {path} is not TOML: {error}"));
            return BTreeMap::new();
        }
    };
    let mut values = BTreeMap::new();
    for (name, value) in file {
        if table.setting(&name).is_none() {
            let nearest = nearest(&name, table.settings().map(|setting| setting.name));
            let meant = nearest.map(|nearest| format!("did you mean {nearest}? ")).unwrap_or_default();
            errors.push(format!(
                "{path} sets “{name}”, which is not a setting; {meant}`{} config` lists them all",
                table.program
            ));
            continue;
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(flag) => flag.to_string(),
            _ => {
                errors.push(format!(
                    "{path} sets “{name}” to a value that is neither a text, a number nor a Boolean"
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
    use crate::Setting;

    static TABLE: Table = Table {
        program: "shop",
        sections: &[&[
            Setting { name: "data", ..Setting::BLANK },
            Setting { name: "listen", ..Setting::BLANK },
        ]],
        other_variables: &["SHOP_FAULT", "OTEL_ENDPOINT", "TRACEPARENT"],
    };

    fn read(pairs: &[(&str, &[u8])]) -> Result<BTreeMap<String, String>, SourceError> {
        let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        relevant(&TABLE, pairs.iter().map(|(name, value)| (os(name.as_bytes()), os(value))))
    }

    #[test]
    fn an_unknown_variable_is_reported_with_the_one_that_was_meant() {
        let names = ["SHOP_LISTN", "SHOP_FORMER", "SHOP_COLOUR", "SHOP_FAULT", "SHOP_DATA", "LISTEN"];
        let environment = read(&names.map(|name| (name, &b"x"[..]))).unwrap();
        let unknown = Sources { environment, ..Sources::default() }.unknown_variables(&TABLE);
        let expected = [
            "the variable SHOP_COLOUR is not a setting and has no effect",
            "the variable SHOP_FORMER is not a setting and has no effect",
            "the variable SHOP_LISTN is not a setting and has no effect; did you mean SHOP_LISTEN?",
        ];
        assert_eq!(unknown, expected);
    }

    #[test]
    fn other_variables_of_the_table_are_kept() {
        let pairs = [("OTEL_ENDPOINT", &b"http://c"[..]), ("OTEL_OTHER", b"x"), ("TRACEPARENT", b"\xff")];
        let environment = read(&pairs).unwrap();
        let expected = [("OTEL_ENDPOINT", "http://c"), ("TRACEPARENT", "")];
        assert_eq!(environment, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(Sources { environment, ..Sources::default() }.unknown_variables(&TABLE), [""; 0]);
    }

    #[test]
    fn the_variable_of_a_setting_must_be_text() {
        assert_eq!(
            read(&[("SHOP_DATA", b"/srv/\xff")]).unwrap_err().to_string(),
            "the variable SHOP_DATA is not UTF-8; set it to text, or remove it"
        );
        assert!(read(&[("SHOP_COLOUR", b"\xff"), ("PATH", b"\xff")]).is_ok());
    }
}
