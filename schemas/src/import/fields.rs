//! Reads the fields of a record one by one and collects their faults.

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::Fault;
use crate::event::VectorsRecorded;
use crate::external_id::{ExternalId, InvalidSourceName, SourceName};
use crate::record::{Category, Detail, PictureSource, Provenance, Year};
use crate::slug::Slug;
use crate::taste::{self, Taste};
use crate::text::normalised;
use crate::vector::Vector;

const MAX_DETAILS: usize = 100;
/// The maximum number of pictures of a record.
pub const MAX_PICTURES: usize = 100;
const MAX_URL: usize = 2_000;

/// The fields not read yet, and the faults found so far.
pub(super) struct Fields {
    members: Map<String, Value>,
    /// The prefix of field names in faults, for example `provenance.`.
    prefix: String,
    faults: Vec<Fault>,
}

impl Fields {
    pub(super) fn new(members: Map<String, Value>) -> Fields {
        Fields { members, prefix: String::new(), faults: Vec::new() }
    }

    /// Returns the faults. Remaining fields are unknown, which is a fault unless `ignore_unknown` is set.
    pub(super) fn finish(mut self, ignore_unknown: bool) -> Vec<Fault> {
        if !ignore_unknown {
            for name in std::mem::take(&mut self.members).into_iter().map(|(name, _)| name) {
                self.fault(
                    &name,
                    "is not a member of an import record; leave it out, or ignore unknown members",
                );
            }
        }
        self.faults
    }

    pub(super) fn fault(&mut self, name: &str, reason: impl Into<String>) {
        self.faults.push(Fault { field: format!("{}{name}", self.prefix), reason: reason.into() });
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.shift_remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &str, limit: usize) -> Option<String> {
        let value = self.take(name)?;
        self.text_of(name, value, limit)
    }

