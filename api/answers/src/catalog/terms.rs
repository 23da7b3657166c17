//! The words that curators use in the taste dimensions.

use read::archive::{self, Cursor, DimensionTerms, InvalidCursor, Listing, Term, TermKind, TermsPage};
use schemas::api::archive::Catalog;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::{Serialize, Serializer};

use super::about::{self, NEVER_RECORDED};
use super::browse;
use super::json_writer::JsonWriter;
use super::near_terms::{Compared, near_terms};
use super::quotation::quoted;
use crate::error::ApiError;
use crate::query::QueryParams;
use crate::state::ApiState;

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
    /// What the words are near to in meaning, or blank for all; without a beginning and a cursor.
    pub near: String,
    /// The maximum number of words of each dimension.
    pub limit: usize,
    /// The cursor of the page before, which belongs to one dimension.
    pub after: Option<Cursor>,
}

/// The maximum length of the beginning of words, and of what they are near to, in characters.
pub const LONGEST_BEGINNING: usize = 100;

/// What is wrong with a text that words are near to beside their beginning or a cursor.
pub const NEAR_ALONE: &str = "cannot be combined with starts_with or cursor";

/// What is wrong with a cursor without its dimension.
pub const NO_DIMENSION: &str = "needs the dimension that it was given with";

impl TermsRequest {
    /// Reads the request from the query of a call.
    pub fn of_query<const N: usize>(sent: &mut QueryParams<'_, N>) -> TermsRequest {
        let request = TermsRequest {
            dimension: sent.dimension(),
            category: sent.category(),
            kind: sent.term_kind(),
            starts_with: text(sent, "starts_with"),
            near: text(sent, "near"),
            limit: sent.limit(),
            after: sent.cursor(browse::invalid_cursor),
        };
        if request.after.is_some() && request.dimension.is_none() {
            sent.refuse("cursor", format!("It {NO_DIMENSION}."), "cursor and dimension together");
        }
        if request.is_ambiguous() {
            sent.refuse("near", format!("It {NEAR_ALONE}."), "near without them");
        }
        request
    }

    /// Returns whether it asks for words that are near to a text, and for a beginning or a later page too, which do not go together.
    pub fn is_ambiguous(&self) -> bool {
        !self.near.is_empty() && (!self.starts_with.is_empty() || self.after.is_some())
    }

    fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        let only = self.dimension;
        Dimension::ALL.into_iter().filter(move |one| only.is_none_or(|only| only == *one))
    }

    /// Returns whether all words are requested, at most `limit` of each dimension: the answer says then what the catalog records.
    fn is_of_all(&self) -> bool {
        let TermsRequest { dimension, category, kind, ref starts_with, ref near, ref after, limit: _ } =
            *self;
        dimension.is_none()
            && category.is_none()
            && kind == TermKind::default()
            && starts_with.is_empty()
            && near.is_empty()
            && after.is_none()
    }
}

/// Reads how the words begin, or what they are near to; blank for all.
fn text<const N: usize>(sent: &mut QueryParams<'_, N>, name: &'static str) -> String {
    let text = sent.single(name).unwrap_or_default();
    let length = text.trim().chars().count();
    if length > LONGEST_BEGINNING {
        let allowed = format!("at most {LONGEST_BEGINNING} characters");
        sent.refuse(name, format!("It has {length} characters."), allowed);
    }
    text.trim().to_owned()
}

const LEAVE_NEAR_OUT: &str = "Leave near out to see the most used ones.";

/// The words of the requested dimensions.
#[derive(Debug)]
pub struct Terms {
    request: TermsRequest,
    pages: Vec<TermsPage>,
    /// What the catalog records, if no words were asked for in particular.
    catalog: Option<Catalog>,
    /// Whether the text model knows what the words are to be near to.
    is_understood: bool,
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

/// Why words cannot be listed.
#[derive(Debug)]
pub enum TermsFault {
    /// The cursor is one of another list.
    InvalidCursor(InvalidCursor),
    /// Anything else.
    Failed(ApiError),
}

/// Returns a page of the words of each requested dimension.
///
/// # Errors
///
/// If the cursor is one of another list, the node has no archive yet, or words that are near are requested and it has no text model.
pub fn find(state: &ApiState, request: TermsRequest) -> Result<Terms, TermsFault> {
    let now = state.listing().map_err(TermsFault::Failed)?;
    if request.near.is_empty() {
        return used(&now, request).map_err(TermsFault::InvalidCursor);
    }
    match state.text_model() {
        None => Err(TermsFault::Failed(ApiError::no_text_model())),
        Some(model) => {
            let is_understood = model.understood(&request.near).is_some();
            Ok(Terms { is_understood, pages: near(state, &now, &request), request, catalog: None })
        }
    }
}

/// Returns the words of each requested dimension that are nearest in meaning.
fn near(state: &ApiState, now: &Listing, request: &TermsRequest) -> Vec<TermsPage> {
    let TermsRequest { category, kind, ref near, limit, .. } = *request;
    let page = |dimension| {
        let mut terms = near_terms(state, now, near, Compared { kind, dimension, category });
        let distinct = terms.len() as u64;
        terms.truncate(limit);
        TermsPage { terms: DimensionTerms { dimension, terms, distinct }, next: None }
    };
    request.dimensions().map(page).collect()
}

fn used(now: &Listing, request: TermsRequest) -> Result<Terms, InvalidCursor> {
    let page = |dimension| {
        let TermsRequest { category, kind, ref starts_with, limit, ref after, .. } = request;
        let request =
            archive::TermsRequest { dimension, kind, category, starts_with, limit, after: after.clone() };
        now.terms_page(request)
    };
    let pages = request.dimensions().map(page).collect::<Result<_, _>>()?;
    let catalog = request.is_of_all().then(|| about::answered(now.catalog_counts()));
    Ok(Terms { request, pages, catalog, is_understood: true })
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
        let TermsRequest { ref starts_with, ref near, limit, dimension, kind, .. } = self.request;
        let (one, many) = if kind == TermKind::Phrase { ("phrase", "phrases") } else { ("word", "words") };
        if self.pages.iter().all(|page| page.terms.terms.is_empty()) {
            if !self.is_understood {
                return Some(format!(
                    "The text model does not know {}; it knows English. {LEAVE_NEAR_OUT}",
                    quoted(near)
                ));
            }
            if !near.is_empty() {
                let near = quoted(near);
                return Some(format!("No {one} in use is near to {near} in meaning. {LEAVE_NEAR_OUT}"));
            }
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
