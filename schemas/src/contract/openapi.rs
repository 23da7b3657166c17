//! OpenAPI 3.1: the REST interface.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::examples;
use super::list_options::{
    NOT_BLANK, ORDERS, add_list_options, allow_concise, changed_parameters, detail_parameter,
};
use super::meaning::{mode_parameter, near_parameter, similar_to_text};
use super::responses::{description, headers, of_a_slug, refusal, responses};

use crate::api::archive::{
    ConciseSeveralAnswer, DiscoverAnswer, ProjectsAnswer, SeveralAnswer, TasteSearchAnswer,
    TasteSeveralAnswer, TermsAnswer,
};
use crate::api::changed::ChangedAnswer;
use crate::api::changes::{ChangesAnswer, DEFAULT_CHANGES, MAX_CHANGES};
use crate::api::comparison::ComparisonAnswer;
use crate::api::problem::Problem;
use crate::api::project::Project;
use crate::api::search::{DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARACTERS, MIN_LIMIT, SearchAnswer};
use crate::api::similar::{SimilarAnswer, SimilarToTextAnswer};
use crate::api::suggest::{DEFAULT_SUGGESTIONS, MAX_SUGGESTIONS, SuggestAnswer};
use crate::api::usage::UsageAnswer;
use crate::picture::{DETAIL_WIDTH, LIST_WIDTH, WIDTHS};
use crate::record::Category;
use crate::taste::Dimension;

/// The errors of a list.
const ERRORS: &[u16] = &[400, 401, 429, 503];

/// The general description, which applies to all calls.
const DESCRIPTION: &str = "A curated catalog of architecture, interiors, design, photography and art.\n\n\
Send a key as `Authorization: Bearer log_live_…`, or for quick tests as `?key=log_live_…`, not both. A call counts once it is \
answered with a 2xx of /search, /project, /similar, /projects, /taste, /discover or /changes; HEAD counts as GET. Errors, 304, 308, /terms, \
/suggest and /usage are free, and so is a list whose total is 0. Besides the \
month's quota there is a limit of calls within a second for each key (20 unless the operator set another): over it a call is \
answered 429 with Retry-After. There a call counts as one more for each 3 facets, for each 20 alternatives in taste and \
filters, for an order of /search other than relevance, and for a meaning, and as two more for changed_since.\n\n\
A 308 names the present slug of a project that was renamed. It repeats the query but for `key`: who sends the key in the query \
adds it again; one in the header stays.\n\n\
A field without a recorded value is null, a list is `[]`. Inside /v1 things are only added.";

