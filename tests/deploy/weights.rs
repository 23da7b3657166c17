//! `bin/setup` and the weights of the encoders: what it says where they cannot be fetched, and when it fetches nothing.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use kit::ProgramOutput;

use crate::ROOT;

/// Runs `bin/setup` of a checkout with a registry that does not answer.
fn setup(checkout: &Path, args: &[&str]) -> ProgramOutput {
    let mut command = Command::new(checkout.join("bin/setup"));
    command.args(args).env("PIP_CONFIG_FILE", "/dev/null").env("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    ProgramOutput::of(command.env_remove("PIP_FIND_LINKS").env_remove("PIP_EXTRA_INDEX_URL")).success()
}

/// Returns a checkout with nothing but the script.
fn checkout() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::copy(Path::new(ROOT).join("bin/setup"), folder.path().join("bin/setup")).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn weights_that_cannot_be_fetched_are_one_warning() {
    let checkout = checkout();
    let said = setup(checkout.path(), &["--weights"]).stderr;
    let lines: Vec<&str> = said.lines().collect();
    let [fetching, warning] = lines[..] else { panic!("{said}") };
    assert_eq!(fetching, "bin/setup: fetching the weights of the encoders (about 57 MB) into .tools/models");
    let begins = "bin/setup: warning: the weights for pictures and texts are missing: p";
    let ends = ". Loggia works without them (pictures are compared by colours, edges and layout, texts are compared and found by \
                their words); to have them, run bin/setup again, or copy the files that docs/models.md names into a folder DIR and \
                run `loggia models fetch DIR`.";
    assert!(warning.starts_with(begins) && warning.ends_with(ends), "{warning}");
    assert_eq!(names(&checkout.path().join(".tools")), ["models"], "nothing is left behind");
    assert_eq!(names(&checkout.path().join(".tools/models")), [""; 0]);
}

#[test]
fn weights_that_are_there_are_not_fetched_and_damaged_ones_are_fetched_again() {
    let Some(weights) = kit::weights() else { return };
    let checkout = checkout();
    let models = checkout.path().join(".tools/models");
    std::fs::create_dir_all(&models).unwrap();
    for file in ["efficientnet-lite0.f16", "potion-base-8m.i8"] {
        symlink(weights.canonicalize().unwrap().join(file), models.join(file)).unwrap();
    }
    assert_eq!(setup(checkout.path(), &["--weights"]).stderr, "");
    std::fs::remove_file(models.join("potion-base-8m.i8")).unwrap();
    std::fs::write(models.join("potion-base-8m.i8"), "no weights").unwrap();
    let said = setup(checkout.path(), &["--weights"]).stderr;
    assert!(said.contains("warning: the weights for texts are missing: "), "{said}");
}

#[test]
fn fetched_weights_are_removed_once_they_are_converted() {
    let checkout = checkout();
    assert_eq!(setup(checkout.path(), &["--convert", "/no/loggia"]).stderr, "", "nothing was fetched");
    let delivered = checkout.path().join(".tools/models/download");
    std::fs::create_dir_all(&delivered).unwrap();
    let said = setup(checkout.path(), &["--convert", "false"]).stderr;
    assert!(
        said.contains("are not converted, for the reason above. Loggia works with its built-in encoders")
    );
    assert!(delivered.exists());
    // The program gets the folder that it reads, and that of the weights as a setting.
    let program = checkout.path().join("loggia");
    std::fs::write(&program, "#!/bin/sh\necho \"$LOGGIA_WEIGHTS: $*\"\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let said = setup(checkout.path(), &["--convert", program.to_str().unwrap()]).stderr;
    assert_eq!(said, ".tools/models: models fetch .tools/models/download\n");
    assert!(!delivered.exists());
}
