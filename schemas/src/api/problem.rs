//! Error bodies: problem details (RFC 9457).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// Declares the kinds: what each is, its name, its default HTTP status and its title.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $status:literal, $title:literal;)+) => {
        /// The kind of a problem, each with a page of the site.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
        #[schemars(inline)]
        pub enum ProblemKind {
            $($(#[$doc])* $kind,)+
        }

        impl ProblemKind {
            /// All kinds.
            pub const ALL: [ProblemKind; [$($status),+].len()] = [$(ProblemKind::$kind),+];

            /// Returns the last segment of the problem's URL, for example `unknown-slug`.
            pub fn name(self) -> &'static str {
                match self { $(ProblemKind::$kind => $name,)+ }
            }

            /// Returns the default HTTP status of the kind.
            pub fn status(self) -> u16 {
                match self { $(ProblemKind::$kind => $status,)+ }
            }

            /// Returns a short title for people.
            pub fn title(self) -> &'static str {
                match self { $(ProblemKind::$kind => $title,)+ }
            }
        }
    };
}

kinds! {
    /// Invalid parameters, all reported together.
    InvalidParameters = "invalid-parameters", 400, "Invalid parameters";
    /// Different keys in the header and in the URL.
    AmbiguousKey = "ambiguous-key", 400, "Two keys at once";
    /// The endpoint requires a key, and none was sent.
    MissingKey = "missing-key", 401, "A key is needed";
    /// The key is unknown or revoked.
    InvalidKey = "invalid-key", 401, "Invalid key";
    /// The monthly quota is used up.
    QuotaExceeded = "quota-exceeded", 429, "Monthly quota used up";
    /// The rate limit was exceeded.
    TooManyRequests = "too-many-requests", 429, "Too many requests";
    /// A payment notice without a valid signature.
    InvalidSignature = "invalid-signature", 400, "Invalid signature";
    /// The request is not valid HTTP.
    MalformedRequest = "malformed-request", 400, "Malformed request";
    /// A web page of a foreign origin called the MCP endpoint.
    Forbidden = "forbidden", 403, "Forbidden";
    /// The path does not exist.
    NotFound = "not-found", 404, "Nothing is here";
    /// The path does not support the method.
    MethodNotAllowed = "method-not-allowed", 405, "Method not allowed";
    /// No project has this slug.
    UnknownSlug = "unknown-slug", 404, "Unknown slug";
    /// The project was withdrawn.
    Withdrawn = "withdrawn", 410, "Withdrawn";
    /// The picture was erased permanently.
    TakenDown = "taken-down", 410, "Taken down";
    /// The cursor of changes is of another log.
    OtherLog = "other-log", 410, "Cursor of another log";
    /// The action of a form was rejected.
    Refused = "refused", 409, "Nothing was done";
    /// The body, the header or the URL of the request is too large.
    TooLarge = "too-large", 413, "Too large";
    /// The server did not answer, or the client did not send its request, in time.
    Timeout = "timeout", 503, "Took too long";
    /// An internal error.
    Internal = "internal", 500, "Internal error";
    /// The server cannot answer now.
    Unavailable = "unavailable", 503, "Unavailable";
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
    /// The URL that the last record of a withdrawn project brings to be cited, or else that of `revision_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
    /// The address by which a withdrawn project can still be cited: this catalog's page of the last revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_url: Option<String>,
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
