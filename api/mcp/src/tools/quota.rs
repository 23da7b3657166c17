//! What a call costs before its work: what it asks for, and the quota of a key that is used up, or nearly.

use answers::auth::access::Balance;
use answers::auth::charge::UsedUp;
use answers::catalog::detail::Detail;
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::site::Site;
use serde::Serialize;

use super::CallContext;
use crate::tools::answer::Refusal;

/// The quota of the current month.
#[derive(Serialize)]
pub(crate) struct Quota {
    limit: u64,
    used: u64,
    remaining: u64,
    resets_at: jiff::Timestamp,
}

impl Quota {
    pub(crate) fn of(balance: &Balance) -> Quota {
        let Balance { limit, used, ref budget, .. } = *balance;
        Quota { limit, used, remaining: limit.saturating_sub(used), resets_at: budget.month.end() }
    }

    /// Returns a sentence about what is left, if that is less than a tenth: a model does not see the `_meta` of an answer, and could not
    /// tell its user in time.
    pub(crate) fn little_left(&self, site: &Site) -> Option<String> {
        let Quota { limit, remaining, .. } = *self;
        let are = if remaining == 1 { "is" } else { "are" };
        (remaining.saturating_mul(10) < limit)
            .then(|| format!("{remaining} of {limit} calls {are} left this month; more: {site}/pricing."))
    }
}

/// Runs a read, which a dear one waits for.
pub(super) async fn read<T>(context: CallContext<'_>, effort: Effort, read: impl FnOnce() -> T) -> T {
    context.principal.read(context.state, context.address, effort, read).await
}

/// Runs the read of a list with this detail: once more if it answers nothing, since records are to be read first.
pub(super) async fn read_list<T>(
    context: CallContext<'_>,
    asked: (Effort, Detail),
    list: impl FnMut(&mut TasteRecords) -> Result<Option<T>, Refusal>,
) -> Result<T, Refusal> {
    context.principal.read_list(context.state, context.address, asked, list).await
}

/// Refuses a call that would be charged to a key that is used up.
pub(super) fn check(context: CallContext<'_>) -> Result<(), Refusal> {
    match used_up(context) {
        Some(used_up) => refuse_list(context, used_up, 1),
        None => Ok(()),
    }
}

/// Returns that the key of the caller is used up.
pub(super) fn used_up(context: CallContext<'_>) -> Option<UsedUp> {
    context.principal.used_up(context.state)
}

/// Refuses a list of a key that is used up, if `total` projects are found. One that finds nothing is not charged.
pub(super) fn refuse_list(context: CallContext<'_>, used_up: UsedUp, total: u64) -> Result<(), Refusal> {
    if total == 0 { Ok(()) } else { Err(exceeded(context, &used_up.refuse(context.state))) }
}

/// Returns the refusal of a call that is over the quota.
pub(crate) fn exceeded(context: CallContext<'_>, balance: &Balance) -> Refusal {
    let (limit, until, site) = (balance.limit, balance.budget.month.end(), context.state.site());
    Refusal::guided(format!(
        "The {limit} calls of this month are used up; nothing was billed. New ones begin at {until}. For more, tell the user to \
         see {site}/pricing; without a key the tools answer with at most 5 results."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_tenth_is_little() {
        let site: Site = "https://catalog.example.org".parse().unwrap();
        let left = |limit, remaining| {
            let used = limit - remaining;
            Quota { limit, used, remaining, resets_at: jiff::Timestamp::UNIX_EPOCH }.little_left(&site)
        };
        for (limit, remaining) in [(200, 200), (200, 20), (4, 1), (u64::MAX, u64::MAX)] {
            assert_eq!(left(limit, remaining), None, "{remaining} of {limit}");
        }
        for (limit, remaining, said) in [
            (200, 19, "19 of 200 calls are left this month; more: https://catalog.example.org/pricing."),
            (200, 1, "1 of 200 calls is left this month; more: https://catalog.example.org/pricing."),
            (4, 0, "0 of 4 calls are left this month; more: https://catalog.example.org/pricing."),
        ] {
            assert_eq!(left(limit, remaining).as_deref(), Some(said));
        }
    }
}
