//! `loggia pictures`: lists the pictures that records name, fetches refused ones again, recomputes smaller forms, and erases
//! pictures permanently.

mod erase;
mod of_project;

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::{Output, count, say};
use data_folder::DataFolder;
use media::{MediaError, MediaStore};
use schemas::command::{Command, CommandReply};
use schemas::ids::Actor;
use schemas::picture::{Picture, PictureId};
use schemas::record::PictureSource;
use schemas::slug::Slug;
use schemas::web_address::without_login;
use serde::Serialize;
use write::project::{Listing, PictureOutcome};
use write::service::listed_projects;

use crate::cli::PicturesCommand;
use crate::config::Config;
use crate::session::{self, Session, UNEXPECTED_REPLY};
use crate::store;

const HEADINGS: [&str; 4] = ["state", "project", "source", "picture or reason"];

/// A picture that a record names.
#[derive(Debug, Serialize)]
struct Row {
    /// `kept`, `refused`, `erased`, `former` if only a former revision shows it, or `missing` if it was not fetched yet.
    state: &'static str,
    slug: String,
    /// Its name, without a password: version 0.1 accepted URLs with one.
    source: String,
    picture: Option<PictureId>,
    reason: Option<String>,
}

/// A stored picture that no listed project shows.
#[derive(Debug, Serialize)]
struct Unused {
    picture: PictureId,
}

#[derive(Debug, Default, Serialize)]
struct Retried {
    fetched: u64,
    /// A sentence for each picture that was refused again.
    refused: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Remade {
    pictures: u64,
    /// The number of pictures whose smaller forms or palette have changed.
    changed: u64,
    /// The number of pictures whose original is damaged, so that their forms cannot be computed.
    damaged: u64,
    /// The number of projects in which a change was recorded.
    projects: u64,
    /// A sentence for each picture that cannot be recomputed.
    faults: Vec<String>,
}

pub async fn run(config: &Config, command: &PicturesCommand, output: Output) -> Result<ExitCode> {
    match command {
        PicturesCommand::List { unused: true, .. } => list_unused(config, output).await,
        PicturesCommand::List { slug: Some(slug), refused, .. } => {
            print(of_project::of_project(config, &slug.parse()?).await?, *refused, output)
        }
        PicturesCommand::List { refused, .. } => {
            print(listed(config).await?.iter().flat_map(rows).collect(), *refused, output)
        }
        PicturesCommand::Retry { slug, actor } => {
            let slug: Option<Slug> = slug.as_deref().map(str::parse).transpose()?;
            retry(config, session::actor(actor)?, slug.as_ref(), output).await
        }
        PicturesCommand::Remake { actor } => remake(config, session::actor(actor)?, output).await,
        PicturesCommand::Erase { picture, act } => erase::run(config, picture, act, output).await,
    }
}

/// Returns every listed project of the log.
async fn listed(config: &Config) -> Result<Vec<Listing>> {
    Ok(listed_projects(&store::open_read_only(config).await?).await?)
}

/// Returns the sources of a record's pictures and of its thumbnail, each once.
fn sources(listing: &Listing) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    listing.record.picture_sources().filter(move |source| seen.insert(*source))
}

fn rows(listing: &Listing) -> impl Iterator<Item = Row> {
    listing.record.picture_sources().map(|source| {
        let (state, picture, reason) = match listing.pictures.get(source) {
            Some(PictureOutcome::Attached(picture)) => ("kept", Some(picture.id), None),
            Some(PictureOutcome::Refused(reason)) => ("refused", None, Some(reason.clone())),
            Some(PictureOutcome::Erased(id)) => ("erased", Some(*id), None),
            None => ("missing", None, None),
        };
        Row {
            state,
            slug: listing.slug.to_string(),
            source: without_login(source).into_owned(),
            picture,
            reason,
        }
    })
}

fn print(mut rows: Vec<Row>, refused: bool, output: Output) -> Result<ExitCode> {
    rows.retain(|row| !refused || row.state == "refused");
    let cells = |row: &Row| {
        let picture = row.picture.map(|id| id.to_string());
        let last = picture.or_else(|| row.reason.clone()).unwrap_or_else(|| "-".into());
        [row.state.to_owned(), row.slug.clone(), row.source.clone(), last]
    };
    let none = if refused { "no picture was refused" } else { "no record names a picture" };
    output.rows(&rows, HEADINGS, cells, none)?;
    Ok(ExitCode::SUCCESS)
}

