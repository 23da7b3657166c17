//! A stream that lost its end: a server that lost power comes back without its last messages, and gives their sequences
//! to other calls.

use std::sync::atomic::Ordering;

use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::RawMessageErrorKind;
use read::counters::Source;
use schemas::usage::CallId;

use super::CountersWorker;
use crate::failure::Failure;
use crate::source::SourceError;

impl CountersWorker {
    /// How often the connection was made; between two connections nothing is certain.
    pub(super) fn connects(&self) -> u64 {
        self.source.client().statistics().connects.load(Ordering::Relaxed)
    }

    /// Looks whether every stream still has the call that was taken in last where it was. One that has another is read
    /// from its start again; then what has arrived already must be dropped.
    pub(super) async fn lost_an_end(&mut self) -> Result<bool, Failure> {
        let mut lost = false;
        for (name, source) in self.progress.sources.clone() {
            let Some(known) = source.call else { continue };
            let found = self.call_at(&name, source.sequence).await?;
            if found.is_some_and(|found| found != known) {
                tracing::warn!(
                    stream = name,
                    "the stream lost its end and went on; reading it from its start"
                );
                let from_start = Source { sequence: 0, call: None, remade: true, ..source };
                self.progress.sources.insert(name, from_start);
                lost = true;
            }
        }
        Ok(lost)
    }

    /// The call at a sequence; none where there is no message any more, or not yet again.
    async fn call_at(&self, stream: &str, sequence: u64) -> Result<Option<CallId>, Failure> {
        let unavailable = |error: &dyn std::fmt::Display| SourceError::Unavailable(error.to_string());
        let stream = match self.jetstream.get_stream(stream).await {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(inner) if inner.code() == 404 => return Ok(None),
                _ => return Err(unavailable(&error).into()),
            },
        };
        match stream.get_raw_message(sequence).await {
            Ok(message) => {
                let id = message.headers.get("ce-id").and_then(|id| id.as_str().parse().ok());
                Ok(id.map(CallId))
            }
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unavailable(&error).into()),
        }
    }
}
