//! `GET` and `POST /keys`: a free key for an address.
//!
//! A page is made the same way, and takes as long, whether the address is known or not. That an address has all its keys
//! is told, as over MCP: the key itself would tell.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures::future::Either;
use http::HeaderMap;
use schemas::email::Email;
use tokio::time::Instant;

use super::form::{access, field, spend};
use super::layout::Layout;
use super::page;
use super::words::{grouped, sentence};
use crate::access::KeyAccess;
use crate::deadline::Deadline;
use crate::fault::Fault;
use crate::front::Peer;
use crate::key_desk::{NotDone, on_the_beat};
use crate::state::ApiState;

/// Who the event is by.
const ACTOR: &str = "site";

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    layout: Layout,
    calls: String,
    email: String,
    /// Why there is no key.
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "key_issued.html")]
struct Issued {
    layout: Layout,
    key: String,
    calls: String,
}

impl Issued {
    /// A first call, with the key in its place.
    fn example(&self) -> String {
        format!(
            "curl -H 'Authorization: Bearer {}' \\\n  '{}/v1/search?q=brick+library'",
            self.key, self.layout.site
        )
    }
}

pub(super) async fn form(State(state): State<ApiState>) -> Result<Response, Fault> {
    let access = access(&state)?;
    page(&blank(&state, access))
}

pub(super) async fn issue(
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
    let begun = Instant::now();
    let tier = access.tiers.first().name.clone();
    let issued = access.desk.issue(&state, email, tier, ACTOR, deadline).await;
    on_the_beat(begun).await;
    match issued {
        Ok(key) => page(&Issued {
            layout: Layout::new(&state, "/keys", "Your key").private(),
            key: key.expose().to_owned(),
            calls: grouped(access.tiers.first().quota),
        }),
        Err(NotDone::Refused(reason)) => {
            let fault = Some(format!("No key was made: {reason}."));
            page(&KeysPage { email: field(&body, "email"), fault, ..blank(&state, access) })
        }
        Err(NotDone::Unavailable(cause)) => Err(Fault::uncreated(cause)),
        Err(NotDone::Unknown(cause)) => Err(Fault::unconfirmed(cause)),
    }
}

/// The address that a form brings, which takes one of those that its sender may ask for; or else the form again, with
/// what is wrong with the address.
pub(super) fn addressed(
    state: &ApiState,
    access: &KeyAccess,
    peer: Peer,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Either<Email, Response>, Fault> {
    let email = field(body, "email");
    match email.parse::<Email>() {
        Ok(parsed) => spend(access, peer, headers).map(|()| Either::Left(parsed)),
        Err(error) => page(&KeysPage { email, fault: Some(sentence(&error)), ..blank(state, access) })
            .map(Either::Right),
    }
}

fn blank(state: &ApiState, access: &KeyAccess) -> KeysPage {
    let layout = Layout::new(state, "/keys", "Get a key")
        .describing("A free key for REST and MCP, for an address.", "/keys");
    KeysPage { layout, calls: grouped(access.tiers.first().quota), email: String::new(), fault: None }
}
