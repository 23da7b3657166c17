//! The mappings that are kept with a catalog, for `loggia import --mapping NAME`: a file beside the event log, which backups contain.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::external_id::SourceName;

/// The file name of the kept mappings.
pub const KEPT_MAPPINGS: &str = "mappings.json";

/// The maximum length of one mapping, in bytes of TOML: 1 MiB.
pub const MAX_MAPPING_BYTES: usize = 1 << 20;

/// The maximum length of the file, in bytes: 16 MiB.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The kept mappings, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptMappings {
    /// Each mapping by its name, which is the source of the ids that are imported with it.
    pub mappings: BTreeMap<SourceName, KeptMapping>,
}

/// A kept mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptMapping {
    /// The mapping as TOML.
    pub text: String,
    /// When it was added or last replaced.
    pub added_at: Timestamp,
    /// The file that was last imported with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_file: Option<LastFile>,
}

/// The file that was last imported with a mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastFile {
    /// Its name, without folders.
    pub name: String,
    /// When it was imported.
    pub imported_at: Timestamp,
    /// Its columns, in their order; none if it has none, as nested JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

impl KeptMappings {
    /// Reads the text of the file.
    ///
    /// # Errors
    ///
    /// Fails if it is not what [`KeptMappings::text`] writes.
    pub fn parse(text: &[u8]) -> Result<KeptMappings, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    ///
    /// Never fails: names and texts can always be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_mappings_are_read_as_they_were_written() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let last_file =
            LastFile { name: "works.csv".into(), imported_at: at(2), columns: vec!["Title".into()] };
        let bare = KeptMapping { text: "name = \"tate\"\n".into(), added_at: at(1), last_file: None };
        let used = KeptMapping { last_file: Some(last_file), ..bare.clone() };
        let names = ["moma", "tate"].map(|name| name.parse().unwrap());
        let kept = KeptMappings { mappings: names.into_iter().zip([bare, used]).collect() };
        assert_eq!(KeptMappings::parse(kept.text().unwrap().as_bytes()).unwrap(), kept);
        for wrong in ["", "[]", "{}", r#"{"mappings":{"A b":{"text":"","added_at":"2026-10-01T00:00:00Z"}}}"#]
        {
            assert!(KeptMappings::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
