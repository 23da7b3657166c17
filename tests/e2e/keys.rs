//! `loggia keys`, with and without a service.

use std::path::Path;

use data_encoding::HEXLOWER;
use kit::process::{self, Loggia};
use kit::{ProgramOutput, any_file_contains};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json};

const ADA: &str = "Ada.Pelt@example.org";
const NAME: &str = "analytical-engine";
const FORM: &str = "application/x-www-form-urlencoded";

fn run(folder: &Path, args: &[&str]) -> ProgramOutput {
    process::run(&LOGGIA, folder, args)
}

fn issue(folder: &Path, email: &str) -> Value {
    run_json(folder, &["keys", "issue", "--email", email]).pop().unwrap()
}

fn id(issued: &Value) -> &str {
    issued["key_id"].as_str().unwrap()
}

/// Returns the address in the forms in which a file could contain it: plain, URL-encoded, hexadecimal.
fn written(address: &str) -> Vec<String> {
    let address = address.to_lowercase();
    let hex = HEXLOWER.encode(address.as_bytes());
    let part = address.split('@').next().unwrap().to_owned();
    vec![part, address.replace('@', "%40"), hex]
}

/// Returns the sentence with which a command fails.
fn failure(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args).ended(1);
    assert!(output.stdout.is_empty(), "{output:?}");
    output.stderr.trim().to_owned()
}

#[test]
fn a_key_is_printed_once_and_stored_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let issued = issue(folder.path(), ADA);
    let key = issued["key"].as_str().unwrap();
    assert!(key.parse::<schemas::key::Key>().is_ok(), "{key}");
    assert_eq!(issued, json!({"key": key, "key_id": &key[9..17], "tier": "free", "quota": 200}));

    let args = ["keys", "issue", "--email", ADA, "--name", " Lap\u{301}top ", "--tier", "studio"];
    let output = run(folder.path(), &args).success();
    assert_eq!(output.stderr, "");
    let text = output.stdout;
    let (second, rest) = text.split_once('\n').unwrap();
    let second_id = &second[9..17];
    assert_eq!(
        rest,
        format!(
            "\nKeep it: it is shown only once. Its id is {second_id}, its tier studio: 5,000 calls per calendar month \
             (UTC).\n"
        )
    );
    let listed = run_json(folder.path(), &["keys", "list"]);
    let row = |key: &str, name: Value, tier: &str, proven: bool, at: usize| {
        json!({"key_id": &key[9..17], "hint": &key[51..], "name": name, "tier": tier,
            "created_at": listed[at]["created_at"], "last_used_at": null, "revoked_at": null, "proven": proven, "email": ADA})
    };
    let expected = [row(key, Value::Null, "free", false, 0), row(second, json!("Laṕtop"), "studio", true, 1)];
    assert_eq!(listed, expected);
    for secret in [key, second, "ada.pelt", "Pelt@example", "Laṕtop"] {
        assert!(!any_file_contains(folder.path(), secret), "{secret}");
    }
}

#[test]
fn keys_change_tier_and_are_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (issue(folder.path(), ADA), issue(folder.path(), ADA));
    let now = |key: &Value, tier: &str, revoked: bool, proven: bool| json!({"key_id": id(key), "tier": tier, "revoked": revoked, "proven": proven});
    let answer = |args: &[&str]| run_json(folder.path(), args).pop().unwrap();
    assert_eq!(
        answer(&["keys", "tier", "--email", "ADA.pelt@EXAMPLE.org", "--key", id(&a), "studio"]),
        json!({"keys": [now(&a, "studio", false, true)], "position": 5, "changed": true})
    );
    assert_eq!(
        answer(&["keys", "revoke", id(&b)]),
        json!({"keys": [now(&b, "free", true, false)], "position": 6, "changed": true})
    );
    assert_eq!(
        answer(&["keys", "revoke", id(&b)]),
        json!({"keys": [now(&b, "free", true, false)], "position": 0, "changed": false})
    );
    let text = run(folder.path(), &["keys", "tier", "--email", ADA, "pro"]);
    assert_eq!(text.stdout, format!("{} is now in tier pro: 25,000 calls per month\n", id(&a)));
    assert_eq!(
        answer(&["keys", "erase", "--email", ADA]),
        json!({"keys": [now(&a, "pro", true, true), now(&b, "free", true, false)], "position": 8, "changed": true})
    );
    let again = run(folder.path(), &["keys", "erase", "--email", ADA]);
    assert_eq!(again.status.code(), Some(1), "an address that is not held may be mistyped: {again:?}");
    let stderr = again.stderr;
    assert!(stderr.starts_with("nothing was erased: the vault does not have this address"), "{stderr}");
    let rows = run_json(folder.path(), &["keys", "list"]);
    assert!(rows.iter().all(|row| row["email"].is_null() && row["revoked_at"].is_string()), "{rows:?}");
    assert!(run_json(folder.path(), &["keys", "list", "--email", ADA]).is_empty());
}

