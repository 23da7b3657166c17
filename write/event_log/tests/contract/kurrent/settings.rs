//! Invalid settings: each prevents a start with a sentence that names the setting.

use event_log::kurrent::{self, Address};
use event_log::*;
use kit::esdb::EventStoreDb;
use schemas::clock::Clock;

use super::replica::raw;
use super::{opened, try_open};
use crate::event_store::{append, assert_refused, assert_whole};

async fn refusal(address: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let address: Address = address.parse().unwrap();
    let refused = try_open(folder.path(), &address).await.err().unwrap().to_string();
    assert!(refused.contains("LOGGIA_STORE"), "{refused}");
    assert!(!refused.contains("s3cret"), "{refused}");
    refused
}

#[tokio::test]
async fn user_and_password_are_checked() {
    let server = EventStoreDb::start().await;
    server.require_user("ann", "s3cret/@");
    for wrong in [None, Some(("ann", "s3cret")), Some(("bob", "s3cret%2F%40"))] {
        let refused = refusal(&server.address(wrong)).await;
        assert!(refused.contains("check user and password"), "{refused}");
    }
    let folder = tempfile::tempdir().unwrap();
    let right = server.address(Some(("ann", "s3cret%2F%40"))).parse().unwrap();
    let store = opened(folder.path(), &right).await;
    store.append(append(&Clock::system(), "a", Expected::Any, &["x"])).await.unwrap();
    assert_whole(&store).await;
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let mut server = EventStoreDb::start().await;
    let address = server.address(Some(("ann", "s3cret")));
    server.kill();
    let refused = refusal(&address).await;
    assert!(refused.contains("no EventStoreDB is reached"), "{refused}");
}

#[tokio::test]
async fn tls_is_used_and_verified() {
    let server = EventStoreDb::start_tls().await;
    let address = server.address(None);
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path(), &address.parse().unwrap()).await;
    store.append(append(&Clock::system(), "a", Expected::Any, &["x"])).await.unwrap();
    assert_whole(&store).await;

    let (plain, _) = address.split_once("?tls").unwrap();
    let untrusted = refusal(&format!("{plain}?discoveryInterval=1")).await;
    assert!(untrusted.contains("check tls, tlsCaFile"), "{untrusted}");
    let without = refusal(&format!("{plain}?tls=false&discoveryInterval=1")).await;
    assert!(without.contains("does not answer without TLS"), "{without}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    let named = format!("{plain}?tls=true&tlsCaFile={}&discoveryInterval=1", file.display());
    let absent = refusal(&named).await;
    assert!(absent.contains("tlsCaFile in store (LOGGIA_STORE) is"), "{absent}");
    std::fs::write(&file, "nonsense").unwrap();
    assert!(refusal(&named).await.contains("it contains no certificate"));
    std::fs::write(&file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(refusal(&named).await.contains("cannot be read"));
}

#[tokio::test]
async fn a_server_without_tls_is_rejected_if_tls_is_required() {
    let server = EventStoreDb::start().await;
    let address = server.address(None).replace("tls=false", "tls=true");
    let refused = refusal(&address).await;
    assert!(refused.contains("does not answer with TLS"), "{refused}");
}

#[tokio::test]
async fn the_leader_of_a_cluster_is_discovered() {
    let server = EventStoreDb::start().await;
    let address = server.address(None);
    let host = address.trim_start_matches("esdb://").split('?').next().unwrap().to_owned();
    for (beginning, hosts) in
        [("esdb+discover://", host.clone()), ("kurrentdb://", format!("127.0.0.1:9,{host}"))]
    {
        let address = format!("{beginning}{hosts}?tls=false&discoveryInterval=1&gossipTimeout=1000");
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path(), &address.parse().unwrap()).await;
        store.append(append(&Clock::system(), "a", Expected::Any, &["x"])).await.unwrap();
        assert_whole(&store).await;
    }
}

#[tokio::test]
async fn a_foreign_log_is_not_written_to() {
    let server = EventStoreDb::start().await;
    let mut file = raw(&server.file()).await;
    let insert = "INSERT INTO events VALUES (?1, 0, ?2, ?3, 'application/json', '', ?4)";
    for (stream, kind, data) in [
        ("foreign-events", "order.placed", "{}"),
        ("marked-store", "order.placed", "{}"),
        ("newer-store", "loggia.store.founded.v1", r#"{"store":"01JD0000000000000000000000","format":2}"#),
    ] {
        let id = [7u8; 16].as_slice();
        sqlx::query(insert).bind(stream).bind(id).bind(kind).bind(data).execute(&mut file).await.unwrap();
    }
    let refused = async |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let address: Address = format!("{}&store={name}", server.address(None)).parse().unwrap();
        try_open(folder.path(), &address).await.err().unwrap().to_string()
    };
    assert!(refused("foreign").await.contains("is there and is not one of Loggia"));
    assert!(refused("marked").await.contains("is not one of Loggia"));
    let newer = refused("newer").await;
    assert!(newer.contains("was written by a newer Loggia"), "{newer}");
}

#[tokio::test]
async fn reading_creates_no_log() {
    let server = EventStoreDb::start().await;
    let (folder, address) = (tempfile::tempdir().unwrap(), server.address(None).parse::<Address>().unwrap());
    assert_refused(kurrent::open_read_only(folder.path(), &address).await, "there is no event store");
    assert_refused(kurrent::verify(&address, |_| {}).await, "there is no event store");
}

#[tokio::test]
async fn a_command_above_the_servers_limit_is_rejected_with_a_reason() {
    let server = EventStoreDb::start().await;
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = opened(folder.path(), &server.address(None).parse().unwrap()).await;
    let half = "y".repeat(600_000);
    let refused = store.append(append(&clock, "a", Expected::Any, &[&half, &half])).await.unwrap_err();
    let AppendError::Invalid(reason) = &refused else { panic!("{refused}") };
    assert!(reason.contains("this store takes 1048576 at once"), "{reason}");
    // Many concurrent ones are split into batches that the server accepts.
    let crowd = (0..6).map(|n| append(&clock, &format!("s{n}"), Expected::Any, &[&half]));
    let outcomes = futures::future::join_all(crowd.map(|one| store.append(one))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(assert_whole(&store).await.len(), 6);
}
