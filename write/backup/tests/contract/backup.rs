//! Backups of a store with vault, ledger and pictures.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use backup::*;
use event_log::*;
use image::{ImageFormat, Rgb, RgbImage};
use kit::copy_folder;
use media::MediaStore;
use schemas::clock::Clock;
use schemas::email::Email;
use schemas::erased_pictures::ErasedPicture;
use schemas::ids::AccountId;
use schemas::picture::{Form, Picture, PictureId};
use tempfile::TempDir;
use vault::{Erasure, Vault, read_erasures};

use crate::{append, assert_refused, flip, names};

struct DataFolder {
    folder: TempDir,
    clock: Clock,
    store: EventLog,
    vault: Vault,
    account: AccountId,
}

fn email() -> Email {
    "ada@example.org".parse().unwrap()
}

async fn data_folder() -> DataFolder {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = EventLog::open(folder.path(), &clock).await.unwrap();
    store.append(append(&clock, "a", "1")).await.unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let account = clock.account_id();
    vault.add_address(&email(), account).await.unwrap();
    DataFolder { folder, clock, store, vault, account }
}

#[tokio::test]
async fn the_vault_and_its_secret_are_restored_readable_only_by_their_owner() {
    let DataFolder { folder, clock, store, vault, account } = data_folder().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    let manifest = backup::create(&store, &backup, None).await.unwrap();
    let files: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(files, ["vault.db", "vault.key"]);
    assert_eq!(names(&backup), ["events.db", "manifest.json", "vault.db", "vault.key"]);
    vault.erase(account).await.unwrap();

    assert_eq!(backup::restore(&backup, &target, None, &[]).await.unwrap().manifest, manifest);
    for folder in [&backup, &target] {
        for file in ["vault.db", "vault.key"] {
            let mode = std::fs::metadata(folder.join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }
    let restored = Vault::open(&target, None).await.unwrap();
    assert_eq!(restored.emails().await.unwrap(), [(account, email())]);
    EventLog::open(&target, &clock).await.unwrap();
    assert_refused(backup::restore(&backup, folder.path(), None, &[]).await, "is in the way");
}

#[tokio::test]
async fn a_secret_outside_the_folder_is_not_backed_up() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = EventLog::open(folder.path(), &Clock::system()).await.unwrap();
    Vault::open(folder.path(), Some(&elsewhere.path().join("secret"))).await.unwrap();
    let backup = elsewhere.path().join("backup");
    backup::create(&store, &backup, None).await.unwrap();
    assert_eq!(names(&backup), ["events.db", "manifest.json", "vault.db"]);
}

#[tokio::test]
async fn a_backup_from_before_the_vault_is_restored() {
    let elsewhere = tempfile::tempdir().unwrap();
    let DataFolder { folder, clock, store, .. } = data_folder().await;
    for file in ["vault.db", "vault.key"] {
        std::fs::remove_file(folder.path().join(file)).unwrap();
    }
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    backup::create(&store, &backup, None).await.unwrap();
    let manifest = std::fs::read_to_string(backup.join("manifest.json")).unwrap();
    assert!(!manifest.contains("files"), "it reads as it did before: {manifest}");
    backup::restore(&backup, &target, None, &[]).await.unwrap();
    assert!(EventLog::open(&target, &clock).await.is_ok());
    assert!(Vault::open_read_only(&target, None).await.unwrap().is_none());
}

#[tokio::test]
async fn nothing_of_a_broken_backup_is_restored() {
    let DataFolder { folder: _folder, store, .. } = data_folder().await;
    for (file, reason) in [
        ("vault.db", "the bytes of its vault.db are not those that were written"),
        ("vault.key", "the bytes of its vault.key are not those that were written"),
        ("events.db", "its bytes are not those that were written"),
    ] {
        let elsewhere = tempfile::tempdir().unwrap();
        let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
        backup::create(&store, &backup, None).await.unwrap();
        flip(&backup.join(file));
        let error = backup::restore(&backup, &target, None, &[]).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{} is not a complete backup: {reason}; use another one", backup.display())
        );
        assert_eq!(names(&target), ["events.lock"]);
    }
}

