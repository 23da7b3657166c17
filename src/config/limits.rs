//! Limits of calls: how they are counted while NATS is away, and how many there may be in a short time.

use std::str::FromStr;

use super::section::{Value, section};

section! {
    /// The spool of usage and the rate limits; a limit of 0 is none.
    Limits {
        metering: Metering = Value::required => "metering"
            "While NATS is unreachable: spool answers and counts afterwards, refuse answers 503." {
                shape: "spool|refuse",
                example: "refuse",
                default: Some("spool"),
            },
        spool: Size = Value::required => "spool_limit"
            "The size limit of the spool, as 512MiB or 2GiB; beyond it calls are answered 503." {
                shape: "SIZE",
                example: "512MiB",
                default: Some("2GiB"),
            },
        burst_per_key: u32 = |value| Ok(value.required::<WholeNumber>()?.0) => "burst_per_key"
            "Calls per second of one key; 0: no limit." {
                shape: "CALLS",
                example: "50",
                default: Some("20"),
            },
        burst_per_address: u32 = |value| Ok(value.required::<WholeNumber>()?.0) => "burst_per_address"
            "Calls per second without a valid key from one IP address; 0: no limit." {
                shape: "CALLS",
                example: "10",
                default: Some("20"),
            },
        keys_per_address: u32 = |value| Ok(value.required::<WholeNumber>()?.0) => "keys_per_address"
            "Keys per hour that one IP address may request over MCP and the form; 0: no limit." {
                shape: "KEYS",
                example: "20",
                default: Some("5"),
            },
    }
}

/// What becomes of calls while NATS cannot count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metering {
    /// They are answered from what is left as last known, and counted afterwards.
    Spool,
    /// They are refused.
    Refuse,
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

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let unit = match text[digits..].trim() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1_u64 << 40,
            _ => 0,
        };
        match text[..digits].parse::<u64>().ok().and_then(|number| number.checked_mul(unit)) {
            Some(bytes) if bytes > 0 => Ok(Size(bytes)),
            _ => Err("a size such as 512MiB or 2GiB is wanted"),
        }
    }
}

/// A whole number of which 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber(pub u32);

impl FromStr for WholeNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(WholeNumber).map_err(|_| "a whole number such as 20 is wanted; 0 is no limit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit() {
        let bytes = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(["1KiB", " 512 MiB", "2GiB"].map(bytes), [Ok(1 << 10), Ok(512 << 20), Ok(2 << 30)]);
        for wrong in ["", "2", "GiB", "0GiB", "-1GiB", "1.5GiB", "2GB", "99999999999TiB"] {
            assert_eq!(bytes(wrong), Err("a size such as 512MiB or 2GiB is wanted"), "{wrong}");
        }
    }
}
