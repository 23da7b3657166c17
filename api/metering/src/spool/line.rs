//! One line of the spool: a call as JSON.

use std::io;

use schemas::usage::Call;
use serde::Deserialize;

/// A spooled call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spooled {
    pub(crate) call: Call,
    /// Whether it was never published before it was spooled. Version 0.1 neither writes nor reads this.
    pub(crate) is_unsent: bool,
}

#[derive(Deserialize)]
struct Mark {
    #[serde(default)]
    unsent: bool,
}

/// Returns the line of a call, with the line break.
pub(super) fn encode(call: &Call, is_unsent: bool) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(call).map_err(io::Error::other)?;
    if is_unsent {
        line.pop();
        line.extend_from_slice(br#","unsent":true}"#);
    }
    line.push(b'\n');
    Ok(line)
}

/// Parses a line; the error is the line itself.
pub(super) fn parse(line: &[u8]) -> Result<Spooled, Vec<u8>> {
    // In version 0.1 a partial write may have left zeros before a line.
    let zeros = line.iter().take_while(|byte| **byte == 0).count();
    let line = &line[zeros..];
    match (serde_json::from_slice(line), serde_json::from_slice::<Mark>(line)) {
        (Ok(call), Ok(mark)) => Ok(Spooled { call, is_unsent: mark.unsent }),
        _ => Err(line.to_owned()),
    }
}
