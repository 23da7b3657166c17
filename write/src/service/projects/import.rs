//! Imports many lines at once: parsed in parallel, looked up together, decided one by one, appended in batches.

mod first_lines;
mod identities;
mod line;
mod targets;

use std::collections::HashMap;
use std::sync::PoisonError;

use event_log::{AppendError, StoreError};
use futures::future::try_join_all;
use schemas::command::{Command, CommandMessage, CommandReply, ImportOptions, LineOutcome, LineResult};
use schemas::event::Event;
use schemas::import::{Fault, ImportRecord, MAX_PICTURES};
use schemas::record::{PictureSource, Record};
use schemas::slug::Slug;

use super::{ProjectHistory, ProjectService};
use crate::project::{self, Change, Listing, PictureOutcome};
use crate::service::ATTEMPTS;
use crate::service::error::CommandError;
use line::{Line, parse_lines};
use targets::{LineTarget, LineTargets};

use first_lines::FirstLine;
pub(super) use first_lines::FirstLines;
pub(super) use identities::IdentityIndex;

/// The number of projects that are decided on and appended together; the next batch is decided on while this one is being
/// appended.
const BATCH: usize = 500;

/// The line for one project, and the project's history.
struct Group {
    history: ProjectHistory,
    line: Line,
    /// The indexes of further lines with the same content.
    copies: Vec<usize>,
    /// The number of conflicts so far.
    attempts: usize,
}

/// What is decided for a line.
enum Decision {
    /// Its outcome, without an append.
    Outcome(LineResult),
    /// The events to append, and the outcome then.
    Append(Vec<Event>, LineResult),
}

/// Whether all pictures that a record names as files are stored; if only some are, the sources of these.
#[derive(Default)]
struct Kept {
    all: bool,
    some: Vec<String>,
}

/// The outcome of a line, by the index of the line.
type Outcome = (usize, LineResult);

impl ProjectService {
    /// Executes an import: each line is a command with its own id, which is derived from that of the import.
    pub(super) async fn import(&self, mut message: CommandMessage) -> Result<CommandReply, CommandError> {
        let Command::Import { lines, options } = &mut message.command else {
            return Err(CommandError::misrouted(&message.command));
        };
        let (lines, options) = (std::mem::take(lines), *options);
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        let mut results: Vec<Option<LineResult>> = vec![None; lines.len()];
        let mut valid = Vec::new();
        for (index, parsed) in parse_lines(&message, lines, options).await?.into_iter().enumerate() {
            match parsed {
                Ok(line) => valid.push(line),
                Err(faults) => results[index] = Some(LineResult::Rejected { faults }),
            }
        }
        let (groups, mut outcomes) = self.group_by_project(&message, valid).await?;
        outcomes.extend(self.execute_groups(&message, groups, options).await?);
        for (index, result) in outcomes {
            results[index] = Some(result);
        }
        let lines = numbers.into_iter().zip(results);
        Ok(CommandReply::Imported {
            position: self.writer.log.head().await?.position,
            lines: lines
                .filter_map(|(number, result)| Some(LineOutcome { number, result: result? }))
                .collect(),
        })
    }

