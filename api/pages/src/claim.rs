//! `GET` and `POST /claim/{token}`: the page of a mailed link. `GET` changes nothing, since mail scanners open links; only the form
//! acts, once.

use std::time::Duration;

use answers::auth::access::KeyAccess;
use answers::auth::proxies::Peer;
use answers::command_client::{CommandError, KeyChoices};
use answers::deadline::Deadline;
use answers::error::ApiError;
use answers::query;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::future::Either;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, StatusCode};
use schemas::command::{CurrentKey, LinkDetails, LinkKey};
use schemas::key::KeyId;
use schemas::link::LinkToken;
use schemas::tier::TierName;

use super::form::{access, field, refused, wants_problem};
use super::keys::{KeysPage, addressed};
use super::layout::Layout;
use super::new_key::KeyUses;
use super::page;
use super::words::{capitalised, sentence};

/// The part of a request's time that is reserved for using the link after reading it.
const USING: Duration = Duration::from_secs(5);
/// The sentence about an invalid token.
const NEVER_MADE: &str = "this link is incomplete; open the whole link from the mail, or request another";
/// The sentence about every link that cannot be used on a site that mails none.
const NOT_MAILED: &str = "this link was used before, has expired or is incomplete; open the whole link, or ask the operator for another";

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
    /// What the new key can be used for.
    uses: Option<KeyUses>,
    kept: Vec<String>,
    revoked: Vec<String>,
}

#[derive(Template)]
#[template(path = "claim_gone.html")]
struct Gone {
    layout: Layout,
    reason: String,
    mails: bool,
}

#[derive(Template)]
#[template(path = "erased.html")]
struct Erased {
    layout: Layout,
}

/// A key as its owner recognises it.
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
) -> Result<Response, ApiError> {
    let access = access(&state)?;
    if !access.mail.is_available() {
        return Err(ApiError::no_mail(access.mail.contact.as_ref()));
    }
    let email = match addressed(&state, access, peer, &headers, &body, KeysPage::asking)? {
        Either::Left(email) => email,
        Either::Right(page) => return Ok(page),
    };
    match access.commands.send_link(email, deadline).await {
        Ok(()) => page(&Asked { layout: Layout::new(&state, route::KEYS, "Check your email").private() }),
        Err(CommandError::Rejected(cause) | CommandError::Unavailable(cause)) => {
            Err(ApiError::command_unavailable(cause))
        }
        Err(CommandError::OutcomeUnknown(cause)) => Err(ApiError::command_unconfirmed(cause)),
    }
}

pub(super) async fn look(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let access = access(&state)?;
    match open(&state, access, path, &headers, deadline).await? {
        Either::Left((token, claim)) => {
            let page = page(&ClaimPage::of(&state, token, claim, None))?;
            Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], page).into_response())
        }
        Either::Right(page) => Ok(page),
    }
}

pub(super) async fn act(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let access = access(&state)?;
    let opened = open(&state, access, path, &headers, deadline.earlier_by(USING)).await?;
    let (token, claim) = match opened {
        Either::Left(opened) => opened,
        Either::Right(page) => return Ok(page),
    };
    if !field(&body, "erase").is_empty() {
        return erase(&state, access, token, claim, deadline).await;
    }
    let wants_key = !field(&body, "new").is_empty();
    let new_key = wants_key.then(|| (access.tiers.first().name.clone(), None));
    let decision = decided(&body, &claim, new_key);
    if decision == KeyChoices::default() {
        let fault = "Nothing was ticked, so nothing was done. Tick the keys that are yours, or those to end."
            .to_owned();
        let page = ClaimPage::of(&state, token, claim, Some(fault));
        return refused(StatusCode::UNPROCESSABLE_ENTITY, &page);
    }
    match access.commands.use_link(state.models(), &token, decision, state.now(), deadline).await {
        Ok(claimed) => {
            let hints = |is: fn(&CurrentKey) -> bool| hints(&claim.keys, &claimed.keys, is);
            page(&ClaimedPage {
                layout: Layout::new(&state, route::KEYS, "Your keys").private(),
                kept: hints(|key| !key.revoked),
                revoked: hints(|key| key.revoked),
                uses: claimed.new_key.as_ref().map(|key| KeyUses::of(state.site(), key.expose())),
                key: claimed.new_key.map(|key| key.expose().to_owned()),
            })
        }
        Err(error) => not_done(&state, token, claim, error),
    }
}

/// Deletes the address of a link and revokes its keys.
async fn erase(
    state: &ApiState,
    access: &KeyAccess,
    token: String,
    claim: LinkDetails,
    deadline: Deadline,
) -> Result<Response, ApiError> {
    match access.commands.erase_by_link(&token, deadline).await {
        Ok(()) => page(&Erased { layout: Layout::new(state, route::KEYS, "Deleted").private() }),
        Err(error) => not_done(state, token, claim, error),
    }
}

