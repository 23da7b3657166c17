//! Connections that this process makes: to NATS, with the login of its role, and by TLS, with the certificate authorities of this
//! machine.

use std::sync::Arc;

use anyhow::Result;
use data_folder::{DataFolder, Part};
use nats::login::Login;
use process_role::ProcessRole;
use rustls::{ClientConfig, RootCertStore};

use crate::config::Config;

/// Returns the URL of NATS: that of the process that runs on the data folder, or the one that is set; `None` without either.
pub fn nats_url(config: &Config) -> Option<String> {
    let running = DataFolder::new(&config.server.data).running(Part::Write);
    running.map(|running| running.nats_url).or_else(|| config.nats.url.clone())
}

/// Returns the login of a role to the NATS server at this URL, or to the servers at these URLs, separated by commas.
pub fn nats_login(config: &Config, url: &str, role: ProcessRole) -> Login {
    Login {
        url: url.to_owned(),
        credentials: config.nats.credentials.clone(),
        ca: config.nats.ca.clone(),
        user: role.into(),
    }
}

/// Connects a command of the command line to NATS.
pub async fn connect_to_nats(config: &Config, url: &str) -> Result<async_nats::Client> {
    Ok(nats_login(config, url, ProcessRole::Operator).connect().await?)
}

/// Returns the certificate authorities of this machine, or those in the file that `SSL_CERT_FILE` names.
pub fn certificate_authorities() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    if let Some(first) = found.errors.first() {
        let failed = found.errors.len();
        tracing::warn!(failed, "certificate authorities of this machine cannot be read; the first: {first}");
    }
    roots.add_parsable_certificates(found.certs);
    roots
}

/// Returns the TLS of a client that trusts these authorities and has no certificate of its own.
pub fn tls_client(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    // Named, since a process may link several providers and then has no default.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
