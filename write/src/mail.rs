//! Mails to the holders of keys: what they say, and how they leave.

mod letter;
mod mailer;
mod postman;
mod route;

pub use mailer::{Mailer, NotMailed};
pub use postman::{CannotMail, Postman};
pub use route::{InvalidRoute, InvalidSender, Route, Sender};