#[tokio::test]
async fn a_manifest_cannot_name_a_file_elsewhere() {
    let DataFolder { folder: _folder, store, .. } = data_folder().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    backup::create(&store, &backup, None).await.unwrap();
    let path = backup.join("manifest.json");
    let manifest = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, manifest.replace("vault.key", "../escaped")).unwrap();
    assert_refused(
        backup::restore(&backup, &target, None, &[]).await,
        "it holds ../escaped, which this version of Loggia does not know",
    );
    assert!(!elsewhere.path().join("escaped").exists() && !target.exists());
}

/// Returns a PNG of one colour.
pub(crate) fn png(width: u32, height: u32, shade: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = RgbImage::from_pixel(width, height, Rgb([shade, 90, 60]));
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Turns a backup into one of a version that wrote no list of pictures.
pub(crate) fn remove_listing(backup: &Path) {
    let path = backup.join("manifest.json");
    let mut older: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    older.as_object_mut().unwrap().remove("media").unwrap();
    std::fs::write(&path, older.to_string()).unwrap();
    std::fs::remove_file(backup.join("pictures.sha256")).unwrap();
}

/// Returns a media folder with two pictures.
fn pictures(folder: &Path) -> [Picture; 2] {
    let store = MediaStore::open(folder).unwrap();
    [60, 200].map(|shade| store.put(&png(700, 500, shade)).unwrap())
}

/// Returns an intact backup of two pictures.
fn restored_completely(manifest: Manifest) -> Restored {
    Restored { manifest, pictures: 2, truncation: None }
}

struct BackupWithPictures {
    _data_folder: DataFolder,
    elsewhere: TempDir,
    backup: std::path::PathBuf,
    pictures: [Picture; 2],
    manifest: Manifest,
}

async fn with_pictures() -> BackupWithPictures {
    let (data_folder, elsewhere) = (data_folder().await, tempfile::tempdir().unwrap());
    let media = data_folder.folder.path().join("media");
    let (pictures, backup) = (pictures(&media), elsewhere.path().join("backup"));
    let manifest = backup::create(&data_folder.store, &backup, Some(&media)).await.unwrap();
    BackupWithPictures { _data_folder: data_folder, elsewhere, backup, pictures, manifest }
}

#[tokio::test]
async fn pictures_are_in_the_manifest_and_restored() {
    let BackupWithPictures { elsewhere, backup, pictures, manifest, .. } = with_pictures().await;
    let media = manifest.media.clone().unwrap();
    // The original, three WebP renditions, a JPEG, and the description of each.
    assert_eq!((media.pictures, media.files), (2, 12));
    let restored = restored_completely(manifest);
    assert_eq!(backup::verify(&backup).await.unwrap(), restored);
    let (target, restored_media) = (elsewhere.path().join("target"), elsewhere.path().join("media"));
    assert_eq!(backup::restore(&backup, &target, Some(&restored_media), &[]).await.unwrap(), restored);
    let restored_media = MediaStore::open(&restored_media).unwrap();
    for picture in &pictures {
        assert_eq!(restored_media.get(picture.id).unwrap().as_ref(), Some(picture));
        assert!(restored_media.read(picture.id, Form::Webp(320)).unwrap().is_some());
    }
    assert!(names(&target).iter().all(|name| !name.contains("part") && !name.contains("unfinished")));
}

/// A way to damage a file.
type Damage = fn(&Path);

#[tokio::test]
async fn restore_and_verify_reject_a_backup_with_damaged_pictures() {
    let BackupWithPictures { elsewhere, backup, pictures, .. } = with_pictures().await;
    let first = pictures.iter().map(|picture| picture.id).min().unwrap();
    let all = |folder: &Path| std::fs::remove_dir_all(folder).unwrap();
    let media = |form: Form| format!("media/{}", form.path(first));
    let reason = |files: &str, form: Form, what: &str| {
        let begin = format!("of its 12 picture files {files} not what was written; the first is ");
        format!("{begin}{}, which {what}", media(form))
    };
    let (empty, missing, other) = (Form::Webp(640), Form::Original, Form::Jpeg(640));
    let damages: [(String, Damage, String); 5] = [
        (media(empty), |path| std::fs::write(path, "").unwrap(), reason("1 is", empty, "is empty")),
        (media(missing), |path| std::fs::remove_file(path).unwrap(), reason("1 is", missing, "is missing")),
        (media(other), flip, reason("1 is", other, "has other bytes")),
        (
            "pictures.sha256".into(),
            flip,
            "the bytes of its pictures.sha256 are not those that were written".into(),
        ),
        ("media".into(), all, reason("12 are", Form::Webp(320), "is missing")),
    ];
    for (number, (name, damage, reason)) in damages.into_iter().enumerate() {
        let copy = elsewhere.path().join(format!("copy-{number}"));
        copy_folder(&backup, &copy);
        damage(&copy.join(name));
        let (target, media) = (elsewhere.path().join("target"), elsewhere.path().join("media"));
        let expected = format!("{} is not a complete backup: {reason}; use another one", copy.display());
        assert_eq!(backup::verify(&copy).await.unwrap_err().to_string(), expected);
        let refused = backup::restore(&copy, &target, Some(&media), &[]).await.unwrap_err();
        assert_eq!(refused.to_string(), expected);
        assert_eq!((names(&target), media.exists()), (vec!["events.lock".to_owned()], false));
    }
}

#[tokio::test]
async fn each_part_of_a_backup_is_verified_in_place() {
    for (name, reason) in [
        ("events.db", "its bytes are not those that were written"),
        ("vault.db", "the bytes of its vault.db are not those that were written"),
        ("vault.key", "the bytes of its vault.key are not those that were written"),
    ] {
        let BackupWithPictures { elsewhere: _elsewhere, backup, .. } = with_pictures().await;
        let broken = |reason: &str| {
            format!("{} is not a complete backup: {reason}; use another one", backup.display())
        };
        flip(&backup.join(name));
        assert_eq!(backup::verify(&backup).await.unwrap_err().to_string(), broken(reason));
        std::fs::remove_file(backup.join(name)).unwrap();
        let missing = format!("its {name} is missing");
        assert_eq!(backup::verify(&backup).await.unwrap_err().to_string(), broken(&missing));
        let none = backup::verify(&backup.join("media")).await.unwrap_err().to_string();
        assert!(none.starts_with("no backup is there: "), "{none}");
    }
}

#[tokio::test]
async fn a_backup_without_a_listing_of_its_pictures_is_restored() {
    let BackupWithPictures { elsewhere, backup, manifest, .. } = with_pictures().await;
    remove_listing(&backup);
    let (target, media) = (elsewhere.path().join("target"), elsewhere.path().join("media"));
    let restored = backup::restore(&backup, &target, Some(&media), &[]).await.unwrap();
    let manifest = Manifest { media: None, ..manifest };
    assert_eq!(restored, restored_completely(manifest));
}

#[tokio::test]
async fn a_rendition_damaged_in_the_store_is_intact_in_the_backup() {
    let (data_folder, elsewhere) = (data_folder().await, tempfile::tempdir().unwrap());
    let media = data_folder.folder.path().join("media");
    let [picture, _] = pictures(&media);
    let damaged = media.join(Form::Webp(320).path(picture.id));
    let before = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, "").unwrap();
    let backup = elsewhere.path().join("backup");
    backup::create(&data_folder.store, &backup, Some(&media)).await.unwrap();
    let copied = std::fs::read(backup.join("media").join(Form::Webp(320).path(picture.id))).unwrap();
    assert!(copied == before, "it is made again from the original");
}

