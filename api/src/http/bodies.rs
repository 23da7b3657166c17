//! Request bodies in memory, within limits. A body takes seconds to arrive if its client wants, so what is reserved for bodies could be
//! held by anyone who sends them slowly. Therefore callers with a key, those without one, forms and payment notices have a reserve
//! each, and in each of them an address and a key have a share.

use std::net::IpAddr;
use std::sync::Arc;

use answers::auth::principal::Principal;
use answers::auth::proxies::TrustedProxies;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::shares::{Holder, PARTS, Share, Shares};

/// The maximum size in bytes of a form.
const LARGEST_FORM: usize = 16 * 1024;
/// The maximum size in bytes of a payment notice.
const LARGEST_NOTICE: usize = 256 * 1024;
/// The maximum size in bytes of an MCP message without a key: two KiB for each message of the largest batch, and a share has room for
/// a dozen.
const LARGEST_WITHOUT_KEY: usize = 64 * 1024;

/// What a body is, and so which reserve it counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// A message of a caller with a key, or of any caller of a node where nothing is counted.
    Message,
    /// A message of a caller without a key.
    MessageWithoutKey,
    /// A form.
    Form,
    /// A payment notice.
    Notice,
}

/// The memory for all request bodies.
#[derive(Debug)]
pub(crate) struct BodyMemory {
    messages: Arc<Shares>,
    without_key: Arc<Shares>,
    forms: Arc<Shares>,
    notices: Arc<Shares>,
    proxies: TrustedProxies,
}

/// A body in memory. It counts against the memory of its kind until it is dropped.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    _held: Share,
}

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is too large.
    TooLarge,
    /// The memory for bodies is used up, or the caller's share of it.
    OutOfMemory,
    /// The client closed the connection, or the framing is invalid.
    Broken,
}

impl BodyKind {
    /// Returns the kind of a message of a caller.
    pub(super) fn message_of(principal: &Principal) -> BodyKind {
        match principal {
            Principal::Anonymous => BodyKind::MessageWithoutKey,
            Principal::Unmetered | Principal::ApiKey(_) => BodyKind::Message,
        }
    }

    /// Returns the maximum size in bytes.
    pub(super) fn largest(self) -> usize {
        match self {
            BodyKind::Message => mcp::LARGEST_BODY,
            BodyKind::MessageWithoutKey => LARGEST_WITHOUT_KEY,
            BodyKind::Form => LARGEST_FORM,
            BodyKind::Notice => LARGEST_NOTICE,
        }
    }

    /// Returns its part of the memory: half for callers with a key, who send the largest messages, and a quarter for those without.
    fn part(self, bytes: usize) -> usize {
        match self {
            BodyKind::Message => bytes / 2,
            BodyKind::MessageWithoutKey => bytes / 4,
            BodyKind::Form | BodyKind::Notice => bytes / 8,
        }
    }

    /// Returns its reserve of the memory. A share has room for at least one body.
    fn reserve(self, bytes: usize) -> Arc<Shares> {
        let part = self.part(bytes);
        Shares::new(part, (part / PARTS).max(self.largest()))
    }
}

impl BodyMemory {
    /// Returns memory for this number of bytes. Proxies forward the bodies of many, and have no share of their own.
    pub(crate) fn new(bytes: usize, proxies: TrustedProxies) -> BodyMemory {
        BodyMemory {
            messages: BodyKind::Message.reserve(bytes),
            without_key: BodyKind::MessageWithoutKey.reserve(bytes),
            forms: BodyKind::Form.reserve(bytes),
            notices: BodyKind::Notice.reserve(bytes),
            proxies,
        }
    }

    /// Returns a share, still empty, for a body of this caller at this address.
    pub(super) fn share(&self, kind: BodyKind, principal: &Principal, address: IpAddr) -> Share {
        let reserve = match kind {
            BodyKind::Message => &self.messages,
            BodyKind::MessageWithoutKey => &self.without_key,
            BodyKind::Form => &self.forms,
            BodyKind::Notice => &self.notices,
        };
        // Keys cost nothing, so a caller with many of them has the share of an address, too.
        let mut holders = Holder::of_address(address, &self.proxies);
        holders.extend(principal.key_id().map(Holder::Key));
        reserve.of(holders)
    }

    /// Returns the address of the caller: that of the peer, or the one that a trusted proxy names.
    pub(super) fn caller(&self, peer: IpAddr, headers: &http::HeaderMap) -> IpAddr {
        self.proxies.caller(peer, headers)
    }
}

/// Reads a body of at most `limit` bytes to its end; fails as soon as it is known to be larger, or its share is used up.
pub(super) async fn read(
    mut body: Incoming,
    mut held: Share,
    limit: usize,
) -> Result<ReceivedBody, BodyError> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(BodyError::TooLarge);
        }
        if !held.take(data.len()) {
            return Err(BodyError::OutOfMemory);
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(ReceivedBody { bytes: data, _held: held });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(ReceivedBody { bytes: bytes.freeze(), _held: held })
}

