//! Importing many lines at once: read in parallel, looked up together, decided one by one, committed together.

use std::collections::HashMap;

use schemas::command::{Answer, Command, CommandMessage, ImportLine, ImportOptions, LineOutcome, LineResult};
use schemas::ids::{CommandId, Position, StreamId};
use schemas::import::{Fault, ImportRecord, parse_line};

use super::past::Past;
use super::refused::Refused;
use super::{ATTEMPTS, CommandService};
use crate::derived_id::derived_id;
use crate::event_store::{AppendError, Namespace, StoreError};
use crate::project::{self, Change};

/// How many lines one thread reads at a time: few threads, for each keeps memory of its own.
const CHUNK: usize = 256;

/// A line on its way: where its outcome goes, the command it is, and what it says.
struct Line {
    index: usize,
    command: CommandId,
    record: ImportRecord,
}

/// The lines of one project, in their order, and what happened to it before.
struct Group {
    past: Past,
    lines: Vec<Line>,
}

impl CommandService {
    /// Carries out an import: each line is a command of its own, with an id made from the import's.
    pub(super) async fn import(&self, mut message: CommandMessage) -> Result<Answer, Refused> {
        let Command::Import { lines, options } = &mut message.command else {
            return Err(Refused::Impossible("it is no import".into()));
        };
        let (lines, options) = (std::mem::take(lines), *options);
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        let mut results: Vec<Option<LineResult>> = vec![None; lines.len()];
        let mut right = Vec::new();
        for (index, read) in read(lines, options).await?.into_iter().enumerate() {
            match read {
                Ok(record) => {
                    right.push(Line { index, command: derived_id(message.id, "line", index), record });
                }
                Err(faults) => results[index] = Some(LineResult::Rejected { faults }),
            }
        }
        let groups = self.grouped(right).await?;
        let brought = groups.into_iter().map(|group| self.bring(&message, group, options.dry_run));
        for outcome in futures::future::join_all(brought).await {
            for (index, result) in outcome? {
                results[index] = Some(result);
            }
        }
        let lines = numbers.into_iter().zip(results);
        Ok(Answer::Imported {
            position: self.store().head().await?.position,
            lines: lines
                .filter_map(|(number, result)| Some(LineOutcome { number, result: result? }))
                .collect(),
        })
    }

    /// Brings the lines of one project together and looks up, for all projects at once, what happened before.
    async fn grouped(&self, lines: Vec<Line>) -> Result<Vec<Group>, StoreError> {
        let mut slugs: Vec<String> = lines.iter().map(|line| line.record.slug.as_str().to_owned()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        let holders = self.store.holders(Namespace::SLUG, &slugs).await?;
        let mut streams: Vec<StreamId> = holders.values().cloned().collect();
        streams.sort_unstable();
        streams.dedup();
        let mut pasts = self.store.read_streams(&streams).await?;

        let (mut groups, mut places): (Vec<Group>, HashMap<String, usize>) = Default::default();
        for line in lines {
            let slug = line.record.slug.as_str();
            // Several slugs may lead to one project: its stream tells.
            let key = holders.get(slug).map_or(slug, StreamId::as_str).to_owned();
            let place = match places.get(&key) {
                Some(place) => *place,
                None => {
                    let past = match holders.get(slug) {
                        Some(stream) => Past::of(stream.clone(), pasts.remove(stream).unwrap_or_default())?,
                        None => self.nothing(),
                    };
                    groups.push(Group { past, lines: Vec::new() });
                    places.insert(key, groups.len() - 1);
                    groups.len() - 1
                }
            };
            groups[place].lines.push(line);
        }
        Ok(groups)
    }

    async fn bring(
        &self,
        message: &CommandMessage,
        mut group: Group,
        dry_run: bool,
    ) -> Result<Vec<(usize, LineResult)>, Refused> {
        let mut results = Vec::with_capacity(group.lines.len());
        for line in group.lines {
            let index = line.index;
            results.push((index, self.bring_line(message, &mut group.past, line, dry_run).await?));
        }
        Ok(results)
    }

    async fn bring_line(
        &self,
        message: &CommandMessage,
        past: &mut Past,
        line: Line,
        dry_run: bool,
    ) -> Result<LineResult, Refused> {
        let Line { command, record, .. } = line;
        for _ in 0..ATTEMPTS {
            // A line that was carried out before is told again what it did then.
            let before = past.before(command);
            let decided = project::import(before.as_ref().unwrap_or(past.project()), record.clone());
            let (change, events) = match decided {
                Ok(decided) => decided,
                Err(rejection) => return Ok(LineResult::Rejected { faults: rejection.into_faults() }),
            };
            if before.is_some() || events.is_empty() {
                return Ok(result(change, past, &record));
            }
            let first = if dry_run {
                Position::START
            } else {
                match self.append(message, command, past, events.clone()).await {
                    Ok(appended) => appended.first,
                    Err(
                        AppendError::Conflict { .. } | AppendError::Claimed { .. } | AppendError::Repeated(_),
                    ) => {
                        *past = self.past(&record.slug).await?;
                        continue;
                    }
                    Err(AppendError::Invalid { reason }) => {
                        let faults = vec![Fault { field: String::new(), reason }];
                        return Ok(LineResult::Rejected { faults });
                    }
                    Err(AppendError::Store(error)) => return Err(error.into()),
                }
            };
            for (offset, event) in (0..).zip(events) {
                past.add(command, Position(first.0 + offset), event);
            }
            return Ok(result(change, past, &record));
        }
        Err(Refused::Contended)
    }
}

fn result(change: Change, past: &Past, record: &ImportRecord) -> LineResult {
    let slug = past.project().listing().map_or_else(|| record.slug.clone(), |listing| listing.slug.clone());
    match change {
        Change::New => LineResult::New { slug },
        Change::Changed { members } => LineResult::Changed { slug, members },
        Change::Same => LineResult::Same { slug },
    }
}

/// Reads the lines on the threads that are there for long work.
async fn read(
    lines: Vec<ImportLine>,
    options: ImportOptions,
) -> Result<Vec<Result<ImportRecord, Vec<Fault>>>, StoreError> {
    let mut lines = lines.into_iter();
    let mut reading = Vec::new();
    loop {
        let chunk: Vec<ImportLine> = lines.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        reading.push(tokio::task::spawn_blocking(move || -> Vec<_> {
            chunk.iter().map(|line| parse_line(&line.text, options.ignore_unknown)).collect()
        }));
    }
    let mut read = Vec::new();
    for chunk in reading {
        read.extend(chunk.await.map_err(|error| StoreError::unavailable(error.to_string()))?);
    }
    Ok(read)
}
