use std::os::unix::fs::PermissionsExt;

use nkeys::KeyPair;
use tempfile::TempDir;

use super::*;
use crate::user::Responses;

fn user(name: &'static str) -> User {
    User {
        name,
        inbox: format!("_INBOX.{name}"),
        publishes: vec!["a.*", "$JS.API.>"],
        must_publish: vec!["a.*"],
        subscribes: vec![format!("_INBOX.{name}.>")],
        responses: (name == "reader").then_some(Responses { max: -1, minutes: 5 }),
    }
}

fn config(servers: &[&str]) -> ClusterConfig {
    ClusterConfig {
        cluster: "loggia".into(),
        servers: servers.iter().map(|server| server.parse().unwrap()).collect(),
        users: vec![user("reader"), user("writer")],
        certificate: None,
        now: "2026-11-21T12:00:00Z".parse().unwrap(),
    }
}

fn three() -> ClusterConfig {
    config(&["n1=127.0.0.1:4222:6222", "n2=127.0.0.1:4223:6223", "n3=nats.example.org:4222"])
}

/// Returns a temporary folder, and the path of the folder in it to write.
fn new_folder() -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("nats");
    (outer, folder)
}

fn text(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap()
}

fn changes(made: &[WrittenFile]) -> Vec<(String, Change)> {
    made.iter().map(|made| (made.path.display().to_string(), made.change)).collect()
}

/// Has nats-server check a configuration; `None` without a nats-server.
async fn check_with_server(folder: &Path) -> Option<Result<(), String>> {
    let binary = crate::tests::nats_server().await?;
    let output = std::process::Command::new(binary)
        .args(["-t", "--config", CONFIGURATION])
        .current_dir(folder)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { Ok(()) } else { Err(printed) })
}

#[tokio::test]
async fn nats_server_accepts_the_configuration() {
    let outer = tempfile::tempdir().unwrap();
    for (name, wanted) in [("three", three()), ("one", config(&["n1=127.0.0.1:4222"]))] {
        let folder = outer.path().join(name);
        write(&folder, &wanted).unwrap();
        for server in &wanted.servers {
            let Some(read) = check_with_server(&folder.join(&server.name)).await else { return };
            assert_eq!(read, Ok(()), "{name} {}", server.name);
        }
    }
    let conf = text(&outer.path().join("one"), "n1/nats.conf");
    assert!(!conf.contains("cluster"), "one server is not a cluster: {conf}");
}

