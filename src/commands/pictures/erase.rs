//! `loggia pictures erase`: erases a picture permanently.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count};
use schemas::command::{Command, CommandReply, PictureErasure};
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::picture::PictureId;

use crate::cli::ActFlags;
use crate::commands::curate::refuse;
use crate::config::Config;
use crate::session::{self, UNEXPECTED_REPLY};

/// A note for the operator: where copies may remain.
const ELSEWHERE: &str = "copies may remain where Loggia cannot delete them: browsers and caches keep pictures for up to a \
                         year, so purge a cache in front of the site; read nodes delete theirs as soon as the event reaches them";

pub(super) async fn run(config: &Config, picture: &str, act: &ActFlags, output: Output) -> Result<ExitCode> {
    let picture: PictureId = picture
        .parse()
        .context("name the picture as `loggia pictures list` or `loggia pictures list SLUG` does")?;
    match session::send_once(config, act, Command::ErasePicture { picture }).await? {
        CommandReply::PictureErased(erased) => {
            output.answer(&erased, || sentences(&erased))?;
            Ok(ExitCode::SUCCESS)
        }
        CommandReply::Failed(refusal) => refuse(&refusal, output),
        _ => bail!(UNEXPECTED_REPLY),
    }
}

fn sentences(erased: &PictureErasure) -> String {
    let PictureErasure { picture, erased_at, projects, changed, .. } = erased;
    let first = match (changed, projects) {
        (false, _) => {
            format!("the picture {picture} was erased before, on {erased_at}; no copy is stored")
        }
        (true, 0) => format!("the picture {picture} is erased; no project ever showed it"),
        (true, 1) => {
            format!("the picture {picture} is erased; one project showed it, now or in a former revision")
        }
        (true, _) => format!(
            "the picture {picture} is erased; {} projects showed it, now or in a former revision",
            count(*projects)
        ),
    };
    format!(
        "{first}\n{ELSEWHERE}\nbackups that were made before still hold it: delete them, or restore them with `loggia restore \
         DIR --erasures FILE` and {ERASED_PICTURES} of the media folder or of a newer backup, which omits it"
    )
}
