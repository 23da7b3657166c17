//! What a call asks for, in units of a plain call. Reads that take longer weigh more in the burst limits, and wait for their turn.

use crate::catalog::list_options::ListOptions;
use crate::catalog::mode::Mode;
use crate::catalog::taste::TasteTexts;

/// The facets that cost as much as a plain call.
const FACETS: usize = 3;
/// The alternatives in taste and filters together that cost as much as a plain call.
const ALTERNATIVES: usize = 20;
/// The pages that cost as much as a plain call if they are passed over on the way to one that is requested by its number.
const PASSED: usize = 4;
/// The plain calls that a list of what changed costs besides one: it reads the changes since then from the catalog's database.
const CHANGED: usize = 2;
/// The pictures that cost as much as a plain call if they are made smaller.
const PICTURES: usize = 4;
/// The plain calls that a part of the sitemap costs besides one.
const SITEMAP: usize = 9;

/// The units of effort times the number of projects up to which a dear read takes some tenths of a millisecond at most: to move what else
/// the thread serves to another takes longer than to let it wait.
const SHORT_READ: u64 = 20_000;

/// What a call asks for besides one page of results. It is known once the parameters are read, before any work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// The number of facets.
    pub facets: usize,
    /// The number of alternatives in the dimensions of taste, and of values of filters.
    pub alternatives: usize,
    /// Whether all results of a search by words are put in another order than by relevance.
    pub is_ordered: bool,
    /// Whether the meanings of all projects are compared.
    pub is_by_meaning: bool,
    /// The number of pages that are passed over.
    pub passed: usize,
    /// Whether it is a list of what changed since a time.
    pub is_changed: bool,
    /// The number of pictures that are made smaller.
    pub pictures: usize,
    /// Whether it is a part of the sitemap, which has megabytes.
    pub is_sitemap: bool,
    /// Whether the call has asked for the same before, so that it is not weighed again.
    pub is_repeated: bool,
}

impl Effort {
    /// Returns what the options of a list ask for. Without a query its orders are those of the archive, which are kept.
    pub fn of(options: &ListOptions) -> Effort {
        let filters = &options.filters;
        let texts = [&filters.cities, &filters.studios, &filters.curators, &filters.places];
        let values = filters.categories.len() + filters.colours.len() + filters.taste.iter().count();
        let alternatives = values + texts.into_iter().map(Vec::len).sum::<usize>();
        Effort { facets: options.facets.len(), alternatives, ..Effort::default() }
    }

    /// Returns what a search by words asks for.
    pub fn of_search(options: &ListOptions) -> Effort {
        Effort { is_ordered: options.order.is_some(), ..Effort::of(options) }
    }

    /// Returns the same in a mode of search.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Effort {
        Effort { is_by_meaning: mode != Mode::Words, ..self }
    }

    /// Returns what a list of what changed since a time asks for.
    pub fn of_changed(options: &ListOptions) -> Effort {
        Effort { is_changed: true, ..Effort::of(options) }
    }

    /// Returns what a search by taste asks for.
    pub fn of_taste(taste: &TasteTexts, options: &ListOptions) -> Effort {
        let of_options = Effort::of(options);
        Effort { alternatives: of_options.alternatives + taste.alternatives(), ..of_options }
    }

    /// Returns the units that it counts in the burst limits: one for a plain call.
    pub fn units(self) -> u32 {
        let Effort { facets, alternatives, is_ordered, is_by_meaning, passed, .. } = self;
        let Effort { is_changed, pictures, is_sitemap, .. } = self;
        let asked =
            facets / FACETS + alternatives / ALTERNATIVES + passed / PASSED + pictures.div_ceil(PICTURES);
        let of_lists =
            usize::from(is_ordered) + usize::from(is_by_meaning) + usize::from(is_changed) * CHANGED;
        let more = asked + of_lists + usize::from(is_sitemap) * SITEMAP;
        u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Returns whether it takes some tenths of a millisecond at most in a catalog of so many projects. Pictures take milliseconds in any.
    pub fn is_short(self, projects: u64) -> bool {
        self.pictures == 0 && u64::from(self.units()).saturating_mul(projects) <= SHORT_READ
    }

    /// Returns whether it counts as a plain call.
    pub fn is_plain(self) -> bool {
        self.units() == 1
    }
}

#[cfg(test)]
mod tests {
    use read::archive::{Facet, Order};

    use super::*;

    #[test]
    fn a_call_weighs_what_it_asks_for() {
        let weight = |facets, alternatives, is_ordered, passed| {
            Effort { facets, alternatives, is_ordered, passed, ..Effort::default() }.units()
        };
        assert_eq!(weight(0, 0, false, 0), 1);
        assert_eq!(weight(2, 19, false, 3), 1, "usual calls are plain ones");
        assert_eq!([3, 5, 6, 11].map(|facets| weight(facets, 0, false, 0)), [2, 2, 3, 4]);
        assert_eq!([20, 39, 120].map(|alternatives| weight(0, alternatives, false, 0)), [2, 2, 7]);
        assert_eq!(weight(0, 0, true, 0), 2);
        let in_mode = |mode| Effort::default().in_mode(mode).units();
        assert_eq!([Mode::Words, Mode::Meaning, Mode::Both].map(in_mode), [1, 2, 2]);
        assert_eq!([4, 100].map(|passed| weight(0, 0, false, passed)), [2, 26]);
        assert_eq!(weight(11, 120, true, 4), 12);
        assert_eq!(weight(0, 0, false, usize::MAX), u32::MAX);
        assert_eq!(Effort { is_changed: true, alternatives: 20, ..Effort::default() }.units(), 4);
        let pictured = |pictures| Effort { pictures, ..Effort::default() }.units();
        assert_eq!(
            [0, 1, 4, 5, 10].map(pictured),
            [1, 2, 2, 3, 4],
            "even one leaves the threads of the runtime to others"
        );
        assert_eq!(Effort { is_sitemap: true, ..Effort::default() }.units(), 10);
    }

    #[test]
    fn a_read_is_short_in_a_small_catalog_unless_pictures_are_made_smaller() {
        let faceted = Effort { facets: 9, ..Effort::default() };
        assert_eq!(
            [0, 5_000, 5_001, u64::MAX].map(|projects| faceted.is_short(projects)),
            [true, true, false, false]
        );
        let pictured = Effort { pictures: 1, ..Effort::default() };
        assert_eq!([0, 1, 5_000].map(|projects| pictured.is_short(projects)), [false; 3]);
    }

    #[test]
    fn the_values_of_all_filters_are_alternatives() {
        let mut options = ListOptions { order: Some(Order::Name), ..ListOptions::default() };
        options.facets = vec![Facet::City, Facet::Year];
        options.filters.cities = vec!["Ulm".into(); 12];
        options.filters.places = vec!["Germany".into(); 7];
        assert!(Effort::of(&options).is_plain());
        options.filters.taste = schemas::taste::Taste::from_fn(|dimension| {
            (dimension == schemas::taste::Dimension::Mood).then(|| "calm".to_owned())
        });
        assert_eq!(Effort::of(&options), Effort { facets: 2, alternatives: 20, ..Effort::default() });
        assert_eq!((Effort::of(&options).units(), Effort::of_search(&options).units()), (2, 3));
        let taste = TasteTexts::from_fn(|_| vec!["oak".to_owned(); 20]);
        assert_eq!(Effort::of_taste(&taste, &options).alternatives, 140);
    }
}
