//! Importing many lines at once: read in parallel, looked up together, decided one by one, committed together.

use std::collections::{HashMap, VecDeque};

use futures::future::try_join_all;
use schemas::command::{Answer, Command, CommandMessage, ImportLine, ImportOptions, LineOutcome, LineResult};
use schemas::event::Event;
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

/// How many projects are decided on together; the next ones are while these are on their way to the disk.
const TOGETHER: usize = 500;

/// A line on its way: where its outcome goes, the command it is, and what it says.
struct Line {
    index: usize,
    command: CommandId,
    record: ImportRecord,
}

/// The lines of one project that are not done, in their order, and what happened to it before.
struct Group {
    past: Past,
    lines: VecDeque<Line>,
    /// How often others were faster with the first of them.
    attempts: usize,
}

/// What the first line of a group does.
struct Step {
    command: CommandId,
    change: Change,
    events: Vec<Event>,
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
        for (index, read) in read(lines, options).await?.into_iter().enumerate() {
            match read {
                Ok(record) => {
                    right.push(Line { index, command: derived_id(message.id, "line", index), record });
                }
                Err(faults) => results[index] = Some(LineResult::Rejected { faults }),
            }
        }
        let groups = self.grouped(right).await?;
        for (index, result) in self.bring(&message, groups, options.dry_run).await? {
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
                    groups.push(Group { past, lines: VecDeque::new(), attempts: 0 });
                    places.insert(key, groups.len() - 1);
                    groups.len() - 1
                }
            };
            groups[place].lines.push_back(line);
        }
        Ok(groups)
    }

    /// Brings all groups to their ends.
    async fn bring(
        &self,
        message: &CommandMessage,
        groups: Vec<Group>,
        dry_run: bool,
    ) -> Result<Vec<Ended>, Refused> {
        let (mut groups, mut parts) = (groups.into_iter(), Vec::new());
        while groups.len() > 0 {
            parts.push(self.bring_part(message, groups.by_ref().take(TOGETHER).collect(), dry_run));
        }
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }

    /// Brings groups to their ends: what the next line of each does is appended at once.
    async fn bring_part(
        &self,
        message: &CommandMessage,
        mut groups: Vec<Group>,
        dry_run: bool,
    ) -> Result<Vec<Ended>, Refused> {
        let mut ended = Vec::with_capacity(groups.len());
        while !groups.is_empty() {
            let (mut deciding, mut appends) = (Vec::with_capacity(groups.len()), Vec::new());
            for mut group in groups {
                if let Some(mut step) = group.decide(dry_run, &mut ended) {
                    let events = group.handed_over(&mut step);
                    appends.push(self.of_project(message, step.command, &group.past, events));
                    deciding.push((group, step));
                }
            }
            let appended = self.store.append_all(appends).await;
            groups = Vec::new();
            for ((mut group, step), appended) in deciding.into_iter().zip(appended) {
                match appended {
                    Ok(appended) => group.end_line(Ok(step), appended.first, &mut ended),
                    Err(AppendError::Invalid { reason }) => {
                        let fault = Fault { field: String::new(), reason };
                        group.end_line(Err(vec![fault]), Position::START, &mut ended);
                    }
                    Err(AppendError::Store(error)) => return Err(error.into()),
                    Err(
                        AppendError::Conflict { .. } | AppendError::Claimed { .. } | AppendError::Repeated(_),
                    ) => self.look_again(&mut group).await?,
                }
                if !group.lines.is_empty() {
                    groups.push(group);
                }
            }
        }
        Ok(ended)
    }

    /// Reads what happened to the project meanwhile.
    async fn look_again(&self, group: &mut Group) -> Result<(), Refused> {
        group.attempts += 1;
        if group.attempts == ATTEMPTS {
            return Err(Refused::Contended);
        }
        if let Some(line) = group.lines.front() {
            group.past = self.past(&line.record.slug).await?;
        }
        Ok(())
    }
}

impl Group {
    /// Decides line after line until one changes its project; gives what that does. A dry run only takes it as done.
    fn decide(&mut self, dry_run: bool, ended: &mut Vec<Ended>) -> Option<Step> {
        while let Some(line) = self.lines.front() {
            // A line that was carried out before is told again what it did then.
            let before = self.past.before(line.command);
            let decided =
                project::import(before.as_ref().unwrap_or(self.past.project()), line.record.clone());
            match decided {
                Err(rejection) => self.end_line(Err(rejection.into_faults()), Position::START, ended),
                Ok((change, events)) => {
                    // What it did then stands in the past already.
                    let events = if before.is_some() { Vec::new() } else { events };
                    let step = Step { command: line.command, change, events };
                    if !dry_run && !step.events.is_empty() {
                        return Some(step);
                    }
                    self.end_line(Ok(step), Position::START, ended);
                }
            }
        }
        None
    }

    /// The events of the first line, for the log. The step keeps them only if a line behind it is to see them.
    fn handed_over(&self, step: &mut Step) -> Vec<Event> {
        if self.lines.len() > 1 { step.events.clone() } else { std::mem::take(&mut step.events) }
    }

    /// Writes down what became of the first line, whose events are in the log from `first` on.
    fn end_line(&mut self, outcome: Result<Step, Vec<Fault>>, first: Position, ended: &mut Vec<Ended>) {
        let Some(line) = self.lines.pop_front() else { return };
        self.attempts = 0;
        let result = match outcome {
            Err(faults) => LineResult::Rejected { faults },
            Ok(Step { command, change, events }) => {
                let result = result(change, &self.past, &line.record);
                if !self.lines.is_empty() {
                    for (offset, event) in (0..).zip(events) {
                        self.past.add(command, Position(first.0 + offset), event);
                    }
                }
                result
            }
        };
        ended.push((line.index, result));
    }
}

/// What a line did, told before its events are added to the past: none of them changes the slug of a project.
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
