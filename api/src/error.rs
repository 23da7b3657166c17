//! What may go wrong while answering. An error says what happened; the request pipeline makes a problem of it (RFC 9457), or
//! a page, which also names the request.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode};
use jiff::Timestamp;
use schemas::api::problem::{ParameterFault, ProblemKind, UsedUp};
use schemas::ids::Revision;

use crate::letters::Contact;
use crate::query;
use crate::route::Route;

/// An answer that is an error. It travels through axum as an extension of an empty response.
#[derive(Debug, Clone)]
pub(crate) struct ApiError(Box<Details>);

/// What is said of an error, for the pipeline that writes it.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    pub(crate) kind: ProblemKind,
    pub(crate) status: StatusCode,
    pub(crate) detail: Cow<'static, str>,
    /// What a page says in place of the detail.
    pub(crate) on_pages: Option<&'static str>,
    pub(crate) errors: Vec<ParameterFault>,
    pub(crate) suggestions: Option<Vec<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) citation_url: Option<String>,
    pub(crate) quota: Option<UsedUp>,
    pub(crate) retry_after: Option<u64>,
    pub(crate) closes: bool,
    pub(crate) cause: Option<String>,
    /// The methods of the path, where one of them is wanted.
    pub(crate) allow: HeaderValue,
}

impl ApiError {
    fn new(kind: ProblemKind, detail: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError(Box::new(Details {
            kind,
            status: StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            detail: detail.into(),
            on_pages: None,
            errors: Vec::new(),
            suggestions: None,
            reason: None,
            citation_url: None,
            quota: None,
            retry_after: None,
            closes: false,
            cause: None,
            allow: Route::Other.methods(),
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Details)) -> ApiError {
        change(&mut self.0);
        self
    }

    pub(crate) fn invalid_parameters(errors: Vec<ParameterFault>) -> ApiError {
        let detail = match errors.len() {
            1 => "A parameter cannot be used; the member errors says which and what is allowed.",
            _ => "Several parameters cannot be used; the member errors says which and what is allowed.",
        };
        ApiError::new(ProblemKind::InvalidParameters, detail).with(|details| {
            details.on_pages = Some("Part of this link is not valid:");
            details.errors = errors;
        })
    }

    pub(crate) fn ambiguous_key() -> ApiError {
        ApiError::new(
            ProblemKind::AmbiguousKey,
            "A key stands in the header Authorization and another in the parameter key. Send one of them; the header is better.",
        )
    }

    pub(crate) fn missing_key() -> ApiError {
        ApiError::new(
            ProblemKind::MissingKey,
            "This call needs a key. Send it as Authorization: Bearer log_live_…, or for a quick test as ?key=log_live_….",
        )
    }

    /// One text for whatever is wrong with a key: nothing can be learned from it.
    pub(crate) fn invalid_key() -> ApiError {
        ApiError::new(
            ProblemKind::InvalidKey,
            "This key cannot be used. Check that all 55 characters of it were sent, or ask for another.",
        )
    }

    /// `quota.upgrade_url` is filled in when the fault is written.
    pub(crate) fn quota_exceeded(limit: u64, used: u64, resets_at: Timestamp, now: Timestamp) -> ApiError {
        ApiError::new(
            ProblemKind::QuotaExceeded,
            "The calls of this month are used up. Wait for resets_at, or see upgrade_url for more; nothing was billed.",
        )
        .with(|details| {
            details.quota = Some(UsedUp { limit, used, resets_at, upgrade_url: String::new() });
            details.retry_after = Some(resets_at.duration_since(now).as_secs().max(1).unsigned_abs());
        })
    }

    pub(crate) fn too_many_requests(wait: Duration) -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many calls came within a second. Wait as long as Retry-After says; nothing was counted.",
        )
        .with(|details| {
            details.on_pages = Some("Too many pages were opened from your network at once.");
            details.retry_after = Some(wait.as_secs() + 1);
        })
    }

