//! Passes each command to the service that is registered for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use event_log::EventLog;
use schemas::command::{Command, CommandMessage, CommandReply, FailureKind};
use traces::{Kind, Span};

use super::error::CommandError;
use super::metrics::CommandMetrics;
use super::projects::ProjectService;
use super::{CommandService, Lane, OnReplica, pictures};

/// The services of a write side. A command whose service is not registered is rejected.
pub struct CommandDispatcher {
    log: Arc<EventLog>,
    lanes: Vec<&'static Lane>,
    routes: HashMap<&'static str, Route>,
    metrics: Arc<CommandMetrics>,
}

struct Route {
    service: Arc<dyn CommandService>,
    on_replica: OnReplica,
}

impl CommandDispatcher {
    /// Returns the dispatcher of a write side that has projects and nothing else.
    pub fn new(projects: Arc<ProjectService>) -> CommandDispatcher {
        let log = projects.log().clone();
        let (lanes, routes, metrics) = Default::default();
        CommandDispatcher { log, lanes, routes, metrics }.register(projects)
    }

    /// Registers a service for its commands.
    pub fn register(mut self, service: Arc<impl CommandService + 'static>) -> CommandDispatcher {
        for lane in service.lanes() {
            for command in lane.commands {
                let route = Route { service: service.clone(), on_replica: command.on_replica };
                self.routes.insert(command.name, route);
            }
            self.lanes.push(lane);
        }
        self
    }

    /// Returns the commands of the registered services.
    pub fn lanes(&self) -> impl ExactSizeIterator<Item = &'static Lane> {
        self.lanes.iter().copied()
    }

    /// Returns the log that the services append to.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Returns the counts of the commands that were executed.
    pub fn metrics(&self) -> &Arc<CommandMetrics> {
        &self.metrics
    }

    /// Executes a command. The same command again, even concurrently or after a crash, is executed once and gets the same
    /// reply, as far as it appended anything.
    ///
    /// A command is rejected, or found to change nothing, only on what the log held when it arrived or later.
    pub async fn execute(&self, message: CommandMessage) -> CommandReply {
        let (name, began) = (message.command.name(), Instant::now());
        let is_dry_run = matches!(&message.command, Command::Import { options, .. } if options.dry_run);
        let reply = {
            let mut span = Span::start(Kind::Internal, "command", name, traces::current());
            // What the command appends names the command's span, so an import of many lines is one trace.
            let reply = traces::scope(span.traceparent(), self.route(name, message)).await;
            if reply.is_err() {
                span.failed("refused");
            }
            reply.unwrap_or_else(|error| CommandReply::Failed(error.into()))
        };
        self.metrics.count(name, &reply, began.elapsed());
        if let CommandReply::Imported { lines, .. } = &reply
            && !is_dry_run
        {
            self.metrics.count_lines(lines);
        }
        reply
    }

    async fn route(&self, name: &str, message: CommandMessage) -> Result<CommandReply, CommandError> {
        let Some(Route { service, on_replica }) = self.routes.get(name) else { return Err(not_kept(name)) };
        if !self.log.is_replica() {
            return service.execute(message).await;
        }
        match on_replica {
            OnReplica::CaughtUp => {
                self.log.catch_up().await?;
                service.execute(message).await
            }
            OnReplica::Optimistic => {
                let before = self.log.head().await?.position;
                let reply = service.execute(message.clone()).await;
                if appended(&reply) || self.log.catch_up().await? == before {
                    return reply;
                }
                service.execute(message).await
            }
        }
    }
}

/// Returns whether a command may have appended something, which the log then has checked. If not, its reply is only as recent
/// as the replica.
fn appended(reply: &Result<CommandReply, CommandError>) -> bool {
    match reply {
        Err(error) => error.kind() == FailureKind::Unavailable,
        Ok(CommandReply::Project(done)) => done.changed,
        Ok(CommandReply::Account(done)) => done.changed,
        Ok(CommandReply::Failed(_)) => false,
        Ok(
            CommandReply::Imported { .. }
            | CommandReply::PictureErased(_)
            | CommandReply::Payment(_)
            | CommandReply::Accepted
            | CommandReply::Link { .. }
            | CommandReply::LinkDetails(_),
        ) => true,
    }
}

/// Returns the rejection of a command whose service only the keeper of the log has.
fn not_kept(name: &str) -> CommandError {
    let mut of_pictures = pictures::LANES.iter().flat_map(|lane| lane.commands);
    if of_pictures.any(|command| command.name == name) {
        CommandError::NoPictures
    } else {
        CommandError::NoAddresses
    }
}

#[cfg(test)]
mod tests;
