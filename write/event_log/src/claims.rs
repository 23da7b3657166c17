//! Derives the names that an event claims, so that the stored claims can be verified against the events.

use schemas::account::AccountEvent;
use schemas::event::Event;
use schemas::ids::StreamId;
use schemas::slug::Slug;

use crate::{Claim, Namespace};

/// The prefixes of the event types that claim a name, in every version.
pub(crate) const KINDS: [&str; 4] = [
    "loggia.curation.project_selected.",
    "loggia.curation.project_renamed.",
    "loggia.account.key_issued.",
    "loggia.account.payment_recorded.",
];

/// Which stream holds a name after an event that claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The stream of the event.
    Own,
    /// The stream of the first event that claimed the name.
    First,
}

/// Returns the slug or key id that an event claims permanently.
pub fn own_name(event: &Event) -> Option<Claim> {
    let slug = |slug: &Slug| Claim { namespace: Namespace::SLUG, name: slug.as_str().to_owned() };
    match event {
        Event::ProjectSelected(selected) => Some(slug(&selected.slug)),
        Event::ProjectRenamed(renamed) => Some(slug(&renamed.slug)),
        Event::Account(AccountEvent::KeyIssued(issued)) => {
            Some(Claim { namespace: Namespace::KEY, name: issued.key_id.to_string() })
        }
        Event::ProjectRevised(_)
        | Event::ProjectWithdrawn(_)
        | Event::ProjectRestored(_)
        | Event::PictureAttached(_)
        | Event::PictureRefused(_)
        | Event::PictureErased(_)
        | Event::VectorsRecorded(_)
        | Event::Account(
            AccountEvent::AccountOpened(_)
            | AccountEvent::KeyRevoked(_)
            | AccountEvent::EmailProven(_)
            | AccountEvent::TierChanged(_)
            | AccountEvent::PaymentRecorded(_)
            | AccountEvent::PaymentsMoved(_)
            | AccountEvent::EntitlementChanged(_)
            | AccountEvent::AccountErased(_),
        ) => None,
    }
}

/// Returns every name that an event of this stream claims.
pub(crate) fn all(event: &Event, stream: &StreamId) -> Vec<(Claim, Holder)> {
    let mut claims: Vec<_> = own_name(event).map(|claim| (claim, Holder::Own)).into_iter().collect();
    if let Event::Account(AccountEvent::PaymentRecorded(payment)) = event {
        let named = |name: String| Claim { namespace: Namespace::PAYMENT, name };
        // A notice that was moved is held by the account that had it first.
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
