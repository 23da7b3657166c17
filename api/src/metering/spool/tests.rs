use schemas::usage::{CallId, Surface};
use uuid::Uuid;

use super::*;

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

/// Everything in a file, in its order.
fn content(held: &Held) -> Vec<Call> {
    let (mut calls, mut from) = (Vec::new(), 0);
    loop {
        let page = held.read(from).unwrap();
        if page.end == from {
            return calls;
        }
        calls.extend(page.calls);
        from = page.end;
    }
}

#[tokio::test]
async fn what_was_added_is_there_after_a_crash_and_goes_to_one_successor() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, left) = Spool::open(folder.path()).unwrap();
    assert_eq!(left, []);
    for call in &calls(0..600) {
        spool.append(call).await.unwrap();
    }
    assert_eq!(spool.waiting(), 600);
    let (beside, taken) = Spool::open(folder.path()).unwrap();
    assert_eq!(taken, [], "a file is left to the process that holds it");
    // A crash leaves the file and lets the lock go; half a line may stand behind the last whole one.
    let path = spool.own.path.clone();
    spool.own.lock().unlock().unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\":").unwrap();
    let (next, left) = Spool::open(folder.path()).unwrap();
    assert_eq!(left, calls(0..600));
    assert_eq!(next.waiting(), 600);
    drop(beside);
    let files = next.files();
    assert_eq!(content(&files[0]), calls(0..600));
    next.published(&files[0], files[0].length.load(Ordering::Relaxed), 600);
    assert!(next.finished(&files[0], 0).unwrap());
    assert!(!path.exists() && next.waiting() == 0);
    drop((spool, next, files));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "an empty file is not left behind");
}

#[tokio::test]
async fn many_at_once_are_each_durable_once() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = Spool::open(folder.path()).unwrap();
    let all = calls(0..2_000);
    let added = futures::future::join_all(all.iter().map(|call| spool.append(call))).await;
    assert!(added.iter().all(Result::is_ok));
    let mut there = content(&spool.own);
    there.sort_by_key(|call| call.id);
    assert_eq!(there, all);
}

#[tokio::test]
async fn a_file_is_emptied_only_where_nothing_was_added_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = Spool::open(folder.path()).unwrap();
    spool.append(&call(1)).await.unwrap();
    let page = spool.own.read(0).unwrap();
    spool.append(&call(2)).await.unwrap();
    assert!(!spool.finished(&spool.own, page.end).unwrap());
    spool.published(&spool.own, page.end, 1);
    let rest = spool.own.read(spool.own.unpublished()).unwrap();
    assert_eq!(rest.calls, [call(2)]);
    assert!(spool.finished(&spool.own, rest.end).unwrap());
    spool.append(&call(3)).await.unwrap();
    assert_eq!((content(&spool.own), spool.own.unpublished()), (vec![call(3)], 0));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spool");
    std::fs::write(&path, "a file").unwrap();
    let error = Spool::open(&path).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("calls cannot be kept in {} while NATS is away:", path.display())),
        "{error}"
    );
}

#[tokio::test]
async fn the_end_of_the_writer_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(folder.path()).unwrap();
    let soon = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(soon, spool.writer_ended()).await.is_err(), "it runs");
    // A thread that panics drops its end of the queue.
    spool.queue = mpsc::channel(1).0;
    assert!(spool.append(&call(1)).await.is_err());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), spool.writer_ended()).await.unwrap();
    let text = ended.to_string();
    assert!(text.contains("its writer has ended"), "{text}");
}
