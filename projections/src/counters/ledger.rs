//! The ledger of the write side, asked page by page: it holds every call for ever, NATS only those of some weeks.

use async_nats::client::RequestErrorKind;
use schemas::control::{ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::subject;

/// Entries asked for at once; the answer holds what fits into a message.
const PAGE: usize = 2_000;

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoPage {
    /// Nobody keeps a ledger behind this connection.
    Nobody,
    /// Somebody does, and did not answer well.
    Failed(String),
}

/// The entries behind a position.
pub(super) async fn page(client: &async_nats::Client, after: Position) -> Result<UsagePage, NoPage> {
    let failed = |error: &dyn std::fmt::Display| NoPage::Failed(error.to_string());
    let request = serde_json::to_vec(&ReadUsage { after, limit: PAGE }).map_err(|error| failed(&error))?;
    let answer =
        client.request(subject::READ_USAGE, request.into()).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => NoPage::Nobody,
            _ => failed(&error),
        })?;
    let page: UsagePage =
        serde_json::from_slice(&answer.payload).map_err(|_| failed(&"its answer is unreadable"))?;
    let expected = (after.0 + 1..).map(Position);
    let whole = page.entries.iter().zip(expected).all(|(entry, expected)| entry.position == expected);
    if !whole || (page.entries.is_empty() && page.head > after) {
        return Err(failed(&format!("its page behind {after} has a hole")));
    }
    Ok(page)
}
