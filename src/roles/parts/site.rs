//! Where the API listens, and what the site calls itself.

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use super::Parts;

impl Parts {
    /// Takes the address of the API.
    pub async fn bind(&mut self) -> Result<TcpListener> {
        let address = self.config.listen;
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("listen: {address} cannot be taken; stop what uses it, or choose another with --listen")
        })?;
        self.listens_at = Some(listener.local_addr()?);
        Ok(listener)
    }

    /// The site's own address: as it is set, or where this process listens, or is to listen.
    pub(super) fn site_address(&self) -> String {
        let address = self.listens_at.unwrap_or(self.config.listen);
        self.config.public_url.clone().unwrap_or_else(|| format!("http://{address}"))
    }
}
