//! Copies of an index while it is written: each is one complete commit, which a writer can continue.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn every_copy_during_commits_and_merges_is_one_commit() {
    let mut fixture = Fixture::empty();
    fixture.add(&[Project::named(0, "House")]);
    fixture.commit("1");
    let (folder, done) = (fixture.folder.path().to_owned(), AtomicBool::new(false));
    let copies = std::thread::scope(|scope| {
        let copying = scope.spawn(|| {
            let mut copies = Vec::new();
            while !done.load(Ordering::Relaxed) || copies.is_empty() {
                let to = tempfile::tempdir().unwrap();
                let payload = copy(&folder, to.path()).unwrap();
                copies.push((payload, to));
                // The writer waits while the files of a copy are opened: leave it time.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            copies
        });
        for count in 2..=40 {
            upsert(&mut fixture.writer, &Project::named(count - 1, "House"));
            // Each commit replaces a document of the one before, so that segments have deletions.
            upsert(&mut fixture.writer, &Project::named(count - 2, "House"));
            fixture.writer.commit(&count.to_string()).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        copying.join().unwrap()
    });
    for (payload, to) in &copies {
        let reader = SearchReader::open(to.path()).unwrap();
        assert_eq!((reader.payload(), reader.documents()), (payload.clone(), payload.parse().unwrap()));
    }
    let (payload, to) = copies.last().unwrap();
    let same =
        Fixture::of(&(0..payload.parse().unwrap()).map(|n| Project::named(n, "House")).collect::<Vec<_>>());
    assert_eq!(SearchReader::open(to.path()).unwrap().digest().unwrap(), same.reader.digest().unwrap());
}

#[test]
fn the_writer_of_a_copy_continues_it_and_removes_copied_files() {
    let mut fixture = Fixture::named(&["One", "Two"]);
    fixture.add(&[Project::named(7, "Three")]);
    fixture.commit("second");
    let to = tempfile::tempdir().unwrap();
    assert_eq!(copy(fixture.folder.path(), to.path()).unwrap(), "second");
    let files = || -> BTreeSet<std::ffi::OsString> {
        std::fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let copied = files();
    let mut writer = SearchWriter::open_or_create(to.path()).unwrap();
    assert_eq!(writer.payload(), "second");
    upsert(&mut writer, &Project::named(8, "Four"));
    writer.commit("third").unwrap();
    writer.force_merge().unwrap();
    writer.close().unwrap();
    let reader = SearchReader::open(to.path()).unwrap();
    assert_eq!((reader.documents(), reader.payload().as_str()), (4, "third"));
    let of_segments = |name: &&std::ffi::OsString| name.len() > 30;
    let remaining = files();
    assert_eq!(copied.intersection(&remaining).filter(of_segments).count(), 0, "{copied:?} {remaining:?}");
    assert_eq!(fixture.reader.documents(), 3, "the original is unchanged");
}

#[test]
fn copying_fails_without_an_index() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(copy(from.path(), to.path()).is_err());
    assert_eq!(std::fs::read_dir(to.path()).unwrap().count(), 0);
}
