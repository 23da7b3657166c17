//! Tests with real servers. Without a nats-server they are skipped with a message; in continuous integration that is a failure.

#![allow(clippy::disallowed_methods, reason = "which nats-server to run comes from the environment")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use async_nats::jetstream;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;

/// Returns a folder and options for a real server in it; `None` if there is no server to run.
async fn real_server() -> Option<(TempDir, Options)> {
    let found = crate::tests::nats_server().await?;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { binary: Some(found), ..Options::new(folder.path().join("nats")) };
    Some((folder, options))
}

async fn context(address: &Address) -> jetstream::Context {
    let client = address.connect_options().connect(format!("nats://{address}")).await.unwrap();
    jetstream::new(client)
}

/// Creates a stream `S` with one message in it.
async fn fill(address: &Address) {
    let context = context(address).await;
    let config =
        jetstream::stream::Config { name: "S".into(), subjects: vec!["s".into()], ..Default::default() };
    context.create_stream(config).await.unwrap();
    context.publish("s", "x".into()).await.unwrap().await.unwrap();
}

async fn messages(address: &Address) -> Option<u64> {
    let stream = context(address).await.get_stream("S").await.ok()?;
    Some(stream.get_info().await.unwrap().state.messages)
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("waited two minutes for {what}");
}

/// Stops a supervisor, and waits for its end.
async fn end(stop: &CancellationToken, tracker: &TaskTracker) {
    stop.cancel();
    tracker.close();
    tracker.wait().await;
}

fn is_alive(pid: u32) -> bool {
    process(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

fn signal(pid: u32, signal: Signal) {
    kill_process(process(pid).unwrap(), signal).unwrap();
}

/// Creates a shell script, in another process: a file that this one has open for writing could not be executed.
fn script(path: PathBuf, text: &str) -> PathBuf {
    let write = format!("cat > '{0}' && chmod +x '{0}'", path.display());
    let mut shell = std::process::Command::new("sh");
    let mut shell = shell.args(["-c", &write]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{text}\n").as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
    path
}

/// Of two copies of a folder that are started at once, the second finds its port taken only when its server ends.
#[tokio::test]
async fn the_server_of_a_copy_of_the_folder_is_not_taken_for_the_own_one() {
    let Some((_first, options)) = real_server().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let Some((_second, mut copied)) = real_server().await else { return };
    copied.start_timeout = Duration::from_secs(60);
    let mut folder = Folder::open(&copied.folder).await.unwrap();
    let launched = launch(&copied, &server.binary, &mut folder, &server.address).await;
    assert!(matches!(launched, Err(Error::Exited { .. })), "{launched:?}");
    server.stop().await;
}

#[tokio::test]
async fn it_starts_refuses_clients_without_password_and_stops() {
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options.clone()).await.unwrap();
    let pid = server.pid().unwrap();
    fill(server.address()).await;
    assert_eq!(messages(server.address()).await, Some(1));

    let client = crate::url::connect_options(&server.url()).unwrap().connect(server.url()).await.unwrap();
    assert_eq!(client.server_info().max_payload, 8 * 1024 * 1024);
    let stranger = async_nats::connect(format!("nats://{}", server.address())).await.unwrap_err();
    assert!(stranger.to_string().contains("authorization violation"), "{stranger}");

    let private =
        ["nats.json", "url"].map(|name| options.folder.join(name).metadata().unwrap().permissions().mode());
    assert_eq!(private.map(|mode| mode & 0o777), [0o600, 0o600]);
    let command_line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    assert!(!command_line.contains(server.address().password()));
    server.stop().await;
    assert!(!is_alive(pid));
    let log = std::fs::read_to_string(options.folder.join("nats.log")).unwrap();
    assert!(log.contains("Server Exiting"), "it was killed, not stopped: {log}");
}

#[tokio::test]
async fn a_later_start_has_the_same_address_and_streams() {
    let Some((_keep, options)) = real_server().await else { return };
    let first = NatsServer::start(options.clone()).await.unwrap();
    let address = first.address().clone();
    fill(&address).await;
    first.stop().await;
    let second = NatsServer::start(options.clone()).await.unwrap();
    assert_eq!(second.address(), &address);
    assert_eq!(messages(second.address()).await, Some(1));
    second.kill().await;

    // If another program has taken the port meanwhile, another port is used.
    let taken = std::net::TcpListener::bind(("127.0.0.1", address.port())).unwrap();
    let third = NatsServer::start(options).await.unwrap();
    assert_ne!(third.address().port(), address.port());
    assert_eq!(messages(third.address()).await, Some(1));
    drop(taken);
}

#[tokio::test]
async fn a_killed_server_is_restarted_by_the_supervisor_with_its_streams() {
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let (address, health, first) = (server.address().clone(), server.health(), server.pid().unwrap());
    fill(&address).await;
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    tracker.spawn(server.supervise(stop.clone()));
    for round in 1..=3 {
        let before = health.pid().unwrap();
        signal(before, Signal::KILL);
        until("a restart", || health.restarts() == round).await;
        assert_ne!(health.pid(), Some(before));
        assert_eq!(messages(&address).await, Some(1));
    }
    let last = health.pid().unwrap();
    end(&stop, &tracker).await;
    assert!(!is_alive(first) && !is_alive(last) && health.pid().is_none());
}

#[tokio::test]
async fn it_is_restarted_when_a_full_disk_has_space_again() {
    static FREE: AtomicU64 = AtomicU64::new(u64::MAX);
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let (address, health, first) = (server.address().clone(), server.health(), server.pid());
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    let checks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&checks);
    tracker.spawn(server.supervise_with(stop.clone(), Duration::from_millis(10), move |_: &Path| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(FREE.load(Ordering::SeqCst))
    }));
    FREE.store(1_000, Ordering::SeqCst);
    let seen = checks.load(Ordering::SeqCst) + 3;
    until("checks of the full disk", || checks.load(Ordering::SeqCst) >= seen).await;
    assert_eq!((health.restarts(), health.pid()), (0, first));
    FREE.store(u64::MAX, Ordering::SeqCst);
    until("a restart", || health.restarts() == 1).await;
    assert_ne!(health.pid(), first);
    fill(&address).await;
    end(&stop, &tracker).await;
}

