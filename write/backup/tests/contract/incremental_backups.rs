//! Incremental backups.

use std::path::{Path, PathBuf};

use backup::*;
use event_log::*;
use jiff::Timestamp;
use ledger::{CopiedBatch, Ledger};
use media::MediaStore;
use schemas::clock::Clock;
use schemas::erased_pictures::ErasedPicture;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::picture::{Colour, Form, Picture};
use schemas::usage::{Call, CallId, Surface};
use sqlx::{ConnectOptions, Connection, Row};
use tempfile::TempDir;
use vault::Vault;

use crate::backup::{png, remove_listing};
use crate::{append, assert_refused, flip, names};

/// A store with vault, ledger and pictures, and a folder for backups.
pub(crate) struct BackupSite {
    folder: TempDir,
    pub(crate) clock: Clock,
    pub(crate) store: EventLog,
    vault: Vault,
    pub(crate) ledger: Option<Ledger>,
    calls: u64,
}

impl BackupSite {
    pub(crate) async fn new() -> BackupSite {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = EventLog::open(&folder.path().join("store"), &clock).await.unwrap();
        let vault = Vault::open(&folder.path().join("store"), None).await.unwrap();
        BackupSite { folder, clock, store, vault, ledger: None, calls: 0 }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn event(&self, to: &str, name: &str) {
        let mut append = append(&self.clock, to, name);
        append.claims = vec![Claim { namespace: Namespace::SLUG, name: name.into() }];
        self.store.append(append).await.unwrap();
    }

    async fn address(&self, name: &str) {
        let email = format!("{name}@example.org").parse().unwrap();
        self.vault.add_address(&email, self.clock.account_id()).await.unwrap();
    }

    fn media(&self) -> MediaStore {
        MediaStore::open(&self.at("media")).unwrap()
    }

    fn picture(&self, shade: u8) -> Picture {
        self.media().put(&png(400, 300, shade)).unwrap()
    }

    pub(crate) async fn call(&mut self, operation: &str, count: u64) {
        if self.ledger.is_none() {
            self.ledger = Some(Ledger::open(&self.at("store")).await.unwrap());
        }
        let time = self.clock.now();
        let call = |_| Call {
            id: CallId(self.clock.event_id().0),
            key_id: "Ab3dEf9h".parse().unwrap(),
            tier: "free".parse().unwrap(),
            month: Month::of(time),
            time,
            surface: Surface::Rest,
            operation: operation.to_owned(),
        };
        let calls: Vec<(u64, Call)> =
            (self.calls + 1..=self.calls + count).map(|sequence| (sequence, call(sequence))).collect();
        self.calls += count;
        let created = "2026-11-01T00:00:00Z".parse().unwrap();
        let last = calls.last().map(|(_, call)| call.id);
        let copied = CopiedBatch { stream: "USAGE_FREE".into(), created, sequence: self.calls, last, calls };
        self.ledger.as_ref().unwrap().append(copied).await.unwrap();
    }

    pub(crate) async fn full(&self, name: &str) -> Manifest {
        backup::create(&self.store, &self.at(name), Some(&self.at("media"))).await.unwrap()
    }

    pub(crate) async fn since(&self, last: &str, name: &str) -> Result<Manifest, BackupError> {
        backup::create_since(&self.store, &self.at(last), &self.at(name), Some(&self.at("media"))).await
    }

    pub(crate) async fn restore(&self, backup: &Path, name: &str) -> Result<Restored, BackupError> {
        backup::restore(backup, &self.at(name), Some(&self.at(&format!("{name}-media"))), &[]).await
    }

    /// Makes a full backup and two incremental ones, each with something new of every kind; returns the pictures.
    async fn chain(&mut self) -> [Picture; 3] {
        self.event("a", "one").await;
        self.address("ada").await;
        let first = self.picture(20);
        self.call("search", 3).await;
        self.full("full").await;
        self.event("a", "two").await;
        self.event("b", "three").await;
        self.address("bob").await;
        let second = self.picture(120);
        self.call("project", 2).await;
        self.since("full", "first").await.unwrap();
        self.event("b", "four").await;
        self.event("c", "five").await;
        let third = self.picture(220);
        self.call("search", 4).await;
        self.since("first", "second").await.unwrap();
        [first, second, third]
    }
}

async fn rows(file: &Path) -> Vec<String> {
    let mut reader =
        sqlx::sqlite::SqliteConnectOptions::new().filename(file).immutable(true).connect().await.unwrap();
    let tables = ["events", "claims", "log", "entries", "words", "sources", "ledger"];
    let mut found = Vec::new();
    for table in tables {
        let columns: Vec<String> = sqlx::query_scalar("SELECT name FROM pragma_table_info(?1) ORDER BY cid")
            .bind(table)
            .fetch_all(&mut reader)
            .await
            .unwrap();
        if columns.is_empty() {
            continue;
        }
        let shown = columns.iter().map(|name| format!("quote({name})")).collect::<Vec<_>>().join("||','||");
        let sql = format!("SELECT {shown} FROM {table} ORDER BY 1");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut reader).await.unwrap();
        found.extend(rows.iter().map(|row| format!("{table}: {}", row.get::<String, _>(0))));
    }
    found
}

