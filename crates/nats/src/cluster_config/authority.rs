//! The certificates: of an authority of the cluster that signs one for each server, or the operator's own.

use std::path::Path;
use std::sync::Arc;

use jiff::{Timestamp, ToSpan, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::files::{File, read};
use super::server::Server;
use super::{AUTHORITY, ClusterConfig, ConfigError, GivenCertificate};

const AUTHORITY_KEY: &str = "ca.key";

/// The name of the authority, which must never change: its certificates contain it.
const NAME: &str = "Loggia NATS authority";

/// The validity of an authority.
const AUTHORITY_YEARS: i16 = 20;

/// The validity of a server's certificate, which is renewed whenever the files are written.
const SERVER_YEARS: i16 = 2;

/// The certificate authority of the servers.
pub(super) enum Authority {
    /// An authority of this cluster.
    Own { key: Box<KeyPair>, certificate: String },
    /// The operator's, with the certificate and key for all servers.
    Given { certificate: String, server: String },
}

impl Authority {
    /// Returns the operator's certificate if one is given; else the authority in the folder, or a new one.
    pub(super) fn of(folder: &Path, config: &ClusterConfig) -> Result<Authority, ConfigError> {
        match &config.certificate {
            Some(given) => Authority::given(given),
            None => Authority::own(folder, config.now),
        }
    }

    fn own(folder: &Path, now: Timestamp) -> Result<Authority, ConfigError> {
        let (key_path, certificate_path) = (folder.join(AUTHORITY_KEY), folder.join(AUTHORITY));
        let (key, certificate) = (read(&key_path)?, read(&certificate_path)?);
        if key.is_none() && certificate.is_some() {
            return Err(ConfigError::NoAuthorityKey { path: certificate_path });
        }
        let key = match key {
            None => KeyPair::generate()?,
            Some(text) => KeyPair::from_pem(&text).map_err(|error| ConfigError::Key {
                path: key_path,
                reason: format!("contains no PEM key ({error})"),
            })?,
        };
        let certificate = match certificate {
            Some(text) => text,
            None => authority(now)?.self_signed(&key)?.pem(),
        };
        Ok(Authority::Own { key: Box::new(key), certificate })
    }

    fn given(given: &GivenCertificate) -> Result<Authority, ConfigError> {
        let text = |option, path: &Path| {
            read(path)?.ok_or_else(|| ConfigError::Given {
                option,
                path: path.to_owned(),
                reason: "does not exist".into(),
            })
        };
        let certificate = text("--tls-cert", &given.certificate)?;
        let key = text("--tls-key", &given.key)?;
        let authority = text("--tls-ca", &given.authority)?;
        let chain = certificates("--tls-cert", &given.certificate, &certificate)?;
        certificates("--tls-ca", &given.authority, &authority)?;
        let wrong =
            |reason: String| ConfigError::Given { option: "--tls-key", path: given.key.clone(), reason };
        let pair = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| wrong(format!("contains no PEM key ({error})")))?;
        CertifiedKey::from_der(chain, pair, &Arc::new(rustls::crypto::ring::default_provider()))
            .map_err(|error| wrong(format!("is not the key of the certificate ({error})")))?;
        let server = format!("{}\n{}\n", certificate.trim_end(), key.trim_end());
        Ok(Authority::Given { certificate: authority, server })
    }

    /// Returns its files in the folder.
    pub(super) fn files(&self) -> Vec<File> {
        let key = match self {
            Authority::Own { key, .. } => Some(File::secret(AUTHORITY_KEY.into(), key.serialize_pem())),
            Authority::Given { .. } => None,
        };
        key.into_iter().chain([File::public(AUTHORITY.into(), self.certificate())]).collect()
    }

    /// Returns its certificate, in PEM.
    pub(super) fn certificate(&self) -> String {
        match self {
            Authority::Own { certificate, .. } | Authority::Given { certificate, .. } => certificate.clone(),
        }
    }

    /// Returns a server's certificate and key as one file, in PEM: two files could get out of step.
    pub(super) fn certificate_of(&self, server: &Server, now: Timestamp) -> Result<String, ConfigError> {
        let key = match self {
            Authority::Given { server, .. } => return Ok(server.clone()),
            Authority::Own { key, .. } => key,
        };
        let host = server.host.trim_matches(['[', ']']).to_owned();
        let mut params = CertificateParams::new(vec![host])?;
        params.distinguished_name = named(&server.name);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        // Servers of a cluster are clients of each other.
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        set_validity(&mut params, now, SERVER_YEARS);
        let own = KeyPair::generate()?;
        let certificate = params.signed_by(&own, &Issuer::from_params(&authority(now)?, &**key))?;
        Ok(format!("{}{}", certificate.pem(), own.serialize_pem()))
    }
}

fn authority(now: Timestamp) -> Result<CertificateParams, ConfigError> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.distinguished_name = named(NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, now, AUTHORITY_YEARS);
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// Sets the validity, from the day before, for clocks that are behind.
fn set_validity(params: &mut CertificateParams, now: Timestamp, years: i16) {
    let today = now.to_zoned(TimeZone::UTC).date();
    let day = |date: jiff::civil::Date| {
        date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    };
    params.not_before = day(today.saturating_sub(1.day()));
    params.not_after = day(today.saturating_add(years.years()));
}

fn certificates(
    option: &'static str,
    path: &Path,
    text: &str,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let wrong = |reason: String| ConfigError::Given { option, path: path.to_owned(), reason };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.map_err(|error| wrong(format!("contains no PEM certificate ({error})")))?;
    if found.is_empty() {
        return Err(wrong("contains no PEM certificate".into()));
    }
    Ok(found)
}
