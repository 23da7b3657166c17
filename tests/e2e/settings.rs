//! Valid and invalid settings.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use kit::{ProgramOutput, process, skipped};
use serde_json::{Value, json};

use crate::service::LOGGIA;

/// Runs a command with further variables.
fn run(data: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> ProgramOutput {
    let mut command = process::command(&LOGGIA, data);
    ProgramOutput::of(command.args(arguments).envs(variables.iter().copied()))
}

#[test]
fn invalid_settings_are_wrong_usage_and_all_reported_together() {
    let data = tempfile::tempdir().unwrap();
    let wrong = [("LOGGIA_LISTEN", ":8080"), ("LOGGIA_DRAIN", "5ss")];
    let expected = "loggia: listen is “:8080” (variable LOGGIA_LISTEN), which cannot be used: expected an IP address \
                    and a port such as 127.0.0.1:8080; 0.0.0.0:8080 means all addresses of this machine\ndrain is \
                    “5ss” (variable LOGGIA_DRAIN), which cannot be used: expected whole seconds from 0s to 60s";
    assert_eq!(run(data.path(), &wrong, &["up"]).ended(2).stderr.trim(), expected);
    run(data.path(), &[], &["up", "--data", ""]).ended(2);
    let text = run(data.path(), &[], &["config", "--config", "/no/such.toml"]).ended(2).stderr;
    assert!(text.starts_with("loggia: the settings file /no/such.toml cannot be read"), "{text}");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn an_unknown_variable_causes_a_warning_in_the_format_of_the_log() {
    let data = tempfile::tempdir().unwrap();
    let variables = [("LOGGIA_LISTN", "0.0.0.0:1"), ("LOGGIA_LOG_FORMAT", "json")];
    let text = run(data.path(), &variables, &["config"]).success().stderr;
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&line["level"], &line["target"]), (&json!("WARN"), &json!("loggia")));
    let expected =
        "the variable LOGGIA_LISTN is not a setting and has no effect; did you mean LOGGIA_LISTEN?";
    assert_eq!(line["message"], expected);
}

#[test]
fn config_check_finds_what_prevents_a_start_and_starts_nothing() {
    let data = tempfile::tempdir().unwrap();
    let check = |variables: &[(&str, &str)]| {
        let output = run(data.path(), variables, &["config", "--check", "--json"]);
        let answer = output.json();
        let findings = answer["findings"].as_array().unwrap().iter();
        let found = findings.map(|found| {
            let text = |member: &str| found[member].as_str().unwrap().to_owned();
            (text("about"), text("reason"))
        });
        (output.status.code(), found.collect::<Vec<(String, String)>>())
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (status, found) = check(&[
        ("LOGGIA_LISTEN", address.as_str()),
        ("LOGGIA_NATS_SERVER", "/no/nats-server"),
        ("LOGGIA_SECRET_FILE", "/no/vault.key"),
        ("LOGGIA_SNAPSHOT", "/no/snapshot"),
    ]);
    assert_eq!(status, Some(1));
    let about: Vec<&str> = found.iter().map(|(about, _)| about.as_str()).collect();
    assert_eq!(about, ["listen", "nats_server", "secret_file", "snapshot"], "{found:?}");
    assert_eq!(
        found[0].1,
        format!("{address} is in use by another program; stop it, or listen on another address")
    );
    let (_, found) = check(&[("LOGGIA_NATS_URL", "nats://127.0.0.1:1")]);
    assert!(found[0].1.contains("does not answer"), "{found:?}");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn config_check_finds_keys_in_a_removed_tier() {
    let data = tempfile::tempdir().unwrap();
    run(data.path(), &[], &["keys", "issue", "--email", "a@b.example", "--tier", "studio"]).success();
    let tiers = |tiers| [("LOGGIA_AUTH", "keys"), ("LOGGIA_TIERS", tiers)];
    let checked = run(data.path(), &tiers("free=3, gold=9"), &["config", "--check"]);
    let fault = "store: tiers is “free=3, gold=9”, and 1 key is in studio; keep the tier";
    assert!(checked.stdout.contains(fault), "{checked}");
    let checked = run(data.path(), &tiers("free=3, studio=9"), &["config", "--check"]);
    assert!(!checked.stdout.contains("studio"));
}

fn owners(folder: &Path) -> Vec<(String, u32)> {
    let (mut all, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = std::fs::symlink_metadata(&path).unwrap();
            if found.is_dir() {
                folders.push(path.clone());
            }
            all.push((path.display().to_string(), found.uid()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_folder_of_another_user_is_never_changed() {
    const OTHER: u32 = 12_345;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = folder.path().join("one.ndjson");
    std::fs::write(&file, "{\"name\": \"One\", \"category\": \"art\"}\n").unwrap();
    let import = ["import", file.to_str().unwrap()];
    run(&data, &[], &import).success();
    for (path, _) in owners(&data) {
        if chown(&path, Some(OTHER), Some(OTHER)).is_err() {
            return skipped("only root can give files to another user");
        }
    }
    let before = owners(&data);
    let backup = folder.path().join("backup");
    let commands: [&[&str]; 9] = [
        &import,
        &["up", "--no-demo"],
        &["rebuild", "catalog"],
        &["verify"],
        &["export"],
        &["events", "verify"],
        &["audit", "verify"],
        &["keys", "list"],
        &["backup", backup.to_str().unwrap()],
    ];
    for command in commands {
        let text = run(&data, &[], command).ended(1).stderr;
        assert!(text.contains("belongs to the user with the id 12345"), "{command:?}: {text}");
        assert!(text.contains("Run it as that user"), "{command:?}: {text}");
        assert_eq!(owners(&data), before, "{command:?}");
    }
}
