//! How much of each project a list shows.

use std::borrow::Cow;

use schemas::api::summary;

/// How much of each project a list shows: its parameter `detail`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// The whole summary and all members that the list adds.
    #[default]
    Full,
    /// What names, places and cites the project, its score and the dimensions that match.
    Concise,
    /// The same with the six texts of taste, which records have and summaries lack: see [`super::taste_records`].
    Taste,
}

impl Detail {
    /// All values by name, the usual one first.
    pub const NAMES: [&'static str; 3] = ["full", "concise", "taste"];

    /// What is wrong with any other name.
    pub const REFUSED: &'static str = "It is neither full, concise nor taste.";

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Detail> {
        let all = Detail::NAMES.into_iter().zip([Detail::Full, Detail::Concise, Detail::Taste]);
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())).map(|(_, detail)| detail)
    }

    /// Returns whether all members are shown.
    pub fn is_full(self) -> bool {
        self == Detail::Full
    }

    /// Returns whether more is shown than summaries have.
    pub fn needs_records(self) -> bool {
        self == Detail::Taste
    }

    /// Returns what is shown of a rendered summary, or of a rendered record, without the brace after its last member.
    #[inline]
    pub fn of(self, rendered: &[u8]) -> Cow<'_, [u8]> {
        let short = match self {
            Detail::Full => None,
            Detail::Concise => summary::concise(rendered),
            Detail::Taste => summary::concise(rendered).map(|mut shown| {
                shown.extend_from_slice(summary::taste(rendered).unwrap_or_default());
                shown
            }),
        };
        short.map_or(Cow::Borrowed(rendered), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_one_of_three_names() {
        let parsed = ["full", " CONCISE", "Taste ", "", "short"].map(Detail::parse);
        assert_eq!(parsed, [Some(Detail::Full), Some(Detail::Concise), Some(Detail::Taste), None, None]);
        assert_eq!(Detail::default(), Detail::Full);
        assert_eq!(
            [Detail::Full, Detail::Concise, Detail::Taste].map(Detail::needs_records),
            [false, false, true]
        );
        for detail in [Detail::Full, Detail::Concise, Detail::Taste] {
            assert!(matches!(detail.of(b"{\"slug\":\"a\""), Cow::Borrowed(b"{\"slug\":\"a\"")));
        }
    }
}
