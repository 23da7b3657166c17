//! The errors of the API. The request pipeline writes an error as problem details (RFC 9457) or as a page, with the id of the
//! request.

mod transient;

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode};
use jiff::Timestamp;
use schemas::api::problem::{ExhaustedQuota, ParameterFault, ProblemKind};
use schemas::ids::Revision;

use crate::mail::Contact;
use crate::route::Route;

/// An error answer. It passes through axum as an extension of an empty response.
#[derive(Debug, Clone)]
pub struct ApiError(Box<Details>);

/// The parts of an error, for the pipeline that writes it.
#[derive(Debug, Clone)]
pub struct Details {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The HTTP status.
    pub status: StatusCode,
    /// What happened and what to do, for programmers.
    pub detail: Cow<'static, str>,
    /// What a page says in place of the detail.
    pub on_pages: Option<&'static str>,
    /// The invalid parameters.
    pub errors: Vec<ParameterFault>,
    /// Slugs similar to an unknown one.
    pub suggestions: Option<Vec<String>>,
    /// Why the project was withdrawn.
    pub reason: Option<String>,
    /// The URL that the last record of a withdrawn project brings to be cited, or else that of its last revision.
    pub citation_url: Option<String>,
    /// The permanent URL of the last revision of a withdrawn project.
    pub revision_url: Option<String>,
    /// The quota that is used up.
    pub quota: Option<ExhaustedQuota>,
    /// Seconds after which the request may be repeated.
    pub retry_after: Option<u64>,
    /// Whether the connection is closed.
    pub closes: bool,
    /// The cause, for the log only.
    pub cause: Option<String>,
    /// The methods of the path, for a method that it does not have.
    pub allow: HeaderValue,
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
            revision_url: None,
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

    fn with_status(self, status: StatusCode) -> ApiError {
        self.with(|details| details.status = status)
    }

    fn on_pages(self, lead: &'static str) -> ApiError {
        self.with(|details| details.on_pages = Some(lead))
    }

    fn retry_after(self, seconds: u64) -> ApiError {
        self.with(|details| details.retry_after = Some(seconds))
    }

    /// Closes the connection after the answer.
    fn closing(self) -> ApiError {
        self.with(|details| details.closes = true)
    }

    /// Adds the cause, for the log only.
    fn caused_by(self, cause: impl ToString) -> ApiError {
        self.with(|details| details.cause = Some(cause.to_string()))
    }

    /// Parameters that cannot be used.
    pub fn invalid_parameters(errors: Vec<ParameterFault>) -> ApiError {
        let detail = match errors.len() {
            1 => "A parameter cannot be used; the member errors says which and what is allowed.",
            _ => "Several parameters cannot be used; the member errors says which and what is allowed.",
        };
        ApiError::new(ProblemKind::InvalidParameters, detail).with(|details| {
            details.on_pages = Some("Correct what is listed here, or search the catalog.");
            details.errors = errors;
        })
    }

    /// A request with two keys.
    pub(crate) fn ambiguous_key() -> ApiError {
        ApiError::new(
            ProblemKind::AmbiguousKey,
            "The header Authorization has a key and the parameter key has another. Send one of them, preferably the \
             header.",
        )
    }

    /// A call without the key that it needs.
    pub fn missing_key() -> ApiError {
        ApiError::new(
            ProblemKind::MissingKey,
            "This call needs a key. Send it as Authorization: Bearer log_live_…, or for a quick test as ?key=log_live_….",
        )
    }

    /// A key that is malformed, unknown or revoked: one text for all, so that it reveals nothing.
    pub(crate) fn invalid_key() -> ApiError {
        ApiError::new(
            ProblemKind::InvalidKey,
            "This key cannot be used. Check that all 55 characters of it were sent, or ask for another.",
        )
    }

    /// A call over the quota of the month. `quota.upgrade_url` is filled in when the error is written.
    pub fn quota_exceeded(limit: u64, used: u64, resets_at: Timestamp, now: Timestamp) -> ApiError {
        ApiError::new(
            ProblemKind::QuotaExceeded,
            "The calls of this month are used up. Wait for resets_at, or see upgrade_url for more; nothing was billed.",
        )
        .with(|details| {
            details.quota = Some(ExhaustedQuota { limit, used, resets_at, upgrade_url: String::new() });
            details.retry_after = Some(resets_at.duration_since(now).as_secs().max(1).unsigned_abs());
        })
    }