    /// Resolves the project of each line and loads the histories of all at once. Of several lines for one project the first
    /// counts: those with the same content get its outcome, the others are rejected.
    async fn group_by_project(
        &self,
        message: &CommandMessage,
        lines: Vec<Line>,
    ) -> Result<(Vec<Group>, Vec<Outcome>), StoreError> {
        let import = message.correlation;
        let mut targets = self.line_targets(lines.iter()).await?;
        let mut first_lines = self.first_lines.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut groups, mut outcomes): (Vec<Group>, Vec<Outcome>) = Default::default();
        let mut firsts: HashMap<String, (FirstLine, usize)> = HashMap::new();
        for line in lines {
            let target = match targets.resolve(&line, import, &first_lines) {
                Ok(target) => target,
                Err(faults) => {
                    outcomes.push((line.index, LineResult::Rejected { faults }));
                    continue;
                }
            };
            let slug = targets.slug(&target).unwrap_or(&line.record.slug).clone();
            let in_message = firsts.get(slug.as_str()).copied();
            let before = first_lines.get(import, slug.as_str()).filter(|first| first.number != line.number);
            match (in_message, before) {
                (None, None) => {
                    firsts.insert(slug.as_str().to_owned(), (FirstLine::of(&line), groups.len()));
                    groups.push(self.group(line, target, &mut targets));
                }
                (Some((first, group)), _) if first.content == line.content => {
                    groups[group].copies.push(line.index)
                }
                (None, Some(first)) if first.content == line.content => {
                    outcomes.push((line.index, same(slug)));
                }
                (Some((first, _)), _) | (None, Some(first)) => {
                    outcomes.push((line.index, contradiction(first.number, slug.as_str())));
                }
            }
        }
        first_lines.remember(import, firsts.iter().map(|(slug, (first, _))| (slug.as_str(), *first)));
        Ok((groups, outcomes))
    }

    fn group(&self, mut line: Line, target: LineTarget, targets: &mut LineTargets) -> Group {
        let history = self.history_for(&mut line, target, targets);
        Group { history, line, copies: Vec::new(), attempts: 0 }
    }

    /// Returns the history of a line's project. A line that creates the project gets the slug that was found for it.
    fn history_for(&self, line: &mut Line, target: LineTarget, targets: &mut LineTargets) -> ProjectHistory {
        match target {
            LineTarget::Existing(stream) => {
                targets.take_history(&stream).unwrap_or_else(|| ProjectHistory::empty(stream))
            }
            LineTarget::New(slug) => {
                line.record.slug = slug;
                self.new_history()
            }
        }
    }

    /// Executes all groups in concurrent batches.
    async fn execute_groups(
        &self,
        message: &CommandMessage,
        groups: Vec<Group>,
        options: ImportOptions,
    ) -> Result<Vec<Outcome>, CommandError> {
        let (mut groups, mut batches) = (groups.into_iter(), Vec::new());
        while groups.len() > 0 {
            batches.push(self.execute_batch(message, groups.by_ref().take(BATCH).collect(), options));
        }
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }

    /// Executes groups with one append of all their events, and again those that had a conflict.
    async fn execute_batch(
        &self,
        message: &CommandMessage,
        mut groups: Vec<Group>,
        options: ImportOptions,
    ) -> Result<Vec<Outcome>, CommandError> {
        let mut outcomes = Vec::with_capacity(groups.len());
        let last_year = self.last_year();
        while !groups.is_empty() {
            let (mut appending, mut appends) = (Vec::with_capacity(groups.len()), Vec::new());
            for group in groups {
                match group.decide(options, last_year) {
                    Decision::Outcome(result) => {
                        if !options.dry_run {
                            self.retry_pictures(&group, &result);
                        }
                        group.finish(result, &mut outcomes);
                    }
                    Decision::Append(events, result) => {
                        let append = self.prepare_line(message, group.line.command, &group.history, events);
                        appends.push(append);
                        appending.push((group, result));
                    }
                }
            }
            let appended = self.writer.append_all(appends).await;
            groups = Vec::new();
            for ((mut group, result), appended) in appending.into_iter().zip(appended) {
                match appended {
                    Ok(_) => group.finish(result, &mut outcomes),
                    Err(AppendError::Invalid(reason)) => {
                        let fault = Fault { field: String::new(), reason };
                        group.finish(LineResult::Rejected { faults: vec![fault] }, &mut outcomes);
                    }
                    Err(AppendError::Store(error)) => return Err(error.into()),
                    Err(
                        AppendError::Conflict(_) | AppendError::Claimed { .. } | AppendError::Repeated(_),
                    ) => match self.reload(&mut group).await? {
                        Ok(()) => groups.push(group),
                        Err(faults) => group.finish(LineResult::Rejected { faults }, &mut outcomes),
                    },
                }
            }
        }
        Ok(outcomes)
    }

    /// Requests that the refused pictures of a project are fetched again if a line changes nothing: no event reaches the
    /// picture fetcher then.
    fn retry_pictures(&self, group: &Group, result: &LineResult) {
        let LineResult::Same { .. } = result else { return };
        let is_refused = |listing: &Listing| {
            let mut sources = listing.record.picture_sources();
            sources.any(|source| matches!(listing.pictures.get(source), Some(PictureOutcome::Refused(_))))
        };
        if group.history.project().listing().is_some_and(is_refused)
            && let Some(project) = group.history.stream.as_project()
        {
            self.picture_retries().add(project);
        }
    }

    /// Resolves the project of a group again and loads its newest history.
    async fn reload(&self, group: &mut Group) -> Result<Result<(), Vec<Fault>>, CommandError> {
        group.attempts += 1;
        if group.attempts == ATTEMPTS {
            return Err(CommandError::Contended);
        }
        let mut targets = self.line_targets(std::iter::once(&group.line)).await?;
        // What other lines of the import have claimed is in the log by now, or at the next attempt.
        let target = match targets.resolve(&group.line, group.line.command, &FirstLines::default()) {
            Ok(target) => target,
            Err(faults) => return Ok(Err(faults)),
        };
        group.history = self.history_for(&mut group.line, target, &mut targets);
        Ok(Ok(()))
    }
}

