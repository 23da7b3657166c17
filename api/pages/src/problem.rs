//! `GET /problems/{name}`: the page that the `type` of an error names; and the error page of browsers.

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use schemas::api::problem::{Problem, ProblemKind};

use super::card::Card;
use super::layout::Layout;
use super::{page, text_of};

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    layout: Layout,
    name: &'static str,
    status: u16,
    title: &'static str,
    meaning: &'static str,
    remedy: String,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    layout: Layout,
    problem: &'a Problem,
    lead: &'a str,
    name: &'a str,
    /// Whether the browser loads the page again by itself.
    is_reloaded: bool,
    /// Projects whose slugs are near to the requested one.
    suggestions: Vec<Card>,
    /// What the operator finds the request in the log by.
    reference: &'a str,
}

pub(super) async fn problem(
    State(state): State<ApiState>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let Path(name) = name.map_err(|_| ApiError::not_found())?;
    let kind =
        ProblemKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(ApiError::not_found)?;
    let (meaning, remedy) = explanation(kind);
    let layout = Layout::new(&state, route::DOCS, kind.title()).describing(
        "What an error of this kind means, and what to do.",
        &format!("/problems/{}", kind.name()),
    );
    let (name, title) = (kind.name(), kind.title());
    let remedy = remedy.replace("href=\"/", &format!("href=\"{}/", state.site().path()));
    page(&ProblemPage { layout, name, status: kind.status(), title, meaning, remedy })
}

/// The projects that an error page shows in place of an unknown one.
#[derive(Debug, Default)]
pub struct SuggestedProjects(Vec<Card>);

impl SuggestedProjects {
    /// Finds the projects with these slugs and their pictures, as far as the search index has them: the page is right without them too.
    pub async fn of(slugs: &[String], state: &ApiState) -> SuggestedProjects {
        SuggestedProjects(Card::with_stored_pictures(cards(slugs, state), state).await)
    }
}

/// Renders a problem as a page, with a sentence for people in place of its detail; `None` if rendering fails.
pub fn of(
    (problem, suggested): (&Problem, SuggestedProjects),
    lead: Option<&str>,
    is_reloaded: bool,
    state: &ApiState,
) -> Option<Bytes> {
    let name = problem.kind.rsplit('/').next().unwrap_or_default();
    let layout = Layout::new(state, "", title(name, lead, &problem.title)).private();
    let lead = match name {
        // The usual sentence goes on with a search, which finds nothing there.
        "invalid-parameters" if layout.is_empty && lead.is_some() => "Correct what is listed here.",
        _ => lead.unwrap_or(&problem.detail),
    };
    let page = ErrorPage {
        layout,
        name,
        lead,
        is_reloaded,
        suggestions: suggested.0,
        reference: problem.instance.rsplit('/').next().unwrap_or_default(),
        problem,
    };
    text_of(&page).ok().map(Bytes::from)
}

/// Returns the heading of an error page: the title of its kind is for programmers.
fn title<'a>(name: &str, lead: Option<&str>, otherwise: &'a str) -> &'a str {
    match name {
        "invalid-parameters" => "Part of this link is not valid",
        "not-found" => "This page does not exist",
        "unknown-slug" => "Project not found",
        // Of what is unavailable, only a read model that is not there yet has a sentence for pages.
        "unavailable" if lead.is_some() => "Starting up",
        _ => otherwise,
    }
}

/// Returns the cards of these projects, as far as the search index has them.
fn cards(slugs: &[String], state: &ApiState) -> Vec<Card> {
    let Some(search) = state.models().search() else { return Vec::new() };
    let view = search.reader.view();
    let card = |slug: &String| {
        let ordinal = view.ordinal_of(slug).ok()??;
        Card::of(view.summary_of(ordinal)?, state.site()).ok()
    };
    slugs.iter().filter_map(card).collect()
}

