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
        let lead = self.lead();
        let problem = self.problem(state.site(), instance, headers);
        headers.extend(pages::headers());
        pages::problem_page(&problem, lead.as_deref(), state).unwrap_or_default()
    }

    /// What a page says in place of the detail, which speaks of members and headers.
    fn lead(&self) -> Option<String> {
        let lead = self.0.on_pages?;
        Some(match self.0.retry_after {
            None => lead.to_owned(),
            Some(1) => format!("{lead} Try again in a second."),
            Some(seconds @ ..=90) => format!("{lead} Try again in {seconds} seconds."),
            Some(seconds) => format!("{lead} Try again in {} minutes.", seconds.div_ceil(60)),
        })
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn pages_say_when_to_try_again_in_words() {
        let after = |seconds| Fault::too_many_keys(Duration::from_secs(seconds)).lead().unwrap();
        assert_eq!(after(0), "Too many keys were requested from your network. Try again in a second.");
        assert_eq!(after(40), "Too many keys were requested from your network. Try again in 41 seconds.");
        assert_eq!(after(2_500), "Too many keys were requested from your network. Try again in 42 minutes.");
        assert_eq!(Fault::not_found().lead().as_deref(), Some("This page does not exist."));
        assert_eq!(Fault::missing_key().lead(), None, "its detail is for people too");
    }
}
