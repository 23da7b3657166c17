//! The fonts that a page begins to load at once.
//!
//! The one of most Latin letters is needed by all pages, and their template names it. The one of the other Latin letters is needed by
//! those whose text has one: if a browser found that out only from the laid-out text, the font would come after the first look, and
//! move what is shown.

use std::ops::RangeInclusive;

/// The end of the address of the font that all pages name, and of that of the other Latin letters.
const LATIN: &str = "-latin.woff2";
const OTHERS: &str = "-latin-ext.woff2";

/// The characters of the second font, as in its style sheet.
const OF_OTHERS: [RangeInclusive<char>; 14] = [
    '\u{100}'..='\u{2ba}',
    '\u{2bd}'..='\u{2c5}',
    '\u{2c7}'..='\u{2cc}',
    '\u{2ce}'..='\u{2d7}',
    '\u{2dd}'..='\u{2ff}',
    '\u{1d00}'..='\u{1dbf}',
    '\u{1e00}'..='\u{1e9f}',
    '\u{1ef2}'..='\u{1eff}',
    '\u{2020}'..='\u{2020}',
    '\u{20a0}'..='\u{20ab}',
    '\u{20ad}'..='\u{20c0}',
    '\u{2113}'..='\u{2113}',
    '\u{2c60}'..='\u{2c7f}',
    '\u{a720}'..='\u{a7ff}',
];

/// Returns a page that also names the second font, if its text has a letter of it.
pub(super) fn named(page: String) -> String {
    let is_other = |character: char| OF_OTHERS.iter().any(|range| range.contains(&character));
    if !page.chars().any(|character| !character.is_ascii() && is_other(character)) {
        return page;
    }
    let is_link = |line: &&str| line.starts_with("<link rel=\"preload\"") && line.contains(LATIN);
    let Some(link) = page.lines().find(is_link) else { return page };
    let both = format!("{link}\n{}", link.replace(LATIN, OTHERS));
    page.replacen(link, &both, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "<link rel=\"preload\" href=\"/assets/1/sans-latin.woff2\" as=\"font\">";

    #[test]
    fn a_page_with_another_latin_letter_names_its_font_too() {
        let page = |text: &str| format!("<title>{text}</title>\n{LINK}\n<p>{text}</p>\n");
        let other = "<link rel=\"preload\" href=\"/assets/1/sans-latin-ext.woff2\" as=\"font\">";
        let with_both = |text: &str| format!("<title>{text}</title>\n{LINK}\n{other}\n<p>{text}</p>\n");
        for text in ["Łódź", "Dvořák", "₽ 5", "Ağ", "Ḫattuša"] {
            assert_eq!(named(page(text)), with_both(text));
        }
        for text in ["House", "Überwald, São Paulo – “Café” 5 €", "東京", "بيت"] {
            assert_eq!(named(page(text)), page(text));
        }
        assert_eq!(named("<p>Łódź</p>".to_owned()), "<p>Łódź</p>");
    }

    #[test]
    fn the_letters_are_those_of_the_style_sheet() {
        let sheet = include_str!("../assets/frame.css");
        let (_, rule) = sheet.split_once(OTHERS).unwrap();
        let (_, ranges) = rule.split_once("unicode-range: ").unwrap();
        let (ranges, _) = ranges.split_once(';').unwrap();
        let of_rule = ranges.split(',').map(|range| range.trim().trim_start_matches("U+").to_lowercase());
        let here = OF_OTHERS.iter().map(|range| {
            let first = u32::from(*range.start());
            let last = u32::from(*range.end());
            if first == last { format!("{first:04x}") } else { format!("{first:04x}-{last:04x}") }
        });
        assert_eq!(here.collect::<Vec<_>>(), of_rule.collect::<Vec<_>>());
    }
}