#[tokio::test]
async fn an_interrupted_restore_is_detected_and_the_next_one_starts_over() {
    let BackupWithPictures { _data_folder, elsewhere, backup, manifest, .. } = with_pictures().await;
    let (target, media) = (elsewhere.path().join("target"), elsewhere.path().join("media"));
    std::fs::create_dir(&target).unwrap();
    for name in ["restore.unfinished", "vault.db", "vault.db-journal", "usage.db", "events.db.part"] {
        std::fs::write(target.join(name), "half").unwrap();
    }
    let refused = EventLog::open(&target, &_data_folder.clock).await.err().unwrap().to_string();
    assert_eq!(
        refused,
        format!(
            "the event store is not available: a backup was not restored to the end into {}; run `loggia restore` again, \
             which begins from the start",
            target.display()
        )
    );
    let restored = backup::restore(&backup, &target, Some(&media), &[]).await.unwrap();
    assert_eq!(restored, restored_completely(manifest));
    assert_eq!(names(&target), ["events.db", "events.lock", "vault.db", "vault.key"]);
}

#[tokio::test]
async fn a_leftover_journal_blocks_a_restore() {
    let BackupWithPictures { elsewhere, backup, .. } = with_pictures().await;
    let target = elsewhere.path().join("target");
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("vault.db-journal"), "left").unwrap();
    assert_refused(backup::restore(&backup, &target, None, &[]).await, "vault.db-journal is in the way");
    assert_eq!(names(&target), ["vault.db-journal"]);
}

