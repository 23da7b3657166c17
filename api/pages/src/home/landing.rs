//! Lists with an address of their own, which search engines index: those of a category, of a studio and of a curator.

use answers::route;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemas::record::Category;
use text::value_form;

/// What is encoded in the segment of a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-');

/// A list with an address of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Landing {
    Category(Category),
    /// The name of the studio, as in the path.
    Studio(String),
    /// The name of the curator, as in the path.
    Curator(String),
}

impl Landing {
    /// Returns the list of one filter; `None` if it has no address of its own.
    pub(crate) fn of(parameter: &str, value: &str) -> Option<Landing> {
        match parameter {
            "category" => Category::parse(value).map(Landing::Category),
            "studio" => segment(value).map(Landing::Studio),
            "curator" => segment(value).map(Landing::Curator),
            _ => None,
        }
    }

    /// Returns the list of these parameters.
    pub(super) fn of_all(pairs: &[(&str, String)]) -> Option<Landing> {
        let [(parameter, value)] = pairs else { return None };
        Landing::of(parameter, value)
    }

    /// Returns the path below the base of the site.
    pub(crate) fn path(&self) -> String {
        let named =
            |pattern, name| format!("{}{}", route::prefix(pattern), utf8_percent_encode(name, ENCODED));
        match self {
            Landing::Category(category) => route::of_category(*category).to_owned(),
            Landing::Studio(name) => named(route::STUDIO, name),
            Landing::Curator(name) => named(route::CURATOR, name),
        }
    }
}

/// Returns a name as the segment of a path, by which a filter finds the same projects, and no others: names that a filter tells apart have
/// different segments. `None` if it is blank, or one or two dots, which address no page of their own even if they are encoded.
fn segment(name: &str) -> Option<String> {
    let form = value_form(name);
    if form.is_empty() {
        // Without words and symbols, a name such as `…` is told apart as it is written.
        let name = name.trim();
        return (!matches!(name, "" | "." | "..")).then(|| name.to_owned());
    }
    let hyphened = form.replace(' ', "-");
    // After a symbol a hyphen joins what a blank separates: `C++ Co` is not `C++-Co`.
    Some(if value_form(&hyphened) == form { hyphened } else { form })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_path_are_the_same_list() {
        for (parameter, value, path) in [
            ("category", "art", "/art"),
            ("studio", "Ålto & Co", "/studios/alto-co"),
            ("studio", "ALTO and CO.", "/studios/alto-co"),
            ("studio", "And", "/studios/and"),
            ("curator", "Ada O’Neill", "/curators/ada-oneill"),
            ("studio", "妹島", "/studios/%E5%A6%B9-%E5%B3%B6"),
            ("studio", "C", "/studios/c"),
            ("studio", "C++", "/studios/c%2B%2B"),
            ("studio", "C#", "/studios/c%23"),
            ("studio", "C++ and Co.", "/studios/c%2B%2B%20co"),
            ("studio", "+++", "/studios/%2B%2B%2B"),
            ("studio", " … ", "/studios/%E2%80%A6"),
            ("curator", "***", "/curators/%2A%2A%2A"),
            ("curator", "-/-", "/curators/-%2F-"),
        ] {
            let landing = Landing::of(parameter, value).unwrap();
            assert_eq!(landing.path(), path);
            if let Landing::Studio(name) | Landing::Curator(name) = &landing {
                assert_eq!((value_form(name), segment(name).as_ref()), (value_form(value), Some(name)));
            }
        }
        let without_path = [
            ("category", "music"),
            ("studio", " "),
            ("studio", "."),
            ("curator", ".."),
            ("city", "Ulm"),
            ("q", "art"),
        ];
        for (parameter, value) in without_path {
            assert_eq!(Landing::of(parameter, value), None, "{parameter}={value}");
        }
    }
}
