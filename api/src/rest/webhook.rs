//! `POST /webhooks/stripe`: what Stripe tells of payments. It is there where its secret is set.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::payments::{NotSigned, NotTaken};
use crate::state::ApiState;

static SIGNATURE: HeaderName = HeaderName::from_static("stripe-signature");

/// Answers once what was told is durable: Stripe sends it again until then.
pub(crate) async fn stripe(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let payments = state.payments().ok_or_else(ApiError::not_found)?;
    let signature = headers.get(&SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    payments.take(signature, &body, state.now(), deadline).await.map_err(|not_taken| match not_taken {
        NotTaken::NotSigned(why) => ApiError::invalid_signature(not_signed(why)),
        NotTaken::Unavailable(cause) => ApiError::notice_not_taken(cause),
    })?;
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((json, r#"{"received":true}"#).into_response())
}

fn not_signed(why: NotSigned) -> &'static str {
    match why {
        NotSigned::Absent => "The header Stripe-Signature is missing, or has no t= and v1= in it.",
        NotSigned::Wrong => "The signature is not made with the secret of this service over these bytes.",
        NotSigned::Stale => {
            "The signature was made more than 300 seconds ago, or that far in the future. Check both clocks; an event is signed anew each time it is sent."
        }
    }
}
