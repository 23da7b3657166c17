use super::super::{Encoder, EncoderChoice};
use super::*;

const FILES: [&str; 2] = ["efficientnet-lite0.f16", "potion-base-8m.i8"];

fn open(folder: &Path) -> Result<Encoder, EncoderError> {
    Encoder::open(&EncoderChoice::Weights(folder.to_owned()))
}

/// Returns the name of each model with its state in a word.
fn states(folder: &Path) -> [(&'static str, &'static str); 2] {
    let state = |status: Status| match status.state {
        State::Missing => (status.model, "missing"),
        State::Ready { .. } => (status.model, "ready"),
        State::Unusable(_) => (status.model, "unusable"),
    };
    let states: Vec<_> = status(folder).into_iter().map(state).collect();
    states.try_into().unwrap()
}

#[test]
fn without_weights_the_encoder_is_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    for folder in [folder.path(), &folder.path().join("missing")] {
        assert_eq!(open(folder).unwrap().name(), "loggia-1");
        assert_eq!(states(folder), [("efficientnet-lite0", "missing"), ("potion-base-8m", "missing")]);
    }
}

#[test]
fn weights_with_other_content_are_refused_with_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    let after = |wanted: &str| {
        format!(
            ", where the file with the SHA-256 {wanted} belongs; remove it, and bring the weights again with bin/setup, or \
             from a folder with `loggia models fetch DIR`"
        )
    };
    for (model, name) in MODELS.into_iter().zip(FILES) {
        let file = folder.path().join(name);
        let size = model.converted.bytes;
        let size = usize::try_from(size).unwrap();
        let zeros = |length| HEXLOWER.encode(&Sha256::digest(vec![0; length]));
        for (length, fault) in [
            (0, "is empty".to_owned()),
            (1_000, format!("has 1000 of {size} bytes and the SHA-256 {}", zeros(1_000))),
            (size, format!("has the SHA-256 {}", zeros(size))),
            (size + 1, format!("has the SHA-256 {}", zeros(size + 1))),
        ] {
            std::fs::write(&file, vec![0; length]).unwrap();
            let expected = format!("{} {fault}{}", file.display(), after(model.converted.sha256));
            assert_eq!(open(folder.path()).unwrap_err().to_string(), expected);
            assert!(states(folder.path()).contains(&(model.name, "unusable")));
            assert_eq!(install(folder.path(), folder.path()).unwrap_err().to_string(), expected);
        }
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILES[1]);
    std::fs::create_dir(&file).unwrap();
    let message = open(folder.path()).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{} cannot be read (", file.display())), "{message}");
    assert!(message.ends_with("; make it readable, or remove it"), "{message}");
}

#[test]
fn a_folder_without_weights_or_with_damaged_ones_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let expected = format!(
        "{} holds no weights; put efficientnet-lite0-57934424.pth there for pictures, model.safetensors and tokenizer.json of \
         potion-base-8M for texts, or the converted files of another Loggia",
        from.display()
    );
    assert_eq!(install(&from, &to).unwrap_err().to_string(), expected, "there is no such folder");
    std::fs::create_dir(&from).unwrap();
    std::fs::write(from.join("tokenizer.json.part"), "{}").unwrap();
    assert_eq!(install(&from, &to).unwrap_err().to_string(), expected);
    for model in MODELS {
        for file in model.delivered {
            std::fs::write(from.join(file.name), "<html>Not found</html>").unwrap();
            let message = install(&from, &to).unwrap_err().to_string();
            let start = format!("{} has 22 of {} bytes", from.join(file.name).display(), file.bytes);
            assert!(message.starts_with(&start), "{message}");
            std::fs::remove_file(from.join(file.name)).unwrap();
        }
    }
    assert!(!to.exists());
}

#[test]
fn either_of_the_weights_or_both_make_an_encoder() {
    let Some(weights) = kit::weights() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("new/to"));
    std::fs::create_dir(&from).unwrap();
    std::fs::copy(weights.join(FILES[1]), from.join(FILES[1])).unwrap();
    let installed = install(&from, &to).unwrap();
    let [Status { model: "potion-base-8m", file, state: State::Ready { bytes: 7_896_970 } }] = &installed[..]
    else {
        panic!("{installed:?}");
    };
    assert_eq!(file, &to.join(FILES[1]));
    assert_eq!(states(&to), [("efficientnet-lite0", "missing"), ("potion-base-8m", "ready")]);
    assert_eq!(open(&to).unwrap().name(), "loggia-1+potion-base-8m");

    std::fs::copy(weights.join(FILES[0]), from.join(FILES[0])).unwrap();
    std::fs::write(to.join(FILES[0]), "damaged").unwrap();
    assert_eq!(install(&from, &to).unwrap().len(), 2, "installing again replaces");
    assert_eq!(open(&to).unwrap().name(), "loggia-1+efficientnet-lite0+potion-base-8m");
    let mut names: Vec<_> = std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["NOTICES.txt", FILES[0], FILES[1]]);
    let notices = std::fs::read_to_string(to.join("NOTICES.txt")).unwrap();
    for notice in
        ["Copyright (c) 2020, ML Illustrated", "Copyright (c) MinishLab", "END OF TERMS AND CONDITIONS"]
    {
        assert!(notices.contains(notice), "{notice}");
    }
    std::fs::remove_file(to.join(FILES[1])).unwrap();
    assert_eq!(open(&to).unwrap().name(), "loggia-1+efficientnet-lite0");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let Some(weights) = kit::weights() else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    let message = install(&weights, file.path()).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{} cannot be written (", file.path().display())), "{message}");
    assert!(message.ends_with("; free space, or choose another folder for the weights"), "{message}");
}

/// The delivered files are removed once they are converted, so this runs where `bin/setup` has just been. NumPy makes the same
/// bytes of them.
#[test]
fn delivered_files_are_converted_to_the_expected_bytes() {
    let Some(download) = kit::weights().map(|folder| folder.join("download")) else { return };
    let to = tempfile::tempdir().unwrap();
    if !download.is_dir() {
        kit::skipped(format_args!("there is no {}", download.display()));
        return;
    }
    assert!(!install(&download, to.path()).unwrap().is_empty());
}
