//! One log line per command, with what an operator may search for and none of its contents.

use schemas::command::{Command, CommandMessage, CommandReply};
use schemas::ids::{Actor, CommandId};
use traces::Traceparent;

use crate::service::metrics::{LINE_OUTCOMES, line_counts};

/// The log line of a command.
pub(super) struct LogEntry {
    name: &'static str,
    id: CommandId,
    actor: Actor,
    traceparent: Option<Traceparent>,
    /// Whether it is logged by default. The commands of editors, and those of the write side itself, are in the event log
    /// and would flood this one.
    is_shown: bool,
}

impl LogEntry {
    /// Returns the entry of a command, with the trace that it belongs to.
    pub(super) fn of(message: &CommandMessage, traceparent: Option<Traceparent>) -> LogEntry {
        let is_shown = matches!(
            message.command,
            Command::Import { .. }
                | Command::IssueKey { .. }
                | Command::RevokeKey { .. }
                | Command::ProveEmail { .. }
                | Command::ChangeTier { .. }
                | Command::EraseAccount { .. }
                | Command::ErasePicture { .. }
                | Command::MovePayments { .. }
                | Command::MakeLink { .. }
                | Command::UseLink { .. }
                | Command::EraseByLink { .. }
        );
        LogEntry {
            name: message.command.name(),
            id: message.id,
            actor: message.actor.clone(),
            traceparent,
            is_shown,
        }
    }

    /// Writes the line with the outcome of the command.
    pub(super) fn write(self, reply: &CommandReply) {
        let (command, id, actor, outcome) = (self.name, self.id, self.actor, outcome(reply));
        let trace_id = self.traceparent.map(|traceparent| tracing::field::display(traceparent.trace_id()));
        if self.is_shown {
            tracing::info!(command, %actor, %id, trace_id, outcome, "a command was executed");
        } else {
            tracing::debug!(command, %actor, %id, trace_id, outcome, "a command was executed");
        }
    }
}

fn outcome(reply: &CommandReply) -> String {
    match reply {
        CommandReply::Project(done) => changed(done.changed).to_owned(),
        CommandReply::Account(done) => {
            let keys: Vec<&str> = done.keys.iter().map(|key| key.key_id.as_str()).collect();
            format!(
                "{}: {}",
                changed(done.changed),
                if keys.is_empty() { "no key".into() } else { keys.join(", ") }
            )
        }
        CommandReply::Imported { lines, .. } => {
            let counts = LINE_OUTCOMES.iter().zip(line_counts(lines)).filter(|(_, count)| *count > 0);
            counts.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
        }
        CommandReply::PictureErased(done) => changed(done.changed).to_owned(),
        CommandReply::Payment(_)
        | CommandReply::Accepted
        | CommandReply::Link { .. }
        | CommandReply::LinkDetails(_) => "done".to_owned(),
        // The sentence may contain an address.
        CommandReply::Failed(failure) => format!("refused: {:?}", failure.kind),
    }
}

fn changed(changed: bool) -> &'static str {
    if changed { "done" } else { "nothing to change" }
}
