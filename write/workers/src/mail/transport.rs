//! Where mails go, as it is set: nowhere, in print, or to a mail server.

use std::fmt;
use std::str::FromStr;

use lettre::message::Mailbox;
use reqwest::Url;

/// How mails leave.
#[derive(Clone, PartialEq, Eq)]
pub enum MailTransport {
    /// Nowhere: the log says that one was wanted, and for which keys. It holds no address and no link.
    Log,
    /// They are printed with their addresses and links, for an operator to pass on.
    Print,
    /// Through this mail server. Its `Debug` form hides the password.
    Server(Url),
}

/// A text that names no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "log:, print:, smtp://HOST or smtps://HOST is wanted, with USER:PASSWORD@ before the host where the server asks for it"
)]
pub struct InvalidTransport;

/// Whom mails are from: `name@example.org`, or `A Name <name@example.org>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(pub(super) Mailbox);

/// A text that names no sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an address such as mail@example.org, or Catalog <mail@example.org>, is wanted")]
pub struct InvalidSender;

impl MailTransport {
    /// Returns whether a mail reaches whoever it is to, be it by the operator's hand.
    pub fn delivers(&self) -> bool {
        *self != MailTransport::Log
    }
}

impl FromStr for MailTransport {
    type Err = InvalidTransport;

    fn from_str(text: &str) -> Result<Self, InvalidTransport> {
        match text {
            "log:" => return Ok(MailTransport::Log),
            "print:" => return Ok(MailTransport::Print),
            _ => {}
        }
        let url: Url = text.parse().map_err(|_| InvalidTransport)?;
        let known =
            matches!(url.scheme(), "smtp" | "smtps") && url.host_str().is_some_and(|host| !host.is_empty());
        if known { Ok(MailTransport::Server(url)) } else { Err(InvalidTransport) }
    }
}

impl fmt::Debug for MailTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailTransport::Log => f.write_str("Log"),
            MailTransport::Print => f.write_str("Print"),
            MailTransport::Server(url) => write!(f, "Server({})", url.host_str().unwrap_or_default()),
        }
    }
}

impl FromStr for Sender {
    type Err = InvalidSender;

    fn from_str(text: &str) -> Result<Self, InvalidSender> {
        if text.contains(char::is_control) {
            return Err(InvalidSender);
        }
        text.trim().parse().map(Sender).map_err(|_| InvalidSender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_the_log_or_a_server() {
        assert_eq!(["log:", "print:"].map(str::parse), [Ok(MailTransport::Log), Ok(MailTransport::Print)]);
        for text in ["smtp://localhost:25", "smtps://me:secret@mail.example.org"] {
            let route: MailTransport = text.parse().unwrap();
            assert!(matches!(route, MailTransport::Server(_)), "{text}");
            assert!(!format!("{route:?}").contains("secret"), "{route:?}");
        }
        for text in ["", "log", "mail.example.org", "smtp:", "smtp://", "https://mail.example.org"] {
            assert_eq!(text.parse::<MailTransport>(), Err(InvalidTransport), "{text}");
        }
    }

    #[test]
    fn a_sender_is_one_address_on_one_line() {
        for text in ["mail@example.org", "The Catalog <mail@example.org>"] {
            assert!(text.parse::<Sender>().is_ok(), "{text}");
        }
        for text in ["", "mail", "a@example.org, b@example.org", "A\r\nBcc: b@example.org <a@example.org>"] {
            assert_eq!(text.parse::<Sender>(), Err(InvalidSender), "{text}");
        }
    }
}
