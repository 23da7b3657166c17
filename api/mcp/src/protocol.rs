//! The protocol: JSON-RPC messages, their parameters and errors, and the two eras of MCP. It depends on no tool and on no state
//! of the service.

pub(super) mod era;
pub(super) mod escape;
pub(super) mod message;
pub(super) mod params;
pub(super) mod rpc_error;
