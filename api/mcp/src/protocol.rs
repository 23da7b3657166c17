//! The protocol itself: JSON-RPC messages, their parameters and errors, and the two eras of MCP. It knows no tool and no state
//! of the service.

pub(super) mod era;
pub(super) mod escape;
pub(super) mod message;
pub(super) mod params;
pub(super) mod rpc_error;