    fn text_of(&mut self, name: &str, value: Value, limit: usize) -> Option<String> {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            other => {
                self.fault(name, format!("is {}; expected a text", kind_of(&other)));
                return None;
            }
        };
        normalised(&text, limit).unwrap_or_else(|fault| {
            self.fault(name, fault.to_string());
            None
        })
    }

    pub(super) fn required_text(&mut self, name: &str, limit: usize) -> Option<String> {
        let faults = self.faults.len();
        let text = self.text(name, limit);
        if text.is_none() && self.faults.len() == faults {
            self.fault(name, "is absent or blank; every record needs one");
        }
        text
    }

    pub(super) fn slug(&mut self, name: &str) -> Option<Slug> {
        let text = self.text(name, 1_000)?;
        text.parse()
            .map_err(|error: crate::slug::InvalidSlug| self.fault(name, format!("is “{text}”; {error}")))
            .ok()
    }

    /// Reads an external id with its source, and derives a slug from it if one can be made.
    pub(super) fn id(&mut self, name: &str, source_name: &str) -> Option<(Option<Slug>, ExternalId)> {
        let faults = self.faults.len();
        let source = self.source(source_name);
        let id = self.id_text(name);
        if self.faults.len() > faults {
            return None;
        }
        match (id, source) {
            (Some(id), source) => Some((Slug::from_name(&id), ExternalId { id, source })),
            (None, Some(source)) => {
                let reason = format!(
                    "is “{source}”, and there is no id, which is unique in a source; give one, or leave the source out"
                );
                self.fault(source_name, reason);
                None
            }
            (None, None) => None,
        }
    }

    fn source(&mut self, name: &str) -> Option<SourceName> {
        let text = self.text(name, 100)?;
        text.parse()
            .map_err(|error: InvalidSourceName| self.fault(name, format!("is “{text}”; {error}")))
            .ok()
    }

    fn id_text(&mut self, name: &str) -> Option<String> {
        let value = self.take(name)?;
        if value.is_f64() {
            self.fault(
                name,
                "is a number with a fraction or an exponent, which programs write in more than one way; write the id as a \
                 text, in quotes",
            );
            return None;
        }
        self.text_of(name, value, 100)
    }

    /// Derives a slug from the name; `None` if it is impossible or a given slug or id is invalid.
    pub(super) fn made_slug(&mut self, name: &str) -> Option<Slug> {
        if self.faults.iter().any(|fault| matches!(fault.field.as_str(), "slug" | "id" | "source")) {
            return None;
        }
        let made = Slug::from_name(name);
        if made.is_none() {
            self.fault(
                "slug",
                "is absent, and none can be made from this name; give one of a-z, 0-9 and hyphens",
            );
        }
        made
    }

    pub(super) fn year(&mut self, name: &str) -> Option<Year> {
        let text = self.text(name, 100)?;
        whole(&text).parse::<Year>().map_err(|error| self.fault(name, format!("is “{text}”; {error}"))).ok()
    }

    pub(super) fn date(&mut self, name: &str) -> Option<Date> {
        let text = self.text(name, 100)?;
        // The parser also accepts longer and shorter forms; the catalog stores one.
        let date = if text.len() == 10 { text.parse().ok() } else { None };
        if date.is_none() {
            let perhaps = day_first(&text).map_or_else(String::new, |date| format!(", perhaps {date}"));
            self.fault(name, format!("is “{text}”; expected a date as YYYY-MM-DD{perhaps}"));
        }
        date
    }

    pub(super) fn category(&mut self, name: &str) -> Option<Category> {
        let text = self.required_text(name, 100)?;
        let category = Category::parse(&text);
        if category.is_none() {
            self.fault(
                name,
                format!("is “{text}”; expected one of architecture, interiors, design, photography, art"),
            );
        }
        category
    }

    pub(super) fn url(&mut self, name: &str) -> Option<String> {
        let text = self.text(name, MAX_URL)?;
        let address = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        if address.is_none_or(|a| a.is_empty() || a.starts_with('/') || text.contains(char::is_whitespace)) {
            self.fault(name, "is not a URL; expected one that begins with https:// or http://");
            return None;
        }
        Some(text)
    }

    /// Reads the fields of a nested object with their own prefix; fields that `read` leaves are unknown.
    fn object<T: Default>(&mut self, name: &str, value: Value, read: impl FnOnce(&mut Fields) -> T) -> T {
        let Value::Object(members) = value else {
            self.fault(name, format!("is {}; expected an object", kind_of(&value)));
            return T::default();
        };
        let mut inner = Fields { members, prefix: format!("{}{name}.", self.prefix), faults: Vec::new() };
        let read = read(&mut inner);
        // An unknown field in a known object is always a fault: it is most likely a typing error.
        self.faults.extend(inner.finish(false));
        read
    }

    fn list<T>(
        &mut self,
        name: &str,
        limit: usize,
        mut read: impl FnMut(&mut Fields, &str, Value) -> Option<T>,
    ) -> Vec<T> {
        let items = match self.take(name) {
            None => return Vec::new(),
            Some(Value::Array(items)) if items.len() <= limit => items,
            Some(Value::Array(items)) => {
                self.fault(name, format!("has {} items; at most {limit} are allowed", items.len()));
                return Vec::new();
            }
            Some(other) => {
                self.fault(name, format!("is {}; expected an array", kind_of(&other)));
                return Vec::new();
            }
        };
        items
            .into_iter()
            .enumerate()
            .filter_map(|(index, item)| read(self, &format!("{name}[{index}]"), item))
            .collect()
    }

    pub(super) fn details(&mut self, name: &str) -> Vec<Detail> {
        self.list(name, MAX_DETAILS, |fields, name, item| {
            fields.object(name, item, |detail| {
                let label = detail.required_text("label", 200);
                let value = detail.required_text("value", 5_000);
                Some(Detail { label: label?, value: value? })
            })
        })
    }

    /// Reads the pictures; a picture that is named twice is recorded once.
    pub(super) fn pictures(&mut self, name: &str) -> Vec<PictureSource> {
        let mut pictures: Vec<PictureSource> = Vec::new();
        for picture in self.named_pictures(name) {
            match pictures.iter_mut().find(|known| known.source == picture.source) {
                None => pictures.push(picture),
                Some(known) => match known.differences(&picture)[..] {
                    [] => known.update(&picture),
                    [text, ..] => {
                        let reason =
                            format!("names {} twice, each with another {text}; name it once", picture.source);
                        self.fault(name, reason);
                    }
                },
            }
        }
        pictures
    }

    fn named_pictures(&mut self, name: &str) -> Vec<PictureSource> {
        self.list(name, MAX_PICTURES, |fields, name, item| {
            if let Value::String(_) = item {
                let source = fields.text_of(name, item, MAX_URL)?;
                return fields.picture_source(name, source).map(PictureSource::of);
            }
            fields.object(name, item, |picture| {
                let given: Vec<String> =
                    ["source", "path", "url"].iter().filter_map(|name| picture.text(name, MAX_URL)).collect();
                let [alt, credit, rights] = ["alt", "credit", "rights"].map(|name| picture.text(name, 1_000));
                match <[String; 1]>::try_from(given) {
                    Ok([source]) => {
                        let source = picture.picture_source("source", source)?;
                        Some(PictureSource { source, alt, credit, rights })
                    }
                    Err(_) => {
                        picture.fault("source", "must be given once, as a relative path or an https URL");
                        None
                    }
                }
            })
        })
    }

    fn picture_source(&mut self, name: &str, source: String) -> Option<String> {
        let is_url = source.contains("://");
        let escapes = source.starts_with('/') || source.split(['/', '\\']).any(|part| part == "..");
        if (is_url && !source.starts_with("https://")) || (!is_url && escapes) {
            self.fault(name, "is neither an https URL nor a path below the file's own folder");
            return None;
        }
        Some(source)
    }

    pub(super) fn provenance(&mut self, name: &str) -> Provenance {
        let Some(value) = self.take(name) else { return Provenance::default() };
        self.object(name, value, |provenance| Provenance {
            curated_by: provenance.text("curated_by", 300),
            selected: provenance.date("selected"),
            in_archive_since: provenance.whole_year("in_archive_since"),
            note: provenance.text("note", super::MAX_NOTE),
        })
    }

    fn whole_year(&mut self, name: &str) -> Option<i16> {
        let text = self.text(name, 100)?;
        let year = whole(&text).parse::<i16>().ok().filter(|year| (1..=9999).contains(year));
        if year.is_none() {
            self.fault(name, format!("is “{text}”; expected a year such as 2011"));
        }
        year
    }

    /// Reads the taste dimensions from an object of their own or from the top level, each at one place only.
    pub(super) fn taste(&mut self, name: &str) -> Taste {
        let nested = match self.take(name) {
            None => Taste::default(),
            Some(value) => self.object(name, value, Fields::dimensions),
        };
        let top = self.dimensions();
        Taste::from_fn(|dimension| {
            let (nested, top) = (nested.get(dimension), top.get(dimension));
            if nested.is_some() && top.is_some() && nested != top {
                let reason = format!("differs from {name}.{dimension}; give it once");
                self.fault(dimension.as_str(), reason);
            }
            nested.or(top).map(str::to_owned)
        })
    }

    fn dimensions(&mut self) -> Taste {
        Taste::from_fn(|dimension| self.text(dimension.as_str(), taste::MAX_TEXT))
    }

    pub(super) fn vectors(&mut self, name: &str, model_name: &str) -> Option<VectorsRecorded> {
        let model = self.text(model_name, 200);
        let value = self.take(name)?;
        let (visual, semantic) =
            self.object(name, value, |sides| (sides.vector("visual"), sides.vector("semantic")));
        if visual.is_none() && semantic.is_none() {
            return None;
        }
        if model.is_none() {
            self.fault(model_name, "is absent; name the model that made the vectors");
        }
        Some(VectorsRecorded { model: model?, visual, semantic, computed: None })
    }

    fn vector(&mut self, name: &str) -> Option<Vector> {
        let value = self.take(name)?;
        let Value::Array(items) = value else {
            self.fault(name, format!("is {}; expected an array of numbers", kind_of(&value)));
            return None;
        };
        let numbers: Option<Vec<f32>> = items.iter().map(|item| item.as_f64().map(|n| n as f32)).collect();
        let Some(numbers) = numbers else {
            self.fault(name, "contains a value that is not a number");
            return None;
        };
        Vector::new(numbers).map_err(|fault| self.fault(name, fault.to_string())).ok()
    }
}

/// Removes a zero fraction: programs write whole numbers as 1984.0 if a column has gaps.
fn whole(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && fraction.bytes().all(|b| b == b'0') => whole,
        _ => text,
    }
}

/// Parses a date such as 31.12.2020.
fn day_first(text: &str) -> Option<Date> {
    let mut parts = text.split('.');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = parts.next().is_none() && year.len() == 4;
    is_whole.then(|| Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok())?
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
