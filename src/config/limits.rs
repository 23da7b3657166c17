//! How calls are counted while NATS is unreachable, and the rate limits.

use metering::Policy;
use settings::values::{ByteSize, Limit};
use settings::{Value, section};

section! {
    /// The spool of usage and the rate limits; a limit of 0 is none.
    Limits {
        metering: Policy = |value| value.one_of([("spool", Policy::Spool), ("refuse", Policy::Refuse)]) => "metering"
            "While NATS is unreachable: spool waits some 10 s, then answers up to this node's share of what is left and counts later; refuse answers 503." {
                shape: "spool|refuse",
                example: "refuse",
                default: Some("spool"),
            },
        spool: ByteSize = Value::required => "spool_limit"
            "The size limit of the spool, as 512MiB or 2GiB; beyond it calls are answered 503." {
                shape: "SIZE",
                example: "512MiB",
                default: Some("2GiB"),
            },
        burst_per_key: u32 = |value| Ok(value.required::<Limit>()?.0) => "burst_per_key"
            "Calls per second of one key, those that ask for much as several; 0: no limit." {
                shape: "CALLS",
                example: "50",
                default: Some("20"),
            },
        burst_per_address: u32 = |value| Ok(value.required::<Limit>()?.0) => "burst_per_address"
            "Calls per second without a valid key from one IP address, those that ask for much as several; 0: no limit." {
                shape: "CALLS",
                example: "10",
                default: Some("20"),
            },
        keys_per_address: u32 = |value| Ok(value.required::<Limit>()?.0) => "keys_per_address"
            "Keys per hour that one IP address may request over MCP and the form; 0: no limit." {
                shape: "KEYS",
                example: "20",
                default: Some("5"),
            },
    }
}
