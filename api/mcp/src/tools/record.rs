//! Finds the record of a slug or URL, and says what to do if there is none.

use answers::catalog::revision::{self, RevisionQuery};
use answers::catalog::slug::{self, HistoryResolution, SlugResolution};
use bytes::Bytes;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemas::ids::Revision;
use schemas::slug::Slug;
use serde_json::{Value as Json, json};

use super::CallContext;
use crate::protocol::rpc_error::quoted;
use crate::tools::answer::Refusal;
use crate::tools::arguments::Arguments;
use crate::tools::input::Value;

/// A record, and how it was found.
pub(super) struct Found {
    /// The rendered record.
    pub(super) record: Bytes,
    /// Notes on how it was found.
    pub(super) notes: Vec<String>,
}

/// The present location of a project.
pub(super) struct Located {
    /// Its present slug.
    pub(super) slug: Slug,
    /// A note if it was renamed.
    pub(super) note: Option<String>,
}

/// A reference to a project, possibly to one of its revisions.
#[derive(Debug, PartialEq)]
pub(super) struct Reference {
    /// The URL as given, if it is one.
    address: Option<String>,
    pub(super) slug: String,
    /// The last segment of a citation's URL.
    revision: Option<String>,
}

/// The maximum length in characters, longer than any URL of a project.
const LONGEST: usize = 2_000;

/// Agents also send the URL of a project's page or of one of its citations.
impl Value for Reference {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Reference> {
        arguments.bounded(name, LONGEST).map(|text| Reference::parse(&text))
    }
}

/// The number of a revision.
pub(super) struct RevisionNumber(pub(super) u32);

impl Value for RevisionNumber {
    fn schema() -> Json {
        json!({"type": "integer", "minimum": 1})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<RevisionNumber> {
        let number = |text: &str| {
            // Some clients send all numbers with a fraction.
            let whole = text.strip_suffix(".0").unwrap_or(text);
            whole.parse::<u32>().ok().filter(|number| *number > 0)
        };
        arguments.parsed(name, number, "a whole number from 1").map(RevisionNumber)
    }
}

/// A day or an instant, which selects the newest revision at that time; it excludes the argument `revision`.
pub(super) struct AsOf(Timestamp);

impl Value for AsOf {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<AsOf> {
        let instant = arguments.parsed(name, revision::instant, revision::INSTANT)?;
        if arguments.has("revision") {
            arguments.fault(format!("revision and {name} each name a revision, give one of them"));
        }
        Some(AsOf(instant))
    }
}

/// Returns the requested revision; `None` is the present one.
pub(super) fn revision_query(revision: Option<RevisionNumber>, as_of: Option<AsOf>) -> Option<RevisionQuery> {
    let number = revision.map(|RevisionNumber(number)| RevisionQuery::Revision(number));
    number.or(as_of.map(|AsOf(instant)| RevisionQuery::AsOf(instant)))
}

impl Reference {
    fn parse(text: &str) -> Reference {
        let path = text.split(['?', '#']).next().unwrap_or_default();
        let (path, own) = path.strip_prefix("project://").map_or((path, false), |path| (path, true));
        let (slug, revision) = match (path.split_once("/projects/"), path.split_once("/cite/")) {
            (Some((_, slug)), _) => (slug, None),
            (None, Some((_, rest))) => {
                let (slug, revision) = rest.split_once('/').unwrap_or((rest, ""));
                (slug, Some(revision.trim_matches('/')).filter(|revision| !revision.is_empty()))
            }
            (None, None) => (path, None),
        };
        Reference {
            address: (!own && text.contains("://")).then(|| text.to_owned()),
            slug: slug.trim_matches('/').to_ascii_lowercase(),
            revision: revision.map(str::to_owned),
        }
    }

    /// Returns slug and revision; for a URL in the record of a project, its slug without a revision.
    async fn resolved(&self, context: CallContext<'_>) -> Result<(String, Option<&str>), Refusal> {
        let site = context.state.site().as_str();
        if let Some(address) = self.address.as_deref().filter(|address| !address.starts_with(site))
            && let Some(slug) = slug::slug_of_address(context.state, address).await?
        {
            return Ok((slug, None));
        }
        Ok((self.slug.clone(), self.revision.as_deref()))
    }
}

/// Finds the present record, or the one of the requested revision or of the revision in the URL.
pub(super) async fn find(
    context: CallContext<'_>,
    wanted: &Reference,
    query: Option<RevisionQuery>,
) -> Result<Found, Refusal> {
    let (slug, named) = wanted.resolved(context).await?;
    let query = match (named, query) {
        (None, query) => query,
        (Some(named), query) => {
            let number =
                named.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == named);
            let number = number.ok_or_else(|| {
                Refusal::guided(format!(
                    "The address of a citation ends with the number of a revision, from 1 on; this one ends with {}.",
                    quoted(named)
                ))
            })?;
            if query.is_some_and(|query| query != RevisionQuery::Revision(number)) {
                return Err(Refusal::guided(format!(
                    "The address names revision {number}, and revision or as_of another one. Give the address alone, or the \
                     slug with the other."
                )));
            }
            Some(RevisionQuery::Revision(number))
        }
    };
    match query {
        None => present(context, &slug).await.map(|(_, found)| found),
        Some(query) => former(context, &slug, query).await,
    }
}

