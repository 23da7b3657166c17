//! `loggia payments list`: the payment notices in the log, and those that the vault holds. The text of an event, which may name
//! people, is not shown.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::Output;
use jiff::Timestamp;
use schemas::email::Email;
use schemas::ids::AccountId;
use schemas::payment::PaymentRecorded;
use serde::Serialize;
use serde_json::json;
use vault::{Notice, StoredNotice, Vault};
use write::account::Payments;
use write::service::{Payer, read_payers};

use crate::config::Config;
use crate::store;

const HEADINGS: [&str; 8] = ["state", "time", "what", "event", "tier", "until", "subscription", "address"];

#[derive(Debug, Serialize)]
struct Row {
    /// `recorded`; `moved` if it was recorded with another account first; `unclear` if a refund names no known payment; `unpriced`
    /// if what is paid for has no tier; `waiting`; or why it is kept without effect.
    state: String,
    /// When it happened; for a notice without effect, when it arrived.
    time: Timestamp,
    what: String,
    event_id: String,
    tier: Option<String>,
    period_end: Option<Timestamp>,
    subscription: Option<String>,
    customer: Option<String>,
    /// The account that it was moved from by `loggia payments move`.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<AccountId>,
    email: Option<Email>,
}

/// Lists all notices, or those of one address, in the order in which they happened.
pub(super) async fn run(config: &Config, email: Option<&Email>, output: Output) -> Result<ExitCode> {
    let vault = store::open_vault_read_only(config).await?;
    let mut rows = recorded(config, vault.as_ref()).await?;
    if let Some(vault) = &vault {
        rows.extend(vault.notices().await?.into_iter().map(held));
    }
    if let Some(wanted) = email.map(Email::folded) {
        rows.retain(|row| row.email.as_ref().is_some_and(|email| email.folded() == wanted));
    }
    rows.sort_by(|a, b| (a.time, &a.event_id).cmp(&(b.time, &b.event_id)));
    let none =
        if email.is_some() { "there are no payments of this address" } else { "there are no payments yet" };
    output.rows(&rows, HEADINGS, cells, none)?;
    Ok(ExitCode::SUCCESS)
}

async fn recorded(config: &Config, vault: Option<&Vault>) -> Result<Vec<Row>> {
    let store = store::open_read_only(config).await?;
    let emails: HashMap<AccountId, Email> = match vault {
        Some(vault) => vault.emails().await?.into_iter().collect(),
        None => HashMap::new(),
    };
    let of_account = |Payer { id, account }: &Payer| {
        let of = |payments: &Payments| {
            let rows = payments.recorded().iter();
            rows.map(|payment| row(state(payments, payment), payment, emails.get(id))).collect::<Vec<_>>()
        };
        account.payments().map(of).unwrap_or_default()
    };
    Ok(read_payers(&store).await?.iter().flat_map(of_account).collect())
}

fn state(payments: &Payments, payment: &PaymentRecorded) -> &'static str {
    if payments.is_unclear(payment) {
        "unclear"
    } else if payment.is_unpriced() {
        "unpriced"
    } else if payment.moved_from.is_some() {
        "moved"
    } else {
        "recorded"
    }
}

fn row(state: &str, payment: &PaymentRecorded, email: Option<&Email>) -> Row {
    let text = |id: &Option<schemas::payment::PaymentId>| id.as_ref().map(ToString::to_string);
    Row {
        state: state.to_owned(),
        time: payment.created,
        what: word(&payment.kind),
        event_id: payment.event_id.to_string(),
        tier: payment.tier.as_ref().map(ToString::to_string),
        period_end: payment.period_end,
        subscription: text(&payment.subscription),
        customer: text(&payment.customer),
        moved_from: payment.moved_from,
        email: email.cloned(),
    }
}

fn held(held: StoredNotice) -> Row {
    match held.notice {
        Notice::Waiting(notice) => row("waiting", &notice.payment, notice.email.as_ref()),
        Notice::Kept(notice) => Row {
            state: word(&notice.reason),
            time: held.received_at,
            what: notice.kind,
            event_id: notice.event_id.to_string(),
            tier: None,
            period_end: None,
            subscription: None,
            customer: None,
            moved_from: None,
            email: None,
        },
    }
}

/// Returns the name of a value in JSON.
fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

fn cells(row: &Row) -> [String; 8] {
    let time = |time: Timestamp| format!("{time:.0}");
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    [
        row.state.clone(),
        time(row.time),
        row.what.clone(),
        row.event_id.clone(),
        or_none(&row.tier),
        row.period_end.map_or_else(|| "-".into(), time),
        or_none(&row.subscription),
        row.email.as_ref().map_or_else(|| "-".into(), |email| email.as_str().to_owned()),
    ]
}