impl Group {
    /// Decides what the line changes. In a dry run nothing is appended.
    fn decide(&self, options: ImportOptions, last_year: i16) -> Decision {
        // A line that was executed before gets the same outcome again.
        let before = self.history.before(self.line.command);
        let project = before.as_ref().unwrap_or(self.history.project());
        let line = match &self.line.patch {
            None => Ok(self.line.record.clone()),
            Some(patch) => {
                // A former slug leads to the current one.
                let slug = project.listing().map_or(&self.line.record.slug, |listing| &listing.slug);
                project::apply_patch(project, slug, patch.clone(), options)
            }
        };
        let adjusted = |mut line: ImportRecord| {
            // A record that was completed from a patch has lost it.
            line.id.clone_from(&self.line.record.id);
            line.origin = self.line.record.origin;
            // Computed vectors follow the current record, so those of an older file are ignored.
            line.vectors = line.vectors.filter(|vectors| !project::is_own_encoder(&vectors.model));
            line
        };
        let imported = line.map(adjusted).and_then(|mut line| {
            if let Some(listing) = project.listing() {
                keep_pictures(listing, &self.line.absent_pictures, &mut line.record);
            }
            let kept = self.kept_pictures(&line.record);
            let (change, events) = project::import(project, line)?;
            project::reject_years(project, &events, last_year)?;
            Ok((self.result(change, kept), events))
        });
        match imported {
            Err(rejection) => Decision::Outcome(LineResult::Rejected { faults: rejection.into_faults() }),
            Ok((result, events)) if options.dry_run || before.is_some() || events.is_empty() => {
                Decision::Outcome(result)
            }
            Ok((result, events)) => Decision::Append(events, result),
        }
    }

    /// Returns the outcome of a change. No line changes the slug of a project.
    fn result(&self, change: Change, kept: Kept) -> LineResult {
        let Kept { all: pictures_kept, some: kept_pictures } = kept;
        let listing = self.history.project().listing();
        let slug = listing.map_or_else(|| self.line.record.slug.clone(), |listing| listing.slug.clone());
        match change {
            Change::New => LineResult::New { slug },
            Change::Changed { members, removed, removed_pictures } => {
                LineResult::Changed { slug, members, removed, removed_pictures, pictures_kept, kept_pictures }
            }
            Change::Same => LineResult::Same { slug, pictures_kept, kept_pictures },
        }
    }

    /// Returns which pictures that a record names as files the project has, or had until they were erased.
    fn kept_pictures(&self, record: &Record) -> Kept {
        let Some(listing) = self.history.project().listing() else { return Kept::default() };
        let (kept, others): (Vec<_>, Vec<_>) = record
            .pictures
            .iter()
            .filter(|picture| picture.is_file())
            .map(|picture| &picture.source)
            .partition(|source| is_kept(listing, source));
        match others.is_empty() {
            true => Kept { all: !kept.is_empty(), some: Vec::new() },
            false => Kept { all: false, some: kept.into_iter().cloned().collect() },
        }
    }

    /// Adds the outcomes of the line and of those with the same content.
    fn finish(self, result: LineResult, outcomes: &mut Vec<Outcome>) {
        let copied = match &result {
            LineResult::New { slug } => same(slug.clone()),
            LineResult::Changed { slug, pictures_kept, kept_pictures, .. }
            | LineResult::Same { slug, pictures_kept, kept_pictures } => LineResult::Same {
                slug: slug.clone(),
                pictures_kept: *pictures_kept,
                kept_pictures: kept_pictures.clone(),
            },
            rejected @ LineResult::Rejected { .. } => rejected.clone(),
        };
        outcomes.extend(self.copies.into_iter().map(|index| (index, copied.clone())));
        outcomes.push((self.line.index, result));
    }
}

/// Returns the outcome of a line that says what another line of the import said.
fn same(slug: Slug) -> LineResult {
    LineResult::Same { slug, pictures_kept: false, kept_pictures: Vec::new() }
}

/// Returns whether the picture of a source is stored or erased, so that no file is needed.
fn is_kept(listing: &Listing, source: &str) -> bool {
    matches!(listing.pictures.get(source), Some(PictureOutcome::Attached(_) | PictureOutcome::Erased(_)))
}

/// Adds to a record those of these pictures that its project has, where they were: their files are not there to be read again,
/// which is no reason to lose them. A record has a source only once, so texts that are given are those of the picture that it has.
fn keep_pictures(before: &Listing, absent: &[PictureSource], after: &mut Record) {
    for (index, picture) in before.record.pictures.iter().enumerate() {
        let Some(given) = absent.iter().find(|given| given.source == picture.source) else { continue };
        let is_refused = matches!(before.pictures.get(&picture.source), Some(PictureOutcome::Refused(_)));
        let is_named = after.pictures.iter().any(|named| named.source == picture.source);
        if !is_refused && !is_named && after.pictures.len() < MAX_PICTURES {
            let mut kept = picture.clone();
            kept.update(given);
            after.pictures.insert(index.min(after.pictures.len()), kept);
        }
    }
}

fn contradiction(first: u64, slug: &str) -> LineResult {
    let reason = format!(
        "says something else than line {first} about the project “{slug}”; make one line of both, or give this one a slug of its own"
    );
    LineResult::Rejected { faults: vec![Fault { field: String::new(), reason }] }
}
