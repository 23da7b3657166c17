//! A fault as it goes out: a problem for programs, or a page for people.

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use schemas::api::problem::{Problem, ProblemKind, UsedUp};

use super::Fault;
use crate::pages;
use crate::site::Site;
use crate::state::ApiState;

impl Fault {
    /// The problem's body; its own headers are put into `headers`.
    pub(crate) fn write(self, site: &Site, instance: String, headers: &mut HeaderMap) -> Bytes {
        let problem = self.problem(site, instance, headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // Strings and numbers always serialise.
        serde_json::to_vec(&problem).unwrap_or_default().into()
    }

    /// The same as a page, for somebody with a browser.
    pub(crate) fn write_page(self, state: &ApiState, instance: String, headers: &mut HeaderMap) -> Bytes {
        let problem = self.problem(state.site(), instance, headers);
        headers.extend(pages::headers());
        pages::problem_page(&problem, state).unwrap_or_default()
    }

    /// What is said of it; its own headers are put into `headers`.
    fn problem(self, site: &Site, instance: String, headers: &mut HeaderMap) -> Problem {
        let told = *self.0;
        if told.kind == ProblemKind::MethodNotAllowed {
            headers.insert(ALLOW, told.allow);
        }
        if let Some(seconds) = told.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if told.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let quota = told.quota.map(|quota| UsedUp { upgrade_url: format!("{site}/pricing"), ..quota });
        if let Some(quota) = &quota
            && let Ok(link) = HeaderValue::try_from(format!("<{}>; rel=\"payment\"", quota.upgrade_url))
        {
            headers.insert(LINK, link);
        }
        if told.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Problem {
            kind: format!("{site}/problems/{}", told.kind.name()),
            title: told.kind.title().to_owned(),
            status: told.status.as_u16(),
            detail: told.detail.into_owned(),
            instance,
            errors: told.errors,
            suggestions: told.suggestions,
            reason: told.reason,
            citation_url: told.citation_url,
            quota,
        }
    }
}
