//! The address of a remote log: a connection string of EventStoreDB, with one parameter of our own.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use eventstore::{ClientSettings, Credentials};
use percent_encoding::percent_decode_str;

/// The schemes of the client; `esdb` and `kurrentdb` mean the same.
const SCHEMES: [&str; 8] = [
    "esdb://",
    "esdb+discover://",
    "kurrentdb://",
    "kurrentdb+discover://",
    "kurrent://",
    "kurrent+discover://",
    "kdb://",
    "kdb+discover://",
];

/// The parameters of the client, in lower case. It ignores others, so that a misspelt one would go unnoticed.
const PARAMETERS: [&str; 13] = [
    "connectionname",
    "defaultdeadline",
    "discoveryinterval",
    "gossiptimeout",
    "keepaliveinterval",
    "keepalivetimeout",
    "maxdiscoverattempts",
    "nodepreference",
    "tls",
    "tlscafile",
    "tlsverifycert",
    "usercertfile",
    "userkeyfile",
];

/// Our own parameter: the prefix of the stream names.
const STORE: &str = "store";

const DEFAULT_STORE: &str = "loggia";

/// The servers of a remote log, how to connect to them, and the prefix of its stream names.
#[derive(Clone)]
pub struct Address {
    pub(super) settings: Box<ClientSettings>,
    /// Percent-decoded, which the client does not do.
    pub(super) credentials: Option<Credentials>,
    name: String,
}

/// The reason why a text is not an address, without its password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAddress(String);

impl Address {
    /// Returns whether a text begins with a scheme of the client.
    pub fn has_scheme(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Returns the name of the stream that is the log.
    pub(super) fn log(&self) -> String {
        format!("{}-events", self.name)
    }

    /// Returns the name of the stream whose first event has the store id.
    pub(super) fn store(&self) -> String {
        format!("{}-store", self.name)
    }

    /// Returns the name of the stream whose last event names the vault of the keeper.
    pub(super) fn vault(&self) -> String {
        format!("{}-vault", self.name)
    }

    /// Returns the file with the trusted certificate authorities, if one is named.
    pub(super) fn authorities(&self) -> Option<PathBuf> {
        self.settings.tls_ca_file().filter(|_| self.secure()).map(PathBuf::from)
    }

    /// Returns whether TLS is used without verifying the server's certificate.
    pub(super) fn trusts_any_server(&self) -> bool {
        self.secure() && !self.settings.is_tls_certificate_verification_enabled()
    }

    pub(super) fn secure(&self) -> bool {
        self.settings.is_secure_mode_enabled()
    }

    /// Returns hosts and ports.
    pub(super) fn hosts(&self) -> Vec<(String, u16)> {
        let port = |port: u32| u16::try_from(port).unwrap_or_default();
        self.settings.hosts().iter().map(|host| (host.host.clone(), port(host.port))).collect()
    }
}

/// Without user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.hosts().iter().map(|(host, port)| format!("{host}:{port}")).collect();
        write!(f, "{} at {}", self.log(), hosts.join(","))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Address, InvalidAddress> {
        let invalid = |what: String| InvalidAddress(what);
        if !Address::has_scheme(text) {
            return Err(invalid("expected esdb://HOST:PORT".into()));
        }
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut name, mut others) = (DEFAULT_STORE.to_owned(), Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (parameter, value) = pair.split_once('=').unwrap_or((pair, ""));
            let parameter = parameter.to_lowercase();
            if parameter == STORE {
                value.clone_into(&mut name);
            } else if PARAMETERS.contains(&parameter.as_str()) {
                others.push(pair);
            } else {
                return Err(invalid(format!(
                    "there is no parameter “{parameter}”; the parameters are {STORE}, {}",
                    PARAMETERS.join(", ")
                )));
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.len() > 60 || !name.chars().all(plain) {
            return Err(invalid(format!(
                "{STORE}=“{name}” is not a valid name; use at most 60 letters, digits and underscores"
            )));
        }
        let given = format!("{base}?{}", others.join("&"));
        // The client's error message may contain the whole text.
        let settings: ClientSettings = given.parse().map_err(|_| {
            invalid("expected esdb://USER:PASSWORD@HOST:PORT?tls=true, with reserved characters percent-encoded, \
                     such as %40".into())
        })?;
        let credentials = credentials(base).map_err(|()| {
            invalid("its user or password is not UTF-8; write reserved characters as %40".into())
        })?;
        Ok(Address { settings: Box::new(settings), credentials, name })
    }
}

fn credentials(base: &str) -> Result<Option<Credentials>, ()> {
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let Some((user, _)) = authority.rsplit_once('@') else { return Ok(None) };
    let (login, password) = user.split_once(':').unwrap_or((user, ""));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(String::from).map_err(|_| ());
    Ok(Some(Credentials::new(decoded(login)?, decoded(password)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_hosts_and_streams_and_hides_its_password() {
        let address: Address =
            "esdb://ann:s%40crt@a.example:2113,b.example:2114?tls=false&store=museum".parse().unwrap();
        assert_eq!(address.to_string(), "museum-events at a.example:2113,b.example:2114");
        assert_eq!(address.store(), "museum-store");
        assert_eq!(address.credentials, Some(Credentials::new("ann", "s@crt")));
        assert!(!address.secure());
        assert!(!format!("{address:?}").contains("crt"));

        let plain: Address = "kurrentdb+discover://cluster.example".parse().unwrap();
        assert_eq!(plain.to_string(), "loggia-events at cluster.example:2113");
        assert!(plain.secure(), "TLS unless it is switched off");
        assert!(!plain.trusts_any_server());
        for (text, expected) in [
            ("esdb://a.example?tls=true&tlsVerifyCert=false", true),
            ("esdb://a.example?tls=false&tlsVerifyCert=false", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().trusts_any_server(), expected, "{text}");
        }
    }

    #[test]
    fn an_invalid_address_is_named_without_its_password() {
        for (text, part) in [
            ("esdb://ann:secret@host:port", "esdb://USER:PASSWORD@HOST:PORT"),
            ("esdb://ann:secret@host?tslCaFile=/ca.pem", "“tslcafile”"),
            ("esdb://ann:secret@host?store=a-b", "“a-b”"),
            ("esdb://ann:secret@host?tls=perhaps", "tls=true"),
            ("postgres://ann:secret@host", "esdb://HOST:PORT"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
