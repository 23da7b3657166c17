//! gRPC messages and responses of the calls that the event log uses.

use std::convert::Infallible;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream::{self, BoxStream, StreamExt};
use http_body_util::StreamBody;
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;

use super::wire::StreamIdentifier;

/// The server's default limit of an append, in bytes.
pub(super) const MAX_APPEND: usize = 1 << 20;

/// gRPC status codes.
pub(super) const INVALID_ARGUMENT: u16 = 3;

pub(super) type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// A gRPC status: code and message.
pub(super) type Status = (u16, String);

pub(super) fn name(identifier: Option<StreamIdentifier>) -> Result<String, Status> {
    let identifier = identifier.ok_or_else(|| invalid("no stream"))?;
    String::from_utf8(identifier.stream_name).map_err(|_| invalid("a stream's name is not UTF-8"))
}

pub(super) fn invalid(what: &str) -> Status {
    (INVALID_ARGUMENT, what.to_owned())
}

pub(super) fn decoded<M: Message + Default>(message: Bytes) -> Result<M, Status> {
    M::decode(message).map_err(|error| invalid(&error.to_string()))
}

/// Splits a body into its messages, each preceded by a compression byte and a length (gRPC over HTTP/2).
pub(super) fn messages(mut body: Bytes) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while body.len() >= 5 {
        let head = body.split_to(5);
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        messages.push(body.split_to(length.min(body.len())));
    }
    messages
}

pub(super) fn encoded(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(5 + length);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(length).expect("a message below 4 GiB"));
    message.encode(&mut bytes).expect("room for the message");
    bytes.freeze()
}

pub(super) fn response(answer: Result<Vec<Bytes>, Status>) -> Response<Body> {
    let (messages, (code, text)) = match answer {
        Ok(messages) => (messages, (0, String::new())),
        Err(status) => (Vec::new(), status),
    };
    let mut trailers = HeaderMap::new();
    trailers.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(code));
    let text = HeaderValue::from_str(&text.replace(' ', "%20")).expect("a text for a header");
    trailers.insert(HeaderName::from_static("grpc-message"), text);
    let frames = messages.into_iter().map(Frame::data).chain([Frame::trailers(trailers)]);
    let frames: Vec<Result<_, Infallible>> = frames.map(Ok).collect();
    streamed(stream::iter(frames).boxed())
}

/// Returns a response that streams its messages.
pub(super) fn streamed(frames: BoxStream<'static, Result<Frame<Bytes>, Infallible>>) -> Response<Body> {
    let mut response = Response::new(StreamBody::new(frames));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}
