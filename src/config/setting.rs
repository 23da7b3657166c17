//! What is known of a setting apart from its value.

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in `loggia.toml`, and with hyphens as a flag.
    pub name: &'static str,
    /// The shape of its values, as `ADDRESS:PORT`.
    pub shape: &'static str,
    /// A value that may be set.
    pub example: &'static str,
    /// The value if it is not set.
    pub default: Option<&'static str>,
    /// Whether its value may hold a password.
    pub secret: bool,
    /// Whether its value is never shown. It has no flag: everybody on the machine can read the arguments of a program.
    pub hidden: bool,
    /// What it does.
    pub about: &'static str,
}

/// Returns what is shown of a value: an address without its password, or nothing.
pub(super) fn shown(setting: &Setting, value: &str) -> String {
    match setting {
        Setting { hidden: true, .. } => "***".to_owned(),
        Setting { secret: true, .. } => hide(value),
        Setting { .. } => value.to_owned(),
    }
}

/// An address, or several with commas, with the passwords taken out.
fn hide(value: &str) -> String {
    if value.contains(',') {
        return value.split(',').map(hide).collect::<Vec<_>>().join(",");
    }
    match (value.find("://"), value.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}***{}", &value[..scheme + 3], &value[at..])
        }
        _ => value.to_owned(),
    }
}

impl Setting {
    /// Blank members, to be replaced by those of a setting.
    pub(super) const BLANK: Setting =
        Setting { name: "", shape: "", example: "", default: None, secret: false, hidden: false, about: "" };

    /// Returns its environment variable.
    pub fn variable(&self) -> String {
        format!("LOGGIA_{}", self.name.to_ascii_uppercase())
    }

    /// Returns its name as a flag, without the hyphens before it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the text that `--help-settings` shows of it.
    pub fn help(&self) -> String {
        let flag = if self.hidden { String::new() } else { format!("--{} {}, ", self.flag(), self.shape) };
        let default = self.default.map_or_else(|| "unset".to_owned(), |default| format!("default {default}"));
        format!(
            "  {flag}{}\n      {}\n      {default}; example: {}",
            self.variable(),
            self.about,
            self.example
        )
    }
}

/// Returns the name that differs from `name` by a slip: by few letters that are missing, wrong or in the wrong order.
pub fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let distance = |known: &str| strsim::osa_distance(&name, &known.to_ascii_lowercase());
    let (distance, known) = names.map(|known| (distance(known), known)).min()?;
    (distance <= (name.len() / 4).max(1)).then_some(known)
}
