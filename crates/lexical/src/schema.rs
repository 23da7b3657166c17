//! What the index holds of a document, and how the searched fields become one weighted text.

#[cfg(feature = "writer")]
mod analysis;

use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions};

#[cfg(feature = "writer")]
pub(super) use analysis::{WeightedFields, combined};

use super::SearchError;

/// The tokenizer's name in the schema. Only the writer needs the tokenizer itself.
pub(super) const TOKENIZER: &str = "catalog";

/// Stands between the fields of the combined text; taken out of the fields themselves.
pub(super) const FIELD_SEPARATOR: char = '\u{1f}';

/// How often a word counts in name, studio, city, category and intro: the order of the combined text. A
/// word of the name must outweigh one of the intro; among real records without intros the weights hardly matter.
pub(super) const WEIGHTS: [u32; 5] = [3, 2, 2, 1, 1];

/// The index's fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The project's ULID: indexed for deletion, stored for the digest.
    pub(super) project: Field,
    /// The slug as one term: for suggestions.
    pub(super) slug: Field,
    /// Name, studio, city, category and intro as one text: the only searched field.
    pub(super) text: Field,
    /// What the writer wants to be told again about the project: stored, never searched.
    pub(super) state: Field,
    /// The document's row beside the postings (see `rows`).
    #[cfg_attr(not(feature = "writer"), expect(dead_code, reason = "only the writer fills rows in"))]
    pub(super) row: Field,
}

/// The schema of every search index of this version.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let positions = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let fields = Fields {
        project: builder.add_text_field("project", STRING | STORED),
        slug: builder.add_text_field("slug", STRING | STORED),
        text: builder
            .add_text_field("text", TextOptions::default().set_indexing_options(positions).set_stored()),
        state: builder.add_bytes_field("state", STORED),
        row: builder.add_custom_field("row", "row", serde_json::Value::Null),
    };
    (builder.build(), fields)
}

/// Names the fields of an index on disk, if they are those of this version.
pub(super) fn fields_of(index: &tantivy::Index) -> Result<Fields, SearchError> {
    let (expected, fields) = schema();
    if index.schema() == expected {
        Ok(fields)
    } else {
        Err(SearchError::Corrupt("its fields are those of another version".to_owned()))
    }
}

/// Calls `visit` with every word of a combined text and the weight of its field: what the index holds of the document.
pub(super) fn weighted_words(text: &str, visit: &mut impl FnMut(text::Word<'_>, u32)) {
    let mut first = 0;
    for (field, weight) in text.split(FIELD_SEPARATOR).zip(WEIGHTS) {
        let mut next = first;
        let _ = text::words(field, &mut |word| {
            let position = first + word.position;
            next = position + 1;
            visit(text::Word { position, ..word }, weight);
            std::ops::ControlFlow::Continue(())
        });
        // One place stays empty between fields: no phrase reaches over it.
        first = next + 1;
    }
}
