//! The expiry of certificates, so that an operator can replace them in time.

use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use x509_parser::pem::Pem;

/// Why the certificates of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The file is not in PEM.
    #[error("it is not PEM")]
    NotPem,
    /// A block of the file is not a certificate.
    #[error("it contains data that is not a certificate")]
    NotACertificate,
}

/// Returns when each certificate of a PEM file expires.
///
/// # Errors
///
/// Fails if the file cannot be read, is not PEM, or holds a malformed certificate.
pub fn expiries(path: &Path) -> Result<Vec<Timestamp>, CertificateError> {
    expiries_of(&fs::read(path)?)
}

fn expiries_of(text: &[u8]) -> Result<Vec<Timestamp>, CertificateError> {
    let mut expiries = Vec::new();
    for block in Pem::iter_from_buffer(text) {
        let block = block.map_err(|_| CertificateError::NotPem)?;
        if block.label == "CERTIFICATE" {
            let certificate = block.parse_x509().map_err(|_| CertificateError::NotACertificate)?;
            let expiry = Timestamp::from_second(certificate.validity().not_after.timestamp());
            expiries.push(expiry.map_err(|_| CertificateError::NotACertificate)?);
        }
    }
    Ok(expiries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expiry_of_each_certificate_is_read() {
        let certificate = rcgen::generate_simple_self_signed(vec!["nats.example.org".to_owned()]).unwrap();
        let pem = certificate.cert.pem();
        // The default of rcgen.
        assert_eq!(
            expiries_of((pem.clone() + &pem).as_bytes()).unwrap(),
            ["4096-01-01T00:00:00Z".parse().unwrap(); 2]
        );
        assert!(expiries_of(b"").unwrap().is_empty());
        let wrong = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(expiries_of(wrong).unwrap_err().to_string(), "it contains data that is not a certificate");
    }
}