#[tokio::test]
async fn a_failed_backup_leaves_nothing() {
    let (data_folder, elsewhere) = (data_folder().await, tempfile::tempdir().unwrap());
    let media = data_folder.folder.path().join("media");
    let [picture, _] = pictures(&media);
    std::fs::write(media.join(Form::Original.path(picture.id)), "other").unwrap();
    let backup = elsewhere.path().join("backup");
    assert_refused(
        backup::create(&data_folder.store, &backup, Some(&media)).await,
        "its bytes do not match its id",
    );
    assert_eq!(names(elsewhere.path()), Vec::<String>::new());
    // Remains of a killed backup do not block the next one.
    std::fs::create_dir(&backup).unwrap();
    std::fs::write(backup.join("events.db.part"), "half").unwrap();
    backup::create(&data_folder.store, &backup, Some(&media)).await.unwrap_err();
    assert_eq!(names(&backup), Vec::<String>::new());
}

#[tokio::test]
async fn a_backup_needs_an_empty_folder_and_a_restore_needs_a_backup() {
    let (data_folder, elsewhere) = (data_folder().await, tempfile::tempdir().unwrap());
    let backup = elsewhere.path().join("backup");
    std::fs::create_dir(&backup).unwrap();
    let read = |error: BackupError| error.to_string();
    let none = read(backup::verify(&backup).await.unwrap_err());
    let place = backup.display();
    assert_eq!(
        none,
        format!(
            "no backup is there: {place} has no manifest.json; name the folder that `loggia backup` wrote"
        )
    );
    let none = read(backup::restore(&backup.join("no"), elsewhere.path(), None, &[]).await.unwrap_err());
    assert!(none.starts_with("no backup is there: "), "{none}");
    std::fs::write(backup.join("notes.txt"), "mine").unwrap();
    assert_eq!(
        read(backup::create(&data_folder.store, &backup, None).await.unwrap_err()),
        format!(
            "{place}/notes.txt is there already; name an empty folder, or one that does not exist yet; nothing was changed"
        )
    );
    assert_eq!(names(&backup), ["notes.txt"]);
    std::fs::remove_file(backup.join("notes.txt")).unwrap();
    backup::create(&data_folder.store, &backup, None).await.unwrap();
    std::fs::remove_file(backup.join("manifest.json")).unwrap();
    let broken = read(backup::verify(&backup).await.unwrap_err());
    assert!(broken.contains("it has no manifest.json, which is written last"), "{broken}");
}

#[tokio::test]
async fn a_cancelled_backup_leaves_nothing() {
    let (data_folder, elsewhere) = (data_folder().await, tempfile::tempdir().unwrap());
    let (media, backup) = (data_folder.folder.path().join("media"), elsewhere.path().join("backup"));
    // Once while the log is copied, once while the pictures are.
    for wanted in ["", "media"] {
        let begun = async {
            while !backup.join(wanted).exists() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            biased;
            () = begun => {}
            _ = backup::create(&data_folder.store, &backup, Some(&media)) => {}
        }
        if backup.join("manifest.json").exists() {
            // The backup ended before it could be cancelled, so it is complete.
            std::fs::remove_dir_all(&backup).unwrap();
        }
        kit::wait_until(kit::TIMEOUT, "an empty folder", async || names(elsewhere.path()).is_empty()).await;
    }
}