pub(super) fn document() -> Value {
    // Schemas as serialised: a member that may be null is always present.
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|s| s.definitions_path = "/components/schemas".into())
        .into_generator();
    let search = generator.subschema_for::<SearchAnswer<'_>>();
    let shapes = [generator.subschema_for::<Project<'_>>(), generator.subschema_for::<ComparisonAnswer>()];
    let project = schemars::json_schema!({"anyOf": shapes});
    let similar = generator.subschema_for::<SimilarAnswer<'_>>();
    let near = generator.subschema_for::<SimilarToTextAnswer<'_>>();
    let usage = generator.subschema_for::<UsageAnswer>();
    let problem = generator.subschema_for::<Problem>();
    let lists = lists(&mut generator, &problem);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Loggia",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/v1"}],
        "paths": {
            "/search": {"get": {
                "operationId": "search",
                "summary": "Finds projects by words of name, studio, city, category and introduction, or by the meaning of all their texts",
                "parameters": search_parameters(),
                "responses": responses("A page of results, the best first.", &search, &problem, &[400, 401, 429, 503]),
            }},
            "/usage": {"get": {
                "operationId": "usage",
                "summary": "What the presented key has called in the running month; free of charge",
                "parameters": [],
                "responses": responses("The month up to now.", &usage, &problem, &[400, 401, 429, 503]),
            }},
            "/project/{slug}": {"get": {
                "operationId": "project",
                "summary": "The full record of one project, as it is, or as one of its revisions recorded it",
                "parameters": [
                    slug_parameter(), revision_parameter(), as_of_parameter(), cite_parameter(), compare_to_parameter(),
                ],
                "responses": of_a_slug("The record; with compare_to what differs.", &project, &problem),
            }},
            "/similar/{slug}": {"get": {
                "operationId": "similar",
                "summary": "The projects that look and read most like one project",
                "parameters": similar_parameters(),
                "responses": of_a_slug("A page of the at most 50 nearest projects, the nearest first.", &similar, &problem),
            }},
            "/similar": similar_to_text(&near, &problem, [limit_parameter(), neighbours_cursor_parameter()]),
            "/cite/{slug}/{revision}": outside(&cite(), &problem, &[400, 404, 429, 503]),
            "/feed.atom": outside(&feed("feed", "an Atom feed", "application/atom+xml", &json!({"type": "string"})), &problem, &[400, 429, 503]),
            "/feed.json": outside(&feed("json_feed", "a JSON Feed (1.1)", "application/feed+json", &json!({"type": "object"})), &problem, &[400, 429, 503]),
            "/media/{picture}/{file}": outside(&picture(&problem), &problem, &[503]),
        },
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A key such as log_live_…; the better way."},
                "query": {"type": "apiKey", "in": "query", "name": "key",
                    "description": "For quick tests, in place of the header; both at once are refused."},
            },
        },
        "security": [{"bearer": []}],
    });
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.extend(lists);
    }
    add_examples(&mut document);
    allow_concise(&mut document);
    document
}

/// Returns the operations of the archive, besides searches.
fn lists(
    generator: &mut schemars::SchemaGenerator,
    problem: &schemars::Schema,
) -> serde_json::Map<String, Value> {
    let projects = generator.subschema_for::<ProjectsAnswer<'_>>();
    let several = generator.subschema_for::<SeveralAnswer<'_>>();
    let concise = generator.subschema_for::<ConciseSeveralAnswer<'_>>();
    let with_taste = generator.subschema_for::<TasteSeveralAnswer<'_>>();
    let changed = generator.subschema_for::<ChangedAnswer<'_>>();
    let projects = schemars::json_schema!({"anyOf": [projects, several, concise, with_taste, changed]});
    let taste = generator.subschema_for::<TasteSearchAnswer<'_>>();
    let discover = generator.subschema_for::<DiscoverAnswer<'_>>();
    let changes = generator.subschema_for::<ChangesAnswer<'_>>();
    let terms = generator.subschema_for::<TermsAnswer<'_>>();
    let suggest = generator.subschema_for::<SuggestAnswer<'_>>();
    let operations = json!({
        "/projects": {"get": {
            "operationId": "projects",
            "summary": "The newest projects, page by page; those that changed since a time; or several full records by their slugs",
            "parameters": projects_parameters(),
            "responses": responses("A page of projects, the newest first, with changed_since the one that changed last; with slugs the full records.", &projects, problem, ERRORS),
        }},
        "/taste": {"get": {
            "operationId": "taste",
            "summary": "Finds projects by how they look and feel, in six dimensions",
            "parameters": taste_parameters(),
            "responses": responses("A page of results, those that match most dimensions first.", &taste, problem, ERRORS),
        }},
        "/discover": {"get": {
            "operationId": "discover",
            "summary": "A project drawn at random, of one category or of all",
            "parameters": [category_parameter(), detail_parameter()],
            "responses": responses("The project.", &discover, problem, ERRORS),
        }},
        "/terms": {"get": {
            "operationId": "terms",
            "summary": "What the catalog records, and the words that curators use in the taste dimensions, with the number of projects; free of charge",
            "description": TERMS,
            "parameters": terms_parameters(),
            "responses": responses("The most used words of each dimension.", &terms, problem, ERRORS),
        }},
        "/suggest": {"get": {
            "operationId": "suggest",
            "summary": "What a text may become while it is typed: names of projects, studios, cities and words of the taste dimensions; free of charge",
            "parameters": suggest_parameters(),
            "responses": responses("The suggestions.", &suggest, problem, ERRORS),
        }},
        "/changes": {"get": {
            "operationId": "changes",
            "summary": "What was selected, revised, renamed, withdrawn and restored since a cursor, to make and keep a copy of the catalog",
            "description": CHANGES,
            "parameters": changes_parameters(),
            "responses": changes_responses(&changes, problem),
        }},
    });
    operations.as_object().cloned().unwrap_or_default()
}

