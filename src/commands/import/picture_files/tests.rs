//! Picture files beside an import.

use super::*;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

async fn text(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let bytes = read_below(folder, name).await?;
    Ok(bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
}

#[tokio::test]
async fn a_name_is_found_as_it_is_written_and_in_the_other_forms() {
    let (composed, decomposed) = ("T\u{fc}r.jpg", "Tu\u{308}r.jpg");
    let both = folder(&[(composed, "nfc"), (decomposed, "nfd")]);
    for (name, content) in [(composed, "nfc"), (decomposed, "nfd")] {
        assert_eq!(text(both.path(), name).await, Ok(Some(content.to_owned())), "as it is written");
        let one = folder(&[(name, "the only one")]);
        for written in [composed, decomposed] {
            let found = text(one.path(), written).await;
            assert_eq!(found, Ok(Some("the only one".to_owned())), "{name:?} as {written:?}");
            assert_eq!(read(one.path().join(written)).await, Ok(b"the only one".to_vec()));
        }
    }
    let nested = folder(&[("Ha\u{308}user/2019/T\u{fc}r.jpg", "nested"), ("H\u{e4}user/b.jpg", "other")]);
    for written in ["H\u{e4}user/2019/Tu\u{308}r.jpg", "Ha\u{308}user/2019/T\u{fc}r.jpg"] {
        assert_eq!(text(nested.path(), written).await, Ok(Some("nested".to_owned())), "{written:?}");
    }
    let plain = folder(&[("a.jpg", "without blanks")]);
    assert_eq!(text(plain.path(), " a.jpg\u{a0}").await, Ok(Some("without blanks".to_owned())));
    assert_eq!(text(nested.path(), "Tor.jpg").await, Ok(None));
    let missing = nested.path().join(composed);
    assert_eq!(read(missing.clone()).await, Err(absent(&missing)));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_followed_only_within_the_folder() {
    use std::os::unix::fs::symlink;

    let outside = folder(&[("secret.jpg", "outside")]);
    let import = folder(&[("photos/a.jpg", "inside")]);
    let at = |name: &str| import.path().join(name);
    symlink(outside.path(), at("linked")).unwrap();
    symlink(outside.path().join("secret.jpg"), at("photos/linked.jpg")).unwrap();
    symlink(at("photos"), at("pictures")).unwrap();
    symlink("a.jpg", at("photos/b.jpg")).unwrap();
    symlink("nowhere", at("broken.jpg")).unwrap();
    let real = outside.path().join("secret.jpg").canonicalize().unwrap();
    for name in ["linked/secret.jpg", "photos/linked.jpg"] {
        let reason = format!(
            "{} is a link that leads out of the folder of the imported file, to {}; copy the picture into that folder.",
            at(name).display(),
            real.display()
        );
        assert_eq!(text(import.path(), name).await, Err(reason));
    }
    for name in ["photos/a.jpg", "photos/b.jpg", "pictures/a.jpg"] {
        assert_eq!(text(import.path(), name).await, Ok(Some("inside".to_owned())), "{name}");
    }
    assert_eq!(text(import.path(), "broken.jpg").await, Ok(None));
    // The folder of the imported file may itself be a link, and so may a file that a person names.
    let link = outside.path().join("import");
    symlink(import.path(), &link).unwrap();
    assert_eq!(text(&link, "photos/a.jpg").await, Ok(Some("inside".to_owned())));
    assert_eq!(read(at("photos/linked.jpg")).await, Ok(b"outside".to_vec()));
}

#[tokio::test]
async fn what_is_no_picture_file_is_refused_with_a_sentence() {
    let folder = folder(&[("photos/a.jpg", "a")]);
    let photos = folder.path().canonicalize().unwrap().join("photos");
    assert_eq!(text(folder.path(), "photos").await, Err(format!("{} is not a file.", photos.display())));
    let long = std::fs::File::create(folder.path().join("long.jpg")).unwrap();
    long.set_len(MAX_PICTURE_BYTES as u64 + 1).unwrap();
    let reason = format!("It has {} bytes; a picture may have {MAX_PICTURE_BYTES}.", MAX_PICTURE_BYTES + 1);
    assert_eq!(text(folder.path(), "long.jpg").await, Err(reason));
}
