//! Who calls, and what they are allowed. This is the one place that decides it, before any work is done.

use http::header::AUTHORIZATION;
use http::request::Parts;

use super::LONGEST_ADDRESS;
use super::rate::Allowance;
use crate::fault::Fault;
use crate::query;

/// Lets a request in. Nobody needs a key and nothing is metered: a key that is sent is passed over, unless two are.
pub(super) fn admit(parts: &Parts) -> Result<Allowance, Fault> {
    let address = parts.uri.path().len() + parts.uri.query().map_or(0, |query| query.len() + 1);
    if address > LONGEST_ADDRESS {
        return Err(Fault::address_too_long());
    }
    if sends_bearer(parts)
        && parts.uri.query().is_some_and(|query| query::values(query, "key").next().is_some())
    {
        return Err(Fault::ambiguous_key());
    }
    Ok(Allowance::UNLIMITED)
}

fn sends_bearer(parts: &Parts) -> bool {
    parts.headers.get_all(AUTHORIZATION).iter().any(|value| {
        let scheme = value.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"Bearer")
    })
}
