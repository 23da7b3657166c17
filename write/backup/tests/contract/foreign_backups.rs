//! Backups that somebody else made: the bytes are those that their manifests name, and the files are not what Loggia writes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use backup::{BackupError, LastBackup, Manifest};
use schemas::hash::Hash;
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::incremental_backups::BackupSite;
use crate::names;

/// Carries out statements on a database of a backup, and writes its new bytes into the manifest.
async fn change(backup: &Path, name: &str, statements: &str) {
    let path = backup.join(name);
    let mut hand = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
    let sha256 = Hash(Sha256::digest(fs::read(&path).unwrap()).into());
    let mut manifest = Manifest::read(backup).unwrap();
    match name {
        "events.db" | "events.increment.db" => manifest.sha256 = sha256,
        "usage.db" | "usage.increment.db" => manifest.ledger.as_mut().unwrap().sha256 = sha256,
        name => manifest.files.iter_mut().find(|file| file.name == name).unwrap().sha256 = sha256,
    }
    write(backup, &manifest);
}

fn write(backup: &Path, manifest: &Manifest) {
    fs::write(backup.join("manifest.json"), serde_json::to_vec(manifest).unwrap()).unwrap();
}

/// Returns why a backup is refused, by a verification and by a restore; nothing of it is left.
async fn refused(site: &BackupSite, backup: &Path) -> String {
    let sentence = |error: BackupError| error.to_string();
    let verified = backup::verify(backup).await.map_err(sentence).expect_err("it is verified");
    let restored = site.restore(backup, "target").await.map_err(sentence).expect_err("it is restored");
    assert_eq!(verified, restored);
    if site.at("target").exists() {
        assert_eq!(names(&site.at("target")), ["events.lock"]);
    }
    verified
}

fn broken(backup: &Path, reason: &str) -> String {
    format!("{} is not a complete backup: {reason}; use another one", backup.display())
}

/// Makes a full backup and an incremental one, both with a log, a ledger and a vault.
async fn two_backups() -> (BackupSite, PathBuf, PathBuf) {
    let mut site = BackupSite::new().await;
    site.event("a", "one").await;
    site.call("search", 2).await;
    site.full("full").await;
    site.event("a", "two").await;
    site.call("search", 2).await;
    site.since("full", "second").await.unwrap();
    let (full, second) = (site.at("full"), site.at("second"));
    backup::verify(&second).await.unwrap();
    (site, full, second)
}

#[tokio::test]
async fn a_trigger_in_any_database_of_a_backup_is_refused() {
    let trigger =
        |table: &str| format!("CREATE TRIGGER quiet AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END");
    let added = "its schema is not the one that it is created with: the trigger “quiet” was added";
    let in_log = format!("the log is damaged at position 1: {added}; restore the last backup");
    let in_ledger = format!("the ledger is damaged at position 1: {added}; restore the last backup");
    for (name, table, reason) in [("events.db", "events", in_log), ("usage.db", "entries", in_ledger)] {
        let (site, full, _) = two_backups().await;
        change(&full, name, &trigger(table)).await;
        assert_eq!(refused(&site, &full).await, broken(&full, &reason));
    }
    let (site, full, _) = two_backups().await;
    change(&full, "vault.db", &trigger("addresses")).await;
    // What is restored is checked as a copy, under a name of its own.
    let in_vault = |vault: &Path| {
        let vault = vault.display();
        let found = format!("{vault} has the trigger or view “quiet”, which Loggia does not create");
        broken(&full, &format!("its vault.db is not what Loggia writes: {found}"))
    };
    assert_eq!(backup::verify(&full).await.unwrap_err().to_string(), in_vault(&full.join("vault.db")));
    let restored = site.restore(&full, "target").await.unwrap_err().to_string();
    assert_eq!(restored, in_vault(&site.at("target").join("vault.db.part")));
}

