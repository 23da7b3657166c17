//! The permissions of each user of a cluster, tested on the server itself, allowed and denied.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions, Event, ServerError};
use futures::StreamExt;
use kit::nats::Cluster;
use nats::user::covers;
use process_role::ProcessRole;
use serde_json::{Value, json};

/// Subjects that delete or change stored messages; no role may publish to them.
const DESTRUCTIVE: [&str; 6] = [
    "$JS.API.STREAM.DELETE.EVENTS",
    "$JS.API.STREAM.PURGE.EVENTS",
    "$JS.API.STREAM.PURGE.USAGE_FREE",
    "$JS.API.STREAM.MSG.DELETE.EVENTS",
    "$JS.API.STREAM.RESTORE.EVENTS",
    "$JS.API.STREAM.SNAPSHOT.EVENTS",
];

/// A subject to which no role may publish. The server answers in order: once it has denied this, it has denied all that it denies of
/// what was sent before.
const LAST: &str = "last";

/// A client of a role that collects the server's permission violations.
struct RoleClient {
    client: Client,
    refused: Arc<Mutex<Vec<String>>>,
}

impl RoleClient {
    async fn new(cluster: &Cluster, role: ProcessRole) -> RoleClient {
        let refused = Arc::new(Mutex::new(Vec::new()));
        let heard = refused.clone();
        let seed = std::fs::read_to_string(cluster.seed(role)).unwrap();
        let client = ConnectOptions::with_nkey(seed.trim().to_owned())
            .add_root_certificates(cluster.authority())
            .custom_inbox_prefix(role.inbox())
            .event_callback(move |event| {
                if let Event::ServerError(ServerError::Other(reason)) = event {
                    heard.lock().unwrap().push(reason);
                }
                std::future::ready(())
            })
            .connect(cluster.url())
            .await
            .unwrap();
        RoleClient { client, refused }
    }

    /// Returns which of these subjects the server denies.
    async fn refused<'s>(&self, verb: Verb, subjects: &'s BTreeSet<String>) -> BTreeSet<&'s str> {
        let mut refused = BTreeSet::new();
        // The client buffers only a limited number of server errors.
        for some in subjects.iter().collect::<Vec<_>>().chunks(12) {
            self.refused.lock().unwrap().clear();
            let mut subscribed = Vec::new();
            for subject in some {
                match verb {
                    Verb::Publish => self.client.publish((*subject).clone(), "".into()).await.unwrap(),
                    Verb::Subscribe => {
                        subscribed.push(self.client.subscribe((*subject).clone()).await.unwrap())
                    }
                }
            }
            self.client.publish(LAST, "".into()).await.unwrap();
            self.client.flush().await.unwrap();
            let is_last = |reason: &String| reason.contains(&format!("\"{LAST}\""));
            kit::wait_until(kit::TIMEOUT, "the last denial", async || {
                self.refused.lock().unwrap().iter().any(is_last)
            })
            .await;
            let violations = self.refused.lock().unwrap();
            for reason in violations.iter().filter(|reason| !is_last(reason)) {
                let subject = some.iter().find(|subject| reason.contains(&format!("\"{subject}\"")));
                let subject = subject.unwrap_or_else(|| panic!("{reason} is about nothing that was tried"));
                refused.insert(subject.as_str());
            }
        }
        refused
    }
}

#[derive(Debug, Clone, Copy)]
enum Verb {
    Publish,
    Subscribe,
}