#[test]
fn impossible_key_commands_are_rejected_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let failure = |args: &[&str]| failure(folder.path(), args);
    assert_eq!(
        failure(&["keys", "issue", "--email", "ada"]),
        "loggia: the address cannot be used: it has no @; write it as name@example.org"
    );
    assert_eq!(
        failure(&["keys", "issue", "--email", ADA, "--tier", "gold"]),
        "loggia: there is no tier “gold”; the tiers are free, studio, pro"
    );
    assert!(
        failure(&["keys", "revoke", "log_live_x"])
            .starts_with("loggia: a key is named by its id, not by its text; `loggia keys list` shows it"),
    );
    assert_eq!(
        failure(&["keys", "tier", "--email", ADA, "studio"]),
        "there is no key under this address that is not revoked; issue one first"
    );
    for _ in 0..3 {
        issue(folder.path(), ADA);
    }
    assert!(failure(&["keys", "issue", "--email", ADA]).starts_with(
        "this address already has 3 keys; if you revoke one now, you can create another from 1 "
    ));
    let secret = folder.path().join("store/vault.key");
    std::fs::write(&secret, "00".repeat(32)).unwrap();
    assert_eq!(
        failure(&["keys", "list"]),
        format!(
            "loggia: the secret of the vault cannot be used: {} contains a secret other than the one of this vault; set \
             secret_file (LOGGIA_SECRET_FILE) to the file with the secret that the vault was made with",
            secret.display()
        )
    );
}

#[tokio::test]
async fn key_commands_use_the_running_service_and_backups_contain_addresses() {
    let Some(mut service) = Service::empty().await else { return };
    let folder = service.folder.path().to_owned();
    let issued = issue(&folder, ADA);
    assert_eq!(service.json(&["keys", "revoke", id(&issued)])[0]["position"], 3);
    assert_eq!(service.json(&["keys", "list", "--email", ADA])[0]["key_id"], issued["key_id"]);
    assert!(
        !any_file_contains(&folder, issued["key"].as_str().unwrap()),
        "neither the log nor NATS has the key"
    );
    assert!(!any_file_contains(&folder, "ada.pelt"), "nor the address");
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, restored) = (elsewhere.path().join("backup"), elsewhere.path().join("restored"));
    service.json(&["backup", backup.to_str().unwrap()]);
    assert!(service.loggia.terminate().await.success());

    run_json(&restored, &["restore", backup.to_str().unwrap()]);
    let rows = run_json(&restored, &["keys", "list"]);
    assert_eq!((&rows[0]["key_id"], &rows[0]["email"]), (&issued["key_id"], &json!(ADA)));
}

#[tokio::test]
async fn a_tier_with_keys_cannot_be_removed() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let issue = |tier: &str| {
        let args = ["keys", "issue", "--email", ADA, "--tier", tier];
        run_json(folder.path(), &args).pop().unwrap()
    };
    let (revoked, _, _) = (issue("pro"), issue("studio"), issue("studio"));
    run_json(folder.path(), &["keys", "revoke", id(&revoked)]);
    let start = || {
        let mut command = process::command(&LOGGIA, folder.path());
        command.args(["up", "--no-demo"]).env("LOGGIA_AUTH", "keys").env("LOGGIA_TIERS", "free=3, gold=9");
        Loggia::spawn_command(command, folder.path())
    };
    let mut refused = start();
    assert_eq!(refused.ended(TIMEOUT).await.code(), Some(1));
    let stderr = refused.stderr();
    let expected = "loggia: tiers is “free=3, gold=9”, and 2 keys are in studio; keep the tier in LOGGIA_TIERS, or move the \
                  keys with `loggia keys tier`";
    // Background threads may log after it.
    assert!(stderr.lines().any(|line| line == expected), "{stderr}");
    drop(refused);
    run_json(folder.path(), &["keys", "tier", "--email", ADA, "free"]);
    let mut service = start();
    service.address().await;
    assert!(service.terminate().await.success());
}

