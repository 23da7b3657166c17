//! The body of every error: RFC 9457 problem details.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// What went wrong, one page of the site each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum ProblemKind {
    /// Parameters that cannot be used; all faults at once.
    InvalidParameters,
    /// A key in the header and another in the address.
    AmbiguousKey,
    /// No key was sent where one is needed.
    MissingKey,
    /// The key that was sent is none that may call.
    InvalidKey,
    /// The month's calls are used up.
    QuotaExceeded,
    /// Too many calls in a short time.
    TooManyRequests,
    /// A notice of a payment that is not signed as it must be.
    InvalidSignature,
    /// What was sent is not HTTP as it is defined.
    MalformedRequest,
    /// A page of the web that may not speak to the MCP endpoint.
    Forbidden,
    /// A path that is nothing.
    NotFound,
    /// A method that the path does not have.
    MethodNotAllowed,
    /// No project has this slug.
    UnknownSlug,
    /// The project left the catalog.
    Withdrawn,
    /// The picture was taken down for good.
    TakenDown,
    /// What a form asked for was not done.
    Refused,
    /// The request's body, head or address is too large.
    TooLarge,
    /// The server took too long, or the client did to send its request.
    Timeout,
    /// Something broke inside.
    Internal,
    /// The server cannot answer at present.
    Unavailable,
}

impl ProblemKind {
    /// Every kind.
    pub const ALL: [ProblemKind; 19] = [
        ProblemKind::InvalidParameters,
        ProblemKind::AmbiguousKey,
        ProblemKind::MissingKey,
        ProblemKind::InvalidKey,
        ProblemKind::QuotaExceeded,
        ProblemKind::TooManyRequests,
        ProblemKind::InvalidSignature,
        ProblemKind::MalformedRequest,
        ProblemKind::Forbidden,
        ProblemKind::NotFound,
        ProblemKind::MethodNotAllowed,
        ProblemKind::UnknownSlug,
        ProblemKind::Withdrawn,
        ProblemKind::TakenDown,
        ProblemKind::Refused,
        ProblemKind::TooLarge,
        ProblemKind::Timeout,
        ProblemKind::Internal,
        ProblemKind::Unavailable,
    ];

    /// The last part of its address, for example `unknown-slug`.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::InvalidParameters => "invalid-parameters",
            ProblemKind::AmbiguousKey => "ambiguous-key",
            ProblemKind::MissingKey => "missing-key",
            ProblemKind::InvalidKey => "invalid-key",
            ProblemKind::QuotaExceeded => "quota-exceeded",
            ProblemKind::TooManyRequests => "too-many-requests",
            ProblemKind::InvalidSignature => "invalid-signature",
            ProblemKind::MalformedRequest => "malformed-request",
            ProblemKind::Forbidden => "forbidden",
            ProblemKind::NotFound => "not-found",
            ProblemKind::MethodNotAllowed => "method-not-allowed",
            ProblemKind::UnknownSlug => "unknown-slug",
            ProblemKind::Withdrawn => "withdrawn",
            ProblemKind::TakenDown => "taken-down",
            ProblemKind::Refused => "refused",
            ProblemKind::TooLarge => "too-large",
            ProblemKind::Timeout => "timeout",
            ProblemKind::Internal => "internal",
            ProblemKind::Unavailable => "unavailable",
        }
    }

    /// A few words for people.
    pub fn title(self) -> &'static str {
        match self {
            ProblemKind::InvalidParameters => "Invalid parameters",
            ProblemKind::AmbiguousKey => "Two keys at once",
            ProblemKind::MissingKey => "A key is needed",
            ProblemKind::InvalidKey => "Invalid key",
            ProblemKind::QuotaExceeded => "Monthly quota used up",
            ProblemKind::TooManyRequests => "Too many requests",
            ProblemKind::InvalidSignature => "Invalid signature",
            ProblemKind::MalformedRequest => "Malformed request",
            ProblemKind::Forbidden => "Forbidden",
            ProblemKind::NotFound => "Nothing is here",
            ProblemKind::MethodNotAllowed => "Method not allowed",
            ProblemKind::UnknownSlug => "Unknown slug",
            ProblemKind::Withdrawn => "Withdrawn",
            ProblemKind::TakenDown => "Taken down",
            ProblemKind::Refused => "Nothing was done",
            ProblemKind::TooLarge => "Too large",
            ProblemKind::Timeout => "Took too long",
            ProblemKind::Internal => "Internal error",
            ProblemKind::Unavailable => "Unavailable",
        }
    }

    /// The status that comes with it, if the case at hand has none of its own.
    pub fn status(self) -> u16 {
        match self {
            ProblemKind::InvalidParameters
            | ProblemKind::AmbiguousKey
            | ProblemKind::InvalidSignature
            | ProblemKind::MalformedRequest => 400,
            ProblemKind::MissingKey | ProblemKind::InvalidKey => 401,
            ProblemKind::Forbidden => 403,
            ProblemKind::NotFound | ProblemKind::UnknownSlug => 404,
            ProblemKind::MethodNotAllowed => 405,
            ProblemKind::Refused => 409,
            ProblemKind::Withdrawn | ProblemKind::TakenDown => 410,
            ProblemKind::TooLarge => 413,
            ProblemKind::QuotaExceeded | ProblemKind::TooManyRequests => 429,
            ProblemKind::Internal => 500,
            ProblemKind::Timeout | ProblemKind::Unavailable => 503,
        }
    }
}

/// A problem as it is sent. Members that do not belong to its kind are absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    /// The page that says what to do.
    #[serde(rename = "type")]
    pub kind: String,
    /// A few words for people.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened this time, and what to do.
    pub detail: String,
    /// Names this very request, as the server's log does.
    pub instance: String,
    /// All parameters that cannot be used. Absent where that is not the problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ParameterFault>,
    /// Slugs that are near the one that was asked for, at most three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<String>>,
    /// Why the project was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What still may be cited of a withdrawn project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
    /// The allowance that is used up.
    #[serde(flatten)]
    pub quota: Option<UsedUp>,
}

/// An allowance of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsedUp {
    /// Calls that the tier allows in a month.
    pub limit: u64,
    /// Calls that count against it.
    pub used: u64,
    /// When the next month begins.
    pub resets_at: Timestamp,
    /// The page that tells how to get more.
    pub upgrade_url: String,
}

/// One parameter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ParameterFault {
    /// Its name.
    pub parameter: String,
    /// What is wrong with it.
    pub detail: String,
    /// What is allowed.
    pub allowed: String,
}
