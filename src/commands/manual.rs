//! `loggia manual`: the manual pages and the completions of shells that packages install.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::{Generator, Shell};
use clap_mangen::Man;
use cli_output::Output;
use serde_json::json;

use crate::cli::Cli;
use crate::process::VERSION;

pub fn run(folder: &Path, output: Output) -> Result<()> {
    let files = files()?;
    for (path, text) in &files {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let count = files.len();
    output.answer(&json!({ "files": count }), || format!("wrote {count} files into {}", folder.display()))?;
    Ok(())
}

/// Returns the files with their paths in the folder, the same from each build of a version.
fn files() -> Result<Vec<(String, Vec<u8>)>> {
    let mut root = Cli::command().version(VERSION).disable_help_subcommand(true);
    root.build();
    let mut files = Vec::new();
    add_pages(&root, &mut files)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut completed(), "loggia", &mut text);
        files.push((format!("completions/{}", shell.file_name("loggia")), text));
    }
    Ok(files)
}

/// Adds the page of a command and those of its subcommands, but for hidden ones.
fn add_pages(command: &Command, files: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    // Without a date, which is to be there all the same.
    let page = Man::new(command.clone()).date("\"\"").source(format!("Loggia {VERSION}")).manual("Loggia");
    let mut text = Vec::new();
    page.render(&mut text)?;
    // What follows the options of a command is its examples.
    let text = String::from_utf8(text)?.replace(".SH EXTRA\n", ".SH EXAMPLES\n");
    files.push((format!("man/man1/{}", page.get_filename()), text.into_bytes()));
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).try_for_each(|sub| add_pages(sub, files))
}

/// Returns the command line without its hidden commands, which would be completed too.
fn completed() -> Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned();
    let root = Command::new("loggia").version(VERSION).propagate_version(true);
    root.args(all.get_arguments()).subcommands(shown)
}

#[cfg(test)]
mod tests;
