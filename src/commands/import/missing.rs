//! The projects of a source that its newest file does not have any more: listed after an import of the whole file, and withdrawn if the
//! command says so.

use std::path::Path;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count, say};
use import_file::RecordIds;
use mapping::Mapping;
use schemas::command::{Command, CommandReply, FailureKind};
use schemas::external_id::SourceName;
use schemas::ids::{Actor, CommandId, Position};
use serde::Serialize;
use write::derived_id::derived_id;
use write::service::{SourceProject, projects_of_source};

use crate::cli::ImportArgs;
use crate::config::Config;
use crate::session::{Session, UNEXPECTED_REPLY};
use crate::store;

/// The number of projects that are listed as text; JSON has all.
const SHOWN: usize = 20;

/// The largest share of a source's projects, in percent, that are withdrawn without `--yes`.
const SHARE: usize = 5;

/// What is checked at the end of a file of a source.
pub struct SourceCheck<'a> {
    config: &'a Config,
    args: &'a ImportArgs,
    output: Output,
    source: SourceName,
}

/// Who withdraws projects, and as part of which import.
pub struct Sender<'a> {
    pub session: &'a Session,
    pub actor: &'a Actor,
    pub id: CommandId,
}

/// How many projects of the source are not in the file, for the last line of `import --json`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The listed projects of the source before any is withdrawn.
    pub of: u64,
    pub missing: u64,
    pub withdrawn: u64,
}

/// What was found out and done at the end of a file.
#[derive(Debug, Default)]
pub struct Done {
    /// `None` if the file has only some of the records, or the log is elsewhere.
    pub missing: Option<Missing>,
    /// The position of the log after the last withdrawal.
    pub position: Option<Position>,
    /// What is said about them.
    pub note: Option<String>,
    /// Why the projects are not withdrawn, though the command asks for it.
    pub refusal: Option<String>,
}

/// A line of `import --json`.
#[derive(Serialize)]
struct Line<'a> {
    missing: Named<'a>,
}

#[derive(Serialize)]
struct Named<'a> {
    id: &'a str,
    slug: &'a str,
    name: &'a str,
}

/// What is done about the projects that are missing.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// They are listed, with this sentence.
    List(String),
    /// They are withdrawn.
    Withdraw,
    /// They are listed, and for this reason not withdrawn.
    Refuse(String),
}

impl<'a> SourceCheck<'a> {
    /// Returns the check for the source that the mapping names; `None` without a name. Fails if `--withdraw-missing` cannot be done.
    pub fn of(
        config: &'a Config,
        args: &'a ImportArgs,
        mapping: Option<&Mapping>,
        output: Output,
    ) -> Result<Option<SourceCheck<'a>>> {
        let name = mapping.and_then(|mapping| mapping.name.as_deref());
        if args.withdraw_missing {
            if name.is_none() {
                bail!(
                    "--withdraw-missing needs a mapping with a name, since other ids belong to no source; begin its file with a \
                     line such as name = \"works\""
                );
            }
            store::require_log_here(config)?;
        }
        let source: Option<SourceName> = name.map(str::parse).transpose()?;
        Ok(source.map(|source| SourceCheck { config, args, output, source }))
    }

    /// Lists the projects that the file does not have any more, and withdraws them if the command says so. `ids` are those of a file that
    /// was read to its end; `None` for one that has only some of the source's records. Fails if the log cannot be read, or a project
    /// cannot be withdrawn.
    pub async fn finish(&self, ids: Option<&RecordIds>, sender: &Sender<'_>) -> Result<Done> {
        let SourceCheck { config, args, output, source } = self;
        let file = shown(&args.file);
        let Some(ids) = ids else {
            let refusal = args.withdraw_missing.then(|| {
                format!(
                    "{file} has only records that were rejected, not all of {source}; nothing was withdrawn"
                )
            });
            return Ok(Done { refusal, ..Done::default() });
        };
        let Some((of, missing)) = missing_projects(config, source, ids).await? else {
            let note =
                format!("Which projects of {source} are gone from {file} is said where the event log is.");
            return Ok(Done { note: Some(note), ..Done::default() });
        };
        let counts = Missing { of: of as u64, missing: missing.len() as u64, withdrawn: 0 };
        let mut done = Done { missing: Some(counts), ..Done::default() };
        if missing.is_empty() {
            return Ok(done);
        }
        list(&missing, *output)?;
        match self.plan(&file, of, missing.len(), ids.unknown()) {
            Plan::List(sentence) => done.note = Some(sentence),
            Plan::Refuse(reason) => done.refusal = Some(reason),
            Plan::Withdraw => {
                let reason = args.reason.as_deref().unwrap_or_default();
                let (withdrawn, position) = withdraw(&missing, reason, sender).await?;
                let (are, they) = if withdrawn == 1 { ("is", "it is") } else { ("are", "they are") };
                let of_source = format!("{} of {source}", projects(withdrawn as usize));
                done.missing = Some(Missing { withdrawn, ..counts });
                done.position = position;
                done.note =
                    Some(format!("{of_source} {are} withdrawn, since {they} not in {file} any more."));
            }
        }
        Ok(done)
    }

    /// Returns what is done about so many missing projects of so many. `unknown` records of the file have no id that is known.
    fn plan(&self, file: &str, of: usize, missing: usize, unknown: u64) -> Plan {
        let SourceCheck { args, source, .. } = self;
        let (be, them) = if missing == 1 { ("is", "it") } else { ("are", "them") };
        if !args.withdraw_missing {
            return Plan::List(format!(
                "{} of {source} {be} not in {file} any more; withdraw {them} with --withdraw-missing --reason 'TEXT'.",
                projects(missing)
            ));
        }
        if !args.yes && missing * 100 > of * SHARE {
            return Plan::Refuse(format!(
                "{} of {} of {source} {be} not in {file} any more, which is more than {SHARE} %; nothing was withdrawn: if \
                 {file} has all records of {source}, add --yes",
                count(missing as u64),
                projects(of),
            ));
        }
        if !args.yes && unknown > 0 {
            let (records, them, their) = match unknown {
                1 => ("1 record".to_owned(), "it", "its project"),
                number => (format!("{} records", count(number)), "them", "their projects"),
            };
            let have = if unknown == 1 { "has" } else { "have" };
            return Plan::Refuse(format!(
                "{records} of {file} {have} no id or cannot be read, so that {their} may seem to be gone; nothing was \
                 withdrawn: correct {them}, or add --yes"
            ));
        }
        match args.dry_run {
            true => Plan::List(format!(
                "{} of {source} would be withdrawn, which {be} not in {file} any more.",
                projects(missing)
            )),
            false => Plan::Withdraw,
        }
    }
}

