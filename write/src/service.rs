//! The command service: takes a command, looks at what happened, decides, and appends what follows.

mod accounts;
mod export;
mod import;
pub mod measured;
mod observed;
mod past;
mod payments;
mod pictures;
mod refused;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use event_log::claims;
use event_log::{
    Append, AppendError, Appended, Claim, EventLog, Expected, Namespace, NewEvent, StoreError, only,
};
use jiff::Timestamp;
use schemas::clock::Clock;
use schemas::command::{Answer, Command, CommandMessage, Done, RefusalKind};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Actor, CommandId, Position, StreamId, StreamVersion};
use schemas::slug::Slug;
use traces::{Kind, Span};

use crate::account;
use crate::computed;
use crate::project::{self, Project, Rejection};
use import::{Identities, Named};
use measured::Measured;
use past::Past;
use refused::Refused;

pub use accounts::{Accounts, read_account, read_accounts};
pub use export::{Exported, ExportedVectors, export};
pub use observed::Observed;
pub use payments::{Paying, read_payers};
pub use pictures::Pictures;

/// How often a command is decided anew because somebody else was faster.
const ATTEMPTS: usize = 10;

/// Carries out commands against an event store. Clones share it.
#[derive(Clone)]
pub struct CommandService {
    store: Arc<EventLog>,
    clock: Clock,
    accounts: Option<Arc<Accounts>>,
    pictures: Option<Arc<Pictures>>,
    identities: Arc<tokio::sync::Mutex<Identities>>,
    named: Arc<Mutex<Named>>,
    /// The model of the encoder that describes projects beside this service.
    encoder: Arc<OnceLock<String>>,
    measured: Arc<Measured>,
}

/// What events come from.
struct Cause<'c> {
    command: CommandId,
    correlation: CommandId,
    actor: &'c Actor,
}

/// Where the events of a command go, and the time that they bear.
struct Target<'p> {
    stream: &'p StreamId,
    version: StreamVersion,
    time: Timestamp,
    /// The names that the stream claims besides those of its events.
    claims: Vec<Claim>,
}

impl CommandService {
    /// A service that writes to this store. It knows projects; commands on accounts and pictures it refuses.
    pub fn new(store: Arc<EventLog>, clock: Clock) -> CommandService {
        CommandService {
            store,
            clock,
            accounts: None,
            pictures: None,
            identities: Arc::default(),
            named: Arc::default(),
            encoder: Arc::default(),
            measured: Arc::default(),
        }
    }

    /// The same service, which carries out commands on accounts too. No other one may use the same vault.
    pub fn with_accounts(self, accounts: Accounts) -> CommandService {
        CommandService { accounts: Some(Arc::new(accounts)), ..self }
    }

    /// Whether it knows accounts.
    pub fn keeps_accounts(&self) -> bool {
        self.accounts.is_some()
    }

    /// What it has for accounts.
    pub fn accounts(&self) -> Option<&Arc<Accounts>> {
        self.accounts.as_ref()
    }

    /// What it has for pictures.
    pub fn pictures(&self) -> Option<&Arc<Pictures>> {
        self.pictures.as_ref()
    }

    /// Says with which model vectors are computed beside the service: those are not taken from an import.
    pub fn computes_with(&self, model: &str) {
        self.encoder.get_or_init(|| model.to_owned());
    }

    /// Returns whether vectors of this model are computed here.
    fn computes(&self, model: &str) -> bool {
        computed::is_built_in(model) || self.encoder.get().is_some_and(|encoder| encoder == model)
    }

    /// The store it writes to.
    pub fn store(&self) -> &Arc<EventLog> {
        &self.store
    }

    /// Returns the counts of the commands that it and its clones carry out.
    pub fn measured(&self) -> &Arc<Measured> {
        &self.measured
    }

    /// Carries out a command. The same command sent again, even at once or after a crash, is carried out once and
    /// answered as it was the first time, as far as it wrote anything.
    ///
    /// A command is refused, or found to change nothing, only on what the log held when it arrived or later.
    pub async fn handle(&self, message: CommandMessage) -> Answer {
        let (name, began) = (message.command.name(), Instant::now());
        let is_rehearsal = matches!(&message.command, Command::Import { options, .. } if options.dry_run);
        let answer = {
            let mut span = Span::begin(Kind::Internal, "command", name, traces::current());
            // What the command appends names the command's span, so an import of many lines is one trace.
            let answer = traces::within(span.traceparent(), self.answer(message)).await;
            if let Answer::Refused(_) = &answer {
                span.failed("refused");
            }
            answer
        };
        self.measured.note(name, &answer, began.elapsed());
        if let Answer::Imported { lines, .. } = &answer
            && !is_rehearsal
        {
            self.measured.note_lines(lines);
        }
        answer
    }

    async fn answer(&self, message: CommandMessage) -> Answer {
        if !self.store.is_replica() {
            return self.decide(message).await;
        }
        let answered = self.decide_on_replica(message).await;
        answered.unwrap_or_else(|error| Answer::Refused(Refused::from(error).into()))
    }

