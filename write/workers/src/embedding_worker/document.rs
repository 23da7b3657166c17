//! The text of a record that encoders read.

use embeddings::{Document, Field};
use schemas::record::Record;
use schemas::taste::Dimension;

// The weight of each field: the vector of its words is scaled to this length. The catalog is about taste; names and studios are
// rare words that would outweigh it without these weights. They are part of the definition of the built-in encoder: other
// weights need another model name.
const TASTE: f32 = 1.0;
const DESIGN_LANGUAGE: f32 = 0.9;
const INTRO: f32 = 0.6;
const CATEGORY: f32 = 0.5;
const DESCRIPTION: f32 = 0.5;
const DETAILS: f32 = 0.25;
const PICTURES: f32 = 0.25;
const CITY: f32 = 0.2;
const STUDIO: f32 = 0.2;
const NAME: f32 = 0.15;

/// Returns the text of a record. The category is only context: a record without other text has no vector. Studio, city and details
/// are left out of the meaning: names and measures have none.
pub(super) fn document(record: &Record) -> Document<'_> {
    let taste = &record.taste;
    let phrases = Dimension::ALL.map(|dimension| field(dimension.as_str(), taste.get(dimension), TASTE));
    let design_language = field("design_language", record.design_language.as_deref(), DESIGN_LANGUAGE);
    let phrases = phrases.into_iter().chain([design_language]);
    let phrases = phrases.map(|field| Field { has_phrases: true, ..field });
    let details = record.details.iter().flat_map(|detail| [detail.label.as_str(), detail.value.as_str()]);
    let alts = record.pictures.iter().filter_map(|picture| picture.alt.as_deref());
    let rest = [
        field("text", record.intro.as_deref(), INTRO),
        field("text", record.description.as_deref(), DESCRIPTION),
        field("details", details, DETAILS),
        field("text", alts, PICTURES),
        field("city", record.city.as_deref(), CITY),
        field("studio", record.studio.as_deref(), STUDIO),
        field("name", [record.name.as_str()], NAME),
    ];
    let texts = [&record.design_language, &record.intro, &record.description];
    let texts = texts.into_iter().filter_map(|text| text.as_deref());
    Document {
        fields: phrases.chain(rest).collect(),
        context: vec![field("category", [record.category.as_str()], CATEGORY)],
        passages: Dimension::ALL
            .into_iter()
            .filter_map(|dimension| taste.get(dimension))
            .chain(texts)
            .collect(),
        title: &record.name,
    }
}

fn field<'a>(name: &'a str, texts: impl IntoIterator<Item = &'a str>, weight: f32) -> Field<'a> {
    Field { name, texts: texts.into_iter().collect(), weight, has_phrases: false }
}

#[cfg(test)]
mod tests;
