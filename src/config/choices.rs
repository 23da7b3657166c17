//! Settings that are one of a few words.

use std::str::FromStr;

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Whoever has a key; calls are counted.
    Keys,
    /// Everybody; nothing is counted.
    Off,
}

/// What becomes of calls while NATS cannot count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metering {
    /// They are answered from what is left as last known, and counted afterwards.
    Spool,
    /// They are refused.
    Refuse,
}

impl FromStr for Auth {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "keys" => Ok(Auth::Keys),
            "off" => Ok(Auth::Off),
            _ => Err("keys or off is wanted"),
        }
    }
}

impl FromStr for Metering {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "spool" => Ok(Metering::Spool),
            "refuse" => Ok(Metering::Refuse),
            _ => Err("spool or refuse is wanted"),
        }
    }
}
