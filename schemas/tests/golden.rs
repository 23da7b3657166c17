//! Every event shape that was ever written can be read.

use std::path::{Path, PathBuf};

use schemas::versioned::{self, Decoded, KINDS};
use serde_json::value::RawValue;

fn golden(kind: &str, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("events").join(format!("{kind}{ending}"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| {
        panic!("{} is missing: {error}. Every event type has a golden pair.", path.display())
    })
}

#[test]
fn every_version_reads_as_the_newest_shape() {
    for kind in KINDS {
        let written: Box<RawValue> = serde_json::from_str(&read(&golden(kind, ".json"))).unwrap();
        let Decoded::Known(event) = versioned::decode(kind, &written).unwrap() else {
            panic!("{kind} is listed but not read")
        };
        let newest: serde_json::Value =
            serde_json::from_str(versioned::encode(&event).unwrap().get()).unwrap();
        let expected: serde_json::Value =
            serde_json::from_str(&read(&golden(kind, ".expected.json"))).unwrap();
        assert_eq!(newest, expected, "{kind}");
    }
}

#[test]
fn events_are_written_as_in_the_newest_golden_file() {
    for kind in KINDS {
        let written: Box<RawValue> = serde_json::from_str(&read(&golden(kind, ".json"))).unwrap();
        let Decoded::Known(event) = versioned::decode(kind, &written).unwrap() else { unreachable!() };
        if versioned::kind(&event) == *kind {
            let again = versioned::encode(&event).unwrap();
            let compact: serde_json::Value = serde_json::from_str(written.get()).unwrap();
            assert_eq!(again.get(), compact.to_string(), "{kind}: same members in the same order");
        }
    }
}

#[test]
fn every_golden_file_belongs_to_an_event_type() {
    for entry in std::fs::read_dir(golden("any", "").parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let kind = name.trim_end_matches(".json").trim_end_matches(".expected").trim_end_matches(".schema");
        assert!(KINDS.contains(&kind), "schemas/events/{name} belongs to no event type");
    }
}

#[test]
fn an_event_of_a_newer_version_is_skipped() {
    let data: Box<RawValue> = serde_json::from_str(r#"{"anything":1}"#).unwrap();
    assert_eq!(versioned::decode("loggia.curation.project_selected.v9", &data).unwrap(), Decoded::Unknown);
    let error = versioned::decode("loggia.curation.project_withdrawn.v1", &data).unwrap_err();
    assert!(
        error.to_string().starts_with("the payload of a loggia.curation.project_withdrawn.v1 event"),
        "{error}"
    );
}

#[test]
fn numbers_round_trip_exactly_through_json() {
    // Without serde_json's feature float_roundtrip this number changes by one bit, and digests differ.
    let text = "6.66666668888889e44";
    let number: f64 = serde_json::from_str(text).unwrap();
    assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits());
}
