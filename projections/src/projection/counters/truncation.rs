//! Detects streams that lost their last messages: a server that lost power comes back without them, and gives their
//! sequences to other calls.

use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::RawMessageErrorKind;
use nats::connection;
use read::counters::Source;
use schemas::usage::CallId;

use super::CountersWorker;
use crate::error::WorkerError;
use crate::source::SourceError;

impl CountersWorker {
    /// Returns how often the client has connected; after a new connection a stream may be truncated.
    pub(super) fn connections(&self) -> u64 {
        connection::count(self.source.client())
    }

    /// Checks that every stream still has the call that was counted last at its sequence. A stream with another call there is
    /// read from its start again. Returns whether there is one; then calls received meanwhile must be discarded.
    pub(super) async fn rewind_truncated_streams(&mut self) -> Result<bool, WorkerError> {
        let mut is_truncated = false;
        for (name, source) in self.progress.sources.clone() {
            let Some(known) = source.call else { continue };
            let found = self.call_at(&name, source.sequence).await?;
            if found.is_some_and(|found| found != known) {
                tracing::warn!(
                    stream = name,
                    "the stream lost its last messages and continued; reading it from its start"
                );
                let from_start = Source { sequence: 0, call: None, recreated: true, ..source };
                self.progress.sources.insert(name, from_start);
                is_truncated = true;
            }
        }
        Ok(is_truncated)
    }

    /// Returns the id of the call at a sequence; `None` if there is no message.
    async fn call_at(&self, stream: &str, sequence: u64) -> Result<Option<CallId>, WorkerError> {
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