async fn addresses(folder: &Path) -> Vec<String> {
    let vault = Vault::open(folder, None).await.unwrap();
    let mut emails: Vec<String> =
        vault.emails().await.unwrap().into_iter().map(|(_, email)| email.as_str().to_owned()).collect();
    emails.sort();
    emails
}

#[tokio::test]
async fn an_incremental_backup_restores_the_same_as_a_full_one() {
    let mut site = BackupSite::new().await;
    site.chain().await;
    let full_backup = site.full("whole").await;
    let second = Manifest::read(&site.at("second")).unwrap();
    assert_eq!((second.position, second.hash), (full_backup.position, full_backup.hash));
    let parent = second.parent.clone().unwrap();
    assert_eq!((parent.position, parent.calls, parent.folder), (Position(3), Position(5), site.at("first")));
    assert_eq!(
        names(&site.at("second")),
        [
            "events.increment.db",
            "manifest.json",
            "media",
            "pictures.sha256",
            "usage.increment.db",
            "vault.db",
            "vault.key"
        ]
    );
    let media = second.media.clone().unwrap();
    assert_eq!((media.pictures, media.files), (1, 5), "one new picture");

    let proven = backup::verify(&site.at("second")).await.unwrap();
    assert_eq!((proven.pictures, &proven.manifest), (3, &second));
    let restored = site.restore(&site.at("second"), "from-chain").await.unwrap();
    assert_eq!(restored, proven);
    site.restore(&site.at("whole"), "from-whole").await.unwrap();
    for file in ["events.db", "usage.db"] {
        let (chain, full_backup) = (site.at("from-chain").join(file), site.at("from-whole").join(file));
        let rows = [rows(&chain).await, rows(&full_backup).await];
        assert_eq!(rows[0], rows[1], "{file}");
    }
    assert_eq!(names(&site.at("from-chain")), names(&site.at("from-whole")));
    assert_eq!(addresses(&site.at("from-chain")).await, ["ada@example.org", "bob@example.org"]);
    let listings = ["from-chain-media", "from-whole-media"]
        .map(|name| MediaStore::open_read_only(&site.at(name)).list().unwrap());
    assert_eq!((listings[0].pictures, &listings[0]), (3, &listings[1]));
    // Both can be continued.
    let store = EventLog::open(&site.at("from-chain"), &site.clock).await.unwrap();
    assert_eq!(store.verify(|_| {}).await.unwrap().unwrap().events, 5);
    store.append(append(&site.clock, "d", "next")).await.unwrap();
    let ledger = Ledger::open(&site.at("from-chain")).await.unwrap();
    assert_eq!(ledger.verify(|_| {}).await.unwrap().unwrap().entries, 9);
}

