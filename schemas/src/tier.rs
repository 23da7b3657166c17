//! Tiers: the number of calls that a key may make in a month. Names and quotas are configured.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::InvalidId;
use crate::text_form::string_wrapper;

/// The name of a tier: 1 to 20 lowercase letters and digits, a letter first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct TierName(String);

/// A configured tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// The name.
    pub name: TierName,
    /// The calls per UTC calendar month, from 1 to 1,000,000,000.
    pub quota: u64,
}

/// The configured tiers, 1 to 16; new keys get the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiers(Vec<Tier>);

/// Why a list of tiers is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTiers {
    /// An entry that is not a name and a number.
    #[error("“{0}” is not a tier; write them as free=200, studio=5000")]
    Part(String),
    /// A duplicate name.
    #[error("the tier {0} is named twice")]
    Twice(TierName),
    /// An empty list.
    #[error("there is no tier; write them as free=200, studio=5000")]
    None,
}

/// The maximum number of tiers: each is a stream in NATS.
const MAX_TIERS: usize = 16;
/// The maximum quota; clients parse it into 32-bit integers.
const MAX_QUOTA: u64 = 1_000_000_000;

impl Tiers {
    /// Returns the tier of new keys.
    pub fn first(&self) -> &Tier {
        // A list of tiers is never empty.
        &self.0[0]
    }

    /// Returns the tier of this name.
    pub fn get(&self, name: &TierName) -> Option<&Tier> {
        self.0.iter().find(|tier| tier.name == *name)
    }

    /// Returns the quota of a tier; 0 if it is not configured, so that every configured tier is higher.
    pub fn quota(&self, name: &TierName) -> u64 {
        self.get(name).map_or(0, |tier| tier.quota)
    }

    /// Returns the tiers in the order of the configuration.
    pub fn iter(&self) -> impl Iterator<Item = &Tier> {
        self.0.iter()
    }
}

impl FromStr for Tiers {
    type Err = InvalidTiers;

    /// Parses a list such as `free=200, studio=5000`.
    fn from_str(text: &str) -> Result<Self, InvalidTiers> {
        let mut tiers: Vec<Tier> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let invalid = || InvalidTiers::Part(part.to_owned());
            let (name, quota) = part.split_once('=').ok_or_else(invalid)?;
            let name: TierName = name.trim().parse().map_err(|_| invalid())?;
            let quota = quota.trim().parse().ok().filter(|quota| (1..=MAX_QUOTA).contains(quota));
            if tiers.iter().any(|tier| tier.name == name) {
                return Err(InvalidTiers::Twice(name));
            }
            tiers.push(Tier { name, quota: quota.filter(|_| tiers.len() < MAX_TIERS).ok_or_else(invalid)? });
        }
        if tiers.is_empty() { Err(InvalidTiers::None) } else { Ok(Tiers(tiers)) }
    }
}

impl TryFrom<String> for TierName {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let well_formed = text.len() <= 20
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if well_formed {
            Ok(TierName(text))
        } else {
            Err(InvalidId { text, expected: "a tier: 1 to 20 small letters and digits" })
        }
    }
}

string_wrapper!(TierName);

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Tier { name, quota }) in self.0.iter().enumerate() {
            write!(f, "{}{name}={quota}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_keep_the_configured_order() {
        let tiers: Tiers = "free=200, studio=5000,pro = 25000,".parse().unwrap();
        assert_eq!(tiers.to_string(), "free=200, studio=5000, pro=25000");
        assert_eq!(tiers.first().quota, 200);
        assert_eq!(tiers.get(&"pro".parse().unwrap()).unwrap().quota, 25_000);
        assert_eq!(tiers.get(&"gold".parse().unwrap()), None);
    }

    #[test]
    fn an_invalid_entry_is_named() {
        for (text, error) in [
            ("", "there is no tier; write them as free=200, studio=5000"),
            ("free", "“free” is not a tier; write them as free=200, studio=5000"),
            ("free=0", "“free=0” is not a tier; write them as free=200, studio=5000"),
            ("Free=1", "“Free=1” is not a tier; write them as free=200, studio=5000"),
            ("a=1,a=2", "the tier a is named twice"),
        ] {
            assert_eq!(text.parse::<Tiers>().unwrap_err().to_string(), error);
        }
    }
}
