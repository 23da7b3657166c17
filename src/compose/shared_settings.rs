//! Settings that all nodes of a cluster share: the write side publishes its own in the metadata of the stream EVENTS, and
//! the other nodes compare theirs.
//!
//! A setting is changed on one read node first, which is not ready then; next on the write side, so that this node is ready within
//! a second or two; then on the other nodes. Those stay ready for a while after the write side has changed, so that at each moment one
//! node answers. A node that starts with other settings than the write side has no such time: it would answer wrongly from the start.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{ContextBuilder, GetStreamErrorKind};
use data_encoding::HEXLOWER;
use data_folder::DataFolder;
use health::Component;
use metering::Policy;
use schemas::subject::{EVENTS, SHARED_SETTINGS};
use schemas::tier::Tiers;
use sha2::{Digest, Sha256};

use crate::config::{Auth, Config, SETTINGS};
use crate::connection;

/// The interval between two comparisons while nothing differs.
const COMPARE_INTERVAL: Duration = Duration::from_secs(10);

/// The interval while something differs, or could not be read.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// How long a node stays ready after the write side has changed a setting: longer than another one takes to notice that it agrees.
const CHANGE_GRACE_PERIOD: Duration = Duration::from_secs(60);

/// How long NATS may take to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How often a command tries to read them.
const ATTEMPTS: u32 = 6;

/// The name under which the write side publishes whether it sends mails: "yes" or "no". It is not compared.
const MAILS: &str = "mails";

type Shared = BTreeMap<String, String>;

/// Returns the settings of this process as the write side publishes them, as JSON: those that it uses itself, and others if
/// they are set.
pub fn published(config: &Config) -> String {
    let is_set = |name: &str| config.set().any(|resolved| resolved.name == name);
    let mut shared = shared_settings(config);
    shared.retain(|name, _| matches!(name.as_str(), "tiers" | "auth") || is_set(name));
    let mails = if config.accounts.mail.delivers() { "yes" } else { "no" };
    shared.insert(MAILS.to_owned(), mails.to_owned());
    serde_json::to_string(&shared).unwrap_or_default()
}

/// Returns whether the write side that published these sends mails. One of version 0.1 does not say; it did.
fn sends_mails(theirs: &Shared) -> bool {
    theirs.get(MAILS).is_none_or(|mails| mails == "yes")
}

/// Returns the beginning of a SHA-256 of the shared settings, which differs between processes whose settings do.
pub fn digest(config: &Config) -> String {
    let mut own = shared_settings(config);
    // Nodes of version 0.1 do not have this setting: their digest is the same while it is unset.
    own.retain(|name, value| name != "site_name" || !value.is_empty());
    let text = serde_json::to_vec(&own).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(text)[..4])
}

fn shared_settings(config: &Config) -> Shared {
    let auth = match config.access.auth {
        Auth::Keys => "keys",
        Auth::Off => "off",
    };
    let metering = match config.limits.metering {
        Policy::Spool => "spool",
        Policy::Refuse => "refuse",
    };
    let public_url = config.site.public_url.clone().unwrap_or_default();
    let site_name = config.site.name.clone().unwrap_or_default();
    Shared::from([
        ("tiers".to_owned(), config.access.tiers.to_string()),
        ("auth".to_owned(), auth.to_owned()),
        ("metering".to_owned(), metering.to_owned()),
        ("public_url".to_owned(), public_url),
        ("site_name".to_owned(), site_name),
    ])
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Same,
    Different,
    /// The settings of the write side could not be read.
    Unread,
}

/// Compares a node's settings with those of the write side.
pub struct Comparison {
    client: async_nats::Client,
    own: Shared,
    component: Component,
    /// Whether the write side sends mails, once that is known.
    mails: Arc<AtomicBool>,
}

impl Comparison {
    /// Returns a comparison that reports differences to `component`, which should have no grace period at first, and stores in `mails`
    /// whether the write side sends mails.
    pub fn new(
        client: async_nats::Client,
        config: &Config,
        component: Component,
        mails: Arc<AtomicBool>,
    ) -> Comparison {
        Comparison { client, own: shared_settings(config), component, mails }
    }

    /// Compares once.
    pub async fn compare(&self) {
        self.compared().await;
    }

