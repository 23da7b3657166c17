//! `POST /webhooks/stripe`: payment notices of Stripe, if its secret is set.

use axum::Extension;
use axum::extract::State;
use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use payments::SignatureError;
use schemas::command::CommandReply;

use answers::catalog::document::JsonDocument;
use answers::command_client::CommandError;
use answers::deadline::Deadline;
use answers::error::ApiError;
use answers::state::ApiState;

static SIGNATURE: HeaderName = HeaderName::from_static("stripe-signature");

/// Answers once the notice is durable: Stripe sends it again until then.
pub(crate) async fn stripe(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<JsonDocument, ApiError> {
    let webhook = state.payments().ok_or_else(ApiError::not_found)?;
    let signature = headers.get(&SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let command = webhook.payments.command(signature, &body, state.now());
    let command = command.map_err(|error| ApiError::invalid_signature(detail(error)))?;
    match webhook.commands.send(payments::ACTOR, command, deadline).await {
        Ok(CommandReply::Payment(_)) => Ok(JsonDocument::of(r#"{"received":true}"#)),
        Ok(_) => Err(ApiError::notice_not_recorded("the write side answered with something else")),
        Err(
            CommandError::Rejected(reason)
            | CommandError::Unavailable(reason)
            | CommandError::OutcomeUnknown(reason),
        ) => Err(ApiError::notice_not_recorded(reason)),
    }
}

fn detail(error: SignatureError) -> &'static str {
    match error {
        SignatureError::Missing => "The header Stripe-Signature is missing, or has no t= and v1= in it.",
        SignatureError::Mismatch => {
            "The signature is not made with the secret of this service over these bytes."
        }
        SignatureError::Expired => {
            "The signature was made more than 300 seconds ago, or that far in the future. Check both clocks; an event is signed again each time it is sent."
        }
    }
}
