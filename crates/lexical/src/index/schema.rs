//! The fields of a document in tantivy. The searched fields form one text in which each word is repeated by the weight of its
//! field, so that plain BM25 over one field ranks a word of the name above one of the intro.

#[cfg(feature = "writer")]
mod tokenizer;

use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions};

#[cfg(feature = "writer")]
pub(crate) use tokenizer::{WeightedFieldTokenizer, combined_text};

use crate::SearchError;

/// The tokenizer's name in the schema. Only the writer needs the tokenizer itself.
pub(crate) const TOKENIZER: &str = "catalog";

/// Separates the fields of the combined text; replaced by a space within the fields.
pub(crate) const FIELD_SEPARATOR: char = '\u{1f}';

/// How often a word of name, studio, city, category and intro counts, in the order of the combined text. A word of the name must
/// outweigh one of the intro; among real records without intros the weights hardly matter.
const FIELD_WEIGHTS: [u32; 5] = [NAME_WEIGHT, 2, 2, 1, 1];

/// How often a word of the name counts: a word that occurs less often is not in the name.
pub(crate) const NAME_WEIGHT: u32 = 3;

/// The index's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The project's ULID: indexed for deletion, stored for the digest.
    pub(crate) project: Field,
    /// The slug as one term: for look-ups and suggestions.
    pub(crate) slug: Field,
    /// Name, studio, city, category and intro as one text: the only searched field.
    pub(crate) text: Field,
    /// The opaque state of the caller: stored, never searched.
    pub(crate) state: Field,
    /// The document's row in the row file (see `rows`).
    #[cfg_attr(not(feature = "writer"), expect(dead_code, reason = "only the writer fills rows in"))]
    pub(crate) row: Field,
}

/// Returns the schema of every index of this version.
pub(crate) fn schema() -> (Schema, Fields) {
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

/// Returns the fields of an index on disk.
///
/// # Errors
///
/// Fails if its schema is that of another version.
pub(crate) fn fields(index: &tantivy::Index) -> Result<Fields, SearchError> {
    let (expected, fields) = schema();
    if index.schema() == expected {
        Ok(fields)
    } else {
        Err(SearchError::Corrupt("its fields are those of another version".to_owned()))
    }
}

/// Calls `visit` with every word of a combined text and the weight of its field.
pub(crate) fn for_each_weighted_word(text: &str, visit: &mut impl FnMut(text::Word<'_>, u32)) {
    let mut first = 0;
    for (field, weight) in text.split(FIELD_SEPARATOR).zip(FIELD_WEIGHTS) {
        let mut next = first;
        let _ = text::words(field, &mut |word| {
            let position = first + word.position;
            // Joined words come after the last of theirs, and have the position of the first.
            next = next.max(position + 1);
            visit(text::Word { position, ..word }, weight);
            std::ops::ControlFlow::Continue(())
        });
        // One position stays empty between fields, so that no phrase matches across it.
        first = next + 1;
    }
}
