//! The settings of the service that commands need: as its write side published them, or as set here if no service runs.

use anyhow::{Result, bail};
use data_folder::DataFolder;
use schemas::tier::Tiers;

use crate::compose;
use crate::compose::ServiceSettings;
use crate::config::Config;

/// Returns the tiers of the service. Fails if the service runs and cannot be reached.
pub(super) async fn tiers(config: &Config) -> Result<Tiers> {
    let published = compose::service_settings(config).await?;
    Ok(published.map_or_else(|| config.access.tiers.clone(), |published| published.tiers))
}

/// Returns the address at which holders of keys reach the service. Fails if the service runs and cannot be reached, and
/// if no address is known.
pub(super) async fn address(config: &Config) -> Result<String> {
    let published = compose::service_settings(config).await?;
    let serves_at = DataFolder::new(&config.server.data).serves_at();
    match choose(config, published.as_ref(), serves_at) {
        Some(address) => Ok(address),
        None => bail!(
            "no link was made, since the address of the service is not known: set public_url (LOGGIA_PUBLIC_URL) for the \
             service, or name the address here with --public-url"
        ),
    }
}

fn choose(config: &Config, published: Option<&ServiceSettings>, serves_at: Option<String>) -> Option<String> {
    let public =
        published.and_then(|published| published.public_url.as_ref()).or(config.site.public_url.as_ref());
    // If a write side has published its settings, the service may listen elsewhere than this folder's setting says.
    let listens = || {
        (published.is_none() && config.server.listen.port() != 0).then(|| config.server.listen.to_string())
    };
    let of_folder = || serves_at.or_else(listens).map(|address| format!("http://{address}"));
    public.cloned().or_else(of_folder)
}

#[cfg(test)]
mod tests;
