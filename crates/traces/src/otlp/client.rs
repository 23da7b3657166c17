//! How the exporter speaks HTTP.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError, ResponseBodyTooLarge};

/// The longest answer of a collector that is read, in bytes: it says what it did not take.
const LONGEST_ANSWER: usize = 64 << 10;

/// The client that was given, with its connections and its TLS.
#[derive(Debug)]
pub(super) struct Client(pub(super) reqwest::Client);

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut answer = self.0.execute(request.try_into()?).await?;
        let mut body = BytesMut::new();
        while let Some(part) = answer.chunk().await? {
            if body.len() + part.len() > LONGEST_ANSWER {
                return Err(Box::new(ResponseBodyTooLarge::new()));
            }
            body.extend_from_slice(&part);
        }
        let mut response = Response::new(body.freeze());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(response)
    }
}
