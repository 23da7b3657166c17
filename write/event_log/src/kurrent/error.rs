//! Maps the client's errors to failures that say what to do.

use std::path::Path;
use std::time::Duration;

use eventstore::{CurrentRevision, Error};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tokio::time::{error::Elapsed, timeout};

use super::address::Address;
use crate::{Head, StoreError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub(super) enum CallError {
    /// The stream has this revision instead of the expected one; `None` if it does not exist.
    WrongRevision(Option<u64>),
    /// The stream has an unknown revision instead of the expected one.
    WrongUnknownRevision,
    /// There is no such stream.
    NoStream,
    /// The call fails permanently.
    Refused(StoreError),
    /// There was no conclusive answer: the call may have been executed.
    NoAnswer(String),
}

impl CallError {
    /// Returns the answer of a call, or why it failed.
    pub(super) fn check<T>(
        outcome: Result<Result<T, Error>, Elapsed>,
        address: &Address,
    ) -> Result<T, CallError> {
        let error = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => return Err(CallError::NoAnswer(format!("{address} did not answer in time"))),
        };
        let refused = |reason: String| CallError::Refused(StoreError::unavailable(reason));
        let deleted = format!(
            "{address} was deleted there; set another store=NAME in store (LOGGIA_STORE), or restore the server"
        );
        let denied = format!(
            "{address} refused access: check user and password in store (LOGGIA_STORE), and the permissions of that \
             user on the server"
        );
        Err(match error {
            Error::WrongExpectedVersion { current, .. } => CallError::WrongRevision(match current {
                CurrentRevision::Current(revision) => Some(revision),
                CurrentRevision::NoStream => None,
            }),
            Error::ResourceNotFound => CallError::NoStream,
            Error::ResourceDeleted => refused(deleted),
            Error::AccessDenied => refused(denied),
            // The answer to an append over a stream that is kept open.
            Error::Grpc { message, .. } if message == "WrongExpectedVersion" => {
                CallError::WrongUnknownRevision
            }
            Error::Grpc { message, .. } if message == "StreamDeleted" => refused(deleted),
            Error::Grpc { message, .. } if message == "AccessDenied" => refused(denied),
            Error::Grpc { message, .. } if is_too_large(&message) => refused(format!(
                "{address} takes less at once than the 1 MiB that it takes by default ({message}); raise its MaxAppendSize"
            )),
            Error::UnsupportedFeature => refused(format!("{address} is not a supported EventStoreDB")),
            Error::Grpc { code, message } => {
                CallError::NoAnswer(format!("{address} answers {code:?}: {message}"))
            }
            other => CallError::NoAnswer(format!("{address} cannot be reached ({other})")),
        })
    }
}

fn is_too_large(message: &str) -> bool {
    message.contains("Maximum Append Size") || message == "MaximumAppendSizeExceeded"
}

impl From<CallError> for StoreError {
    fn from(error: CallError) -> StoreError {
        match error {
            CallError::Refused(error) => error,
            CallError::NoAnswer(reason) => StoreError::unavailable(reason),
            CallError::NoStream => StoreError::corrupt("its log is gone"),
            CallError::WrongRevision(_) | CallError::WrongUnknownRevision => {
                StoreError::unavailable("its log moved; try again")
            }
        }
    }
}

/// Returns the failure of a log that was reset to an earlier state: it does not have the last event of its replica, `head`; it has
/// another event there if `has_other`.
pub(super) fn reset(address: &Address, head: Head, has_other: bool, replica: Option<&Path>) -> StoreError {
    let position = head.position;
    let what = if has_other {
        format!("has another event at {position}")
    } else {
        format!("ends before {position}")
    };
    let remedy = match replica {
        None => String::new(),
        Some(replica) => {
            let replica = replica.display();
            format!(
                ". No edit is accepted until this is repaired: the lost events are in {replica} alone. Stop this \
                 write side and restore them with `loggia store copy sqlite:{replica} esdb://…`, or move {replica} \
                 away to continue without them"
            )
        }
    };
    StoreError::unavailable(format!("{address} {what}, so that log was reset to an earlier state{remedy}"))
}

/// Returns the failure of an address without a log.
pub(super) fn no_store(address: &Address) -> StoreError {
    StoreError::unavailable(format!(
        "there is no event store {address}; set store (LOGGIA_STORE) to the right one, or start a write side on it"
    ))
}

/// Checks that the file with the authorities can be used; the client would panic otherwise.
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
        (0, 0) => Err(unusable("it contains no certificate".into())),
        (_, 0) => Ok(()),
        (_, bad) => Err(unusable(format!("{bad} of its certificates cannot be read"))),
    }
}

/// Returns why the first call had no answer: no server listens, or one that does not speak the protocol.
pub(super) async fn unreachable(address: &Address, failure: &str) -> StoreError {
    let mut silent = Vec::new();
    for (host, port) in address.hosts() {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect((host.as_str(), port))).await {
            Ok(Ok(_)) => {
                let (is, other) = if address.secure() { ("with", "false") } else { ("without", "true") };
                return StoreError::unavailable(format!(
                    "{host}:{port} listens, but does not answer {is} TLS as an EventStoreDB does ({failure}); check tls, \
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
