//! `bin/setup`: what it says where the weights of the encoders or cargo-deny cannot be fetched, and when it fetches nothing.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use kit::ProgramOutput;

use crate::ROOT;

/// Returns `bin/setup` of a checkout with a registry that does not answer, outside continuous integration.
fn command(checkout: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(checkout.join("bin/setup"));
    command.args(args).env("PIP_CONFIG_FILE", "/dev/null").env("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    command.env("PIP_RETRIES", "0");
    for variable in ["PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "CI"] {
        command.env_remove(variable);
    }
    command
}

fn setup(checkout: &Path, args: &[&str]) -> ProgramOutput {
    ProgramOutput::of(&mut command(checkout, args)).success()
}

/// Writes a script into a checkout.
fn script(checkout: &Path, path: &str, text: &str) {
    let file = checkout.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
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
    script(checkout.path(), "loggia", "echo \"$LOGGIA_WEIGHTS: $*\"");
    let said = setup(checkout.path(), &["--convert", program.to_str().unwrap()]).stderr;
    assert_eq!(said, ".tools/models: models fetch .tools/models/download\n");
    assert!(!delivered.exists());
}

#[test]
fn a_missing_cargo_deny_is_a_line_and_a_failure_of_continuous_integration() {
    let checkout = checkout();
    let set = std::fs::read_to_string(checkout.path().join("bin/setup")).unwrap();
    let version = |name: &str| set.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    let (server, deny) = (version("readonly version="), version("readonly deny_version="));
    script(checkout.path(), ".tools/bin/nats-server", &format!("echo nats-server: v{server}"));
    for kind in ["clients", "browser", "deploy"] {
        script(checkout.path(), &format!("tests/{kind}/setup"), "echo \"bin/setup: the rest\" >&2");
    }
    // One of another version is not used.
    script(checkout.path(), ".tools/bin/cargo-deny", "echo cargo-deny 0.1.0");
    let said = setup(checkout.path(), &["--test"]).stderr;
    let begins = format!("bin/setup: *** cargo-deny {deny} could not be fetched: p");
    let ends = ". Licences, sources and known vulnerabilities of dependencies will NOT be checked. ***";
    let is_warning = |line: &str| line.starts_with(&begins) && line.ends_with(ends);
    assert!(said.lines().any(is_warning) && said.ends_with("the rest\n"), "{said}");
    assert_eq!(names(&checkout.path().join(".tools/bin")), ["nats-server"]);

    let failed = ProgramOutput::of(command(checkout.path(), &["--test"]).env("CI", "true")).ended(1).stderr;
    let last = failed.lines().last().unwrap();
    assert!(last.starts_with(&format!("bin/setup: cargo-deny {deny} could not be fetched: p")), "{failed}");

    script(checkout.path(), ".tools/bin/cargo-deny", &format!("echo cargo-deny {deny}"));
    assert!(!setup(checkout.path(), &["--test"]).stderr.contains("cargo-deny"), "it is there");
}
