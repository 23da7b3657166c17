//! Brings mails on their way: over SMTP, or in print.

use std::time::Duration;

use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use reqwest::Url;
use schemas::email::Email;
use uuid::Uuid;

use super::letter::Mail;
use super::transport::{MailTransport, Sender};

/// How long a server may take over one mail.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends mails on one route.
#[derive(Clone)]
pub struct Mailer(Way);

#[derive(Clone)]
enum Way {
    None,
    Print,
    Server(Box<Server>),
}

#[derive(Clone)]
struct Server {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why a mail did not leave. No text of this names an address: servers like to repeat them, and this is logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotMailed {
    /// The server answered that it does not take the mail.
    #[error("the mail server refuses it with the code {0}")]
    Refused(String),
    /// There was no conversation with the server.
    #[error("the mail server cannot be reached, or broke off: {0}")]
    Unreachable(String),
    /// It did not come to an end in time.
    #[error("the mail server did not take it within {} seconds", PATIENCE.as_secs())]
    Slow,
    /// Mail cannot be written to this address.
    #[error("the address is not one that mail can be sent to")]
    Address,
    /// The mail server, or the sender, cannot be used as it is set.
    #[error("mail (LOGGIA_MAIL) and mail_from (LOGGIA_MAIL_FROM) cannot be used: {0}")]
    Settings(String),
}

/// Tells answering machines that nobody reads their answer (RFC 3834).
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

impl NotMailed {
    /// Returns whether sending the same mail again is of no use: the server refused it for good (5xx), or it cannot be
    /// addressed.
    pub(super) fn is_final(&self) -> bool {
        match self {
            NotMailed::Refused(code) => code.starts_with('5'),
            NotMailed::Address => true,
            NotMailed::Unreachable(_) | NotMailed::Slow | NotMailed::Settings(_) => false,
        }
    }
}

impl Mailer {
    /// Sends on this route. A server needs to be told whom mails are from.
    pub fn new(route: &MailTransport, from: Option<&Sender>) -> Result<Mailer, NotMailed> {
        let url = match route {
            MailTransport::Log => return Ok(Mailer(Way::None)),
            MailTransport::Print => return Ok(Mailer(Way::Print)),
            MailTransport::Server(url) => url,
        };
        let from =
            from.ok_or_else(|| NotMailed::Settings("it is not set whom mails are from".into()))?.0.clone();
        let transport = transport(url, &from)?;
        Ok(Mailer(Way::Server(Box::new(Server { transport, from }))))
    }

    /// Returns whether it sends anything.
    pub(super) fn sends(&self) -> bool {
        !matches!(self.0, Way::None)
    }

    /// Sends a mail; it has been taken over by the server when this returns.
    pub(super) async fn send(&self, mail: &Mail) -> Result<(), NotMailed> {
        match &self.0 {
            Way::None => Ok(()),
            Way::Print => {
                // Under the program's own name, so that it is shown unless that is turned off.
                tracing::info!(
                    target: "loggia::mail",
                    "mail is print:, so pass this on to {}\nSubject: {}\n\n{}",
                    mail.to.as_str(),
                    mail.subject,
                    mail.text
                );
                Ok(())
            }
            Way::Server(server) => {
                let message = message(mail, &server.from)?;
                match tokio::time::timeout(PATIENCE, server.transport.send(message)).await {
                    Ok(Ok(_taken)) => Ok(()),
                    Ok(Err(error)) => Err(not_mailed(&error)),
                    Err(_elapsed) => Err(NotMailed::Slow),
                }
            }
        }
    }
}

fn transport(url: &Url, from: &Mailbox) -> Result<AsyncSmtpTransport<Tokio1Executor>, NotMailed> {
    let settings = |error: lettre::transport::smtp::Error| NotMailed::Settings(error.to_string());
    let host = url.host_str().unwrap_or_default();
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str()).map_err(settings)?;
    if url.scheme() == "smtp" && !url.query_pairs().any(|(name, _)| name == "tls") && !is_here(host) {
        let tls = TlsParameters::new(host.to_owned()).map_err(settings)?;
        // A password never travels in clear; mail does where the server offers nothing better.
        builder =
            builder.tls(if url.password().is_some() { Tls::Required(tls) } else { Tls::Opportunistic(tls) });
    }
    if from.email.domain().is_ascii() && url.path().len() <= 1 {
        builder = builder.hello_name(ClientId::Domain(from.email.domain().to_owned()));
    }
    Ok(builder.timeout(Some(PATIENCE)).build())
}

/// A server on this machine is spoken to in clear: its certificate would be for another name.
fn is_here(host: &str) -> bool {
    host == "localhost"
        || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn message(mail: &Mail, from: &Mailbox) -> Result<Message, NotMailed> {
    let to = address(&mail.to).ok_or(NotMailed::Address)?;
    let id = format!("<{}@{}>", Uuid::new_v4(), from.email.domain());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject.as_str())
        .message_id(Some(id))
        .header(AutoSubmitted)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text.clone())
        .map_err(|_| NotMailed::Address)
}

/// The address as servers take it: with a domain in ASCII.
fn address(email: &Email) -> Option<Address> {
    let (local, domain) = email.as_str().rsplit_once('@')?;
    let domain = Url::parse(&format!("http://{domain}/")).ok()?;
    Address::new(local, domain.host_str()?).ok()
}

fn not_mailed(error: &lettre::transport::smtp::Error) -> NotMailed {
    match error.status() {
        Some(code) => NotMailed::Refused(code.to_string()),
        // What is said of a connection holds no word of the mail.
        None if !error.is_client() && !error.is_response() => NotMailed::Unreachable(error.to_string()),
        None => NotMailed::Unreachable("it was not understood".into()),
    }
}

#[cfg(test)]
mod tests;
