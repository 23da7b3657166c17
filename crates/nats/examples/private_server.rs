//! Runs a private nats-server in a temporary folder, sends a message through it, and stops it.
//!
//! `cargo run -p nats --example private_server`; nats-server comes from `bin/setup` or `PATH`.

use std::error::Error;

use futures::StreamExt;
use nats::server::{NatsServer, Options};
use nats::{requirements, url};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let server = NatsServer::start(Options::new(folder.path().join("nats"))).await?;
    let client = url::connect_options(&server.url())?.connect(format!("nats://{}", server.address())).await?;
    requirements::check(&client)?;
    let mut messages = client.subscribe("greetings").await?;
    client.publish("greetings", "hello".into()).await?;
    let received = messages.next().await.ok_or("the subscription ended")?;
    assert_eq!(received.payload, "hello");
    server.stop().await;
    Ok(())
}
