//! What the log says of commands: a line for each, with what an operator may look for later and nothing of what it holds.

use schemas::command::{Answer, Command, CommandMessage};
use schemas::ids::{Actor, CommandId};
use traces::Traceparent;

use crate::service::measured::{LINES, count_lines};

/// A command that is under way.
pub(super) struct Noted {
    name: &'static str,
    id: CommandId,
    actor: Actor,
    traceparent: Option<Traceparent>,
    /// Whether the log has a line of it by default: editors' acts, and what the service sends to itself, are in the log of
    /// events and would fill this one.
    is_shown: bool,
}

impl Noted {
    /// Notes what is asked, and the trace that it is asked for.
    pub(super) fn of(message: &CommandMessage, traceparent: Option<Traceparent>) -> Noted {
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
        );
        Noted {
            name: message.command.name(),
            id: message.id,
            actor: message.actor.clone(),
            traceparent,
            is_shown,
        }
    }

    /// Writes the line, once the answer is there.
    pub(super) fn answered(self, answer: &Answer) {
        let (command, id, actor, outcome) = (self.name, self.id, self.actor, outcome(answer));
        let trace_id = self.traceparent.map(|traceparent| tracing::field::display(traceparent.trace_id()));
        if self.is_shown {
            tracing::info!(command, %actor, %id, trace_id, outcome, "a command was carried out");
        } else {
            tracing::debug!(command, %actor, %id, trace_id, outcome, "a command was carried out");
        }
    }
}

fn outcome(answer: &Answer) -> String {
    match answer {
        Answer::Done(done) => changed(done.changed).to_owned(),
        Answer::Account(done) => {
            let keys: Vec<&str> = done.keys.iter().map(|key| key.key_id.as_str()).collect();
            format!(
                "{}: {}",
                changed(done.changed),
                if keys.is_empty() { "no key".into() } else { keys.join(", ") }
            )
        }
        Answer::Imported { lines, .. } => {
            let counts = LINES.iter().zip(count_lines(lines)).filter(|(_, count)| *count > 0);
            counts.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
        }
        Answer::PictureErased(done) => changed(done.changed).to_owned(),
        Answer::Payment(_) | Answer::Accepted | Answer::Link { .. } | Answer::Claim(_) => "done".to_owned(),
        // What it says may name an address.
        Answer::Refused(refusal) => format!("refused: {:?}", refusal.kind),
    }
}

fn changed(changed: bool) -> &'static str {
    if changed { "done" } else { "nothing to change" }
}
