//! Shutdown of the server.

use std::time::Duration;

use tokio::net::TcpStream;

use super::*;
use crate::{Drained, Limits};

#[tokio::test]
async fn requests_under_way_are_finished() {
    let node = Node::start().await;
    let (mut busy, mut idle, mut begun) = (node.connect().await, node.connect().await, node.connect().await);
    assert_eq!(idle.ask("GET", "/healthz", "").await.status, 200);
    begun.send("GET /healthz HTTP/1.1\r\nHost: test\r\n").await;
    busy.send("GET /stopping HTTP/1.1\r\nHost: test\r\n\r\n").await;
    begun.is_read().await;
    busy.is_read().await;
    node.stop.cancel();
    assert!(idle.is_closed().await, "an idle connection is closed at once");
    assert!(TcpStream::connect(node.address).await.is_err(), "no new connection is accepted");
    begun.send("\r\n").await;
    assert_eq!(begun.reply("GET").await.status, 200);
    let reply = busy.reply("GET").await;
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
    assert_eq!(node.served.await.unwrap(), Drained { cut: 0 });
}

#[tokio::test]
async fn slow_requests_are_aborted() {
    let node = Node::start_with(Limits { drain: Duration::from_millis(100), ..Limits::default() }).await;
    let mut busy = node.connect().await;
    busy.send("GET /slow HTTP/1.1\r\nHost: test\r\n\r\n").await;
    busy.is_read().await;
    node.stop.cancel();
    assert_eq!(node.served.await.unwrap(), Drained { cut: 1 });
    assert!(busy.is_closed().await);
}
