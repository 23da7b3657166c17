//! The answer of `GET /v1/usage`.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use crate::key::KeyId;
use crate::month::Month;
use crate::tier::TierName;

/// What a key has called in the running month.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsageAnswer {
    /// The key that was presented.
    pub key: KeyRecord,
    /// Its tier.
    pub tier: TierName,
    /// The UTC calendar month.
    pub month: Month,
    /// Calls that the tier allows in a month.
    pub limit: u64,
    /// Calls that count against it so far.
    pub used: u64,
    /// Calls that are left.
    pub remaining: u64,
    /// The month's end.
    pub resets_at: Timestamp,
    /// Each day of the month up to now that has calls, the first first; calls of every tier the key had.
    pub days: Vec<DayUsage>,
    /// Parameters of the request that this endpoint does not know. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A key as its holder may see it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KeyRecord {
    /// Its name in public.
    pub key_id: KeyId,
    /// Its last four characters.
    pub hint: String,
    /// What its holder calls it.
    pub name: Option<String>,
    /// Its tier.
    pub tier: TierName,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When its last counted call was answered.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The counted calls of one UTC day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DayUsage {
    /// The day.
    pub date: Date,
    /// Calls over REST.
    pub rest: u64,
    /// Calls over MCP.
    pub mcp: u64,
}
