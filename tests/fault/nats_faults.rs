//! NATS is killed, loses its data, loses its stream, or two write sides relay at once: each time it recovers to the
//! same state.

use kit::nats::Nats;
use kit::process::{self, Loggia};

use crate::{LOGGIA, TIMEOUT, caught_up, exported_slugs, verified};

fn import(data: &std::path::Path, from: usize, to: usize) {
    let file = data.with_extension("ndjson");
    let line =
        |n: usize| format!("{{\"slug\":\"house-{n:04}\",\"name\":\"House {n}\",\"category\":\"art\"}}\n");
    std::fs::write(&file, (from..to).map(line).collect::<String>()).unwrap();
    process::run(&LOGGIA, data, &["import", file.to_str().unwrap()]).success();
}

/// Returns the process id of the private server; `None` while it is writing the file.
fn nats_pid(data: &std::path::Path) -> Option<u32> {
    let text = std::fs::read_to_string(data.join("nats/nats.pid")).expect("the private server's pid file");
    text.trim().parse().ok()
}

/// Returns whether the private server takes connections: it does once it has read its streams.
fn takes_connections(data: &std::path::Path) -> bool {
    let url = std::fs::read_to_string(data.join("nats/url")).expect("the private server's address");
    let address = url.trim().rsplit(['/', '@']).next().expect("a host and a port");
    std::net::TcpStream::connect(address).is_ok()
}

/// Starts `loggia up` with a NATS server of the test.
async fn up(data: &std::path::Path, nats: &Nats) -> Loggia {
    let mut command = process::command(&LOGGIA, data);
    command.args(["up", "--no-demo"]).env("LOGGIA_NATS_URL", nats.url()).env("LOGGIA_LISTEN", "127.0.0.1:0");
    let mut loggia = Loggia::spawn_command(command, data);
    loggia.address().await;
    loggia
}

async fn holds_all(data: &std::path::Path, count: usize) {
    caught_up(data).await;
    verified(data);
    let expected: Vec<String> = (0..count).map(|n| format!("house-{n:04}")).collect();
    assert_eq!(exported_slugs(data), expected);
}

#[tokio::test]
async fn the_private_server_is_restarted_after_a_kill() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    let http = loggia.http().await;
    import(&data, 0, 300);
    let first = nats_pid(&data).expect("the pid of a running server");
    assert!(std::process::Command::new("kill").args(["-9", &first.to_string()]).status().unwrap().success());
    assert_eq!(http.get("/healthz").await.status, 200, "reading continues");
    kit::wait_until(TIMEOUT, "another nats-server", async || {
        nats_pid(&data).is_some_and(|pid| pid != first) && takes_connections(&data)
    })
    .await;
    import(&data, 300, 600);
    holds_all(&data, 600).await;
}

#[tokio::test]
async fn an_emptied_server_is_refilled_from_the_event_store() {
    let Some(mut nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _loggia = up(&data, &nats).await;
    import(&data, 0, 700);
    caught_up(&data).await;
    nats.wipe().await;
    import(&data, 700, 900);
    holds_all(&data, 900).await;
    nats.kill9().await;
    nats.restart().await;
    import(&data, 900, 1_000);
    holds_all(&data, 1_000).await;
}

#[tokio::test]
async fn a_deleted_stream_is_recreated() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _loggia = up(&data, &nats).await;
    import(&data, 0, 400);
    caught_up(&data).await;
    let jetstream = async_nats::jetstream::new(nats.client().await);
    jetstream.delete_stream("EVENTS").await.unwrap();
    import(&data, 400, 500);
    holds_all(&data, 500).await;
}

#[tokio::test]
async fn a_trimmed_stream_is_refilled_from_the_event_store() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut loggia = up(&data, &nats).await;
    import(&data, 0, 800);
    caught_up(&data).await;
    assert!(loggia.terminate().await.success());
    // The projections find a stream without its beginning, and have applied nothing yet.
    let jetstream = async_nats::jetstream::new(nats.client().await);
    let mut config = jetstream.get_stream("EVENTS").await.unwrap().cached_info().config.clone();
    config.max_messages = 50;
    jetstream.update_stream(&config).await.unwrap();
    config.max_messages = -1;
    jetstream.update_stream(&config).await.unwrap();
    std::fs::remove_dir_all(data.join("models")).unwrap();
    let _loggia = up(&data, &nats).await;
    holds_all(&data, 800).await;
}
