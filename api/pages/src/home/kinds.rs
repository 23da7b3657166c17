//! Kinds of material: who looks for timber also means oak, pine and larch.

use answers::site::Site;
use read::archive::{Filters, Listing, Selection, TasteRequest};
use read::search::{Collects, Restriction, SearchRequest};
use schemas::taste::Dimension;

use super::query::SHOWN;
use crate::card::Card;

/// A kind of material.
struct Kind {
    /// What it is called, the usual name first.
    names: &'static [&'static str],
    /// The materials of the kind.
    materials: &'static [&'static str],
}

const KINDS: [Kind; 3] = [
    Kind {
        names: &["wood", "timber", "wooden", "lumber"],
        materials: &[
            "oak", "pine", "larch", "cedar", "spruce", "birch", "ash", "beech", "walnut", "fir", "cypress",
            "maple", "teak", "chestnut", "plywood", "bamboo",
        ],
    },
    Kind {
        names: &["stone"],
        materials: &[
            "granite",
            "marble",
            "limestone",
            "sandstone",
            "slate",
            "travertine",
            "basalt",
            "quartzite",
        ],
    },
    Kind {
        names: &["metal", "metallic"],
        materials: &[
            "steel",
            "aluminium",
            "aluminum",
            "copper",
            "zinc",
            "brass",
            "bronze",
            "iron",
            "titanium",
        ],
    },
];

/// The projects among results whose material is of a kind that words name.
pub(super) struct OfKind {
    /// What the kind is called.
    pub(super) name: &'static str,
    /// The materials of the kind that the projects have.
    pub(super) materials: Vec<&'static str>,
    pub(super) slugs: Vec<String>,
}

impl OfKind {
    /// Returns those among the results of a search, which lack some words; `None` if there are none.
    pub(super) fn among(
        (listing, site): (&Listing, &Site),
        (text, filters): (&str, &Filters),
        lacking: &[String],
    ) -> Option<OfKind> {
        let kind = lacking.iter().find_map(|word| named(word))?;
        let allowed = listing.allowed(filters);
        let request = SearchRequest { text, category: None, limit: SHOWN, after: None };
        let restriction = Restriction {
            allowed: allowed.as_deref(),
            fingerprint: filters.fingerprint(),
            collects: Collects::Ordinals,
        };
        // What the words found is shown even if this cannot be read.
        let found = listing.search(&request, &restriction)?.ok()?.ordinals();
        let (mut materials, mut slugs) = (Vec::new(), Vec::new());
        for material in kind.materials {
            let within = Some(Selection { set: &found, fingerprint: 0 });
            let request = TasteRequest { within, ..TasteRequest::default() };
            let of_material = listing.matching_taste(&request.with(Dimension::Material, material));
            let summaries = of_material.iter().filter_map(|ordinal| listing.summary_of(ordinal));
            let before = slugs.len();
            slugs.extend(summaries.filter_map(|summary| Some(Card::of(summary, site).ok()?.slug)));
            if slugs.len() > before {
                materials.push(*material);
            }
        }
        let name = kind.names.first()?;
        (!slugs.is_empty()).then_some(OfKind { name, materials, slugs })
    }
}

/// Returns the kind that a word names, in whatever case.
fn named(word: &str) -> Option<&'static Kind> {
    let word = word.to_lowercase();
    KINDS.iter().find(|kind| kind.names.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_each_of_its_names() {
        let materials = |word| named(word).and_then(|kind| kind.materials.first()).copied();
        assert_eq!(
            ["Timber", "wood", "stone", "METAL", "brick", ""].map(materials),
            [Some("oak"), Some("oak"), Some("granite"), Some("steel"), None, None]
        );
    }
}
