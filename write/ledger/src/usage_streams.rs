//! The JetStream streams that meter calls: one a tier, whose limit of messages a subject is the tier's quota, and one
//! for calls that turned out to be over it. NATS refuses the call over the quota itself, for any number of nodes.

mod closing;
mod lowering;
mod objection;

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

use objection::objection;

pub(crate) use closing::{close, is_closed, open};

/// Where a stream names the version of its message form; a stream without it was not made by Loggia.
const SCHEMA: &str = "loggia.usage";

/// The version of the message form.
const SCHEMA_VERSION: &str = "1";

/// How long NATS keeps calls: the running month and the one before it, and some days. The ledger keeps them for ever.
const KEPT: Duration = Duration::from_secs(70 * 24 * 60 * 60);

/// For how long JetStream remembers call ids.
const DUPLICATES: Duration = Duration::from_secs(10 * 60);

/// How long an answer of JetStream may take.
const ANSWERED: Duration = Duration::from_secs(5);

/// Why calls cannot be metered.
#[derive(Debug, thiserror::Error)]
pub enum UsageStreamError {
    /// A stream must not be metered with; only an operator can decide.
    #[error("{0}")]
    Refused(String),
    /// NATS cannot do it at present.
    #[error("calls cannot be metered on NATS at present: {0}")]
    Nats(String),
    /// The server cannot be worked with.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
}

impl UsageStreamError {
    /// Whether waiting helps: nobody has to do anything but bring NATS back.
    pub fn may_pass(&self) -> bool {
        matches!(self, UsageStreamError::Nats(_))
    }

    pub(crate) fn nats(error: impl std::fmt::Display) -> UsageStreamError {
        UsageStreamError::Nats(error.to_string())
    }
}

/// What one subject takes: the calls of one key in a month out of one tier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Allowance {
    /// Whose calls.
    pub key: KeyId,
    /// In which month.
    pub month: Month,
    /// Out of which tier.
    pub tier: TierName,
}

/// What a stream holds of some allowances.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// How many calls of each allowance.
    pub calls: BTreeMap<Allowance, u64>,
    /// How many calls of an allowance the stream takes, if there is a limit.
    pub limit: Option<u64>,
}

/// Makes the stream of every tier and the one for overruns, or brings them to the quotas; refuses a stream with other
/// settings. A raised quota counts at once. A lowered one counts as soon as no subject holds more: see `lowering`.
/// Each is kept on at least so many servers. A stream that is made takes calls at once.
pub async fn prepare(client: &Client, tiers: &Tiers, replicas: usize) -> Result<(), UsageStreamError> {
    prepare_as(client, tiers, replicas, New::Open).await
}

/// What a stream that is made takes at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum New {
    /// New calls.
    Open,
    /// Only calls that are given back, until it is opened.
    Closed,
}

/// As [`prepare`], for streams that may have been lost.
pub(crate) async fn prepare_as(
    client: &Client,
    tiers: &Tiers,
    replicas: usize,
    new: New,
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
    // Each to its end, whatever becomes of the others: none may be left halted.
    join_all(ensured).await.into_iter().collect()
}

/// What a stream holds of the allowances of one month; `None` where there is no such stream.
pub async fn held(client: &Client, stream: &str, month: Month) -> Result<Option<Held>, UsageStreamError> {
    let Some(stream) = found(&context(client), stream).await? else { return Ok(None) };
    let limit = u64::try_from(stream.cached_info().config.max_messages_per_subject).ok();
    let filter = format!("loggia.*.*.*.{month}");
    let mut subjects = stream.info_with_subjects(filter).await.map_err(UsageStreamError::nats)?;
    let mut calls = BTreeMap::new();
    while let Some((subject, count)) = subjects.try_next().await.map_err(UsageStreamError::nats)? {
        // What is published under another subject is no call, and is told where it is copied.
        if let Ok((tier, key, month)) = usage_of(&subject) {
            calls.insert(Allowance { key, month, tier }, count as u64);
        }
    }
    Ok(Some(Held { calls, limit: limit.filter(|limit| *limit > 0) }))
}

/// Where a stream ends: its last sequence, whatever is under it; `None` where there is no such stream.
pub async fn end(client: &Client, stream: &str) -> Result<Option<LedgerSource>, UsageStreamError> {
    let Some(found) = found(&context(client), stream).await? else { return Ok(None) };
    let info = found.cached_info();
    let sequence = info.state.last_sequence;
    Ok(Some(LedgerSource { stream: stream.to_owned(), created: created(info)?, sequence }))
}

/// When a stream was made.
pub(crate) fn created(info: &Info) -> Result<Timestamp, UsageStreamError> {
    Timestamp::from_nanosecond(info.created.unix_timestamp_nanos()).map_err(UsageStreamError::nats)
}

pub(crate) fn context(client: &Client) -> Context {
    ContextBuilder::new().timeout(ANSWERED).ack_timeout(ANSWERED).build(client.clone())
}

pub(crate) async fn found(jetstream: &Context, name: &str) -> Result<Option<Stream>, UsageStreamError> {
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

async fn ensure(jetstream: &Context, wanted: Config, new: New) -> Result<(), UsageStreamError> {
    let Some(stream) = found(jetstream, &wanted.name).await? else {
        tracing::info!(stream = wanted.name, "making a stream for calls on NATS");
        let closed = if new == New::Closed { closing::closed(&wanted) } else { None };
        let made = closed.as_ref().unwrap_or(&wanted);
        jetstream.create_stream(made).await.map_err(|error| refusal(error, &wanted))?;
        return Ok(());
    };
    let config = &stream.cached_info().config;
    if let Some(objection) = objection(config, &wanted) {
        return Err(UsageStreamError::Refused(objection));
    }
    if let Some(raised) = stream_settings::raised(config, wanted.num_replicas) {
        update(jetstream, &raised).await?;
        // What follows goes out from how the stream is now.
        let Some(stream) = found(jetstream, &wanted.name).await? else { return Ok(()) };
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
    match stream_settings::impossible(&reason, wanted) {
        Some(refusal) => UsageStreamError::Refused(refusal),
        None => UsageStreamError::nats(error),
    }
}

/// The stream of a tier with this quota.
fn metering(name: &str, subjects: String, quota: i64) -> Config {
    Config {
        description: Some(
            "Counted calls of Loggia; the limit of messages a subject is the tier's quota.".to_owned(),
        ),
        max_messages_per_subject: quota,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        ..keeping(name, subjects)
    }
}

fn overruns() -> Config {
    Config {
        description: Some("Calls of Loggia that were answered though they were over the quota.".to_owned()),
        max_messages_per_subject: -1,
        discard: DiscardPolicy::Old,
        ..keeping(OVERRUN, OVERRUN_SUBJECTS.to_owned())
    }
}

fn keeping(name: &str, subjects: String) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![subjects],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        num_replicas: 1,
        max_messages: -1,
        max_bytes: -1,
        max_message_size: -1,
        max_age: KEPT,
        duplicate_window: DUPLICATES,
        allow_direct: true,
        deny_delete: true,
        deny_purge: true,
        metadata: HashMap::from([(SCHEMA.to_owned(), SCHEMA_VERSION.to_owned())]),
        ..Config::default()
    }
}
