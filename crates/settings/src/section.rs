//! Declares a section of settings: one entry has the name, type, default and help of a setting, and how its value is read.

use std::fmt::Display;
use std::str::FromStr;

use crate::{SettingError, Values};

/// Declares a struct with a field for each setting of a section, its list of settings, and how it is read.
///
/// An entry is `field: Type = read => "name" "help" { shape, example, default, secret or hidden }`, where `read` takes a
/// [`Value`]. The scope must have `Value` imported.
#[macro_export]
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
            pub const SETTINGS: &[$crate::Setting] = &[
                $($crate::Setting {
                    name: $name,
                    about: $about,
                    $($key: $value,)+
                    ..$crate::Setting::BLANK
                },)+
            ];

            /// Reads the settings of the section.
            ///
            /// # Errors
            ///
            /// Fails with the first setting that is invalid.
            pub fn read(values: &$crate::Values<'_>) -> Result<Self, $crate::SettingError> {
                Ok(Self {
                    $($field: $crate::Value::new(values, $name).read($read)?,)+
                })
            }
        }
    };
}

/// The value of one setting.
#[derive(Debug)]
pub struct Value<'a> {
    values: &'a Values<'a>,
    name: &'static str,
}

impl<'a> Value<'a> {
    /// Returns the value of the setting with this name.
    pub fn new(values: &'a Values<'a>, name: &'static str) -> Value<'a> {
        Value { values, name }
    }

    /// Applies a function to the value.
    ///
    /// # Errors
    ///
    /// Fails as the function does.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Value<'a>) -> Result<T, SettingError>,
    ) -> Result<T, SettingError> {
        read(self)
    }

    /// Returns the text that was set, or the default.
    pub fn text(&self) -> Option<&str> {
        self.values.text(self.name)
    }

    /// Parses the value; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be parsed.
    pub fn optional<T: FromStr<Err: Display>>(&self) -> Result<Option<T>, SettingError> {
        let parsed = self.text().map(str::parse).transpose();
        parsed.map_err(|error| self.invalid(format_args!(", which cannot be used: {error}")))
    }

    /// Parses the value of a setting that has a default.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be parsed.
    pub fn required<T: FromStr<Err: Display>>(&self) -> Result<T, SettingError> {
        let missing = || SettingError { setting: self.name, message: format!("{} is not set", self.name) };
        self.optional()?.ok_or_else(missing)
    }

    /// Returns the meaning of the value, which must be one of these words.
    ///
    /// # Errors
    ///
    /// Fails for any other value, and names the words.
    pub fn one_of<T: Copy, const N: usize>(&self, words: [(&str, T); N]) -> Result<T, SettingError> {
        let known = words.iter().find(|(word, _)| self.text() == Some(word));
        known.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let expected = words.map(|(word, _)| word).join(" or ");
            self.invalid(format_args!(", which cannot be used: expected {expected}"))
        })
    }

    /// Parses the value; the default of the type if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be parsed.
    pub fn or_default<T: FromStr<Err: Display> + Default>(&self) -> Result<T, SettingError> {
        Ok(self.optional()?.unwrap_or_default())
    }

    /// Returns an error of the setting: its name, its value, where it was set, and then the reason.
    pub fn invalid(&self, reason: impl Display) -> SettingError {
        self.values.invalid(self.name, reason)
    }
}
