//! The address that a connection comes from, handed to endpoints with their request.

use std::net::IpAddr;

/// The address at the other end of the connection, which may be a proxy's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);
