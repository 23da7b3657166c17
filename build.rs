//! Names the commit that a release is built from.

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "Cargo talks to build scripts by variables")]
fn main() {
    println!("cargo::rerun-if-env-changed=LOGGIA_COMMIT");
    let given = std::env::var("LOGGIA_COMMIT").ok().filter(|commit| !commit.is_empty());
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // Builds for tests are not made again after each commit.
    let commit = given.or_else(|| if is_release { checked_out() } else { None });
    if let Some(commit) = commit {
        println!("cargo::rustc-env=LOGGIA_COMMIT={commit}");
    }
}

/// The commit of this checkout, where there is one and git too.
fn checked_out() -> Option<String> {
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