    /// Decides on what the replica has, which the log may be ahead of. What is appended then is safe, since the log
    /// takes it only behind what was decided on; any other answer is given on the log's own end.
    async fn decide_on_replica(&self, message: CommandMessage) -> Result<Answer, StoreError> {
        if looks_first(&message.command) {
            self.store.catch_up().await?;
            return Ok(self.decide(message).await);
        }
        let before = self.store.head().await?.position;
        let answer = self.decide(message.clone()).await;
        if !rests_on_what_was_read(&answer) || self.store.catch_up().await? == before {
            return Ok(answer);
        }
        Ok(self.decide(message).await)
    }

    async fn decide(&self, message: CommandMessage) -> Answer {
        let answer = match &message.command {
            Command::Select { record } => self.select(&message, record.clone()).await.map(Answer::Done),
            Command::Revise { slug, changes } if project::gives_back(changes) => {
                self.give_back(&message, slug).await.map(Answer::Done)
            }
            Command::Revise { slug, changes } => {
                let decide =
                    |project: &Project, _: Option<&Project>| project::revise(project, slug, changes.clone());
                self.act(&message, slug, None, decide).await.map(Answer::Done)
            }
            Command::Rename { slug, to } => {
                let decide =
                    |project: &Project, rival: Option<&Project>| project::rename(project, slug, to, rival);
                self.act(&message, slug, Some(to), decide).await.map(Answer::Done)
            }
            Command::Withdraw { slug, reason } => {
                let decide =
                    |project: &Project, _: Option<&Project>| project::withdraw(project, slug, reason);
                self.act(&message, slug, None, decide).await.map(Answer::Done)
            }
            Command::Restore { slug } => {
                let decide = |project: &Project, _: Option<&Project>| project::restore(project, slug);
                self.act(&message, slug, None, decide).await.map(Answer::Done)
            }
            Command::Attach { slug, picture, kept, as_named } => {
                self.attach(&message, slug, picture, *kept, *as_named).await.map(Answer::Done)
            }
            Command::ErasePicture { picture } => {
                self.erase_picture(&message, *picture).await.map(Answer::PictureErased)
            }
            Command::Import { .. } => self.import(message).await,
            Command::IssueKey { .. }
            | Command::RevokeKey { .. }
            | Command::ProveEmail { .. }
            | Command::ChangeTier { .. }
            | Command::EraseAccount { .. }
            | Command::SettlePayments { .. } => self.on_account(&message).await.map(Answer::Account),
            Command::RecordPayment { notice } => {
                self.record_payment(&message, notice).await.map(Answer::Payment)
            }
            Command::MovePayments { provider, id, to } => {
                self.move_payments(&message, *provider, id, to).await.map(Answer::Account)
            }
            Command::KeepNotice { notice } => self.keep_notice(notice).await.map(Answer::Payment),
            Command::SendLink { email } => self.send_link(email).await,
            Command::MakeLink { email, link } => self.make_link(email, *link).await,
            Command::OpenLink { link } => self.open_link(*link).await,
            Command::UseLink { link, keep, revoke, new_key } => {
                let wishes = account::Wishes { keep, revoke, new_key: new_key.as_ref() };
                self.use_link(&message, *link, wishes).await.map(Answer::Account)
            }
        };
        answer.unwrap_or_else(|refused| Answer::Refused(refused.into()))
    }

    /// Gives a project whose vectors were brought back to the encoder: they count as computed from now on, and as such the
    /// encoder replaces them.
    async fn give_back(&self, message: &CommandMessage, slug: &Slug) -> Result<Done, Refused> {
        let actor = computed::ACTOR.parse().map_err(|error| Refused::Impossible(format!("{error}")))?;
        let message = CommandMessage { actor, ..message.clone() };
        let decide = |project: &Project, _: Option<&Project>| project::give_back(project, slug);
        self.act(&message, slug, None, decide).await
    }

    /// Every event of the project that is or was at this slug, or nothing where none ever was.
    pub async fn history(store: &EventLog, slug: &Slug) -> Result<Option<Vec<Recorded>>, StoreError> {
        if store.is_replica() {
            store.catch_up().await?;
        }
        match store.holder(Namespace::SLUG, slug.as_str()).await? {
            None => Ok(None),
            Some(stream) => store.read_stream(&stream, StreamVersion(0)).await.map(Some),
        }
    }

    async fn select(
        &self,
        message: &CommandMessage,
        record: serde_json::Map<String, serde_json::Value>,
    ) -> Result<Done, Refused> {
        let lost = schemas::import::lost_characters(&record);
        if !lost.is_empty() {
            return Err(Rejection::Faulty(lost).into());
        }
        let line = schemas::import::parse_members(record, false).map_err(Rejection::Faulty)?;
        let slug = line.slug.clone();
        let decide = |holder: &Project, _: Option<&Project>| project::select(holder, line.clone());
        self.act(message, &slug, None, decide).await
    }