#[tokio::test]
async fn a_chain_is_restored_up_to_a_point_in_any_of_its_parts() {
    let mut site = BackupSite::new().await;
    site.chain().await;
    for last in 1..5 {
        let (target, until) = (site.at(&format!("until-{last}")), RestorePoint::Position(Position(last)));
        let restored =
            backup::restore_until(&site.at("second"), &target, None, &[], Some(until)).await.unwrap();
        assert_eq!((restored.events(), restored.truncation.unwrap().left_out.events), (last, 5 - last));
        let store = EventLog::open(&target, &site.clock).await.unwrap();
        assert_eq!(store.verify(|_| {}).await.unwrap().unwrap().events, last);
        let ledger = Ledger::open(&target).await.unwrap();
        assert_eq!(ledger.position(), Position(9), "all calls");
    }
}

#[tokio::test]
async fn a_parent_is_found_under_another_name_and_where_it_was() {
    let mut site = BackupSite::new().await;
    site.chain().await;
    std::fs::rename(site.at("full"), site.at("renamed")).unwrap();
    assert_eq!(backup::verify(&site.at("second")).await.unwrap().pictures, 3);
    assert_eq!(Manifest::parents(&site.at("second")).unwrap(), [site.at("first"), site.at("renamed")]);
    // The newest in another folder, the others where they were.
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("second");
    std::fs::rename(site.at("second"), &moved).unwrap();
    site.restore(&moved, "restored").await.unwrap();
}

#[tokio::test]
async fn a_missing_or_wrong_parent_is_named() {
    let mut site = BackupSite::new().await;
    site.chain().await;
    let second = site.at("second");
    let parent = Manifest::read(&second).unwrap().parent.unwrap();
    let begin = format!(
        "{} continues the backup of {}, whose last event is at position 3, and ",
        second.display(),
        parent.created
    );
    let end = "; bring that backup beside it, or restore another one";
    let place = site.at("first");
    let refused = async || {
        let verified = backup::verify(&second).await.unwrap_err().to_string();
        assert_eq!(site.restore(&second, "target").await.unwrap_err().to_string(), verified);
        assert_eq!(site.since("second", "third").await.unwrap_err().to_string(), verified);
        assert!(!site.at("target").exists() && !site.at("third").exists());
        verified
    };
    let manifest = place.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"position\": 3", "\"position\": 2")).unwrap();
    let another = format!("what is in {} is another one, or was altered", place.display());
    assert_eq!(refused().await, format!("{begin}{another}{end}"));
    std::fs::remove_dir_all(&place).unwrap();
    let missing = format!("it is neither beside it nor at {}", place.display());
    assert_eq!(refused().await, format!("{begin}{missing}{end}"));
}

#[tokio::test]
async fn each_part_of_an_incremental_backup_is_verified() {
    let mut site = BackupSite::new().await;
    let [first, _, third] = site.chain().await;
    let bytes = |what: &str| format!("{what} are not those that were written");
    let picture = |picture: &Picture| {
        let path = Form::Webp(320).path(picture.id);
        let reason = "of its 5 picture files 1 is not what was written; the first is media/";
        (format!("media/{path}"), format!("{reason}{path}, which has other bytes"))
    };
    let (first, third) = (picture(&first), picture(&third));
    for (backup, file, reason) in [
        ("full", "events.db", bytes("its bytes")),
        ("full", "usage.db", bytes("the bytes of its ledger")),
        ("full", first.0.as_str(), first.1.clone()),
        ("first", "events.increment.db", bytes("its bytes")),
        ("first", "usage.increment.db", bytes("the bytes of its ledger")),
        ("second", "events.increment.db", bytes("its bytes")),
        ("second", "vault.db", bytes("the bytes of its vault.db")),
        ("second", third.0.as_str(), third.1.clone()),
    ] {
        let path = site.at(backup).join(file);
        flip(&path);
        let expected =
            format!("{} is not a complete backup: {reason}; use another one", site.at(backup).display());
        let verified = backup::verify(&site.at("second")).await.unwrap_err().to_string();
        assert_eq!(verified, expected);
        let restored = site.restore(&site.at("second"), "target").await.unwrap_err().to_string();
        assert_eq!(restored, expected);
        assert_eq!(names(&site.at("target")), ["events.lock"]);
        flip(&path);
    }
    // A restore uses the newest vault.
    flip(&site.at("first").join("vault.db"));
    site.restore(&site.at("second"), "restored").await.unwrap();
}

