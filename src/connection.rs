//! Connections to NATS: the address and the login of this process.

use anyhow::Result;
use nats::login::Login;
use write::nats_role::NatsRole;

use crate::config::Config;
use crate::data_folder::{DataFolder, Part};

/// How NATS is reached: as the process that runs on the folder reaches it, or as it is set; nothing where neither is.
pub fn url(config: &Config) -> Option<String> {
    let running = DataFolder::new(&config.server.data).running(Part::Write);
    running.map(|running| running.nats_url).or_else(|| config.nats.url.clone())
}

/// How a process of this role comes to the NATS at this address, or these addresses with commas.
pub fn login(config: &Config, url: &str, role: NatsRole) -> Login {
    Login {
        url: url.to_owned(),
        credentials: config.nats.credentials.clone(),
        ca: config.nats.ca.clone(),
        user: role.into(),
    }
}

/// Connects a command of the command line to NATS.
pub async fn connect(config: &Config, url: &str) -> Result<async_nats::Client> {
    Ok(login(config, url, NatsRole::Operator).connect().await?)
}