fn suggest_parameters() -> Value {
    json!([
        {"name": "q", "in": "query", "required": true, "description": "What was typed so far. Case, accents, punctuation and the \
                word “and” do not count. Names, cities and words begin with it, or have it from a later word on (of projects at least two \
                letters); those that begin with it come first. Of projects the shorter names come first, of the others the most used. \
                Projects have at least half of the places.",
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS, "pattern": NOT_BLANK}},
        {"name": "limit", "in": "query", "description": "How many suggestions at most.",
            "schema": {"type": "integer", "minimum": 1, "maximum": MAX_SUGGESTIONS, "default": DEFAULT_SUGGESTIONS}},
    ])
}

const TERMS: &str = "Without parameters, or with limit alone, the answer begins with catalog: how many projects have each member, the first and \
    the last year, and the numbers of studios, places and curators. Gender, nationality, age, size, price and popularity are never recorded \
    as such: what no record's own text says cannot be answered, and a guess is not an answer.";

const CHANGES: &str = "All changes in log order, from the beginning without since. For each change delete from, if it is there, then \
    store project under its own slug, or delete slug where project is null; keep next_cursor with it and send it as since. A picture \
    that was attached or erased is a revision. A cursor holds through rebuilds and on every node of the catalog.";

fn changes_parameters() -> Value {
    json!([
        {"name": "since", "in": "query", "description": "next_cursor of the answer before, or the cursor of a change; empty or absent for \
                the beginning. A cursor of another catalog, or from before a restore, is 410; one from the future and any other text 400.",
            "schema": {"type": "string", "maxLength": 100, "pattern": "^([A-Za-z0-9_-]{50})?$"}},
        {"name": "limit", "in": "query", "description": "How many changes at most.",
            "schema": {"type": "integer", "minimum": 1, "maximum": MAX_CHANGES, "default": DEFAULT_CHANGES}},
        {"name": "wait", "in": "query", "description": "The seconds for which the answer waits until something happens, if there is nothing yet. \
                It comes earlier, without changes, when the service stops.",
            "schema": {"type": "integer", "minimum": 0, "maximum": 30, "default": 0}},
    ])
}

fn changes_responses(changes: &schemars::Schema, problem: &schemars::Schema) -> Value {
    let mut responses = responses("A page of changes.", changes, problem, ERRORS);
    let about = "The cursor is of another catalog, or from before a restore: begin again without since.";
    responses["410"] = refusal(about, problem);
    responses
}

/// Adds an example to every JSON answer.
fn add_examples(document: &mut Value) {
    let definitions = document["components"]["schemas"].clone();
    let operations =
        document["paths"].as_object_mut().into_iter().flatten().map(|(_, path)| &mut path["get"]);
    for operation in operations {
        let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            let contents = response.get_mut("content").and_then(Value::as_object_mut);
            for (kind, media) in contents.into_iter().flatten() {
                let schema = &media["schema"];
                if kind == "application/problem+json" {
                    media["example"] = examples::problem(&id, status);
                } else if schema["$ref"].is_string() || schema["anyOf"].is_array() {
                    media["example"] = examples::of(schema, &definitions);
                }
            }
        }
    }
}

