//! The address and password of a private server. The password keeps other local processes from connecting by accident.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use async_nats::{ConnectOptions, ServerAddr};
use data_encoding::HEXLOWER;
use rand::TryRng;
use rand::rngs::SysRng;

use super::Error;

/// The only user of a private server.
pub(super) const USER: &str = "loggia";

/// Below the ephemeral ports: a client that keeps reconnecting to the port of a dead server could otherwise get that very port as its
/// own, connect to itself and keep it.
const PORTS: std::ops::Range<u16> = 10_240..32_768;

/// The address of a private server on loopback. `Display` and `Debug` omit the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    port: u16,
    password: String,
}

impl Address {
    /// Returns the TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL with user and password. A secret: keep it out of logs.
    pub fn url(&self) -> String {
        format!("nats://{USER}:{}@127.0.0.1:{}", self.password, self.port)
    }

    /// Returns connect options with user and password. (The client ignores a password in a URL.)
    pub fn connect_options(&self) -> ConnectOptions {
        ConnectOptions::with_user_and_password(USER.into(), self.password.clone())
    }

    pub(super) fn password(&self) -> &str {
        &self.password
    }

    /// Returns a placeholder that is never free, so it is replaced before it is used.
    pub(super) fn unset() -> Self {
        Self { port: 0, password: String::new() }
    }

    /// Returns a random free port with a random password of 192 bits.
    pub(super) fn random() -> Result<Self, Error> {
        let mut bytes = [0_u8; 24];
        SysRng.try_fill_bytes(&mut bytes).map_err(no_address)?;
        let password = HEXLOWER.encode(&bytes);
        for _ in 0..100 {
            let random = SysRng.try_next_u32().map_err(no_address)?;
            let port = PORTS.start + u16::try_from(random % u32::from(PORTS.end - PORTS.start)).unwrap_or(0);
            let address = Self { port, password: password.clone() };
            if address.is_free() {
                return Ok(address);
            }
        }
        Err(no_address("100 ports in a row were taken"))
    }

    /// Parses a URL that [`Address::url`] returned; `None` for any other.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let address: ServerAddr = url.trim().parse().ok()?;
        let password = address.password().filter(|password| !password.is_empty())?.to_owned();
        let is_private = address.host() == "127.0.0.1" && address.username() == Some(USER);
        is_private.then_some(Self { port: address.port(), password })
    }

    pub(super) fn is_free(&self) -> bool {
        self.port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).is_ok()
    }

    /// Returns whether the server with this name is at this address and accepts the password: another program may have taken the port,
    /// or the server of a copy of the folder, which has the same password.
    pub(super) async fn answers(&self, name: &str) -> bool {
        let options = self.connect_options().connection_timeout(Duration::from_secs(2)).max_reconnects(1);
        let connected = options.connect(format!("nats://{self}")).await;
        connected.is_ok_and(|client| client.server_info().server_name == name)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "127.0.0.1:{}", self.port)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Address({self})")
    }
}

fn no_address(reason: impl fmt::Display) -> Error {
    Error::NoAddress(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_parsed_from_its_url_and_displayed_without_its_password() {
        let address = Address::random().unwrap();
        assert_eq!(Address::parse(&format!("{}\n", address.url())), Some(address.clone()));
        let shown = format!("{address} {address:?}");
        assert_eq!(shown, format!("127.0.0.1:{0} Address(127.0.0.1:{0})", address.port()));
        assert!(PORTS.contains(&address.port()) && address.password().len() == 48);
    }

    #[test]
    fn other_addresses_are_not_parsed() {
        for other in
            ["", "nats://127.0.0.1:4222", "nats://loggia:pw@elsewhere:4222", "nats://you:pw@127.0.0.1:1"]
        {
            assert_eq!(Address::parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_taken_port_is_not_free() {
        let is_free_once_closed = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let address = Address { port: listener.local_addr().unwrap().port(), password: String::new() };
            assert!(!address.is_free());
            drop(listener);
            address.is_free()
        };
        // Another process may take the port of one.
        assert!((0..10).any(|_| is_free_once_closed()));
    }
}
