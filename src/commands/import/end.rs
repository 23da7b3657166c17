//! How an import ended, and what is said about it.

use std::process::ExitCode;

use cli_output::sentence;
use daemon::signals::{Interrupted, Signal};
use schemas::ids::CommandId;

use super::pictures::Unsent;
use crate::session;

/// Returns how to import the lines that were not reached.
pub fn resume_hint(id: CommandId) -> String {
    format!("run it again with --id {id} for the rest: no line is imported twice")
}

pub struct End {
    pub status: ExitCode,
    /// The kind of the failure, and its reason.
    pub failure: Option<(&'static str, String)>,
    /// Whether lines may have been imported without a reply that says so.
    pub is_unknown: bool,
}

impl End {
    pub fn complete() -> End {
        End { status: ExitCode::SUCCESS, failure: None, is_unknown: false }
    }

    pub fn failed(reason: String) -> End {
        End { status: ExitCode::FAILURE, failure: Some(("failed", reason)), is_unknown: false }
    }

    /// Returns the end by a signal after lines whose outcome is known, of which these pictures are still to be sent.
    pub fn interrupted(signal: Signal, unsent: Option<&Unsent>, id: CommandId) -> End {
        let rest =
            unsent.map_or_else(|| format!(", {}", resume_hint(id)), |unsent| format!(", and {unsent}"));
        let reason = format!("interrupted by {}; what is counted here is done{rest}", signal.name());
        End { status: signal.exit_status(), failure: Some(("interrupted", reason)), is_unknown: false }
    }

    /// Returns the end by an error, after which these pictures of lines whose outcome is known are still to be sent.
    pub fn of_error(error: &anyhow::Error, unsent: Option<&Unsent>) -> End {
        let mut reason = sentence(&**error);
        if let Some(unsent) = unsent {
            reason = format!("{reason}; what is counted here is done, and {unsent}");
        }
        let (status, kind) = match error.downcast_ref() {
            Some(Interrupted(signal)) => (signal.exit_status(), "interrupted"),
            None => (ExitCode::FAILURE, "failed"),
        };
        // Pictures are sent once the outcome of their lines is known.
        let is_unknown = unsent.is_none() && !session::is_surely_undone(error);
        End { status, failure: Some((kind, reason)), is_unknown }
    }

    /// Returns whether the import did all that it was to do.
    pub fn is_success(&self) -> bool {
        self.failure.is_none()
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use write::command_client::SendError;

    use super::*;

    const ID: &str = "0192f3a4-7c1e-7b2a-9d3f-5a6b7c8d9e0f";

    fn unsent(number: usize) -> Unsent {
        Unsent { number, first: "front/12.jpg".to_owned() }
    }

    /// Returns the kind and the reason of a failure, and whether lines may have been imported without a reply.
    fn of(end: End) -> (&'static str, String, bool) {
        let (kind, reason) = end.failure.unwrap();
        (kind, reason, end.is_unknown)
    }

    #[test]
    fn a_signal_between_two_batches_leaves_lines_and_one_while_pictures_are_sent_leaves_pictures() {
        let interrupted =
            |unsent: Option<&Unsent>| of(End::interrupted(Signal::Interrupt, unsent, ID.parse().unwrap()));
        let lines = format!(
            "interrupted by SIGINT; what is counted here is done, run it again with --id {ID} for the rest: no line is imported twice"
        );
        assert_eq!(interrupted(None), ("interrupted", lines, false));
        let one = "interrupted by SIGINT; what is counted here is done, and 1 picture of these records is still to be sent, \
                   front/12.jpg; run the same command again: it sends only what is missing";
        assert_eq!(interrupted(Some(&unsent(1))), ("interrupted", one.to_owned(), false));
        let many = "interrupted by SIGINT; what is counted here is done, and 1,234 pictures of these records are still to be sent, \
                    front/12.jpg the first; run the same command again: it sends only what is missing";
        assert_eq!(interrupted(Some(&unsent(1_234))), ("interrupted", many.to_owned(), false));
    }

    #[test]
    fn a_connection_that_is_lost_while_pictures_are_sent_leaves_no_doubt_about_lines() {
        let lost = || anyhow::Error::from(SendError::Unanswered("timed out".to_owned()));
        let reason = SendError::Unanswered("timed out".to_owned()).to_string();
        assert_eq!(of(End::of_error(&lost(), None)), ("failed", reason.clone(), true));
        let pictures = format!(
            "{reason}; what is counted here is done, and 2 pictures of these records are still to be sent, front/12.jpg the \
             first; run the same command again: it sends only what is missing"
        );
        assert_eq!(of(End::of_error(&lost(), Some(&unsent(2)))), ("failed", pictures, false));
        let absent = anyhow::Error::from(SendError::NoWriteSide);
        assert!(!End::of_error(&absent, None).is_unknown);
    }

    #[test]
    fn a_signal_before_the_reply_leaves_the_lines_unknown() {
        let error = Err::<(), _>(Interrupted(Signal::Terminate)).context("not known").unwrap_err();
        let expected = ("interrupted", "not known: ended by SIGTERM".to_owned(), true);
        assert_eq!(of(End::of_error(&error, None)), expected);
    }
}
