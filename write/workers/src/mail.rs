//! Mails to the holders of keys: what they say, and how they leave.

mod letter;
mod mailer;
mod transport;
mod worker;

pub use mailer::{Mailer, NotMailed};
pub use transport::{InvalidSender, InvalidTransport, MailTransport, Sender};
pub use worker::{CannotMail, MailWorker};
