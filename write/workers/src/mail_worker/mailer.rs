//! Sends one mail: over SMTP, or as a log line.

use std::time::Duration;

use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use reqwest::Url;
use schemas::email::Email;
use uuid::Uuid;

use super::message::Mail;
use super::transport::{MailTransport, Sender};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends mails by one [`MailTransport`].
#[derive(Clone)]
pub struct Mailer(Backend);

#[derive(Clone)]
enum Backend {
    Log,
    Print,
    Server(Box<Server>),
}

#[derive(Clone)]
struct Server {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why a mail was not sent. It is logged, so its text holds no email address, although replies of servers often repeat it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The server replied with this error code.
    #[error("the mail server refuses it with the code {0}")]
    Refused(String),
    /// The connection failed or was closed early.
    #[error("the mail server cannot be reached, or broke off: {0}")]
    Unreachable(String),
    /// The timeout passed.
    #[error("the mail server did not take it within {} seconds", TIMEOUT.as_secs())]
    Timeout,
    /// The address is valid, but not for SMTP.
    #[error("the address is not one that mail can be sent to")]
    InvalidAddress,
    /// The settings of server and sender cannot be used.
    #[error("mail (LOGGIA_MAIL) and mail_from (LOGGIA_MAIL_FROM) cannot be used: {0}")]
    Settings(String),
}

/// The header that keeps auto-responders from replying (RFC 3834).
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".into())
    }
}

impl MailError {
    /// Returns whether a retry is useless: the server refused the mail permanently (5xx), or the address is invalid.
    pub(super) fn is_permanent(&self) -> bool {
        match self {
            MailError::Refused(code) => code.starts_with('5'),
            MailError::InvalidAddress => true,
            MailError::Unreachable(_) | MailError::Timeout | MailError::Settings(_) => false,
        }
    }
}

impl Mailer {
    /// Creates a mailer. An SMTP server needs a sender.
    ///
    /// # Errors
    ///
    /// If the transport is a server and the sender is missing, or the URL has parameters that the SMTP client rejects.
    pub fn new(transport: &MailTransport, from: Option<&Sender>) -> Result<Mailer, MailError> {
        let url = match transport {
            MailTransport::Log => return Ok(Mailer(Backend::Log)),
            MailTransport::Print => return Ok(Mailer(Backend::Print)),
            MailTransport::Server(url) => url,
        };
        let from = from.ok_or_else(|| MailError::Settings("no sender is set".into()))?.0.clone();
        let transport = smtp_transport(url, &from)?;
        Ok(Mailer(Backend::Server(Box::new(Server { transport, from }))))
    }

    /// Returns whether it sends or prints mails.
    pub(super) fn sends(&self) -> bool {
        !matches!(self.0, Backend::Log)
    }

    /// Sends a mail; returns once the server has accepted it.
    pub(super) async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        match &self.0 {
            Backend::Log => Ok(()),
            Backend::Print => {
                // The target `loggia::…` is shown by the default log filter.
                tracing::info!(
                    target: "loggia::mail",
                    "mail is print:, so pass this on to {}\nSubject: {}\n\n{}",
                    mail.to.as_str(),
                    mail.subject,
                    mail.text
                );
                Ok(())
            }
            Backend::Server(server) => {
                let message = message(mail, &server.from)?;
                match tokio::time::timeout(TIMEOUT, server.transport.send(message)).await {
                    Ok(Ok(_accepted)) => Ok(()),
                    Ok(Err(error)) => Err(mail_error(&error)),
                    Err(_elapsed) => Err(MailError::Timeout),
                }
            }
        }
    }
}

fn smtp_transport(url: &Url, from: &Mailbox) -> Result<AsyncSmtpTransport<Tokio1Executor>, MailError> {
    let settings = |error: lettre::transport::smtp::Error| MailError::Settings(error.to_string());
    let host = url.host_str().unwrap_or_default();
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str()).map_err(settings)?;
    if url.scheme() == "smtp" && !url.query_pairs().any(|(name, _)| name == "tls") && !is_local(host) {
        let tls = TlsParameters::new(host.to_owned()).map_err(settings)?;
        // A password is never sent without TLS; mail is, if the server offers no TLS.
        builder =
            builder.tls(if url.password().is_some() { Tls::Required(tls) } else { Tls::Opportunistic(tls) });
    }
    if from.email.domain().is_ascii() && url.path().len() <= 1 {
        builder = builder.hello_name(ClientId::Domain(from.email.domain().to_owned()));
    }
    Ok(builder.timeout(Some(TIMEOUT)).build())
}

/// Returns whether the server is on this machine. It is reached without TLS: its certificate would be for another name.
fn is_local(host: &str) -> bool {
    host == "localhost"
        || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn message(mail: &Mail, from: &Mailbox) -> Result<Message, MailError> {
    let to = address(&mail.to).ok_or(MailError::InvalidAddress)?;
    let id = format!("<{}@{}>", Uuid::new_v4(), from.email.domain());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject.as_str())
        .message_id(Some(id))
        .header(AutoSubmitted)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text.clone())
        .map_err(|_| MailError::InvalidAddress)
}

/// Converts an address for SMTP, with the domain in ASCII.
fn address(email: &Email) -> Option<Address> {
    let (local, domain) = email.as_str().rsplit_once('@')?;
    let domain = Url::parse(&format!("http://{domain}/")).ok()?;
    Address::new(local, domain.host_str()?).ok()
}

fn mail_error(error: &lettre::transport::smtp::Error) -> MailError {
    match error.status() {
        Some(code) => MailError::Refused(code.to_string()),
        // Errors of the connection quote nothing of the mail.
        None if !error.is_client() && !error.is_response() => MailError::Unreachable(error.to_string()),
        None => MailError::Unreachable("it was not understood".into()),
    }
}

#[cfg(test)]
mod tests;
