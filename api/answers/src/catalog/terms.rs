//! The words that curators use in the taste dimensions.

use read::archive::{self, Cursor, InvalidCursor, Listing, Term, TermKind, TermsPage};
use schemas::api::archive::Catalog;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::{Serialize, Serializer};

use super::about::{self, NEVER_RECORDED};
use super::browse;
use super::json_writer::JsonWriter;
use crate::error::ApiError;
use crate::query::QueryParams;

/// What words are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsRequest {
    /// One dimension, or all.
    pub dimension: Option<Dimension>,
    /// One category, or all.
    pub category: Option<Category>,
    /// Words or phrases.
    pub kind: TermKind,
    /// How the words begin, or blank for all.
    pub starts_with: String,
    /// The maximum number of words of each dimension.
    pub limit: usize,
    /// The cursor of the page before, which belongs to one dimension.
    pub after: Option<Cursor>,
}

/// The maximum length of the beginning of words, in characters.
pub const LONGEST_BEGINNING: usize = 100;

/// What is wrong with a cursor without its dimension.
pub const NO_DIMENSION: &str = "needs the dimension that it was given with";

impl TermsRequest {
    /// Reads the request from the query of a call.
    pub fn of_query<const N: usize>(sent: &mut QueryParams<'_, N>) -> TermsRequest {
        let request = TermsRequest {
            dimension: sent.dimension(),
            category: sent.category(),
            kind: sent.term_kind(),
            starts_with: starts_with(sent),
            limit: sent.limit(),
            after: sent.cursor(browse::invalid_cursor),
        };
        if request.after.is_some() && request.dimension.is_none() {
            sent.refuse("cursor", format!("It {NO_DIMENSION}."), "cursor and dimension together");
        }
        request
    }

    /// Returns whether all words are requested, at most `limit` of each dimension: the answer says then what the catalog records.
    fn is_of_all(&self) -> bool {
        let TermsRequest { dimension, category, kind, ref starts_with, ref after, limit: _ } = *self;
        dimension.is_none()
            && category.is_none()
            && kind == TermKind::default()
            && starts_with.is_empty()
            && after.is_none()
    }
}

/// Reads how the words begin; a blank beginning is that of all.
fn starts_with<const N: usize>(sent: &mut QueryParams<'_, N>) -> String {
    let text = sent.single("starts_with").unwrap_or_default();
    let length = text.trim().chars().count();
    if length > LONGEST_BEGINNING {
        let allowed = format!("at most {LONGEST_BEGINNING} characters");
        sent.refuse("starts_with", format!("It has {length} characters."), allowed);
    }
    text.trim().to_owned()
}

/// The words of the requested dimensions.
#[derive(Debug)]
pub struct Terms {
    request: TermsRequest,
    pages: Vec<TermsPage>,
    /// What the catalog records, if no words were asked for in particular.
    catalog: Option<Catalog>,
}

#[derive(Serialize)]
struct UsedTerms<'a> {
    dimension: &'static str,
    /// The number of different words.
    distinct: u64,
    #[serde(serialize_with = "terms")]
    terms: &'a [Term],
}

fn terms<S: Serializer>(terms: &&[Term], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct UsedTerm<'a> {
        term: &'a str,
        projects: u64,
    }
    serializer.collect_seq(terms.iter().map(|one| UsedTerm { term: &one.term, projects: one.projects }))
}

/// Returns a page of the words of each requested dimension.
///
/// # Errors
///
/// If the cursor is one of another list.
pub fn find(now: &Listing, request: TermsRequest) -> Result<Terms, InvalidCursor> {
    let all = Dimension::ALL.into_iter();
    let requested = all.filter(|one| request.dimension.is_none_or(|only| only == *one));
    let page = |dimension| {
        let TermsRequest { category, kind, ref starts_with, limit, ref after, .. } = request;
        let request =
            archive::TermsRequest { dimension, kind, category, starts_with, limit, after: after.clone() };
        now.terms_page(request)
    };
    let pages = requested.map(page).collect::<Result<_, _>>()?;
    let catalog = request.is_of_all().then(|| about::answered(now.catalog_counts()));
    Ok(Terms { request, pages, catalog })
}

impl Terms {
    /// Returns the cursor of the next page; `None` at the end, and for several dimensions, whose pages are not the same.
    pub fn next_cursor(&self) -> Option<String> {
        let only = self.pages.first().filter(|_| self.request.dimension.is_some())?;
        only.next.as_ref().map(ToString::to_string)
    }

    /// Writes `catalog` if no words were asked for in particular, then `dimensions` and `next_cursor`.
    ///
    /// # Errors
    ///
    /// If a value cannot be serialised.
    pub fn write(&self, json: &mut JsonWriter<'_>) -> Result<(), ApiError> {
        if let Some(catalog) = &self.catalog {
            json.member("catalog", catalog)?;
        }
        let shown = self.pages.iter().map(|page| UsedTerms {
            dimension: page.terms.dimension.as_str(),
            distinct: page.terms.distinct,
            terms: &page.terms.terms,
        });
        json.member("dimensions", &shown.collect::<Vec<_>>())?;
        json.member("next_cursor", &self.next_cursor())
    }

    /// Returns a note if there are no words, or more than shown, and with `catalog` what is never recorded.
    pub fn note(&self) -> Option<String> {
        let words = self.note_on_words();
        if self.catalog.is_none() {
            return words;
        }
        Some(words.map_or_else(|| NEVER_RECORDED.to_owned(), |words| format!("{NEVER_RECORDED} {words}")))
    }

    fn note_on_words(&self) -> Option<String> {
        let TermsRequest { ref starts_with, limit, dimension, kind, .. } = self.request;
        let (one, many) = if kind == TermKind::Phrase { ("phrase", "phrases") } else { ("word", "words") };
        if self.pages.iter().all(|page| page.terms.terms.is_empty()) {
            let none = match starts_with.trim() {
                "" if self.catalog.is_some() => "No project says anything here yet.".to_owned(),
                "" => "No project says anything here yet. Leave category or dimension out.".to_owned(),
                _ => format!("No {one} in use begins so. Leave starts_with out to see the most used ones."),
            };
            return Some(none);
        }
        let shown = match (self.pages.iter().any(|page| page.next.is_some()), dimension) {
            (false, _) => return None,
            (true, None) => "Ask for one dimension to page through all of them.",
            (true, Some(_)) => "next_cursor leads on.",
        };
        Some(format!(
            "Only the first {limit} {many} of a dimension are shown, the most used; distinct says how many there are. {shown}"
        ))
    }
}
