//! The NATS user of a process and the permissions that it needs: checked at the start, before work begins that would fail half-way.

use std::time::Duration;

use async_nats::Client;
use serde::Deserialize;
use tokio::sync::watch;

/// The subject on which a server returns the user of a connection and its permissions.
pub const USER_INFO: &str = "$SYS.REQ.USER.INFO";

/// The time in which the server must answer. Without an answer the user is accepted.
const USER_INFO_TIMEOUT: Duration = Duration::from_secs(2);

/// A NATS user, its subjects and its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, also of its credentials file.
    pub name: &'static str,
    /// The prefix of the subjects on which it receives replies.
    pub inbox: String,
    /// The subjects that it publishes to.
    pub publishes: Vec<&'static str>,
    /// Those of `publishes` without which it cannot work.
    pub must_publish: Vec<&'static str>,
    /// The subjects that it subscribes to.
    pub subscribes: Vec<String>,
    /// The permission to reply to requests, in addition to `publishes`.
    pub responses: Option<Responses>,
}

/// The permission to reply to requests: how often, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Responses {
    /// The maximum number of replies to a request; -1 is unlimited.
    pub max: i64,
    /// The time after the request, in minutes.
    pub minutes: u32,
}

/// The user of a connection lacks a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "nats_creds: the NATS user is not that of the role “{role}”: it {lack}; give this process the file users/{role}.nk \
     that `loggia nats config` made, or the user these permissions"
)]
pub struct MissingPermission {
    role: &'static str,
    lack: String,
}

/// The permissions of a user, as a server states them. Without a list, everything is permitted.
#[derive(Debug, Default, Deserialize)]
pub struct Permissions {
    publish: Option<Subjects>,
    subscribe: Option<Subjects>,
}

/// Subjects that are allowed and denied. Without a list of allowed ones, all that are not denied are allowed.
#[derive(Debug, Default, Deserialize)]
struct Subjects {
    allow: Option<Vec<String>>,
    deny: Option<Vec<String>>,
}

/// The server's answer on [`USER_INFO`].
#[derive(Debug, Default, Deserialize)]
struct UserInfo {
    #[serde(default)]
    data: UserData,
}

#[derive(Debug, Default, Deserialize)]
struct UserData {
    permissions: Option<Permissions>,
}

impl User {
    /// Returns the permissions that the cluster configuration gives this user.
    pub fn permissions(&self) -> Permissions {
        let allowed = self.publishes.iter().map(|subject| (*subject).to_owned()).collect();
        let publish = Subjects { allow: Some(allowed), deny: None };
        let subscribe = Subjects { allow: Some(self.subscribes.clone()), deny: None };
        Permissions { publish: Some(publish), subscribe: Some(subscribe) }
    }

    /// Checks that permissions are all that this user must have.
    ///
    /// # Errors
    ///
    /// Fails if one is missing; the error names it.
    pub fn check(&self, permissions: &Permissions) -> Result<(), MissingPermission> {
        let subscribes: Vec<&str> = self.subscribes.iter().map(String::as_str).collect();
        for (verb, wanted, given) in [
            ("publish to", self.must_publish.as_slice(), &permissions.publish),
            ("subscribe to", subscribes.as_slice(), &permissions.subscribe),
        ] {
            let Some(given) = given else { continue };
            let missing: Vec<&&str> = wanted.iter().filter(|subject| !given.allows(subject)).collect();
            if let Some(first) = missing.first() {
                let more = match missing.len() - 1 {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                return Err(self.lacks(format!("may not {verb} {first}{more}")));
            }
        }
        Ok(())
    }

    fn lacks(&self, lack: String) -> MissingPermission {
        MissingPermission { role: self.name, lack }
    }
}

/// Asks the server for the permissions of a connection and checks them. `refusals` is the last permission that the server
/// refused to this connection.
pub(super) async fn check(
    client: &Client,
    user: &User,
    mut refusals: watch::Receiver<Option<String>>,
) -> Result<(), MissingPermission> {
    let answer = tokio::select! {
        answer = tokio::time::timeout(USER_INFO_TIMEOUT, client.request(USER_INFO, "".into())) => answer,
        // A user that may not receive replies gets no answer, but a refusal.
        Ok(refused) = refusals.wait_for(Option::is_some) => {
            let reason = refused.clone().unwrap_or_default();
            return Err(user.lacks(format!("is refused by the server: {reason}")));
        }
    };
    match answer {
        Ok(Ok(answer)) => {
            let info: UserInfo = serde_json::from_slice(&answer.payload).unwrap_or_default();
            user.check(&info.data.permissions.unwrap_or_default())
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, "the NATS server does not state the permissions of its user");
            Ok(())
        }
        Err(_elapsed) => Ok(()),
    }
}

