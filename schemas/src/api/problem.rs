//! Error bodies: problem details (RFC 9457).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a problem, each with a page of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(inline)]
pub enum ProblemKind {
    /// Invalid parameters, all reported together.
    InvalidParameters,
    /// Different keys in the header and in the URL.
    AmbiguousKey,
    /// The endpoint requires a key, and none was sent.
    MissingKey,
    /// The key is unknown or revoked.
    InvalidKey,
    /// The monthly quota is used up.
    QuotaExceeded,
    /// The rate limit was exceeded.
    TooManyRequests,
    /// A payment notice without a valid signature.
    InvalidSignature,
    /// The request is not valid HTTP.
    MalformedRequest,
    /// A web page of a foreign origin called the MCP endpoint.
    Forbidden,
    /// The path does not exist.
    NotFound,
    /// The path does not support the method.
    MethodNotAllowed,
    /// No project has this slug.
    UnknownSlug,
    /// The project was withdrawn.
    Withdrawn,
    /// The picture was erased permanently.
    TakenDown,
    /// The cursor of changes is of another log.
    OtherLog,
    /// The action of a form was rejected.
    Refused,
    /// The body, the header or the URL of the request is too large.
    TooLarge,
    /// The server did not answer, or the client did not send its request, in time.
    Timeout,
    /// An internal error.
    Internal,
    /// The server cannot answer now.
    Unavailable,
}

impl ProblemKind {
    /// All kinds.
    pub const ALL: [ProblemKind; 20] = [
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
        ProblemKind::OtherLog,
        ProblemKind::Refused,
        ProblemKind::TooLarge,
        ProblemKind::Timeout,
        ProblemKind::Internal,
        ProblemKind::Unavailable,
    ];

    /// Returns the last segment of the problem's URL, for example `unknown-slug`.
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
            ProblemKind::OtherLog => "other-log",
            ProblemKind::Refused => "refused",
            ProblemKind::TooLarge => "too-large",
            ProblemKind::Timeout => "timeout",
            ProblemKind::Internal => "internal",
            ProblemKind::Unavailable => "unavailable",
        }
    }

    /// Returns a short title for people.
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
            ProblemKind::OtherLog => "Cursor of another log",
            ProblemKind::Refused => "Nothing was done",
            ProblemKind::TooLarge => "Too large",
            ProblemKind::Timeout => "Took too long",
            ProblemKind::Internal => "Internal error",
            ProblemKind::Unavailable => "Unavailable",
        }
    }

    /// Returns the default HTTP status of the kind.
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
            ProblemKind::Withdrawn | ProblemKind::TakenDown | ProblemKind::OtherLog => 410,
            ProblemKind::TooLarge => 413,
            ProblemKind::QuotaExceeded | ProblemKind::TooManyRequests => 429,
            ProblemKind::Internal => 500,
            ProblemKind::Timeout | ProblemKind::Unavailable => 503,
        }
    }
}

/// Problem details (RFC 9457). Members that do not apply to the kind are absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    /// The URL of the page that explains the problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// A short title for people.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened in this case, and what to do.
    pub detail: String,
    /// The id of the request, which is also in the server's log.
    pub instance: String,
    /// All invalid parameters. Absent for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ParameterFault>,
    /// Up to three existing slugs similar to the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<String>>,
    /// Why the project was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The URL by which a withdrawn project can still be cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
    /// The exhausted quota.
    #[serde(flatten)]
    pub quota: Option<ExhaustedQuota>,
}

/// An exhausted monthly quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExhaustedQuota {
    /// Calls per month in the key's tier.
    pub limit: u64,
    /// Calls counted in this month.
    pub used: u64,
    /// The start of the next UTC month.
    pub resets_at: Timestamp,
    /// The page that describes other tiers.
    pub upgrade_url: String,
}

/// An invalid parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ParameterFault {
    /// The parameter's name.
    pub parameter: String,
    /// What is wrong with it.
    pub detail: String,
    /// The allowed values.
    pub allowed: String,
}
