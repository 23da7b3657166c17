//! What a call costs before its work: what it asks for, and the quota of a key that is used up.

use answers::auth::access::Balance;
use answers::auth::charge::UsedUp;
use answers::catalog::detail::Detail;
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;

use super::CallContext;
use crate::tools::answer::Refusal;

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
