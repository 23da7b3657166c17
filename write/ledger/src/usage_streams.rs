//! The JetStream streams that meter calls: one for each tier, whose limit of messages per subject is the tier's quota, and one for
//! calls that were found to exceed it after they had been answered. JetStream itself refuses the call over the quota, for any
//! number of nodes.

mod closing;
mod compatibility;
mod lowering;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::{
    ContextBuilder, CreateStreamError, CreateStreamErrorKind, GetStreamErrorKind,
};
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, ErrorCode};
use futures::TryStreamExt;
use futures::future::join_all;
use jiff::Timestamp;
use nats::requirements::{self, InsufficientServer};
use nats::stream_settings;
use schemas::control::LedgerSource;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::subject::{OVERRUN, OVERRUN_SUBJECTS, usage_of, usage_stream, usage_subjects};
use schemas::tier::{TierName, Tiers};

use compatibility::incompatibility;

pub(crate) use closing::{close, is_closed, open};

/// The metadata key with the version of the message format; a stream without it was not created by Loggia.
const SCHEMA: &str = "loggia.usage";

/// The version of the message format.
const SCHEMA_VERSION: &str = "1";

/// How long NATS keeps calls: the current month, the one before it, and some days. The ledger keeps them permanently.
const MAX_AGE: Duration = Duration::from_secs(70 * 24 * 60 * 60);

/// How long JetStream recognises duplicate call ids.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(10 * 60);

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why calls cannot be metered.
#[derive(Debug, thiserror::Error)]
pub enum UsageStreamError {
    /// A stream must not be used for metering; an operator has to decide.
    #[error("{0}")]
    Refused(String),
    /// Temporary: NATS is unavailable or refuses.
    #[error("calls cannot be metered on NATS at present: {0}")]
    Nats(String),
    /// The server lacks a required version or feature.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
}

impl UsageStreamError {
    /// Returns whether a retry may succeed without an operator, once NATS is back.
    pub fn is_temporary(&self) -> bool {
        matches!(self, UsageStreamError::Nats(_))
    }

    pub(crate) fn nats(error: impl std::fmt::Display) -> UsageStreamError {
        UsageStreamError::Nats(error.to_string())
    }
}

/// What one subject counts: the calls of one key in one month and tier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Allowance {
    /// The key.
    pub key: KeyId,
    /// The month.
    pub month: Month,
    /// The tier.
    pub tier: TierName,
}

/// The calls in a stream.
#[derive(Debug, Clone, Default)]
pub struct CallsInStream {
    /// The number of calls by allowance.
    pub calls: BTreeMap<Allowance, u64>,
    /// The maximum number of calls of one allowance, if there is a limit.
    pub limit: Option<u64>,
}

/// Creates the stream of every tier and the one for overruns, or updates their quotas. A raised quota applies at once, a lowered one
/// as soon as no subject has more messages (see `lowering`). Each stream has at least this many replicas. A new stream accepts calls
/// at once.
///
/// # Errors
///
/// Fails if NATS cannot do it at present, or has a stream with other settings.
pub async fn prepare(client: &Client, tiers: &Tiers, replicas: usize) -> Result<(), UsageStreamError> {
    prepare_as(client, tiers, replicas, NewStream::Open).await
}

/// What a new stream accepts at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewStream {
    Open,
    /// Only restored calls, until it is opened.
    Closed,
}

/// Prepares the streams as [`prepare`] does; streams that were lost may be created closed.
pub(crate) async fn prepare_as(
    client: &Client,
    tiers: &Tiers,
    replicas: usize,
    new: NewStream,
) -> Result<(), UsageStreamError> {
    requirements::check(client)?;
    let jetstream = context(client);
    let metering = tiers.iter().map(|tier| {
        let quota = i64::try_from(tier.quota).unwrap_or(i64::MAX);
        metering(&usage_stream(&tier.name), usage_subjects(&tier.name), quota)
    });
    let ensured = metering
        .chain([overruns()])
        .map(|wanted| ensure(&jetstream, Config { num_replicas: replicas, ..wanted }, new));
    // Each to completion, even if others fail: none may be left halted.
    join_all(ensured).await.into_iter().collect()
}

/// Returns the calls in a stream of one month; `None` if there is no such stream.
///
/// # Errors
///
/// Fails if NATS cannot be reached or refuses.
pub async fn calls_in_stream(
    client: &Client,
    stream: &str,
    month: Month,
) -> Result<Option<CallsInStream>, UsageStreamError> {
    let Some(stream) = find(&context(client), stream).await? else { return Ok(None) };
    let limit = u64::try_from(stream.cached_info().config.max_messages_per_subject).ok();
    let filter = format!("loggia.*.*.*.{month}");
    let mut subjects = stream.info_with_subjects(filter).await.map_err(UsageStreamError::nats)?;
    let mut calls = BTreeMap::new();
    while let Some((subject, count)) = subjects.try_next().await.map_err(UsageStreamError::nats)? {
        // A message under another subject is not a call; the copier logs it.
        if let Ok((tier, key, month)) = usage_of(&subject) {
            calls.insert(Allowance { key, month, tier }, count as u64);
        }
    }
    Ok(Some(CallsInStream { calls, limit: limit.filter(|limit| *limit > 0) }))
}

