//! `GET` and `POST /keys`: a free API key for an email address.
//!
//! Contents and response time do not depend on whether the address is known. That an address has the maximum number of keys is
//! shown, as over MCP: the missing key would reveal it anyway.

use answers::auth::access::KeyAccess;
use answers::auth::proxies::Peer;
use answers::command_client::{CommandError, IssuedKey, KeyRequest, pad_response_time};
use answers::deadline::Deadline;
use answers::error::ApiError;
use answers::mail::Contact;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures::future::Either;
use http::{HeaderMap, StatusCode};
use schemas::email::Email;
use tokio::time::Instant;
use uuid::Uuid;

use super::form::{access, check_kind, field, limit_requests, refused, wants_problem};
use super::layout::Layout;
use super::new_key::KeyUses;
use super::page;
use super::words::{grouped, sentence};

/// The actor of the events.
const ACTOR: &str = "site";

/// The page with the two forms.
#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    layout: Layout,
    calls: String,
    /// The id of this copy of the form: it creates one key, however often it is submitted.
    form: Uuid,
    key: Entered,
    link: Entered,
    /// Whether links are mailed.
    mails: bool,
    contact: Option<Contact>,
}

/// The input of one of the forms.
#[derive(Default)]
pub(super) struct Entered {
    email: String,
    /// The name of the key.
    name: String,
    /// Why nothing was done.
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "key_issued.html")]
struct Issued {
    layout: Layout,
    uses: KeyUses,
    key: String,
    calls: String,
    mails: bool,
}

#[derive(Template)]
#[template(path = "key_form_sent.html")]
struct AlreadySent {
    layout: Layout,
}

impl Entered {
    fn of(body: &Bytes, fault: String) -> Entered {
        Entered { email: field(body, "email"), name: field(body, "name"), fault: Some(fault) }
    }
}

pub(super) async fn form(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let access = access(&state)?;
    page(&KeysPage::blank(&state, access))
}

pub(super) async fn issue(
    State(state): State<ApiState>,
    Extension(peer): Extension<Peer>,
    Extension(deadline): Extension<Deadline>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let access = access(&state)?;
    let email = match addressed(&state, access, peer, &headers, &body, KeysPage::getting)? {
        Either::Left(email) => email,
        Either::Right(page) => return Ok(page),
    };
    let begun = Instant::now();
    let (tier, form) = (access.tiers.first().name.clone(), field(&body, "form").parse().ok());
    let name = Some(field(&body, "name").trim().to_owned()).filter(|name| !name.is_empty());
    let request = KeyRequest { email, tier, name, actor: ACTOR, form };
    let issued = access.commands.issue(state.models(), request, state.now(), deadline).await;
    pad_response_time(begun).await;
    match issued {
        Ok(IssuedKey::New(key)) => page(&Issued {
            layout: Layout::new(&state, route::KEYS, "Your key").private(),
            uses: KeyUses::of(state.site(), key.expose()),
            key: key.expose().to_owned(),
            calls: grouped(access.tiers.first().quota),
            mails: access.mail.is_available(),
        }),
        Ok(IssuedKey::AlreadyIssued) if wants_problem(&headers) => Err(ApiError::refused(
            "This form was sent before, and the key was shown then. Open /keys again for another form.",
        )),
        Ok(IssuedKey::AlreadyIssued) => {
            let layout = Layout::new(&state, route::KEYS, "This form was already sent").private();
            refused(StatusCode::CONFLICT, &AlreadySent { layout })
        }
        Err(CommandError::Rejected(reason)) => {
            let fault = sentence(&reason);
            if wants_problem(&headers) {
                return Err(ApiError::refused(fault));
            }
            let entered = Entered::of(&body, fault);
            refused(StatusCode::CONFLICT, &KeysPage::blank(&state, access).getting(entered))
        }
        Err(CommandError::Unavailable(cause)) => Err(ApiError::command_unavailable(cause)),
        Err(CommandError::OutcomeUnknown(cause)) => Err(ApiError::command_unconfirmed(cause)),
    }
}

/// Returns the address of a form, after counting the request against the sender's limit; otherwise the page again, with the
/// problem at the field.
pub(super) fn addressed(
    state: &ApiState,
    access: &KeyAccess,
    peer: Peer,
    headers: &HeaderMap,
    body: &Bytes,
    entered_in: fn(KeysPage, Entered) -> KeysPage,
) -> Result<Either<Email, Response>, ApiError> {
    check_kind(headers)?;
    let email = field(body, "email");
    match email.parse::<Email>() {
        Ok(parsed) => limit_requests(access, peer, headers).map(|()| Either::Left(parsed)),
        Err(error) if wants_problem(headers) => Err(ApiError::invalid_field("email", &error)),
        Err(_) => {
            let entered = Entered::of(body, "Enter an email address, such as name@example.org.".to_owned());
            let page = entered_in(KeysPage::blank(state, access), entered);
            refused(StatusCode::UNPROCESSABLE_ENTITY, &page).map(Either::Right)
        }
    }
}

impl KeysPage {
    fn blank(state: &ApiState, access: &KeyAccess) -> KeysPage {
        let layout = Layout::new(state, route::KEYS, "Get a key")
            .describing("A free key for REST and MCP, for an address.", route::KEYS);
        KeysPage {
            layout,
            calls: grouped(access.tiers.first().quota),
            form: Uuid::new_v4(),
            key: Entered::default(),
            link: Entered::default(),
            mails: access.mail.is_available(),
            contact: access.mail.contact.clone(),
        }
    }

    /// Fills in the form for a key.
    fn getting(self, key: Entered) -> KeysPage {
        KeysPage { key, ..self }.refused()
    }

    /// Fills in the form for a link.
    pub(super) fn asking(self, link: Entered) -> KeysPage {
        KeysPage { link, ..self }.refused()
    }

    fn refused(mut self) -> KeysPage {
        self.layout.title = format!("Error: {}", self.layout.title);
        self
    }
}
