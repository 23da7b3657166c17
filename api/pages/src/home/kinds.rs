//! Kinds of material: who looks for timber also means oak, pine and larch.

use std::collections::HashSet;

use answers::error::ApiError;
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

/// The results of a search that lack a word for a kind of material: those whose material is of the kind before the others, each by
/// relevance.
pub(super) struct OfKind {
    /// What the kind is called.
    pub(super) name: &'static str,
    /// The materials of the kind that results have.
    pub(super) materials: Vec<&'static str>,
    /// The number of results whose material is of the kind.
    pub(super) of_kind: usize,
    /// The numbers of all results.
    ordinals: Vec<u64>,
}

impl OfKind {
    /// Returns the results of a search that lack some words; `None` if none of these names a kind that results are of.
    pub(super) fn among(
        listing: &Listing,
        (text, filters): (&str, &Filters),
        lacking: &[String],
    ) -> Option<OfKind> {
        let kind = lacking.iter().find_map(|word| named(word))?;
        let allowed = listing.allowed(filters);
        let request = SearchRequest { text, category: None, limit: SHOWN, after: None };
        let restriction = Restriction {
            allowed: allowed.as_deref(),
            fingerprint: filters.fingerprint(),
            collects: Collects::Matches,
        };
        // What the words found is shown even if this cannot be read.
        let found = listing.search(&request, &restriction)?.ok()?;
        let all = found.ordinals();
        let (mut materials, mut of_kind) = (Vec::new(), HashSet::new());
        for material in kind.materials {
            let within = Some(Selection { set: &all, fingerprint: 0 });
            let request = TasteRequest { within, ..TasteRequest::default() };
            let of_material = listing.matching_taste(&request.with(Dimension::Material, material));
            let before = of_kind.len();
            of_kind.extend(of_material.iter());
            if of_kind.len() > before {
                materials.push(*material);
            }
        }
        let name = kind.names.first()?;
        let is_of_kind = |ordinal: &u64| of_kind.contains(ordinal);
        let ordinals = first_of_kind(found.matches().to_vec(), is_of_kind);
        (!of_kind.is_empty()).then_some(OfKind { name, materials, of_kind: of_kind.len(), ordinals })
    }

    /// Returns the number of all results.
    pub(super) fn total(&self) -> usize {
        self.ordinals.len()
    }

    /// Returns the results of a page after some results before it.
    pub(super) fn cards(&self, listing: &Listing, before: usize, site: &Site) -> Result<Vec<Card>, ApiError> {
        let summaries =
            self.ordinals.iter().skip(before).take(SHOWN).filter_map(|one| listing.summary_of(*one));
        summaries.map(|summary| Card::of(summary, site)).collect()
    }
}

/// Returns ordinals by whether they are of the kind, then by score, then the newest first.
fn first_of_kind(mut matches: Vec<(u64, f32)>, is_of_kind: impl Fn(&u64) -> bool) -> Vec<u64> {
    matches.sort_by(|(one, score), (other, other_score)| {
        let by_kind = is_of_kind(other).cmp(&is_of_kind(one));
        by_kind.then_with(|| other_score.total_cmp(score)).then_with(|| other.cmp(one))
    });
    matches.into_iter().map(|(ordinal, _)| ordinal).collect()
}

/// Returns whether one of the words of a text names a kind.
pub(super) fn is_named_in(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric()).any(|word| named(word).is_some())
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

    #[test]
    fn a_text_that_names_a_kind_is_known() {
        let are_named = ["Timber-framed house", "\"stone\" barn", "stones", "brick"].map(is_named_in);
        assert_eq!(are_named, [true, true, false, false]);
    }

    #[test]
    fn results_of_the_kind_come_first_each_by_relevance() {
        let matches = vec![(1, 0.9), (2, 0.5), (3, 0.5), (4, 0.7), (5, 0.6)];
        assert_eq!(first_of_kind(matches, |ordinal| [2, 3, 5].contains(ordinal)), [5, 3, 2, 1, 4]);
    }
}
