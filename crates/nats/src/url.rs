//! User and password in the URL of a NATS server.

use async_nats::{ConnectOptions, ServerAddr};

/// An address is not of the form `nats://host:port`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the NATS address is not one: {0}; write it as nats://host:4222 or nats://user:password@host:4222")]
pub struct BadUrl(pub(crate) String);

/// Returns connect options with the percent-decoded user and password of a NATS URL.
///
/// The client itself takes only host and port from a URL and would silently not send a password in it. A URL without a user gives
/// options without credentials.
///
/// # Errors
///
/// Fails if it is not the URL of a NATS server, or its user or password is not percent-encoded UTF-8.
pub fn connect_options(url: &str) -> Result<ConnectOptions, BadUrl> {
    let address = parse(url)?;
    Ok(match (address.username(), address.password()) {
        (Some(user), Some(password)) => {
            ConnectOptions::with_user_and_password(percent_decoded(user)?, percent_decoded(password)?)
        }
        (Some(token), None) => ConnectOptions::with_token(percent_decoded(token)?),
        (None, _) => ConnectOptions::new(),
    })
}

/// Parses the URL of a server.
pub(crate) fn parse(url: &str) -> Result<ServerAddr, BadUrl> {
    url.parse().map_err(|error: std::io::Error| BadUrl(error.to_string()))
}

fn percent_decoded(text: &str) -> Result<String, BadUrl> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2).ok_or_else(|| bad_escape(part))?;
        bytes.push(u8::from_str_radix(code, 16).map_err(|_| bad_escape(code))?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| BadUrl("user and password must be UTF-8 text".into()))
}

fn bad_escape(code: &str) -> BadUrl {
    BadUrl(format!("%{code} is not a percent-encoded byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded_and_invalid_encoding_refused() {
        assert_eq!(percent_decoded("p%40ss%C3%A9").unwrap(), "p@ssé");
        assert_eq!(percent_decoded("plain").unwrap(), "plain");
        for bad in ["%4", "%zz", "%ff"] {
            assert!(percent_decoded(bad).is_err(), "{bad}");
        }
    }
}