/// Reads a body of at most `limit` bytes without keeping it, so it needs no memory.
pub(super) async fn discard(mut body: Incoming, limit: usize) -> Result<(), BodyError> {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        length += data.len();
        if length > limit {
            return Err(BodyError::TooLarge);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use answers::auth::access::ApiKey;

    use super::*;

    const MEGABYTE: usize = 1 << 20;

    fn key(id: &str) -> Principal {
        let tier = Arc::new("free".parse().unwrap());
        Principal::ApiKey(ApiKey { key_id: id.parse().unwrap(), tier, limit: 200 })
    }

    /// Takes the largest body of a kind from each of these callers as often as there is room, and returns how many were taken.
    fn fill(
        memory: &BodyMemory,
        kind: BodyKind,
        callers: &[(&Principal, &str)],
        held: &mut Vec<Share>,
    ) -> usize {
        let mut taken = 0;
        for (principal, address) in callers {
            loop {
                let mut share = memory.share(kind, principal, address.parse().unwrap());
                if !share.take(kind.largest()) {
                    break;
                }
                held.push(share);
                taken += 1;
            }
        }
        taken
    }

    #[test]
    fn an_address_and_a_key_hold_a_twentieth_of_a_reserve() {
        let memory = BodyMemory::new(64 * MEGABYTE, TrustedProxies::default());
        let (one, other) = (key("Ab3dEf9h"), key("Bc4eFg0i"));
        let mut held = Vec::new();
        let mut fill = |kind, callers: &[(&Principal, &str)]| fill(&memory, kind, callers, &mut held);
        let stranger = Principal::Anonymous;
        assert_eq!(fill(BodyKind::MessageWithoutKey, &[(&stranger, "198.51.100.7")]), 12);
        assert_eq!(
            fill(BodyKind::MessageWithoutKey, &[(&stranger, "198.51.100.8")]),
            12,
            "others have theirs"
        );
        assert_eq!(fill(BodyKind::Message, &[(&one, "198.51.100.7"), (&one, "198.51.100.8")]), 6, "by key");
        assert_eq!(fill(BodyKind::Message, &[(&other, "198.51.100.7")]), 0, "and by address");
        assert_eq!(fill(BodyKind::Message, &[(&other, "198.51.100.9")]), 6);
        assert_eq!(fill(BodyKind::Form, &[(&stranger, "198.51.100.7")]), 25);
        assert_eq!(fill(BodyKind::Notice, &[(&stranger, "198.51.100.7")]), 1);
        let networks = ["2001:db8:7:1::1", "2001:db8:7:1::2", "2001:db8:7:2::1", "2001:db8:7:3::1"];
        let of_site: Vec<usize> = networks
            .iter()
            .map(|address| fill(BodyKind::MessageWithoutKey, &[(&stranger, address)]))
            .collect();
        assert_eq!(of_site, [12, 0, 12, 1], "a network has a share, and a site has two");
    }

    #[test]
    fn strangers_fill_their_own_reserves_alone() {
        let memory = BodyMemory::new(64 * MEGABYTE, "10.0.0.0/8".parse().unwrap());
        let mut held = Vec::new();
        let stranger = Principal::Anonymous;
        let addresses: Vec<String> = (1..=40).map(|host| format!("198.51.100.{host}")).collect();
        let callers: Vec<_> = addresses.iter().map(|address| (&stranger, address.as_str())).collect();
        for (kind, most) in [
            (BodyKind::MessageWithoutKey, 16 * MEGABYTE),
            (BodyKind::Form, 8 * MEGABYTE),
            (BodyKind::Notice, 8 * MEGABYTE),
        ] {
            let next = match kind {
                BodyKind::MessageWithoutKey => BodyKind::Form,
                BodyKind::Form => BodyKind::Notice,
                _ => BodyKind::Message,
            };
            assert_eq!(fill(&memory, kind, &callers, &mut held), most / kind.largest(), "{kind:?}");
            assert_eq!(
                fill(&memory, kind, &[(&stranger, "203.0.113.9")], &mut held),
                0,
                "{kind:?} are used up"
            );
            let mut share = memory.share(next, &key("Ab3dEf9h"), "203.0.113.9".parse().unwrap());
            assert!(share.take(next.largest()), "{next:?} are not");
        }
        let proxy = fill(&memory, BodyKind::Message, &[(&stranger, "10.0.0.7")], &mut held);
        assert_eq!(proxy, 32 * MEGABYTE / mcp::LARGEST_BODY, "a proxy has no share of its own");
        drop(held);
        assert_eq!(
            fill(&memory, BodyKind::Notice, &callers, &mut Vec::new()),
            32,
            "what was held is free again"
        );
    }
}
