//! Publishes calls to the usage streams, with a definite outcome or none.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::ConsumerErrorKind;
use async_nats::jetstream::{Context, ErrorCode};
use async_nats::{Client, HeaderMap, Request};
use futures::StreamExt;
use nats::request::RequestError;
use schemas::cloudevents::MESSAGE_ID;
use schemas::usage::Call;
use serde::Deserialize;
use uuid::Uuid;

/// JetStream's code for a message that was not stored; the text has the reason.
const NOT_STORED: u64 = 10_077;
/// The text for a full subject.
const SUBJECT_FULL: &str = "maximum messages per subject";
/// The timeout for reading the ids of a subject.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of calls read to look up all subjects of a tier, which takes a second or two.
const MAX_TOGETHER: u64 = 200_000;
/// The number of ids requested at once.
const PAGE: u64 = 10_000;
/// How long the server keeps an unused consumer.
const CONSUMER_EXPIRY: Duration = Duration::from_secs(5);

/// Ids of calls by subject.
pub(super) type IdsBySubject = HashMap<String, HashSet<Uuid>>;

/// Publishes calls, and looks up which calls the streams contain.
pub(super) struct UsagePublisher {
    client: Client,
    jetstream: Context,
    /// Whether this role may delete its consumers; otherwise the server removes them after some seconds.
    may_delete: AtomicBool,
}

/// The outcome of publishing a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Published {
    /// It counts, now or since an earlier attempt, with this sequence in its stream.
    Counted { sequence: u64 },
    /// The quota is used up; it does not count.
    Full,
    /// No stream stored it: this attempt does not count.
    NotStored(String),
    /// Unknown: the same call must be published again.
    Unknown(String),
}

/// Why the ids of a subject could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupError {
    #[error("there is no stream {0}")]
    NoStream(String),
    #[error("the calls that were counted cannot be read: {0}")]
    Unavailable(String),
    #[error("more calls were counted than can be read at once")]
    TooMany,
}

/// JetStream's reply to a published message.
#[derive(Deserialize)]
struct Acknowledgement {
    #[serde(default)]
    seq: u64,
    error: Option<JetStreamError>,
}

#[derive(Deserialize)]
struct JetStreamError {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl UsagePublisher {
    pub(super) fn new(client: Client) -> UsagePublisher {
        let jetstream = async_nats::jetstream::new(client.clone());
        UsagePublisher { client, jetstream, may_delete: AtomicBool::new(true) }
    }

    /// Returns whether the client is connected, as far as it has noticed.
    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Publishes a call against its quota. A repeated call counts once.
    pub(super) async fn publish(&self, call: &Call, time_limit: Duration) -> Published {
        self.send(call.subject(), call, time_limit).await
    }

    /// Publishes an overrun: an answered call that is over the quota.
    pub(super) async fn publish_overrun(&self, call: &Call, time_limit: Duration) -> Published {
        self.send(call.overrun_subject(), call, time_limit).await
    }

