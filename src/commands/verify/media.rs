//! `loggia verify media`: the bytes of each stored picture, and with the log that none is missing.

use std::collections::BTreeSet;

use anyhow::Result;
use cli_output::{Output, count};
use data_folder::DataFolder;
use media::{CheckReport, MediaStore};
use schemas::picture::PictureId;
use serde::Serialize;
use write::service::named_pictures;

use crate::config::Config;
use crate::store;

#[derive(Serialize)]
struct Verified {
    #[serde(flatten)]
    checked: CheckReport,
    /// The pictures that the log names and the folder does not have, without erased ones; `None` without a log.
    missing: Option<BTreeSet<PictureId>>,
}

/// Checks every picture of the data folder. Returns whether none is damaged or missing.
pub(super) async fn verify(config: &Config, repair: bool, output: Output) -> Result<bool> {
    let data = DataFolder::new(&config.server.data);
    data.check()?;
    let folder = data.media();
    let named = named(config).await?;
    let bar = output.progress(0, "checking");
    let checking = bar.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let store = MediaStore::open_read_only(&folder);
        let checked = store.check(repair, |pictures| checking.set_position(pictures))?;
        let is_missing = |id: &PictureId| store.get(*id).is_ok_and(|picture| picture.is_none());
        let erased: BTreeSet<PictureId> = store.erased()?.into_iter().map(|erased| erased.picture).collect();
        let missing = named.map(|named| named.difference(&erased).copied().filter(is_missing).collect());
        anyhow::Ok(Verified { checked, missing })
    })
    .await;
    bar.finish_and_clear();
    let verified = checked??;
    output.answer(&verified, || sentence(&verified))?;
    Ok(verified.checked.faults.is_empty() && verified.missing.is_none_or(|missing| missing.is_empty()))
}

/// Returns the pictures that the log names, without those that it says are erased; `None` without a log.
async fn named(config: &Config) -> Result<Option<BTreeSet<PictureId>>> {
    if store::is_here(config) && !store::folder(config).join("events.db").exists() {
        return Ok(None);
    }
    Ok(Some(named_pictures(&store::open_read_only(config).await?).await?))
}

fn sentence(verified: &Verified) -> String {
    let Verified { checked, missing } = verified;
    let mut lines = checked.faults.clone();
    for id in missing.iter().flatten() {
        lines.push(format!("the picture {id} is missing; restore it from a backup, or attach it again"));
    }
    let wrong = lines.len();
    let mut last = format!("{} pictures checked", count(checked.pictures));
    if checked.repaired > 0 {
        last.push_str(&format!(", {} restored from their originals", count(checked.repaired)));
    }
    last.push_str(&match wrong {
        0 => "; all are intact".to_owned(),
        wrong => format!("; {} DAMAGED OR MISSING", count(wrong as u64)),
    });
    lines.push(last);
    lines.join("\n")
}
