//! Parses the lines of an import on several threads.

use std::hash::{DefaultHasher, Hasher};

use event_log::StoreError;
use schemas::command::{CommandMessage, ImportLine, ImportOptions, LineForm};
use schemas::external_id::ExternalId;
use schemas::ids::CommandId;
use schemas::import::{
    Fault, Identity, ImportRecord, SlugOrigin, made_slugs, named_pictures, parse_line, parse_part,
};
use schemas::record::PictureSource;
use schemas::slug::Slug;
use schemas::text::canonical;
use serde_json::{Map, Value, json};

use crate::derived_id::derived_id;

/// The number of lines that one thread parses at a time. Each thread keeps memory of its own, so there should be few.
const CHUNK: usize = 256;

pub(super) struct Line {
    /// The index of its outcome.
    pub(super) index: usize,
    pub(super) number: u64,
    /// Its own command id, derived from that of the import.
    pub(super) command: CommandId,
    /// Its record; of a line with a patch, only the members that identify the project.
    pub(super) record: ImportRecord,
    pub(super) patch: Option<Map<String, Value>>,
    /// The pictures that the project keeps if it has them, although the record does not name them.
    pub(super) absent_pictures: Vec<PictureSource>,
    pub(super) identity: Identity,
    /// Its possible slugs: those that are derived from its id or from its name, or the one that it names if it has no id.
    pub(super) slugs: Vec<Slug>,
    /// Slugs at which its project may be that was imported before its id had a source.
    pub(super) slugs_without_source: Vec<Slug>,
    /// A hash of the record, its vectors and its id.
    pub(super) content: u64,
}

impl Line {
    /// Returns the external id that identifies the project.
    pub(super) fn id(&self) -> Option<&ExternalId> {
        self.record.id.as_ref()
    }

    /// Returns the slug that the line names.
    pub(super) fn given_slug(&self) -> Option<&Slug> {
        (self.record.origin == SlugOrigin::Given).then_some(&self.record.slug)
    }

    /// Returns the name of the project, if the line says it.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.patch {
            None => Some(&self.record.record.name),
            Some(patch) => patch.get("name").and_then(Value::as_str),
        }
    }

    /// Returns every slug at which the project of the line may be.
    pub(super) fn all_slugs(&self) -> impl Iterator<Item = &Slug> {
        self.slugs.iter().chain(&self.slugs_without_source).chain(self.given_slug())
    }

    /// Returns whether only name, studio, year and city identify the project.
    pub(super) fn is_identified_by_name(&self) -> bool {
        self.record.origin == SlugOrigin::Name
    }
}

/// A parsed line, or its faults.
pub(super) type Parsed = Result<Line, Vec<Fault>>;

/// Parses the lines of an import on the threads for blocking work.
pub(super) async fn parse_lines(
    message: &CommandMessage,
    lines: Vec<ImportLine>,
    options: ImportOptions,
) -> Result<Vec<Parsed>, StoreError> {
    let whole = message.id;
    let mut lines = lines.into_iter().enumerate();
    let mut chunks = Vec::new();
    loop {
        let chunk: Vec<(usize, ImportLine)> = lines.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        chunks.push(tokio::task::spawn_blocking(move || -> Vec<_> {
            chunk.into_iter().map(|(index, line)| parse(whole, index, &line, options)).collect()
        }));
    }
    let mut parsed = Vec::new();
    for chunk in chunks {
        parsed.extend(chunk.await.map_err(|error| StoreError::unavailable(error.to_string()))?);
    }
    Ok(parsed)
}

fn parse(whole: CommandId, index: usize, line: &ImportLine, options: ImportOptions) -> Parsed {
    let (record, patch) = match options.lines {
        LineForm::Record => (parse_line(&line.text, options.ignore_unknown)?, None),
        LineForm::Patch | LineForm::Cells => {
            let (record, patch) = parse_part(&line.text)?;
            (record, Some(patch))
        }
    };
    let slugs = match (record.origin, &record.id) {
        (SlugOrigin::Name, _) => made_slugs(&record.record),
        (SlugOrigin::Given | SlugOrigin::Id, Some(id)) => id.slugs(),
        (SlugOrigin::Given | SlugOrigin::Id, None) => vec![record.slug.clone()],
    };
    let with_source = record.id.as_ref().filter(|id| id.source.is_some());
    let without = with_source.map(|id| ExternalId { source: None, ..id.clone() }.slugs());
    let slugs_without_source = without.into_iter().flatten().filter(|slug| !slugs.contains(slug)).collect();
    Ok(Line {
        index,
        number: line.number,
        command: derived_id(whole, "line", index),
        identity: Identity::of(&record.record),
        slugs,
        slugs_without_source,
        content: content(&(&record.record, &record.vectors, &patch, &record.id, &line.absent_pictures)),
        record,
        patch,
        absent_pictures: line.absent_pictures.iter().map(recorded).collect(),
    })
}

/// Returns a picture as a record has it. A text that no record may have is left out: the line is valid without the picture.
fn recorded(picture: &PictureSource) -> PictureSource {
    let members = Map::from_iter([("pictures".to_owned(), json!([picture]))]);
    match named_pictures(members).pop() {
        Some(named) => named.picture,
        None => PictureSource::of(canonical(&picture.source)),
    }
}

/// Returns a hash of the content of a record, whatever its notation.
fn content(line: &impl serde::Serialize) -> u64 {
    struct Hashing(DefaultHasher);
    impl std::io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(DefaultHasher::new());
    // Plain data can always be serialised, and the hash accepts every byte.
    serde_json::to_writer(&mut hashing, line).ok();
    hashing.0.finish()
}