#[tokio::test]
async fn a_log_or_ledger_older_than_the_last_backup_is_not_continued() {
    let mut site = BackupSite::new().await;
    site.event("a", "one").await;
    site.call("search", 2).await;
    site.full("older").await;
    site.event("a", "two").await;
    site.call("search", 1).await;
    site.full("last").await;
    let refused = async |store: &EventLog| {
        let made = backup::create_since(store, &site.at("last"), &site.at("new"), None).await;
        let error = made.unwrap_err().to_string();
        assert!(!site.at("new").exists());
        let (begin, end) = (
            format!("{} cannot be continued: ", site.at("last").display()),
            "; make a full backup, without --since",
        );
        error.strip_prefix(&begin).unwrap().strip_suffix(end).unwrap().to_owned()
    };
    let set_back = ": it was restored from an older backup, or replaced";
    site.restore(&site.at("older"), "restored").await.unwrap();
    let store = EventLog::open(&site.at("restored"), &site.clock).await.unwrap();
    let shorter = format!("the log ends before position 2, the last of that backup{set_back}");
    assert_eq!(refused(&store).await, shorter);
    store.append(append(&site.clock, "b", "other")).await.unwrap();
    let other = format!("the log has another event at position 2 than that backup{set_back}");
    assert_eq!(refused(&store).await, other);
    let foreign = EventLog::open(&site.at("foreign"), &site.clock).await.unwrap();
    assert_eq!(refused(&foreign).await, "it is of another event store");
    // The log is the same, but the ledger differs.
    site.restore(&site.at("last"), "again").await.unwrap();
    let store = EventLog::open(&site.at("again"), &site.clock).await.unwrap();
    let ledger = format!("the ledger of counted calls does not have the last call of that backup{set_back}");
    std::fs::copy(site.at("older").join("usage.db"), site.at("again").join("usage.db")).unwrap();
    assert_eq!(refused(&store).await, ledger);
    std::fs::remove_file(site.at("again").join("usage.db")).unwrap();
    assert_eq!(refused(&store).await, ledger);
}

#[tokio::test]
async fn a_chain_may_begin_with_an_empty_log() {
    let mut site = BackupSite::new().await;
    site.full("full").await;
    site.since("full", "nothing").await.unwrap();
    site.event("a", "one").await;
    site.call("search", 2).await;
    site.picture(90);
    site.since("nothing", "some").await.unwrap();
    let restored = site.restore(&site.at("some"), "restored").await.unwrap();
    assert_eq!((restored.events(), restored.pictures), (1, 1));
    let ledger = Ledger::open(&site.at("restored")).await.unwrap();
    assert_eq!(ledger.verify(|_| {}).await.unwrap().unwrap().entries, 2);
    site.restore(&site.at("nothing"), "empty").await.unwrap();
    let store = EventLog::open(&site.at("empty"), &site.clock).await.unwrap();
    assert_eq!(store.head().await.unwrap().position, Position::START);
}