/// Returns an operation outside `/v1`, which needs no key.
fn outside(operation: &Value, problem: &schemars::Schema, errors: &[u16]) -> Value {
    let mut operation = operation.clone();
    operation["security"] = json!([]);
    let also = errors.iter().map(|status| (status.to_string(), refusal(description(*status), problem)));
    let also =
        also.chain([("default".to_owned(), refusal("Any error, as RFC 9457 problem details.", problem))]);
    if let Some(responses) = operation["responses"].as_object_mut() {
        responses.extend(also);
    }
    json!({"servers": [{"url": "/"}], "get": operation})
}

fn cite() -> Value {
    let text = json!({"schema": {"type": "string"}});
    json!({
        "operationId": "cite",
        "summary": "What one revision of a project said, to cite: a page, a style of bibliographies or a format of reference managers",
        "description": "The address never changes what it says, whatever becomes of the project. The format is the one named by \
            format, or else the one that Accept wants most; the styles, as text/plain, are given by name alone.",
        "parameters": [
            slug_parameter(),
            {"name": "revision", "in": "path", "required": true, "description": "Its number, from 1.",
                "schema": {"type": "integer", "minimum": 1}},
            {"name": "format", "in": "query", "description": "Goes before Accept.",
                "schema": {"type": "string", "enum": ["html", "jsonld", "bibtex", "ris", "csl", "text", "apa", "chicago", "mla"]}},
            {"name": "accessed", "in": "query",
                "description": "The day on which it was read, for BibTeX (urldate), RIS (Y2), CSL-JSON (accessed), text, Chicago, MLA and \
                    the page. Without it only the page contains a date of access: today's. None is needed, since a revision does not \
                    change, and APA never has one.",
                "schema": {"type": "string", "format": "date"}},
        ],
        "responses": {
            "200": {"description": "The citation.", "headers": headers(), "content": {
                "text/html": text,
                "application/ld+json": {"schema": {"type": "object"}},
                "application/x-bibtex": text,
                "application/x-research-info-systems": text,
                "application/vnd.citationstyles.csl+json": {"schema": {"type": "array", "items": {"type": "object"}}},
                "text/x-bibliography": text,
                "text/plain": text,
            }},
        },
    })
}

fn feed(operation: &str, title: &str, media_type: &str, schema: &Value) -> Value {
    json!({
        "operationId": operation,
        "summary": format!("The latest additions as {title}"),
        "parameters": [
            {"name": "category", "in": "query", "description": "Only the additions of this category.",
                "schema": {"type": "string", "enum": Category::ALL.map(Category::as_str)}},
        ],
        "responses": {
            "200": {"description": "The feed.", "headers": headers(), "content": {media_type: {"schema": schema}}},
        },
    })
}

