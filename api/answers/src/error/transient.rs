//! Errors of the server, which pass: the same request may succeed later.

use std::borrow::Cow;

use schemas::api::problem::ProblemKind;

use super::ApiError;

impl ApiError {
    /// An answer that was not ready in time.
    pub fn timeout() -> ApiError {
        ApiError::new(ProblemKind::Timeout, "The answer was not ready in time. Try again in a few seconds.")
            .on_pages("This took too long.")
            .retry_after(5)
    }

    /// A defect or a damaged model; the cause is for the log only.
    pub fn internal(cause: impl ToString) -> ApiError {
        ApiError::new(
            ProblemKind::Internal,
            "Something broke while answering. If it happens again, tell the operator the member instance.",
        )
        .on_pages("Something went wrong here, and it was written to the log. If it happens again, tell us the reference below.")
        .caused_by(cause)
    }

    /// A panic of an endpoint.
    pub fn panicked() -> ApiError {
        ApiError::internal("the endpoint panicked")
    }

    /// A failure that passes; `detail` says what is missing.
    pub fn unavailable(detail: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ProblemKind::Unavailable, detail).retry_after(2)
    }

    /// A read model that is not there yet; `detail` says which, and how far it is.
    pub fn not_ready(detail: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::unavailable(detail).on_pages("The catalog is loading.")
    }

    /// A project that is in the search index but not in the catalog yet.
    pub fn catching_up() -> ApiError {
        ApiError::unavailable(
            "The project was listed a moment ago, and its record is on its way. Try again in a second.",
        )
        .retry_after(1)
    }

    /// A cursor of another node, which this one has not reached.
    pub fn behind_cursor() -> ApiError {
        ApiError::unavailable("This node has not come as far as the cursor yet. Try again in a second.")
            .retry_after(1)
    }

    /// A search by meaning alone on a node without a text model.
    pub fn no_text_model() -> ApiError {
        ApiError::unavailable(
            "This node has no text model, so nothing can be searched for by meaning. Search by words (mode=words), or have the operator \
             install the weights: bin/setup downloads them, loggia models fetch DIR takes files copied by hand; then restart it.",
        )
        .retry_after(3_600)
    }

    /// A read model that cannot be read at present; the cause is for the log only.
    pub fn unavailable_because(cause: impl ToString) -> ApiError {
        ApiError::unavailable("The catalog cannot be read at present. Try again in a few seconds.")
            .caused_by(cause)
    }
}
