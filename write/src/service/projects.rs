//! Commands on projects, and what workers of the write side record of them.

mod export;
mod history;
mod import;
mod of_source;
mod turns;
mod whole_log;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use event_log::{Append, AppendError, EventLog, Namespace, StoreError};
use futures::future::BoxFuture;
use nats::responder::MAX_CONCURRENT;
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ProjectOutcome};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Actor, CommandId, Position, ProjectId, StreamId, StreamVersion};
use schemas::slug::Slug;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::error::CommandError;
use super::event_writer::{Causation, EventWriter, Target};
use super::{ATTEMPTS, CommandService, CommandSpec, Lane};
use crate::project::{self, Project, Rejection};
use import::{FirstLines, IdentityIndex};
use turns::Turns;

pub use export::{ExportedProject, ExportedVectors, export};
pub(super) use history::ProjectHistory;
pub use of_source::{SourceProject, projects_of_source};
pub use whole_log::{listed_projects, named_pictures};

const LANES: &[Lane] = &[
    Lane {
        slots: MAX_CONCURRENT,
        commands: &[
            CommandSpec::optimistic("select"),
            CommandSpec::optimistic("revise"),
            CommandSpec::optimistic("rename"),
            CommandSpec::optimistic("withdraw"),
            CommandSpec::optimistic("restore"),
        ],
    },
    // The reply has the lines that change nothing beside those that do, so all are decided at the head of the log.
    Lane { slots: 16, commands: &[CommandSpec::caught_up("import")] },
];

/// Selects, revises, renames, withdraws, restores and imports projects.
pub struct ProjectService {
    pub(super) writer: EventWriter,
    identities: tokio::sync::Mutex<IdentityIndex>,
    first_lines: Mutex<FirstLines>,
    retries: PictureRetries,
    turns: Turns,
}

/// What became of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// It is recorded; this is the position of its last event.
    Recorded(Position),
    /// It changes nothing.
    Nothing,
    /// The project was changed concurrently: observe it again.
    Overtaken,
}

/// The projects whose refused pictures are to be fetched again: 16 bytes each, until the picture fetcher takes them.
#[derive(Default)]
pub(super) struct PictureRetries {
    projects: Mutex<BTreeSet<ProjectId>>,
    added: Notify,
}

impl CommandService for ProjectService {
    fn lanes(&self) -> &'static [Lane] {
        LANES
    }

    fn execute(&self, message: CommandMessage) -> BoxFuture<'_, Result<CommandReply, CommandError>> {
        Box::pin(async move {
            match &message.command {
                Command::Select { record } => self.select(&message, record.clone()).await,
                Command::Revise { slug, changes } if project::returns_to_encoder(changes) => {
                    self.return_to_encoder(&message, slug).await
                }
                Command::Revise { slug, changes } => {
                    let decide = |project: &Project| project::revise(project, slug, changes.clone());
                    self.change(&message, slug, decide).await
                }
                Command::Rename { slug, to } => {
                    let decide = |project: &Project, rival: Option<&Project>| {
                        project::rename(project, slug, to, rival)
                    };
                    self.change_with(&message, slug, Some(to), decide).await
                }
                Command::Withdraw { slug, reason } => {
                    self.change(&message, slug, |project| project::withdraw(project, slug, reason)).await
                }
                Command::Restore { slug } => {
                    self.change(&message, slug, |project| project::restore(project, slug)).await
                }
                Command::Import { .. } => return self.import(message).await,
                other => Err(CommandError::misrouted(other)),
            }
            .map(CommandReply::Project)
        })
    }
}

impl ProjectService {
    /// Returns a service that appends to this log.
    pub fn new(log: Arc<EventLog>, clock: Clock) -> ProjectService {
        ProjectService {
            writer: EventWriter { log, clock },
            identities: Default::default(),
            first_lines: Default::default(),
            retries: PictureRetries::default(),
            turns: Turns::default(),
        }
    }

