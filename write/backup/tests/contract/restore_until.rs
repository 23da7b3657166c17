//! Restoring a backup up to an earlier point.

use std::path::{Path, PathBuf};

use backup::*;
use event_log::*;
use jiff::{SignedDuration, Timestamp};
use schemas::account::{AccountEvent, AccountOpened, KeyIssued, KeyRevoked};
use schemas::clock::Clock;
use schemas::event::{Event, ProjectRenamed};
use schemas::ids::{Position, StreamId};
use schemas::key::Key;
use tempfile::TempDir;

use crate::append;

/// A backup of a log, and the clock of its store.
struct BackedUpLog {
    folder: TempDir,
    clock: Clock,
    manifest: Manifest,
    events: Vec<schemas::envelope::Recorded>,
}

fn at(second: i64) -> Timestamp {
    "2026-11-20T08:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(second)
}

fn named(name: &str) -> Claim {
    Claim { namespace: Namespace::SLUG, name: name.into() }
}

async fn holder(store: &EventLog, name: &str) -> Option<String> {
    let stream = store.holder(Namespace::SLUG, name).await.unwrap();
    stream.map(|stream| stream.as_str().to_owned())
}

/// Appends five renames, one per second, the last but one to an earlier name of its project.
async fn backed_up_log() -> BackedUpLog {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = EventLog::open(&folder.path().join("store"), &clock).await.unwrap();
    let acts = [("a", "one"), ("b", "two"), ("a", "three"), ("a", "one"), ("c", "four")];
    for (second, (to, name)) in (1..).zip(acts) {
        let mut append = append(&clock, to, "renamed");
        append.events[0].event = Event::ProjectRenamed(ProjectRenamed { slug: name.parse().unwrap() });
        append.time = at(second);
        append.claims = vec![named(name)];
        store.append(append).await.unwrap();
    }
    let events = store.read_all(Position::START, 100).await.unwrap();
    let manifest = backup::create(&store, &folder.path().join("backup"), None).await.unwrap();
    store.close().await;
    BackedUpLog { folder, clock, manifest, events }
}

impl BackedUpLog {
    fn backup(&self) -> PathBuf {
        self.folder.path().join("backup")
    }

    async fn restore(&self, name: &str, until: RestorePoint) -> Result<(PathBuf, Restored), BackupError> {
        let target = self.folder.path().join(name);
        let restored = backup::restore_until(&self.backup(), &target, None, &[], Some(until)).await?;
        Ok((target, restored))
    }

    async fn refused(&self, until: RestorePoint) -> String {
        let refused = self.restore("refused", until).await.unwrap_err().to_string();
        let left: Vec<_> = std::fs::read_dir(self.folder.path().join("refused")).unwrap().collect();
        assert_eq!(left.len(), 1, "the lock alone: {left:?}");
        refused
    }
}

async fn opened(target: &Path, clock: &Clock) -> EventLog {
    EventLog::open(target, clock).await.unwrap()
}

#[tokio::test]
async fn a_log_is_restored_up_to_the_named_event() {
    let backed_up_log = backed_up_log().await;
    let (target, restored) =
        backed_up_log.restore("second", RestorePoint::Position(Position(2))).await.unwrap();
    let left_out = LeftOut { events: 3, from: Position(3), time: at(3), revoked_keys: [].into() };
    let truncation =
        Truncation { position: Position(2), hash: backed_up_log.events[1].hash, time: at(2), left_out };
    assert_eq!(restored.truncation, Some(truncation));
    assert_eq!((restored.events(), restored.manifest), (2, backed_up_log.manifest.clone()));
    let store = opened(&target, &backed_up_log.clock).await;
    assert_eq!(store.read_all(Position::START, 100).await.unwrap(), backed_up_log.events[..2]);
    let verified = store.verify(|_| {}).await.unwrap().unwrap();
    assert_eq!(verified, Verified { events: 2, hash: backed_up_log.events[1].hash });
    let expected = [holder(&store, "one").await, holder(&store, "two").await, holder(&store, "three").await];
    assert_eq!(expected, [Some("project-a".into()), Some("project-b".into()), None]);
    // Names that only later events claimed are free, and appends continue.
    let mut next = append(&backed_up_log.clock, "d", "claims");
    next.claims = vec![named("three"), named("four")];
    assert_eq!(store.append(next).await.unwrap().first, Position(3));
    assert_eq!(holder(&store, "four").await, Some("project-d".into()));
    let found = std::fs::read(target.join("events.db")).unwrap();
    store.close().await;
    let id = backed_up_log.events[4].id.0;
    assert!(
        !found.windows(16).any(|window| window == id.as_bytes()),
        "removed events leave nothing in the file"
    );
}