    /// Decides on the project at `slug`, and on the other one that has the slug `wanted`, until the decision holds.
    async fn act(
        &self,
        message: &CommandMessage,
        slug: &Slug,
        wanted: Option<&Slug>,
        decide: impl Fn(&Project, Option<&Project>) -> Result<Vec<Event>, Rejection>,
    ) -> Result<Done, Refused> {
        for _ in 0..ATTEMPTS {
            let past = self.past(slug).await?;
            if let Some((project, position)) = past.after(message.id) {
                return done(slug, &project, position);
            }
            let rival = match wanted {
                Some(wanted) => Some(self.past(wanted).await?).filter(|rival| rival.stream != past.stream),
                None => None,
            };
            let events = decide(past.project(), rival.as_ref().map(Past::project))?;
            if events.is_empty() {
                return done(slug, past.project(), Position::START);
            }
            let project = events.iter().fold(past.project().clone(), Project::evolve);
            match self.append(self.of_project(message, message.id, &past, events)).await {
                Ok(appended) => return done(slug, &project, appended.last),
                Err(
                    AppendError::Conflict { .. } | AppendError::Claimed { .. } | AppendError::Repeated(_),
                ) => {}
                Err(AppendError::Invalid { reason }) => return Err(Refused::Impossible(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        }
        Err(Refused::Contended)
    }

    /// What happened to the project that has this slug; a new project's empty past where there is none.
    async fn past(&self, slug: &Slug) -> Result<Past, StoreError> {
        match self.store.holder(Namespace::SLUG, slug.as_str()).await? {
            None => Ok(self.nothing()),
            Some(stream) => {
                let events = self.store.read_stream(&stream, StreamVersion(0)).await?;
                Past::of(stream, events)
            }
        }
    }

    fn nothing(&self) -> Past {
        Past::nothing(StreamId::project(self.clock.project_id()))
    }

    /// What appends events that a command, or one line of it, decided for a project.
    fn of_project(
        &self,
        message: &CommandMessage,
        command: CommandId,
        past: &Past,
        events: Vec<Event>,
    ) -> Append {
        let target = Target {
            stream: &past.stream,
            version: past.version,
            time: self.clock.now(),
            claims: Vec::new(),
        };
        let cause = Cause { command, correlation: message.correlation, actor: &message.actor };
        self.append_of(cause, target, events)
    }

    async fn append_to(
        &self,
        cause: Cause<'_>,
        target: Target<'_>,
        events: Vec<Event>,
    ) -> Result<Appended, AppendError> {
        self.append(self.append_of(cause, target, events)).await
    }

    /// Appends the events of one command to one stream: [`EventLog::append`].
    pub(super) async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        only(self.append_all(vec![append]).await)
    }

    /// Appends many at once: [`EventLog::append_all`]. However many they are, they are one span; what belongs to no trace
    /// begins none.
    pub(super) async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let mut span = Span::below(Kind::Internal, "append", "", traces::current());
        span.count("loggia.appends", appends.len() as u64);
        let outcomes = self.store.append_all(appends).await;
        if let Some(last) = outcomes.iter().flatten().map(|appended| appended.last).max() {
            span.count("loggia.position", last.0);
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Err(AppendError::Store(_)))) {
            span.failed("the event store failed");
        }
        outcomes
    }

    fn append_of(&self, cause: Cause<'_>, target: Target<'_>, events: Vec<Event>) -> Append {
        let claims = events.iter().filter_map(claims::own_name).chain(target.claims).collect();
        Append {
            stream: target.stream.clone(),
            expected: Expected::Exactly(target.version),
            command: cause.command,
            correlation: cause.correlation,
            actor: cause.actor.clone(),
            traceparent: traces::current(),
            time: target.time,
            events: events.into_iter().map(|event| NewEvent { id: self.clock.event_id(), event }).collect(),
            claims,
        }
    }
}

/// Whether a command is decided on the log's own end from the beginning: an import, whose lines that change nothing are
/// answered with those that do, and what answers the holder of a link.
fn looks_first(command: &Command) -> bool {
    matches!(
        command,
        Command::Import { .. }
            | Command::ErasePicture { .. }
            | Command::MovePayments { .. }
            | Command::SendLink { .. }
            | Command::MakeLink { .. }
            | Command::OpenLink { .. }
            | Command::UseLink { .. }
    )
}

/// Whether an answer says only what was read: nothing was appended that the log would have checked.
fn rests_on_what_was_read(answer: &Answer) -> bool {
    match answer {
        Answer::Refused(refusal) => refusal.kind != RefusalKind::Unavailable,
        Answer::Done(done) => !done.changed,
        Answer::Account(done) => !done.changed,
        Answer::Imported { .. }
        | Answer::PictureErased(_)
        | Answer::Payment(_)
        | Answer::Accepted
        | Answer::Link { .. }
        | Answer::Claim(_) => false,
    }
}

/// The answer for a project as it is after a command; nothing was written at position 0.
fn done(asked: &Slug, project: &Project, position: Position) -> Result<Done, Refused> {
    let listing = project.listing().ok_or_else(|| Rejection::Unknown { slug: asked.clone() })?;
    Ok(Done {
        slug: listing.slug.clone(),
        revision: listing.revision,
        position,
        changed: position > Position::START,
    })
}

#[cfg(test)]
mod tests;
