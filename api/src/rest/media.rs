//! `GET /media/{picture}/{width}.webp`: a stored picture at one of its widths. Its name is a hash of its contents, so it never changes;
//! one that was taken down permanently is 410.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use schemas::picture::{Form, PictureId};

use answers::error::ApiError;
use answers::state::ApiState;

/// Every cache may store it for a year without revalidation.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

pub(crate) async fn picture(
    State(state): State<ApiState>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, ApiError> {
    let Ok(Path((picture, file))) = path else { return Err(ApiError::not_found()) };
    let (Ok(id), Some(form)) = (picture.parse::<PictureId>(), Form::of(&file)) else {
        return Err(ApiError::not_found());
    };
    let kind = match form {
        Form::Webp(_) => HeaderValue::from_static("image/webp"),
        Form::Jpeg(_) => HeaderValue::from_static("image/jpeg"),
        // The original may contain metadata of the camera, such as the location, which is not public.
        Form::Original => return Err(ApiError::not_found()),
    };
    match state.media().read(id, form).await.map_err(ApiError::unavailable_because)? {
        None if state.media().is_erased(id).await.map_err(ApiError::unavailable_because)? => {
            Err(ApiError::taken_down())
        }
        None => Err(ApiError::not_found()),
        Some(bytes) => {
            // It is the same for all callers, in one encoding.
            let vary = HeaderValue::from_static("Origin");
            Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, IMMUTABLE), (VARY, vary)], bytes).into_response())
        }
    }
}
