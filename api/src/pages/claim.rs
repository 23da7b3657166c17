//! `GET` and `POST /claim/{token}`: the page behind a mailed link. Looking at it does nothing, so that scanners of mails may;
//! only its form acts, once.

use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::future::Either;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue};
use schemas::command::{Claim, ClaimedKey, KeyNow};
use schemas::key::KeyId;

use super::form::{access, field};
use super::keys::addressed;
use super::layout::Layout;
use super::page;
use super::words::{capitalised, sentence};
use crate::deadline::Deadline;
use crate::fault::Fault;
use crate::front::Peer;
use crate::key_desk::{Decision, NotDone};
use crate::query;
use crate::state::ApiState;

/// What using a link may take of a request's time, after it was looked at.
const USING: Duration = Duration::from_secs(5);

#[derive(Template)]
#[template(path = "link_asked.html")]
struct Asked {
    layout: Layout,
}

#[derive(Template)]
#[template(path = "claim.html")]
struct ClaimPage {
    layout: Layout,
    token: String,
    keys: Vec<Shown>,
    has_room: bool,
    until: String,
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "claimed.html")]
struct ClaimedPage {
    layout: Layout,
    key: Option<String>,
    kept: Vec<String>,
    revoked: Vec<String>,
}

#[derive(Template)]
#[template(path = "claim_gone.html")]
struct Gone {
    layout: Layout,
    reason: String,
}

/// A key as its holder recognises it.
struct Shown {
    id: String,
    hint: String,
    name: Option<String>,
    tier: String,
    since: String,
    is_proven: bool,
}

/// `POST /keys/link`: the answer is the same for every address.
pub(super) async fn ask(
    State(state): State<ApiState>,
    Extension(peer): Extension<Peer>,
    Extension(deadline): Extension<Deadline>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Fault> {
    let access = access(&state)?;
    let email = match addressed(&state, access, peer, &headers, &body)? {
        Either::Left(email) => email,
        Either::Right(page) => return Ok(page),
    };
    match access.desk.send_link(email, deadline).await {
        Ok(()) => page(&Asked { layout: Layout::new(&state, "/keys", "A link is on its way").private() }),
        Err(NotDone::Refused(cause) | NotDone::Unavailable(cause)) => Err(Fault::uncreated(cause)),
        Err(NotDone::Unknown(cause)) => Err(Fault::unconfirmed(cause)),
    }
}

pub(super) async fn look(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Fault> {
    let access = access(&state)?;
    let Path(token) = path.map_err(|_| Fault::not_found())?;
    match access.desk.open_link(&token, deadline).await {
        Ok(claim) => {
            let page = page(&ClaimPage::of(&state, token, claim, None))?;
            Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], page).into_response())
        }
        Err(NotDone::Refused(reason)) => gone(&state, &reason),
        // Looking changes nothing.
        Err(NotDone::Unavailable(cause) | NotDone::Unknown(cause)) => Err(Fault::uncreated(cause)),
    }
}

pub(super) async fn act(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    path: Result<Path<String>, PathRejection>,
    body: Bytes,
) -> Result<Response, Fault> {
    let access = access(&state)?;
    let Path(token) = path.map_err(|_| Fault::not_found())?;
    let claim = match access.desk.open_link(&token, deadline.less(USING)).await {
        Ok(claim) => claim,
        Err(NotDone::Refused(reason)) => return gone(&state, &reason),
        Err(NotDone::Unavailable(cause) | NotDone::Unknown(cause)) => return Err(Fault::uncreated(cause)),
    };
    let revoke = ticked(&body, &claim);
    let shown = claim.keys.iter().map(|key| key.key_id);
    let keep = shown.filter(|id| !revoke.contains(id)).collect();
    let wants_key = !field(&body, "new").is_empty();
    let new_key = wants_key.then(|| (access.tiers.first().name.clone(), None));
    match access.desk.use_link(&state, &token, Decision { keep, revoke, new_key }, deadline).await {
        Ok(claimed) => {
            let hints = |is: fn(&KeyNow) -> bool| hints(&claim.keys, &claimed.keys, is);
            page(&ClaimedPage {
                layout: Layout::new(&state, "/keys", "Your keys").private(),
                kept: hints(|key| !key.revoked),
                revoked: hints(|key| key.revoked),
                key: claimed.new_key.map(|key| key.expose().to_owned()),
            })
        }
        Err(NotDone::Refused(reason)) => {
            page(&ClaimPage::of(&state, token, claim, Some(format!("Nothing was done: {reason}."))))
        }
        Err(NotDone::Unavailable(cause)) => Err(Fault::uncreated(cause)),
        Err(NotDone::Unknown(cause)) => Err(Fault::unconfirmed(cause)),
    }
}

impl ClaimPage {
    fn of(state: &ApiState, token: String, claim: Claim, fault: Option<String>) -> ClaimPage {
        ClaimPage {
            layout: Layout::new(state, "/keys", "Your keys").private(),
            token,
            has_room: claim.places > 0 || claim.replaces,
            until: claim.expires_at.strftime("%H:%M UTC").to_string(),
            keys: claim.keys.into_iter().map(Shown::of).collect(),
            fault,
        }
    }
}

impl Shown {
    fn of(key: ClaimedKey) -> Shown {
        Shown {
            id: key.key_id.to_string(),
            hint: key.hint,
            name: key.name,
            tier: capitalised(key.tier.as_str()),
            since: key.created_at.strftime("%-d %B %Y, %H:%M UTC").to_string(),
            is_proven: key.proven,
        }
    }
}

/// The keys that shall end; what is not on the page is not decided about.
fn ticked(body: &Bytes, claim: &Claim) -> Vec<KeyId> {
    let body = String::from_utf8_lossy(body);
    let ids: Vec<KeyId> = query::values(&body, "revoke").filter_map(|id| id.parse().ok()).collect();
    claim.keys.iter().map(|key| key.key_id).filter(|id| ids.contains(id)).collect()
}

/// The last characters of those keys that were on the page.
fn hints(shown: &[ClaimedKey], now: &[KeyNow], is: fn(&KeyNow) -> bool) -> Vec<String> {
    let of = |key: &&ClaimedKey| now.iter().any(|one| one.key_id == key.key_id && is(one));
    shown.iter().filter(of).map(|key| key.hint.clone()).collect()
}

fn gone(state: &ApiState, reason: &str) -> Result<Response, Fault> {
    let layout = Layout::new(state, "/keys", "This link is of no use any more").private();
    page(&Gone { layout, reason: sentence(&reason) })
}
