//! The members of an import record that a mapping can fill, and the nearest of several words.

use std::fmt;

/// A member of the import record: `name`, `taste.material`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    name: &'static str,
    kind: MemberKind,
}

/// What texts of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MemberKind {
    /// A key, of which there is one.
    Key,
    /// One text on one line, of which the first is taken.
    First,
    /// Names of makers.
    Makers,
    /// Texts on one line, joined.
    Joined,
    /// A text with lines.
    Long,
    Year,
    Category,
    Day,
    Address,
}

/// All members, in the order of an import record.
const MEMBERS: [Member; 24] = {
    use MemberKind::{Address, Category, Day, First, Joined, Key, Long, Makers, Year};
    const fn of(name: &'static str, kind: MemberKind) -> Member {
        Member { name, kind }
    }
    [
        of("slug", Key),
        of("id", Key),
        of("name", First),
        of("studio", Makers),
        of("city", First),
        of("year", Year),
        of("category", Category),
        of("intro", Long),
        of("description", Long),
        of("design_language", Long),
        of("published", Day),
        of("thumbnail", Address),
        of("url", Address),
        of("citation_url", Address),
        of("provenance.curated_by", Joined),
        of("provenance.selected", Day),
        of("provenance.in_archive_since", Year),
        of("provenance.note", Long),
        of("taste.material", Joined),
        of("taste.light", Joined),
        of("taste.color", Joined),
        of("taste.mood", Joined),
        of("taste.composition", Joined),
        of("taste.subject", Joined),
    ]
};

/// The categories of the catalog.
pub(crate) const CATEGORIES: [&str; 5] = ["architecture", "interiors", "design", "photography", "art"];

impl Member {
    pub(crate) const CATEGORY: &'static str = "category";

    /// Returns the member of this name.
    pub(crate) fn named(name: &str) -> Option<Member> {
        MEMBERS.into_iter().find(|member| member.name == name)
    }

    /// Returns the names of all members.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MEMBERS.into_iter().map(|member| member.name)
    }

    /// Returns whether members begin with this name and a point, as `taste.material` does.
    pub(crate) fn is_group(name: &str) -> bool {
        matches!(name, "taste" | "provenance")
    }

    /// Returns its name, with a point where it is part of another.
    pub fn name(self) -> &'static str {
        self.name
    }

    pub(crate) fn kind(self) -> MemberKind {
        self.kind
    }

    /// Returns whether HTML becomes text where the mapping does not say otherwise.
    pub(crate) fn has_html(self) -> bool {
        matches!(self.name, "name" | "studio" | "intro" | "description" | "provenance.note")
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns the candidate that is nearest to a word, in any case; `None` if none is likely meant.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = fold(word);
    let scored = candidates.into_iter().map(|candidate| {
        let other = fold(candidate);
        let contains =
            other.len() > 3 && folded.len() > 3 && (other.contains(&folded) || folded.contains(&other));
        let score = strsim::jaro_winkler(&folded, &other).max(if contains { 0.85 } else { 0.0 });
        (candidate, score)
    });
    let likely = scored.filter(|(_, score)| *score >= 0.75);
    // Of equal ones the first, as in the file.
    likely.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(candidate, _)| candidate)
}

fn fold(word: &str) -> String {
    word.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_the_one_that_was_probably_meant() {
        assert_eq!(nearest("studoi", Member::names()), Some("studio"));
        assert_eq!(nearest("Titel", ["No.", "Client", "Title"]), Some("Title"));
        assert_eq!(nearest("Inventarnummer", ["Titel", "Inventar-Nr."]), Some("Inventar-Nr."));
        assert_eq!(
            nearest("makers[0].name", ["title", "makers[].person", "makers[].name"]),
            Some("makers[].name")
        );
        assert_eq!(nearest("material", Member::names()), Some("taste.material"));
        assert_eq!(nearest("xyz", ["Title", "Artist"]), None);
    }
}
