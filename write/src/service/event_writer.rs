//! Appends the events that a service decides.

use std::sync::Arc;

use event_log::claims;
use event_log::{Append, AppendError, Appended, Claim, EventLog, Expected, NewEvent, only};
use jiff::Timestamp;
use schemas::clock::Clock;
use schemas::command::CommandMessage;
use schemas::event::Event;
use schemas::ids::{Actor, CommandId, StreamId, StreamVersion};
use traces::{Kind, Span};

/// What all services share: the event log, and the clock that gives ids and times.
#[derive(Clone)]
pub(super) struct EventWriter {
    pub(super) log: Arc<EventLog>,
    pub(super) clock: Clock,
}

pub(super) struct Causation<'c> {
    pub(super) command: CommandId,
    pub(super) correlation: CommandId,
    pub(super) actor: &'c Actor,
}

/// Where events are appended, and with which time.
pub(super) struct Target<'t> {
    pub(super) stream: &'t StreamId,
    pub(super) version: StreamVersion,
    pub(super) time: Timestamp,
    /// The names that the stream claims in addition to those of its events.
    pub(super) claims: Vec<Claim>,
}

impl<'c> Causation<'c> {
    /// The events are caused by a command that was received.
    pub(super) fn of(message: &'c CommandMessage) -> Causation<'c> {
        Causation { command: message.id, correlation: message.correlation, actor: &message.actor }
    }

    /// The events are caused by a command of the write side itself.
    pub(super) fn own(command: CommandId, actor: &'c Actor) -> Causation<'c> {
        Causation { command, correlation: command, actor }
    }
}

impl EventWriter {
    pub(super) fn prepare(&self, causation: Causation<'_>, target: Target<'_>, events: Vec<Event>) -> Append {
        let claims = events.iter().flat_map(claims::own_names).chain(target.claims).collect();
        Append {
            stream: target.stream.clone(),
            expected: Expected::Exactly(target.version),
            command: causation.command,
            correlation: causation.correlation,
            actor: causation.actor.clone(),
            traceparent: traces::current(),
            time: target.time,
            events: events.into_iter().map(|event| NewEvent { id: self.clock.event_id(), event }).collect(),
            claims,
        }
    }

    /// Appends the events of one command to one stream: [`EventLog::append`].
    pub(super) async fn append(
        &self,
        causation: Causation<'_>,
        target: Target<'_>,
        events: Vec<Event>,
    ) -> Result<Appended, AppendError> {
        only(self.append_all(vec![self.prepare(causation, target, events)]).await)
    }

    /// Appends to many streams at once: [`EventLog::append_all`]. Any number of appends is one span, and none outside of a
    /// trace.
    pub(super) async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let mut span = Span::child_of(Kind::Internal, "append", "", traces::current());
        span.count("loggia.appends", appends.len() as u64);
        let outcomes = self.log.append_all(appends).await;
        if let Some(last) = outcomes.iter().flatten().map(|appended| appended.last).max() {
            span.count("loggia.position", last.0);
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Err(AppendError::Store(_)))) {
            span.failed("the event store failed");
        }
        outcomes
    }
}
