//! The questions of `loggia init`, and the settings file that their answers become.

use std::path::Path;

use settings::Sources;
use settings::setup::{Answers, Question, SettingsFile, Setup};

use super::whole_path;
use crate::command_line::shell_word;
use crate::config::{Config, SETTINGS};

/// The sender of mails, which is asked for only where a server sends them.
const MAIL_FROM: &str = "mail_from";

/// Settings that are not asked for and often set later.
const OTHERS: [&str; 8] =
    ["listen", "site_tagline", "site_about", "auth", "prices", "imprint_url", "privacy_url", "terms_url"];

/// Returns the questions about a catalog in a folder, with defaults that work.
pub(super) fn setup(folder: &str) -> Setup<'static> {
    let questions = vec![
        Question { default: name_of(folder), ..Question::new("site_name", "The name of the catalog") },
        Question::new("contact", "How users reach you: an email address, or the https://… address of a page"),
        Question::new(
            "tiers",
            "The tiers of keys with their calls per calendar month; new keys get the first",
        ),
        Question::new(
            "public_url",
            "The public address, such as https://catalog.example.org; without one, the address of this machine",
        ),
        Question {
            // A server needs a sender, which is asked for next.
            needs: Some((MAIL_FROM, "mail@example.org")),
            ..Question::new(
                "mail",
                "How mails are sent: log: sends none, print: writes them to the log, smtps://USER:PASSWORD@HOST sends them",
            )
        },
        Question {
            is_asked: |answers| answers.get("mail").is_some_and(|mail| mail.starts_with("smtp")),
            ..Question::new(
                MAIL_FROM,
                "Whom mails are from, such as Catalog <mail@example.org>; a mail server needs it",
            )
        },
        Question {
            default: Some(format!("{folder}/data")),
            read: data_folder,
            ..Question::new(
                "data",
                "The folder for the data: the events, the pictures and what is made from them",
            )
        },
    ];
    Setup { table: &SETTINGS, questions, check: &check }
}

fn check(sources: &Sources) -> Result<(), String> {
    Config::read(sources).map(drop).map_err(|error| error.to_string())
}

fn data_folder(answer: &str) -> Result<String, String> {
    // Only a shell knows what it stands for; a folder of this name would be made.
    if answer.starts_with('~') {
        return Err("and ~ is known to shells only; write the whole path".to_owned());
    }
    whole_path(Path::new(answer)).map_err(|error| format!("and {error:#}"))
}

/// Returns the name of a folder as that of a catalog: `north-houses` is North houses.
fn name_of(folder: &str) -> Option<String> {
    let words = folder.rsplit('/').next()?.replace(['-', '_', '.'], " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = words.chars().next()?;
    let name: String = first.to_uppercase().chain(words.chars().skip(1)).take(80).collect();
    Some(name.trim_end().to_owned())
}

/// Returns the text of the settings file at this path.
pub(super) fn settings_file(path: &str, setup: &Setup<'_>, answers: &Answers) -> String {
    let begin = vec![
        format!("The settings of this catalog: `loggia up --config {}` starts it.", shell_word(path)),
        "A flag has priority over a variable such as LOGGIA_LISTEN, and a variable over this file. `loggia config \
         --check` looks for what a start would refuse, and `loggia --help-settings` shows all settings. What begins \
         with # has no effect; remove it to set what follows."
            .to_owned(),
    ];
    // A catalog of one's own never gets the invented projects, unless they are asked for.
    SettingsFile { begin, others: &OTHERS, fixed: ("start_with", "nothing") }.text(setup, answers)
}

#[cfg(test)]
mod tests;