#[tokio::test]
async fn a_name_also_claimed_by_a_kept_event_stays_claimed() {
    let backed_up_log = backed_up_log().await;
    let (target, _) = backed_up_log.restore("third", RestorePoint::Position(Position(3))).await.unwrap();
    let store = opened(&target, &backed_up_log.clock).await;
    let mut names = Vec::new();
    for name in ["one", "two", "three", "four"] {
        names.push(holder(&store, name).await);
    }
    let (a, b) = (Some("project-a".to_owned()), Some("project-b".to_owned()));
    assert_eq!(names, [a.clone(), b, a, None]);
    store.close().await;
}

#[tokio::test]
async fn a_time_selects_the_last_event_up_to_it() {
    let backed_up_log = backed_up_log().await;
    let created = backed_up_log.manifest.created;
    let between = at(3) + SignedDuration::from_millis(500);
    for (name, until, last) in [("exact", at(3), 3), ("between", between, 3), ("last", at(4), 4)] {
        let (_, restored) = backed_up_log.restore(name, RestorePoint::Time(until)).await.unwrap();
        assert_eq!(restored.events(), last, "{name}");
    }
    // Nothing is left out.
    for (name, until) in [("end", RestorePoint::Position(Position(5))), ("made", RestorePoint::Time(created))]
    {
        let (target, restored) = backed_up_log.restore(name, until).await.unwrap();
        assert_eq!((restored.events(), restored.truncation), (5, None), "{name}");
        assert!(!target.join("events.truncation.db").exists());
    }
}

#[tokio::test]
async fn a_point_outside_the_backup_is_rejected() {
    let backed_up_log = backed_up_log().await;
    let created = backed_up_log.manifest.created;
    let beyond = "the backup has the positions 1 to 5, and not 6; name one of these, or take a newer backup";
    assert_eq!(backed_up_log.refused(RestorePoint::Position(Position(6))).await, beyond);
    let early = at(0);
    assert_eq!(
        backed_up_log.refused(RestorePoint::Time(early)).await,
        format!("the first event of the backup was recorded on {}, after {early}; name a later time", at(1))
    );
    let late = created + SignedDuration::from_secs(1);
    assert_eq!(
        backed_up_log.refused(RestorePoint::Time(late)).await,
        format!(
            "the backup was made on {created} and has nothing of what was recorded until {late}; take a newer backup, \
             or leave --until out to restore all that it has"
        )
    );
}

#[tokio::test]
async fn keys_that_were_revoked_later_are_named() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = EventLog::open(&folder.path().join("store"), &clock).await.unwrap();
    let account = StreamId::account(clock.account_id());
    let key = KeyIssued::of(&Key::generate(|bytes| bytes.fill(7)), "free".parse().unwrap(), None);
    let key_id = key.key_id;
    let claim = Claim { namespace: Namespace::KEY, name: key_id.to_string() };
    for (event, claims) in [
        (AccountEvent::AccountOpened(AccountOpened {}), vec![]),
        (AccountEvent::KeyIssued(key), vec![claim]),
        (AccountEvent::KeyRevoked(KeyRevoked { key_id }), vec![]),
    ] {
        let mut append = append(&clock, "unused", "account");
        append.stream = account.clone();
        append.events[0].event = Event::Account(event);
        append.claims = claims;
        store.append(append).await.unwrap();
    }
    store.append(append(&clock, "a", "unlike")).await.unwrap();
    let backup = folder.path().join("backup");
    backup::create(&store, &backup, None).await.unwrap();
    store.close().await;
    let mut named = Vec::new();
    for last in [1, 2, 3] {
        let (target, until) = (folder.path().join(last.to_string()), RestorePoint::Position(Position(last)));
        let restored = backup::restore_until(&backup, &target, None, &[], Some(until)).await.unwrap();
        named.push(Vec::from_iter(restored.truncation.unwrap().left_out.revoked_keys));
    }
    assert_eq!(named, [vec![], vec![key_id], vec![]]);
}
