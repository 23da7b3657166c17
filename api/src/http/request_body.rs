//! Reads the body of a request, within limits of size and time.

use std::net::IpAddr;

use answers::auth::principal::Principal;
use answers::error::ApiError;
use answers::route::Route;
use http::Method;
use http::request::Parts;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::http::bodies::{self, BodyError, BodyKind, ReceivedBody};
use crate::http::pipeline::Pipeline;
use crate::http::same_site;

/// The maximum size in bytes of a body that is discarded.
const LARGEST_BODY: usize = 64 * 1024;

impl Pipeline {
    /// Reads an MCP message of a caller at an address. Without a key the address is counted before: the limit of messages applies only
    /// once they are read.
    pub(super) async fn message(
        &self,
        body: Incoming,
        (principal, address): (&Principal, IpAddr),
    ) -> Result<ReceivedBody, ApiError> {
        principal.check_new_body(self.state.access(), address).map_err(ApiError::too_many_requests)?;
        self.read(body, BodyKind::message_of(principal), (principal, address)).await
    }

    /// Reads the body for an endpoint: that of a form or a payment notice, and otherwise none.
    pub(super) async fn body(
        &self,
        route: Route,
        parts: &Parts,
        body: Incoming,
        (principal, peer): (&Principal, IpAddr),
    ) -> Result<Option<ReceivedBody>, ApiError> {
        let kind = match route {
            Route::Form if parts.method == Method::POST => {
                same_site::check(self.state.site(), &parts.headers)?;
                BodyKind::Form
            }
            Route::Webhook if parts.method == Method::POST && self.state.payments().is_some() => {
                BodyKind::Notice
            }
            _ if body.is_end_stream() => return Ok(None),
            // The endpoint does not use it; it is read so that the connection can be reused.
            _ => return self.discard(body).await.map(|()| None),
        };
        let address = self.bodies.caller(peer, &parts.headers);
        self.read(body, kind, (principal, address)).await.map(Some)
    }

    async fn read(
        &self,
        body: Incoming,
        kind: BodyKind,
        (principal, address): (&Principal, IpAddr),
    ) -> Result<ReceivedBody, ApiError> {
        let too_large = match kind {
            BodyKind::Message => ApiError::message_too_large,
            BodyKind::MessageWithoutKey => ApiError::message_too_large_without_key,
            BodyKind::Form => ApiError::form_too_large,
            BodyKind::Notice => ApiError::notice_too_large,
        };
        if body.size_hint().lower() > kind.largest() as u64 {
            return Err(too_large());
        }
        let share = self.bodies.share(kind, principal, address);
        self.in_time(bodies::read(body, share, kind.largest()), too_large).await
    }

    async fn discard(&self, body: Incoming) -> Result<(), ApiError> {
        if body.size_hint().lower() > LARGEST_BODY as u64 {
            return Err(ApiError::body_too_large());
        }
        self.in_time(bodies::discard(body, LARGEST_BODY), ApiError::body_too_large).await
    }

    async fn in_time<T>(
        &self,
        reading: impl Future<Output = Result<T, BodyError>>,
        too_large: fn() -> ApiError,
    ) -> Result<T, ApiError> {
        // A little less than the whole time: the reply must be made within it.
        let time_limit = self.time_limit.mul_f32(0.9);
        match timeout(time_limit, reading).await {
            Ok(read) => read.map_err(|error| match error {
                BodyError::TooLarge => too_large(),
                BodyError::OutOfMemory => ApiError::too_many_bodies(),
                BodyError::Broken => ApiError::malformed_request(),
            }),
            Err(_elapsed) => Err(ApiError::slow_body()),
        }
    }
}