/// Returns the page of a link with the reason why nothing was done, or the error of a command that may have been.
fn not_done(
    state: &ApiState,
    token: String,
    claim: LinkDetails,
    error: CommandError,
) -> Result<Response, ApiError> {
    match error {
        CommandError::Rejected(reason) => {
            let page = ClaimPage::of(state, token, claim, Some(format!("Nothing was done: {reason}.")));
            refused(StatusCode::CONFLICT, &page)
        }
        CommandError::Unavailable(cause) => Err(ApiError::command_unavailable(cause)),
        CommandError::OutcomeUnknown(cause) => Err(ApiError::command_unconfirmed(cause)),
    }
}

/// Returns the token of a link and what it is for; otherwise the page that says why it cannot be used.
async fn open(
    state: &ApiState,
    access: &KeyAccess,
    path: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    deadline: Deadline,
) -> Result<Either<(String, LinkDetails), Response>, ApiError> {
    let Path(token) = path.map_err(|_| ApiError::not_found())?;
    // An invalid token is refused without a request to the write side.
    let reason = match LinkToken::is_formed(&token) {
        false => NEVER_MADE.to_owned(),
        true => match access.commands.open_link(&token, deadline).await {
            Ok(claim) => return Ok(Either::Left((token, claim))),
            Err(CommandError::Rejected(reason)) => reason,
            // Reading changes nothing.
            Err(CommandError::Unavailable(cause) | CommandError::OutcomeUnknown(cause)) => {
                return Err(ApiError::command_unavailable(cause));
            }
        },
    };
    let mails = access.mail.is_available();
    let reason = if mails { reason } else { NOT_MAILED.to_owned() };
    if wants_problem(headers) {
        return Err(ApiError::invalid_link(sentence(&reason)));
    }
    let layout = Layout::new(state, route::KEYS, "This link has expired").private();
    refused(StatusCode::GONE, &Gone { layout, reason: sentence(&reason), mails }).map(Either::Right)
}

impl ClaimPage {
    fn of(state: &ApiState, token: String, claim: LinkDetails, fault: Option<String>) -> ClaimPage {
        ClaimPage {
            layout: Layout::new(state, route::KEYS, "Your keys").private(),
            token,
            has_room: claim.places > 0 || claim.replaces,
            until: claim.expires_at.strftime("%H:%M UTC").to_string(),
            keys: claim.keys.into_iter().map(Shown::of).collect(),
            fault,
        }
    }
}

impl Shown {
    fn of(key: LinkKey) -> Shown {
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

/// Returns the selected keys: those to keep and those to revoke. A key that is not named is unchanged: it may have been created
/// after the page was loaded.
fn decided(body: &Bytes, claim: &LinkDetails, new_key: Option<(TierName, Option<String>)>) -> KeyChoices {
    let body = String::from_utf8_lossy(body);
    let ticked = |name: &'static str| -> Vec<KeyId> {
        let ids: Vec<KeyId> = query::values(&body, name).filter_map(|id| id.parse().ok()).collect();
        claim.keys.iter().map(|key| key.key_id).filter(|id| ids.contains(id)).collect()
    };
    let (mut keep, revoke) = (ticked("keep"), ticked("revoke"));
    keep.retain(|id| !revoke.contains(id));
    KeyChoices { keep, revoke, new_key }
}

/// Returns the last characters of the keys on the page.
fn hints(shown: &[LinkKey], now: &[CurrentKey], is: fn(&CurrentKey) -> bool) -> Vec<String> {
    let of = |key: &&LinkKey| now.iter().any(|one| one.key_id == key.key_id && is(one));
    shown.iter().filter(of).map(|key| key.hint.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_selected_keys_are_decided() {
        let key = |id: &str| {
            json!({"key_id": id, "hint": "abcd", "name": null, "tier": "free", "proven": false,
                "created_at": "2026-11-20T08:00:00Z"})
        };
        let claim = json!({"keys": [key("Ab3dEf9h"), key("Ab3dEf9i"), key("Ab3dEf9j")], "places": 0,
            "replaces": false, "expires_at": "2026-11-20T08:30:00Z"});
        let claim: LinkDetails = serde_json::from_value(claim).unwrap();
        let of = |body: &str| {
            let KeyChoices { keep, revoke, new_key: None } = decided(&body.to_owned().into(), &claim, None)
            else {
                panic!()
            };
            let names = |ids: Vec<KeyId>| ids.iter().map(KeyId::to_string).collect::<Vec<_>>().join(" ");
            (names(keep), names(revoke))
        };
        let expect = |keep: &str, revoke: &str| (keep.to_owned(), revoke.to_owned());
        assert_eq!(of(""), expect("", ""), "nothing is proven by silence");
        assert_eq!(of("keep=Ab3dEf9h&revoke=Ab3dEf9i"), expect("Ab3dEf9h", "Ab3dEf9i"));
        assert_eq!(of("keep=Ab3dEf9h&revoke=Ab3dEf9h"), expect("", "Ab3dEf9h"), "an end is an end");
        assert_eq!(
            of("keep=Zz3dEf9h&keep=x"),
            expect("", ""),
            "a key of another account does not belong to the link"
        );
    }
}
