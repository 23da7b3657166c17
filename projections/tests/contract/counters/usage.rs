//! Usage streams and a ledger that a test fills.

use async_nats::jetstream;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use schemas::control::{LedgerEntry, LedgerSource, ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{self, READ_USAGE};
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};

pub(super) const FREE: &str = "USAGE_FREE";

pub(super) fn free() -> TierName {
    "free".parse().unwrap()
}

/// Returns a call of one of three keys, derived from its number.
pub(super) fn call(number: u64) -> Call {
    let time = "2026-11-02T00:00:00Z".parse::<Timestamp>().unwrap()
        + SignedDuration::from_mins(number.cast_signed());
    Call {
        id: CallId(uuid::Uuid::from_u128(u128::from(number) + 1)),
        key_id: format!("Key{:05}", number % 3).parse().unwrap(),
        tier: free(),
        month: Month::of(time),
        time,
        surface: if number.is_multiple_of(4) { Surface::Mcp } else { Surface::Rest },
        operation: "search".into(),
    }
}

/// The usage streams of one server, filled by a test.
pub(super) struct Usage {
    client: async_nats::Client,
    pub(super) jetstream: jetstream::Context,
}

impl Usage {
    pub(super) async fn new(client: &async_nats::Client) -> Usage {
        let usage = Usage { client: client.clone(), jetstream: jetstream::new(client.clone()) };
        usage.make(FREE, subject::usage_subjects(&free())).await;
        usage
    }

    pub(super) async fn make(&self, name: &str, subjects: String) {
        let config =
            jetstream::stream::Config { name: name.into(), subjects: vec![subjects], ..Default::default() };
        self.jetstream.create_stream(config).await.unwrap();
    }

    pub(super) async fn publish(&self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            let call = call(number);
            self.send(call.subject(), &call).await;
        }
    }

    pub(super) async fn send(&self, subject: String, call: &Call) {
        let mut headers = async_nats::HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value.as_str());
        }
        let sent = self.jetstream.publish_with_headers(subject, headers, call.body().into()).await;
        sent.unwrap().await.unwrap();
    }

    async fn created(&self, name: &str) -> Timestamp {
        let stream = self.jetstream.get_stream(name).await.unwrap();
        Timestamp::from_nanosecond(stream.cached_info().created.unix_timestamp_nanos()).unwrap()
    }

    /// Answers for a ledger that has copied the first calls of the stream, in pages of ten, until it is dropped.
    pub(super) async fn keep_ledger(&self, copied: u64) -> tokio_util::task::AbortOnDropHandle<()> {
        let mut requests = self.client.subscribe(READ_USAGE).await.unwrap();
        let created = self.created(FREE).await;
        let client = self.client.clone();
        tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let ReadUsage { after, limit } = serde_json::from_slice(&request.payload).unwrap();
                let entries = (after.0..copied).take(limit.min(10)).map(|number| LedgerEntry {
                    position: Position(number + 1),
                    call: call(number),
                    overrun: false,
                    source: FREE.into(),
                    sequence: number + 1,
                });
                let source = LedgerSource { stream: FREE.into(), created, sequence: copied };
                let page =
                    UsagePage { entries: entries.collect(), head: Position(copied), sources: vec![source] };
                let page = serde_json::to_vec(&page).unwrap();
                client.publish(request.reply.unwrap(), page.into()).await.unwrap();
            }
        }))
    }
}
