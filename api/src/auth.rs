//! Who calls and what they may: the key that a request presents, the address and the origin that it comes from, the limits
//! that it is held to, and the charge for a call. REST, MCP and the pages all decide it here.

pub(crate) mod access;
pub(crate) mod admission;
pub(crate) mod allowance;
pub(crate) mod charge;
pub(crate) mod cors;
pub(crate) mod new_keys;
pub(crate) mod origins;
pub(crate) mod presented_key;
pub(crate) mod principal;
pub(crate) mod proxies;
pub(crate) mod rate_limit;
