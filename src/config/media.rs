//! Pictures and vectors of projects.

use std::path::PathBuf;
use std::str::FromStr;

use settings::values::HostNames;
use settings::{Value, section};

section! {
    /// Where pictures are fetched from, and the encoder of vectors.
    Media {
        hosts: Option<HostNames> = Value::optional => "picture_hosts"
            "The hosts that pictures may be fetched from, separated by commas; unset: any." {
                shape: "HOST,…",
                example: "images.example.org",
            },
        allow_private: bool = |value| value.one_of([("public", false), ("any", true)]) => "picture_addresses"
            "The IP addresses that pictures may be fetched from: public, or any, your own network included." {
                shape: "public|any",
                example: "any",
                default: Some("public"),
            },
        vectors: Vectors = Value::required => "vectors"
            "The encoder for projects without vectors of their own: builtin, off, or a folder with local models." {
                shape: "builtin|off|DIR",
                example: "/srv/models",
                default: Some("builtin"),
            },
    }
}

/// The encoder for projects that are imported without vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vectors {
    /// The built-in encoders, which need no model.
    BuiltIn,
    /// Nothing.
    Off,
    /// The models in this folder.
    Models(PathBuf),
}

impl FromStr for Vectors {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            word if word.eq_ignore_ascii_case("builtin") => Vectors::BuiltIn,
            word if word.eq_ignore_ascii_case("off") => Vectors::Off,
            folder => Vectors::Models(folder.into()),
        })
    }
}
