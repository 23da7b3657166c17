//! A misconfigured role ends at its start with status 1 and a sentence that says what to do.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use async_nats::jetstream::{self, stream::Config};
use kit::nats::{Cluster, Nats};
use kit::process::{self, Loggia};
use process_role::ProcessRole;

use crate::service::{LOGGIA, TIMEOUT, json, spawn_on, writes};

/// Runs a role that ends by itself, and returns its standard error.
async fn run_to_end(mut command: Command, role: &str, data: &Path) -> String {
    command.arg(role);
    let mut loggia = Loggia::spawn_command(command, data);
    let status = loggia.ended(TIMEOUT).await;
    let sentence = loggia.stderr();
    assert_eq!(status.code(), Some(1), "{sentence}");
    // The log comes before the last line.
    sentence.lines().last().unwrap_or_default().to_owned()
}

/// Returns the files below a folder that other users can access.
fn accessible_to_others(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let (mut open, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = std::fs::symlink_metadata(&path).unwrap();
            let mode = found.permissions().mode() & 0o777;
            if mode & 0o077 != 0 && !found.is_symlink() {
                open.push(format!("{mode:o} {}", path.display()));
            }
            if found.is_dir() {
                folders.push(path);
            }
        }
    }
    open
}

#[tokio::test]
async fn files_are_private_and_an_accessible_folder_causes_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    // As from a shell with a permissive umask.
    let mut command = process::command("sh", &data);
    command.args(["-c", "umask 022; exec \"$0\" \"$@\"", LOGGIA.as_str(), "up", "--no-demo"]);
    let mut loggia = Loggia::spawn_command(command, &data);
    loggia.ready().await;
    assert_eq!(accessible_to_others(&data), [""; 0]);
    assert!(loggia.stderr().contains("is open to other users of this machine"), "{}", loggia.stderr());
    assert!(loggia.terminate().await.success());
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    loggia.ready().await;
    assert!(!loggia.stderr().contains("is open to other users"), "{}", loggia.stderr());
}

