//! Which names an event claims, so that the claims of a log can be made from its events and compared with what is kept.

use schemas::account::AccountEvent;
use schemas::event::Event;
use schemas::ids::StreamId;
use schemas::slug::Slug;

use crate::account;
use crate::event_log::{Claim, Namespace};
use crate::project;

/// How the types of events that claim a name begin, in every version.
pub(crate) const KINDS: [&str; 4] = [
    "loggia.curation.project_selected.",
    "loggia.curation.project_renamed.",
    "loggia.account.key_issued.",
    "loggia.account.payment_recorded.",
];

/// Which stream holds a name after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The event's own.
    Own,
    /// The event's own, or that of an earlier event which named it.
    First,
}

/// Returns the slug or key id that an event claims permanently.
pub(crate) fn own_name(event: &Event) -> Option<Claim> {
    let slug = |slug: &Slug| Claim { namespace: Namespace::SLUG, name: slug.as_str().to_owned() };
    match event {
        Event::Account(event) => {
            account::claimed(event).map(|key| Claim { namespace: Namespace::KEY, name: key.to_string() })
        }
        event => project::claimed(event).map(slug),
    }
}

/// Returns every name that is held once an event stands in a stream.
pub(crate) fn all(event: &Event, stream: &StreamId) -> Vec<(Claim, Holder)> {
    let mut claims: Vec<_> = own_name(event).map(|claim| (claim, Holder::Own)).into_iter().collect();
    if let Event::Account(AccountEvent::PaymentRecorded(payment)) = event {
        let named = |name: String| Claim { namespace: Namespace::PAYMENT, name };
        // The notice that was moved is held by the account that had it first.
        let holder = if payment.moved_from.is_some() { Holder::First } else { Holder::Own };
        claims.push((named(payment.event_name()), holder));
        claims.extend(payment.names().map(|name| (named(name), Holder::First)));
        let payer = stream.as_account().map(|id| Claim { namespace: Namespace::PAYER, name: id.to_string() });
        claims.extend(payer.map(|payer| (payer, Holder::Own)));
    }
    claims
}

#[cfg(test)]
mod tests {
    use schemas::versioned;

    use super::*;

    #[test]
    fn the_kinds_that_claim_are_known() {
        for kind in KINDS {
            assert!(versioned::KINDS.iter().any(|known| known.starts_with(kind)), "{kind}");
        }
    }
}
