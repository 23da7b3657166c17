//! What workers of the write side find out about a project, and record of themselves.

use event_log::{AppendError, StoreError};
use schemas::event::Event;
use schemas::ids::{Actor, Position, StreamId, StreamVersion};

use super::past::Past;
use super::{Cause, CommandService, Target};
use crate::project::Project;

/// What became of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// It is recorded; the last of its events stands here.
    Recorded(Position),
    /// It said nothing new.
    Nothing,
    /// Something happened to the project meanwhile: look again.
    Overtaken,
}

impl CommandService {
    /// The project of a stream as it is.
    pub async fn project(&self, stream: &StreamId) -> Result<Project, StoreError> {
        let events = self.store().read_stream(stream, StreamVersion(0)).await?;
        Ok(Past::of(stream.clone(), events)?.project().clone())
    }

    /// Shows the project of a stream to `observe`, and records what follows if nothing happened to it meanwhile.
    pub async fn observe(
        &self,
        stream: &StreamId,
        actor: &Actor,
        observe: impl AsyncFnOnce(&Project) -> Vec<Event>,
    ) -> Result<Observed, StoreError> {
        let past = Past::of(stream.clone(), self.store().read_stream(stream, StreamVersion(0)).await?)?;
        let events = observe(past.project()).await;
        if events.is_empty() {
            return Ok(Observed::Nothing);
        }
        let command = self.clock.command_id();
        let target = Target { stream, version: past.version, time: self.clock.now(), claims: Vec::new() };
        match self.append_to(Cause { command, correlation: command, actor }, target, events).await {
            Ok(appended) => Ok(Observed::Recorded(appended.last)),
            Err(AppendError::Conflict { .. } | AppendError::Claimed { .. } | AppendError::Repeated(_)) => {
                Ok(Observed::Overtaken)
            }
            Err(AppendError::Invalid { reason }) => Err(StoreError::corrupt(reason)),
            Err(AppendError::Store(error)) => Err(error),
        }
    }
}
