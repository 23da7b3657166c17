//! Accounts as the log tells them, for the operator's command line.

use event_log::{EventLog, Namespace, StoreError};
use schemas::ids::AccountId;

use super::past::AccountPast;
use crate::account::Account;

/// How many keys are looked at for one page.
const PAGE: usize = 200;

/// One account as it is.
pub async fn read_account(store: &EventLog, id: AccountId) -> Result<Account, StoreError> {
    AccountPast::read(store, id).await.map(AccountPast::into_account)
}

/// Every account that ever had a key, erased ones included, in the order in which they were opened.
pub async fn read_accounts(store: &EventLog) -> Result<Vec<(AccountId, Account)>, StoreError> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let claims = store.claims(Namespace::KEY, &after, PAGE).await?;
        let Some((last, _)) = claims.last() else { break };
        after.clone_from(last);
        ids.extend(claims.iter().filter_map(|(_, stream)| Some((stream.as_account()?, stream.clone()))));
    }
    ids.sort_unstable();
    ids.dedup();
    let mut accounts = Vec::with_capacity(ids.len());
    for page in ids.chunks(PAGE) {
        let streams: Vec<_> = page.iter().map(|(_, stream)| stream.clone()).collect();
        let mut events = store.read_streams(&streams).await?;
        for (id, stream) in page {
            let past = AccountPast::of(*id, &events.remove(stream).unwrap_or_default())?;
            accounts.push((*id, past.into_account()));
        }
    }
    Ok(accounts)
}
