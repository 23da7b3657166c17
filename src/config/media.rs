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
            "The encoder for projects without vectors of their own: auto, which uses the weights that are there; builtin, which uses none; \
             or off." {
                shape: "auto|builtin|off",
                example: "builtin",
                default: Some("auto"),
            },
        weights: Option<PathBuf> = Value::optional => "weights"
            "The folder with the weights of the encoders, as `loggia models fetch` fills it; unset: weights in the data folder, or \
             else those that came with the program." {
                shape: "DIR",
                example: "/usr/local/share/loggia/weights",
            },
    }
}

/// The encoder for projects that are imported without vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// The encoders whose weights are there, and else those that are built in.
    Auto,
    /// The built-in encoders, which need no weights.
    BuiltIn,
    /// Nothing.
    Off,
}

impl FromStr for Vectors {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().to_ascii_lowercase().as_str() {
            "auto" => Ok(Vectors::Auto),
            "builtin" => Ok(Vectors::BuiltIn),
            "off" => Ok(Vectors::Off),
            folder if folder.contains(['/', '\\', '.']) => Err(
                "folders of models are not read any more: vectors of another model come with the import, and the setting weights \
                 names the folder of the weights; expected auto, builtin or off",
            ),
            _ => Err("expected auto, builtin or off"),
        }
    }
}