/// Returns a subject that a pattern matches.
fn one_of(pattern: &str) -> String {
    let token = |token: &str| match token {
        "*" => "x".to_owned(),
        ">" => "x.y".to_owned(),
        token => token.to_owned(),
    };
    pattern.split('.').map(token).collect::<Vec<_>>().join(".")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_user_has_exactly_the_permissions_of_its_role() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let all = ProcessRole::ALL;
    let mut published: BTreeSet<String> = all.iter().flat_map(|role| role.publishes()).map(one_of).collect();
    published.extend(DESTRUCTIVE.map(str::to_owned));
    // A spool looks up the calls of many keys together.
    published.extend(
        ["usage", "overrun"]
            .map(|kept| format!("$JS.API.CONSUMER.CREATE.USAGE_FREE.x.loggia.{kept}.free.*.2026-11")),
    );
    published.extend(
        ["loggia.command.withdraw", "loggia.command.import", "_INBOX.write.x", "_INBOX.operator.x"]
            .map(str::to_owned),
    );
    let mut heard: BTreeSet<String> =
        all.iter().flat_map(|role| role.subscribes()).map(|pattern| one_of(&pattern)).collect();
    heard.extend([">", "_INBOX.>", "loggia.>", "$JS.>", "loggia.curation.*"].map(str::to_owned));
    for role in all {
        let role_client = RoleClient::new(&cluster, role).await;
        let beyond = |subjects: &BTreeSet<String>, own: &[String]| -> BTreeSet<String> {
            let allowed = |subject: &String| own.iter().any(|pattern| covers(pattern, subject));
            subjects.iter().filter(|subject| !allowed(subject)).cloned().collect()
        };
        let own: Vec<String> = role.publishes().into_iter().map(str::to_owned).collect();
        let refused = role_client.refused(Verb::Publish, &published).await;
        let expected = beyond(&published, &own);
        assert_eq!(refused, expected.iter().map(String::as_str).collect(), "{role} publishes");
        assert!(DESTRUCTIVE.iter().all(|subject| refused.contains(subject)), "{role}");
        let refused = role_client.refused(Verb::Subscribe, &heard).await;
        let expected = beyond(&heard, &role.subscribes());
        assert_eq!(refused, expected.iter().map(String::as_str).collect(), "{role} subscribes");
    }
}

/// A limit of NATS that the guide documents: JetStream publishes under its own name to any subject that a client names,
/// though the client cannot choose the content. If NATS learns to deny it, this test fails, and the guide must change.
#[tokio::test(flavor = "multi_thread")]
async fn jetstream_delivers_to_any_subject_a_client_names() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let write = RoleClient::new(&cluster, ProcessRole::Write).await;
    let context = jetstream::new(write.client.clone());
    let stream = stream::Config {
        name: "EVENTS".into(),
        subjects: vec!["loggia.curation.*".into()],
        ..stream::Config::default()
    };
    context.create_stream(stream).await.unwrap();
    context.publish("loggia.curation.x", "{}".into()).await.unwrap().await.unwrap();
    let mut commands = write.client.subscribe("loggia.command.*").await.unwrap();
    write.client.flush().await.unwrap();
    let project = RoleClient::new(&cluster, ProcessRole::Project).await;
    let elsewhere = "loggia.command.import";
    // The reply to a request.
    let info = "$JS.API.STREAM.INFO.EVENTS";
    project.client.publish_with_reply(info, elsewhere, "".into()).await.unwrap();
    // Messages of a push consumer and of a pull consumer.
    let push = json!({"stream_name": "EVENTS", "config": {
        "name": "push", "deliver_subject": elsewhere, "deliver_policy": "all", "ack_policy": "none"}});
    let pull = json!({"stream_name": "EVENTS", "config": {
        "name": "pull", "deliver_policy": "all", "ack_policy": "none"}});
    for (name, config) in [("push", push), ("pull", pull)] {
        let create = format!("$JS.API.CONSUMER.CREATE.EVENTS.{name}");
        let answer = project.client.request(create, config.to_string().into()).await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(answer["name"], name, "{answer}");
    }
    let next = "$JS.API.CONSUMER.MSG.NEXT.EVENTS.pull";
    project.client.publish_with_reply(next, elsewhere, "1".into()).await.unwrap();
    project.client.flush().await.unwrap();
    let mut came: Vec<Value> = Vec::new();
    // The reply and the one event, which goes to one of the two: both are sent on the same subject.
    while !came.iter().any(|sent| sent["config"]["name"] == "EVENTS") || !came.contains(&json!({})) {
        let next = tokio::time::timeout(kit::TIMEOUT, commands.next()).await;
        let message = next.unwrap_or_else(|_| panic!("only these came: {came:?}")).unwrap();
        came.push(serde_json::from_slice(&message.payload).unwrap());
    }
    assert_eq!(project.refused.lock().unwrap().as_slice(), [] as [&str; 0]);
}
