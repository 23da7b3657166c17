//! The text of a record that encoders read.

use embeddings::{Document, Field};
use schemas::record::{Record, Taste};

// What each field counts: its words are brought to this length together. Taste is what the catalog is about; who made a
// thing and what it is called are rare words that would otherwise outweigh it. They are part of what the name of the
// built-in encoder stands for.
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

/// Returns the text of a record. Its category alone says nothing. A sentence encoder reads no more than its first few hundred words:
/// taste comes first, and the name, which says least, is read only where nothing else is known.
pub(super) fn document(record: &Record) -> Document<'_> {
    let Taste { material, light, color, mood, composition, subject } = &record.taste;
    let taste = [
        ("material", material),
        ("light", light),
        ("color", color),
        ("mood", mood),
        ("composition", composition),
        ("subject", subject),
    ];
    let phrases = taste.map(|(name, text)| field(name, text.as_deref(), TASTE));
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
    let passages = [
        subject,
        material,
        light,
        color,
        mood,
        composition,
        &record.design_language,
        &record.intro,
        &record.description,
    ];
    Document {
        fields: phrases.chain(rest).collect(),
        context: vec![field("category", [record.category.as_str()], CATEGORY)],
        passages: passages.into_iter().flatten().map(String::as_str).collect(),
        title: &record.name,
    }
}

fn field<'a>(name: &'a str, texts: impl IntoIterator<Item = &'a str>, weight: f32) -> Field<'a> {
    Field { name, texts: texts.into_iter().collect(), weight, has_phrases: false }
}

#[cfg(test)]
mod tests;
