//! Settings that all nodes of a cluster share: the write side puts its own into the metadata of the stream EVENTS, and
//! the other nodes compare theirs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{ContextBuilder, GetStreamErrorKind};
use data_encoding::HEXLOWER;
use health::Component;
use schemas::subject::{EVENTS, SHARED_SETTINGS};
use schemas::tier::Tiers;
use sha2::{Digest, Sha256};

use crate::config::{Auth, Config, Metering, settings};
use crate::connection;
use crate::data_folder::DataFolder;

/// How often they are compared.
const COMPARE: Duration = Duration::from_secs(60);

/// How often the write side's are asked for until they are there.
const ASK: Duration = Duration::from_secs(1);

/// How long NATS may take to answer.
const ANSWERED: Duration = Duration::from_secs(2);

/// How often a command asks before it gives up.
const ATTEMPTS: u32 = 6;

/// Under this name the write side says whether it mails letters: "yes" or "no". It is no setting of the others.
const MAILS: &str = "mails";

/// Settings by name.
type Shared = BTreeMap<String, String>;

/// The settings of this process as the write side publishes them, as JSON: those that it uses itself, and others where
/// they are set.
pub fn published(config: &Config) -> String {
    let is_set = |name: &str| config.set().any(|resolved| resolved.name == name);
    let mut shared = own(config);
    shared.retain(|name, _| matches!(name.as_str(), "tiers" | "auth") || is_set(name));
    let mails = if config.accounts.mail.delivers() { "yes" } else { "no" };
    shared.insert(MAILS.to_owned(), mails.to_owned());
    serde_json::to_string(&shared).unwrap_or_default()
}

/// Whether a write side that published these mails letters; one of an earlier version does not say, and had a form for them.
fn mails(theirs: &Shared) -> bool {
    theirs.get(MAILS).is_none_or(|mails| mails == "yes")
}

/// The beginning of a SHA-256 of the settings that are shared, by which processes that differ are seen.
pub fn digest(config: &Config) -> String {
    let mut own = own(config);
    // Nodes of 0.1 have no such setting: without one the digests stay the same.
    own.retain(|name, value| name != "site_name" || !value.is_empty());
    let text = serde_json::to_vec(&own).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(text)[..4])
}

fn own(config: &Config) -> Shared {
    let auth = match config.access.auth {
        Auth::Keys => "keys",
        Auth::Off => "off",
    };
    let metering = match config.limits.metering {
        Metering::Spool => "spool",
        Metering::Refuse => "refuse",
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

/// Compares a node's settings with those of the write side.
pub struct Comparison {
    client: async_nats::Client,
    own: Shared,
    component: Component,
    /// Whether the write side mails letters, once that is known.
    mails: Arc<AtomicBool>,
}

impl Comparison {
    /// A comparison whose outcome the component reports; it should have no patience. Whether the write side mails letters is
    /// noted.
    pub fn new(
        client: async_nats::Client,
        config: &Config,
        component: Component,
        mails: Arc<AtomicBool>,
    ) -> Comparison {
        Comparison { client, own: own(config), component, mails }
    }

    /// Compares once. Returns whether the write side's settings could be read, or are known not to be there.
    pub async fn compare(&self) -> bool {
        let theirs = match theirs(&self.client).await {
            Ok(theirs) => theirs,
            Err(unread) => {
                if let Unread::Away(reason) = unread {
                    tracing::debug!(reason, "the settings of the write side cannot be read at present");
                }
                return false;
            }
        };
        self.mails.store(mails(&theirs), Ordering::Relaxed);
        match difference(&self.own, &theirs) {
            Some(reason) => self.component.failed(reason),
            None => self.component.recovered(),
        }
        true
    }

    /// Compares again and again.
    pub async fn run(self) -> Infallible {
        loop {
            let wait = if self.compare().await { COMPARE } else { ASK };
            tokio::time::sleep(wait).await;
        }
    }
}

/// Why settings could not be read.
enum Unread {
    /// No write side has ever made the stream.
    Absent,
    /// NATS cannot be asked.
    Away(String),
}

/// Reads what the write side published; one of an earlier version publishes nothing.
async fn theirs(client: &async_nats::Client) -> std::result::Result<Shared, Unread> {
    let jetstream = ContextBuilder::new().timeout(ANSWERED).build(client.clone());
    match tokio::time::timeout(ANSWERED, jetstream.get_stream(EVENTS)).await {
        Ok(Ok(stream)) => {
            let metadata = &stream.cached_info().config.metadata;
            Ok(metadata
                .get(SHARED_SETTINGS)
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default())
        }
        Ok(Err(error)) if is_absent(&error.kind()) => Err(Unread::Absent),
        Ok(Err(error)) => Err(Unread::Away(error.to_string())),
        Err(_elapsed) => Err(Unread::Away("no answer came in time".to_owned())),
    }
}

fn is_absent(kind: &GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// What commands must know of the service.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceSettings {
    /// Its tiers.
    pub tiers: Tiers,
    /// Its public address, where one is set.
    pub public_url: Option<String>,
}

/// Returns what the write side says of its settings; nothing where no service runs, or one of an earlier version.
///
/// # Errors
///
/// Fails where the service cannot be asked.
pub async fn service_settings(config: &Config) -> Result<Option<ServiceSettings>> {
    DataFolder::new(&config.server.data).check()?;
    match connection::url(config) {
        Some(url) => service_settings_over(&connection::connect(config, &url).await?).await,
        None => Ok(None),
    }
}

/// Asks for the settings of the write side; nothing where it is of an earlier version or has never run.
///
/// # Errors
///
/// Fails where NATS does not answer for several seconds.
async fn service_settings_over(client: &async_nats::Client) -> Result<Option<ServiceSettings>> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        match theirs(client).await {
            Ok(theirs) => return Ok(told(&theirs)),
            Err(Unread::Absent) => return Ok(None),
            Err(Unread::Away(reason)) if attempts == 0 => {
                bail!("the settings of the service cannot be read: {reason}; nothing was done, try again")
            }
            // While a cluster chooses a leader nothing can be read.
            Err(Unread::Away(_)) => tokio::time::sleep(ASK).await,
        }
    }
}

