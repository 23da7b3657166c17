//! The keeper of the log: whether it is this write side, and how the process follows its changes.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
#[cfg(feature = "eventstore")]
use event_log::LogLocation;
#[cfg(feature = "eventstore")]
use event_log::kurrent::KeeperWatch;
use process_role::ProcessRole;
use schemas::subject;

use super::NodeBuilder;
use crate::config::Auth;
use crate::store;
use crate::store::keeper::{Keeper, KeeperClaim};

/// How often it is checked whether another keeper is named, and whether the keeper listens.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

impl NodeBuilder {
    /// Logs who the keeper is, and in a role follows changes: the process ends when another keeper is named than at its start,
    /// since it would keep what it no longer may, or not begin to keep what it should. A process with forms for keys is not
    /// ready before its keeper listens.
    pub(super) fn follow_keeper(&mut self, client: &async_nats::Client, keeper: &Keeper, claim: KeeperClaim) {
        self.keeper = Some(keeper.here);
        if claim == KeeperClaim::None {
            return;
        }
        let sentence = keeper.sentence(&store::folder(&self.config));
        if !keeper.here {
            tracing::warn!(
                "{sentence}; this process accepts the commands of editors, but no keys and no pictures, and copies no calls into a \
                 ledger; `loggia store keeper --move` makes it the keeper"
            );
        }
        self.watch_keeper(keeper);
        if !keeper.here && self.role == ProcessRole::Up && self.config.access.auth == Auth::Keys {
            self.await_keeper(client);
        }
    }

    /// Ends the process when the log names another keeper than at the start.
    fn watch_keeper(&self, keeper: &Keeper) {
        #[cfg(feature = "eventstore")]
        if let Some(LogLocation::EventStoreDb(address)) = self.config.store.place.clone() {
            let (stop, before, own) = (self.lifecycle.stop.clone(), keeper.vault, keeper.own);
            let watching = async move {
                // A log that cannot be reached is reported elsewhere.
                let mut watch = loop {
                    match KeeperWatch::connect(&address).await {
                        Ok(watch) => break watch,
                        Err(_) => tokio::time::sleep(CHECK_INTERVAL).await,
                    }
                };
                loop {
                    tokio::time::sleep(CHECK_INTERVAL).await;
                    if let Ok(named) = watch.named().await
                        && named != before
                        && (named == own || before == own)
                    {
                        anyhow::bail!("the log has another keeper now; start this process again");
                    }
                }
            };
            self.lifecycle.spawn("the watch on the keeper of the log", async move {
                stop.run_until_cancelled(watching).await.unwrap_or(Ok(()))
            });
        }
        #[cfg(not(feature = "eventstore"))]
        let _ = keeper;
    }

    /// Reports to health whether a keeper listens on NATS.
    fn await_keeper(&self, client: &async_nats::Client) {
        let mut component =
            self.health.component("keeper").grace_period(Duration::ZERO).with_public_reasons();
        let (client, stop) = (client.clone(), self.lifecycle.stop.clone());
        let waiting = async move {
            loop {
                match listens(&client).await {
                    Some(true) => {
                        component.recovered();
                        // Its later absence is no reason to send requests to other nodes, which lack it too.
                        component = component.grace_period(Duration::MAX);
                    }
                    // The start logged which folder it was.
                    Some(false) => component.failed(
                        "no keeper listens on NATS, so forms for keys answer 503 and calls are not copied into a ledger; \
                         start the keeper, or move it with `loggia store keeper`",
                    ),
                    None => {}
                }
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        };
        self.lifecycle.spawn("the wait for the keeper", async move {
            let _: Option<()> = stop.run_until_cancelled(waiting).await;
        });
    }
}

/// Returns whether a process accepts commands for links, as only the keeper does; `None` if NATS does not answer. The request is
/// not a valid command, and changes nothing.
async fn listens(client: &async_nats::Client) -> Option<bool> {
    match client.request(subject::command("open_link"), "".into()).await {
        Ok(_) => Some(true),
        Err(error) if error.kind() == RequestErrorKind::NoResponders => Some(false),
        Err(_) => None,
    }
}
