//! The conversions of types that are written as text, which `serde(try_from = "String", into = "String")` needs.

/// Implements the conversions from and to `String` of types with `FromStr` and `Display`.
macro_rules! string_conversions {
    ($($name:ident),+) => {$(
        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    )+};
}

/// Implements `as_str`, `FromStr`, `Display` and the conversion to `String` of types that wrap the `String` they are made from.
macro_rules! string_wrapper {
    ($($name:ident),+) => {$(
        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = <$name as TryFrom<String>>::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $name::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

/// Implements `JsonSchema` as a string, either in place or under the type's name.
macro_rules! string_schema {
    ($name:ident, inline: $inline:literal, $($keyword:literal: $value:literal),+) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                $inline
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", $($keyword: $value),+})
            }
        }
    };
}

pub(crate) use {string_conversions, string_schema, string_wrapper};