/// Returns the last sequence of a stream, whatever the message there; `None` if there is no such stream.
///
/// # Errors
///
/// Fails if NATS cannot be reached or refuses.
pub async fn stream_end(client: &Client, stream: &str) -> Result<Option<LedgerSource>, UsageStreamError> {
    let Some(stream_now) = find(&context(client), stream).await? else { return Ok(None) };
    let info = stream_now.cached_info();
    let sequence = info.state.last_sequence;
    Ok(Some(LedgerSource { stream: stream.to_owned(), created: created(info)?, sequence }))
}

/// Returns when a stream was created.
pub(crate) fn created(info: &Info) -> Result<Timestamp, UsageStreamError> {
    Timestamp::from_nanosecond(info.created.unix_timestamp_nanos()).map_err(UsageStreamError::nats)
}

pub(crate) fn context(client: &Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).ack_timeout(REQUEST_TIMEOUT).build(client.clone())
}

/// Returns a stream; `None` if there is no such stream.
pub(crate) async fn find(jetstream: &Context, name: &str) -> Result<Option<Stream>, UsageStreamError> {
    match jetstream.get_stream(name).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                Ok(None)
            }
            _ => Err(UsageStreamError::nats(error)),
        },
    }
}

async fn ensure(jetstream: &Context, wanted: Config, new: NewStream) -> Result<(), UsageStreamError> {
    let Some(stream) = find(jetstream, &wanted.name).await? else {
        tracing::info!(stream = wanted.name, "creating a stream for calls on NATS");
        let closed = if new == NewStream::Closed { closing::closed(&wanted) } else { None };
        let initial = closed.as_ref().unwrap_or(&wanted);
        jetstream.create_stream(initial).await.map_err(|error| refusal(error, &wanted))?;
        return Ok(());
    };
    let config = &stream.cached_info().config;
    if let Some(reason) = incompatibility(config, &wanted) {
        return Err(UsageStreamError::Refused(reason));
    }
    if let Some(raised) = stream_settings::with_more_replicas(config, wanted.num_replicas) {
        update(jetstream, &raised).await?;
        // The quota is compared with the updated configuration.
        let Some(stream) = find(jetstream, &wanted.name).await? else { return Ok(()) };
        return ensure_quota(jetstream, &stream, &wanted).await;
    }
    ensure_quota(jetstream, &stream, &wanted).await
}

async fn ensure_quota(jetstream: &Context, stream: &Stream, wanted: &Config) -> Result<(), UsageStreamError> {
    let config = &stream.cached_info().config;
    let (has, wants) = (config.max_messages_per_subject, wanted.max_messages_per_subject);
    if wants < has {
        return lowering::lower(jetstream, stream, wants).await;
    }
    if wants > has || lowering::is_halted(config) {
        let raised = Config { max_messages_per_subject: wants, max_message_size: -1, ..config.clone() };
        update(jetstream, &raised).await?;
    }
    Ok(())
}

async fn update(jetstream: &Context, config: &Config) -> Result<(), UsageStreamError> {
    jetstream.update_stream(config).await.map(drop).map_err(|error| refusal(error, config))
}

fn refusal(error: CreateStreamError, wanted: &Config) -> UsageStreamError {
    let CreateStreamErrorKind::JetStream(reason) = error.kind() else { return UsageStreamError::nats(error) };
    match stream_settings::permanent_error(&reason, wanted) {
        Some(refusal) => UsageStreamError::Refused(refusal),
        None => UsageStreamError::nats(error),
    }
}

/// Returns the configuration of the stream of a tier with this quota.
fn metering(name: &str, subjects: String, quota: i64) -> Config {
    Config {
        description: Some(
            "Counted calls of Loggia; the limit of messages a subject is the tier's quota.".to_owned(),
        ),
        max_messages_per_subject: quota,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        ..base(name, subjects)
    }
}

fn overruns() -> Config {
    Config {
        description: Some("Calls of Loggia that were answered though they were over the quota.".to_owned()),
        max_messages_per_subject: -1,
        discard: DiscardPolicy::Old,
        ..base(OVERRUN, OVERRUN_SUBJECTS.to_owned())
    }
}

fn base(name: &str, subjects: String) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![subjects],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        num_replicas: 1,
        max_messages: -1,
        max_bytes: -1,
        max_message_size: -1,
        max_age: MAX_AGE,
        duplicate_window: DUPLICATE_WINDOW,
        allow_direct: true,
        deny_delete: true,
        deny_purge: true,
        metadata: HashMap::from([(SCHEMA.to_owned(), SCHEMA_VERSION.to_owned())]),
        ..Config::default()
    }
}
