//! What the API serves: the read models, at which address, and what the site calls itself.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use api::{Access, Bursts, CommandClient, KeyAccess, Letters, Site, UnknownTiers};
use metering::{Meter, MeterSettings, Policy};
use read::models::{ModelKind, ReadModels};
use tokio::net::{TcpListener, TcpSocket};

use super::NodeBuilder;
use crate::clock;
use crate::compose::shared_settings::Comparison;
use crate::config::{Auth, Metering};
use crate::data_folder::Part;

/// How many connections the system keeps until they are taken; it may keep fewer (net.core.somaxconn).
const BACKLOG: u32 = 4_096;

impl NodeBuilder {
    /// Takes the address of the API.
    pub async fn bind(&mut self) -> Result<TcpListener> {
        let address = self.config.server.listen;
        let listener = listen(address).with_context(|| {
            format!("listen: {address} cannot be taken; stop what uses it, or choose another with --listen")
        })?;
        self.listens_at = Some(listener.local_addr()?);
        Ok(listener)
    }

    /// Gives the site the texts of the demo catalog where none are set.
    pub fn present_demo(&mut self) {
        let texts = &mut self.config.site;
        texts.name.get_or_insert_with(|| "Loggia demo".to_owned());
        texts.tagline.get_or_insert_with(|| "Projects worth looking at twice.".to_owned());
        let about = "Invented architecture, interiors, design, photography and art, to try Loggia with.";
        texts.about.get_or_insert_with(|| about.to_owned());
    }

    /// The site as answers speak of it.
    pub(super) fn site(&self) -> Result<Site> {
        Ok(self.site_address().parse::<Site>()?.with_texts(self.config.site.texts()))
    }

    /// The site's own address: as it is set, or where this process listens, or is to listen.
    pub(super) fn site_address(&self) -> String {
        let address = self.listens_at.unwrap_or(self.config.server.listen);
        self.config.site.public_url.clone().unwrap_or_else(|| format!("http://{address}"))
    }

    /// Tells scripts and commands where the API listens, unless another process serves on the folder.
    pub(super) fn announce_api(&mut self, address: SocketAddr) -> Result<()> {
        self.api = self.data.announce_api(address)?;
        if self.api.is_none() {
            let (file, first) = (self.data.api_address(), self.data.serves_at());
            tracing::warn!(
                "another process serves on this data folder, at {}; {} keeps its address, and not that of this process, \
                 {address}",
                first.as_deref().unwrap_or("an unknown address"),
                file.display()
            );
        }
        Ok(())
    }

    /// Compares the settings that all nodes share with those of the write side, where that is another process. A node that
    /// differs is not ready.
    pub(super) async fn compare_settings(&self, client: &async_nats::Client) {
        if self.held.contains(&Part::Write) {
            return;
        }
        let component = self.health.component("settings").patience(Duration::ZERO).with_public_reasons();
        let comparison = Comparison::new(client.clone(), &self.config, component, self.mails.clone());
        // Once before the node may be ready.
        comparison.compare().await;
        let stop = self.lifecycle.stop.clone();
        self.lifecycle.spawn("the comparison of settings", async move {
            let _: Option<Infallible> = stop.run_until_cancelled(comparison.run()).await;
            Ok(())
        });
    }

    /// Who may call, as it is set; starts what counts their calls.
    pub(super) async fn access(&self, client: &async_nats::Client, address: SocketAddr) -> Result<Access> {
        if self.config.access.auth == Auth::Off {
            tracing::warn!("auth is off: everybody who reaches {address} may call, and nothing is counted");
            return Ok(Access::Open);
        }
        let policy = match self.config.limits.metering {
            Metering::Spool => Policy::Spool,
            Metering::Refuse => Policy::Refuse,
        };
        let settings = MeterSettings {
            folder: self.data.spool(),
            policy,
            spool_limit: self.config.limits.spool.0,
            tiers: self.config.access.tiers.clone(),
            health: self.health.clone(),
            clock: clock::system(),
        };
        // It reads all that a spool holds.
        let connection = client.clone();
        let meter = tokio::task::spawn_blocking(move || Meter::open(connection, settings)).await??;
        let metering = meter.clone().run(self.lifecycle.stop.clone());
        self.lifecycle.spawn("the spool", async move { Ok(metering.await?) });
        Ok(Access::Keys(Arc::new(KeyAccess {
            meter,
            tiers: self.config.access.tiers.clone(),
            bursts: Bursts::new(
                self.config.limits.burst_per_key,
                self.config.limits.burst_per_address,
                self.config.limits.keys_per_address,
            ),
            commands: CommandClient::new(client.clone()),
            letters: Letters { leave: self.mails.clone(), contact: self.config.accounts.contact.clone() },
            unknown_tiers: UnknownTiers::default(),
            proxies: self.config.http.trusted_proxies.clone(),
        })))
    }

    /// Opens the read models and follows each by itself, so that none waits for another.
    pub(super) fn readers(&self) -> ReadModels {
        let models = ReadModels::new(self.data.models(), clock::system());
        for model in ModelKind::ALL {
            let following = models.clone().follow(model, self.health.clone(), self.lifecycle.stop.clone());
            let following = async move {
                following.await;
                Ok(())
            };
            self.lifecycle.spawn(format!("the reader of the {} model", model.name()), following);
        }
        models
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As a listener that is bound at once: the port of a process that has just ended is free.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn connections_wait_until_they_are_taken() {
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        // The usual length of a queue, 128, would make the next one wait without end.
        let wanted = 400.min(most);
        let mut open = Vec::new();
        for number in 0..wanted {
            let connecting = tokio::net::TcpStream::connect(address);
            let connected = tokio::time::timeout(Duration::from_secs(20), connecting).await;
            open.push(connected.unwrap_or_else(|_| panic!("{number} are open")).unwrap());
        }
        assert_eq!(open.len(), wanted);
    }
}
