//! Nodes that require keys.

use jiff::Timestamp;
use schemas::usage::Surface;

use super::{Node, Settings, filled};
use crate::tests::keyed;
use crate::{Limits, RateLimits};

impl Node {
    /// A node with the small catalog that requires keys, of which one is issued.
    pub(in crate::tests) async fn start_with_keys(limits: Limits, rate_limits: RateLimits) -> Node {
        let folder = filled().await;
        keyed::issue(folder.path()).await;
        let access = keyed::access(folder.path(), rate_limits).await;
        Node::serve(folder, Settings { limits, access, ..Settings::default() }).await
    }

    /// The same, and the key is used up.
    pub(in crate::tests) async fn start_used_up(limits: Limits, rate_limits: RateLimits) -> Node {
        Node::start_counted(limits, rate_limits, 200).await
    }

    /// The same, and so many of the 200 calls of the key are counted.
    pub(in crate::tests) async fn start_counted(limits: Limits, rate_limits: RateLimits, calls: u8) -> Node {
        let folder = filled().await;
        keyed::issue(folder.path()).await;
        keyed::count(folder.path(), calls).await;
        let access = keyed::access(folder.path(), rate_limits).await;
        Node::serve(folder, Settings { limits, access, ..Settings::default() }).await
    }

    /// The same, and so many calls of the key are counted at each of these times.
    pub(in crate::tests) async fn start_counted_at(counted: &[(Timestamp, Surface, u8)]) -> Node {
        let folder = filled().await;
        keyed::issue(folder.path()).await;
        keyed::count_all(folder.path(), counted).await;
        let access = keyed::access(folder.path(), RateLimits::new(0, 0, 0)).await;
        Node::serve(folder, Settings { access, ..Settings::default() }).await
    }
}
