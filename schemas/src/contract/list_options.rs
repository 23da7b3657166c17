//! The parameters of lists beside their query: filters, order and facets.

use serde_json::{Value, json};

use crate::record::Category;
use crate::taste::Dimension;

/// A pattern for a text that is not blank, with Unicode white space as it is trimmed.
pub(super) const NOT_BLANK: &str =
    "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

/// The orders of lists; those without a query have no relevance.
pub(super) const ORDERS: [&str; 6] = ["relevance", "newest", "oldest", "name", "year_asc", "year_desc"];

/// The maximum number of values of a filter.
const MAX_VALUES: usize = 20;

/// Returns the parameter `detail` of a list.
pub(super) fn detail_parameter() -> Value {
    json!({"name": "detail", "in": "query", "description": "How much of each project is shown: with concise only slug, name, studio, city, year, \
            citation_url and revision_url, and score or matched where there is one; with taste these and the six texts of taste, of the record as it is.",
        "schema": {"type": "string", "enum": ["full", "concise", "taste"], "default": "full"}})
}

/// Returns the parameters of a list of what changed.
pub(super) fn changed_parameters() -> [Value; 2] {
    let since = json!({"name": "changed_since", "in": "query",
        "description": "Only projects to which something happened on this day (from its beginning in UTC) or at this instant (RFC 3339, with \
            its offset) or later, withdrawn ones included: each once with its last change, and the one that changed last first. One in the \
            future is 400. Filters hold for projects as they are now, so that withdrawn ones match none. Not together with sort, facets, slugs \
            and cite.",
        "schema": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}});
    let kinds = json!({"name": "kinds", "in": "query", "explode": true,
        "description": "Only changes of these kinds; also several in one value, separated by commas. Only together with changed_since.",
        "schema": {"type": "array", "items": {"type": "string", "enum": ["selected", "revised", "renamed", "withdrawn", "restored"]}}});
    [since, kinds]
}

/// Makes the members of results optional that `detail=concise` leaves out, and adds the one that `detail=taste` adds.
pub(super) fn allow_concise(document: &mut Value) {
    let shown = [
        "slug",
        "name",
        "studio",
        "city",
        "year",
        "citation_url",
        "revision_url",
        "score",
        "matched",
        "change",
    ];
    for name in ["Summary", "SearchResult", "SimilarResult", "NearResult", "TasteResult", "ChangedProject"] {
        let result = &mut document["components"]["schemas"][name];
        if let Some(required) = result["required"].as_array_mut() {
            required.retain(|member| shown.iter().any(|one| member == one));
        }
        result["properties"]["taste"] = json!({
            "$ref": "#/components/schemas/Taste",
            "description": "The six taste dimensions, with detail=taste alone.",
        });
    }
}

/// Adds the parameters to those of a list that has these orders, of which the first is the usual one.
pub(super) fn add_list_options(parameters: &mut Value, orders: &[&str]) {
    let several = |name: &str, about: &str, item: Value| {
        json!({"name": name, "in": "query", "description": about, "explode": true,
            "schema": {"type": "array", "maxItems": MAX_VALUES, "items": item}})
    };
    let text = || json!({"type": "string", "minLength": 1, "maxLength": 300, "pattern": NOT_BLANK});
    let year = |name: &str, about: &str| {
        json!({"name": name, "in": "query", "description": about,
            "schema": {"type": "string", "pattern": "^[0-9]{4}$"}})
    };
    let date = |name: &str, about: &str| {
        json!({"name": name, "in": "query", "description": about,
            "schema": {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}})
    };
    let dimensions = Dimension::ALL.into_iter().map(Dimension::as_str);
    let facets: Vec<&str> =
        ["category", "city", "studio", "curator", "year"].into_iter().chain(dimensions).collect();
    let options = [
        several(
            "category",
            "Only these categories; also several in one value, separated by commas. Several values of one filter are \
            alternatives; all filters hold.",
            json!({"type": "string", "enum": Category::ALL.map(Category::as_str)}),
        ),
        several(
            "city",
            "Only these places as a whole; case, accents, punctuation and the word “and” do not count, but symbols do.",
            text(),
        ),
        several("studio", "Only these studios, likewise: C is not C++.", text()),
        several("curator", "Only what these curators selected, likewise.", text()),
        several(
            "place",
            "Only places with one of these parts between commas or semicolons: Germany finds Ulm, Germany.",
            text(),
        ),
        year("year_from", "Only projects of this year or later. One without a year does not match."),
        year("year_to", "Only projects of this year or earlier; not before year_from."),
        json!({"name": "has_picture", "in": "query", "description": "Only projects with a thumbnail.",
            "schema": {"type": "string", "enum": ["true"]}}),
        several(
            "color",
            "Only projects with a picture that has a main color near one of these: at most 0.1 in OKLab, where black and \
            white are 1 apart. Lists without a query show the nearest first.",
            json!({"type": "string", "pattern": "^#?[0-9A-Fa-f]{6}$"}),
        ),
        date("added_since", "Only projects whose added_at is on this day (UTC) or later."),
        date(
            "selected_from",
            "Only projects that a curator selected on this day (provenance.selected) or later. One without that day does not match.",
        ),
        date(
            "selected_to",
            "Only projects that a curator selected on this day or earlier, likewise; not before selected_from.",
        ),
        detail_parameter(),
        json!({"name": "sort", "in": "query", "description": "The order. newest and oldest are by the day of publication, else of selection, \
            else of added_at, and not by year: year_asc begins with the first year, year_desc with the last, both with the projects \
            without a year at the end.", "schema": {"type": "string", "enum": orders, "default": orders.first()}}),
        several(
            "facets",
            "What the projects of all pages are counted by; also several in one value, separated by commas. A chosen value does not \
            restrict its own facet; a range of years restricts the years, too. facet_totals says how many values there are and how \
            many projects have none.",
            json!({"type": "string", "enum": facets}),
        ),
    ];
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.extend(options);
    }
}
