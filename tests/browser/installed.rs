//! The browser that `bin/setup --test` installs, and how it is run.

use std::path::Path;

use kit::ProgramOutput;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

/// The folder of the scripts.
pub(crate) const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/browser");

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools");

/// The browser, with a separate home so that it leaves nothing in the user's.
pub(crate) struct Browser {
    home: TempDir,
}

impl Browser {
    /// `None` if it is not installed, with a message; in continuous integration (`CI` is set) that is a failure.
    pub(crate) fn find() -> Option<Self> {
        let is_there = |path: &str| Path::new(TOOLS).join(path).exists();
        if is_there("browser/bin/chromium") && is_there("clients/bin/node") {
            return Some(Self { home: tempfile::tempdir().unwrap() });
        }
        kit::absent("the browser is not in .tools/browser: run bin/setup --test");
        None
    }

    /// Runs a script of this folder and returns the line of JSON that it prints.
    pub(crate) async fn report(&self, script: &str, arguments: &Value) -> Value {
        let programs = Path::new(TOOLS).join("clients/bin");
        let mut command = Command::new(programs.join("node"));
        command.arg(Path::new(SCRIPTS).join(script)).arg(arguments.to_string());
        ProgramOutput::in_home(command, self.home.path(), &programs).await.success().json()
    }

    /// Like [`Browser::report`], for a script that reports a list of faults for each thing it checked. Panics with all
    /// of them; returns what was checked.
    pub(crate) async fn assert_without_faults(&self, script: &str, arguments: &Value) -> Vec<String> {
        let report = self.report(script, arguments).await;
        let report = report.as_object().expect("an object of lists");
        let faults: Vec<String> = report
            .iter()
            .flat_map(|(seen, faults)| {
                let faults = faults.as_array().expect("a list of faults").iter();
                faults.map(move |fault| format!("{seen}: {}", fault.as_str().unwrap_or_default()))
            })
            .collect();
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        report.keys().cloned().collect()
    }
}
