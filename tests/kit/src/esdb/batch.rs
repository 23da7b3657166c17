//! Batch appends over one open stream: each request message is an append, and each gets one response message.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use futures::stream::{self, StreamExt};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::header::HeaderMap;
use hyper::{Request, Response};
use tokio_util::sync::CancellationToken;

use super::log::Log;
use super::messages::{Body, MAX_APPEND, decoded, encoded, name, streamed};
use super::wire::*;
use super::{Fault, State};

/// gRPC status codes, as the real server returns them.
const INVALID_ARGUMENT: i32 = 3;
const ALREADY_EXISTS: i32 = 6;

/// The state of an open stream of appends.
struct AppendStream {
    body: Incoming,
    received: BytesMut,
    state: Arc<State>,
    /// Ends after a fault that drops an append.
    connection: CancellationToken,
}

/// Responds to each append while the client keeps the stream open.
pub(super) fn answer(
    request: Request<Incoming>,
    state: Arc<State>,
    connection: CancellationToken,
) -> Response<Body> {
    let open = AppendStream { body: request.into_body(), received: BytesMut::new(), state, connection };
    let answers = stream::unfold(open, |mut open| async move {
        let request = open.next().await?;
        let answer = open.carried_out(request).await?;
        Some((Ok(Frame::data(encoded(&answer))), open))
    });
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", 0.into());
    let end = stream::once(async { Ok::<_, Infallible>(Frame::trailers(trailers)) });
    streamed(answers.chain(end).boxed())
}

impl AppendStream {
    /// Returns the next complete message.
    async fn next(&mut self) -> Option<BatchAppendReq> {
        loop {
            if let Some(message) = self.complete_message() {
                return decoded(message).ok();
            }
            let frame = self.body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.received.extend_from_slice(&data);
            }
        }
    }

    fn complete_message(&mut self) -> Option<Bytes> {
        let length = self.received.get(1..5)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if self.received.len() < 5 + length {
            return None;
        }
        self.received.advance(5);
        Some(self.received.split_to(length).freeze())
    }

    /// Executes an append; `None` if the stream ends without a response.
    async fn carried_out(&self, request: BatchAppendReq) -> Option<BatchAppendResp> {
        if self.state.met(Fault::DropRequest) {
            return self.broken_off().await;
        }
        let stream_identifier =
            request.options.as_ref().and_then(|options| options.stream_identifier.clone());
        let correlation_id = request.correlation_id.clone();
        let result = append(request, &mut *self.state.log().await).await;
        if self.state.met(Fault::DropResponse) {
            return self.broken_off().await;
        }
        let ends = self.state.met(Fault::EndStream);
        (!ends).then_some(BatchAppendResp { correlation_id, stream_identifier, result: Some(result) })
    }

    /// Breaks the connection: the stream itself never ends.
    async fn broken_off<T>(&self) -> T {
        self.connection.cancel();
        std::future::pending().await
    }
}

async fn append(request: BatchAppendReq, log: &mut Log) -> BatchAppendResult {
    let refused = |code, message: &str| BatchAppendResult::Error(RpcStatus { code, message: message.into() });
    let size = |event: &ProposedMessage| {
        let kind = event.metadata.get("type").map_or(0, String::len);
        event.data.len() + event.custom_metadata.len() + 2 * kind
    };
    if request.proposed_messages.iter().map(size).sum::<usize>() > MAX_APPEND {
        return refused(INVALID_ARGUMENT, "MaximumAppendSizeExceeded");
    }
    let Some(AppendOptions { stream_identifier, expected: Some(expected) }) = request.options else {
        return refused(INVALID_ARGUMENT, "no options");
    };
    let Ok(stream) = name(stream_identifier) else { return refused(INVALID_ARGUMENT, "no stream") };
    match log.append(&stream, &expected, &request.proposed_messages).await {
        Ok(last) => BatchAppendResult::Success(BatchSuccess { current_revision: Some(last) }),
        Err(_) => refused(ALREADY_EXISTS, "WrongExpectedVersion"),
    }
}
