//! Which processes hold a data folder, and who may use it.

use super::*;

#[test]
fn a_folder_is_held_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path());
    let both = [Part::Write, Part::Project];
    let held = data.hold(&both).unwrap();
    data.announce(&both, &Running { pid: 7, nats_url: "nats://x".into(), node: "n".into() }).unwrap();
    for part in both {
        let error = data.hold(&[part]).unwrap_err().to_string();
        assert!(error.starts_with("another loggia (process 7) is running on the data folder"), "{error}");
        assert_eq!(data.running(part).unwrap().pid, 7);
    }
    drop(held);
    assert!(data.running(Part::Write).is_none(), "the announcement of a dead process does not count");
    let _write = data.hold(&[Part::Write]).unwrap();
    data.hold(&[Part::Project]).unwrap();
}

#[test]
fn the_announced_api_is_that_of_the_first_process() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path());
    let _held = data.hold(&[Part::Write]).unwrap();
    assert_eq!(data.serves_at(), None);
    let first = data.announce_api("127.0.0.1:4001".parse().unwrap()).unwrap().unwrap();
    assert!(data.announce_api("127.0.0.1:4002".parse().unwrap()).unwrap().is_none());
    assert_eq!(data.serves_at().unwrap(), "127.0.0.1:4001");
    first.withdraw();
    assert!(!data.api_address().exists());
    drop(data.announce_api("127.0.0.1:4003".parse().unwrap()).unwrap().unwrap());
    assert!(data.api_address().exists() && data.serves_at().is_none(), "a dead process serves nowhere");
    let _again = data.announce_api("127.0.0.1:4004".parse().unwrap()).unwrap().unwrap();
    assert_eq!(data.serves_at().unwrap(), "127.0.0.1:4004");
}

#[test]
fn the_snapshot_token_is_created_once_and_may_be_written_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let (data, path) = (DataFolder::new(folder.path()), folder.path().join("snapshot.token"));
    let token = data.snapshot_token().unwrap();
    assert_eq!((token.len(), data.snapshot_token().unwrap()), (64, token));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&path, "OneForAllNodes0123456789\n").unwrap();
    assert_eq!(data.snapshot_token().unwrap(), "OneForAllNodes0123456789");
    for wrong in ["", "short", "with a blank and much more text", "user:password:and:more:text"] {
        fs::write(&path, wrong).unwrap();
        let error = data.snapshot_token().unwrap_err().to_string();
        assert!(error.contains("must hold at least 24 letters and digits"), "{error}");
    }
}

#[test]
fn a_new_folder_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    DataFolder::new(&root).hold(&[Part::Write]).unwrap();
    assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path());
    let us = rustix::process::geteuid().as_raw();
    data.check_owner(us + 1).unwrap();
    drop(data.hold(&[Part::Write]).unwrap());
    data.check_owner(us).unwrap();
    let refused = data.check_owner(us + 1).unwrap_err().to_string();
    let expected = format!(
        "belongs to the user with the id {us}, and this process runs as {}; nothing was changed. Run it as that user, \
         for example with `sudo -u '#{us}' loggia …`",
        us + 1
    );
    assert!(refused.ends_with(&expected), "{refused}");
}

#[test]
fn a_newer_folder_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("format"), "2\n").unwrap();
    let error = DataFolder::new(folder.path()).hold(&[Part::Write]).unwrap_err().to_string();
    assert!(
        error.contains("written by a newer version of Loggia (format 2; this one reads up to 1)"),
        "{error}"
    );
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["format"]);
}
