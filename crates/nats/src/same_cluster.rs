//! Checks that all configured servers belong to one cluster: a client that reconnects to another cluster would see different streams.

use std::time::Duration;

use async_nats::{ConnectOptions, ServerAddr, ServerInfo};
use futures::future::join_all;

/// The time in which a server must answer; one that does not is skipped.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Two of the addresses belong to different clusters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "nats_url names servers that do not belong together: {one} is {its}, {other} is {others}; name servers of one cluster"
)]
pub struct DifferentClusters {
    one: String,
    its: String,
    other: String,
    others: String,
}

/// The identity of a server that answered.
#[derive(Debug, Clone)]
struct ServerIdentity {
    /// Host and port in the setting.
    address: String,
    /// The id that the server states.
    server: String,
    cluster: Option<String>,
}

/// Asks each server for its id and cluster, and checks that all belong to one cluster.
pub(crate) async fn check(servers: Vec<(ServerAddr, ConnectOptions)>) -> Result<(), DifferentClusters> {
    if servers.len() < 2 {
        return Ok(());
    }
    let queries = servers.into_iter().map(|(address, options)| async move {
        let shown = format!("{}:{}", address.host(), address.port());
        let options = options.ignore_discovered_servers().max_reconnects(1).connection_timeout(TIMEOUT);
        let client = tokio::time::timeout(TIMEOUT, options.connect(address)).await.ok()?.ok()?;
        let ServerInfo { server_id, cluster, .. } = client.server_info();
        Some(ServerIdentity { address: shown, server: server_id, cluster })
    });
    let identities: Vec<ServerIdentity> = join_all(queries).await.into_iter().flatten().collect();
    check_identities(&identities)
}

fn check_identities(identities: &[ServerIdentity]) -> Result<(), DifferentClusters> {
    let Some((first, others)) = identities.split_first() else { return Ok(()) };
    // A server on its own has no cluster: then both addresses must lead to the same server.
    let is_elsewhere = |other: &&ServerIdentity| match (&first.cluster, &other.cluster) {
        (Some(one), Some(other)) => one != other,
        _ => first.server != other.server,
    };
    match others.iter().find(is_elsewhere) {
        None => Ok(()),
        Some(other) => Err(DifferentClusters {
            one: first.address.clone(),
            its: cluster_text(first),
            other: other.address.clone(),
            others: cluster_text(other),
        }),
    }
}

fn cluster_text(server: &ServerIdentity) -> String {
    match &server.cluster {
        Some(cluster) => format!("of the cluster “{cluster}”"),
        None => "in no cluster".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(address: &str, server: &str, cluster: Option<&str>) -> ServerIdentity {
        ServerIdentity { address: address.into(), server: server.into(), cluster: cluster.map(str::to_owned) }
    }

    #[test]
    fn servers_of_one_cluster_and_two_names_of_one_server_are_accepted() {
        let one = [identity("a", "1", Some("x")), identity("b", "2", Some("x"))];
        assert_eq!(check_identities(&one), Ok(()));
        let same = [identity("a", "1", None), identity("b", "1", None)];
        assert_eq!(check_identities(&same), Ok(()));
        assert_eq!(check_identities(&[]), Ok(()));
    }

    #[test]
    fn servers_of_two_clusters_are_refused() {
        let two = [identity("a:1", "1", Some("x")), identity("b:2", "2", Some("y"))];
        assert_eq!(
            check_identities(&two).unwrap_err().to_string(),
            "nats_url names servers that do not belong together: a:1 is of the cluster “x”, b:2 is of the cluster “y”; \
             name servers of one cluster"
        );
        let alone = [identity("a:1", "1", Some("x")), identity("b:2", "2", None)];
        assert_eq!(
            check_identities(&alone).unwrap_err().to_string(),
            "nats_url names servers that do not belong together: a:1 is of the cluster “x”, b:2 is in no cluster; name \
             servers of one cluster"
        );
        assert!(check_identities(&[identity("a", "1", None), identity("b", "2", None)]).is_err());
    }
}
