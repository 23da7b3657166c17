use super::*;

#[test]
fn stuck_files_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(stuck_bytes(folder.path()), 0);
    for (name, length) in [("a.stuck", 3), ("b.stuck", 4), ("c.spool", 50)] {
        std::fs::write(folder.path().join(name), vec![b'x'; length]).unwrap();
    }
    assert_eq!(stuck_bytes(folder.path()), 7);
    assert_eq!(stuck_bytes(&folder.path().join("absent")), 0);
}