async fn list_unused(config: &Config, output: Output) -> Result<ExitCode> {
    let listed = listed(config).await?;
    let shown: HashSet<PictureId> = listed.iter().flat_map(rows).filter_map(|row| row.picture).collect();
    let kept = MediaStore::open_read_only(&DataFolder::new(&config.server.data).media()).ids()?;
    let unused = kept.into_iter().filter(|id| !shown.contains(id));
    let unused: Vec<Unused> = unused.map(|picture| Unused { picture }).collect();
    if unused.is_empty() && !output.is_json() {
        say("every stored picture is shown by a project");
    }
    unused.iter().try_for_each(|row| output.answer(row, || row.picture.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

async fn retry(config: &Config, actor: Actor, slug: Option<&Slug>, output: Output) -> Result<ExitCode> {
    let mut listed = listed(config).await?;
    if let Some(slug) = slug {
        listed.retain(|listing| *slug == listing.slug);
        if listed.is_empty() {
            bail!(
                "no listed project has the slug {slug}; `loggia pictures list --refused` names those with refused pictures"
            );
        }
    }
    let session = Session::open(config).await?;
    let mut retried = Retried::default();
    let done = async {
        for listing in &listed {
            for source in sources(listing) {
                let is_refused = matches!(listing.pictures.get(source), Some(PictureOutcome::Refused(_)));
                if !(is_refused && source.contains("://")) {
                    continue;
                }
                match attach(&session, &actor, &listing.slug, source, None).await? {
                    Ok(()) => retried.fetched += 1,
                    Err(reason) => {
                        let source = without_login(source);
                        retried.refused.push(format!("{}: {source}: {reason}", listing.slug));
                    }
                }
            }
        }
        anyhow::Ok(())
    }
    .await;
    session.close().await;
    done?;
    output.answer(&retried, || {
        let sentence = format!("{} fetched, {} refused again", count(retried.fetched), retried.refused.len());
        retried.refused.iter().cloned().chain([sentence]).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if retried.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Attaches a picture that the record already names. Returns the reason if it is refused.
async fn attach(
    session: &Session,
    actor: &Actor,
    slug: &Slug,
    source: &str,
    kept: Option<PictureId>,
) -> Result<Result<(), String>> {
    let picture = PictureSource::of(source);
    let command = Command::Attach { slug: slug.clone(), picture, kept, as_named: true };
    match session.send(actor.clone(), None, command).await? {
        CommandReply::Project(_) => Ok(Ok(())),
        CommandReply::Failed(refusal) => {
            // The callers name the source.
            let reason = refusal.detail.strip_prefix(source).unwrap_or(&refusal.detail);
            Ok(Err(reason.trim_start().to_owned()))
        }
        _ => bail!(UNEXPECTED_REPLY),
    }
}

async fn remake(config: &Config, actor: Actor, output: Output) -> Result<ExitCode> {
    let data = DataFolder::new(&config.server.data);
    // It writes pictures before it reads the log, so the folder is checked first.
    data.check()?;
    store::require_log_here(config)?;
    let folder = data.media();
    let bar = output.progress(0, "recomputing pictures");
    let making = bar.clone();
    let made = tokio::task::spawn_blocking(move || {
        let store = MediaStore::open_read_only(&folder);
        let (mut remade, mut pictures) = (Remade::default(), BTreeMap::new());
        for id in store.ids()? {
            match store.rederive(id) {
                Ok((picture, changed)) => {
                    remade.changed += u64::from(changed);
                    pictures.insert(id, picture);
                }
                Err(error @ MediaError::Damaged { .. }) => {
                    remade.damaged += 1;
                    remade.faults.push(error.to_string());
                }
                Err(error @ MediaError::Unavailable { .. }) => return Err(error.into()),
            }
            remade.pictures += 1;
            making.set_position(remade.pictures);
        }
        anyhow::Ok((remade, pictures))
    })
    .await;
    bar.finish_and_clear();
    let (mut remade, pictures) = made??;
    remade.projects = record_changes(config, &actor, &pictures, &mut remade.faults).await?;
    output.answer(&remade, || {
        let Remade { pictures, changed, damaged, projects, faults } = &remade;
        let mut sentence = format!(
            "{} recomputed, {} changed, in {} projects",
            count(*pictures - *damaged),
            count(*changed),
            count(*projects)
        );
        if *damaged > 0 {
            sentence += &format!("; {} not recomputed: the original is damaged", count(*damaged));
        }
        faults.iter().cloned().chain([sentence]).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if remade.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Records pictures with another palette or size in the projects that show them; the embedding worker then computes their vectors.
/// Returns the number of projects.
async fn record_changes(
    config: &Config,
    actor: &Actor,
    pictures: &BTreeMap<PictureId, Picture>,
    faults: &mut Vec<String>,
) -> Result<u64> {
    let listed = listed(config).await?;
    let session = Session::open(config).await?;
    let mut changed = HashSet::new();
    let done = async {
        for listing in &listed {
            for source in sources(listing) {
                let Some(PictureOutcome::Attached(known)) = listing.pictures.get(source) else {
                    continue;
                };
                if pictures.get(&known.id).is_none_or(|picture| picture == known) {
                    continue;
                }
                match attach(&session, actor, &listing.slug, source, Some(known.id)).await? {
                    Ok(()) => drop(changed.insert(listing.slug.clone())),
                    Err(reason) => {
                        let source = without_login(source);
                        faults.push(format!("{}: {source}: {reason}", listing.slug));
                    }
                }
            }
        }
        anyhow::Ok(())
    }
    .await;
    session.close().await;
    done?;
    Ok(changed.len() as u64)
}

#[cfg(test)]
mod tests;