#[tokio::test]
async fn regenerated_pictures_are_included_and_erased_ones_stay_erased() {
    let mut site = BackupSite::new().await;
    let [first, second, _] = site.chain().await;
    let description = site.at("media").join(Form::Original.path(first.id)).with_file_name("picture.json");
    let remade = Picture { palette: vec![Colour([1, 2, 3])], ..first.clone() };
    std::fs::write(&description, serde_json::to_vec(&remade).unwrap()).unwrap();
    let erased = ErasedPicture { picture: second.id, erased_at: Timestamp::UNIX_EPOCH };
    site.media().erase(std::slice::from_ref(&erased)).unwrap();
    let manifest = site.since("second", "third").await.unwrap();
    assert_eq!(manifest.media.unwrap().pictures, 1);
    assert_eq!(backup::verify(&site.at("third")).await.unwrap().pictures, 2);
    assert_eq!(site.restore(&site.at("third"), "restored").await.unwrap().pictures, 2);
    let media = MediaStore::open(&site.at("restored-media")).unwrap();
    assert_eq!((media.get(first.id).unwrap(), media.get(second.id).unwrap()), (Some(remade), None));
    assert_eq!(media.erased().unwrap(), [erased]);
    // Nothing is new.
    assert_eq!(site.since("third", "fourth").await.unwrap().media.unwrap().pictures, 0);
}

#[tokio::test]
async fn a_backup_without_a_listing_of_its_pictures_is_continued() {
    let mut site = BackupSite::new().await;
    site.event("a", "one").await;
    site.picture(40);
    site.full("full").await;
    remove_listing(&site.at("full"));
    site.picture(80);
    site.call("search", 1).await;
    assert_eq!(site.since("full", "next").await.unwrap().media.unwrap().pictures, 1);
    assert_eq!(site.restore(&site.at("next"), "restored").await.unwrap().pictures, 2);
}

#[tokio::test]
async fn a_failed_or_cancelled_incremental_backup_leaves_nothing() {
    let mut site = BackupSite::new().await;
    site.chain().await;
    let new = site.picture(160);
    let path = site.at("media").join(Form::Original.path(new.id));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, "other").unwrap();
    assert_refused(site.since("second", "third").await, "its bytes do not match its id");
    assert!(!site.at("third").exists());
    std::fs::write(&path, bytes).unwrap();
    let begun = async {
        while !site.at("third").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        biased;
        () = begun => {}
        _ = site.since("second", "third") => {}
    }
    if !site.at("third").join("manifest.json").exists() {
        kit::wait_until(kit::TIMEOUT, "no folder", async || !site.at("third").exists()).await;
    }
}

/// Turns the file of a closed store into one of version 0.1, which stores no traces.
async fn make_former(folder: &Path) -> EventLog {
    let file = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("events.db"));
    let mut connection = file.connect().await.unwrap();
    sqlx::query("ALTER TABLE events DROP COLUMN traceparent").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    EventLog::open_read_only(folder).await.unwrap()
}

#[tokio::test]
async fn a_backup_of_version_0_1_is_continued_and_continues() {
    let site = BackupSite::new().await;
    let folder = site.at("store");
    site.event("a", "one").await;
    site.store.close().await;
    backup::create(&make_former(&folder).await, &site.at("full"), None).await.unwrap();

    let store = EventLog::open(&folder, &site.clock).await.unwrap();
    let mut traced = append(&site.clock, "a", "two");
    traced.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().ok();
    store.append(traced.clone()).await.unwrap();
    backup::create_since(&store, &site.at("full"), &site.at("second"), None).await.unwrap();
    store.append(append(&site.clock, "b", "three")).await.unwrap();
    store.close().await;
    backup::create_since(&make_former(&folder).await, &site.at("second"), &site.at("third"), None)
        .await
        .unwrap();

    backup::restore(&site.at("third"), &site.at("back"), None, &[]).await.unwrap();
    let back = EventLog::open_read_only(&site.at("back")).await.unwrap();
    assert_eq!(back.verify(|_| {}).await.unwrap().unwrap().events, 3);
    let events = back.read_all(Position::START, 10).await.unwrap();
    let traces: Vec<_> = events.iter().map(|event| event.traceparent).collect();
    assert_eq!(traces, [None, traced.traceparent, None]);
}
