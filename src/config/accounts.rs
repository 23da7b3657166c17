//! Email addresses: the secret of the vault that keeps them, and how mails are sent.

use std::path::PathBuf;

use api::Contact;
use settings::{SettingError, Value, section};
use workers::mail_worker::{MailTransport, Sender};

section! {
    /// The secret of the vault, and the sending of mails.
    Accounts {
        secret_file: Option<PathBuf> = Value::optional => "secret_file"
            "The file with the secret of the vault; unset: vault.key in the event store's folder, created when needed." {
                shape: "FILE",
                example: "/etc/loggia/vault.key",
            },
        mail: MailTransport = Value::required => "mail"
            "How mails are sent: by smtp://HOST or smtps://HOST, with USER:PASSWORD@ if needed; print: writes them to the log with \
             address and link; log: sends none and logs the key ids." {
                shape: "log:|print:|smtp://…",
                example: "smtps://USER:PASSWORD@mail.example.org",
                default: Some("log:"),
                secret: true,
            },
        mail_from: Option<Sender> = Value::optional => "mail_from"
            "The sender of mails, such as Catalog <mail@example.org>; required with a mail server." {
                shape: "SENDER",
                example: "Catalog <mail@example.org>",
            },
        contact: Option<Contact> = Value::optional => "contact"
            "How users reach the operator, shown where they may need it: an email address, or the https://… address of a page." {
                shape: "EMAIL|URL",
                example: "hello@example.org",
            },
    }
}

impl Accounts {
    /// Checks that a sender is set, which a mail server requires.
    pub(super) fn check(&self, mail: &Value<'_>) -> Result<(), SettingError> {
        if self.mail_from.is_none() && matches!(self.mail, MailTransport::Server(_)) {
            let reason =
                ", and mail_from is not set; set it to whom mails are from, such as mail@example.org";
            return Err(mail.invalid(reason));
        }
        Ok(())
    }
}