#[tokio::test]
async fn it_is_restarted_when_its_folder_is_deleted() {
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options.clone()).await.unwrap();
    let (address, health) = (server.address().clone(), server.health());
    fill(&address).await;
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    tracker.spawn(server.supervise(stop.clone()));
    std::fs::remove_dir_all(&options.folder).unwrap();
    until("a restart", || health.restarts() == 1).await;
    assert_eq!(messages(&address).await, None);
    fill(&address).await;
    let second = NatsServer::start(options).await.unwrap_err();
    assert!(matches!(second, Error::InUse { .. }), "the folder is locked again: {second}");
    end(&stop, &tracker).await;
}

#[tokio::test]
async fn a_second_server_in_one_folder_is_refused_and_the_first_keeps_running() {
    let Some((_keep, options)) = real_server().await else { return };
    let first = NatsServer::start(options.clone()).await.unwrap();
    let refused = NatsServer::start(options.clone()).await.unwrap_err();
    let folder = options.folder.canonicalize().unwrap();
    assert_eq!(
        refused.to_string(),
        format!(
            "the folder {} belongs to another Loggia that is running; stop that one, or use another data folder",
            folder.display()
        )
    );
    fill(first.address()).await;
}

#[tokio::test]
async fn an_orphan_of_a_killed_owner_is_stopped_by_the_next_start() {
    let Some((_keep, options)) = real_server().await else { return };
    let first = NatsServer::start(options.clone()).await.unwrap();
    fill(first.address()).await;
    first.stop().await;
    // As a killed owner leaves it: running, without a lock, and not a child of this process.
    let start = "\"$0\" --config \"$1\" >/dev/null 2>&1 & echo $!";
    let config = options.folder.canonicalize().unwrap().join("nats.json");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", start]).arg(options.binary.as_ref().unwrap()).arg(config);
    let printed = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let orphan: u32 = printed.trim().parse().unwrap();
    let recorded = || std::fs::read_to_string(options.folder.join("nats.pid")).unwrap_or_default();
    until("the orphan's pid file", || recorded().trim() == printed.trim()).await;

    let second = NatsServer::start(options.clone()).await.unwrap();
    let is_gone =
        || !std::fs::read_to_string(format!("/proc/{orphan}/cmdline")).is_ok_and(|line| !line.is_empty());
    assert!(is_gone(), "the orphan {orphan} still runs");
    assert_ne!(second.pid(), Some(orphan));
    assert_eq!(messages(second.address()).await, Some(1));
}

