//! Certificates for servers with TLS.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// Returns the configuration of a server with these names, and the certificate of its authority as PEM.
pub(crate) fn configured(names: &[&str]) -> (ServerConfig, String) {
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(authority, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let names = CertificateParams::new(names).expect("names");
    let certificate = names.signed_by(&key, &authority).expect("a certificate");
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocols")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .expect("a certificate and its key");
    let encoded = BASE64_STANDARD.encode(authority.der());
    (config, format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n"))
}
