//! How commands are typed so that they use the settings and the data of this process.

use std::path::Path;

use api::CommandLine;

use crate::config::Config;

/// Returns the command line of this process: the program as it was called, with the settings file and the data folder as whole
/// paths, so that a command can be copied into a terminal of any folder.
pub fn of(config: &Config) -> CommandLine {
    CommandLine::new(program(std::env::args().next()), &options(config))
}

/// Returns the program as a word of a shell. One that was found on the PATH is found there again; one that was called by a path
/// may be on none.
fn program(called: Option<String>) -> String {
    match called {
        Some(called) if called.contains('/') => shell_word(&whole(Path::new(&called))),
        _ => "loggia".to_owned(),
    }
}

fn options(config: &Config) -> Vec<String> {
    let file = config.settings_file.as_deref().map(|file| (file.display().to_string(), whole(file)));
    let data = config.resolved.iter().find(|setting| setting.name == "data");
    let is_absolute = config.server.data.is_absolute();
    let is_of_file = data.is_some_and(|data| file.as_ref().is_some_and(|(shown, _)| data.source == *shown));
    let mut options: Vec<String> =
        file.iter().map(|(_, path)| format!("--config {}", shell_word(path))).collect();
    // What the file says needs no flag, unless its meaning depends on the current folder.
    if !(is_of_file && is_absolute) {
        options.push(format!("--data {}", shell_word(&whole(&config.server.data))));
    }
    options
}

fn whole(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.components().collect::<std::path::PathBuf>().display().to_string()
}

/// Returns a text as one word of a shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
