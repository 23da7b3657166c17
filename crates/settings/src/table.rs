//! All settings of a program.

use crate::Setting;

/// The settings of a program.
#[derive(Debug)]
pub struct Table {
    /// The name of the program: its settings file is `{program}.toml`, and its variables begin with the name in capitals and an
    /// underscore.
    pub program: &'static str,
    /// The settings of each section, in the order in which they are shown.
    pub sections: &'static [&'static [Setting]],
    /// Variables that are read besides those of the settings.
    pub other_variables: &'static [&'static str],
}

impl Table {
    /// Returns all settings, in the order in which they are shown.
    pub fn settings(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        self.sections.iter().copied().flatten()
    }

    /// Returns the setting with this name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings().find(|setting| setting.name == name)
    }

    /// Returns the environment variable of a setting.
    pub fn variable(&self, setting: &Setting) -> String {
        self.prefix() + &setting.name.to_ascii_uppercase()
    }

    /// Returns the help of a setting: flag, variable, what it does, default and example.
    pub fn help(&self, setting: &Setting) -> String {
        let Setting { shape, about, example, .. } = setting;
        let flag = if setting.hidden { String::new() } else { format!("--{} {shape}, ", setting.flag()) };
        let default = setting.default.map_or_else(|| "unset".to_owned(), |value| format!("default {value}"));
        let variable = self.variable(setting);
        format!("  {flag}{variable}\n      {about}\n      {default}; example: {example}")
    }

    /// Returns how the names of all variables begin.
    pub(crate) fn prefix(&self) -> String {
        self.program.to_ascii_uppercase() + "_"
    }

    pub(crate) fn is_variable(&self, name: &str) -> bool {
        self.settings().any(|setting| self.variable(setting) == name)
    }
}
