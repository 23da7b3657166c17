//! `loggia curate`: one edit of a project, or its history.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::{Output, Usage, say};
use schemas::command::{Command, CommandFailure, CommandReply, ProjectOutcome};
use schemas::envelope::Recorded;
use schemas::import::{Fault, parse_json};
use schemas::record::PictureSource;
use schemas::slug::Slug;
use schemas::text::canonical;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{ActFlags, CurateCommand};
use crate::commands::import;
use crate::config::Config;
use crate::session::{self, Session, UNEXPECTED_REPLY, resolved};
use crate::store;

/// Sends the edit, or prints the history.
pub async fn run(config: &Config, command: &CurateCommand, output: Output) -> Result<ExitCode> {
    let (command, act) = match command {
        CurateCommand::History { slug } => return history(config, slug, output).await,
        CurateCommand::Select { file, act } => (Command::Select { record: read_record(file)? }, act),
        CurateCommand::Revise { slug, set, unset, act } => {
            (Command::Revise { slug: parse(slug)?, changes: changes(set, unset)? }, act)
        }
        CurateCommand::Attach { slug, picture, alt, credit, rights, act } => {
            let [alt, credit, rights] = [alt, credit, rights].map(Clone::clone);
            let picture = PictureSource { source: picture.clone(), alt, credit, rights };
            return attach(config, parse(slug)?, picture, act, output).await;
        }
        CurateCommand::Rename { slug, to, act } => {
            (Command::Rename { slug: parse(slug)?, to: parse(to)? }, act)
        }
        CurateCommand::Withdraw { slug, reason, act } => {
            (Command::Withdraw { slug: parse(slug)?, reason: reason.clone() }, act)
        }
        CurateCommand::Restore { slug, act } => (Command::Restore { slug: parse(slug)? }, act),
    };
    report(session::send_once(config, act, command).await?, output)
}

fn report(reply: CommandReply, output: Output) -> Result<ExitCode> {
    match reply {
        CommandReply::Project(done) => print_done(&done, output),
        CommandReply::Failed(refusal) => refuse(&refusal, output),
        _ => bail!(UNEXPECTED_REPLY),
    }
}

/// Uploads a file to the write side and attaches it; a URL is fetched there.
async fn attach(
    config: &Config,
    slug: Slug,
    mut picture: PictureSource,
    act: &ActFlags,
    output: Output,
) -> Result<ExitCode> {
    let actor = session::actor(&act.actor)?;
    let session = Session::open(config).await?;
    let id = session.id(&act.id);
    let attached = async {
        let mut stored = None;
        if picture.is_file() {
            let (source, bytes) = read_picture(Path::new(&picture.source)).await?;
            match session.store_picture(bytes).await? {
                Ok(id) => stored = Some(id),
                Err(reason) => bail!("{} cannot be attached: {reason}", picture.source),
            }
            picture.source = source;
        }
        let command = Command::Attach { slug, picture, kept: stored, as_named: false };
        Ok(session.send_as(id, actor, None, command).await)
    }
    .await;
    session.close().await;
    report(resolved(attached?, id)?, output)
}

/// Returns the name of a picture's file, as a record names it, and its bytes.
async fn read_picture(path: &Path) -> Result<(String, Vec<u8>)> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        bail!("{} names no file", path.display());
    };
    let bytes = import::picture_files::read(path.to_owned()).await.map_err(anyhow::Error::msg)?;
    Ok((name.to_owned(), bytes))
}

fn print_done(done: &ProjectOutcome, output: Output) -> Result<ExitCode> {
    output.answer(done, || {
        if done.changed {
            format!("{} is at revision {} (log position {})", done.slug, done.revision, done.position)
        } else {
            format!("{} is already so, at revision {}; nothing was written", done.slug, done.revision)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct RefusedCommand<'a> {
    /// The kind of the refusal: `rejected`, `conflict` or `unavailable`.
    kind: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    faults: &'a [Fault],
}

/// Prints why a command was refused, and returns the exit status 1.
pub fn refuse(refusal: &CommandFailure, output: Output) -> Result<ExitCode> {
    let CommandFailure { detail, faults, .. } = refusal;
    say(detail);
    for fault in faults.iter().filter(|fault| !detail.contains(&fault.reason)) {
        say(&format!("  {} {}", fault.field, fault.reason));
    }
    let refused = RefusedCommand { kind: refusal.kind.name(), detail, faults };
    Ok(output.failure(&refused, ExitCode::FAILURE))
}

fn parse(slug: &str) -> Result<Slug> {
    slug.parse().with_context(|| format!("“{slug}” is not a slug"))
}

fn read_record(file: &Path) -> Result<Map<String, Value>> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    }
    match parse_json(&text) {
        Ok(Value::Object(record)) => Ok(record),
        Ok(_) => bail!("{} is not one JSON object", file.display()),
        Err(error) => Err(error).with_context(|| format!("{} is not one JSON object", file.display())),
    }
}

/// Returns the merge patch of assignments such as `taste.material=oak`. A value that is a list or an object in JSON is read as
/// JSON.
fn changes(set: &[String], unset: &[String]) -> Result<Map<String, Value>> {
    let mut changes = Map::new();
    for assignment in set {
        let Some((member, value)) = assignment.split_once('=') else {
            bail!("--set takes MEMBER=VALUE; “{assignment}” has no =");
        };
        let value = match parse_json(value) {
            Ok(structure @ (Value::Array(_) | Value::Object(_))) => structure,
            _ => Value::String(value.to_owned()),
        };
        put(&mut changes, member, value)?;
    }
    for member in unset {
        put(&mut changes, member, Value::Null)?;
    }
    if changes.is_empty() {
        return Err(Usage("nothing to change; give --set MEMBER=VALUE or --unset MEMBER").into());
    }
    Ok(changes)
}

/// Sets a member of the patch. Its name is put in its canonical form, so that the last of several changes of it counts.
fn put(changes: &mut Map<String, Value>, member: &str, value: Value) -> Result<()> {
    let entry = match member.split_once('.') {
        None => changes.entry(canonical(member)).or_insert(Value::Null),
        Some((object, inner)) => {
            match changes.entry(canonical(object)).or_insert_with(|| Map::new().into()) {
                Value::Object(object) => object.entry(canonical(inner)).or_insert(Value::Null),
                _ => bail!("{object} is set as a whole and in part; do one of them"),
            }
        }
    };
    *entry = value;
    Ok(())
}

async fn history(config: &Config, slug: &str, output: Output) -> Result<ExitCode> {
    let slug = parse(slug)?;
    let Some(events) = store::history(config, &slug).await? else {
        return Ok(output.not_done(&format!("no project has or ever had the slug “{slug}”")));
    };
    for event in &events {
        output.answer(event, || line(event))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an event as one line of text.
pub fn line(event: &Recorded) -> String {
    let kind = event.kind.strip_prefix("loggia.").unwrap_or(&event.kind);
    let mut data = event.data.get().to_owned();
    if let Some((at, _)) = data.char_indices().nth(160) {
        data.truncate(at);
        data.push('…');
    }
    let (position, time, stream) = (event.position, event.time, &event.stream);
    format!("{position:>8}  {time:.0}  {}  {stream} v{}  {kind}  {data}", event.actor, event.version)
}

#[cfg(test)]
mod tests;
