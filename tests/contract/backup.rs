//! Backups of a store with what lies beside it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use schemas::email::Email;
use schemas::ids::AccountId;
use tempfile::TempDir;
use write::clock::Clock;
use write::event_store::*;
use write::vault::Vault;

use crate::event_store::append;

struct Kept {
    folder: TempDir,
    clock: Clock,
    store: SqliteStore,
    vault: Vault,
    account: AccountId,
}

fn email() -> Email {
    "ada@example.org".parse().unwrap()
}

async fn kept() -> Kept {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = SqliteStore::open(folder.path(), &clock).await.unwrap();
    store.append(append(&clock, "a", Expected::Any, &["1"])).await.unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let account = clock.account_id();
    vault.enter(&email(), account).await.unwrap();
    Kept { folder, clock, store, vault, account }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn the_vault_and_its_secret_come_back_readable_by_their_owner_alone() {
    let Kept { folder, clock, store, vault, account } = kept().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    let manifest = store.backup(&backup).await.unwrap();
    let files: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(files, ["vault.db", "vault.key"]);
    assert_eq!(names(&backup), ["events.db", "manifest.json", "vault.db", "vault.key"]);
    vault.erase(account).await.unwrap();

    assert_eq!(SqliteStore::restore(&backup, &target).await.unwrap(), manifest);
    for folder in [&backup, &target] {
        for file in ["vault.db", "vault.key"] {
            let mode = std::fs::metadata(folder.join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }
    let restored = Vault::open(&target, None).await.unwrap();
    assert_eq!(restored.emails().await.unwrap(), [(account, email())]);
    SqliteStore::open(&target, &clock).await.unwrap();
    let over = SqliteStore::restore(&backup, folder.path()).await.unwrap_err();
    assert!(over.to_string().contains("is in the way"), "{over}");
}

#[tokio::test]
async fn a_secret_that_is_kept_elsewhere_stays_there() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = SqliteStore::open(folder.path(), &Clock::system()).await.unwrap();
    Vault::open(folder.path(), Some(&elsewhere.path().join("secret"))).await.unwrap();
    let backup = elsewhere.path().join("backup");
    store.backup(&backup).await.unwrap();
    assert_eq!(names(&backup), ["events.db", "manifest.json", "vault.db"]);
}

#[tokio::test]
async fn a_backup_from_before_the_vault_is_restored() {
    let elsewhere = tempfile::tempdir().unwrap();
    let Kept { folder, clock, store, .. } = kept().await;
    for file in ["vault.db", "vault.key"] {
        std::fs::remove_file(folder.path().join(file)).unwrap();
    }
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    store.backup(&backup).await.unwrap();
    let manifest = std::fs::read_to_string(backup.join("manifest.json")).unwrap();
    assert!(!manifest.contains("files"), "it reads as it did before: {manifest}");
    SqliteStore::restore(&backup, &target).await.unwrap();
    assert!(SqliteStore::open(&target, &clock).await.is_ok());
    assert!(Vault::open_read_only(&target, None).await.unwrap().is_none());
}

#[tokio::test]
async fn of_a_broken_backup_nothing_is_put_in_place() {
    let Kept { folder: _folder, store, .. } = kept().await;
    for (file, reason) in [
        ("vault.db", "the bytes of its vault.db are not those that were written"),
        ("vault.key", "the bytes of its vault.key are not those that were written"),
        ("events.db", "its bytes are not those that were written"),
    ] {
        let elsewhere = tempfile::tempdir().unwrap();
        let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
        store.backup(&backup).await.unwrap();
        flip(&backup.join(file));
        let error = SqliteStore::restore(&backup, &target).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{} is no whole backup: {reason}; use another one", backup.display())
        );
        assert_eq!(names(&target), ["events.lock"]);
    }
}

#[tokio::test]
async fn a_manifest_cannot_name_a_file_elsewhere() {
    let Kept { folder: _folder, store, .. } = kept().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    store.backup(&backup).await.unwrap();
    let path = backup.join("manifest.json");
    let manifest = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, manifest.replace("vault.key", "../escaped")).unwrap();
    let error = SqliteStore::restore(&backup, &target).await.unwrap_err().to_string();
    assert!(error.contains("it holds ../escaped, which this version of Loggia does not know"), "{error}");
    assert!(!elsewhere.path().join("escaped").exists());
    assert_eq!(names(&target), ["events.lock"]);
}