impl Subjects {
    fn allows(&self, subject: &str) -> bool {
        // A permission to subscribe may name a queue group after the subject.
        let covering = |patterns: &Option<Vec<String>>| {
            let subjects = patterns.iter().flatten().filter_map(|pattern| pattern.split_whitespace().next());
            subjects.into_iter().any(|pattern| covers(pattern, subject))
        };
        let allowed = self.allow.as_ref().is_none_or(Vec::is_empty) || covering(&self.allow);
        allowed && !covering(&self.deny)
    }
}

/// Returns whether a pattern matches every subject that another pattern matches.
///
/// ```
/// use nats::user::covers;
///
/// assert!(covers("a.>", "a.*.c"));
/// assert!(!covers("a.*", "a.>"));
/// ```
pub fn covers(pattern: &str, other: &str) -> bool {
    let mut others = other.split('.');
    for token in pattern.split('.') {
        match (token, others.next()) {
            (">", Some(_)) => return true,
            (_, None) | ("*", Some(">")) => return false,
            ("*", Some(_)) => {}
            (token, Some(other)) if token == other => {}
            (_, Some(_)) => return false,
        }
    }
    others.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> User {
        User {
            name: "reader",
            inbox: "_INBOX.reader".into(),
            publishes: vec!["read.events", "read.usage", "read.new"],
            must_publish: vec!["read.events", "read.usage"],
            subscribes: vec!["_INBOX.reader.>".into()],
            responses: None,
        }
    }

    #[test]
    fn a_missing_permission_is_named() {
        assert_eq!(reader().check(&Permissions::default()), Ok(()));
        assert_eq!(reader().check(&reader().permissions()), Ok(()));
        let other = User { publishes: vec!["x"], ..reader() };
        assert_eq!(
            reader().check(&other.permissions()).unwrap_err().to_string(),
            "nats_creds: the NATS user is not that of the role “reader”: it may not publish to read.events and 1 more; give \
             this process the file users/reader.nk that `loggia nats config` made, or the user these permissions"
        );
        let without_replies = User { subscribes: vec!["_INBOX.other.>".into()], ..reader() };
        assert_eq!(
            reader().check(&without_replies.permissions()).unwrap_err().lack,
            "may not subscribe to _INBOX.reader.>"
        );
    }

    #[test]
    fn a_permission_that_is_not_required_may_be_missing() {
        let older = User { publishes: vec!["read.events", "read.usage"], ..reader() };
        assert_eq!(reader().check(&older.permissions()), Ok(()));
    }

    #[test]
    fn a_denied_subject_is_missing() {
        let deny = |subject: &str| Permissions {
            publish: Some(Subjects { allow: None, deny: Some(vec![subject.to_owned()]) }),
            subscribe: None,
        };
        assert_eq!(reader().check(&deny("usage.>")), Ok(()));
        assert_eq!(
            reader().check(&deny("read.*")).unwrap_err().lack,
            "may not publish to read.events and 1 more"
        );
    }

    #[test]
    fn the_answer_of_a_server_is_parsed() {
        let answer = r#"{"server":{"name":"n1"},"data":{"user":"UA","account":"$G","permissions":{"publish":{"allow":["a"]},
            "subscribe":{"allow":["b q"],"deny":["c"]},"responses":{"max":1,"ttl":1}}}}"#;
        let info: UserInfo = serde_json::from_str(answer).unwrap();
        let permissions = info.data.permissions.unwrap();
        assert!(permissions.publish.unwrap().allows("a"));
        assert!(permissions.subscribe.unwrap().allows("b"));
    }

    #[test]
    fn a_pattern_covers_the_patterns_that_it_matches() {
        for (pattern, other, expected) in [
            ("a.b", "a.b", true),
            ("a.b", "a", false),
            ("a", "a.b", false),
            ("a.*", "a.b", true),
            ("a.*", "a.*", true),
            ("a.*", "a.>", false),
            ("a.b", "a.*", false),
            ("a.*", "a.b.c", false),
            ("a.>", "a.b.c", true),
            ("a.>", "a.>", true),
            ("a.>", "a", false),
            (">", "a.*", true),
        ] {
            assert_eq!(covers(pattern, other), expected, "{pattern} {other}");
        }
    }
}