#[tokio::test]
async fn a_server_runs_without_a_log_and_writes_it_once_it_can() {
    let Some((_keep, options)) = real_server().await else { return };
    let [log, printed] = ["nats.log", "nats.stderr"].map(|name| options.folder.join(name));
    for taken in [&log, &printed] {
        std::fs::create_dir_all(taken).unwrap();
    }
    let server = NatsServer::start(options.clone()).await.unwrap();
    let (address, health) = (server.address().clone(), server.health());
    fill(&address).await;
    let client = address.connect_options().connect(format!("nats://{address}")).await.unwrap();
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    tracker.spawn(server.supervise(stop.clone()));

    std::fs::remove_dir(&log).unwrap();
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the log", || logged().contains("Reloaded server configuration")).await;
    assert_eq!(messages(&address).await, Some(1));
    client.flush().await.unwrap();
    assert_eq!(client.statistics().connects.load(Ordering::Relaxed), 1, "the connection stayed");
    assert_eq!(health.restarts(), 0);
    end(&stop, &tracker).await;
    assert!(logged().contains("Server Exiting"), "{}", logged());
}

#[tokio::test]
async fn a_server_that_cannot_open_its_log_again_goes_on_without_it() {
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options.clone()).await.unwrap();
    let (address, health, first) = (server.address().clone(), server.health(), server.pid().unwrap());
    fill(&address).await;
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    tracker.spawn(server.supervise(stop.clone()));
    // As when it panics because the new file after a full one cannot be made.
    let log = options.folder.join("nats.log");
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    signal(first, Signal::KILL);
    until("a restart", || health.restarts() == 1).await;
    assert_eq!(messages(&address).await, Some(1));
    end(&stop, &tracker).await;
    let printed = std::fs::read_to_string(options.folder.join("nats.stderr")).unwrap();
    assert!(printed.contains("Server Exiting"), "its messages are kept: {printed}");
}

#[tokio::test]
async fn a_dropped_server_is_killed() {
    let Some((_keep, options)) = real_server().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let pid = server.pid().unwrap();
    drop(server);
    until("the end of the dropped server", || !is_alive(pid)).await;
}

#[tokio::test]
async fn an_old_server_and_another_program_are_refused_before_the_folder_is_created() {
    let folder = tempfile::tempdir().unwrap();
    for (answer, expected) in [
        ("nats-server: v2.9.10", "is nats-server 2.9.10, and Loggia needs 2.14.0 or newer"),
        ("hello", "cannot be used as nats-server: it does not state a version, but \"hello\""),
    ] {
        let binary = Some(script(folder.path().join("impostor"), &format!("echo \"{answer}\"")));
        let options = Options { binary, ..Options::new(folder.path().join("nats")) };
        let refused = NatsServer::start(options).await.unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(!folder.path().join("nats").exists());
}

#[tokio::test]
async fn the_message_of_a_server_that_ends_at_its_start_is_in_the_error() {
    let Some((_keep, mut options)) = real_server().await else { return };
    let real = options.binary.clone().unwrap();
    let text = format!(
        "[ $1 = --version ] && exec {} --version; echo 'nats-server: no' >&2; exit 3",
        real.display()
    );
    options.binary = Some(script(options.folder.with_file_name("ends"), &text));
    let refused = NatsServer::start(options.clone()).await.unwrap_err().to_string();
    let log = options.folder.canonicalize().unwrap().join("nats.log");
    let expected = format!(
        "nats-server ended at its start (exit status: 3): nats-server: no; its log is {}",
        log.display()
    );
    assert_eq!(refused, expected);
}
