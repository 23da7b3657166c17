//! The caller of an endpoint: what a list needs to know of its request, so that it is weighed and refused before its work.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::auth::charge::UsedUp;
use crate::auth::principal::Principal;
use crate::catalog::detail::Detail;
use crate::catalog::taste_records::TasteRecords;
use crate::effort::Effort;
use crate::error::ApiError;
use crate::state::ApiState;

/// The caller of an endpoint. The request pipeline passes it on as an extension; calls within this process have none, and are not limited.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who is calling.
    pub principal: Principal,
    /// The address of the caller.
    pub address: IpAddr,
    /// Whether the request names entity tags: its answer may be 304, which is not charged, and only the whole answer tells.
    pub is_conditional: bool,
}

impl Caller {
    /// Runs a read, which a dear one waits for (see [`Principal::read`]).
    pub async fn read<T>(&self, state: &ApiState, effort: Effort, read: impl FnOnce() -> T) -> T {
        self.principal.read(state, self.address, effort, read).await
    }

    /// Runs the read of a list with this detail (see [`Principal::read_list`]).
    ///
    /// # Errors
    ///
    /// The errors of `list`, and if the catalog cannot be read, or does not have a project yet that is listed.
    pub async fn read_list<T>(
        &self,
        state: &ApiState,
        asked: (Effort, Detail),
        list: impl FnMut(&mut TasteRecords) -> Result<Option<T>, ApiError>,
    ) -> Result<T, ApiError> {
        self.principal.read_list(state, self.address, asked, list).await
    }

    /// Runs the read of a page, which is limited by address with and without a key (see [`Principal::read`]).
    pub async fn read_page<T>(&self, state: &ApiState, effort: Effort, read: impl FnOnce() -> T) -> T {
        Principal::without_key(state).read(state, self.address, effort, read).await
    }

    /// Weighs a page that is made in another way (see [`Principal::weigh`]).
    pub fn weigh_page(&self, state: &ApiState, effort: Effort) {
        Principal::without_key(state).weigh(state.access(), self.address, effort);
    }

    /// Returns that its key is used up, if the call is refused for that unless it is not charged at all.
    pub fn used_up(&self, state: &ApiState) -> Option<UsedUp> {
        if self.is_conditional { None } else { self.principal.used_up(state) }
    }
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Caller, Infallible> {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let within = || Caller { principal: Principal::Unmetered, address, is_conditional: false };
        Ok(parts.extensions.get::<Caller>().cloned().unwrap_or_else(within))
    }
}
