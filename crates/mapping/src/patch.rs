//! A mapped record as a change of a record that is there already.

use serde_json::{Map, Value, json};

use crate::mapping::Mapping;

impl Mapping {
    /// Returns a mapped record as a merge patch (RFC 7396): null stands for each member that the mapping fills and this record does not
    /// have, so that a text that is gone from the source is gone from the catalog too. What the mapping does not fill stays as it is.
    /// `details` become an object of values by label.
    pub fn patch_of(&self, mut record: Map<String, Value>) -> Map<String, Value> {
        for (member, _) in &self.members {
            match member.name().split_once('.') {
                None => {
                    record.entry(member.name()).or_insert(Value::Null);
                }
                Some((group, inner)) => {
                    if let Value::Object(group) = record.entry(group).or_insert_with(|| json!({})) {
                        group.entry(inner).or_insert(Value::Null);
                    }
                }
            }
        }
        if !self.details.is_empty() {
            let mut values: Map<String, Value> =
                self.details.iter().map(|(label, _)| (label.clone(), Value::Null)).collect();
            for detail in record.get("details").and_then(Value::as_array).into_iter().flatten() {
                if let (Some(label), Some(value)) = (detail["label"].as_str(), detail.get("value")) {
                    values.insert(label.to_owned(), value.clone());
                }
            }
            record.insert("details".to_owned(), values.into());
        }
        if !self.pictures.is_empty() {
            record.entry("pictures").or_insert(Value::Null);
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_the_mapping_fills_and_the_record_has_not_is_null() {
        let mapping = Mapping::parse(
            "a.toml",
            r#"
            [record]
            name = "T"
            year = "Y"
            category = { value = "art" }
            "taste.material" = "M"
            "taste.light" = "L"
            [details]
            Size = "S"
            Date = "Y"
            [[pictures]]
            source = "P"
            "#,
        )
        .unwrap();
        let record = json!({
            "name": "A", "category": "art", "taste": {"light": "dusk"}, "details": [{"label": "Date", "value": "n.d."}],
        });
        assert_eq!(
            Value::Object(mapping.patch_of(object(record))),
            json!({
                "name": "A", "category": "art", "taste": {"light": "dusk", "material": null},
                "details": {"Size": null, "Date": "n.d."}, "year": null, "pictures": null,
            })
        );
        let bare = json!({"name": "A", "category": "art"});
        assert_eq!(mapping.patch_of(object(bare))["taste"], json!({"material": null, "light": null}));
    }

    #[test]
    fn what_the_mapping_does_not_fill_is_absent() {
        let mapping =
            Mapping::parse("a.toml", "[record]\nname = \"T\"\ncategory = { value = \"art\" }").unwrap();
        let record = object(json!({"name": "A", "category": "art"}));
        assert_eq!(mapping.patch_of(record.clone()), record);
    }
}
