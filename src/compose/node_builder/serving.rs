//! The parts of the API: its address, the site, who may call, the read models, and the webhook of payments.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use api::{
    Access, CommandClient, DailyFigures, KeyAccess, MailStatus, Metrics, PaymentWebhook, RateLimits, Site,
    TrustedProxies, UnknownTiers,
};
use data_folder::Part;
use metering::{Meter, MeterSettings};
use payments::{Offers, Payments};
use process_role::ProcessRole;
use read::models::{ModelKind, ReadModels};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;

use super::{LEDGER_PHASE, NodeBuilder};
use crate::compose::shared_settings::Comparison;
use crate::config::Auth;
use crate::process;

/// The number of connections that the system queues until they are accepted; it may queue fewer (net.core.somaxconn).
const BACKLOG: u32 = 4_096;

impl NodeBuilder {
    /// Binds the address of the API.
    pub async fn bind(&mut self) -> Result<TcpListener> {
        let address = self.config.server.listen;
        let listener = listen(address).with_context(|| {
            format!("listen: {address} cannot be taken; stop what uses it, or choose another with --listen")
        })?;
        self.listens_at = Some(listener.local_addr()?);
        Ok(listener)
    }

    /// Gives the site the texts of the demo catalog if none are set.
    pub fn present_demo(&mut self) {
        let texts = &mut self.config.site;
        texts.name.get_or_insert_with(|| "Loggia demo".to_owned());
        texts.tagline.get_or_insert_with(|| "Projects worth looking at twice.".to_owned());
        let about = "Invented architecture, interiors, design, photography and art, to try Loggia with.";
        texts.about.get_or_insert_with(|| about.to_owned());
    }

    /// Returns the site, with its address and its texts.
    pub(super) fn site(&self) -> Result<Site> {
        Ok(self
            .site_address()
            .parse::<Site>()?
            .with_texts(self.config.site.texts(self.config.accounts.contact.clone())))
    }

    /// Returns the address of the site: the one that is set, or the one on which this process listens or is to listen.
    pub fn site_address(&self) -> String {
        let address = self.listens_at.unwrap_or(self.config.server.listen);
        self.config.site.public_url.clone().unwrap_or_else(|| format!("http://{address}"))
    }

    /// Returns whether the pages may have paths of this machine in them: only its users reach the address, no public one is set, which
    /// would be that of a proxy before it, and the catalog can be changed from here.
    pub(super) fn is_for_this_machine(&self, address: SocketAddr) -> bool {
        let has_proxies = self.config.http.trusted_proxies != TrustedProxies::default();
        address.ip().is_loopback()
            && self.config.site.public_url.is_none()
            && !has_proxies
            && self.held.contains(&Part::Write)
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

    /// Returns the figures of this node by day, and starts the task that keeps them: in the data folder, if it is this process that
    /// serves there. Another one would overwrite the file, and keeps its own in memory.
    pub(super) fn daily_figures(&self, metrics: Metrics) -> DailyFigures {
        let clock = process::clock();
        let figures = if self.api.is_some() {
            DailyFigures::open(self.data.daily_figures(), clock)
        } else {
            DailyFigures::in_memory(clock)
        };
        // It ends once the API has given its last answer.
        let stop = self.lifecycle.stop_of(LEDGER_PHASE).clone().cancelled_owned();
        let keeping = figures.clone().keep(metrics, stop);
        self.lifecycle.spawn_in(LEDGER_PHASE, "the daily figures", keeping, &Handle::current());
        figures
    }

    /// Compares the settings that all nodes share with those of the write side, if that is another process. A node that
    /// differs is not ready.
    pub(super) async fn compare_settings(&self, client: &async_nats::Client) {
        if self.held.contains(&Part::Write) {
            return;
        }
        let component = self.health.component("settings").grace_period(Duration::ZERO).with_public_reasons();
        let comparison = Comparison::new(client.clone(), &self.config, component, self.mails.clone());
        // The first time before the node can be ready.
        comparison.compare().await;
        let stop = self.lifecycle.stop.clone();
        self.lifecycle.spawn("the comparison of settings", async move {
            let _: Option<Infallible> = stop.run_until_cancelled(comparison.run()).await;
        });
    }

    /// Returns who may call, and starts the task that counts their calls.
    pub(super) async fn access(&self, client: &async_nats::Client, address: SocketAddr) -> Result<Access> {
        if self.config.access.auth == Auth::Off {
            tracing::warn!(
                "auth is off: every client that reaches {address} may call, and nothing is counted"
            );
            return Ok(Access::Open);
        }
        let settings = MeterSettings {
            folder: self.data.spool(),
            policy: self.config.limits.metering,
            spool_limit: self.config.limits.spool.0,
            tiers: self.config.access.tiers.clone(),
            may_read_calls: self.role != ProcessRole::Serve,
            health: self.health.clone(),
            clock: process::clock(),
        };
        // It reads the whole spool.
        let connection = client.clone();
        let meter = tokio::task::spawn_blocking(move || Meter::open(connection, settings)).await??;
        let metering = meter.clone().run(self.lifecycle.stop.clone());
        self.lifecycle.spawn("the spool", metering);
        Ok(Access::Keys(Arc::new(KeyAccess {
            meter,
            tiers: self.config.access.tiers.clone(),
            rate_limits: RateLimits::new(
                self.config.limits.burst_per_key,
                self.config.limits.burst_per_address,
                self.config.limits.keys_per_address,
            ),
            commands: CommandClient::new(client.clone()),
            mail: MailStatus {
                is_available: self.mails.clone(),
                contact: self.config.accounts.contact.clone(),
            },
            unknown_tiers: UnknownTiers::default(),
            proxies: self.config.http.trusted_proxies.clone(),
        })))
    }

    /// Opens the read models, and follows each in a task of its own, so that none waits for another. The meanings that a text model of
    /// this name gave to texts are loaded.
    pub(super) fn readers(&self, text_model: Option<Arc<str>>) -> ReadModels {
        let signals = self.node.is_some().then(|| self.signals.clone());
        let models = ReadModels::with_signals(self.data.models(), process::clock(), signals, text_model);
        for model in ModelKind::ALL {
            let following = models.clone().follow(model, self.health.clone(), self.lifecycle.stop.clone());
            self.lifecycle.spawn(format!("the reader of the {} model", model.name()), following);
        }
        models
    }

    /// Returns the webhook of Stripe; `None` if its secret is not set.
    pub(super) fn payment_webhook(&self, client: &async_nats::Client) -> Option<PaymentWebhook> {
        let secrets = self.config.payments.secret.clone()?;
        if self.config.payments.prices.tiers().next().is_none() {
            tracing::warn!(
                "stripe_secret is set and stripe_prices is not, so a payment changes the tier of a key only if its metadata names \
                 a tier; set stripe_prices, as price_123=studio"
            );
        }
        let terms = self.config.payments.terms(&self.config.access.tiers);
        let (payments, commands) = (Payments { secrets, terms }, CommandClient::new(client.clone()));
        Some(PaymentWebhook { payments, commands })
    }

    /// Returns the prices and checkout addresses of the tiers.
    pub(super) fn offers(&self) -> Offers {
        let access = &self.config.access;
        Offers { prices: access.prices.clone(), checkouts: access.checkout.clone() }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // The port of a process that has just ended is free, as it would be for `TcpListener::bind`.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests;
