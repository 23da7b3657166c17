//! Requests over core NATS, sent once or repeated until they are answered. Every error says whether the request may have
//! been received: only then does its sender have to find out whether it was executed.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, HeaderMap, Message, Request};
use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout};

/// The least time for an attempt. With less, NATS might not report in time that there is no responder, and it would be unknown
/// whether the request was received.
const MIN_ATTEMPT: Duration = Duration::from_millis(500);

/// A request got no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// It was not sent.
    #[error("there is no connection to NATS")]
    NotConnected,
    /// Nothing subscribes to its subject, so it was not received.
    #[error("no process responds to the request")]
    NoResponders,
    /// It may have been received.
    #[error("{0}")]
    Unanswered(String),
}

impl RequestError {
    /// Returns whether the request may have been received.
    pub fn may_have_been_received(&self) -> bool {
        matches!(self, RequestError::Unanswered(_))
    }
}

/// The time limits of a repeated request.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// How long one attempt waits for the reply.
    pub attempt: Duration,
    /// How long to wait before the next attempt.
    pub pause: Duration,
    /// How long all attempts may take together.
    pub total: Duration,
    /// How long there may be no responder, which is longer than a restart of one takes.
    pub absence: Duration,
}

/// Returns a request with this payload and, if given, a header.
pub fn request_with_header(payload: Bytes, header: Option<&(&'static str, String)>) -> Request {
    let request = Request::new().payload(payload);
    let Some((name, value)) = header else { return request };
    let mut headers = HeaderMap::new();
    headers.insert(*name, value.as_str());
    request.headers(headers)
}

/// Sends a request once and waits for its reply, at most for `time_limit`.
///
/// # Errors
///
/// Fails if there is no connection, no responder or no reply in time. Without a connection nothing is sent: the client would
/// keep the request and send it long after it was given up, and with a full buffer would not return.
pub async fn request(
    client: &Client,
    subject: &str,
    request: Request,
    time_limit: Duration,
) -> Result<Message, RequestError> {
    if client.connection_state() != State::Connected {
        return Err(RequestError::NotConnected);
    }
    let sending = client.send_request(subject.to_owned(), request.timeout(Some(time_limit)));
    match timeout(time_limit, sending).await {
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => Err(RequestError::NoResponders),
        Ok(Err(error)) => Err(RequestError::Unanswered(error.to_string())),
        Err(_elapsed) => Err(RequestError::Unanswered("NATS does not take it in time".into())),
    }
}

/// Sends a request until it is answered or given up. The responder must tolerate repetition. An empty reply counts as none.
///
/// # Errors
///
/// Fails with the error of the last attempt; with [`RequestError::Unanswered`] if any attempt may have been received.
pub async fn request_until_answered(
    client: &Client,
    subject: &str,
    make: impl Fn() -> Request,
    retry: Retry,
) -> Result<Message, RequestError> {
    let deadline = Instant::now() + retry.total;
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut absent_since = Instant::now();
    let mut may_have_been_received = false;
    loop {
        let error = match request(client, subject, make(), retry.attempt.min(left())).await {
            Ok(reply) if !reply.payload.is_empty() => return Ok(reply),
            Ok(_empty) => RequestError::Unanswered("the reply was empty".into()),
            Err(error) => error,
        };
        may_have_been_received |= error.may_have_been_received();
        let mut is_given_up = left() <= retry.pause + MIN_ATTEMPT;
        match error {
            RequestError::NoResponders => is_given_up |= absent_since.elapsed() >= retry.absence,
            RequestError::NotConnected | RequestError::Unanswered(_) => absent_since = Instant::now(),
        }
        if is_given_up {
            let error = match may_have_been_received {
                true => RequestError::Unanswered(error.to_string()),
                false => error,
            };
            return Err(error);
        }
        tracing::debug!(%error, subject, "a request is repeated");
        sleep(retry.pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{NatsServer, Options};
    use futures::StreamExt;
    use tokio::task::JoinSet;

    const RETRY: Retry = Retry {
        attempt: Duration::from_secs(1),
        pause: Duration::from_millis(50),
        total: Duration::from_secs(120),
        absence: Duration::from_millis(700),
    };

    /// A server with a requester and a responder connected to it; `None` if there is no nats-server to run.
    async fn connected() -> Option<(tempfile::TempDir, NatsServer, Client, Client)> {
        let binary = crate::tests::nats_server().await?;
        let folder = tempfile::tempdir().unwrap();
        let options = Options { binary: Some(binary), ..Options::new(folder.path().join("nats")) };
        let server = NatsServer::start(options).await.unwrap();
        let connect = || crate::url::connect_options(&server.url()).unwrap().connect(server.url());
        let (requester, responder) = (connect().await.unwrap(), connect().await.unwrap());
        Some((folder, server, requester, responder))
    }

    /// Answers each request of a subscription with the next payload; `None` leaves one unanswered. Once they are used up, the last
    /// payload is repeated, since an answer of a busy machine may be late; after `None` it ends.
    async fn answer(responder: Client, replies: Vec<Option<&'static str>>) -> JoinSet<()> {
        let mut requests = responder.subscribe("s").await.unwrap();
        // The server knows the subscription once a message comes.
        responder.publish("s", "".into()).await.unwrap();
        requests.next().await.unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let last = replies.last().copied().flatten();
            for reply in replies.into_iter().chain(last.map(Some).into_iter().cycle()) {
                let to = requests.next().await.unwrap().reply.unwrap();
                if let Some(payload) = reply {
                    responder.publish(to, payload.into()).await.unwrap();
                    responder.flush().await.unwrap();
                }
            }
        });
        tasks
    }

    #[tokio::test]
    async fn a_request_without_a_responder_is_given_up_and_was_not_received() {
        let Some((_folder, server, requester, _responder)) = connected().await else { return };
        let outcome = request_until_answered(&requester, "s", Request::new, RETRY).await;
        assert_eq!(outcome.unwrap_err(), RequestError::NoResponders);
        server.stop().await;
    }

    #[tokio::test]
    async fn a_request_is_repeated_until_a_reply_with_content_comes() {
        let Some((_folder, server, requester, responder)) = connected().await else { return };
        let _answering = answer(responder, vec![None, Some(""), Some("done")]).await;
        let reply = request_until_answered(&requester, "s", Request::new, RETRY).await.unwrap();
        assert_eq!(reply.payload, "done");
        server.stop().await;
    }

    #[tokio::test]
    async fn a_request_that_was_received_once_stays_of_unknown_outcome() {
        let Some((_folder, server, requester, responder)) = connected().await else { return };
        let _answering = answer(responder, vec![None]).await;
        let error = request_until_answered(&requester, "s", Request::new, RETRY).await.unwrap_err();
        assert!(error.may_have_been_received(), "{error}");
        server.stop().await;
    }

    #[tokio::test]
    async fn nothing_is_sent_without_a_connection() {
        let Some((_folder, server, requester, _responder)) = connected().await else { return };
        server.stop().await;
        while requester.connection_state() == State::Connected {
            sleep(Duration::from_millis(10)).await;
        }
        let error = request(&requester, "s", Request::new(), Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(error, RequestError::NotConnected);
    }
}
