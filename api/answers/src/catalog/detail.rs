//! How much of each project a list shows.

use std::borrow::Cow;

use schemas::api::summary;

/// How much of each project a list shows: its parameter `detail`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// The whole summary and all members that the list adds.
    #[default]
    Full,
    /// What names, places and cites the project, and its score.
    Concise,
}

impl Detail {
    /// All values by name, the usual one first.
    pub const NAMES: [&'static str; 2] = ["full", "concise"];

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Detail> {
        let all = Detail::NAMES.into_iter().zip([Detail::Full, Detail::Concise]);
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())).map(|(_, detail)| detail)
    }

    /// Returns whether all members are shown.
    pub fn is_full(self) -> bool {
        self == Detail::Full
    }

    /// Returns what is shown of a rendered summary, or of a rendered record, without the brace after its last member.
    #[inline]
    pub fn of(self, summary: &[u8]) -> Cow<'_, [u8]> {
        let concise = if self.is_full() { None } else { summary::concise(summary) };
        concise.map_or(Cow::Borrowed(summary), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_one_of_two_names() {
        let parsed = ["full", " CONCISE", "", "short"].map(Detail::parse);
        assert_eq!(parsed, [Some(Detail::Full), Some(Detail::Concise), None, None]);
        assert_eq!(Detail::default(), Detail::Full);
        assert!(matches!(Detail::Full.of(b"{\"slug\":\"a\""), Cow::Borrowed(_)));
    }
}
