//! The JetStream stream of the event log: creates it with the required settings, and refuses the stream of another store.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::jetstream::context::{CreateStreamError, CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, RawMessageErrorKind, RetentionPolicy, StorageType, Stream,
};
use async_nats::jetstream::{Context, ErrorCode};
use nats::stream_settings::{self, is_unlimited};
use schemas::ids::{Position, StoreId};
use schemas::subject::{EVENT_SUBJECTS, EVENTS, SHARED_SETTINGS};

use super::RelayError;

/// The metadata key with the id of the event store.
const STORE: &str = "loggia.store";

/// The metadata key with the version of the message format.
const SCHEMA: &str = "loggia.schema";

/// The version of the message format.
const SCHEMA_VERSION: &str = "1";

/// How long JetStream remembers message ids. The expected sequence prevents duplicates without a time limit, and two minutes of
/// an import are ids of 40 MB in the server's memory.
const DUPLICATES: Duration = Duration::from_secs(20);

pub(super) struct EventStream {
    jetstream: Context,
    stream: Stream,
    accepts_batches: bool,
}

impl EventStream {
    /// Finds or creates the stream, with these settings in its metadata; rejects the stream of another store and one with an age
    /// or size limit.
    pub(super) async fn ensure(
        jetstream: Context,
        store: StoreId,
        replicas: usize,
        settings: Option<&str>,
    ) -> Result<EventStream, RelayError> {
        let stream = match jetstream.get_stream(EVENTS).await {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                    create(&jetstream, store, replicas).await?
                }
                _ => return Err(RelayError::nats(error)),
            },
        };
        let config = &stream.cached_info().config;
        if let Some(mismatch) = mismatch(config, store) {
            return Err(RelayError::Refused(mismatch));
        }
        let mut kept =
            batched(stream_settings::with_more_replicas(config, replicas).unwrap_or_else(|| config.clone()));
        if let Some(settings) = settings {
            kept.metadata.insert(SHARED_SETTINGS.to_owned(), settings.to_owned());
        }
        if kept != *config {
            jetstream.update_stream(&kept).await.map_err(|error| refusal(&error, &kept))?;
        }
        let accepts_batches = kept.allow_atomic_publish && kept.num_replicas > 1;
        Ok(EventStream { jetstream, stream, accepts_batches })
    }

    pub(super) fn jetstream(&self) -> &Context {
        &self.jetstream
    }

    /// Returns whether the stream accepts atomic batches and gains from them.
    pub(super) fn accepts_batches(&self) -> bool {
        self.accepts_batches
    }

    /// Returns the last position that the stream ever had.
    pub(super) async fn last(&self) -> Result<Position, RelayError> {
        let info = self.stream.get_info().await.map_err(RelayError::nats)?;
        Ok(Position(info.state.last_sequence))
    }

    /// Returns the message at a position, if it still exists.
    pub(super) async fn message(&self, position: Position) -> Result<Option<StreamMessage>, RelayError> {
        match self.stream.get_raw_message(position.0).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(RelayError::nats(error)),
        }
    }
}

async fn create(jetstream: &Context, store: StoreId, replicas: usize) -> Result<Stream, RelayError> {
    tracing::info!(%store, "making the stream {EVENTS} on NATS");
    let required = required(store, replicas);
    jetstream.create_stream(&required).await.map_err(|error| refusal(&error, &required))
}

fn refusal(error: &CreateStreamError, required: &Config) -> RelayError {
    let CreateStreamErrorKind::JetStream(reason) = error.kind() else { return RelayError::nats(error) };
    match stream_settings::permanent_error(&reason, required) {
        Some(refusal) => RelayError::Refused(refusal),
        None => RelayError::nats(error),
    }
}

/// Replicated servers reach consensus on an atomic batch once; a single server would write it to a file of its own first.
fn batched(config: Config) -> Config {
    Config { allow_atomic_publish: config.allow_atomic_publish || config.num_replicas > 1, ..config }
}

