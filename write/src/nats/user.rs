//! Whether the user of a connection may do what its role does: asked of the server, before anything is begun that would
//! fail half-way.

use std::time::Duration;

use async_nats::Client;
use schemas::nats_role::{NatsRole, WHO_AM_I, covers};
use serde::Deserialize;
use tokio::sync::watch;

/// How long the server may take. One that does not tell is believed.
const TOLD: Duration = Duration::from_secs(2);

/// The user is not the one of the role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "nats_creds: the NATS user is not that of the role “{role}”: it {lack}; give this process the file users/{role}.nk \
     that `loggia nats config` made, or the user these permissions"
)]
pub struct WrongUser {
    role: &'static str,
    lack: String,
}

/// What a server tells of the user that asks.
#[derive(Debug, Default, Deserialize)]
struct Told {
    #[serde(default)]
    data: User,
}

#[derive(Debug, Default, Deserialize)]
struct User {
    permissions: Option<Permissions>,
}

#[derive(Debug, Default, Deserialize)]
struct Permissions {
    publish: Option<Subjects>,
    subscribe: Option<Subjects>,
}

/// Without a list of what is allowed, all is that is not denied.
#[derive(Debug, Default, Deserialize)]
struct Subjects {
    allow: Option<Vec<String>>,
    deny: Option<Vec<String>>,
}

/// Asks the server who this is, and whether that may do what the role does.
pub(super) async fn check(
    client: &Client,
    role: NatsRole,
    mut refusals: watch::Receiver<Option<String>>,
) -> Result<(), WrongUser> {
    let answer = tokio::select! {
        answer = tokio::time::timeout(TOLD, client.request(WHO_AM_I, "".into())) => answer,
        // Who may not take answers hears none, but learns why.
        Ok(refused) = refusals.wait_for(Option::is_some) => {
            let reason = refused.clone().unwrap_or_default();
            return Err(wrong(role, format!("is refused by the server: {reason}")));
        }
    };
    match answer {
        Ok(Ok(answer)) => {
            let told: Told = serde_json::from_slice(&answer.payload).unwrap_or_default();
            judge(role, &told.data.permissions.unwrap_or_default())
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, "the NATS server does not tell who this is");
            Ok(())
        }
        Err(_elapsed) => Ok(()),
    }
}

fn judge(role: NatsRole, permissions: &Permissions) -> Result<(), WrongUser> {
    let publishes = role.must_publish();
    let subscribes = role.subscribes();
    let subscribes: Vec<&str> = subscribes.iter().map(String::as_str).collect();
    for (verb, wanted, given) in [
        ("publish to", publishes.as_slice(), &permissions.publish),
        ("subscribe to", subscribes.as_slice(), &permissions.subscribe),
    ] {
        let Some(given) = given else { continue };
        let lacking: Vec<&&str> = wanted.iter().filter(|subject| !given.allows(subject)).collect();
        if let Some(first) = lacking.first() {
            let more = match lacking.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            return Err(wrong(role, format!("may not {verb} {first}{more}")));
        }
    }
    Ok(())
}

fn wrong(role: NatsRole, lack: String) -> WrongUser {
    WrongUser { role: role.name(), lack }
}

impl Subjects {
    fn allows(&self, subject: &str) -> bool {
        // A permission to subscribe may name a queue group behind the subject.
        let covering = |patterns: &Option<Vec<String>>| {
            let subjects = patterns.iter().flatten().filter_map(|pattern| pattern.split_whitespace().next());
            subjects.into_iter().any(|pattern| covers(pattern, subject))
        };
        let allowed = self.allow.as_ref().is_none_or(Vec::is_empty) || covering(&self.allow);
        allowed && !covering(&self.deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(role: NatsRole) -> Permissions {
        let owned = |subjects: &[&str]| subjects.iter().map(|subject| (*subject).to_owned()).collect();
        let publish = Subjects { allow: Some(owned(&role.publishes())), deny: None };
        let subscribe = Subjects { allow: Some(role.subscribes()), deny: None };
        Permissions { publish: Some(publish), subscribe: Some(subscribe) }
    }

    #[test]
    fn the_user_of_a_role_is_taken_and_any_other_is_not() {
        for role in NatsRole::ALL {
            assert_eq!(judge(role, &Permissions::default()), Ok(()), "{role} without any limit");
            for other in NatsRole::ALL {
                assert_eq!(judge(role, &of(other)).is_ok(), role == other, "{role} as {other}");
            }
        }
        assert_eq!(
            judge(NatsRole::Serve, &of(NatsRole::Project)).unwrap_err().to_string(),
            "nats_creds: the NATS user is not that of the role “serve”: it may not publish to loggia.usage.*.*.* and 8 \
             more; give this process the file users/serve.nk that `loggia nats config` made, or the user these permissions"
        );
    }

    #[test]
    fn the_users_that_release_0_1_made_are_taken() {
        for role in NatsRole::ALL {
            let mut permissions = of(role);
            let allowed = permissions.publish.as_mut().unwrap().allow.as_mut().unwrap();
            allowed.retain(|subject| !subject.contains(".loggia.overrun."));
            assert_eq!(judge(role, &permissions), Ok(()), "{role}");
        }
    }

    #[test]
    fn a_denied_subject_is_lacking() {
        let deny = |subject: &str| Permissions {
            publish: Some(Subjects { allow: None, deny: Some(vec![subject.to_owned()]) }),
            subscribe: None,
        };
        assert_eq!(judge(NatsRole::Project, &deny("loggia.usage.>")), Ok(()));
        assert_eq!(
            judge(NatsRole::Project, &deny("loggia.read.*")).unwrap_err().lack,
            "may not publish to loggia.read.events and 1 more"
        );
    }

    #[test]
    fn what_a_server_tells_is_read() {
        let told = r#"{"server":{"name":"n1"},"data":{"user":"UA","account":"$G","permissions":{"publish":{"allow":["a"]},
            "subscribe":{"allow":["b q"],"deny":["c"]},"responses":{"max":1,"ttl":1}}}}"#;
        let told: Told = serde_json::from_str(told).unwrap();
        let permissions = told.data.permissions.unwrap();
        assert!(permissions.publish.unwrap().allows("a"));
        assert!(permissions.subscribe.unwrap().allows("b"));
    }
}
