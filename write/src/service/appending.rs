//! How the events of commands are appended, as a span of the command's trace. What belongs to no trace begins none here.

use traces::{Kind, Span};

use super::CommandService;
use crate::event_store::{Append, AppendError, Appended, StoreError};

impl CommandService {
    /// Appends the events of one command to one stream: [`EventStore::append`](crate::event_store::EventStore::append).
    pub(super) async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let unanswered = || StoreError::unavailable("the append was not answered; try again").into();
        self.append_all(vec![append]).await.pop().unwrap_or_else(|| Err(unanswered()))
    }

    /// Appends many at once: [`EventStore::append_all`](crate::event_store::EventStore::append_all). However many they
    /// are, they are one span.
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
}
