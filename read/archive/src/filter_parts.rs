//! The filters of a list one by one: what each excludes alone, and what is left without it.

use schemas::taste::Dimension;

use super::filters::Filters;

/// A filter; both ends of a range are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPart {
    /// The categories.
    Category,
    /// The whole places.
    City,
    /// The parts of places.
    Place,
    /// The studios.
    Studio,
    /// The curators.
    Curator,
    /// The years.
    Years,
    /// The days of selection.
    Selected,
    /// The day since which projects were added.
    Added,
    /// Whether a picture is required.
    Picture,
    /// The colours.
    Colour,
    /// The words of a dimension.
    Taste(Dimension),
}

/// A value that a range is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dated {
    /// The year.
    Year,
    /// The day on which a curator selected the project.
    Selected,
}

impl FilterPart {
    /// The number of filters.
    pub const COUNT: usize = 10 + Dimension::COUNT;

    /// All filters, in the order in which they are named.
    pub const ALL: [FilterPart; FilterPart::COUNT] = {
        let mut all = [FilterPart::Category; FilterPart::COUNT];
        (all[1], all[2], all[3], all[4]) =
            (FilterPart::City, FilterPart::Place, FilterPart::Studio, FilterPart::Curator);
        (all[5], all[6], all[7]) = (FilterPart::Years, FilterPart::Selected, FilterPart::Added);
        (all[8], all[9]) = (FilterPart::Picture, FilterPart::Colour);
        let mut at = 0;
        while at < Dimension::COUNT {
            all[10 + at] = FilterPart::Taste(Dimension::ALL[at]);
            at += 1;
        }
        all
    };
}

impl Filters {
    /// Returns the filters that are given.
    pub fn parts(&self) -> Vec<FilterPart> {
        FilterPart::ALL.into_iter().filter(|part| self.without_part(*part) != *self).collect()
    }

    /// Returns the other filters than one.
    #[must_use]
    pub fn without_part(&self, part: FilterPart) -> Filters {
        let mut others = self.clone();
        others.clear(part);
        others
    }

    /// Returns one filter alone.
    #[must_use]
    pub fn only(&self, part: FilterPart) -> Filters {
        let mut alone = self.clone();
        FilterPart::ALL.into_iter().filter(|other| *other != part).for_each(|other| alone.clear(other));
        alone
    }

    fn clear(&mut self, part: FilterPart) {
        match part {
            FilterPart::Category => self.categories.clear(),
            FilterPart::City => self.cities.clear(),
            FilterPart::Place => self.places.clear(),
            FilterPart::Studio => self.studios.clear(),
            FilterPart::Curator => self.curators.clear(),
            FilterPart::Years => (self.year_from, self.year_to) = (None, None),
            FilterPart::Selected => (self.selected_from, self.selected_to) = (None, None),
            FilterPart::Added => self.added_since = None,
            FilterPart::Picture => self.has_picture = false,
            FilterPart::Colour => self.colours.clear(),
            FilterPart::Taste(dimension) => self.taste.set(dimension, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use schemas::picture::Colour;
    use schemas::record::Category;
    use schemas::taste::Taste;

    use super::*;

    #[test]
    fn each_filter_is_a_part_and_no_other() {
        let day = "2024-05-31".parse().ok();
        let year = "1998".parse().ok();
        let all = Filters {
            categories: vec![Category::Art],
            cities: vec!["Ulm, Germany".into()],
            studios: vec!["Alto".into()],
            curators: vec!["Ada".into()],
            places: vec!["Germany".into()],
            year_from: year,
            year_to: year,
            has_picture: true,
            colours: vec![Colour([1, 2, 3])],
            added_since: day,
            selected_from: day,
            selected_to: day,
            taste: Taste::from_fn(|_| Some("oak".to_owned())),
        };
        assert_eq!(all.parts(), FilterPart::ALL);
        assert_eq!(Filters::default().parts(), []);
        for part in FilterPart::ALL {
            assert_eq!(all.only(part).parts(), [part]);
            let others: Vec<FilterPart> =
                FilterPart::ALL.into_iter().filter(|other| *other != part).collect();
            assert_eq!(all.without_part(part).parts(), others, "{part:?}");
        }
        assert_eq!(Filters { year_to: year, ..Filters::default() }.parts(), [FilterPart::Years]);
        let since = Filters { selected_from: day, ..Filters::default() };
        assert_eq!(since.parts(), [FilterPart::Selected]);
    }
}