    /// A call over the rate limit.
    pub fn too_many_requests(wait: Duration) -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many calls came within a second. Wait as long as Retry-After says; nothing was counted.",
        )
        .on_pages("Too many pages were opened from your network at once.")
        .retry_after(wait.as_secs() + 1)
    }

    /// A connection over the limit of its address.
    pub fn too_many_connections() -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many connections are open from this address. Close some, or send several requests over each.",
        )
        .retry_after(1)
        .closing()
    }

    /// A body for which there is no memory beside those of all requests under way.
    pub fn too_many_bodies() -> ApiError {
        ApiError::unavailable("Too many requests with a body are being read. Try again in a few seconds.")
            .closing()
    }

    /// A key or link over the hourly limit of a network.
    pub fn too_many_keys(wait: Duration) -> ApiError {
        ApiError::new(
            ProblemKind::TooManyRequests,
            "Too many keys were asked for from this network within an hour; nothing was done. Wait as long as Retry-After says.",
        )
        .on_pages("Too many keys were requested from your network.")
        .retry_after(wait.as_secs() + 1)
    }

    /// A request that is understood and refused.
    pub fn refused(reason: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ProblemKind::Refused, reason)
    }

    /// A mailed link that cannot be used.
    pub fn invalid_link(reason: String) -> ApiError {
        ApiError::refused(reason).with_status(StatusCode::GONE)
    }

    /// A link asked of a service that sends no mail.
    pub fn no_mail(contact: Option<&Contact>) -> ApiError {
        let contact = contact.map(|contact| format!(" ({contact})")).unwrap_or_default();
        ApiError::refused(format!(
            "This site sends no mail, so no link was made. Ask the operator{contact} for one."
        ))
    }

    /// An invalid field of a form.
    pub fn invalid_field(name: &'static str, error: &impl ToString) -> ApiError {
        let fault = fault(name, error.to_string(), "an address such as you@example.org");
        ApiError::invalid_parameters(vec![fault]).with_status(StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// A body that is not a form.
    pub fn not_a_form() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "This page takes forms alone: send its fields as application/x-www-form-urlencoded.",
        )
        .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
    }

    /// A command that was not executed; the cause is for the log only.
    pub fn command_unavailable(cause: impl ToString) -> ApiError {
        ApiError::unavailable("It cannot be done at present, and nothing was changed. Try again in a minute.")
            .caused_by(cause)
    }

    /// A command that the write side may have executed; the cause is for the log only.
    pub fn command_unconfirmed(cause: impl ToString) -> ApiError {
        ApiError::unavailable(
            "No answer came in time, so it is not known whether this was done. Wait a minute, then try again.",
        )
        .caused_by(cause)
    }

    /// A call that cannot be counted at present; the cause is for the log only.
    pub fn charge_unavailable(cause: impl ToString) -> ApiError {
        ApiError::unavailable(
            "The call cannot be counted at present, so it is not answered. Try again in a few seconds.",
        )
        .caused_by(cause)
    }

    /// A request that is not well-formed HTTP.
    pub fn malformed_request() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "The request is not well-formed HTTP/1.1. Check its first line, its headers and the framing of its body.",
        )
        .closing()
    }

    /// A body with an unknown transfer coding.
    pub fn unknown_coding() -> ApiError {
        ApiError::new(
            ProblemKind::MalformedRequest,
            "The request's body comes in a Transfer-Encoding other than chunked. Send it plain, or in chunks alone.",
        )
        .with_status(StatusCode::NOT_IMPLEMENTED)
        .closing()
    }

    /// A payment notice whose signature is not valid.
    pub fn invalid_signature(detail: &'static str) -> ApiError {
        ApiError::new(ProblemKind::InvalidSignature, detail)
    }

    /// A payment notice that could not be recorded and must be sent again.
    pub fn notice_not_recorded(cause: impl ToString) -> ApiError {
        ApiError::unavailable("The notice cannot be stored at present. Send it again.").caused_by(cause)
    }

    /// A payment notice that is too large.
    pub fn notice_too_large() -> ApiError {
        ApiError::too_large("The notice is larger than 256 KiB. No event of a payment is.")
    }

    /// A path that does not exist.
    pub fn not_found() -> ApiError {
        ApiError::new(
            ProblemKind::NotFound,
            "Nothing is at this path. /openapi.json lists the paths there are.",
        )
        .on_pages("The address may be mistyped, or out of date.")
    }

    /// A method that the path does not have.
    pub fn method_not_allowed(route: Route) -> ApiError {
        let detail = match route {
            Route::Webhook => "Notices of payments are sent here by POST.",
            Route::Form => "This page takes GET, HEAD, and POST from its form.",
            Route::Mcp => "The MCP endpoint takes JSON-RPC messages by POST, without sessions and streams.",
            _ => "This service is for reading only: send GET or HEAD.",
        };
        ApiError::new(ProblemKind::MethodNotAllowed, detail).with(|details| details.allow = route.methods())
    }

    /// A web page whose origin may not use the MCP endpoint.
    pub(crate) fn foreign_origin() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "Pages of this Origin may not call the MCP endpoint. The operator can allow it with the setting mcp_origins.",
        )
    }

    /// A form that a page of another site sent.
    pub fn foreign_form() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "The form was sent by a page of another site, so nothing was done. Open the form here and send it again.",
        )
    }

    /// A request under a host name that is not this node's.
    pub(crate) fn foreign_host() -> ApiError {
        ApiError::new(
            ProblemKind::Forbidden,
            "This service does not accept the name in the header Host. Use its address, or have the operator set \
             public_url.",
        )
    }

    /// A slug that no project ever had.
    pub fn unknown_slug(suggestions: Vec<String>) -> ApiError {
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

    /// A revision that the project does not have.
    pub fn unknown_revision(newest: Revision) -> ApiError {
        let detail = match newest {
            Revision::FIRST => "The project has no such revision. Its only one is 1.".to_owned(),
            newest => format!("The project has no such revision. Its revisions are 1 to {newest}."),
        };
        ApiError::new(ProblemKind::NotFound, detail)
    }

    /// A project that was withdrawn.
    pub fn withdrawn(reason: String, citation_url: String, revision_url: String) -> ApiError {
        ApiError::new(
            ProblemKind::Withdrawn,
            "This project left the catalog; what was published of it can still be cited.",
        )
        .with(|details| {
            details.reason = Some(reason);
            details.citation_url = Some(citation_url);
            details.revision_url = Some(revision_url);
        })
    }

    /// A picture that the operator took down permanently.
    pub fn taken_down() -> ApiError {
        ApiError::new(
            ProblemKind::TakenDown,
            "This picture was taken down and does not come back. Delete any copy of it that you keep.",
        )
        .on_pages("This picture was taken down.")
    }

    /// A cursor of changes that another log gave out.
    pub fn other_log() -> ApiError {
        ApiError::new(
            ProblemKind::OtherLog,
            "The cursor was given out by another catalog, or before this one was restored from a backup. Begin again without since, \
             and delete from your copy what does not come.",
        )
    }

    fn too_large(detail: &'static str) -> ApiError {
        ApiError::new(ProblemKind::TooLarge, detail).closing()
    }

    /// A body, where none is expected, that is too large to be skipped.
    pub fn body_too_large() -> ApiError {
        ApiError::too_large(
            "The request's body is larger than 64 KiB. This service reads no bodies: send none.",
        )
    }

    /// An MCP message that is too large.
    pub fn message_too_large() -> ApiError {
        ApiError::too_large(
            "The message is larger than 256 KiB. No tool needs so much: shorten its arguments.",
        )
    }

    /// An MCP message without a key that is too large.
    pub fn message_too_large_without_key() -> ApiError {
        ApiError::too_large(
            "Without a key a message has at most 64 KiB. Shorten its arguments, or send it with a key, with which 256 KiB are read.",
        )
    }

    /// A form that is too large.
    pub fn form_too_large() -> ApiError {
        ApiError::too_large("What the form sent is larger than 16 KiB. Its fields need far less.")
    }

    /// A path and query that are too long.
    pub fn address_too_long() -> ApiError {
        ApiError::new(
            ProblemKind::TooLarge,
            "The request's address is longer than 8 KiB. Shorten its parameters; a search text has at most 200 characters.",
        )
        .with_status(StatusCode::URI_TOO_LONG)
    }

    /// A request head that is too large.
    pub fn head_too_large() -> ApiError {
        ApiError::too_large("The request's address and headers together are larger than 16 KiB, or there are more than 100 headers. Send fewer or shorter ones.")
.with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
    }

    /// A body that did not arrive in time.
    pub fn slow_body() -> ApiError {
        ApiError::new(
            ProblemKind::Timeout,
            "The request's body did not arrive in time. Send it at once, or none where none is needed.",
        )
        .with_status(StatusCode::REQUEST_TIMEOUT)
        .closing()
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the kind of the problem.
    pub fn kind(&self) -> ProblemKind {
        self.0.kind
    }

    /// Returns the slugs that are similar to an unknown one.
    pub fn suggestions(&self) -> &[String] {
        self.0.suggestions.as_deref().unwrap_or_default()
    }

    /// Returns the parts.
    pub fn into_details(self) -> Details {
        *self.0
    }

    /// Returns what happened and what to do, as sentences.
    pub fn into_detail(self) -> Cow<'static, str> {
        self.0.detail
    }

    /// Returns the cause, which is logged and not sent.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }
}

/// Returns the description of an invalid parameter: what is wrong, and what is allowed.
pub fn fault(parameter: &str, detail: impl Into<String>, allowed: impl Into<String>) -> ParameterFault {
    ParameterFault { parameter: parameter.to_owned(), detail: detail.into(), allowed: allowed.into() }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}
