//! The store in a SQLite file: the common contract, and what is specific to it.

use std::path::Path;
use std::sync::Arc;

use event_log::*;
use proptest::prelude::*;
use schemas::chain::Link;
use schemas::clock::Clock;
use schemas::event::{Event, ProjectRenamed};
use schemas::ids::Position;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tempfile::TempDir;

use crate::event_store::{
    Subject, append, assert_refused, assert_whole, claiming, everything, keeps_the_contract,
};
use crate::model;

struct Sqlite {
    folder: TempDir,
    store: Arc<EventLog>,
}

impl Subject for Sqlite {
    async fn fresh() -> Sqlite {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EventLog::open(folder.path(), &Clock::system()).await.unwrap());
        Sqlite { folder, store }
    }

    fn store(&self) -> Arc<EventLog> {
        self.store.clone()
    }

    async fn reopened(self) -> Sqlite {
        self.store.close().await;
        let store = Arc::new(EventLog::open(self.folder.path(), &Clock::system()).await.unwrap());
        Sqlite { folder: self.folder, store }
    }
}

keeps_the_contract!(Sqlite);

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_store_agrees_with_the_model(appends in model::numbered_appends()) {
        model::agrees::<Sqlite>(&appends, false);
    }

    #[test]
    fn a_batch_equals_sequential_appends(appends in model::numbered_appends()) {
        model::agrees::<Sqlite>(&appends, true);
    }
}

/// Opens the file like any other program.
pub(crate) async fn raw(folder: &Path) -> SqliteConnection {
    sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("events.db")).connect().await.unwrap()
}

/// Executes a statement as any other program.
pub(crate) async fn execute(folder: &Path, statement: &'static str) {
    let mut hand = raw(folder).await;
    sqlx::query(statement).execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
}

/// Returns a closed store of ten events on three streams with a claim each; the sixth is a rename.
async fn ten_events() -> TempDir {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let clock = Clock::system();
    for number in 0..10 {
        let to = format!("s{}", number % 3);
        let mut append = append(&clock, &to, Expected::Any, &[&format!("reason {number}")]);
        if number == 5 {
            append.events[0].event = Event::ProjectRenamed(ProjectRenamed { slug: "n5".parse().unwrap() });
        }
        store.append(claiming(append, &[&format!("n{number}")])).await.unwrap();
    }
    store.close().await;
    folder
}

async fn verify(folder: &Path) -> Result<Verified, Damage> {
    let store = EventLog::open_read_only(folder).await.unwrap();
    let outcome = store.verify(|_| {}).await.unwrap();
    store.close().await;
    outcome
}

#[tokio::test]
async fn a_valid_log_is_verified() {
    let folder = ten_events().await;
    let store = EventLog::open_read_only(folder.path()).await.unwrap();
    let mut reports = Vec::new();
    let verified = store.verify(|position| reports.push(position)).await.unwrap().unwrap();
    let head = store.head().await.unwrap();
    assert_eq!(verified, Verified { events: head.position.0, hash: head.hash });
    assert_eq!(reports, [Position(10)]);
}

#[tokio::test]
async fn a_file_of_version_0_1_stores_traces_after_opening_for_writing() {
    let folder = ten_events().await;
    execute(folder.path(), "ALTER TABLE events DROP COLUMN traceparent").await;
    verify(folder.path()).await.unwrap();
    let read_only = EventLog::open_read_only(folder.path()).await.unwrap();
    assert_eq!(read_only.read_all(Position::START, 20).await.unwrap().len(), 10);

    let store = EventLog::open(folder.path(), &Clock::system()).await.unwrap();
    let mut traced = append(&Clock::system(), "s1", Expected::Any, &["traced"]);
    traced.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().ok();
    store.append(traced.clone()).await.unwrap();
    let traces = async |store: &EventLog| {
        let events = store.read_all(Position(9), 20).await.unwrap();
        events.iter().map(|event| event.traceparent).collect::<Vec<_>>()
    };
    assert_eq!(traces(&store).await, [None, traced.traceparent]);
    // It was opened before the file had the column.
    assert_eq!(traces(&read_only).await, [None, None]);
    read_only.close().await;
    store.close().await;

    // As version 0.1 writes: it names its columns.
    let mut hand = raw(folder.path()).await;
    let insert = "INSERT INTO events (position, id, stream, version, kind, time, actor, causation, correlation, hash, data) \
                  SELECT 12, randomblob(16), 'project-other', 1, kind, time, actor, causation, correlation, hash, data \
                  FROM events WHERE position = 11";
    sqlx::query(insert).execute(&mut hand).await.unwrap();
    let row_count: i64 =
        sqlx::query_scalar("SELECT count(traceparent) FROM events").fetch_one(&mut hand).await.unwrap();
    assert_eq!(row_count, 1);
}

