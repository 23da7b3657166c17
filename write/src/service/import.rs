//! Importing many lines at once: read in parallel, looked up together, decided one by one, committed together.

mod identities;
mod line;
mod named;
mod places;

use std::collections::HashMap;
use std::sync::PoisonError;

use event_log::{AppendError, StoreError};
use futures::future::try_join_all;
use schemas::command::{Answer, Command, CommandMessage, ImportOptions, LineOutcome, LineResult};
use schemas::event::Event;
use schemas::import::{Fault, ImportRecord};

use super::past::Past;
use super::refused::Refused;
use super::{ATTEMPTS, CommandService};
use crate::project::{self, Change, Listing, PictureFate};

pub(super) use identities::Identities;
use line::{Line, read};
use named::First;
pub(super) use named::Named;
use places::{Place, Places};

/// How many projects are decided on together; the next ones are while these are on their way to the disk.
const TOGETHER: usize = 500;

/// The line for one project, and what happened to it before.
struct Group {
    past: Past,
    line: Line,
    /// Further lines that say the same: where their outcomes go.
    copies: Vec<usize>,
    /// How often others were faster.
    attempts: usize,
}

/// What a line comes to.
enum Decided {
    /// It is done with.
    Ended(LineResult),
    /// It does this.
    Does(Change, Vec<Event>),
}

/// What became of a line, by its index.
type Ended = (usize, LineResult);

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
        for (index, read) in read(&message, lines, options).await?.into_iter().enumerate() {
            match read {
                Ok(line) => right.push(line),
                Err(faults) => results[index] = Some(LineResult::Rejected { faults }),
            }
        }
        let (groups, mut ended) = self.grouped(&message, right).await?;
        ended.extend(self.bring(&message, groups, options).await?);
        for (index, result) in ended {
            results[index] = Some(result);
        }
        let lines = numbers.into_iter().zip(results);
        Ok(Answer::Imported {
            position: self.store().head().await?.position,
            lines: lines
                .filter_map(|(number, result)| Some(LineOutcome { number, result: result? }))
                .collect(),
        })
    }

    /// Finds the project of each line, and looks up for all of them at once what happened before. Of several lines for one
    /// project the first counts: those that say the same end as it does, the others are refused.
    async fn grouped(
        &self,
        message: &CommandMessage,
        lines: Vec<Line>,
    ) -> Result<(Vec<Group>, Vec<Ended>), StoreError> {
        let import = message.correlation;
        let mut places = self.places(lines.iter()).await?;
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut groups, mut ended): (Vec<Group>, Vec<Ended>) = Default::default();
        let mut firsts: HashMap<String, (First, usize)> = HashMap::new();
        for line in lines {
            let place = match places.of(&line, import, &named) {
                Ok(place) => place,
                Err(faults) => {
                    ended.push((line.index, LineResult::Rejected { faults }));
                    continue;
                }
            };
            let slug = places.slug(&place).unwrap_or(&line.record.slug).clone();
            let here = firsts.get(slug.as_str()).copied();
            let before = named.first(import, slug.as_str()).filter(|first| first.number != line.number);
            match (here, before) {
                (None, None) => {
                    firsts.insert(slug.as_str().to_owned(), (First::of(&line), groups.len()));
                    groups.push(self.group(line, place, &mut places));
                }
                (Some((first, group)), _) if first.content == line.content => {
                    groups[group].copies.push(line.index)
                }
                (None, Some(first)) if first.content == line.content => {
                    ended.push((line.index, LineResult::Same { slug, pictures_kept: false }));
                }
                (Some((first, _)), _) | (None, Some(first)) => {
                    ended.push((line.index, contradiction(first.number, slug.as_str())));
                }
            }
        }
        named.remember(import, firsts.iter().map(|(slug, (first, _))| (slug.as_str(), *first)));
        Ok((groups, ended))
    }

    fn group(&self, mut line: Line, place: Place, places: &mut Places) -> Group {
        let past = match place {
            Place::Held(stream) => places.take(&stream).unwrap_or_else(|| Past::nothing(stream)),
            Place::New(slug) => {
                line.record.slug = slug;
                self.nothing()
            }
        };
        Group { past, line, copies: Vec::new(), attempts: 0 }
    }

    /// Brings all groups to their ends.
    async fn bring(
        &self,
        message: &CommandMessage,
        groups: Vec<Group>,
        options: ImportOptions,
    ) -> Result<Vec<Ended>, Refused> {
        let (mut groups, mut parts) = (groups.into_iter(), Vec::new());
        while groups.len() > 0 {
            parts.push(self.bring_part(message, groups.by_ref().take(TOGETHER).collect(), options));
        }
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }

    /// Brings groups to their ends: what their lines do is appended at once.
    async fn bring_part(
        &self,
        message: &CommandMessage,
        mut groups: Vec<Group>,
        options: ImportOptions,
    ) -> Result<Vec<Ended>, Refused> {
        let mut ended = Vec::with_capacity(groups.len());
        while !groups.is_empty() {
            let (mut deciding, mut appends) = (Vec::with_capacity(groups.len()), Vec::new());
            for group in groups {
                match group.decide(options, |model| self.computes(model)) {
                    Decided::Ended(result) => {
                        if !options.dry_run {
                            self.ask_again(&group, &result);
                        }
                        group.end(result, &mut ended);
                    }
                    Decided::Does(change, events) => {
                        appends.push(self.of_project(message, group.line.command, &group.past, events));
                        deciding.push((group, change));
                    }
                }
            }
            let appended = self.append_all(appends).await;
            groups = Vec::new();
            for ((mut group, change), appended) in deciding.into_iter().zip(appended) {
                match appended {
                    Ok(_) => {
                        let result = group.result(change);
                        group.end(result, &mut ended);
                    }
                    Err(AppendError::Invalid { reason }) => {
                        let fault = Fault { field: String::new(), reason };
                        group.end(LineResult::Rejected { faults: vec![fault] }, &mut ended);
                    }
                    Err(AppendError::Store(error)) => return Err(error.into()),
                    Err(
                        AppendError::Conflict { .. } | AppendError::Claimed { .. } | AppendError::Repeated(_),
                    ) => match self.look_again(&mut group).await? {
                        Ok(()) => groups.push(group),
                        Err(faults) => group.end(LineResult::Rejected { faults }, &mut ended),
                    },
                }
            }
        }
        Ok(ended)
    }

    /// Asks for the refused pictures of a project again where a line says what the catalog says already: no event tells
    /// the worker that fetches them.
    fn ask_again(&self, group: &Group, result: &LineResult) {
        let (Some(pictures), LineResult::Same { .. }) = (&self.pictures, result) else { return };
        let is_refused = |listing: &Listing| {
            let mut sources = listing.record.picture_sources();
            sources.any(|source| matches!(listing.pictures.get(source), Some(PictureFate::Refused(_))))
        };
        if group.past.project().listing().is_some_and(is_refused)
            && let Some(project) = group.past.stream.as_project()
        {
            pictures.ask_again(project);
        }
    }

    /// Looks where the line of a group goes now, and reads what happened there meanwhile.
    async fn look_again(&self, group: &mut Group) -> Result<Result<(), Vec<Fault>>, Refused> {
        group.attempts += 1;
        if group.attempts == ATTEMPTS {
            return Err(Refused::Contended);
        }
        let mut places = self.places(std::iter::once(&group.line)).await?;
        // What lines of the same import have taken stands in the log by now, or does so at the next look.
        let place = match places.of(&group.line, group.line.command, &Named::default()) {
            Ok(place) => place,
            Err(faults) => return Ok(Err(faults)),
        };
        group.past = match place {
            Place::Held(stream) => places.take(&stream).unwrap_or_else(|| Past::nothing(stream)),
            Place::New(slug) => {
                group.line.record.slug = slug;
                self.nothing()
            }
        };
        Ok(Ok(()))
    }
}