fn erasure(clock: &Clock) -> Erasure {
    Erasure { account: clock.account_id(), erased_at: clock.now() }
}

#[tokio::test]
async fn a_restored_folder_starts_with_all_known_erasures() {
    let DataFolder { folder: _folder, clock, store, vault, .. } = data_folder().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, target) = (elsewhere.path().join("backup"), elsewhere.path().join("target"));
    let [own, given, there] = [erasure(&clock), erasure(&clock), erasure(&clock)];
    vault.record_erasures(vec![own.clone()]).await.unwrap();
    let manifest = backup::create(&store, &backup, None).await.unwrap();
    assert_eq!(manifest.erasures.unwrap().accounts, 1);
    std::fs::create_dir(&target).unwrap();
    Vault::open(elsewhere.path(), None).await.unwrap().record_erasures(vec![there.clone()]).await.unwrap();
    std::fs::copy(elsewhere.path().join("erasures.ndjson"), target.join("erasures.ndjson")).unwrap();
    backup::restore(&backup, &target, None, &[Erased::Account(given.clone())]).await.unwrap();
    let mut found = read_erasures(&target.join("erasures.ndjson")).unwrap().unwrap();
    let mut expected = vec![own, given, there];
    found.sort_by_key(|erasure| erasure.account);
    expected.sort_by_key(|erasure| erasure.account);
    assert_eq!(found, expected);
    flip(&backup.join("erasures.ndjson"));
    assert_refused(
        backup::verify(&backup).await,
        "the bytes of its erasures.ndjson are not those that were written",
    );
}

#[tokio::test]
async fn a_restored_folder_does_not_get_an_erased_picture_back() {
    let BackupWithPictures {
        elsewhere, backup, pictures: [first, second], _data_folder: data_folder, ..
    } = with_pictures().await;
    let media = data_folder.folder.path().join("media");
    let erased =
        |picture: &Picture| ErasedPicture { picture: picture.id, erased_at: data_folder.clock.now() };
    MediaStore::open(&media).unwrap().erase(&[erased(&first)]).unwrap();
    let newer = elsewhere.path().join("newer");
    let manifest = backup::create(&data_folder.store, &newer, Some(&media)).await.unwrap();
    assert_eq!(manifest.erased_pictures.as_ref().unwrap().pictures, 1);
    assert_eq!(manifest.media.as_ref().unwrap().pictures, 1);
    assert_eq!(backup::verify(&newer).await.unwrap().pictures, 1);
    let restore = async |name: &str, backup: &Path, given: &[Erased]| {
        let (target, media) = (elsewhere.path().join(name), elsewhere.path().join(format!("{name}-media")));
        let restored = backup::restore(backup, &target, Some(&media), given).await.unwrap();
        assert!(!names(&target).iter().any(|name| name.contains("pictures")), "{:?}", names(&target));
        let store = MediaStore::open(&media).unwrap();
        let erased: Vec<PictureId> = store.erased().unwrap().iter().map(|erased| erased.picture).collect();
        (restored.pictures, store.ids().unwrap(), erased)
    };
    assert_eq!(restore("of-newer", &newer, &[]).await, (1, vec![second.id], vec![first.id]));
    let mut both = vec![first.id, second.id];
    both.sort_unstable();
    assert_eq!(restore("of-older", &backup, &[]).await, (2, both, vec![]));
    // The journal of a newer backup, or of the previous folder.
    for (name, place) in [("with-newer", &newer), ("with-former", &media)] {
        let journal = Erased::read(&place.join("pictures-erased.ndjson")).unwrap();
        assert_eq!(restore(name, &backup, &journal).await, (1, vec![second.id], vec![first.id]));
    }
    std::fs::write(elsewhere.path().join("bad"), "{}\n").unwrap();
    let error = Erased::read(&elsewhere.path().join("bad")).unwrap_err().to_string();
    assert!(
        error.contains("line 1 of") && error.contains("names no erased account and no erased picture"),
        "{error}"
    );
    flip(&newer.join("pictures-erased.ndjson"));
    assert_refused(
        backup::verify(&newer).await,
        "the bytes of its pictures-erased.ndjson are not those that were written",
    );
}