#[test]
fn all_files_are_written_and_secrets_are_readable_by_their_owner_only() {
    let (outer, folder) = new_folder();
    let made = write(&folder, &three()).unwrap();
    let paths: Vec<String> = changes(&made).into_iter().map(|(path, _)| path).collect();
    let of = |server| ["ca.pem", "server.pem", "nats.conf"].map(|file| format!("{server}/{file}"));
    assert_eq!(paths[..4], ["users/reader.nk", "users/writer.nk", "ca.key", "ca.pem"]);
    assert_eq!(paths[4..], ["n1", "n2", "n3"].map(of).concat());
    assert!(made.iter().all(|made| made.change == Change::New));
    for made in &made {
        let mode = std::fs::metadata(folder.join(&made.path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if made.secret { 0o600 } else { 0o644 }, "{}", made.path.display());
    }
    let left: Vec<_> = std::fs::read_dir(outer.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["nats"], "no staging folder is left");
    // A server has only the public keys of users.
    for role in ["reader", "writer"] {
        let seed = text(&folder, &format!("users/{role}.nk"));
        let conf = text(&folder, "n1/nats.conf");
        assert!(!conf.contains(seed.trim()));
        assert!(conf.contains(&KeyPair::from_seed(seed.trim()).unwrap().public_key()), "{role}");
    }
    assert!(text(&folder, "n3/nats.conf").contains("\"tls://127.0.0.1:6223\""));
    assert!(!text(&folder, "n3/nats.conf").contains("\"tls://nats.example.org:6222\""));
}

#[test]
fn written_again_the_keys_are_kept_and_a_server_is_added() {
    let (_outer, folder) = new_folder();
    write(&folder, &config(&["n1=127.0.0.1:4222:6222"])).unwrap();
    let before = [text(&folder, "users/writer.nk"), text(&folder, "ca.key"), text(&folder, "ca.pem")];
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    let made = write(&folder, &three()).unwrap();
    assert_eq!([text(&folder, "users/writer.nk"), text(&folder, "ca.key"), text(&folder, "ca.pem")], before);
    assert_eq!(text(&folder, "notes.txt"), "mine");
    let of = |path: &str| changes(&made).into_iter().find(|(found, _)| found == path).unwrap().1;
    assert_eq!(of("users/writer.nk"), Change::Kept);
    assert_eq!(of("ca.key"), Change::Kept);
    assert_eq!(of("n1/nats.conf"), Change::Changed);
    assert_eq!(of("n1/server.pem"), Change::Changed, "a certificate is renewed");
    assert_eq!(of("n2/nats.conf"), Change::New);
    assert!(
        !folder.read_dir().unwrap().any(|e| e.unwrap().file_name().to_string_lossy().starts_with(".new"))
    );
}

#[test]
fn a_key_that_cannot_be_read_is_not_overwritten() {
    let (_outer, folder) = new_folder();
    write(&folder, &three()).unwrap();
    for (path, complaint) in
        [("users/reader.nk", "contains no seed of a NATS user"), ("ca.key", "contains no PEM key")]
    {
        let good = text(&folder, path);
        std::fs::write(folder.join(path), "damaged").unwrap();
        let conf = text(&folder, "n1/nats.conf");
        let refused = write(&folder, &three()).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{} {complaint}", folder.join(path).display())), "{refused}");
        assert!(refused.contains("it is not overwritten"), "{refused}");
        assert_eq!(text(&folder, path), "damaged");
        assert_eq!(text(&folder, "n1/nats.conf"), conf);
        std::fs::write(folder.join(path), good).unwrap();
    }
    std::fs::remove_file(folder.join("ca.key")).unwrap();
    let refused = write(&folder, &three()).unwrap_err().to_string();
    assert!(refused.contains("ca.pem is there without ca.key"), "{refused}");
}

#[test]
fn a_set_that_was_cut_off_is_completed() {
    let (_outer, folder) = new_folder();
    write(&folder, &three()).unwrap();
    let seed = text(&folder, "users/writer.nk");
    for path in ["ca.pem", "n2/nats.conf", "users/reader.nk"] {
        std::fs::remove_file(folder.join(path)).unwrap();
    }
    write(&folder, &three()).unwrap();
    assert_eq!(text(&folder, "users/writer.nk"), seed);
    let up = KeyPair::from_seed(text(&folder, "users/reader.nk").trim()).unwrap().public_key();
    for server in ["n1", "n2", "n3"] {
        assert!(text(&folder, &format!("{server}/nats.conf")).contains(&up), "{server}");
        assert_eq!(text(&folder, &format!("{server}/ca.pem")), text(&folder, "ca.pem"));
    }
}

#[test]
fn a_folder_that_cannot_be_written_leaves_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let file = outer.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = write(&file.join("nats"), &three()).unwrap_err().to_string();
    assert!(refused.contains("cannot be used"), "{refused}");
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_taken() {
    let outer = tempfile::tempdir().unwrap();
    let (source, folder) = (outer.path().join("source"), outer.path().join("nats"));
    write(&source, &config(&["a=127.0.0.1:4222"])).unwrap();
    write(&outer.path().join("other"), &config(&["a=127.0.0.1:4222"])).unwrap();
    // Its file holds both, and either is found in it.
    let pem = source.join("a/server.pem");
    let given = |key: PathBuf| ClusterConfig {
        certificate: Some(GivenCertificate {
            certificate: pem.clone(),
            key,
            authority: source.join("ca.pem"),
        }),
        ..three()
    };
    let other = outer.path().join("other/a/server.pem");
    let refused = write(&folder, &given(other.clone())).unwrap_err().to_string();
    assert!(
        refused.starts_with(&format!("--tls-key: {} is not the key of the certificate", other.display())),
        "{refused}"
    );
    assert!(!folder.exists());
    write(&folder, &given(pem.clone())).unwrap();
    assert!(!folder.join("ca.key").exists());
    assert_eq!(text(&folder, "n1/ca.pem"), text(&source, "ca.pem"));
    if let Some(read) = check_with_server(&folder.join("n1")).await {
        assert_eq!(read, Ok(()));
    }
    let refused = write(&folder, &three()).unwrap_err().to_string();
    assert!(refused.contains("give --tls-cert, --tls-key and --tls-ca again"), "{refused}");
}

#[test]
fn names_that_collide_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |wanted: ClusterConfig| write(&folder.path().join("x"), &wanted).unwrap_err().to_string();
    assert_eq!(refused(config(&["a=h:1", "a=i:1"])), "--server: a is given twice");
    assert_eq!(refused(config(&["a=h:1", "b=h:2"])), "--server: a port of h is given twice");
    let named = ClusterConfig { cluster: "my cluster".into(), ..three() };
    assert_eq!(refused(named), "--cluster is “my cluster”; use at most 63 letters, digits, - and _");
}