/// Returns how many projects of a source are listed, and those whose ids are not among these; `None` if the log is elsewhere.
async fn missing_projects(
    config: &Config,
    source: &SourceName,
    ids: &RecordIds,
) -> Result<Option<(usize, Vec<SourceProject>)>> {
    if store::require_log_here(config).is_err() {
        return Ok(None);
    }
    if store::is_here(config) && !store::has_log(config) {
        // A dry run without a catalog.
        return Ok(Some((0, Vec::new())));
    }
    let log = store::open_read_only(config).await?;
    let projects = projects_of_source(&log, source, |id| !ids.has(id)).await;
    log.close().await;
    Ok(Some(projects?))
}

fn list(missing: &[SourceProject], output: Output) -> Result<()> {
    let shown = if output.is_json() { missing.len() } else { SHOWN };
    for project in missing.iter().take(shown) {
        let SourceProject { id, slug, name } = project;
        output.answer(&Line { missing: Named { id, slug: slug.as_str(), name } }, || {
            format!("gone: {id}, “{name}” ({slug})")
        })?;
    }
    if missing.len() > shown {
        output.line(&format!("gone: {} more; --json lists all", count((missing.len() - shown) as u64)))?;
    }
    Ok(())
}

/// Withdraws the projects, each by a command of its own. One that was withdrawn meanwhile is passed over with a sentence. Returns how
/// many are withdrawn, and the position of the log after the last.
async fn withdraw(
    missing: &[SourceProject],
    reason: &str,
    sender: &Sender<'_>,
) -> Result<(u64, Option<Position>)> {
    let Sender { session, actor, id } = sender;
    let (mut withdrawn, mut position) = (0, None);
    for SourceProject { id: external, slug, .. } in missing {
        let command = Command::Withdraw { slug: slug.clone(), reason: reason.to_owned() };
        // By the external id: when the import is repeated, others are missing.
        let of_project = derived_id(*id, &format!("missing {external}"), 0);
        let so_far = format!("{} withdrawn so far", projects(withdrawn as usize));
        let sent = session.send_as(of_project, (*actor).clone(), Some(*id), command).await;
        match sent.with_context(|| so_far.clone())? {
            CommandReply::Project(outcome) => {
                withdrawn += 1;
                position = position.max(Some(outcome.position));
            }
            CommandReply::Failed(failure) if failure.kind == FailureKind::Rejected => {
                say(&format!("{slug} is not withdrawn: {}", failure.detail));
            }
            CommandReply::Failed(failure) => bail!("{}; {so_far}", failure.detail),
            _ => bail!(UNEXPECTED_REPLY),
        }
    }
    Ok((withdrawn, position))
}

fn projects(number: usize) -> String {
    if number == 1 { "1 project".to_owned() } else { format!("{} projects", count(number as u64)) }
}

/// Returns the name of a file in sentences.
fn shown(file: &Path) -> String {
    match file.file_name() {
        Some(name) if file != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "the input".to_owned(),
    }
}

#[cfg(test)]
mod tests;
