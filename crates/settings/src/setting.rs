//! A setting, apart from its value.

/// One setting. [`Table`](crate::Table) adds the name of the program to its variable.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in the settings file, and with hyphens as a flag.
    pub name: &'static str,
    /// The shape of its values, such as `ADDRESS:PORT`.
    pub shape: &'static str,
    /// A value that can be set.
    pub example: &'static str,
    /// The value if it is not set.
    pub default: Option<&'static str>,
    /// Whether its value may contain a password.
    pub secret: bool,
    /// Whether its value is never shown. It has no flag: every user of the machine can read the arguments of a program.
    pub hidden: bool,
    /// What it does.
    pub about: &'static str,
}

impl Setting {
    /// The defaults of the members that an entry of [`section!`](crate::section) leaves out.
    pub const BLANK: Setting =
        Setting { name: "", shape: "", example: "", default: None, secret: false, hidden: false, about: "" };

    /// Returns its name as a flag, without the hyphens before it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns a value as it is shown: an address without its password, and asterisks for a hidden value.
    pub(crate) fn shown(&self, value: &str) -> String {
        match self {
            Setting { hidden: true, .. } => "***".to_owned(),
            Setting { secret: true, .. } => without_passwords(value),
            Setting { .. } => value.to_owned(),
        }
    }
}

/// Returns an address, or several separated by commas, with asterisks instead of user and password.
fn without_passwords(value: &str) -> String {
    if value.contains(',') {
        return value.split(',').map(without_passwords).collect::<Vec<_>>().join(",");
    }
    match (value.find("://"), value.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}***{}", &value[..scheme + 3], &value[at..])
        }
        _ => value.to_owned(),
    }
}

/// Returns the nearest of these names, if it differs from `name` only by a typing error: by at most a quarter of the letters, or
/// one, that are missing, wrong or in the wrong order.
pub fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let distance = |known: &str| strsim::osa_distance(&name, &known.to_ascii_lowercase());
    let (distance, known) = names.map(|known| (distance(known), known)).min()?;
    (distance <= (name.len() / 4).max(1)).then_some(known)
}
