//! Email addresses of key holders. They are kept in the vault of the write side and are in no event.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The maximum length of an address in bytes (RFC 5321, section 4.5.3.1.3, without the angle brackets).
const LONGEST: usize = 254;
const MAX_LOCAL_LENGTH: usize = 64;

/// A valid email address: trimmed, in Unicode NFC, the domain in lowercase. Its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

/// Why a text is not an email address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address cannot be used: {0}; write it as name@example.org")]
pub struct InvalidEmail(&'static str);

impl Email {
    /// Returns the address as mail is sent to it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form in which addresses are compared: lowercase, with an internationalised domain in its ASCII form.
    pub fn folded(&self) -> String {
        self.with_domain(|domain| idna::domain_to_ascii(domain).ok())
    }

    /// Returns all forms in which the address may have been stored, in lowercase: as given, with the domain in ASCII,
    /// with the domain in Unicode. Version 0.1 compared addresses as given.
    pub fn spellings(&self) -> Vec<String> {
        let unicode = self.with_domain(|domain| match idna::domain_to_unicode(domain) {
            (domain, Ok(())) => Some(domain),
            (_, Err(_)) => None,
        });
        let mut spellings = vec![self.0.to_lowercase(), self.folded(), unicode];
        spellings.dedup();
        spellings
    }

    fn with_domain(&self, form: impl Fn(&str) -> Option<String>) -> String {
        let folded = self.0.to_lowercase();
        let parts = folded.rsplit_once('@');
        let formed = parts.and_then(|(local, domain)| Some(format!("{local}@{}", form(domain)?)));
        formed.unwrap_or(folded)
    }
}

impl FromStr for Email {
    type Err = InvalidEmail;

    fn from_str(text: &str) -> Result<Self, InvalidEmail> {
        let text: String = text.trim().nfc().collect();
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')) {
            return Err(InvalidEmail("it has blanks or control characters"));
        }
        let (local, domain) = text.rsplit_once('@').ok_or(InvalidEmail("it has no @"))?;
        check_local(local)?;
        let domain = domain.to_lowercase();
        check_domain(&domain)?;
        if local.len() + 1 + domain.len() > LONGEST {
            return Err(InvalidEmail("it has more than 254 bytes"));
        }
        Ok(Email(format!("{local}@{domain}")))
    }
}

/// Checks an unquoted local part: letters and digits of any script, and the atom characters of RFC 5322.
fn check_local(local: &str) -> Result<(), InvalidEmail> {
    if local.is_empty() {
        return Err(InvalidEmail("there is nothing before the @"));
    }
    if local.len() > MAX_LOCAL_LENGTH {
        return Err(InvalidEmail("there are more than 64 bytes before the @"));
    }
    let allowed = |c: char| c.is_alphanumeric() || is_mark(c) || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    if !local.chars().all(allowed) {
        return Err(InvalidEmail("a character before the @ is not allowed"));
    }
    if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
        return Err(InvalidEmail("a dot is first, last or doubled before the @"));
    }
    Ok(())
}

fn check_domain(domain: &str) -> Result<(), InvalidEmail> {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || is_mark(c) || c == '-')
    };
    if !domain.contains('.') {
        return Err(InvalidEmail("the domain after the @ has no dot"));
    }
    if !domain.split('.').all(label) {
        return Err(InvalidEmail("the text after the @ is not a domain"));
    }
    let last = domain.rsplit('.').next().unwrap_or_default();
    if last.chars().all(|c| c.is_ascii_digit()) {
        return Err(InvalidEmail("the text after the @ is not a domain"));
    }
    Ok(())
}

/// Marks that follow a letter in scripts such as Devanagari.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

impl TryFrom<String> for Email {
    type Error = InvalidEmail;

    fn try_from(text: String) -> Result<Self, InvalidEmail> {
        text.parse()
    }
}

impl From<Email> for String {
    fn from(email: Email) -> String {
        email.0
    }
}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

#[cfg(test)]
mod tests;
