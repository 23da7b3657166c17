use futures::StreamExt;
use kit::nats::Nats;
use serde_json::json;

use super::*;
use settings::Sources;

/// Starts a node that has this model, one position further at each request.
async fn node(nats: &Nats, model: &'static str) -> Running {
    let client = nats.client().await;
    let mut requests = client.subscribe(subject::control("node", "status")).await.unwrap();
    client.flush().await.unwrap();
    tokio::spawn(async move {
        let mut position = 0;
        while let Some(request) = requests.next().await {
            position += 1;
            let status = json!([{"name": model, "generation": "1", "position": position, "lag": 0,
                "heartbeat": null, "parked": [], "skipped": 0, "bytes": 0}]);
            client.publish(request.reply.unwrap(), status.to_string().into()).await.unwrap();
        }
    });
    Running { pid: 1, nats_url: nats.url(), node: "node".into() }
}

#[tokio::test]
async fn the_wait_ends_when_the_keys_are_at_the_position() {
    let Some(nats) = Nats::start().await else { return };
    let (config, node) = (Config::read(&Sources::default()).unwrap(), node(&nats, MODEL).await);
    assert!(reached(&config, &node, Position(4)).await.unwrap());
    let error = reached(&config, &Running { node: "nobody".into(), ..node }, Position(4)).await.unwrap_err();
    assert!(error.to_string().starts_with("it does not answer"), "{error:#}");
}

#[tokio::test]
async fn a_node_without_keys_is_not_waited_for() {
    let Some(nats) = Nats::start().await else { return };
    let (config, node) = (Config::read(&Sources::default()).unwrap(), node(&nats, "search").await);
    assert!(!reached(&config, &node, Position(4)).await.unwrap());
}