/// The meaning and what to do, as HTML.
#[expect(clippy::too_many_lines, reason = "a table with a row for every kind, so that none is forgotten")]
fn explanation(kind: ProblemKind) -> (&'static str, &'static str) {
    match kind {
        ProblemKind::InvalidParameters => (
            "One or more parameters of the request cannot be used. The member <code>errors</code> lists every one of them with what is wrong and what is allowed.",
            "Correct each listed parameter and send the request again.",
        ),
        ProblemKind::AmbiguousKey => (
            "The request brings a key in the header <code>Authorization</code> and another in the parameter <code>key</code>.",
            "Send the key in one place only. The header is better: addresses end up in histories and logs.",
        ),
        ProblemKind::MissingKey => (
            "The call needs a key, and none was sent.",
            "Send it as <code>Authorization: Bearer log_live_…</code>, or for a quick test as the parameter <code>key</code>. A free key is yours for an address.",
        ),
        ProblemKind::InvalidKey => (
            "What was sent as a key is none that may call: it is unknown, not whole, or revoked. The answer is the same for all of these.",
            "Check that the whole key was copied: it begins with <code>log_live_</code> and has 55 characters. If it is lost or revoked, ask for another.",
        ),
        ProblemKind::QuotaExceeded => (
            "The calls that the key's tier allows in a UTC calendar month are used up. Nothing is billed silently.",
            "Wait for the next month: <code>resets_at</code> and <code>Retry-After</code> say when it begins. Or take a larger tier: <code>upgrade_url</code> tells how.",
        ),
        ProblemKind::TooManyRequests => (
            "Too many calls came in a short time, with one key or from one address. They do not count against the month's allowance.",
            "Wait as long as the header <code>Retry-After</code> says, and send calls more evenly.",
        ),
        ProblemKind::InvalidSignature => (
            "A notice of a payment came without the signature of the payment provider, with a wrong one, or with one that was not made in these five minutes. Nothing of it was taken.",
            "Only the payment provider sends these. As the operator, compare the setting <code>stripe_secret</code> with the signing secret of the provider's endpoint, and see that the clock of the server is right.",
        ),
        ProblemKind::MalformedRequest => (
            "What arrived is not a well-formed HTTP/1.1 request, so it could not be read further.",
            "Check the request line, the headers and, if there is a body, its framing. A browser, curl or any HTTP library gets this right.",
        ),
        ProblemKind::Forbidden => (
            "A web page of another site called the MCP endpoint, or a local service was called by a host name that is not its own. Both are refused, so that no page can use a visitor's browser to call it.",
            "Call it from a program instead of a page, and by its address. The operator can allow a site with the \
             setting <code>mcp_origins</code>, and name the service with <code>public_url</code>.",
        ),
        ProblemKind::NotFound => (
            "Nothing is at this path.",
            "The existing paths are listed in <a href=\"/openapi.json\">/openapi.json</a>. They do not end with a slash.",
        ),
        ProblemKind::MethodNotAllowed => (
            "The path exists, but not with this method. The header <code>Allow</code> lists the allowed ones.",
            "Send GET or HEAD: the interface is for reading. Only <code>/mcp</code>, forms and the notices of payments take POST.",
        ),
        ProblemKind::UnknownSlug => (
            "No project has, or ever had, this slug.",
            "The member <code>suggestions</code> lists up to three slugs that are near. Otherwise find the project by <code>/v1/search?q=…</code>.",
        ),
        ProblemKind::Withdrawn => (
            "The project was withdrawn from the catalog. The member <code>reason</code> says why.",
            "The address in <code>revision_url</code> still shows what was published, and may still be cited. Take the project out of your lists.",
        ),
        ProblemKind::TakenDown => (
            "The picture was erased permanently, for example because its rights do not permit showing it. No record \
             shows it any more.",
            "Delete any copy of it that you keep, and read the project’s record again for the pictures that it has now.",
        ),
        ProblemKind::OtherLog => (
            "The cursor of a call of <code>/v1/changes</code> was given out by another catalog, or before this one was restored from a backup. What happened since cannot be told.",
            "Call <code>/v1/changes</code> without <code>since</code> and build your copy again; delete from the old one what does not come.",
        ),
        ProblemKind::Refused => (
            "The request of a form was understood but not executed: the address has all its keys (409), the form was \
             sent before (409), or the link cannot be used any more (410).",
            "The member <code>detail</code> says why. Open <a href=\"/keys\">/keys</a> for another form or link.",
        ),
        ProblemKind::TooLarge => (
            "The request is larger than the service reads: an address of 8 KiB (414), address and headers of 16 KiB or 100 headers (431), or a body of 64 KiB, 256 KiB at <code>/mcp</code> (413).",
            "Shorten it. Only <code>/mcp</code> needs a body at all.",
        ),
        ProblemKind::Timeout => (
            "The answer took longer than 10 seconds (503), or the body of the request did not arrive within that time (408).",
            "Wait as long as the header <code>Retry-After</code> says and send the request again.",
        ),
        ProblemKind::Internal => (
            "Something broke while answering. It was written to the service's log.",
            "Try again later. If it stays, tell the operator the member <code>instance</code>: the log has the same.",
        ),
        ProblemKind::Unavailable => (
            "The service cannot answer at present, most often because it is starting and still reads its catalog.",
            "Wait as long as the header <code>Retry-After</code> says and send the request again.",
        ),
    }
}
