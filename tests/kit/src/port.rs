//! Ports for servers that stop and start again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::{Ipv4Addr, TcpListener};

/// Returns a free port below the ephemeral range, so that no outgoing connection takes it while its server is down.
pub fn free_port() -> u16 {
    loop {
        let random = RandomState::new().build_hasher().finish();
        let port = 10_240 + u16::try_from(random % 20_000).expect("a small number");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