/// An older backup contains an address that was erased since, and its active key.
#[tokio::test]
async fn an_erased_address_is_in_no_file_and_is_erased_from_a_restored_older_backup() {
    let Some(mut service) = Service::with(&["--no-demo", "--auth", "keys"]).await else { return };
    let (folder, elsewhere) = (service.folder.path().to_owned(), tempfile::tempdir().unwrap());
    let at = |name: &str| elsewhere.path().join(name).to_str().unwrap().to_owned();
    let (ada, bob) = (issue(&folder, ADA), issue(&folder, "bob@example.org"));
    let named = service.json(&["keys", "issue", "--email", ADA, "--name", NAME]).pop().unwrap();
    let (key, http) = (named["key"].as_str().unwrap(), &service.http);
    let authorization = format!("Bearer {key}");
    let bearer = [("authorization", authorization.as_str())];
    let names = [
        http.get(&format!("/v1/usage?key={key}")).await.json()["key"]["name"].clone(),
        http.send("GET", "/v1/usage", &bearer, "").await.json()["key"]["name"].clone(),
        run_json(&folder, &["keys", "list", "--email", ADA])[1]["name"].clone(),
    ];
    assert_eq!(names, [NAME, NAME, NAME]);
    let page = http.send("POST", "/usage", &[("content-type", FORM)], format!("key={key}")).await;
    assert!(page.text().contains(NAME), "{}", page.text());
    service.json(&["backup", &at("older")]);
    service.json(&["keys", "erase", "--email", ADA]);
    service.json(&["backup", &at("newer")]);
    assert!(service.loggia.terminate().await.success());
    let vault = |folder: &Path| std::fs::read_to_string(folder.join("erasures.ndjson")).unwrap();
    assert_eq!(vault(&folder.join("store")), vault(Path::new(&at("newer"))));
    for place in [&folder, Path::new(&at("newer"))] {
        for text in written(ADA).into_iter().chain(written(NAME)) {
            assert!(!any_file_contains(place, &text), "{text} in {}", place.display());
        }
    }

    // Without the journal, the address and its key are back.
    let plain = elsewhere.path().join("plain");
    let restored = run(&plain, &["restore", &at("older"), "--json"]).success();
    assert!(restored.stderr.contains("restore with --erasures"), "{restored}");
    let back = run_json(&plain, &["keys", "list", "--email", ADA]);
    assert_eq!((back.len(), &back[1]["name"]), (2, &json!(NAME)));

    let journals = [folder.join("store/erasures.ndjson"), Path::new(&at("newer")).join("erasures.ndjson")];
    for (number, journal) in journals.iter().enumerate() {
        let target = elsewhere.path().join(format!("target-{number}"));
        let args = ["restore", &at("older"), "--erasures", journal.to_str().unwrap()];
        assert_eq!(run_json(&target, &args)[0]["erased_again"], 1);
        assert!(run_json(&target, &["keys", "list", "--email", ADA]).is_empty());
        let rows = run_json(&target, &["keys", "list"]);
        let row = |issued: &Value| rows.iter().find(|row| row["key_id"] == issued["key_id"]).unwrap().clone();
        assert!(row(&ada)["email"].is_null() && row(&ada)["revoked_at"].is_string(), "{rows:?}");
        assert!(row(&bob)["email"].is_string() && row(&bob)["revoked_at"].is_null(), "{rows:?}");
        let verified = run_json(&target, &["events", "verify"]).pop().unwrap();
        assert_eq!(verified["events"], 6, "the erasure is in the log again: {verified}");
    }
    let bad = at("bad.ndjson");
    std::fs::write(&bad, "ada@example.org\n").unwrap();
    let refused = failure(&elsewhere.path().join("none"), &["restore", &at("older"), "--erasures", &bad]);
    assert!(refused.contains("line 1 of") && !elsewhere.path().join("none").exists(), "{refused}");
}

#[test]
fn events_name_the_actor() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("one.ndjson"));
    std::fs::write(&file, "{\"name\": \"One\", \"category\": \"art\"}\n").unwrap();
    let key_id =
        run_json(&data, &["keys", "issue", "--email", ADA, "--actor", "ann"]).pop().unwrap()["key_id"].take();
    run_json(&data, &["keys", "tier", "--email", ADA, "studio", "--actor", "bea"]);
    run_json(&data, &["keys", "revoke", key_id.as_str().unwrap(), "--actor", "cleo"]);
    run_json(&data, &["import", file.to_str().unwrap(), "--actor", "dora"]);
    let mut command = process::command(&LOGGIA, &data);
    command.args(["curate", "withdraw", "one", "--reason", "Sold."]).env("USER", "eve");
    ProgramOutput::of(&mut command).success();
    let events = run_json(&data, &["events", "tail", "--from", "1", "--no-follow"]);
    let mut actors: Vec<&str> = events.iter().map(|event| event["actor"].as_str().unwrap()).collect();
    actors.dedup();
    assert_eq!(actors, ["ann", "bea", "cleo", "dora", "eve"]);
    let refused = failure(&data, &["keys", "erase", "--email", ADA, "--actor", " "]);
    assert_eq!(
        refused,
        "loggia: name who acts with --actor NAME: “ ” is not an actor: a name of 1 to 200 characters on one line"
    );
}
