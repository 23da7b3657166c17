//! The settings of the mail transport: `log:`, `print:` or an SMTP server; and the sender.

use std::fmt;
use std::str::FromStr;

use lettre::message::Mailbox;
use reqwest::Url;

/// How mails are sent.
#[derive(Clone, PartialEq, Eq)]
pub enum MailTransport {
    /// Mails are not sent: each request is logged with the ids of the keys, without address and link.
    Log,
    /// Mails are logged with address and link, for an operator to pass on.
    Print,
    /// The SMTP server at this URL. `Debug` hides the password.
    Server(Url),
}

/// The text is not a mail transport.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected log:, print:, smtp://HOST or smtps://HOST, with USER:PASSWORD@ before the host where the server asks for it"
)]
pub struct InvalidTransport;

/// The sender of mails: `name@example.org`, or `A Name <name@example.org>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(pub(super) Mailbox);

/// The text is not a sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as mail@example.org, or Catalog <mail@example.org>")]
pub struct InvalidSender;

impl MailTransport {
    /// Returns whether mails reach their recipients, by a server or passed on by the operator.
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
    fn a_transport_is_log_print_or_a_server() {
        assert_eq!(["log:", "print:"].map(str::parse), [Ok(MailTransport::Log), Ok(MailTransport::Print)]);
        for text in ["smtp://localhost:25", "smtps://me:secret@mail.example.org"] {
            let transport: MailTransport = text.parse().unwrap();
            assert!(matches!(transport, MailTransport::Server(_)), "{text}");
            assert!(!format!("{transport:?}").contains("secret"), "{transport:?}");
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
