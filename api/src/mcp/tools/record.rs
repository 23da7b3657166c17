//! Finds the record that a slug stands for, and says what to do where there is none.

use bytes::Bytes;
use schemas::slug::Slug;

use super::Asked;
use crate::mcp::answer::Refusal;
use crate::mcp::arguments::Arguments;
use crate::mcp::rpc_error::quoted;
use crate::routes::standing::{self, Standing};

/// A record, and how it was found.
pub(super) struct Found {
    /// The slug that it has now.
    pub(super) slug: Slug,
    /// As it is rendered.
    pub(super) record: Bytes,
    /// What to say where the project has moved.
    pub(super) note: Option<String>,
}

/// Longer than any address of a project.
const LONGEST: usize = 500;

/// The slug that an argument names: agents also send the address of the project's page.
pub(super) fn slug(arguments: &mut Arguments<'_>, name: &'static str) -> Option<String> {
    let text = arguments.required(name, LONGEST)?;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let path = path.strip_prefix("project://").unwrap_or(path);
    let slug = match (path.split_once("/projects/"), path.split_once("/cite/")) {
        (Some((_, slug)), _) => slug,
        (None, Some((_, rest))) => rest.split('/').next().unwrap_or_default(),
        (None, None) => path,
    };
    Some(slug.trim_matches('/').to_ascii_lowercase())
}

/// Looks a project up; a renamed one is found under its former slugs.
pub(super) async fn find(asked: Asked<'_>, wanted: &str) -> Result<Found, Refusal> {
    let mut slug: Slug = wanted.parse().map_err(|_| unknown(wanted, &[]))?;
    let mut note = None;
    // A project that is renamed just now may have moved on since it was asked where it is.
    for _ in 0..3 {
        match standing::of(asked.state, &slug).await? {
            Standing::Listed(record) => return Ok(Found { slug, record, note }),
            Standing::Moved(to) => {
                note = Some(format!(
                    "The project was renamed: its slug is {to} now, and {wanted} still leads here."
                ));
                slug = to.parse().map_err(|_| unknown(wanted, &[]))?;
            }
            Standing::Withdrawn { reason, citation_url } => {
                let reason = reason.trim_end_matches('.');
                return Err(Refusal::guided(format!(
                    "The project {wanted} was withdrawn from the catalog: {reason}. What was published of it can still be \
                     cited as {citation_url}."
                )));
            }
            Standing::Unknown { suggestions } => return Err(unknown(wanted, &suggestions)),
        }
    }
    Err(unknown(wanted, &[]))
}

fn unknown(wanted: &str, suggestions: &[String]) -> Refusal {
    let near = if suggestions.is_empty() {
        String::new()
    } else {
        format!(" Slugs that are near: {}.", suggestions.join(", "))
    };
    Refusal::guided(format!(
        "No project has the slug {}.{near} Take the slug of a result of search_projects, for example \
         {{\"query\":\"brick library\"}}.",
        quoted(wanted)
    ))
}
