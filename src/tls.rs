//! TLS of the connections that are made from here: by ring, the same for all of them.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

/// The certificate authorities of this machine, or those in the file that `SSL_CERT_FILE` names.
pub fn authorities() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    if let Some(first) = found.errors.first() {
        let failed = found.errors.len();
        tracing::warn!(failed, "certificate authorities of this machine cannot be read; the first: {first}");
    }
    roots.add_parsable_certificates(found.certs);
    roots
}

/// A client's side that trusts these authorities and shows no certificate of its own.
pub fn trusting(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    // Named, since a process may hold several and then has no default.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
