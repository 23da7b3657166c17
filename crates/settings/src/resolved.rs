//! The values of all settings: each from the first source that has it, and everything that is wrong with them at once.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

use crate::sources::file_values;
use crate::{Setting, Sources, Table};

/// A setting that is invalid.
#[derive(Debug)]
pub struct SettingError {
    /// Its name.
    pub(crate) setting: &'static str,
    /// Its name, value and source, and what is wrong with it.
    pub(crate) message: String,
}

/// What is wrong with the settings: a line for each of them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSettings(String);

/// A setting with its value, as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct ResolvedSetting {
    /// Its name in the file.
    pub name: &'static str,
    /// Its value, secrets hidden; null while unset.
    pub value: Option<String>,
    /// The source of the value: a flag, a variable, a file or the default.
    pub source: String,
    /// The value if it is not set.
    pub default: Option<&'static str>,
    /// Its variable.
    pub variable: String,
    /// What it does.
    pub about: &'static str,
}

impl ResolvedSetting {
    /// Returns whether it was set, to whatever value.
    pub fn is_set(&self) -> bool {
        !matches!(self.source.as_str(), "default" | "unset")
    }
}

impl Table {
    /// Reads all settings with `read`.
    ///
    /// # Errors
    ///
    /// Fails with a line for each setting that is invalid: its name, value and source, and what is expected.
    pub fn read<T>(
        &self,
        sources: &Sources,
        read: impl Fn(&Values<'_>) -> Result<T, SettingError>,
    ) -> Result<T, InvalidSettings> {
        let mut errors = Vec::new();
        let mut values = Values::new(self, sources, &mut errors);
        loop {
            match read(&values) {
                Ok(settings) if errors.is_empty() => return Ok(settings),
                Ok(_) => break,
                // With its default instead, the others are checked too.
                Err(SettingError { setting, message }) => {
                    errors.push(message);
                    if !values.unset(setting) {
                        break;
                    }
                }
            }
        }
        Err(InvalidSettings(errors.join("\n")))
    }
}

/// The values that were set.
#[derive(Debug)]
pub struct Values<'a> {
    table: &'a Table,
    /// Each value with its source, by the name of the setting.
    set: BTreeMap<&'static str, (String, String)>,
}

impl<'a> Values<'a> {
    /// Takes each value from the first source that has it. What the settings file has besides settings is added to `errors`.
    fn new(table: &'a Table, sources: &Sources, errors: &mut Vec<String>) -> Values<'a> {
        let file = sources.file.as_ref().map(|(path, text)| (path, file_values(table, path, text, errors)));
        let is_present = |value: &&String| !value.trim().is_empty();
        let find = |setting: &Setting| {
            if let Some(value) = sources.flags.get(setting.name) {
                return Some((value.clone(), "flag".to_owned()));
            }
            let variable = table.variable(setting);
            if let Some(value) = sources.environment.get(&variable).filter(is_present) {
                return Some((value.clone(), format!("variable {variable}")));
            }
            let (path, values) = file.as_ref()?;
            Some((values.get(setting.name).filter(is_present)?.clone(), path.display().to_string()))
        };
        let set = table.settings().filter_map(|setting| Some((setting.name, find(setting)?))).collect();
        Values { table, set }
    }

    /// Removes a value, so that the setting has its default. Returns whether it was set.
    fn unset(&mut self, name: &str) -> bool {
        self.set.remove(name).is_some()
    }

    /// Returns the value of a setting, or its default.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let set = self.set.get(name).map(|(value, _)| value.as_str());
        set.or_else(|| self.table.setting(name)?.default)
    }

    fn source(&self, setting: &Setting) -> &str {
        match self.set.get(setting.name) {
            Some((_, source)) => source,
            None if setting.default.is_some() => "default",
            None => "unset",
        }
    }

    /// Returns all settings with their values, as they are shown.
    pub fn resolved(&self) -> Vec<ResolvedSetting> {
        let resolved = |setting: &Setting| ResolvedSetting {
            name: setting.name,
            value: self.text(setting.name).map(|value| setting.shown(value)),
            source: self.source(setting).to_owned(),
            default: setting.default,
            variable: self.table.variable(setting),
            about: setting.about,
        };
        self.table.settings().map(resolved).collect()
    }

    /// Returns an error of a setting: its name, its value, where it was set, and then the reason.
    pub(crate) fn invalid(&self, name: &'static str, reason: impl Display) -> SettingError {
        let setting = self.table.setting(name);
        let (value, source) = setting.map_or((None, ""), |found| (self.text(name), self.source(found)));
        let value = setting.zip(value).map_or_else(String::new, |(found, value)| found.shown(value));
        SettingError { setting: name, message: format!("{name} is “{value}” ({source}){reason}") }
    }
}
