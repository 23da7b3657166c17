//! The way to NATS: one published call, one definite answer or none.

use std::collections::HashSet;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::{Client, HeaderMap, Request};
use futures::StreamExt;
use schemas::cloudevents::MESSAGE_ID;
use schemas::subject;
use schemas::usage::Call;
use serde::Deserialize;

/// JetStream's code for a message that its stream did not store; the text says why.
const NOT_STORED: u64 = 10_077;
/// What the text says where the subject is full.
const SUBJECT_FULL: &str = "maximum messages per subject";
/// How long the ids of one subject may take to be read.
const READ_WITHIN: Duration = Duration::from_secs(10);

pub(super) struct Gate {
    client: Client,
}

/// What became of a published call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Published {
    /// It counts, now or since an earlier attempt, under this sequence of its stream.
    Counted { sequence: u64 },
    /// Nothing is left; it does not count.
    Full,
    /// It may count or not: the same call must be published again.
    Unknown(String),
}

/// What JetStream answers to a published message.
#[derive(Deserialize)]
struct Acknowledgement {
    #[serde(default)]
    seq: u64,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl Gate {
    pub(super) fn new(client: Client) -> Gate {
        Gate { client }
    }

    /// Whether there is a connection, as far as the client has noticed.
    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Publishes a call against its quota. The same call again counts once.
    pub(super) async fn publish(&self, call: &Call, patience: Duration) -> Published {
        self.send(subject::usage(call), call, patience).await
    }

    /// Publishes a call that was answered and turned out to be over the quota.
    pub(super) async fn publish_overrun(&self, call: &Call, patience: Duration) -> Published {
        self.send(subject::overrun(call), call, patience).await
    }

    async fn send(&self, subject: String, call: &Call, patience: Duration) -> Published {
        let mut headers = HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value.as_str());
        }
        let request = Request::new().headers(headers).payload(call.body().into()).timeout(Some(patience));
        // Without a connection the client keeps what it is given, and once it is full it takes nothing more: whoever
        // sends waits then, and no timeout of the request runs yet.
        if !self.is_connected() {
            return Published::Unknown("there is no connection to NATS".into());
        }
        match tokio::time::timeout(patience, self.client.send_request(subject, request)).await {
            Ok(Ok(answer)) => read(&answer.payload),
            Ok(Err(error)) => Published::Unknown(error.to_string()),
            Err(_elapsed) => Published::Unknown("NATS does not take it in time".into()),
        }
    }

    /// The ids of all calls that count against the quota of this call. For what lay in the spool longer than JetStream
    /// remembers message ids.
    pub(super) async fn ids(&self, call: &Call) -> Result<HashSet<String>, String> {
        let reading = self.read_ids(call);
        match tokio::time::timeout(READ_WITHIN, reading).await {
            Ok(ids) => ids.map_err(|error| error.to_string()),
            Err(_elapsed) => Err("the calls that were counted could not be read in time".into()),
        }
    }

    async fn read_ids(&self, call: &Call) -> Result<HashSet<String>, async_nats::Error> {
        let stream = async_nats::jetstream::new(self.client.clone())
            .get_stream_no_info(subject::usage_stream(&call.tier))
            .await?;
        let consumer = stream
            .create_consumer(pull::OrderedConfig {
                // One with a name is made under its filter, so that a node may read these calls and nothing else.
                name: Some(uuid::Uuid::now_v7().simple().to_string()),
                filter_subject: subject::usage(call),
                deliver_policy: DeliverPolicy::All,
                headers_only: true,
                ..pull::OrderedConfig::default()
            })
            .await?;
        let mut left = consumer.cached_info().num_pending;
        let mut ids = HashSet::new();
        let mut messages = consumer.messages().await?;
        while left > 0
            && let Some(message) = messages.next().await
        {
            let message = message?;
            left = message.info()?.pending;
            let id = message.headers.as_ref().and_then(|headers| headers.get(MESSAGE_ID));
            ids.extend(id.map(|id| id.as_str().to_owned()));
        }
        Ok(ids)
    }
}

fn read(answer: &[u8]) -> Published {
    match serde_json::from_slice(answer) {
        Ok(Acknowledgement { error: None, seq }) if seq > 0 => Published::Counted { sequence: seq },
        Ok(Acknowledgement { error: Some(Refusal { err_code: NOT_STORED, description }), .. })
            if description.contains(SUBJECT_FULL) =>
        {
            Published::Full
        }
        Ok(Acknowledgement { error: Some(Refusal { err_code, description }), .. }) => {
            Published::Unknown(format!("JetStream refuses it: {description} ({err_code})"))
        }
        Ok(_) | Err(_) => Published::Unknown("what answered is not JetStream".into()),
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
            ("{}", Published::Unknown("what answered is not JetStream".into())),
            ("", Published::Unknown("what answered is not JetStream".into())),
        ] {
            assert_eq!(read(answer.as_bytes()), expected, "{answer}");
        }
    }
}
