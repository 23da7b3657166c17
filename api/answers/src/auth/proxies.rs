//! The address of a caller behind proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// The address of the other end of the connection, possibly a proxy's.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose `X-Forwarded-For` is trusted; that of all others is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

/// A part of the list that is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is neither an address nor a network such as 10.0.0.0/8")]
pub struct InvalidProxy(String);

impl FromStr for TrustedProxies {
    type Err = InvalidProxy;

    /// Parses a list separated by commas, which may be empty.
    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts
            .map(|part| {
                part.parse()
                    .or_else(|_| part.parse::<IpAddr>().map(IpNet::from))
                    .map_err(|_| InvalidProxy(part.to_owned()))
            })
            .collect::<Result<_, _>>()
            .map(TrustedProxies)
    }
}

impl TrustedProxies {
    /// Returns the address of the caller: the last hop that is not a trusted proxy.
    pub fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut caller = peer.to_canonical();
        if !self.trusts(caller) {
            return caller;
        }
        let lines: Vec<&str> =
            headers.get_all(&FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or("")).collect();
        for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
            // No trusted proxy can have written a malformed hop: the chain ends at the proxy that passed it on.
            let Some(hop) = address_of(hop.trim()) else { break };
            caller = hop.to_canonical();
            if !self.trusts(caller) {
                break;
            }
        }
        caller
    }

    /// Returns whether an address is one of these proxies.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Returns the address of a hop; some load balancers append the port of the caller, and put brackets around IPv6.
fn address_of(hop: &str) -> Option<IpAddr> {
    if let Ok(address) = hop.parse() {
        return Some(address);
    }
    if let Ok(with_port) = hop.parse::<SocketAddr>() {
        return Some(with_port.ip());
    }
    hop.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

/// Returns the network that limits by address apply to: an IPv6 caller has a whole /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

/// Returns the IPv6 site of an address, a /48 with 65,536 networks; `None` for IPv4.
pub fn ipv6_site_of(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => Some(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 80 << 80))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(trusted: &str, peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(&FORWARDED_FOR, line.parse().unwrap());
        }
        let trusted: TrustedProxies = trusted.parse().unwrap();
        trusted.caller(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_the_caller() {
        for (trusted, peer, forwarded, expected) in [
            ("", "203.0.113.9", &["198.51.100.7"][..], "203.0.113.9"),
            ("10.0.0.0/8", "203.0.113.9", &["198.51.100.7"], "203.0.113.9"),
            ("10.0.0.0/8", "10.1.2.3", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.0/8", "10.1.2.3", &[], "10.1.2.3"),
            // The leftmost is what the caller wrote.
            ("10.0.0.0/8", "10.1.2.3", &["6.6.6.6, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.0/8", "10.1.2.3", &["6.6.6.6", "198.51.100.7, 10.9.9.9"], "198.51.100.7"),
            ("10.0.0.0/8", "10.1.2.3", &["10.4.4.4, 10.5.5.5"], "10.4.4.4"),
            ("10.0.0.0/8", "10.1.2.3", &["198.51.100.7, unknown, 10.9.9.9"], "10.9.9.9"),
            ("10.0.0.0/8", "10.1.2.3", &["nonsense"], "10.1.2.3"),
            ("10.0.0.0/8", "10.1.2.3", &["198.51.100.7:5678"], "198.51.100.7"),
            ("10.0.0.0/8", "10.1.2.3", &["[2001:db8::1]:443, 10.9.9.9:80"], "2001:db8::1"),
            ("10.0.0.0/8", "10.1.2.3", &["[2001:db8::1]"], "2001:db8::1"),
            ("10.0.0.0/8", "10.1.2.3", &["198.51.100.7:x"], "10.1.2.3"),
            ("127.0.0.1, ::1", "::ffff:127.0.0.1", &["2001:db8::7"], "2001:db8::7"),
        ] {
            assert_eq!(caller(trusted, peer, forwarded), expected, "{trusted} {peer} {forwarded:?}");
        }
    }

    #[test]
    fn a_wrong_part_of_the_list_is_named() {
        let error = "10.0.0.0/8, proxy.example".parse::<TrustedProxies>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "“proxy.example” is neither an address nor a network such as 10.0.0.0/8"
        );
    }

    #[test]
    fn an_ipv6_caller_is_limited_with_its_network() {
        let of = |address: &str| network_of(address.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("203.0.113.9"), "203.0.113.9");
        let site = |address: &str| ipv6_site_of(address.parse().unwrap()).map(|site| site.to_string());
        assert_eq!(site("2001:db8:1:2:3:4:5:6").as_deref(), Some("2001:db8:1::"));
        assert_eq!(site("203.0.113.9"), None);
    }
}