    async fn send(&self, subject: String, call: &Call, time_limit: Duration) -> Published {
        let mut headers = HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value.as_str());
        }
        let request = Request::new().headers(headers).payload(call.body().into());
        match nats::request::request(&self.client, &subject, request, time_limit).await {
            Ok(reply) => read(&reply.payload),
            // The stream does not exist, or is electing its leader.
            Err(RequestError::NoResponders) => Published::NotStored("its stream has no leader".into()),
            Err(error @ RequestError::NotConnected) => Published::NotStored(error.to_string()),
            Err(RequestError::Unanswered(reason)) => Published::Unknown(reason),
        }
    }

    /// Returns the ids of the calls under a subject, from `first` on (ids ascend with time). For calls whose ids JetStream may have
    /// forgotten.
    pub(super) async fn ids(
        &self,
        stream: &str,
        subject: &str,
        first: Uuid,
    ) -> Result<HashSet<Uuid>, LookupError> {
        match tokio::time::timeout(LOOKUP_TIMEOUT, self.read_ids(stream, subject, first, u64::MAX)).await {
            Ok(ids) => Ok(ids?.into_values().next().unwrap_or_default()),
            Err(_elapsed) => Err(LookupError::Unavailable("it takes too long".into())),
        }
    }

    /// Returns the ids of the calls under all subjects of a pattern, from `first` on, by subject; `None` if there are too many to
    /// read at once.
    pub(super) async fn ids_of_all(
        &self,
        stream: &str,
        pattern: &str,
        first: Uuid,
    ) -> Result<Option<IdsBySubject>, LookupError> {
        match tokio::time::timeout(LOOKUP_TIMEOUT, self.read_ids(stream, pattern, first, MAX_TOGETHER)).await
        {
            Ok(Err(LookupError::TooMany)) | Err(_) => Ok(None),
            Ok(ids) => ids.map(Some),
        }
    }

    async fn read_ids(
        &self,
        stream: &str,
        pattern: &str,
        first: Uuid,
        max: u64,
    ) -> Result<IdsBySubject, LookupError> {
        let name = Uuid::now_v7().simple().to_string();
        let consumer = self.consumer(stream, pattern, &name).await?;
        let ids = if consumer.cached_info().num_pending > max {
            Err(LookupError::TooMany)
        } else {
            take_ids(&consumer, first).await.map_err(|error| LookupError::Unavailable(error.to_string()))
        };
        if self.may_delete.load(Ordering::Relaxed) {
            let deleting = self.jetstream.delete_consumer_from_stream(&name, stream);
            let deleted = tokio::time::timeout(Duration::from_secs(1), deleting).await;
            self.may_delete.fetch_and(deleted.is_ok(), Ordering::Relaxed);
        }
        ids
    }

    async fn consumer(&self, stream: &str, subject: &str, name: &str) -> Result<PullConsumer, LookupError> {
        let unavailable = |error: &dyn std::fmt::Display| LookupError::Unavailable(error.to_string());
        let config = pull::Config {
            // A named consumer is created under its filter subject, so that a node's permissions can be limited to these calls.
            name: Some(name.to_owned()),
            filter_subject: subject.to_owned(),
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::None,
            headers_only: true,
            memory_storage: true,
            inactive_threshold: CONSUMER_EXPIRY,
            ..pull::Config::default()
        };
        let found = self.jetstream.get_stream_no_info(stream).await.map_err(|error| unavailable(&error))?;
        found.create_consumer(config).await.map_err(|error| match error.kind() {
            ConsumerErrorKind::JetStream(reason) if reason.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                LookupError::NoStream(stream.to_owned())
            }
            _ => unavailable(&error),
        })
    }
}

async fn take_ids(consumer: &PullConsumer, first: Uuid) -> Result<IdsBySubject, async_nats::Error> {
    let mut left = consumer.cached_info().num_pending;
    let mut ids = IdsBySubject::new();
    while left > 0 {
        let page = usize::try_from(left.min(PAGE)).unwrap_or_default();
        let mut messages = consumer.fetch().max_messages(page).messages().await?;
        let before = left;
        while let Some(message) = messages.next().await {
            let message = message?;
            left = message.info()?.pending;
            let id = message.headers.as_ref().and_then(|headers| headers.get(MESSAGE_ID));
            let id = id.and_then(|id| Uuid::parse_str(id.as_str()).ok());
            if let Some(id) = id.filter(|id| *id >= first) {
                match ids.get_mut(message.subject.as_str()) {
                    Some(known) => _ = known.insert(id),
                    None => _ = ids.insert(message.subject.to_string(), HashSet::from([id])),
                }
            }
        }
        if left == before {
            return Err("the server stopped answering".into());
        }
    }
    Ok(ids)
}

fn read(answer: &[u8]) -> Published {
    match serde_json::from_slice(answer) {
        Ok(Acknowledgement { error: None, seq }) if seq > 0 => Published::Counted { sequence: seq },
        Ok(Acknowledgement { error: Some(JetStreamError { err_code: NOT_STORED, description }), .. })
            if description.contains(SUBJECT_FULL) =>
        {
            Published::Full
        }
        Ok(Acknowledgement { error: Some(JetStreamError { err_code, description }), .. }) => {
            Published::Unknown(format!("JetStream refuses it: {description} ({err_code})"))
        }
        Ok(_) | Err(_) => Published::Unknown("the reply is not from JetStream".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_definite_or_unknown() {
        for (answer, expected) in [
            (r#"{"stream":"USAGE_FREE","seq":7}"#, Published::Counted { sequence: 7 }),
            (r#"{"stream":"USAGE_FREE","seq":7,"duplicate":true}"#, Published::Counted { sequence: 7 }),
            (
                r#"{"error":{"code":503,"err_code":10077,"description":"maximum messages per subject exceeded"},"stream":"USAGE_FREE","seq":0}"#,
                Published::Full,
            ),
            (
                r#"{"error":{"code":503,"err_code":10077,"description":"insufficient storage"},"seq":0}"#,
                Published::Unknown("JetStream refuses it: insufficient storage (10077)".into()),
            ),
            ("{}", Published::Unknown("the reply is not from JetStream".into())),
            ("", Published::Unknown("the reply is not from JetStream".into())),
        ] {
            assert_eq!(read(answer.as_bytes()), expected, "{answer}");
        }
    }
}