/// What published settings say to commands.
fn told(theirs: &Shared) -> Option<ServiceSettings> {
    let tiers = theirs.get("tiers")?.parse().ok()?;
    let public_url = theirs.get("public_url").filter(|url| !url.is_empty()).cloned();
    Some(ServiceSettings { tiers, public_url })
}

/// What is not alike, as a sentence part. Names that this version does not have are passed over.
fn difference(own: &Shared, theirs: &Shared) -> Option<String> {
    let mut parts = Vec::new();
    for (name, theirs) in theirs {
        let Some(own) = own.get(name).filter(|own| *own != theirs) else { continue };
        let variable = settings()
            .find(|setting| setting.name == name)
            .map_or_else(String::new, |setting| setting.variable());
        parts.push(format!("{name} is “{own}” here and “{theirs}” on the write side ({variable})"));
    }
    (!parts.is_empty())
        .then(|| format!("{}; set the same for all nodes and start this one again", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    fn config(environment: &[(&str, &str)]) -> Config {
        let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Config::read(&Sources { environment, ..Sources::default() }).unwrap()
    }

    fn compared(node: &[(&str, &str)], write: &[(&str, &str)]) -> Option<String> {
        difference(&own(&config(node)), &serde_json::from_str(&published(&config(write))).unwrap())
    }

    #[test]
    fn what_differs_is_named_and_what_the_write_side_leaves_open_may_differ() {
        let url = ("LOGGIA_PUBLIC_URL", "https://catalog.example.org");
        assert_eq!(compared(&[], &[]), None);
        assert_eq!(compared(&[url, ("LOGGIA_METERING", "refuse")], &[]), None);
        assert_eq!(compared(&[("LOGGIA_TIERS", "free=200,studio=5000, pro=25000")], &[]), None);
        assert_eq!(
            compared(&[("LOGGIA_TIERS", "free=50")], &[("LOGGIA_TIERS", "free=500, studio=900"), url])
                .unwrap(),
            "public_url is “” here and “https://catalog.example.org” on the write side (LOGGIA_PUBLIC_URL), tiers is \
             “free=50” here and “free=500, studio=900” on the write side (LOGGIA_TIERS); set the same for all nodes and \
             start this one again"
        );
        let name = ("LOGGIA_SITE_NAME", "Casa & Co");
        assert_eq!(compared(&[name], &[]), None);
        assert_eq!(
            compared(&[], &[name]).unwrap(),
            "site_name is “” here and “Casa & Co” on the write side (LOGGIA_SITE_NAME); set the same for all nodes and \
             start this one again"
        );
        assert_eq!(
            compared(&[("LOGGIA_AUTH", "off")], &[]).unwrap(),
            "auth is “off” here and “keys” on the write side (LOGGIA_AUTH); set the same for all nodes and start this \
             one again"
        );
    }

    #[test]
    fn nodes_hear_whether_the_write_side_mails() {
        let told = |environment: &[(&str, &str)]| {
            mails(&serde_json::from_str(&published(&config(environment))).unwrap())
        };
        assert!(!told(&[]), "log: mails nothing");
        assert!(told(&[("LOGGIA_MAIL", "print:")]));
        assert!(mails(&Shared::new()), "a write side of 0.1 does not say");
    }

    #[test]
    fn commands_are_answered_with_tiers_and_the_public_address() {
        let said = |environment: &[(&str, &str)]| {
            told(&serde_json::from_str(&published(&config(environment))).unwrap()).unwrap()
        };
        let all = said(&[("LOGGIA_TIERS", "gold=7"), ("LOGGIA_PUBLIC_URL", "https://catalog.example.org")]);
        let public_url = Some("https://catalog.example.org".to_owned());
        assert_eq!(all, ServiceSettings { tiers: "gold=7".parse().unwrap(), public_url });
        assert_eq!(said(&[]).public_url, None);
        assert_eq!(told(&Shared::new()), None, "a write side of 0.1 does not say");
    }

    #[test]
    fn settings_of_other_versions_are_passed_over() {
        let theirs = Shared::from([("colour".to_owned(), "red".to_owned())]);
        assert_eq!(difference(&own(&config(&[])), &theirs), None);
        assert_eq!(difference(&own(&config(&[])), &Shared::new()), None);
    }
}
