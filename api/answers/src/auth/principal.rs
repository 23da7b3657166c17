//! The principal of a request: its rate limit and what remains of its quota. [`admission`](super::admission) determines it,
//! [`charge`](super::charge) charges its calls.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use schemas::key::KeyId;

use crate::auth::access::{Access, ApiKey, Balance};
use crate::auth::allowance::Allowance;
use crate::catalog::detail::Detail;
use crate::catalog::taste_records::TasteRecords;
use crate::effort::Effort;
use crate::error::ApiError;
use crate::state::ApiState;

/// Who is calling.
#[derive(Debug, Clone)]
pub enum Principal {
    /// Any caller of a node where nothing is counted.
    Unmetered,
    /// A caller without a valid key.
    Anonymous,
    /// The holder of a key.
    ApiKey(ApiKey),
}

impl Principal {
    /// Returns the principal of a request without a valid key.
    pub fn without_key(state: &ApiState) -> Principal {
        match state.access() {
            Access::Open => Principal::Unmetered,
            Access::Keys(_) => Principal::Anonymous,
        }
    }

    /// Returns the id of its key, if it has one.
    #[inline]
    pub fn key_id(&self) -> Option<KeyId> {
        match self {
            Principal::ApiKey(key) => Some(key.key_id),
            Principal::Unmetered | Principal::Anonymous => None,
        }
    }

    /// Returns whether its calls are charged.
    #[inline]
    pub fn is_metered(&self) -> bool {
        matches!(self, Principal::ApiKey(_))
    }

    /// Returns what its key has used of its quota; `None` without a key.
    pub fn balance(&self, state: &ApiState, now: Timestamp) -> Option<Balance> {
        match (self, state.access()) {
            (Principal::ApiKey(key), Access::Keys(access)) => Some(access.balance(state.models(), key, now)),
            _ => None,
        }
    }

    /// Returns the content of the rate headers.
    pub fn allowance(&self, state: &ApiState, now: Timestamp) -> Allowance {
        match (self, state.access()) {
            (Principal::Unmetered, _) | (_, Access::Open) => Allowance::UNLIMITED,
            (Principal::Anonymous, _) => Allowance::NONE,
            (Principal::ApiKey(key), Access::Keys(access)) => {
                Allowance::of(&access.balance(state.models(), key, now), access.rate_limits.per_key())
            }
        }
    }

    /// Counts a body that is about to be read from this address against the rate limit of bodies, if the caller has no key.
    ///
    /// # Errors
    ///
    /// The time to wait, if the limit is exceeded.
    pub fn check_new_body(&self, access: &Access, address: IpAddr) -> Result<(), Duration> {
        match (self, access) {
            (Principal::Anonymous, Access::Keys(access)) => access.rate_limits.body(address),
            _ => Ok(()),
        }
    }

    /// Counts calls that came at once from this address against the rate limit.
    ///
    /// # Errors
    ///
    /// The time to wait, if the limit is exceeded.
    pub fn check_rate_limit(&self, access: &Access, address: IpAddr, calls: u32) -> Result<(), Duration> {
        let Access::Keys(access) = access else { return Ok(()) };
        match self {
            Principal::Unmetered => Ok(()),
            Principal::Anonymous => access.rate_limits.address(address, calls),
            Principal::ApiKey(key) => access.rate_limits.key(key.key_id, calls),
        }
    }

    /// Counts what an admitted call from this address asks for beside a plain one against the rate limit: the next calls wait longer.
    pub fn weigh(&self, access: &Access, address: IpAddr, effort: Effort) {
        let (Access::Keys(access), more @ 1..) = (access, effort.units() - 1) else { return };
        if effort.is_repeated {
            return;
        }
        match self {
            Principal::Unmetered => {}
            Principal::Anonymous => access.rate_limits.address_asks_for_more(address, more),
            Principal::ApiKey(key) => access.rate_limits.key_asks_for_more(key.key_id, more),
        }
    }

    /// Runs a read for an admitted call from this address, which is weighed. A dear read waits for its turn, which the deadline of its
    /// request bounds.
    pub async fn read<T>(
        &self,
        state: &ApiState,
        address: IpAddr,
        effort: Effort,
        read: impl FnOnce() -> T,
    ) -> T {
        if effort.is_plain() {
            return read();
        }
        self.weigh(state.access(), address, effort);
        let turn = state.turns().take().await;
        let projects = state.listing().map_or(u64::MAX, |now| now.listed(None));
        if effort.is_short(projects) { read() } else { turn.run(read) }
    }

    /// Runs a read from a disk for an admitted call from this address, as [`Principal::read`] does. It keeps no thread waiting.
    pub async fn read_from_disk<T>(
        &self,
        state: &ApiState,
        address: IpAddr,
        effort: Effort,
        read: impl Future<Output = T>,
    ) -> T {
        if effort.is_plain() {
            return read.await;
        }
        self.weigh(state.access(), address, effort);
        let turn = state.turns().take().await;
        let answer = read.await;
        drop(turn);
        answer
    }

    /// Runs the read of a list with this detail, as [`Principal::read`] does: once more if `list` answers nothing, since records are to be
    /// read first.
    ///
    /// # Errors
    ///
    /// The errors of `list` and of [`TasteRecords::read`].
    pub async fn read_list<T, E: From<ApiError>>(
        &self,
        state: &ApiState,
        address: IpAddr,
        (effort, detail): (Effort, Detail),
        mut list: impl FnMut(&mut TasteRecords) -> Result<Option<T>, E>,
    ) -> Result<T, E> {
        let mut records = TasteRecords::of(detail);
        loop {
            let effort = records.effort(effort);
            if let Some(answer) = self.read(state, address, effort, || list(&mut records)).await? {
                return Ok(answer);
            }
            records.read(state).await?;
        }
    }
}
