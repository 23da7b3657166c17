//! The clients that `bin/setup --test` installs, and how they are run.

use std::path::{Path, PathBuf};

use kit::ProgramOutput;
use tempfile::TempDir;
use tokio::process::Command;

/// The folder of the scripts.
pub(crate) const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");

/// The clients, with a separate home so that they leave nothing in the user's.
pub(crate) struct Clients {
    folder: PathBuf,
    home: TempDir,
}

impl Clients {
    /// `None` if they are not installed, with a message; in continuous integration (`CI` is set) that is a failure.
    pub(crate) fn find() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/clients");
        if folder.join("bin/node").exists() {
            return Some(Self { folder, home: tempfile::tempdir().unwrap() });
        }
        kit::absent("the public MCP clients are not in .tools/clients: run bin/setup --test");
        None
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns a file of the npm packages.
    pub(crate) fn npm_file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// Runs a program of an npm package by the path of its file.
    pub(crate) async fn npm_program(&self, program: &str, args: &[&str]) -> ProgramOutput {
        let mut command = Command::new(self.folder.join("bin/node"));
        command.arg(self.npm_file(program)).args(args);
        self.run(command).await
    }

    /// Runs a JavaScript of this folder.
    pub(crate) async fn script(&self, script: &str, args: &[&str]) -> ProgramOutput {
        let mut command = Command::new(self.folder.join("bin/node"));
        command.arg(Path::new(SCRIPTS).join(script)).args(args);
        self.run(command).await
    }

    /// Runs a Python script of this folder with one of the lists in `requirements` and no other packages.
    pub(crate) async fn python(&self, list: &str, script: &str, args: &[&str]) -> ProgramOutput {
        let mut command = Command::new(self.folder.join("bin/python3"));
        command.args(["-S", "-s"]).arg(Path::new(SCRIPTS).join(script)).args(args);
        command.env("PYTHONPATH", self.folder.join(list));
        command
            .env("PYTHONPYCACHEPREFIX", self.folder.join("compiled"))
            .env_remove("PYTHONDONTWRITEBYTECODE");
        self.run(command).await
    }

    async fn run(&self, command: Command) -> ProgramOutput {
        ProgramOutput::in_home(command, self.home(), &self.folder.join("bin")).await
    }
}
