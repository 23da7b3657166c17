//! The last changes of projects: what happened, the record as it is now, and what a revision changed.

use bytes::Bytes;
use jiff::Timestamp;
use schemas::ids::{Position, Revision};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use super::change_kind::ChangeKind;
use super::{corrupt, history};
use model::error::ModelError;

/// A project, and a change of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedProject {
    /// The present slug.
    pub slug: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The slug before a rename.
    pub from: Option<String>,
    /// When it happened.
    pub at: Timestamp,
    /// The revision after it.
    pub revision: Revision,
    /// The members that changed with the pictures.
    pub pictured: Vec<String>,
    /// The full records of the revision before and of this one, rendered, if it was recorded by this change or since the time that is
    /// asked for; URLs of this site begin with [`schemas::api::site::SITE`].
    pub revised: Option<[Bytes; 2]>,
    /// The full record now, rendered likewise. `None` while the project is withdrawn.
    pub record: Option<Bytes>,
}

/// Returns the changes at these positions with their projects, in the same order. `since` is in microseconds.
pub(super) async fn read(
    view: &mut SqliteConnection,
    positions: &[Position],
    since: i64,
) -> Result<Vec<(Position, ChangedProject)>, ModelError> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Sqlite>::new(
        "SELECT c.position, c.project, c.kind, c.former, c.time, c.revision, c.pictured, p.slug, r.position AS recorded_at, \
         r.time AS recorded, CASE WHEN p.withdrawn IS NULL THEN p.answer END AS answer \
         FROM changes c JOIN projects p USING (project) JOIN revisions r ON r.project = c.project AND r.revision = c.revision \
         WHERE c.position IN (",
    );
    let mut list = query.separated(", ");
    for position in positions {
        list.push_bind(position.0.cast_signed());
    }
    query.push(")");
    let mut found = Vec::with_capacity(positions.len());
    for row in query.build().fetch_all(&mut *view).await? {
        found.push(read_row(view, &row, since).await?);
    }
    // Positions are in falling order.
    found.sort_unstable_by_key(|(position, _)| std::cmp::Reverse(*position));
    Ok(found)
}

async fn read_row(
    view: &mut SqliteConnection,
    row: &SqliteRow,
    since: i64,
) -> Result<(Position, ChangedProject), ModelError> {
    let kind: String = row.try_get("kind")?;
    let kind = ChangeKind::parse(&kind).ok_or_else(|| corrupt(format!("the kind of a change {kind}")))?;
    let revision = Revision(u32::try_from(row.try_get::<i64, _>("revision")?).map_err(corrupt)?);
    let (position, recorded_at): (i64, i64) = (row.try_get("position")?, row.try_get("recorded_at")?);
    let recorded: Timestamp = row.try_get::<String, _>("recorded")?.parse().map_err(corrupt)?;
    // A picture may come long after the record that names it, whose changes are then older than what is asked for.
    let is_recent = recorded_at == position || recorded.as_microsecond() >= since;
    let revised = if kind == ChangeKind::Revised && is_recent {
        with_former(view, row.try_get("project")?, revision).await?
    } else {
        None
    };
    let pictured: Option<String> = row.try_get("pictured")?;
    let members = pictured.iter().flat_map(|members| members.split(','));
    let project = ChangedProject {
        slug: row.try_get("slug")?,
        kind,
        from: row.try_get("former")?,
        at: row.try_get::<String, _>("time")?.parse().map_err(corrupt)?,
        revision,
        pictured: members.filter(|member| !member.is_empty()).map(str::to_owned).collect(),
        revised,
        record: row.try_get::<Option<String>, _>("answer")?.map(Into::into),
    };
    Ok((Position(position.unsigned_abs()), project))
}

/// Returns the records of the revision before and of a revision; `None` if it is the first.
async fn with_former(
    view: &mut SqliteConnection,
    project: &str,
    revision: Revision,
) -> Result<Option<[Bytes; 2]>, ModelError> {
    let Some(former) = revision.0.checked_sub(1).filter(|former| *former > 0) else { return Ok(None) };
    let before = history::rendered(view, project, Revision(former)).await?;
    let after = history::rendered(view, project, revision).await?;
    before
        .zip(after)
        .map(<[Bytes; 2]>::from)
        .map(Some)
        .ok_or_else(|| corrupt(format!("the project {project} lacks revision {revision} or the one before")))
}
