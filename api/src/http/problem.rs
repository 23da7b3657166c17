//! Renders an error: as problem details (RFC 9457) for programs, or as a page for people.

use answers::error::{ApiError, Details};
use answers::site::Site;
use answers::state::ApiState;
use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, LINK, REFRESH, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use pages::SuggestedProjects;
use schemas::api::problem::{ExhaustedQuota, Problem, ProblemKind};

use super::context::RequestContext;

/// The minimum time after which an unavailable page loads itself again.
const MIN_RELOAD_SECONDS: u64 = 5;

/// Returns the body of problem details; inserts its headers into `headers`.
pub(super) fn write(error: ApiError, site: &Site, instance: String, headers: &mut HeaderMap) -> Bytes {
    let problem = problem(error.into_details(), site, instance, headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    // Strings and numbers always serialise.
    serde_json::to_vec(&problem).unwrap_or_default().into()
}

/// Returns the same as the answer to an MCP message whose key is not valid, of which `body` is as much as was read.
pub(super) fn write_message(
    error: ApiError,
    site: &Site,
    (instance, body): (String, &[u8]),
    headers: &mut HeaderMap,
) -> Vec<u8> {
    mcp::refuse_invalid_key(site, &problem(error.into_details(), site, instance, headers), body)
}

/// Returns the same as a page. A page that is unavailable for a moment loads itself again.
pub(super) fn write_page(
    error: ApiError,
    suggested: SuggestedProjects,
    (context, state): (&RequestContext, &ApiState),
    headers: &mut HeaderMap,
) -> Bytes {
    let details = error.into_details();
    let is_reloaded = details.status == StatusCode::SERVICE_UNAVAILABLE && context.method == Method::GET;
    let lead = lead(&details, is_reloaded);
    if is_reloaded {
        let seconds = details.retry_after.unwrap_or_default().max(MIN_RELOAD_SECONDS);
        headers.insert(REFRESH, seconds.into());
    }
    let problem = problem(details, state.site(), context.id.instance(), headers);
    headers.extend(pages::headers());
    pages::problem_page((&problem, suggested), lead.as_deref(), is_reloaded, state).unwrap_or_default()
}

/// Returns what a page says instead of the detail, which is for programmers. Nobody need try again what is reloaded.
fn lead(details: &Details, is_reloaded: bool) -> Option<String> {
    let lead = details.on_pages?;
    Some(match details.retry_after.filter(|_| !is_reloaded) {
        None => lead.to_owned(),
        Some(1) => format!("{lead} Try again in a second."),
        Some(seconds @ ..=90) => format!("{lead} Try again in {seconds} seconds."),
        Some(seconds) => format!("{lead} Try again in {} minutes.", seconds.div_ceil(60)),
    })
}

/// Returns the problem details; inserts their headers into `headers`.
fn problem(details: Details, site: &Site, instance: String, headers: &mut HeaderMap) -> Problem {
    if details.kind == ProblemKind::MethodNotAllowed {
        headers.insert(ALLOW, details.allow);
    }
    if let Some(seconds) = details.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if details.status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    let quota = details.quota.map(|quota| ExhaustedQuota { upgrade_url: format!("{site}/pricing"), ..quota });
    if let Some(quota) = &quota
        && let Ok(link) = HeaderValue::try_from(format!("<{}>; rel=\"payment\"", quota.upgrade_url))
    {
        headers.insert(LINK, link);
    }
    if details.closes {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Problem {
        kind: format!("{site}/problems/{}", details.kind.name()),
        title: details.kind.title().to_owned(),
        status: details.status.as_u16(),
        detail: details.detail.into_owned(),
        instance,
        errors: details.errors,
        suggestions: details.suggestions,
        reason: details.reason,
        citation_url: details.citation_url,
        revision_url: details.revision_url,
        quota,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn pages_say_when_to_try_again_in_words() {
        let of = |error: ApiError, is_reloaded| super::lead(&error.into_details(), is_reloaded);
        let lead = |error| of(error, false);
        let after = |seconds| lead(ApiError::too_many_keys(Duration::from_secs(seconds))).unwrap();
        assert_eq!(after(0), "Too many keys were requested from your network. Try again in a second.");
        assert_eq!(after(40), "Too many keys were requested from your network. Try again in 41 seconds.");
        assert_eq!(after(2_500), "Too many keys were requested from your network. Try again in 42 minutes.");
        assert_eq!(
            lead(ApiError::not_found()).as_deref(),
            Some("The address may be mistyped, or out of date.")
        );
        let starting = || ApiError::not_ready("The archive is still being filled.");
        assert_eq!(lead(starting()).as_deref(), Some("The catalog is loading. Try again in 2 seconds."));
        assert_eq!(of(starting(), true).as_deref(), Some("The catalog is loading."));
        assert_eq!(lead(ApiError::missing_key()), None, "its detail is for people too");
    }
}