/// Finds the present slug of a listed project.
pub(super) async fn locate(context: CallContext<'_>, wanted: &Reference) -> Result<Located, Refusal> {
    let (slug, _) = wanted.resolved(context).await?;
    let (slug, found) = present(context, &slug).await?;
    Ok(Located { slug, note: found.notes.into_iter().next() })
}

/// Finds the present record; a renamed project is found under its former slugs.
async fn present(context: CallContext<'_>, wanted: &str) -> Result<(Slug, Found), Refusal> {
    let mut slug = slug(context, wanted)?;
    let mut notes = Vec::new();
    // A project that is being renamed may be renamed again between two lookups.
    for _ in 0..3 {
        match slug::resolve(context.state, &slug).await? {
            SlugResolution::Found(record) => return Ok((slug, Found { record, notes })),
            SlugResolution::Redirect(to) => {
                notes = vec![format!(
                    "The project was renamed: its slug is {to} now, and {wanted} still leads here."
                )];
                slug = to.parse().map_err(|_| unknown(wanted, &[]))?;
            }
            SlugResolution::Gone { reason, revision_url, .. } => {
                let reason = reason.trim_end_matches('.');
                return Err(Refusal::guided(format!(
                    "The project {wanted} was withdrawn from the catalog: {reason}. What was published of it can still be \
                     cited as {revision_url}."
                )));
            }
            SlugResolution::NotFound { suggestions } => return Err(unknown(wanted, &suggestions)),
        }
    }
    Err(unknown(wanted, &[]))
}

/// Finds the record of a revision, also of a withdrawn project.
async fn former(context: CallContext<'_>, wanted: &str, query: RevisionQuery) -> Result<Found, Refusal> {
    let (catalog, history) = match slug::resolve_history(context.state, &slug(context, wanted)?).await? {
        HistoryResolution::Found(catalog, history) => (catalog, history),
        HistoryResolution::Unknown { suggestions } => return Err(unknown(wanted, &suggestions)),
    };
    let newest = history.newest().revision;
    let no_such = |what: String| {
        let known = if newest == Revision::FIRST {
            "its only one is 1".into()
        } else {
            format!("they are 1 to {newest}")
        };
        Refusal::guided(format!("The project {wanted} has no revision {what}; {known}."))
    };
    let recorded = query.find(&history).map_err(|_| match query {
        RevisionQuery::Revision(number) => no_such(number.to_string()),
        RevisionQuery::AsOf(instant) => {
            no_such(format!("of {instant}: the first was recorded at {}", history.first().at))
        }
    })?;
    let record = catalog.reader.revision(&history, recorded.revision).await.map_err(slug::api_error)?;
    let record = record.ok_or_else(|| no_such(recorded.revision.to_string()))?;
    let mut notes = Vec::new();
    if let Some(withdrawal) = &history.withdrawn {
        let day = TimeZone::UTC.to_datetime(withdrawal.at).date();
        let reason = withdrawal.reason.trim_end_matches('.');
        notes.push(format!("The project was withdrawn from the catalog on {day}: {reason}."));
    }
    if recorded.revision != newest {
        let (day, site) = (TimeZone::UTC.to_datetime(recorded.at).date(), context.state.site());
        let address = format!("{site}/cite/{}/{newest}", history.newest().slug);
        let number = recorded.revision;
        notes.push(format!(
            "This is revision {number}, recorded on {day}; revision {newest} is newer: {address}."
        ));
    }
    if history.slug != recorded.slug {
        notes.push(format!("The project's slug is {} now.", history.slug));
    }
    Ok(Found { record, notes })
}

/// Parses a slug; the error suggests similar ones.
fn slug(context: CallContext<'_>, wanted: &str) -> Result<Slug, Refusal> {
    wanted.parse().map_err(|_| unknown(wanted, &slug::suggestions(context.state, wanted)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_slug_or_a_url() {
        for (text, slug, revision, is_address) in [
            ("haus-am-see", "haus-am-see", None, false),
            ("HAUS-am-see", "haus-am-see", None, false),
            ("project://haus-am-see", "haus-am-see", None, false),
            ("/projects/haus-am-see/", "haus-am-see", None, false),
            ("https://h/projects/haus-am-see?x=1#y", "haus-am-see", None, true),
            ("https://h/cite/haus-am-see/2", "haus-am-see", Some("2"), true),
            ("cite/haus-am-see", "cite/haus-am-see", None, false),
            ("/cite/haus-am-see/", "haus-am-see", None, false),
            ("https://h/cite/a/2/", "a", Some("2"), true),
            ("https://m.org/Art/1", "https://m.org/art/1", None, true),
        ] {
            let expected = Reference {
                address: is_address.then(|| text.to_owned()),
                slug: slug.into(),
                revision: revision.map(str::to_owned),
            };
            assert_eq!(Reference::parse(text), expected, "{text}");
        }
    }
}