fn picture(problem: &schemars::Schema) -> Value {
    let [small, list, large] = WIDTHS;
    let image = json!({"schema": {"type": "string", "format": "binary"}});
    json!({
        "operationId": "picture",
        "summary": "A picture at one of its widths",
        "description": format!(
            "Records name the address. Each picture is kept as WebP {small}, {list} and {large} pixels wide, as far as the \
             original reaches, and {LIST_WIDTH} pixels wide as JPEG too; one that is smaller than {large} also at its own \
             width, one that is larger mostly also {DETAIL_WIDTH} pixels wide or at its own width. It never changes and may be kept for a year. One that was taken down for good is 410 from then on."
        ),
        "parameters": [
            {"name": "picture", "in": "path", "required": true, "description": "Names the picture by what it holds.",
                "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
            {"name": "file", "in": "path", "required": true,
                "description": format!("Its width and form, such as {small}.webp or {LIST_WIDTH}.jpg."),
                "schema": {"type": "string", "pattern": "^[0-9]{1,4}\\.(webp|jpg)$"}},
        ],
        "responses": {
            "200": {"description": "The picture.", "headers": headers(), "content": {"image/webp": image, "image/jpeg": image}},
            "404": refusal("No picture is kept under this name, or not in this form.", problem),
            "410": refusal("The picture was taken down for good.", problem),
        },
    })
}

fn search_parameters() -> Value {
    let mut parameters = json!([
        {"name": "q", "in": "query", "required": true, "description": "Any text that is not blank; words in quotes are a phrase. The first 16 words are looked for. Outside quotes a word \
                is found in any number (library, libraries), with 's or without, with hyphens or without (re-use, reuse); “and” is the \
                same as &; in, of, the and the like restrict nothing beside other words. With fewer than ten such results longer last words \
                and words joined or apart are found too. With none a word of four letters or more that no project has is corrected by \
                one letter, or results hold more than half of the words. approximate, missing_words, replaced and note say so. Numbers \
                and words of up to three letters are never corrected.",
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS, "pattern": NOT_BLANK}},
        mode_parameter(),
        limit_parameter(),
        {"name": "cursor", "in": "query",
            "description": "next_cursor of the page before, or empty for the first page; unchanged and with the same other parameters; the header Link with \
                rel=\"next\" leads there too. Every project that did not change since the first page comes exactly once, on whatever \
                node. Where that cannot be kept, and for any other text, the answer is 400: start again without it.",
            "schema": {"type": "string", "maxLength": 200, "pattern": "^([A-Za-z0-9_-]{20,200})?$"}},
    ]);
    add_list_options(&mut parameters, &ORDERS);
    if let Some(parameters) = parameters.as_array_mut() {
        // The colours have a filter of this name.
        let dimensions = Dimension::ALL.into_iter().filter(|dimension| *dimension != Dimension::Color);
        parameters.extend(dimensions.map(|dimension| {
            let about = format!(
                "{} Only projects with all of these words there, e.g. {}.",
                dimension.about(),
                dimension.example_word()
            );
            json!({"name": dimension.as_str(), "in": "query", "description": about,
                "schema": {"type": "string", "maxLength": 200}})
        }));
        parameters.push(json!({"name": "highlights", "in": "query",
            "description": "Whether each result has highlights: its texts with the words that match in mark elements, as HTML.",
            "schema": {"type": "boolean", "default": false}}));
    }
    parameters
}

fn category_parameter() -> Value {
    json!({"name": "category", "in": "query", "description": "Only this category.",
        "schema": {"type": "string", "enum": Category::ALL.map(Category::as_str)}})
}

fn slugs_parameter() -> Value {
    json!({"name": "slugs", "in": "query", "description": "1 to 20 slugs, separated by commas: the full records of these projects in \
            one call, and in missing the slugs that lead to none. Without the other parameters but detail.",
        "schema": {"type": "string", "minLength": 1}})
}

fn dimension_parameter() -> Value {
    json!({"name": "dimension", "in": "query", "description": "Only this dimension.",
        "schema": {"type": "string", "enum": Dimension::ALL.map(Dimension::as_str)}})
}

fn archive_cursor_parameter() -> Value {
    json!({"name": "cursor", "in": "query",
        "description": "next_cursor of the page before, or empty for the first page; with the same other parameters. The header Link \
            with rel=\"next\" leads there too. Any other text is 400.",
        "schema": {"type": "string", "maxLength": 200, "pattern": "^([A-Za-z0-9_-]{20,200})?$"}})
}

/// Returns the parameters of a search by taste: the dimensions, of which at least one is needed, and those of lists.
fn taste_parameters() -> Value {
    let dimensions = Dimension::ALL.into_iter().map(|dimension| {
        let about = format!(
            "{} At least one dimension is needed; every word must occur in what the curators wrote there, e.g. {}. \
             Given several times, its values are alternatives.",
            dimension.about(),
            dimension.example_word()
        );
        json!({"name": dimension.as_str(), "in": "query", "description": about, "explode": true,
            "schema": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 200}}})
    });
    let own = [match_parameter(), limit_parameter(), archive_cursor_parameter()];
    let mut parameters: Value = dimensions.chain(own).collect();
    add_list_options(&mut parameters, &ORDERS);
    // The dimension color takes the colours, too.
    if let Some(parameters) = parameters.as_array_mut() {
        let mut has_color = false;
        parameters.retain(|one| one["name"] != "color" || !std::mem::replace(&mut has_color, true));
    }
    parameters
}