fn required(store: StoreId, replicas: usize) -> Config {
    batched(Config {
        name: EVENTS.to_owned(),
        description: Some(
            "The events of Loggia; the sequence is the position in the event store.".to_owned(),
        ),
        subjects: EVENT_SUBJECTS.map(String::from).into(),
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        storage: StorageType::File,
        num_replicas: replicas,
        max_messages: -1,
        max_bytes: -1,
        max_messages_per_subject: -1,
        duplicate_window: DUPLICATES,
        allow_direct: true,
        deny_delete: true,
        deny_purge: true,
        metadata: HashMap::from([
            (STORE.to_owned(), store.to_string()),
            (SCHEMA.to_owned(), SCHEMA_VERSION.to_owned()),
        ]),
        ..Config::default()
    })
}

/// Returns why this store must not publish to a stream of this configuration, as a sentence.
fn mismatch(config: &Config, store: StoreId) -> Option<String> {
    let name = &config.name;
    match config.metadata.get(STORE) {
        None => {
            return Some(format!(
                "the stream {name} on NATS was not made by Loggia; delete or rename it, or use another NATS account"
            ));
        }
        Some(owner) if *owner != store.to_string() => {
            return Some(format!(
                "the stream {name} on NATS belongs to the event store {owner}, and this is {store}; use another NATS \
                 server or account for it"
            ));
        }
        Some(_) => {}
    }
    if config.metadata.get(SCHEMA).map(String::as_str) != Some(SCHEMA_VERSION) {
        return Some(format!("the stream {name} on NATS was made by a newer Loggia; use that one"));
    }
    let required = required(store, config.num_replicas);
    let own = [
        ("max_msgs_per_subject", is_unlimited(config.max_messages_per_subject)),
        ("max_msg_size", is_unlimited(config.max_message_size.into())),
    ];
    let setting = stream_settings::mismatch(config, &required, &own)?;
    Some(format!(
        "the stream {name} on NATS has another setting of {setting} than Loggia made it with, so events would be lost \
         or changed; set it back, or delete the stream, and it is created again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE_ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn mismatch_of(change: impl FnOnce(&mut Config)) -> Option<String> {
        let store = STORE_ID.parse().unwrap();
        let mut config = required(store, 1);
        change(&mut config);
        mismatch(&config, store)
    }

    #[test]
    fn the_stream_of_this_store_is_accepted_and_harmless_settings_may_differ() {
        assert_eq!(mismatch_of(|_| {}), None);
        assert_eq!(
            mismatch_of(|config| {
                config.num_replicas = 3;
                config.duplicate_window = Duration::from_secs(600);
                config.description = None;
                config.max_messages = 0;
                config.metadata.insert("_nats.ver".into(), "2.15.1".into());
            }),
            None
        );
    }

    #[test]
    fn a_foreign_stream_is_rejected() {
        assert_eq!(
            mismatch_of(|config| config.metadata.clear()).unwrap(),
            "the stream EVENTS on NATS was not made by Loggia; delete or rename it, or use another NATS account"
        );
        let other = mismatch_of(|config| {
            config.metadata.insert(STORE.into(), "01ARZ3NDEKTSV4RRFFQ69G5FAW".into());
        });
        assert_eq!(
            other.unwrap(),
            "the stream EVENTS on NATS belongs to the event store 01ARZ3NDEKTSV4RRFFQ69G5FAW, and this is \
             01ARZ3NDEKTSV4RRFFQ69G5FAV; use another NATS server or account for it"
        );
        let newer = mismatch_of(|config| {
            config.metadata.insert(SCHEMA.into(), "2".into());
        });
        assert_eq!(newer.unwrap(), "the stream EVENTS on NATS was made by a newer Loggia; use that one");
    }

    #[test]
    fn a_stream_that_may_lose_events_is_rejected_and_the_setting_named() {
        let named = |setting: &str, change: fn(&mut Config)| {
            let mismatch = mismatch_of(change).unwrap();
            assert!(mismatch.contains(&format!("another setting of {setting} than")), "{mismatch}");
        };
        named("max_age", |config| config.max_age = Duration::from_secs(3_600));
        named("max_msgs", |config| config.max_messages = 1_000);
        named("max_bytes", |config| config.max_bytes = 1_000);
        named("max_msgs_per_subject", |config| config.max_messages_per_subject = 1);
        named("retention", |config| config.retention = RetentionPolicy::WorkQueue);
        named("storage", |config| config.storage = StorageType::Memory);
        named("subjects", |config| config.subjects = vec!["loggia.>".into()]);
        named("allow_rollup_hdrs", |config| config.allow_rollup = true);
    }
}