/// Starts a role on a NATS server without authentication.
fn on(nats: &Nats, data: &Path) -> Command {
    let mut command = process::command(&LOGGIA, data);
    command.env("LOGGIA_NATS_URL", nats.url());
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_login_is_rejected() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let address = cluster.url_of(0).replace("tls://", "");
    let with = |role: ProcessRole| {
        let mut command = process::command(&LOGGIA, folder.path());
        cluster.settings(&mut command, role);
        command
    };
    // A seed that the server does not accept.
    let stranger = folder.path().join("stranger.nk");
    std::fs::write(&stranger, nkeys::KeyPair::new_user().seed().unwrap()).unwrap();
    let mut command = with(ProcessRole::Serve);
    command.env("LOGGIA_NATS_CREDS", &stranger);
    assert_eq!(
        run_to_end(command, "serve", folder.path()).await,
        format!(
            "loggia: the NATS server at {address} refuses the login; check nats_creds, or user and password in nats_url"
        )
    );
    // The seed of another role, for each role.
    for (role, other) in [
        (ProcessRole::Serve, ProcessRole::Project),
        (ProcessRole::Project, ProcessRole::Serve),
        (ProcessRole::Write, ProcessRole::Operator),
        (ProcessRole::Up, ProcessRole::Write),
    ] {
        let sentence = run_to_end(with(other), role.name(), folder.path()).await;
        assert!(
            sentence.starts_with(&format!(
                "loggia: nats_creds: the NATS user is not that of the role “{role}”: it "
            )),
            "{sentence}"
        );
        assert!(sentence.contains(&format!("give this process the file users/{role}.nk")), "{sentence}");
    }
    // No certificate authority, and a wrong one.
    let mut command = with(ProcessRole::Serve);
    command.env_remove("LOGGIA_NATS_CA");
    let sentence = run_to_end(command, "serve", folder.path()).await;
    assert!(sentence.starts_with(&format!(
        "loggia: the NATS server at {address} shows a certificate that is not believed"
    )));
    assert!(
        sentence.ends_with("set nats_ca to the file of its authority, and nats_url to a name that is in it"),
        "{sentence}"
    );
    let mut command = with(ProcessRole::Serve);
    command.env("LOGGIA_NATS_CA", folder.path().join("absent.pem"));
    let sentence = run_to_end(command, "serve", folder.path()).await;
    assert!(sentence.starts_with("loggia: nats_ca: ") && sentence.contains("cannot be read"), "{sentence}");
    let mut command = with(ProcessRole::Serve);
    command.env("LOGGIA_NATS_CREDS", cluster.authority());
    let sentence = run_to_end(command, "serve", folder.path()).await;
    assert!(sentence.contains("contains neither a token with its key nor the seed of a user"), "{sentence}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_or_changed_stream_is_rejected() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let context = jetstream::new(nats.client().await);
    let foreign = |name: &str, subject: &str| Config {
        name: name.into(),
        subjects: vec![subject.into()],
        ..Config::default()
    };
    context.create_stream(foreign("EVENTS", "loggia.curation.*")).await.unwrap();
    assert_eq!(
        run_to_end(on(&nats, folder.path()), "write", folder.path()).await,
        "loggia: the stream EVENTS on NATS was not made by Loggia; delete or rename it, or use another NATS account"
    );
    context.delete_stream("EVENTS").await.unwrap();
    context.create_stream(foreign("USAGE_FREE", "loggia.usage.free.*.*")).await.unwrap();
    let mut command = on(&nats, folder.path());
    command.args(["--auth", "keys"]);
    assert_eq!(
        run_to_end(command, "write", folder.path()).await,
        "loggia: the stream USAGE_FREE on NATS was not made by Loggia; delete or rename it, or use another NATS account"
    );
    context.delete_stream("USAGE_FREE").await.unwrap();
    // The stream of the first attempt is changed by another program.
    let mut config = context.get_stream("EVENTS").await.unwrap().cached_info().config.clone();
    config.max_messages = 1_000;
    context.update_stream(&config).await.unwrap();
    let sentence = run_to_end(on(&nats, folder.path()), "write", folder.path()).await;
    assert!(
        sentence.starts_with("loggia: the stream EVENTS on NATS has another setting of max_msgs"),
        "{sentence}"
    );
    config.max_messages = -1;
    context.update_stream(&config).await.unwrap();
    // It belongs to another store.
    let other = folder.path().join("other");
    let sentence = run_to_end(on(&nats, &other), "write", &other).await;
    assert!(
        sentence.starts_with("loggia: the stream EVENTS on NATS belongs to the event store "),
        "{sentence}"
    );
    // Permanently more replicas than servers.
    context.delete_stream("EVENTS").await.unwrap();
    let mut command = on(&nats, folder.path());
    command.args(["--nats-replicas", "3"]);
    assert_eq!(
        run_to_end(command, "write", folder.path()).await,
        "loggia: nats_replicas is 3, and the NATS server is in no cluster, so the stream EVENTS cannot be kept on 3 \
         servers; set it to 1, or name the servers of a cluster in nats_url"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_older_than_the_stream_is_refused() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (data, backup, restored) =
        (folder.path().join("data"), folder.path().join("backup"), folder.path().join("restored"));
    let import = |name: &str| {
        let file = folder.path().join("in.ndjson");
        std::fs::write(&file, format!("{{\"name\":\"{name}\",\"category\":\"art\"}}\n")).unwrap();
        json(&data, &["import", file.to_str().unwrap()]);
    };
    import("One");
    json(&data, &["backup", backup.to_str().unwrap()]);
    let mut writing = spawn_on(&nats, &data, "write");
    writes(&data).await;
    import("Two");
    let context = jetstream::new(nats.client().await);
    kit::wait_until(TIMEOUT, "both events on NATS", async || {
        context.get_stream("EVENTS").await.is_ok_and(|stream| stream.cached_info().state.last_sequence == 2)
    })
    .await;
    assert!(writing.terminate().await.success());
    json(&restored, &["restore", backup.to_str().unwrap()]);
    assert_eq!(
        run_to_end(on(&nats, &restored), "write", &restored).await,
        "loggia: the stream EVENTS has 2 events, the event store only 1: the store is older than what readers have seen. \
         If it was restored on purpose, delete the stream and rebuild the projections; else bring back the newer store"
    );
}

/// A server of another cluster, without authentication.
struct ForeignServer {
    child: Child,
    port: u16,
}

impl ForeignServer {
    async fn start(cluster: &str, folder: &Path) -> ForeignServer {
        let binary = kit::nats::available().await.unwrap();
        let ports = folder.join(format!("{cluster}.ports"));
        std::fs::create_dir_all(&ports).unwrap();
        let conf = ports.with_extension("conf");
        let listen = "listen: \"127.0.0.1:-1\"";
        let text = format!("{listen}\ncluster {{ name: {cluster}\n{listen} }}\nports_file_dir: {ports:?}\n");
        std::fs::write(&conf, text).unwrap();
        let child = Command::new(binary).arg("--config").arg(&conf).stderr(Stdio::null()).spawn().unwrap();
        let port = kit::wait_for(TIMEOUT, "the server's port", async || {
            let file = ports.read_dir().unwrap().next()?.unwrap().path();
            let running: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
            running["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
        })
        .await;
        ForeignServer { child, port }
    }
}

impl Drop for ForeignServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_two_clusters_are_rejected() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let one = ForeignServer::start("one", folder.path()).await;
    let two = ForeignServer::start("two", folder.path()).await;
    let mut command = process::command(&LOGGIA, folder.path());
    command.env("LOGGIA_NATS_URL", format!("nats://127.0.0.1:{},nats://127.0.0.1:{}", one.port, two.port));
    assert_eq!(
        run_to_end(command, "project", folder.path()).await,
        format!(
            "loggia: nats_url names servers that do not belong together: 127.0.0.1:{} is of the cluster “one”, \
             127.0.0.1:{} is of the cluster “two”; name servers of one cluster",
            one.port, two.port
        )
    );
}
