//! Finds the record that a slug or an address stands for, and says what to do where there is none.

use answers::catalog::past::{self, Past};
use answers::catalog::slug::{self, PastResolution, SlugResolution};
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
    /// As it is rendered.
    pub(super) record: Bytes,
    /// What the caller should know of how it was found.
    pub(super) notes: Vec<String>,
}

/// A project that moved, or is where it was looked for.
pub(super) struct Located {
    /// The slug that it has now.
    pub(super) slug: Slug,
    /// What to say where it has moved.
    pub(super) note: Option<String>,
}

/// The project that an argument names, and perhaps one of its revisions.
#[derive(Debug, PartialEq)]
pub(super) struct Reference {
    /// The address as it was given, where it is one.
    address: Option<String>,
    slug: String,
    /// The last part of a citation's address.
    revision: Option<String>,
}

/// Longer than any address of a project.
const LONGEST: usize = 2_000;

/// Agents also send the address of a project's page or of one of its citations.
impl Value for Reference {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Reference> {
        arguments.bounded(name, LONGEST).map(|text| Reference::parse(&text))
    }
}

/// The number of a revision.
pub(super) struct RevisionNumber(u32);

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

/// A day or an instant, whose revision is meant; it excludes the argument `revision`.
pub(super) struct AsOf(Timestamp);

impl Value for AsOf {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<AsOf> {
        let instant = arguments.parsed(name, past::instant, past::INSTANT)?;
        if arguments.has("revision") {
            arguments.fault(format!("revision and {name} each name a revision, give one of them"));
        }
        Some(AsOf(instant))
    }
}

/// Returns the revision that a call asks for; `None` for the present one.
pub(super) fn past(revision: Option<RevisionNumber>, as_of: Option<AsOf>) -> Option<Past> {
    let number = revision.map(|RevisionNumber(number)| Past::Revision(number));
    number.or(as_of.map(|AsOf(instant)| Past::AsOf(instant)))
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

    /// The slug as it was written.
    pub(super) fn slug(&self) -> &str {
        &self.slug
    }

    /// The same for an address that a record brings itself, which says nothing of revisions here.
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

/// Finds the record: the present one, or that of the revision which is asked for or which the address names.
pub(super) async fn find(
    context: CallContext<'_>,
    wanted: &Reference,
    past: Option<Past>,
) -> Result<Found, Refusal> {
    let (slug, named) = wanted.resolved(context).await?;
    let past = match (named, past) {
        (None, past) => past,
        (Some(named), past) => {
            let number =
                named.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == named);
            let number = number.ok_or_else(|| {
                Refusal::guided(format!(
                    "The address of a citation ends with the number of a revision, from 1 on; this one ends with {}.",
                    quoted(named)
                ))
            })?;
            if past.is_some_and(|past| past != Past::Revision(number)) {
                return Err(Refusal::guided(format!(
                    "The address names revision {number}, and revision or as_of another one. Give the address alone, or the \
                     slug with the other."
                )));
            }
            Some(Past::Revision(number))
        }
    };
    match past {
        None => present(context, &slug).await.map(|(_, found)| found),
        Some(past) => former(context, &slug, past).await,
    }
}

/// Finds where a listed project is now.
pub(super) async fn locate(context: CallContext<'_>, wanted: &Reference) -> Result<Located, Refusal> {
    let (slug, _) = wanted.resolved(context).await?;
    let (slug, found) = present(context, &slug).await?;
    Ok(Located { slug, note: found.notes.into_iter().next() })
}

/// Finds the present record; a renamed project is found under its former slugs.
async fn present(context: CallContext<'_>, wanted: &str) -> Result<(Slug, Found), Refusal> {
    let mut slug = slug(context, wanted)?;
    let mut notes = Vec::new();
    // A project that is renamed just now may have moved on since it was asked where it is.
    for _ in 0..3 {
        match slug::resolve(context.state, &slug).await? {
            SlugResolution::Found(record) => return Ok((slug, Found { record, notes })),
            SlugResolution::Redirect(to) => {
                notes = vec![format!(
                    "The project was renamed: its slug is {to} now, and {wanted} still leads here."
                )];
                slug = to.parse().map_err(|_| unknown(wanted, &[]))?;
            }
            SlugResolution::Gone { reason, citation_url } => {
                let reason = reason.trim_end_matches('.');
                return Err(Refusal::guided(format!(
                    "The project {wanted} was withdrawn from the catalog: {reason}. What was published of it can still be \
                     cited as {citation_url}."
                )));
            }
            SlugResolution::NotFound { suggestions } => return Err(unknown(wanted, &suggestions)),
        }
    }
    Err(unknown(wanted, &[]))
}

/// Finds what a revision said, also of a withdrawn project.
async fn former(context: CallContext<'_>, wanted: &str, past: Past) -> Result<Found, Refusal> {
    let (catalog, history) = match slug::resolve_past(context.state, &slug(context, wanted)?).await? {
        PastResolution::Found(catalog, history) => (catalog, history),
        PastResolution::Unknown { suggestions } => return Err(unknown(wanted, &suggestions)),
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
    let recorded = past.find(&history).map_err(|_| match past {
        Past::Revision(number) => no_such(number.to_string()),
        Past::AsOf(instant) => {
            no_such(format!("of {instant}: the first was recorded at {}", history.first().at))
        }
    })?;
    let record = catalog.reader.revision(&history, recorded.revision).await.map_err(slug::fault)?;
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

/// The slug that a text is, or what is near to it.
fn slug(context: CallContext<'_>, wanted: &str) -> Result<Slug, Refusal> {
    wanted.parse().map_err(|_| unknown(wanted, &slug::near(context.state, wanted)))
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
    fn a_project_is_named_by_slug_or_address() {
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
