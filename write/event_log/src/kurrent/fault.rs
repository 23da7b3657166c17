//! What the client's errors mean, and the sentences for them.

use std::path::Path;
use std::time::Duration;

use eventstore::{CurrentRevision, Error};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tokio::time::{error::Elapsed, timeout};

use super::Address;
use crate::{Head, StoreError};

/// How long a server may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// What went wrong with one call.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The stream is at another revision; none when it does not exist.
    Revision(Option<u64>),
    /// The stream is at another revision, and which was not said.
    Moved,
    /// There is no such stream.
    NoStream,
    /// It will not be done, however often it is asked.
    Refused(StoreError),
    /// No answer that says anything: it may have been done.
    Lost(String),
}

impl Fault {
    /// What the outcome of a call is, in our words.
    pub(super) fn of<T>(outcome: Result<Result<T, Error>, Elapsed>, address: &Address) -> Result<T, Fault> {
        let error = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => return Err(Fault::Lost(format!("{address} did not answer in time"))),
        };
        let refused = |reason: String| Fault::Refused(StoreError::unavailable(reason));
        let deleted = format!(
            "{address} was deleted there; set another store=NAME in store (LOGGIA_STORE), or restore the server"
        );
        let denied = format!(
            "{address} may not be used: check user and password in store (LOGGIA_STORE), and what the server lets that \
             user do"
        );
        Err(match error {
            Error::WrongExpectedVersion { current, .. } => Fault::Revision(match current {
                CurrentRevision::Current(revision) => Some(revision),
                CurrentRevision::NoStream => None,
            }),
            Error::ResourceNotFound => Fault::NoStream,
            Error::ResourceDeleted => refused(deleted),
            Error::AccessDenied => refused(denied),
            // As an append over a stream that is kept open is refused.
            Error::Grpc { message, .. } if message == "WrongExpectedVersion" => Fault::Moved,
            Error::Grpc { message, .. } if message == "StreamDeleted" => refused(deleted),
            Error::Grpc { message, .. } if message == "AccessDenied" => refused(denied),
            Error::Grpc { message, .. } if is_too_large(&message) => refused(format!(
                "{address} takes less at once than the 1 MiB that it takes by default ({message}); raise its MaxAppendSize"
            )),
            Error::UnsupportedFeature => {
                refused(format!("{address} is no EventStoreDB that can be worked with"))
            }
            Error::Grpc { code, message } => Fault::Lost(format!("{address} answers {code:?}: {message}")),
            other => Fault::Lost(format!("{address} cannot be reached ({other})")),
        })
    }
}

fn is_too_large(message: &str) -> bool {
    message.contains("Maximum Append Size") || message == "MaximumAppendSizeExceeded"
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        match fault {
            Fault::Refused(error) => error,
            Fault::Lost(reason) => StoreError::unavailable(reason),
            Fault::NoStream => StoreError::corrupt("its log is gone"),
            Fault::Revision(_) | Fault::Moved => StoreError::unavailable("its log moved; try again"),
        }
    }
}

/// The log does not hold the event that its replica ends with: it was set back.
pub(super) fn set_back(address: &Address, head: Head, other: bool, replica: Option<&Path>) -> StoreError {
    let position = head.position;
    let what =
        if other { format!("has another event at {position}") } else { format!("ends before {position}") };
    let remedy = match replica {
        None => String::new(),
        Some(replica) => {
            let replica = replica.display();
            format!(
                ". No edit is taken until that is mended: what the log lost is in {replica} alone. Stop this write side \
                 and bring it back with `loggia store copy sqlite:{replica} esdb://…`, or move {replica} away to go on \
                 without"
            )
        }
    };
    StoreError::unavailable(format!("{address} {what}, so that log was set back{remedy}"))
}

/// There is nothing at an address that is only read.
pub(super) fn none(address: &Address) -> StoreError {
    StoreError::unavailable(format!(
        "there is no event store {address}; set store (LOGGIA_STORE) to the right one, or start a write side on it"
    ))
}

/// Whether the file with the authorities can be used; the client would panic.
pub(super) fn check_authorities(address: &Address) -> Result<(), StoreError> {
    let Some(path) = address.authorities() else { return Ok(()) };
    let unusable = |reason: String| {
        StoreError::unavailable(format!(
            "tlsCaFile in store (LOGGIA_STORE) is {}, which cannot be used: {reason}",
            path.display()
        ))
    };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(&path)
        .map_err(|error| unusable(error.to_string()))?
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(error.to_string()))?;
    let mut roots = rustls::RootCertStore::empty();
    match roots.add_parsable_certificates(certificates) {
        (0, 0) => Err(unusable("it holds no certificate".into())),
        (_, 0) => Ok(()),
        (_, bad) => Err(unusable(format!("{bad} of its certificates cannot be read"))),
    }
}

/// Why nothing was heard at the first contact: nobody listens there, or somebody does who does not understand.
pub(super) async fn unheard(address: &Address, heard: &str) -> StoreError {
    let mut silent = Vec::new();
    for (host, port) in address.hosts() {
        match timeout(CONNECT_WITHIN, TcpStream::connect((host.as_str(), port))).await {
            Ok(Ok(_)) => {
                let (is, other) = if address.secure() { ("with", "false") } else { ("without", "true") };
                return StoreError::unavailable(format!(
                    "{host}:{port} listens, but does not answer {is} TLS as an EventStoreDB does ({heard}); check tls, \
                     tlsCaFile and the port in store (LOGGIA_STORE), or set tls={other} if it is run so"
                ));
            }
            Ok(Err(error)) => silent.push(format!("{host}:{port}: {error}")),
            Err(_) => silent.push(format!("{host}:{port}: no answer")),
        }
    }
    StoreError::unavailable(format!(
        "no EventStoreDB is reached ({}); is it running, and is store (LOGGIA_STORE) right?",
        silent.join("; ")
    ))
}