    /// Returns the log it appends to.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.writer.log
    }

    /// Returns the last year that records may name now.
    fn last_year(&self) -> i16 {
        project::last_year(jiff::tz::Offset::UTC.to_datetime(self.writer.clock.now()).date())
    }

    pub(super) fn picture_retries(&self) -> &PictureRetries {
        &self.retries
    }

    /// Returns the project of a stream.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read, or has events of a newer version.
    pub async fn project(&self, stream: &StreamId) -> Result<Project, StoreError> {
        Ok(self.history_of(stream.clone()).await?.project().clone())
    }

    /// Passes the project of a stream to `observe` and appends the events it returns, unless the project was changed
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read or appended to, or has events of a newer version.
    pub async fn observe(
        &self,
        stream: &StreamId,
        actor: &Actor,
        observe: impl AsyncFnOnce(&Project) -> Vec<Event>,
    ) -> Result<Observed, StoreError> {
        let history = self.history_of(stream.clone()).await?;
        let events = observe(history.project()).await;
        if events.is_empty() {
            return Ok(Observed::Nothing);
        }
        let causation = Causation::own(self.writer.clock.command_id(), actor);
        match self.writer.append(causation, self.target(&history), events).await {
            Ok(appended) => Ok(Observed::Recorded(appended.last)),
            Err(AppendError::Conflict(_) | AppendError::Claimed { .. } | AppendError::Repeated(_)) => {
                Ok(Observed::Overtaken)
            }
            Err(AppendError::Invalid(reason)) => Err(StoreError::corrupt(reason)),
            Err(AppendError::Store(error)) => Err(error),
        }
    }

    async fn select(
        &self,
        message: &CommandMessage,
        record: Map<String, Value>,
    ) -> Result<ProjectOutcome, CommandError> {
        let lost = schemas::import::lost_characters(&record);
        if !lost.is_empty() {
            return Err(Rejection::Invalid(lost).into());
        }
        let line = schemas::import::parse_members(record, false).map_err(Rejection::Invalid)?;
        let slug = line.slug.clone();
        if let Some(id) = &line.id
            && let Some(stream) = self.writer.log.holder(Namespace::ID, &id.claimed_name()).await?
            && self.history_at(&slug).await?.stream != stream
        {
            let reason = format!("is {id}, which belongs to another project; leave it out");
            return Err(Rejection::invalid("id", reason).into());
        }
        self.change(message, &slug, |owner| project::select(owner, line.clone())).await
    }

    /// Returns a project with supplied vectors to the encoder: from now on they count as computed, and the encoder replaces
    /// them.
    async fn return_to_encoder(
        &self,
        message: &CommandMessage,
        slug: &Slug,
    ) -> Result<ProjectOutcome, CommandError> {
        let actor =
            project::COMPUTED_BY.parse().map_err(|error| CommandError::Invalid(format!("{error}")))?;
        let message = CommandMessage { actor, ..message.clone() };
        self.change(&message, slug, |project| project::return_to_encoder(project, slug)).await
    }

    /// Decides on the project at `slug` and appends the events, repeatedly while others change it.
    pub(super) async fn change(
        &self,
        message: &CommandMessage,
        slug: &Slug,
        decide: impl Fn(&Project) -> Result<Vec<Event>, Rejection>,
    ) -> Result<ProjectOutcome, CommandError> {
        self.change_with(message, slug, None, |project, _| decide(project)).await
    }

    /// Decides like [`ProjectService::change`]; `decide` also gets the other project that has or had the slug `wanted`.
    ///
    /// Commands on one project take turns, so that they conflict only with imports and other processes: however many pictures of a
    /// project are attached at once, none is refused.
    async fn change_with(
        &self,
        message: &CommandMessage,
        slug: &Slug,
        wanted: Option<&Slug>,
        decide: impl Fn(&Project, Option<&Project>) -> Result<Vec<Event>, Rejection>,
    ) -> Result<ProjectOutcome, CommandError> {
        let _turn = self.turns.take(slug).await;
        for _ in 0..ATTEMPTS {
            let history = self.history_at(slug).await?;
            if let Some((project, position)) = history.after(message.id) {
                return done(slug, &project, position);
            }
            let rival = match wanted {
                Some(wanted) => {
                    Some(self.history_at(wanted).await?).filter(|rival| rival.stream != history.stream)
                }
                None => None,
            };
            let events = decide(history.project(), rival.as_ref().map(ProjectHistory::project))?;
            project::reject_years(history.project(), &events, self.last_year())?;
            if events.is_empty() {
                return done(slug, history.project(), Position::START);
            }
            let project = events.iter().fold(history.project().clone(), Project::evolve);
            match self.writer.append(Causation::of(message), self.target(&history), events).await {
                Ok(appended) => return done(slug, &project, appended.last),
                Err(AppendError::Conflict(_) | AppendError::Claimed { .. } | AppendError::Repeated(_)) => {}
                Err(AppendError::Invalid(reason)) => return Err(CommandError::Invalid(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        }
        Err(CommandError::Contended)
    }

    /// Returns the history of the project that has or had this slug; that of a new project if there is none.
    pub(super) async fn history_at(&self, slug: &Slug) -> Result<ProjectHistory, StoreError> {
        match self.writer.log.holder(Namespace::SLUG, slug.as_str()).await? {
            None => Ok(self.new_history()),
            Some(stream) => self.history_of(stream).await,
        }
    }

    pub(super) async fn history_of(&self, stream: StreamId) -> Result<ProjectHistory, StoreError> {
        let events = self.writer.log.read_stream(&stream, StreamVersion(0)).await?;
        ProjectHistory::of(stream, events)
    }

    fn new_history(&self) -> ProjectHistory {
        ProjectHistory::empty(StreamId::project(self.writer.clock.project_id()))
    }

    /// Returns the append target after the last event of a history.
    pub(super) fn target<'h>(&self, history: &'h ProjectHistory) -> Target<'h> {
        Target {
            stream: &history.stream,
            version: history.version,
            time: self.writer.clock.now(),
            claims: Vec::new(),
        }
    }

    /// Returns the append of what one line of an import decided.
    fn prepare_line(
        &self,
        message: &CommandMessage,
        command: CommandId,
        history: &ProjectHistory,
        events: Vec<Event>,
    ) -> Append {
        let target = self.target(history);
        self.writer.prepare(Causation { command, ..Causation::of(message) }, target, events)
    }
}

