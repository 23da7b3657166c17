//! Reads the body of a request, within limits of size and time.

use answers::error::ApiError;
use answers::route::Route;
use http::Method;
use http::request::Parts;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::http::bodies::{BodyError, ReceivedBody};
use crate::http::pipeline::Pipeline;
use crate::http::same_site;

/// The maximum size in bytes of a body that is discarded.
const LARGEST_BODY: usize = 64 * 1024;
/// The maximum size in bytes of a form.
const LARGEST_FORM: usize = 16 * 1024;
/// The maximum size in bytes of a payment notice.
const LARGEST_NOTICE: usize = 256 * 1024;

impl Pipeline {
    /// Reads an MCP message.
    pub(super) async fn message(&self, body: Incoming) -> Result<ReceivedBody, ApiError> {
        self.read(body, mcp::LARGEST_BODY, ApiError::message_too_large).await
    }

    /// Reads the body for an endpoint: that of a form or a payment notice, and otherwise none.
    pub(super) async fn body(
        &self,
        route: Route,
        parts: &Parts,
        body: Incoming,
    ) -> Result<Option<ReceivedBody>, ApiError> {
        match route {
            Route::Form if parts.method == Method::POST => {
                same_site::check(self.state.site(), &parts.headers)?;
                self.read(body, LARGEST_FORM, ApiError::form_too_large).await.map(Some)
            }
            Route::Webhook if parts.method == Method::POST && self.state.payments().is_some() => {
                self.read(body, LARGEST_NOTICE, ApiError::notice_too_large).await.map(Some)
            }
            _ if body.is_end_stream() => Ok(None),
            // The endpoint does not use it; it is read so that the connection can be reused.
            _ => self.read(body, LARGEST_BODY, ApiError::body_too_large).await.map(|_| None),
        }
    }

    async fn read(
        &self,
        body: Incoming,
        limit: usize,
        too_large: fn() -> ApiError,
    ) -> Result<ReceivedBody, ApiError> {
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large());
        }
        // A little less than the whole time: the reply must be made within it.
        let time_limit = self.time_limit.mul_f32(0.9);
        match timeout(time_limit, self.bodies.read(body, limit)).await {
            Ok(read) => read.map_err(|error| match error {
                BodyError::TooLarge => too_large(),
                BodyError::OutOfMemory => ApiError::too_many_bodies(),
                BodyError::Broken => ApiError::malformed_request(),
            }),
            Err(_elapsed) => Err(ApiError::slow_body()),
        }
    }
}
