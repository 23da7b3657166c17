//! The catalog's editors, all invented: who selected what, and when they were there.

use super::Category;
use super::dice::Dice;

struct Editor {
    name: &'static str,
    /// First and last year of selecting.
    years: (i32, i32),
    /// What the editor looks after; all of it when empty.
    beat: &'static [Category],
}

use Category::{Architecture, Art, Design, Interiors, Photography};

const EDITORS: [Editor; 14] = [
    Editor { name: "Hanne Tveterås", years: (2011, 2026), beat: &[Architecture, Interiors] },
    Editor { name: "Tobias Wessolek", years: (2011, 2019), beat: &[Architecture] },
    Editor { name: "Chiara Bellodi", years: (2011, 2026), beat: &[Interiors, Design] },
    Editor { name: "Saori Hatanaka", years: (2012, 2026), beat: &[] },
    Editor { name: "Paul Vernaz", years: (2011, 2017), beat: &[Photography, Art] },
    Editor { name: "Ewa Kalinka", years: (2014, 2026), beat: &[Photography] },
    Editor { name: "Rafael Couto Lage", years: (2013, 2026), beat: &[Architecture, Art] },
    Editor { name: "Anouk Hemelsoet", years: (2015, 2026), beat: &[Design, Art] },
    Editor { name: "Dara Quillinan", years: (2011, 2022), beat: &[Photography, Design] },
    Editor { name: "Leyla Toprak", years: (2017, 2026), beat: &[Architecture, Interiors] },
    Editor { name: "Gustav Almgren", years: (2016, 2024), beat: &[Design, Interiors] },
    Editor { name: "Noor Haddadin", years: (2019, 2026), beat: &[] },
    Editor { name: "Kwame Asare Lund", years: (2020, 2026), beat: &[Photography, Art] },
    Editor { name: "Ilse Kamerbeek", years: (2011, 2014), beat: &[] },
];

/// Somebody who was selecting works of `category` in `year`.
pub(super) fn editor(category: Category, year: i32, dice: &mut Dice) -> &'static str {
    let fits = |editor: &&Editor| {
        (editor.years.0..=editor.years.1).contains(&year)
            && (editor.beat.is_empty() || editor.beat.contains(&category))
    };
    let open = EDITORS.iter().filter(fits).count();
    // Someone looks after every category in every year; a test holds the table to that.
    EDITORS.iter().filter(fits).nth(dice.below(open)).map_or("", |editor| editor.name)
}

#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    EDITORS.iter().map(|editor| editor.name)
}
