//! The usage of a key, as `GET /v1/usage` answers it.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use crate::key::KeyId;
use crate::month::Month;
use crate::tier::TierName;

/// The calls of a key in the current month.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsageAnswer {
    /// The presented key.
    pub key: KeyRecord,
    /// Its tier.
    pub tier: TierName,
    /// The UTC calendar month.
    pub month: Month,
    /// Calls per month in the key's tier.
    pub limit: u64,
    /// Calls counted in this month so far.
    pub used: u64,
    /// Calls left in this month.
    pub remaining: u64,
    /// The end of the month.
    pub resets_at: Timestamp,
    /// The days of the month with calls, ascending; calls of all tiers that the key had.
    pub days: Vec<DayUsage>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A key as it is shown to its holder.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KeyRecord {
    /// The key's public id.
    pub key_id: KeyId,
    /// Its last four characters.
    pub hint: String,
    /// The holder's name for the key.
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

/// The metered calls of one UTC day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DayUsage {
    /// The UTC day.
    pub date: Date,
    /// Calls over REST.
    pub rest: u64,
    /// Calls over MCP.
    pub mcp: u64,
}