/// Each statement changes history; the number is the position at which it must be detected.
const TAMPERINGS: &[(&str, u64)] = &[
    ("UPDATE events SET data = replace(data, 'reason 3', 'reason 8') WHERE position = 4", 4),
    ("UPDATE events SET data = data || ' ' WHERE position = 4", 4),
    ("UPDATE events SET data = 'x' WHERE position = 4", 4),
    ("UPDATE events SET actor = 'Bea' WHERE position = 4", 4),
    ("UPDATE events SET actor = ' ' WHERE position = 4", 4),
    ("UPDATE events SET time = time + 1 WHERE position = 4", 4),
    ("UPDATE events SET kind = 'loggia.curation.project_restored.v1' WHERE position = 4", 4),
    ("UPDATE events SET stream = 'project-other', version = 1 WHERE position = 4", 4),
    ("UPDATE events SET version = 9 WHERE position = 4", 4),
    ("UPDATE events SET id = randomblob(16) WHERE position = 4", 4),
    ("UPDATE events SET causation = randomblob(16) WHERE position = 4", 4),
    ("UPDATE events SET correlation = randomblob(16) WHERE position = 4", 4),
    ("UPDATE events SET hash = randomblob(32) WHERE position = 4", 4),
    ("DELETE FROM events WHERE position = 4", 4),
    ("DELETE FROM events WHERE position = 10", 10),
    ("DELETE FROM events WHERE position > 0", 1),
    ("UPDATE events SET position = 44 WHERE position = 10", 10),
    ("UPDATE log SET hash = randomblob(32)", 10),
    ("UPDATE log SET position = 9", 10),
    ("UPDATE log SET position = 11", 11),
    ("UPDATE claims SET stream = 'project-other' WHERE name = 'n4'", 10),
    ("UPDATE claims SET stream = 'project-s0' WHERE name = 'n5'", 6),
    ("UPDATE claims SET name = 'other' WHERE name = 'n5'", 6),
    ("DELETE FROM claims WHERE name = 'n5'", 6),
    ("DELETE FROM claims", 6),
];

#[tokio::test]
async fn every_tampering_is_detected_and_named() {
    for (statement, position) in TAMPERINGS {
        let folder = ten_events().await;
        execute(folder.path(), statement).await;
        let damage = verify(folder.path()).await.expect_err(statement);
        assert_eq!(damage.position, Position(*position), "{statement}: {damage}");
    }
}

/// What the rows are does not change, and what happens to later ones does.
#[tokio::test]
async fn a_trigger_a_view_and_a_changed_constraint_are_damage_and_are_not_opened() {
    for (statement, name, difference) in [
        (
            "CREATE TRIGGER quiet AFTER INSERT ON events BEGIN DELETE FROM events WHERE position = 3; END",
            Some("quiet"),
            "the trigger “quiet” was added",
        ),
        ("CREATE VIEW shown AS SELECT 1", Some("shown"), "the view “shown” was added"),
        ("CREATE INDEX fast ON events (time)", None, "the index “fast” was added"),
        ("DROP INDEX events_by_causation", None, "the index “events_by_causation” is missing"),
    ] {
        let folder = ten_events().await;
        let reader = EventLog::open_read_only(folder.path()).await.unwrap();
        execute(folder.path(), statement).await;
        let damage = reader.verify(|_| {}).await.unwrap().expect_err(statement);
        let reason = format!("its schema is not the one that it is created with: {difference}");
        assert_eq!(damage, Damage { position: Position(1), reason });
        let opened =
            EventLog::open(folder.path(), &Clock::system()).await.err().map(|error| error.to_string());
        let expected = name.map(|name| {
            format!(
                "the event store is damaged: {} has the trigger or view “{name}”, which Loggia does not create; verify it, and \
                 restore the last backup",
                folder.path().join("events.db").display()
            )
        });
        assert_eq!(opened, expected, "{statement}");
        reader.close().await;
    }
}

