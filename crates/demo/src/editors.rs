//! The editors of the catalog, all invented, with their categories and years.

use schemas::record::Category;

use super::rng::Rng;

struct Editor {
    name: &'static str,
    /// The first and the last year.
    years: (i32, i32),
    /// The categories; empty for all.
    categories: &'static [Category],
}

use Category::{Architecture, Art, Design, Interiors, Photography};

const EDITORS: [Editor; 14] = [
    Editor { name: "Hanne Tveterås", years: (2011, 2026), categories: &[Architecture, Interiors] },
    Editor { name: "Tobias Wessolek", years: (2011, 2019), categories: &[Architecture] },
    Editor { name: "Chiara Bellodi", years: (2011, 2026), categories: &[Interiors, Design] },
    Editor { name: "Saori Hatanaka", years: (2012, 2026), categories: &[] },
    Editor { name: "Paul Vernaz", years: (2011, 2017), categories: &[Photography, Art] },
    Editor { name: "Ewa Kalinka", years: (2014, 2026), categories: &[Photography] },
    Editor { name: "Rafael Couto Lage", years: (2013, 2026), categories: &[Architecture, Art] },
    Editor { name: "Anouk Hemelsoet", years: (2015, 2026), categories: &[Design, Art] },
    Editor { name: "Dara Quillinan", years: (2011, 2022), categories: &[Photography, Design] },
    Editor { name: "Leyla Toprak", years: (2017, 2026), categories: &[Architecture, Interiors] },
    Editor { name: "Gustav Almgren", years: (2016, 2024), categories: &[Design, Interiors] },
    Editor { name: "Noor Haddadin", years: (2019, 2026), categories: &[] },
    Editor { name: "Kwame Asare Lund", years: (2020, 2026), categories: &[Photography, Art] },
    Editor { name: "Ilse Kamerbeek", years: (2011, 2014), categories: &[] },
];

/// Draws an editor for a category and a year.
pub(super) fn editor(category: Category, year: i32, rng: &mut Rng) -> &'static str {
    let fits = |editor: &&Editor| {
        (editor.years.0..=editor.years.1).contains(&year)
            && (editor.categories.is_empty() || editor.categories.contains(&category))
    };
    let count = EDITORS.iter().filter(fits).count();
    // Every category has an editor in every year; a test checks the table.
    EDITORS.iter().filter(fits).nth(rng.below(count)).map_or("", |editor| editor.name)
}

#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    EDITORS.iter().map(|editor| editor.name)
}
