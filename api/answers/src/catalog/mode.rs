//! What a search compares: words, meaning, or both.

use schemas::api::search::MODES;

/// What a search compares: its parameter `mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The words of the text.
    #[default]
    Words,
    /// The meaning of the text.
    Meaning,
    /// Words first, then meaning.
    Both,
}

impl Mode {
    /// All values by name, the usual one first.
    pub const NAMES: [&'static str; 3] = MODES;

    /// What is wrong with any other name.
    pub const REFUSED: &'static str = "It is neither words, meaning nor both.";

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Mode> {
        let all = Mode::NAMES.into_iter().zip([Mode::Words, Mode::Meaning, Mode::Both]);
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())).map(|(_, mode)| mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_any_case_is_a_mode() {
        let parsed = ["words", " Meaning", "BOTH", "", "semantic"].map(Mode::parse);
        assert_eq!(parsed, [Some(Mode::Words), Some(Mode::Meaning), Some(Mode::Both), None, None]);
    }
}