/// A version of a stream is left out, with a correctly recomputed chain.
#[tokio::test]
async fn a_gap_in_a_stream_is_detected_even_under_a_valid_chain() {
    let folder = ten_events().await;
    let store = EventLog::open_read_only(folder.path()).await.unwrap();
    let log = everything(&store).await;
    store.close().await;
    let mut forged = log[9].clone();
    forged.version = forged.version.next();
    let hash = Link::from(&forged).hash_after(log[8].hash);
    let mut hand = raw(folder.path()).await;
    for statement in
        ["UPDATE events SET version = version + 1, hash = ?1 WHERE position = 10", "UPDATE log SET hash = ?1"]
    {
        sqlx::query(statement).bind(hash.0.as_slice()).execute(&mut hand).await.unwrap();
    }
    hand.close().await.unwrap();
    let damage = verify(folder.path()).await.unwrap_err();
    assert_eq!(damage.position, Position(1), "where the stream begins");
    assert!(damage.reason.ends_with("have a gap"), "{damage}");
}

/// Flips the lowest bit of one byte of a payload; SQLite has no exclusive or.
const FLIP: &str = "UPDATE events SET data = substr(data, 1, ?1 - 1) || \
    char(unicode(substr(data, ?1, 1)) + 1 - 2 * (unicode(substr(data, ?1, 1)) & 1)) || substr(data, ?1 + 1) \
    WHERE position = 5";

#[tokio::test]
async fn any_flipped_byte_of_a_payload_is_detected() {
    let folder = ten_events().await;
    let mut hand = raw(folder.path()).await;
    let length: i64 = sqlx::query_scalar("SELECT length(data) FROM events WHERE position = 5")
        .fetch_one(&mut hand)
        .await
        .unwrap();
    hand.close().await.unwrap();
    let flip = async |at: i64| {
        let mut hand = raw(folder.path()).await;
        sqlx::query(FLIP).bind(at).execute(&mut hand).await.unwrap();
        hand.close().await.unwrap();
    };
    for at in 1..=length {
        flip(at).await;
        let outcome = verify(folder.path()).await;
        let found = matches!(&outcome, Err(damage) if damage.position == Position(5));
        assert!(found, "byte {at}: {outcome:?}");
        flip(at).await;
    }
    verify(folder.path()).await.unwrap();
}

#[tokio::test]
async fn a_damaged_end_is_rejected_on_opening() {
    let folder = ten_events().await;
    execute(folder.path(), "UPDATE events SET actor = 'Bea' WHERE position = 9").await;
    let error = EventLog::open(folder.path(), &Clock::system()).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        "the event store is damaged: the event does not match its hash (position 9); verify it, and restore the last \
         backup"
    );
}