    async fn compared(&self) -> Compared {
        let theirs = match published_by_write_side(&self.client).await {
            Ok(theirs) => theirs,
            Err(error) => {
                if let ReadError::Unavailable(reason) = error {
                    tracing::debug!(reason, "the settings of the write side cannot be read at present");
                }
                return Compared::Unread;
            }
        };
        self.mails.store(sends_mails(&theirs), Ordering::Relaxed);
        match difference(&self.own, &theirs) {
            Some(reason) => {
                self.component.failed(reason);
                Compared::Different
            }
            None => {
                self.component.recovered();
                // From now on a difference is a change of the write side.
                let _component = self.component.clone().grace_period(CHANGE_GRACE_PERIOD);
                Compared::Same
            }
        }
    }

    pub async fn run(self) -> Infallible {
        loop {
            let interval = match self.compared().await {
                Compared::Same => COMPARE_INTERVAL,
                Compared::Different | Compared::Unread => RETRY_PAUSE,
            };
            tokio::time::sleep(interval).await;
        }
    }
}

/// Why the settings of the write side cannot be read.
enum ReadError {
    /// The stream does not exist: no write side ever ran.
    NoStream,
    /// NATS does not answer.
    Unavailable(String),
}

/// Reads what the write side published; nothing if it is of version 0.1.
async fn published_by_write_side(client: &async_nats::Client) -> std::result::Result<Shared, ReadError> {
    let jetstream = ContextBuilder::new().timeout(TIMEOUT).build(client.clone());
    match tokio::time::timeout(TIMEOUT, jetstream.get_stream(EVENTS)).await {
        Ok(Ok(stream)) => {
            let metadata = &stream.cached_info().config.metadata;
            Ok(metadata
                .get(SHARED_SETTINGS)
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default())
        }
        Ok(Err(error)) if is_absent(&error.kind()) => Err(ReadError::NoStream),
        Ok(Err(error)) => Err(ReadError::Unavailable(error.to_string())),
        Err(_elapsed) => Err(ReadError::Unavailable("no answer came in time".to_owned())),
    }
}

fn is_absent(kind: &GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// The settings of the service that commands need.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceSettings {
    pub tiers: Tiers,
    /// Its public address, where one is set.
    pub public_url: Option<String>,
}

/// Returns the settings that the write side published; `None` if no service runs, or its version is 0.1. Fails if the
/// service cannot be reached.
pub async fn service_settings(config: &Config) -> Result<Option<ServiceSettings>> {
    DataFolder::new(&config.server.data).check()?;
    match connection::nats_url(config) {
        Some(url) => service_settings_over(&connection::connect_to_nats(config, &url).await?).await,
        None => Ok(None),
    }
}

/// Reads the settings that the write side published; `None` if its version is 0.1, or it never ran. Fails if NATS does
/// not answer for several seconds.
async fn service_settings_over(client: &async_nats::Client) -> Result<Option<ServiceSettings>> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        match published_by_write_side(client).await {
            Ok(theirs) => return Ok(parsed(&theirs)),
            Err(ReadError::NoStream) => return Ok(None),
            Err(ReadError::Unavailable(reason)) if attempts == 0 => {
                bail!("the settings of the service cannot be read: {reason}; nothing was done, try again")
            }
            // While a cluster elects a leader nothing can be read.
            Err(ReadError::Unavailable(_)) => tokio::time::sleep(RETRY_PAUSE).await,
        }
    }
}

fn parsed(theirs: &Shared) -> Option<ServiceSettings> {
    let tiers = theirs.get("tiers")?.parse().ok()?;
    let public_url = theirs.get("public_url").filter(|url| !url.is_empty()).cloned();
    Some(ServiceSettings { tiers, public_url })
}

/// Returns what differs, as a part of a sentence; `None` if nothing does. Names that this version does not have are ignored.
fn difference(own: &Shared, theirs: &Shared) -> Option<String> {
    let mut parts = Vec::new();
    for (name, theirs) in theirs {
        let Some(own) = own.get(name).filter(|own| *own != theirs) else { continue };
        let setting = SETTINGS.setting(name);
        let variable = setting.map_or_else(String::new, |setting| SETTINGS.variable(setting));
        parts.push(format!("{name} is “{own}” here and “{theirs}” on the write side ({variable})"));
    }
    (!parts.is_empty())
        .then(|| format!("{}; set the same for all nodes and start this one again", parts.join(", ")))
}

#[cfg(test)]
mod tests;
