//! The guard against server-side request forgery (SSRF): which IP addresses a URL of a stranger may lead to. None of the operator's
//! own machines may be reached, so an address that is not known to be public is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether the address is a unicast address of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns whether the address is outside the special-purpose blocks of IANA.
fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        // This network, loopback, and private networks.
        [0 | 10 | 127, ..] | [172, 16..=31, ..] | [192, 168, ..]
        // Carrier-grade NAT, link-local (the metadata services of clouds), protocol assignments.
        | [100, 64..=127, ..] | [169, 254, ..] | [192, 0, 0, _]
        // Documentation.
        | [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _]
        // Relays from IPv4 to IPv6, benchmarks.
        | [192, 88, 99, _] | [198, 18..=19, ..]
        // Multicast, reserved, broadcast.
        | [224..=255, ..]
    )
}

/// Returns whether the address is global unicast outside its special-purpose blocks; an embedded IPv4 address decides.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Mapped, and translated by NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Protocol assignments (Teredo and benchmarks among them), documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_blocks_are_not_public_and_their_neighbours_are() {
        let table = [
            ("0.0.0.0 0.255.255.255", "1.0.0.1"),
            ("10.0.0.1 10.255.255.255", "9.255.255.255 11.0.0.0"),
            ("100.64.0.0 100.127.255.255", "100.63.255.255 100.128.0.0"),
            ("127.0.0.1 127.255.255.254", "126.1.1.1 128.0.0.1"),
            ("169.254.0.0 169.254.169.254", "169.253.255.255 169.255.0.0"),
            ("172.16.0.0 172.31.255.255", "172.15.255.255 172.32.0.0"),
            ("192.0.0.8 192.0.2.1", "192.0.1.1 192.0.3.1"),
            ("192.88.99.1 192.168.0.0 192.168.255.255", "192.88.98.1 192.167.255.255 192.169.0.0"),
            ("198.18.0.0 198.19.255.255 198.51.100.7", "198.17.255.255 198.20.0.0 198.51.101.7"),
            ("203.0.113.1", "203.0.112.1 203.0.114.1"),
            ("224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255", "223.255.255.255"),
            (":: ::1 ::7f00:1 ::808:808", "2a00:1450::1"),
            ("::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254", "::ffff:8.8.8.8"),
            ("64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::808:808", "64:ff9b::808:808"),
            ("2002:a00:1:: 2002:7f00:1::1 2002:c0a8:101::1", "2002:808:808::1"),
            ("100::1 fc00::1 fdff::1 fe80::1 fec0::1 ff02::1", "2606:4700::1111"),
            ("2001::1 2001:2::1 2001:1ff::1 2001:db8::1", "2001:200::1 2001:db9::1 2001:4860:4860::8888"),
            ("3fff::1 3fff:fff::1 4000::1 5f00::1 1fff::1", "3fff:1000::1 2000::1"),
        ];
        for (private, public) in table {
            for (addresses, expected) in [(private, false), (public, true)] {
                for address in addresses.split(' ') {
                    assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
                }
            }
        }
    }
}
