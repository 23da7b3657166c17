//! Pictures and vectors of projects.

use std::path::PathBuf;
use std::str::FromStr;

use super::section::{Value, section};

section! {
    /// Where pictures are fetched from, and the encoder of vectors.
    Media {
        hosts: Option<Hosts> = Value::optional => "picture_hosts"
            "The hosts that pictures may be fetched from, separated by commas; unset: any." {
                shape: "HOST,…",
                example: "images.example.org",
            },
        addresses: PictureAddresses = Value::required => "picture_addresses"
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

/// The hosts that pictures may be fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(pub Vec<String>);

impl FromStr for Hosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hosts: Vec<String> = text.split(',').map(|host| host.trim().to_owned()).collect();
        let plain = |host: &String| {
            !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        };
        match hosts.iter().find(|host| !plain(host)) {
            None => Ok(Hosts(hosts)),
            Some(wrong) => Err(format!(
                "“{wrong}” is no host; names such as images.example.org, separated by commas, are wanted"
            )),
        }
    }
}

/// Where pictures may be fetched from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureAddresses {
    /// From public addresses.
    Public,
    /// From any, the operator's own network included.
    Any,
}

impl FromStr for PictureAddresses {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "public" => Ok(PictureAddresses::Public),
            "any" => Ok(PictureAddresses::Any),
            _ => Err("public or any is wanted"),
        }
    }
}

/// What makes the vectors of projects that bring none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vectors {
    /// The encoders that need no model.
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