#[tokio::test]
async fn one_folder_has_one_writer() {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let error = EventLog::open(folder.path(), &Clock::system()).await.err().unwrap();
    let sentence = format!(
        "the event store is not available: another process writes to the event store in {}; stop that one, or use \
         another folder",
        folder.path().display()
    );
    assert_eq!(error.to_string(), sentence);
    store.close().await;
    EventLog::open(folder.path(), &Clock::system()).await.unwrap();
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_rejected_unchanged() {
    let folder = ten_events().await;
    execute(folder.path(), "PRAGMA user_version = 2").await;
    let file = folder.path().join("events.db");
    let before = std::fs::read(&file).unwrap();
    for error in [
        EventLog::open(folder.path(), &Clock::system()).await.err().unwrap(),
        EventLog::open_read_only(folder.path()).await.err().unwrap(),
    ] {
        assert!(
            error.to_string().ends_with(
                "was written by a newer Loggia (its tables have version 2, this one knows 1); use that one"
            ),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_foreign_file_is_rejected_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.db");
    let mut hand = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    sqlx::query("CREATE TABLE events (anything)").execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
    let before = std::fs::read(&file).unwrap();
    let error = EventLog::open(folder.path(), &Clock::system()).await.err().unwrap();
    assert!(error.to_string().ends_with("is not an event store of Loggia"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), before);

    std::fs::write(&file, "This is not a database, but a longer text that stands where one should be.")
        .unwrap();
    let error = EventLog::open(folder.path(), &Clock::system()).await.err().unwrap();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
}

#[tokio::test]
async fn a_concurrent_reader_sees_committed_events() {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let clock = Clock::system();
    let reader = Arc::new(EventLog::open_read_only(folder.path()).await.unwrap());
    assert_eq!(reader.store_id(), store.store_id());
    let waiting = {
        let reader = reader.clone();
        tokio::spawn(async move { reader.wait_beyond(Position::START).await })
    };
    store.append(append(&clock, "a", Expected::Any, &["1", "2"])).await.unwrap();
    let woken = tokio::time::timeout(kit::TIMEOUT, waiting).await.unwrap();
    assert_eq!(woken.unwrap(), Ok(Position(2)));
    assert_eq!(everything(&reader).await, everything(&store).await);
    let refused = reader.append(append(&clock, "a", Expected::Any, &["3"])).await.unwrap_err();
    assert_eq!(refused.to_string(), "the event store is not available: it is open for reading only");
}

#[tokio::test]
async fn reading_does_not_create_a_store() {
    let folder = tempfile::tempdir().unwrap();
    assert_refused(EventLog::open_read_only(folder.path()).await, "there is no event store at");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_store_accepts_appends_after_a_failure() {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let clock = Clock::system();
    store.append(append(&clock, "a", Expected::Any, &["1"])).await.unwrap();
    let mut intruder = raw(folder.path()).await;
    let held = intruder.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let command = append(&clock, "a", Expected::Any, &["2"]);
    let error = store.append(command.clone()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the event store is not available: another process holds its file; stop it, then try again"
    );
    assert_eq!(everything(&store).await.len(), 1, "reading continues");
    held.rollback().await.unwrap();
    assert_eq!(store.append(command).await.unwrap().first, Position(2));
    assert_whole(&store).await;
}

#[tokio::test]
async fn a_log_changed_by_another_program_is_not_appended_to() {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let clock = Clock::system();
    store.append(append(&clock, "a", Expected::Any, &["1"])).await.unwrap();
    let mut intruder = raw(folder.path()).await;
    sqlx::query("UPDATE log SET position = 7").execute(&mut intruder).await.unwrap();
    let command = append(&clock, "a", Expected::Any, &["2"]);
    let first = store.append(command.clone()).await.unwrap_err();
    assert!(first.to_string().contains("another program wrote to its file"), "{first}");
    let then = store.append(command.clone()).await.unwrap_err();
    assert!(matches!(then, AppendError::Store(StoreError::Corrupt(_))), "{then}");
    sqlx::query("UPDATE log SET position = 1").execute(&mut intruder).await.unwrap();
    assert_eq!(store.append(command).await.unwrap().first, Position(2));
    assert_whole(&store).await;
}

#[tokio::test]
async fn closing_commits_pending_appends_and_rejects_later_ones() {
    let Sqlite { folder, store } = Sqlite::fresh().await;
    let clock = Clock::system();
    let waiting: Vec<_> = (0..500)
        .map(|number| {
            let (store, append) =
                (store.clone(), append(&clock, &format!("s{number}"), Expected::Any, &["x"]));
            tokio::spawn(async move { store.append(append).await })
        })
        .collect();
    store.close().await;
    let mut acknowledged = 0;
    for outcome in futures::future::join_all(waiting).await {
        match outcome.unwrap() {
            Ok(_) => acknowledged += 1,
            Err(AppendError::Store(StoreError::Unavailable(_))) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let store = EventLog::open(folder.path(), &clock).await.unwrap();
    assert_eq!(assert_whole(&store).await.len(), acknowledged);
}

/// The options in `.cargo/config.toml` must reach the linked library.
#[tokio::test]
async fn sqlite_is_built_without_memory_statistics() {
    let sqlite = Sqlite::fresh().await;
    let mut hand = raw(sqlite.folder.path()).await;
    let options: Vec<String> =
        sqlx::query_scalar("PRAGMA compile_options").fetch_all(&mut hand).await.unwrap();
    let has = |name: &str| options.iter().any(|option| option == name);
    assert!(has("DEFAULT_MEMSTATUS=0") && !has("ENABLE_MEMORY_MANAGEMENT"), "{options:?}");
}
