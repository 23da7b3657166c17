//! The texts of mails. Each is plain text with one link; opening the link changes nothing.

use schemas::email::Email;
use schemas::link::{LinkToken, VALIDITY};
use vault::MessageKind;

/// A mail that is ready to send.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Mail {
    pub(super) to: Email,
    pub(super) subject: String,
    pub(super) text: String,
}

/// Composes the mail for an outbox message. `site` is the configured public URL.
pub(super) fn compose(kind: MessageKind, to: Email, site: &str, token: &LinkToken) -> Mail {
    let host = site.split_once("://").map_or(site, |(_, host)| host);
    let (link, minutes) = (token.at(site), VALIDITY.as_mins());
    let (subject, text) = match kind {
        MessageKind::Proof => (
            format!("Your keys at {host}"),
            format!(
                "Somebody asked for a link to the API keys under this address at\n\
                 {site}\n\
                 \n\
                 Open it within {minutes} minutes to see the keys, to keep or revoke each, and to\n\
                 get a new one:\n\
                 \n\
                 {link}\n\
                 \n\
                 Nothing happens before you decide there. If you did not ask for this, you\n\
                 need not do anything.\n"
            ),
        ),
        MessageKind::Payment => (
            format!("Your payment at {host}"),
            format!(
                "A payment for this address has arrived at\n\
                 {site}\n\
                 \n\
                 What it pays for comes to keys whose holder has shown that this address is\n\
                 theirs. Open this link within {minutes} minutes to say which keys are yours, or to\n\
                 get a new one:\n\
                 \n\
                 {link}\n\
                 \n\
                 Nothing happens before you decide there. Once the link is too old, ask for\n\
                 another at\n\
                 {site}/keys\n"
            ),
        ),
    };
    Mail { to, subject, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: MessageKind) -> Mail {
        let token = LinkToken::generate(|bytes| bytes.fill(10));
        compose(kind, "Ada.Pelt@example.org".parse().unwrap(), "https://catalog.example.org", &token)
    }

    #[test]
    fn a_proof_mail_says_what_was_requested() {
        let mail = written(MessageKind::Proof);
        assert_eq!(mail.to.as_str(), "Ada.Pelt@example.org");
        assert_eq!(mail.subject, "Your keys at catalog.example.org");
        assert_eq!(
            mail.text,
            "Somebody asked for a link to the API keys under this address at
https://catalog.example.org

Open it within 30 minutes to see the keys, to keep or revoke each, and to
get a new one:

https://catalog.example.org/claim/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA

Nothing happens before you decide there. If you did not ask for this, you
need not do anything.
"
        );
    }

    #[test]
    fn a_payment_mail_says_what_the_payment_waits_for() {
        let mail = written(MessageKind::Payment);
        assert_eq!(mail.subject, "Your payment at catalog.example.org");
        assert_eq!(
            mail.text,
            "A payment for this address has arrived at
https://catalog.example.org

What it pays for comes to keys whose holder has shown that this address is
theirs. Open this link within 30 minutes to say which keys are yours, or to
get a new one:

https://catalog.example.org/claim/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA

Nothing happens before you decide there. Once the link is too old, ask for
another at
https://catalog.example.org/keys
"
        );
    }
}
