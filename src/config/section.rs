//! Declares a section of settings: one entry has the name, the type, the default and the help of a setting, and how its value
//! is read.
//!
//! Considered instead: clap's `env` and figment. Figment knows the place of a value too, but both stop at the first value of
//! a wrong type, and neither suggests the nearest name of a variable nor hides passwords in messages. Telling all faults at
//! once, with these, is most of the code here, so the table stays.

use std::fmt::Display;
use std::str::FromStr;

use super::Fault;
use super::sources::Given;

/// Declares a struct with a field for each setting of a section, its list of settings, and how it is read.
///
/// An entry is `field: Type = read => "name" "help" { shape, example, default, secret or hidden }`, where `read` takes a
/// [`Value`].
macro_rules! section {
    (
        $(#[$doc:meta])*
        $section:ident {
            $($field:ident: $type:ty = $read:expr => $name:literal $about:literal { $($key:ident: $value:expr),+ $(,)? },)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $section {
            $(#[doc = $about] pub $field: $type,)+
        }

        impl $section {
            /// The settings of the section, in the order in which they are shown.
            pub(super) const SETTINGS: &[$crate::config::setting::Setting] = &[
                $($crate::config::setting::Setting {
                    name: $name,
                    about: $about,
                    $($key: $value,)+
                    ..$crate::config::setting::Setting::BLANK
                },)+
            ];

            /// Reads the settings of the section.
            ///
            /// # Errors
            ///
            /// Fails with the first setting that cannot be used.
            pub(super) fn read(given: &$crate::config::sources::Given) -> Result<Self, $crate::config::Fault> {
                Ok(Self {
                    $($field: Value::new(given, $name).read($read)?,)+
                })
            }
        }
    };
}
pub(super) use section;

/// The value of one setting, as it was given.
pub(super) struct Value<'a> {
    given: &'a Given,
    name: &'static str,
}

impl<'a> Value<'a> {
    pub(super) fn new(given: &'a Given, name: &'static str) -> Value<'a> {
        Value { given, name }
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Value<'a>) -> Result<T, Fault>) -> Result<T, Fault> {
        read(self)
    }

    /// Returns the text that was given, or the default.
    pub(super) fn text(&self) -> Option<&str> {
        self.given.value(self.name)
    }

    /// Parses the value; `None` if there is none.
    pub(super) fn optional<T: FromStr<Err: Display>>(&self) -> Result<Option<T>, Fault> {
        let parsed = self.text().map(str::parse).transpose();
        parsed.map_err(|error| self.fault(format_args!(", which cannot be used: {error}")))
    }

    /// Parses the value of a setting that has a default.
    pub(super) fn required<T: FromStr<Err: Display>>(&self) -> Result<T, Fault> {
        let missing = || Fault { setting: self.name, sentence: format!("{} is not set", self.name) };
        self.optional()?.ok_or_else(missing)
    }

    /// Parses the value; an empty list if there is none.
    pub(super) fn or_default<T: FromStr<Err: Display> + Default>(&self) -> Result<T, Fault> {
        Ok(self.optional()?.unwrap_or_default())
    }

    /// Returns a fault of the setting, whose sentence begins with its name, its value and where it was set.
    pub(super) fn fault(&self, reason: impl Display) -> Fault {
        self.given.fault(self.name, reason)
    }
}
