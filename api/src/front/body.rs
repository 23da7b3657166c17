//! What is read of a request's body, within its bounds and in time.

use axum::body::Body;
use bytes::Bytes;
use http::Method;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use super::{Front, same_site};
use crate::fault::Fault;
use crate::mcp;
use crate::routes::Route;

/// The largest body that is read and thrown away.
const LARGEST_BODY: usize = 64 * 1024;
/// The largest body of a form.
const LARGEST_FORM: usize = 16 * 1024;
/// The largest notice of a payment.
const LARGEST_NOTICE: usize = 256 * 1024;

impl Front {
    /// Reads a body that is wanted.
    pub(super) async fn message(&self, body: Incoming) -> Result<Bytes, Fault> {
        self.read(body, mcp::LARGEST_BODY, Fault::message_too_large).await
    }

    /// What the endpoint is to see of a body: that of a form, and else nothing.
    pub(super) async fn body(&self, route: Route, parts: &Parts, body: Incoming) -> Result<Body, Fault> {
        match route {
            Route::Form if parts.method == Method::POST => {
                same_site::check(self.state.site(), &parts.headers)?;
                self.read(body, LARGEST_FORM, Fault::form_too_large).await.map(Body::from)
            }
            Route::Webhook if parts.method == Method::POST && self.state.payments().is_some() => {
                self.read(body, LARGEST_NOTICE, Fault::notice_too_large).await.map(Body::from)
            }
            _ if body.is_end_stream() => Ok(Body::empty()),
            _ => self.discard(body).await.map(|()| Body::empty()),
        }
    }

    /// Reads a body that nobody asked for, so that the connection can go on.
    async fn discard(&self, body: Incoming) -> Result<(), Fault> {
        self.read(body, LARGEST_BODY, Fault::body_too_large).await.map(drop)
    }

    async fn read(&self, body: Incoming, most: usize, too_large: fn() -> Fault) -> Result<Bytes, Fault> {
        if body.size_hint().lower() > most as u64 {
            return Err(too_large());
        }
        // A little less than the whole patience: the reply must still be made within it.
        let patience = self.patience.mul_f32(0.9);
        match timeout(patience, Limited::new(body, most).collect()).await {
            Ok(Ok(read)) => Ok(read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(Fault::malformed_request()),
            Err(_elapsed) => Err(Fault::slow_body()),
        }
    }
}
