//! Several projects in one call, by their slugs.

use std::collections::HashSet;

use bytes::Bytes;
use read::catalog::ResolvedSlug;
use schemas::slug::Slug;
use serde::Serialize;

use super::cited::CiteStyle;
use super::detail::Detail;
use super::json_writer::JsonWriter;
use super::slug::{api_error, is_listed};
use crate::error::ApiError;
use crate::site::Site;
use crate::state::ApiState;

/// The maximum number of slugs in a call.
pub const MOST_SLUGS: usize = 20;

/// The projects with the requested slugs.
#[derive(Debug, Default)]
pub struct SeveralProjects {
    /// Their full records, rendered, in the order of the request; each project once.
    pub records: Vec<Bytes>,
    /// The slugs that lead to no listed project, as requested.
    pub missing: Vec<String>,
    /// The former slugs among the requested ones.
    pub renamed: Vec<RenamedSlug>,
}

/// A former slug and the present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RenamedSlug {
    /// The requested slug.
    pub from: String,
    /// The present slug.
    pub to: String,
}

/// Finds the listed projects with these slugs, in any case, in one read of the catalog. Former slugs lead to the project too.
///
/// # Errors
///
/// If the catalog cannot be read, or does not have a project yet that the search index has.
pub async fn find(state: &ApiState, slugs: &[String]) -> Result<SeveralProjects, ApiError> {
    let in_lower_case: Vec<String> = slugs.iter().map(|slug| slug.to_ascii_lowercase()).collect();
    let resolved = state.catalog()?.reader.resolve_all(&in_lower_case).await.map_err(api_error)?;
    let mut several = SeveralProjects::default();
    let (mut asked, mut shown) = (HashSet::new(), HashSet::new());
    for (slug, sent) in in_lower_case.iter().zip(slugs).filter(|(slug, _)| asked.insert(slug.as_str())) {
        let found = resolved.iter().find(|one| one.slug == *slug);
        match found {
            Some(ResolvedSlug { present, record: Some(record), .. }) => {
                if present != slug {
                    several.renamed.push(RenamedSlug { from: slug.clone(), to: present.clone() });
                }
                if shown.insert(present.as_str()) {
                    several.records.push(record.clone());
                }
            }
            Some(_) => several.missing.push(sent.clone()),
            None => {
                if let Ok(slug) = slug.parse::<Slug>()
                    && is_listed(state, &slug)?
                {
                    return Err(ApiError::catching_up());
                }
                several.missing.push(sent.clone());
            }
        }
    }
    Ok(several)
}

impl SeveralProjects {
    /// Writes `count`, `results` in this detail, each with its citation where one is asked for, `missing` and, if there are any, `renamed`.
    ///
    /// # Errors
    ///
    /// If a value cannot be serialised.
    pub fn write(
        &self,
        json: &mut JsonWriter<'_>,
        detail: Detail,
        cite: Option<(CiteStyle, &Site)>,
    ) -> Result<(), ApiError> {
        json.member("count", &self.records.len())?;
        let records = self.records.iter();
        let records = records.map(|record| (detail.of(record.strip_suffix(b"}").unwrap_or(record)), record));
        json.projects("results", records, |json, record| match cite {
            Some((style, site)) => json.member("citation", &style.citation(record, site)?),
            None => Ok(()),
        })?;
        json.member("missing", &self.missing)?;
        if self.renamed.is_empty() { Ok(()) } else { json.member("renamed", &self.renamed) }
    }
}
