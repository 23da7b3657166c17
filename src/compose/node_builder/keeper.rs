//! Whether this process keeps what is not in the log, and what it says where another one does.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
#[cfg(feature = "eventstore")]
use event_log::LogLocation;
#[cfg(feature = "eventstore")]
use event_log::kurrent::KeeperWatch;
use schemas::subject;
use write::nats_role::NatsRole;

use super::NodeBuilder;
use crate::config::Auth;
use crate::store;
use crate::store::keeper::{Keeper, Naming};

/// How often it is looked whether another keeper is named, and whether the keeper listens.
const LOOK: Duration = Duration::from_secs(5);

impl NodeBuilder {
    /// Says who the keeper is. A role goes on looking: it ends when another vault is named than at its start, for it
    /// would go on keeping what it may not, or not begin to. One with forms for keys is not ready before it has heard
    /// of its keeper.
    pub(super) fn follow_keeper(&mut self, client: &async_nats::Client, keeper: &Keeper, naming: Naming) {
        self.keeper = Some(keeper.here);
        if naming == Naming::None {
            return;
        }
        let said = keeper.sentence(&store::folder(&self.config));
        if !keeper.here {
            tracing::warn!(
                "{said}; this process takes what editors write, no keys and no pictures, and counts no calls into a ledger; \
                 `loggia store keeper --move` makes it the keeper"
            );
        }
        self.watch_naming(keeper);
        if !keeper.here && self.role == NatsRole::Up && self.config.access.auth == Auth::Keys {
            self.await_keeper(client);
        }
    }

    /// Ends the process when the log names another keeper than it did.
    fn watch_naming(&self, keeper: &Keeper) {
        #[cfg(feature = "eventstore")]
        if let Some(LogLocation::EventStoreDb(address)) = self.config.store.place.clone() {
            let (stop, before, own) = (self.lifecycle.stop.clone(), keeper.vault, keeper.own);
            let watching = async move {
                // A log that cannot be asked shows elsewhere.
                let mut watch = loop {
                    match KeeperWatch::connect(&address).await {
                        Ok(watch) => break watch,
                        Err(_) => tokio::time::sleep(LOOK).await,
                    }
                };
                loop {
                    tokio::time::sleep(LOOK).await;
                    if let Ok(named) = watch.named().await
                        && named != before
                        && (named == own || before == own)
                    {
                        anyhow::bail!(
                            "another vault is named as the keeper of the log now; start this process again"
                        );
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

    /// Reports whether a keeper listens on NATS.
    fn await_keeper(&self, client: &async_nats::Client) {
        let mut component = self.health.component("keeper").patience(Duration::ZERO).with_public_reasons();
        let (client, stop) = (client.clone(), self.lifecycle.stop.clone());
        let waiting = async move {
            loop {
                match listens(&client).await {
                    Some(true) => {
                        component.recovered();
                        // From now on it is no reason to send requests elsewhere: the other nodes miss it too.
                        component = component.patience(Duration::MAX);
                    }
                    // Which folder it was is in the log since the start.
                    Some(false) => component.failed(
                        "no keeper listens on NATS, so forms for keys say 503 and calls are not copied into a ledger; \
                         start the keeper, or move it with `loggia store keeper`",
                    ),
                    None => {}
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        self.lifecycle.spawn("the wait for the keeper", async move {
            let _: Option<()> = stop.run_until_cancelled(waiting).await;
            Ok(())
        });
    }
}

/// Whether anything takes commands on links, which only the keeper does; nothing where that cannot be said. What is sent
/// is no command, and changes nothing.
async fn listens(client: &async_nats::Client) -> Option<bool> {
    match client.request(subject::command("open_link"), "".into()).await {
        Ok(_) => Some(true),
        Err(error) if error.kind() == RequestErrorKind::NoResponders => Some(false),
        Err(_) => None,
    }
}