impl Group {
    /// Decides what the line does. A dry run only takes it as done.
    fn decide(&self, options: ImportOptions, computes: impl Fn(&str) -> bool) -> Decided {
        // A line that was carried out before is answered again with what it did then.
        let before = self.past.before(self.line.command);
        let project = before.as_ref().unwrap_or(self.past.project());
        let line = match &self.line.part {
            None => Ok(self.line.record.clone()),
            Some(part) => {
                // An old slug leads to the project where it is now.
                let slug = project.listing().map_or(&self.line.record.slug, |listing| &listing.slug);
                project::complete(project, slug, part.clone(), options)
            }
        };
        let as_meant = |mut line: ImportRecord| {
            // What was made of a part of a record has lost it.
            line.id.clone_from(&self.line.record.id);
            // Computed vectors follow the record as it is now, whatever a file of an earlier day says.
            line.vectors = line.vectors.filter(|vectors| !computes(&vectors.model));
            line
        };
        match line.map(as_meant).and_then(|line| project::import(project, line)) {
            Err(rejection) => Decided::Ended(LineResult::Rejected { faults: rejection.into_faults() }),
            Ok((change, events)) if options.dry_run || before.is_some() || events.is_empty() => {
                Decided::Ended(self.result(change))
            }
            Ok((change, events)) => Decided::Does(change, events),
        }
    }

    /// What the line did. No line changes the slug of a project.
    fn result(&self, change: Change) -> LineResult {
        let listing = self.past.project().listing();
        let slug = listing.map_or_else(|| self.line.record.slug.clone(), |listing| listing.slug.clone());
        let pictures_kept = listing.is_some_and(|listing| keeps_files(listing, &self.line.record));
        match change {
            Change::New => LineResult::New { slug },
            Change::Changed { members, removed, removed_pictures } => {
                LineResult::Changed { slug, members, removed, removed_pictures, pictures_kept }
            }
            Change::Same => LineResult::Same { slug, pictures_kept },
        }
    }

    /// Writes down what became of the line and of those that say the same.
    fn end(self, result: LineResult, ended: &mut Vec<Ended>) {
        let copied = match &result {
            LineResult::New { slug } => LineResult::Same { slug: slug.clone(), pictures_kept: false },
            LineResult::Changed { slug, pictures_kept, .. } | LineResult::Same { slug, pictures_kept } => {
                LineResult::Same { slug: slug.clone(), pictures_kept: *pictures_kept }
            }
            rejected @ LineResult::Rejected { .. } => rejected.clone(),
        };
        ended.extend(self.copies.into_iter().map(|index| (index, copied.clone())));
        ended.push((self.line.index, result));
    }
}

/// Whether every picture is kept that a record names as a file, but for erased ones: their files are not needed.
fn keeps_files(listing: &Listing, record: &ImportRecord) -> bool {
    let mut files = record.record.pictures.iter().filter(|picture| picture.is_file()).peekable();
    files.peek().is_some()
        && files.all(|picture| {
            let fate = listing.pictures.get(&picture.source);
            matches!(fate, Some(PictureFate::Attached(_) | PictureFate::Erased(_)))
        })
}

fn contradiction(first: u64, slug: &str) -> LineResult {
    let reason = format!(
        "says something else than line {first} about the project “{slug}”; make one line of both, or give this one a slug of its own"
    );
    LineResult::Rejected { faults: vec![Fault { field: String::new(), reason }] }
}