    /// An address has more connections open than one may.
    pub(crate) fn too_many_connections() -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many connections are open from this address. Close some, or send several requests over each.",
        )
        .with(|details| {
            details.retry_after = Some(1);
            details.closes = true;
        })
    }

    /// The bodies of all requests under way take as much memory as they may.
    pub(crate) fn too_many_bodies() -> ApiError {
        ApiError::unavailable("Too many requests with a body are being read. Try again in a few seconds.")
            .with(|details| details.closes = true)
    }

    /// A network asked for more keys, or links, than it may in an hour.
    pub(crate) fn too_many_keys(wait: Duration) -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many keys were asked for from this network within an hour; nothing was done. Wait as long as Retry-After says.",
        )
        .with(|details| {
            details.on_pages = Some("Too many keys were requested from your network.");
            details.retry_after = Some(wait.as_secs() + 1);
        })
    }

    /// What was asked for is understood, and not done.
    pub(crate) fn refused(reason: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ProblemKind::Refused, reason)
    }

    /// A link that cannot be used.
    pub(crate) fn dead_link(reason: String) -> ApiError {
        ApiError::refused(reason).with(|details| details.status = StatusCode::GONE)
    }

    /// Links are not mailed from here.
    pub(crate) fn no_letters(contact: Option<&Contact>) -> ApiError {
        let contact = contact.map(|contact| format!(" ({contact})")).unwrap_or_default();
        ApiError::refused(format!(
            "This site sends no mail, so no link was made. Ask the operator{contact} for one."
        ))
    }

    /// A field of a form that cannot be used.
    pub(crate) fn unusable_field(name: &'static str, error: &impl ToString) -> ApiError {
        let fault = query::fault(name, error.to_string(), "an address such as you@example.org");
        ApiError::invalid_parameters(vec![fault])
            .with(|details| details.status = StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// What was sent to a form is none.
    pub(crate) fn no_form() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "This page takes forms alone: send its fields as application/x-www-form-urlencoded.",
        )
        .with(|details| details.status = StatusCode::UNSUPPORTED_MEDIA_TYPE)
    }

    /// No key was made; the cause is for the log alone.
    pub(crate) fn uncreated(cause: impl ToString) -> ApiError {
        ApiError::unavailable("It cannot be done at present, and nothing was changed. Try again in a minute.")
            .with(|details| details.cause = Some(cause.to_string()))
    }

    /// The write side may have done it; the cause is for the log alone.
    pub(crate) fn unconfirmed(cause: impl ToString) -> ApiError {
        ApiError::unavailable(
            "No answer came in time, so it is not known whether this was done. Wait a minute, then try again.",
        )
        .with(|details| details.cause = Some(cause.to_string()))
    }

    pub(crate) fn uncountable(cause: impl ToString) -> ApiError {
        ApiError::unavailable(
            "The call cannot be counted at present, so it is not answered. Try again in a few seconds.",
        )
        .with(|details| details.cause = Some(cause.to_string()))
    }

    pub(crate) fn malformed_request() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "The request is not well-formed HTTP/1.1. Check its first line, its headers and the framing of its body.",
        )
        .with(|details| details.closes = true)
    }

    pub(crate) fn unknown_coding() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "The request's body comes in a Transfer-Encoding other than chunked. Send it plain, or in chunks alone.",
        )
        .with(|details| {
            details.status = StatusCode::NOT_IMPLEMENTED;
            details.closes = true;
        })
    }

    /// A notice of a payment whose signature does not hold.
    pub(crate) fn invalid_signature(detail: &'static str) -> ApiError {
        ApiError::new(ProblemKind::InvalidSignature, detail)
    }

    /// A notice of a payment that cannot be made durable; it must be sent again.
    pub(crate) fn notice_not_taken(cause: impl ToString) -> ApiError {
        ApiError::unavailable(
            "The notice cannot be written down at present, and nothing of it was taken. Send it again.",
        )
        .with(|details| details.cause = Some(cause.to_string()))
    }

    pub(crate) fn notice_too_large() -> ApiError {
        ApiError::new(ProblemKind::TooLarge, "The notice is larger than 256 KiB. No event of a payment is.")
            .with(|details| details.closes = true)
    }

    pub(crate) fn not_found() -> ApiError {
        ApiError::new(
            ProblemKind::NotFound,
            "Nothing is at this path. /openapi.json lists the paths there are.",
        )
        .with(|details| details.on_pages = Some("This page does not exist."))
    }

    pub(crate) fn method_not_allowed(route: Route) -> ApiError {
        let detail = match route {
            Route::Webhook => "Notices of payments are sent here by POST.",
            Route::Form => "This page takes GET, HEAD, and POST from its form.",
            _ => "This service is for reading only: send GET or HEAD.",
        };
        ApiError::new(ProblemKind::MethodNotAllowed, detail).with(|details| details.allow = route.methods())
    }

    /// The MCP endpoint is not read.
    pub(crate) fn post_only() -> ApiError {
        ApiError::new(
            ProblemKind::MethodNotAllowed,
            "The MCP endpoint takes JSON-RPC messages by POST, without sessions and streams.",
        )
        .with(|details| details.allow = Route::Mcp.methods())
    }

    pub(crate) fn foreign_origin() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "A page of this Origin may not speak to the MCP endpoint. The operator can let it in with the setting mcp_origins.",
        )
    }

    /// A form that a page of another site filled in.
    pub(crate) fn foreign_form() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "The form was sent by a page of another site, so nothing was done. Open the form here and send it again.",
        )
    }

    pub(crate) fn foreign_host() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "This service does not go by the name in the header Host. Use its address, or let the operator set public_url.",
        )
    }

    pub(crate) fn unknown_slug(suggestions: Vec<String>) -> ApiError {
        let detail = if suggestions.is_empty() {
            "No project has this slug. Find the project with /v1/search?q=… and take the slug from there."
        } else {
            "No project has this slug. The member suggestions lists slugs that are near."
        };
        ApiError::new(ProblemKind::UnknownSlug, detail).with(|details| {
            details.on_pages = Some("There has never been a project at this address.");
            details.suggestions = Some(suggestions);
        })
    }

    pub(crate) fn unknown_revision(newest: Revision) -> ApiError {
        let detail = match newest {
            Revision::FIRST => "The project has no such revision. Its only one is 1.".to_owned(),
            newest => format!("The project has no such revision. Its revisions are 1 to {newest}."),
        };
        ApiError::new(ProblemKind::NotFound, detail)
    }

    pub(crate) fn withdrawn(reason: String, citation_url: String) -> ApiError {
        ApiError::new(
            ProblemKind::Withdrawn,
            "This project left the catalog; what was published of it can still be cited.",
        )
        .with(|details| {
            details.reason = Some(reason);
            details.citation_url = Some(citation_url);
        })
    }

    /// A picture that the operator took down for good.
    pub(crate) fn taken_down() -> ApiError {
        ApiError::new(
            ProblemKind::TakenDown,
            "This picture was taken down and does not come back. Delete any copy of it that you keep.",
        )
        .with(|details| details.on_pages = Some("This picture was taken down."))
    }

    pub(crate) fn body_too_large() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "The request's body is larger than 64 KiB. This service reads no bodies: send none.",
        )
        .with(|details| details.closes = true)
    }

    pub(crate) fn message_too_large() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "The message is larger than 256 KiB. No tool needs so much: shorten its arguments.",
        )
        .with(|details| details.closes = true)
    }

    pub(crate) fn form_too_large() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "What the form sent is larger than 16 KiB. Its fields need far less.",
        )
        .with(|details| details.closes = true)
    }

    pub(crate) fn address_too_long() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "The request's address is longer than 8 KiB. Shorten its parameters; a search text has at most 200 characters.",
        )
        .with(|details| details.status = StatusCode::URI_TOO_LONG)
    }

    pub(crate) fn head_too_large() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "The request's address and headers together are larger than 16 KiB, or there are more than 100 headers. Send fewer or shorter ones.",
        )
        .with(|details| {
            details.status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            details.closes = true;
        })
    }

    pub(crate) fn slow_body() -> ApiError {
        ApiError::new(
            ProblemKind::Timeout,
            "The request's body did not arrive in time. Send it at once, or none where none is needed.",
        )
        .with(|details| {
            details.status = StatusCode::REQUEST_TIMEOUT;
            details.closes = true;
        })
    }

    pub(crate) fn timeout() -> ApiError {
        ApiError::new(ProblemKind::Timeout, "The answer was not ready in time. Try again in a few seconds.")
            .with(|details| details.retry_after = Some(5))
    }

    /// Something broke; the cause is for the log alone.
    pub(crate) fn internal(cause: impl ToString) -> ApiError {
        ApiError::new(
            ProblemKind::Internal,
            "Something broke while answering. If it happens again, tell the operator the member instance.",
        )
        .with(|details| details.cause = Some(cause.to_string()))
    }

    pub(crate) fn panicked() -> ApiError {
        ApiError::internal("the endpoint panicked")
    }

    pub(crate) fn unavailable(detail: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ProblemKind::Unavailable, detail).with(|details| details.retry_after = Some(2))
    }

    /// The search index lists a project that the catalog does not know yet.
    pub(crate) fn catching_up() -> ApiError {
        ApiError::unavailable(
            "The project was listed a moment ago, and its record is on its way. Try again in a second.",
        )
        .with(|details| details.retry_after = Some(1))
    }

    /// Unavailable for a cause that is for the log alone.
    pub(crate) fn unavailable_because(cause: impl ToString) -> ApiError {
        ApiError::unavailable("The catalog cannot be read at present. Try again in a few seconds.")
            .with(|details| details.cause = Some(cause.to_string()))
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    #[cfg(test)]
    pub(crate) fn kind(&self) -> ProblemKind {
        self.0.kind
    }

    pub(crate) fn into_details(self) -> Details {
        *self.0
    }

    /// What happened, as a sentence.
    pub(crate) fn into_detail(self) -> Cow<'static, str> {
        self.0.detail
    }

    /// What the log should know and the client should not.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}
