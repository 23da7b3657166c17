//! Derives the names that an event claims, so that the stored claims can be verified against the events.

use schemas::account::AccountEvent;
use schemas::event::Event;
use schemas::external_id::ExternalId;
use schemas::ids::StreamId;
use schemas::slug::Slug;

use crate::{Claim, Namespace};

/// The prefixes of the event types that claim a name, in every version.
pub(crate) const KINDS: [&str; 5] = [
    "loggia.curation.project_selected.",
    "loggia.curation.project_renamed.",
    "loggia.curation.project_identified.",
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

/// Returns the slug, external id or key id that an event claims permanently.
pub fn own_names(event: &Event) -> Vec<Claim> {
    let slug = |slug: &Slug| Claim { namespace: Namespace::SLUG, name: slug.as_str().to_owned() };
    match event {
        Event::ProjectSelected(selected) => {
            let id = selected.id.as_ref().filter(|id| is_claimed(id, &selected.slug)).map(id_claim);
            [slug(&selected.slug)].into_iter().chain(id).collect()
        }
        Event::ProjectRenamed(renamed) => vec![slug(&renamed.slug)],
        Event::ProjectIdentified(identified) => vec![id_claim(&identified.id)],
        Event::Account(AccountEvent::KeyIssued(issued)) => {
            vec![Claim { namespace: Namespace::KEY, name: issued.key_id.to_string() }]
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
        ) => Vec::new(),
    }
}

/// Returns the claim of an external id.
fn id_claim(id: &ExternalId) -> Claim {
    Claim { namespace: Namespace::ID, name: id.claimed_name() }
}

/// Returns whether a project with this first slug claims its id. Earlier versions recorded ids of which the slug was made without
/// claiming them: their slugs lead to the project.
fn is_claimed(id: &ExternalId, slug: &Slug) -> bool {
    id.source.is_some() || !id.slugs().contains(slug)
}

/// Returns every name that an event of this stream claims.
pub(crate) fn all(event: &Event, stream: &StreamId) -> Vec<(Claim, Holder)> {
    let mut claims: Vec<_> = own_names(event).into_iter().map(|claim| (claim, Holder::Own)).collect();
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
    use schemas::event::{ProjectIdentified, ProjectSelected};
    use schemas::versioned;

    use super::*;

    fn names(event: &Event) -> Vec<String> {
        own_names(event)
            .into_iter()
            .map(|claim| format!("{} {}", claim.namespace.as_str(), claim.name))
            .collect()
    }

    #[test]
    fn an_id_is_claimed_unless_an_earlier_version_may_have_recorded_it() {
        let line =
            schemas::import::parse_line(r#"{"slug":"a-7","name":"A","category":"art"}"#, false).unwrap();
        let selected = |id: &str, source: &str| {
            let id = Some(ExternalId { id: id.into(), source: source.parse().ok() });
            let (slug, record) = (line.slug.clone(), line.record.clone());
            names(&Event::ProjectSelected(ProjectSelected { slug, record, id }))
        };
        assert_eq!(selected("A.7", ""), ["slug a-7"], "its slug leads to it");
        assert_eq!(selected("8", ""), ["slug a-7", "id :8"]);
        assert_eq!(selected("A.7", "tate"), ["slug a-7", "id tate:A.7"]);
        let id = ExternalId { id: "A.7".into(), source: None };
        assert_eq!(names(&Event::ProjectIdentified(ProjectIdentified { id })), ["id :A.7"]);
    }

    #[test]
    fn the_kinds_that_claim_are_known() {
        for kind in KINDS {
            assert!(versioned::KINDS.iter().any(|known| known.starts_with(kind)), "{kind}");
        }
    }
}
