use super::*;

#[test]
fn a_settings_file_is_for_its_owner_and_never_replaced() {
    use std::os::unix::fs::PermissionsExt;

    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a/shop").display().to_string();
    let path = format!("{folder}/{FILE}");
    write(&folder, &path, "listen = 1\n").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = write(&folder, &path, "other\n").unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("{path} is there already and stays as it is; edit it, or name another folder")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "listen = 1\n");
}

#[test]
fn a_path_is_whole_and_text() {
    assert_eq!(whole_path(Path::new("/srv//shop/./")).unwrap(), "/srv/shop");
    let current = std::env::current_dir().unwrap().display().to_string();
    assert_eq!(whole_path(Path::new("shop")).unwrap(), format!("{current}/shop"));
    for wrong in ["", "/srv/a\nb"] {
        assert!(whole_path(Path::new(wrong)).is_err(), "{wrong:?}");
    }
}
