use std::time::Duration;

use schemas::usage::{CallId, Counted, Surface};
use uuid::Uuid;

use super::super::unconfirmed::UnconfirmedUsage;
use super::*;

/// Larger than what a test writes.
const LIMIT: u64 = 1 << 30;

fn call(number: u128) -> Call {
    Call {
        id: CallId(Uuid::from_u128(number)),
        key_id: "Ab3dEf9h".parse().unwrap(),
        tier: "free".parse().unwrap(),
        month: "2026-11".parse().unwrap(),
        time: "2026-11-20T08:30:00.123456Z".parse().unwrap(),
        surface: Surface::Rest,
        operation: "search".into(),
    }
}

fn calls(numbers: std::ops::Range<u128>) -> Vec<Call> {
    numbers.map(call).collect()
}

/// A spool, and the usage that its calls are charged to.
struct Opened {
    spool: Spool,
    unconfirmed: Arc<UnconfirmedUsage>,
}

fn open(folder: &Path) -> (Opened, AdoptedCalls) {
    let (spool, left) = Spool::open(folder, LIMIT).unwrap();
    (Opened { spool, unconfirmed: Arc::default() }, left)
}

impl Opened {
    async fn append(&self, call: &Call) -> io::Result<()> {
        self.spool.append(call, true, self.unconfirmed.take(&Budget::of(call))).await
    }

    fn file(&self) -> Arc<SpoolFile> {
        self.spool.lanes().into_values().flatten().next().unwrap()
    }

    /// Returns the number of calls that are charged to the budget of the calls here.
    fn taken(&self) -> u64 {
        self.unconfirmed.used(&Budget::of(&call(0)), Counted { used: 0, through: 0 })
    }
}

/// Every call in a file, in its order.
fn content(file: &SpoolFile) -> Vec<Call> {
    let (mut calls, mut from) = (Vec::new(), 0);
    loop {
        let page = file.read(from).unwrap();
        if page.end == from {
            return calls;
        }
        calls.extend(page.lines.into_iter().map(|line| line.unwrap().call));
        from = page.end;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn calls_survive_a_crash_and_are_adopted_by_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let (first, left) = open(folder.path());
    assert!(left.is_empty());
    for call in &calls(0..600) {
        first.append(call).await.unwrap();
    }
    assert_eq!((first.spool.waiting(), first.taken()), (600, 600));
    let (_, taken) = open(folder.path());
    assert!(taken.is_empty(), "a locked file is not adopted");
    // A crash leaves the file and releases the lock; a partial line may follow the last complete one.
    let path = first.file().path.clone();
    drop(first);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\":").unwrap();
    let (next, left) = open(folder.path());
    assert_eq!(left, AdoptedCalls::from([(Budget::of(&call(0)), 600)]));
    assert_eq!(next.spool.waiting(), 600);
    let file = next.file();
    assert_eq!((file.is_adopted, content(&file)), (true, calls(0..600)));
    let end = file.read(0).unwrap().end;
    next.spool.published(&file, end, 600);
    assert!(next.spool.finished(&file, end).unwrap());
    assert!(!path.exists() && next.spool.waiting() == 0);
    drop((next, file));
    assert_eq!(files(folder.path()), [] as [PathBuf; 0], "no file is left");
}

#[tokio::test]
async fn each_concurrent_call_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = open(folder.path());
    let all = calls(0..2_000);
    let added = futures::future::join_all(all.iter().map(|call| spool.append(call))).await;
    assert!(added.iter().all(Result::is_ok));
    let mut there = content(&spool.file());
    there.sort_by_key(|call| call.id);
    assert_eq!(there, all);
}

#[tokio::test]
async fn a_file_is_emptied_only_if_nothing_was_added_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = open(folder.path());
    spool.append(&call(1)).await.unwrap();
    let file = spool.file();
    let page = file.read(0).unwrap();
    spool.append(&call(2)).await.unwrap();
    assert!(!spool.spool.finished(&file, page.end).unwrap());
    spool.spool.published(&file, page.end, 1);
    let rest = file.read(file.unpublished()).unwrap();
    assert_eq!(rest.lines, [Ok(Spooled { call: call(2), is_unsent: true })]);
    spool.spool.published(&file, rest.end, 1);
    assert!(spool.spool.finished(&file, rest.end).unwrap());
    assert!(spool.spool.lanes().is_empty());
    spool.append(&call(3)).await.unwrap();
    assert_eq!((content(&file), file.unpublished()), (vec![call(3)], 0));
}

