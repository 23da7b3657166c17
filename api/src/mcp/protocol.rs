//! The protocol itself: JSON-RPC messages, their parameters and errors, and the two eras of MCP. It knows no tool and no state
//! of the service.

pub(in crate::mcp) mod era;
pub(in crate::mcp) mod escape;
pub(in crate::mcp) mod message;
pub(in crate::mcp) mod params;
pub(in crate::mcp) mod rpc_error;