impl PictureRetries {
    fn add(&self, project: ProjectId) {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).insert(project);
        self.added.notify_one();
    }

    /// Waits until there are projects and takes them. Nothing is lost if the wait is cancelled.
    pub(super) async fn take(&self) -> BTreeSet<ProjectId> {
        self.added.notified().await;
        std::mem::take(&mut *self.projects.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns every event of the project that has or had this slug; `None` if no project ever had it.
///
/// # Errors
///
/// Fails if the log cannot be read.
pub async fn project_history(log: &EventLog, slug: &Slug) -> Result<Option<Vec<Recorded>>, StoreError> {
    if log.is_replica() {
        log.catch_up().await?;
    }
    match log.holder(Namespace::SLUG, slug.as_str()).await? {
        None => Ok(None),
        Some(stream) => log.read_stream(&stream, StreamVersion(0)).await.map(Some),
    }
}

/// Returns the reply for a project after a command; the position is 0 if nothing was appended.
fn done(requested: &Slug, project: &Project, position: Position) -> Result<ProjectOutcome, CommandError> {
    let listing = project.listing().ok_or_else(|| Rejection::Unknown(requested.clone()))?;
    Ok(ProjectOutcome {
        slug: listing.slug.clone(),
        revision: listing.revision,
        position,
        changed: position > Position::START,
    })
}

#[cfg(test)]
mod tests;