#[tokio::test]
async fn each_tier_has_its_own_file_but_files_of_0_1_have_several_tiers() {
    let folder = tempfile::tempdir().unwrap();
    let studio = |number| Call { tier: "studio".parse().unwrap(), ..call(number) };
    let lines: String =
        [call(1), studio(2)].map(|call| serde_json::to_string(&call).unwrap() + "\n").concat();
    std::fs::write(folder.path().join("0123.spool"), lines).unwrap();
    let (spool, left) = open(folder.path());
    assert_eq!(left, AdoptedCalls::from([(Budget::of(&call(1)), 1), (Budget::of(&studio(1)), 1)]));
    spool.append(&call(3)).await.unwrap();
    spool.append(&studio(4)).await.unwrap();
    let lanes = spool.spool.lanes().into_iter().map(|(tier, files)| {
        let tier = tier.map_or("several".to_owned(), |tier| tier.to_string());
        (tier, files.iter().flat_map(|file| content(file)).map(|call| call.id.0.as_u128()).collect())
    });
    let lanes: Vec<(String, Vec<u128>)> = lanes.collect();
    assert_eq!(
        lanes,
        [("several".into(), vec![1, 2]), ("free".to_owned(), vec![3]), ("studio".into(), vec![4])]
    );
}

#[tokio::test]
async fn an_unreadable_line_does_not_hide_others() {
    let folder = tempfile::tempdir().unwrap();
    let line = |number| serde_json::to_string(&call(number)).unwrap();
    let zeros = "\0".repeat(40);
    let damage = "x".repeat(3 << 20);
    let text = format!("{}\n{{\"id\":7}}\n{zeros}{}\n{damage}\n{}\n", line(1), line(2), line(3));
    std::fs::write(folder.path().join("0123.spool"), text).unwrap();
    let (spool, _) = open(folder.path());
    let (mut ids, mut unreadable, mut from) = (Vec::new(), 0, 0);
    loop {
        let page = spool.file().read(from).unwrap();
        if page.end == from {
            break;
        }
        from = page.end;
        for line in page.lines {
            match line {
                Ok(spooled) => ids.push(spooled.call.id.0.as_u128()),
                Err(_) => unreadable += 1,
            }
        }
    }
    assert_eq!((ids, unreadable), (vec![1, 2, 3], 5));
}

#[tokio::test]
async fn a_full_spool_accepts_only_calls_that_may_count() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = Spool::open(folder.path(), 1).unwrap();
    let (spool, call) = (Opened { spool, unconfirmed: Arc::default() }, call(1));
    spool.append(&call).await.unwrap();
    let refused = spool.append(&call).await.unwrap_err().to_string();
    assert!(
        refused.starts_with("it holds ") && refused.ends_with("the setting spool_limit allows 1"),
        "{refused}"
    );
    assert_eq!((spool.spool.waiting(), spool.taken()), (1, 1), "a refused call leaves nothing");
    spool.spool.append(&call, false, spool.unconfirmed.take(&Budget::of(&call))).await.unwrap();
    let kept = spool.file().read(0).unwrap().lines.into_iter().map(|line| line.unwrap().is_unsent);
    assert_eq!(kept.collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn a_dropped_request_is_written_completely_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = open(folder.path());
    spool.append(&call(0)).await.unwrap();
    // The writer is blocked, so that the queue fills up and most requests wait for a slot in it.
    let shared = spool.spool.shared.clone();
    let ((holds, held), (release, released)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
    let holder = std::thread::spawn(move || {
        let _files = shared.files();
        holds.send(()).unwrap();
        let _ = released.recv();
    });
    held.recv().unwrap();
    let all = calls(1..QUEUE as u128 * 2 + 1_000);
    let waiting = futures::future::join_all(
        all.iter().map(|call| spool.spool.append(call, false, spool.unconfirmed.take(&Budget::of(call)))),
    );
    let dropped = tokio::time::timeout(Duration::from_millis(200), waiting).await;
    assert!(dropped.is_err());
    release.send(()).unwrap();
    holder.join().unwrap();
    spool.append(&call(0)).await.unwrap();
    let written = content(&spool.file()).len() as u64;
    assert!(written < all.len() as u64);
    assert_eq!((spool.spool.waiting(), spool.taken()), (written, written));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spool");
    std::fs::write(&path, "a file").unwrap();
    let error = Spool::open(&path, LIMIT).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("calls cannot be kept in {} while NATS is unreachable:", path.display())),
        "{error}"
    );
}

#[tokio::test]
async fn the_end_of_the_writer_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (mut opened, _) = open(folder.path());
    let soon = Duration::from_millis(50);
    assert!(tokio::time::timeout(soon, opened.spool.writer_ended()).await.is_err(), "it runs");
    // A thread that panics drops its end of the queue.
    opened.spool.queue = Some(mpsc::channel(1).0);
    assert!(opened.append(&call(1)).await.is_err());
    assert_eq!((opened.spool.waiting(), opened.taken()), (0, 0));
    let ended = tokio::time::timeout(Duration::from_secs(60), opened.spool.writer_ended()).await.unwrap();
    let text = ended.to_string();
    assert!(text.contains("its writer has ended"), "{text}");
}
