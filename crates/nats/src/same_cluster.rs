//! Whether servers that are named together belong together: a client that changes between two clusters would see two
//! different pasts.

use std::time::Duration;

use async_nats::{ConnectOptions, ServerAddr, ServerInfo};
use futures::future::join_all;

/// How long a server may take; one that does not answer is passed over.
const ANSWERED: Duration = Duration::from_secs(2);

/// Two of the addresses lead to different clusters.
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

/// A server that answered, and how it is named in the setting.
#[derive(Debug, Clone)]
struct Answered {
    address: String,
    server: String,
    cluster: Option<String>,
}

/// Asks each server who it is.
pub(crate) async fn check(servers: Vec<(ServerAddr, ConnectOptions)>) -> Result<(), DifferentClusters> {
    if servers.len() < 2 {
        return Ok(());
    }
    let answers = servers.into_iter().map(|(address, options)| async move {
        let shown = format!("{}:{}", address.host(), address.port());
        let options = options.ignore_discovered_servers().max_reconnects(1).connection_timeout(ANSWERED);
        let client = tokio::time::timeout(ANSWERED, options.connect(address)).await.ok()?.ok()?;
        let ServerInfo { server_id, cluster, .. } = client.server_info();
        Some(Answered { address: shown, server: server_id, cluster })
    });
    let answered: Vec<Answered> = join_all(answers).await.into_iter().flatten().collect();
    judge(&answered)
}

fn judge(answered: &[Answered]) -> Result<(), DifferentClusters> {
    let Some((first, others)) = answered.split_first() else { return Ok(()) };
    // A server on its own has no cluster: then both addresses must be the same one.
    let apart = |other: &&Answered| match (&first.cluster, &other.cluster) {
        (Some(one), Some(other)) => one != other,
        _ => first.server != other.server,
    };
    match others.iter().find(apart) {
        None => Ok(()),
        Some(other) => Err(DifferentClusters {
            one: first.address.clone(),
            its: described(first),
            other: other.address.clone(),
            others: described(other),
        }),
    }
}

fn described(server: &Answered) -> String {
    match &server.cluster {
        Some(cluster) => format!("of the cluster “{cluster}”"),
        None => "in no cluster".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(address: &str, server: &str, cluster: Option<&str>) -> Answered {
        Answered { address: address.into(), server: server.into(), cluster: cluster.map(str::to_owned) }
    }

    #[test]
    fn servers_of_one_cluster_and_two_names_of_one_server_belong_together() {
        let one = [answered("a", "1", Some("x")), answered("b", "2", Some("x"))];
        assert_eq!(judge(&one), Ok(()));
        let same = [answered("a", "1", None), answered("b", "1", None)];
        assert_eq!(judge(&same), Ok(()));
        assert_eq!(judge(&[]), Ok(()));
    }

    #[test]
    fn servers_of_two_clusters_are_refused() {
        let two = [answered("a:1", "1", Some("x")), answered("b:2", "2", Some("y"))];
        assert_eq!(
            judge(&two).unwrap_err().to_string(),
            "nats_url names servers that do not belong together: a:1 is of the cluster “x”, b:2 is of the cluster “y”; \
             name servers of one cluster"
        );
        let alone = [answered("a:1", "1", Some("x")), answered("b:2", "2", None)];
        assert_eq!(
            judge(&alone).unwrap_err().to_string(),
            "nats_url names servers that do not belong together: a:1 is of the cluster “x”, b:2 is in no cluster; name \
             servers of one cluster"
        );
        assert!(judge(&[answered("a", "1", None), answered("b", "2", None)]).is_err());
    }
}