fn match_parameter() -> Value {
    json!({"name": "match", "in": "query", "description": "How many of the requested dimensions a project must match: any for at least one, \
            all for each of them. by_matched in the answer says how many projects match how many, with both.",
        "schema": {"type": "string", "enum": ["any", "all"], "default": "any"}})
}

fn terms_parameters() -> Value {
    let starts_with = json!({"name": "starts_with", "in": "query", "description": "Only words or phrases that begin so; case and accents do not count.",
        "schema": {"type": "string", "maxLength": 100}});
    let mut cursor = archive_cursor_parameter();
    cursor["description"] = "next_cursor of the page before, or empty for the first page; with the same other parameters, of which dimension \
        is then needed. Any other text is 400.".into();
    let kind = json!({"name": "kind", "in": "query", "description": "Single words, or phrases as the curators recorded them between commas. \
        A search by taste for a phrase in quotes finds exactly its projects.",
        "schema": {"type": "string", "enum": ["word", "phrase"], "default": "word"}});
    json!([
        dimension_parameter(),
        category_parameter(),
        kind,
        starts_with,
        near_parameter(),
        limit_parameter(),
        cursor
    ])
}

fn projects_parameters() -> Value {
    let mut cite = cite_parameter();
    cite["description"] =
        "Adds to each result its citation in this style or format, any case. Only together with slugs."
            .into();
    let [since, kinds] = changed_parameters();
    let mut parameters =
        json!([slugs_parameter(), cite, since, kinds, limit_parameter(), archive_cursor_parameter()]);
    add_list_options(&mut parameters, &ORDERS[1..]);
    parameters
}

fn similar_parameters() -> Value {
    let mut parameters = json!([slug_parameter(), limit_parameter(), neighbours_cursor_parameter()]);
    add_list_options(&mut parameters, &[]);
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.retain(|one| one["name"] != "sort" && one["name"] != "facets");
    }
    parameters
}

fn slug_parameter() -> Value {
    json!({"name": "slug", "in": "path", "required": true, "description": "The project; a former slug leads on to the present one.",
        "schema": {"type": "string", "pattern": "^[a-z0-9-]{1,120}$"}})
}

fn revision_parameter() -> Value {
    json!({"name": "revision", "in": "query",
        "description": "The revision that is wanted. What it says never changes, and it can be read of a withdrawn project too. \
            Not together with as_of.",
        "schema": {"type": "integer", "minimum": 1}})
}

fn as_of_parameter() -> Value {
    json!({"name": "as_of", "in": "query",
        "description": "The revision is wanted that was in force at this instant (RFC 3339), or at the end of this day (UTC). \
            Not together with revision.",
        "schema": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}})
}

fn cite_parameter() -> Value {
    json!({"name": "cite", "in": "query",
        "description": "Adds the member citation: the text that /cite answers in this style or format, any case, with revision_url as its \
            address. It needs no date of access, since a revision does not change.",
        "schema": {"type": "string", "enum": ["apa", "chicago", "mla", "bibtex", "ris", "csl"]}})
}

fn compare_to_parameter() -> Value {
    json!({"name": "compare_to", "in": "query",
        "description": "The answer is what differs between this revision and the present one, or the one that revision or as_of names: each \
            member before and now. It must be another revision than that.",
        "schema": {"type": "integer", "minimum": 1}})
}

fn limit_parameter() -> Value {
    json!({"name": "limit", "in": "query", "description": "How many results at most.",
        "schema": {"type": "integer", "minimum": MIN_LIMIT, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}})
}

fn neighbours_cursor_parameter() -> Value {
    json!({"name": "cursor", "in": "query",
        "description": "next_cursor of the page before, or empty for the first page; the header Link with rel=\"next\" leads there \
            too. A page begins after the last project of the previous one. Any other text is 400.",
        "schema": {"type": "string", "maxLength": 200, "pattern": "^([A-Za-z0-9_-]{20,200})?$"}})
}
