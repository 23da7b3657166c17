//! `loggia init`: asks for what a catalog of one's own needs, and writes its settings file.

mod questions;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::Output;
use serde::Serialize;
use settings::setup::{Answers, Dialogue, OnWrong};

use crate::cli::{InitArgs, SettingFlags};
use crate::command_line::shell_word;

/// The name of the settings file, which is also found without `--config` where it is in the current folder.
const FILE: &str = "loggia.toml";

/// What was written, and where the catalog will be.
#[derive(Debug, Serialize)]
struct Written<'a> {
    settings: &'a str,
    data: &'a str,
}

/// Asks, unless `--yes` is given, and writes the file. Nothing is written unless all answers are valid.
pub fn run(flags: &SettingFlags, args: &InitArgs, output: Output) -> Result<ExitCode> {
    let folder = whole_path(&args.folder)?;
    let path = format!("{folder}/{FILE}");
    // Before the questions, so that nobody answers them in vain.
    if Path::new(&path).symlink_metadata().is_ok() {
        bail!("{}", already_there(&path));
    }
    let setup = questions::setup(&folder);
    let mut answers = Answers::of_flags(&setup, &flags.values)?;
    if args.yes {
        answers.fill(&setup)?;
    } else {
        let stdin = std::io::stdin();
        let is_terminal = stdin.is_terminal();
        let mut dialogue = Dialogue {
            input: stdin.lock(),
            prompts: std::io::stderr(),
            on_wrong: if is_terminal { OnWrong::AskAgain } else { OnWrong::Fail },
        };
        if is_terminal {
            dialogue.say(&format!(
                "The settings of the catalog in {folder}. Enter alone takes what is in brackets; everything can be \
                 changed later in {FILE}."
            ));
        }
        dialogue.ask_all(&setup, &mut answers)?;
    }
    write(&folder, &path, &questions::settings_file(&path, &setup, &answers))?;
    let written = Written { settings: &path, data: answers.get("data").unwrap_or_default() };
    output.answer(&written, || next_steps(&path, written.data))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an absolute path as text: relative ones would depend on where each later command is run.
fn whole_path(path: &Path) -> Result<String> {
    let whole: PathBuf = std::path::absolute(path)
        .with_context(|| format!("{} is not the path of a folder", path.display()))?
        .components()
        .collect();
    match whole.into_os_string().into_string() {
        Ok(text) if !text.chars().any(char::is_control) => Ok(text),
        _ => bail!(
            "the path {} cannot stand in a settings file, which is text in UTF-8; choose another folder",
            path.display()
        ),
    }
}

fn already_there(path: &str) -> String {
    format!("{path} is there already and stays as it is; edit it, or name another folder")
}

/// Writes the file, which may hold the password of a mail server, for its owner alone.
fn write(folder: &str, path: &str, text: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| {
        format!("the folder {folder} cannot be created; name one that you may create or write to")
    })?;
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match opened {
        // Another process wrote it since the questions began.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("{}", already_there(path)),
        opened => opened.with_context(|| format!("{path} cannot be written"))?,
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would be taken for the settings, and is in the way of another attempt.
        let _ = fs::remove_file(path);
    }
    written.with_context(|| format!("{path} cannot be written, and was removed"))
}

fn next_steps(path: &str, data: &str) -> String {
    let config = format!("--config {}", shell_word(path));
    format!(
        "{path} is written; the data goes to {data}. Next:\n\
         loggia config --check {config}   whether anything prevents a start\n\
         loggia up {config}   starts the catalog, which is empty\n\
         loggia import works.csv --suggest works.toml {config}   a first mapping of your own file"
    )
}

#[cfg(test)]
mod tests;