#[tokio::test]
async fn a_trigger_in_an_increment_or_below_one_is_refused_before_it_fires() {
    for (name, table) in [("events.increment.db", "events"), ("usage.increment.db", "entries")] {
        let (site, _, second) = two_backups().await;
        let trigger = format!("CREATE TRIGGER quiet AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END");
        change(&second, name, &trigger).await;
        let verified = backup::verify(&second).await.unwrap_err().to_string();
        assert!(verified.contains("the trigger “quiet” was added"), "{verified}");
        let added = "its schema is not the one that it is created with: the trigger “quiet” was added";
        let restored = site.restore(&second, "target").await.unwrap_err().to_string();
        assert_eq!(restored, broken(&second, added));
    }
    // The full backup is another one then, so the one that continues it has to name it.
    for (name, table) in [("events.db", "events"), ("usage.db", "entries")] {
        let (site, full, second) = two_backups().await;
        let trigger = format!("CREATE TRIGGER quiet AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END");
        change(&full, name, &trigger).await;
        let mut manifest = Manifest::read(&second).unwrap();
        let digest = Sha256::digest(fs::read(full.join("manifest.json")).unwrap());
        manifest.parent.as_mut().unwrap().manifest = Hash(digest.into());
        write(&second, &manifest);
        for error in [
            backup::verify(&second).await.unwrap_err().to_string(),
            site.restore(&second, "target").await.unwrap_err().to_string(),
        ] {
            assert!(error.contains("the trigger “quiet” was added"), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn changed_constraints_views_and_other_tables_are_refused() {
    let (_site, full, _) = two_backups().await;
    change(&full, "events.db", "DROP INDEX events_by_causation").await;
    let missing = "the log is damaged at position 1: its schema is not the one that it is created with: the index \
                   “events_by_causation” is missing; restore the last backup";
    assert_eq!(backup::verify(&full).await.unwrap_err().to_string(), broken(&full, missing));
    let (_site, full, _) = two_backups().await;
    change(&full, "vault.db", "CREATE TABLE kept (address)").await;
    let added = "its vault.db is not what Loggia writes: its schema is not the one that it is created with: the table “kept” \
                 was added";
    assert_eq!(backup::verify(&full).await.unwrap_err().to_string(), broken(&full, added));
}

#[tokio::test]
async fn what_is_beside_a_database_of_a_backup_is_not_read_as_a_part_of_it() {
    let (_site, full, _) = two_backups().await;
    for name in ["events.db", "usage.db", "vault.db"] {
        for ending in ["-wal", "-journal"] {
            fs::write(full.join(format!("{name}{ending}")), "what SQLite would play back").unwrap();
        }
    }
    backup::verify(&full).await.unwrap();
}

#[tokio::test]
async fn a_manifest_that_is_no_small_file_is_refused_and_not_read() {
    let (site, full, second) = two_backups().await;
    let manifest = full.join("manifest.json");
    let content = fs::read(&manifest).unwrap();
    let large = "its manifest.json cannot be read (it has more than 1048576 bytes, the most that a file of its kind has)";
    // Gigabytes that take no room on the disk.
    File::options().write(true).open(&manifest).unwrap().set_len(3 << 30).unwrap();
    assert_eq!(refused(&site, &full).await, broken(&full, large));
    let continued = refused(&site, &second).await;
    assert!(continued.contains("is another one, or was altered"), "{continued}");
    fs::remove_file(&manifest).unwrap();
    make_pipe(&manifest);
    let pipe = "its manifest.json cannot be read (it is not a regular file)";
    assert_eq!(refused(&site, &full).await, broken(&full, pipe));
    let continued = refused(&site, &second).await;
    assert!(continued.contains("continues the backup of"), "{continued}");
    fs::remove_file(&manifest).unwrap();
    fs::write(&manifest, content).unwrap();
    backup::verify(&second).await.unwrap();
}

#[tokio::test]
async fn a_pipe_in_the_place_of_any_file_is_refused() {
    let (site, full, _) = two_backups().await;
    for name in ["events.db", "usage.db", "vault.db", "vault.key", "pictures.sha256"] {
        let (path, aside) = (full.join(name), full.join("aside"));
        fs::rename(&path, &aside).unwrap();
        make_pipe(&path);
        let reason = format!("its {name} cannot be read (it is not a regular file)");
        assert_eq!(refused(&site, &full).await, broken(&full, &reason));
        fs::rename(&aside, &path).unwrap();
    }
    backup::verify(&full).await.unwrap();
}

#[tokio::test]
async fn a_secret_and_a_record_of_the_last_backup_of_gigabytes_are_not_read() {
    let (site, full, _) = two_backups().await;
    let path = full.join("vault.key");
    File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let mut manifest = Manifest::read(&full).unwrap();
    let sha256 = Hash(Sha256::digest(fs::read(&path).unwrap()).into());
    manifest.files.iter_mut().find(|file| file.name == "vault.key").unwrap().sha256 = sha256;
    write(&full, &manifest);
    let reason =
        "its vault.key cannot be read (it has more than 1024 bytes, the most that a file of its kind has)";
    assert_eq!(refused(&site, &full).await, broken(&full, reason));

    let data = tempfile::tempdir().unwrap();
    File::create(data.path().join("last_backup.json")).unwrap().set_len(3 << 30).unwrap();
    assert_eq!(LastBackup::of(data.path()), None);
}

#[tokio::test]
async fn kept_mappings_are_copied_and_refused_if_they_are_none() {
    let mut site = BackupSite::new().await;
    site.event("a", "one").await;
    let kept = r#"{"mappings":{"tate":{"text":"name = \"tate\"\n","added_at":"2026-10-01T00:00:00Z"}}}"#;
    fs::write(site.at("store").join("mappings.json"), kept).unwrap();
    site.full("full").await;
    site.call("search", 1).await;
    site.since("full", "second").await.unwrap();
    site.restore(&site.at("second"), "restored").await.unwrap();
    assert_eq!(fs::read_to_string(site.at("restored").join("mappings.json")).unwrap(), kept);

    let full = site.at("full");
    fs::write(full.join("mappings.json"), "{}").unwrap();
    let mut manifest = Manifest::read(&full).unwrap();
    let sha256 = Hash(Sha256::digest("{}").into());
    manifest.files.iter_mut().find(|file| file.name == "mappings.json").unwrap().sha256 = sha256;
    write(&full, &manifest);
    let reason = "its mappings.json is not what Loggia writes: missing field `mappings` at line 1 column 2";
    assert_eq!(refused(&site, &full).await, broken(&full, reason));
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
