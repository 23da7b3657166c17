//! Whether links can be mailed, and how people reach the operator if they cannot.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemas::email::Email;

/// Whether the service sends mail, and the operator's contact.
#[derive(Debug, Clone, Default)]
pub struct MailStatus {
    /// Whether the write side can send mail; it may become known later.
    pub is_available: Arc<AtomicBool>,
    /// How people reach the operator.
    pub contact: Option<Contact>,
}

impl MailStatus {
    /// Returns whether mail is sent.
    pub fn is_available(&self) -> bool {
        self.is_available.load(Ordering::Relaxed)
    }
}

/// How people reach the operator: an email address, or the address of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact(String);

/// A text that is neither an email address nor the address of a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an email address, or a URL that begins with https:// or http://")]
pub struct InvalidContact;

impl Contact {
    /// Returns whether it is the address of a page.
    pub fn is_page(&self) -> bool {
        self.0.contains("://")
    }

    /// Returns the target of a link to it.
    pub fn href(&self) -> String {
        if self.is_page() { self.0.clone() } else { format!("mailto:{}", self.0) }
    }
}

impl FromStr for Contact {
    type Err = InvalidContact;

    fn from_str(text: &str) -> Result<Contact, InvalidContact> {
        let text = text.trim();
        let is_page = (text.starts_with("https://") || text.starts_with("http://"))
            && text.parse::<http::Uri>().is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
        if is_page || text.parse::<Email>().is_ok() {
            Ok(Contact(text.to_owned()))
        } else {
            Err(InvalidContact)
        }
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_an_address_of_either_kind() {
        let href = |text: &str| text.parse::<Contact>().map(|contact| contact.href());
        assert_eq!(href(" keys@example.org "), Ok("mailto:keys@example.org".into()));
        assert_eq!(href("https://example.org/help"), Ok("https://example.org/help".into()));
        for wrong in ["", "me", "javascript:alert(1)", "https://", "ftp://a.example"] {
            assert_eq!(href(wrong), Err(InvalidContact), "{wrong}");
        }
    }
}
