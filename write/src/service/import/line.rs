//! The lines of an import, read on many threads.

use std::hash::{DefaultHasher, Hasher};

use event_log::StoreError;
use schemas::command::{CommandMessage, ImportLine, ImportOptions, LineForm};
use schemas::ids::CommandId;
use schemas::import::{
    Fault, Identity, ImportRecord, SlugOrigin, folded_id, made_slugs, parse_line, parse_part,
};
use schemas::slug::Slug;
use serde_json::{Map, Value};

use crate::derived_id::derived_id;

/// How many lines one thread reads at a time: few threads, for each keeps memory of its own.
const CHUNK: usize = 256;

/// A line on its way: where its outcome goes, the command it is, and what it says.
pub(super) struct Line {
    pub(super) index: usize,
    pub(super) number: u64,
    pub(super) command: CommandId,
    /// What it says; of a line that says a part of a record, what tells which project it is about.
    pub(super) record: ImportRecord,
    /// The members of a line that says a part.
    pub(super) part: Option<Map<String, Value>>,
    pub(super) identity: Identity,
    /// The slugs that it may have: one that is given or made from an id, or those that are made from its name.
    pub(super) slugs: Vec<Slug>,
    /// A hash of the record, its vectors and its id.
    pub(super) content: u64,
}

impl Line {
    /// Returns whether the line is known by its name, studio, year and city alone.
    pub(super) fn is_identified(&self) -> bool {
        self.record.origin == SlugOrigin::Name
    }
}

/// A line that was read, or what is wrong with it.
pub(super) type Read = Result<Line, Vec<Fault>>;

/// Reads the lines of an import on the threads that are there for long work.
pub(super) async fn read(
    message: &CommandMessage,
    lines: Vec<ImportLine>,
    options: ImportOptions,
) -> Result<Vec<Read>, StoreError> {
    let whole = message.id;
    let mut lines = lines.into_iter().enumerate();
    let mut reading = Vec::new();
    loop {
        let chunk: Vec<(usize, ImportLine)> = lines.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        reading.push(tokio::task::spawn_blocking(move || -> Vec<_> {
            chunk.into_iter().map(|(index, line)| read_one(whole, index, &line, options)).collect()
        }));
    }
    let mut read = Vec::new();
    for chunk in reading {
        read.extend(chunk.await.map_err(|error| StoreError::unavailable(error.to_string()))?);
    }
    Ok(read)
}

fn read_one(whole: CommandId, index: usize, line: &ImportLine, options: ImportOptions) -> Read {
    let (record, part) = match options.lines {
        LineForm::Record => (parse_line(&line.text, options.ignore_unknown)?, None),
        LineForm::Patch | LineForm::Cells => {
            let (record, part) = parse_part(&line.text)?;
            (record, Some(part))
        }
    };
    let slugs = match record.origin {
        SlugOrigin::Given | SlugOrigin::Id => vec![record.slug.clone()],
        SlugOrigin::Name => made_slugs(&record.record),
    };
    Ok(Line {
        index,
        number: line.number,
        command: derived_id(whole, "line", index),
        identity: Identity::of(&record.record),
        slugs,
        content: content(&(&record.record, &record.vectors, &part, record.id.as_deref().map(folded_id))),
        record,
        part,
    })
}

/// A hash of what a record says, however the line writes it.
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
    // Plain data always has its JSON, and the hash takes every byte.
    serde_json::to_writer(&mut hashing, line).ok();
    hashing.0.finish()
}
