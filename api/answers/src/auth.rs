//! Who is calling and what they may do: the key that a request presents, its address and origin, its rate limits and quota, and the
//! charge of a call. REST, MCP and the pages all decide it here.

pub mod access;
pub mod admission;
pub mod allowance;
pub mod caller;
pub mod charge;
pub mod cors;
pub mod new_keys;
pub mod origins;
pub mod presented_key;
pub mod principal;
pub mod proxies;
pub mod rate_limit;
