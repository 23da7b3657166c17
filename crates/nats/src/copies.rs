//! The servers that keep copies of a stream, and which of them are missing. A server that led a stream answers questions about it
//! also after the majority has gone, though it stores nothing any more: only this tells.

use std::time::Duration;

use async_nats::jetstream::stream::Info;

/// A server that its leader has not heard for so long is missing: each is heard every second.
const SILENCE: Duration = Duration::from_secs(5);

/// The servers that keep copies of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies {
    /// Their number.
    pub servers: usize,
    /// The names of those that are missing, sorted.
    pub missing: Vec<String>,
}

impl Copies {
    /// Returns the servers as the leader of the stream sees them.
    pub fn of(info: &Info) -> Copies {
        let peers = info.cluster.iter().flat_map(|cluster| &cluster.replicas);
        let is_missing = |active: Duration, offline: bool| offline || active >= SILENCE;
        Copies::from_peers(peers.map(|peer| (peer.name.as_str(), is_missing(peer.active, peer.offline))))
    }

    /// Returns the leader and these other servers, each with whether it is missing.
    fn from_peers<'p>(peers: impl Iterator<Item = (&'p str, bool)>) -> Copies {
        let peers: Vec<(&str, bool)> = peers.collect();
        let mut missing: Vec<String> =
            peers.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| (*name).to_owned()).collect();
        missing.sort();
        Copies { servers: peers.len() + 1, missing }
    }

    /// Returns whether more than half of the servers are there, without which nothing is stored.
    pub fn have_majority(&self) -> bool {
        2 * (self.servers - self.missing.len()) > self.servers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_is_more_than_half() {
        let of = |missing: &[bool]| {
            let names = ["n3", "n2", "n5", "n4"];
            Copies::from_peers(names.into_iter().zip(missing.iter().copied()))
        };
        assert_eq!(of(&[]), Copies { servers: 1, missing: vec![] });
        let both = of(&[true, true]);
        assert_eq!(both, Copies { servers: 3, missing: vec!["n2".into(), "n3".into()] });
        let majority = |missing: &[bool]| of(missing).have_majority();
        assert!(majority(&[]) && majority(&[false, true]) && majority(&[false, true, true, false]));
        assert!(!majority(&[true, true]) && !majority(&[true, true, true, false]) && !majority(&[true]));
    }
}
