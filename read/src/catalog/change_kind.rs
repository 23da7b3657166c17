//! The kinds of changes that readers see.

/// What happened to a project. A picture that was attached or erased revises it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was selected.
    Selected,
    /// Its record or its pictures changed.
    Revised,
    /// Its slug changed.
    Renamed,
    /// It was withdrawn.
    Withdrawn,
    /// Its withdrawal was ended.
    Restored,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [ChangeKind; 5] = [
        ChangeKind::Selected,
        ChangeKind::Revised,
        ChangeKind::Renamed,
        ChangeKind::Withdrawn,
        ChangeKind::Restored,
    ];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Selected => "selected",
            ChangeKind::Revised => "revised",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Withdrawn => "withdrawn",
            ChangeKind::Restored => "restored",
        }
    }

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<ChangeKind> {
        ChangeKind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_by_its_name_in_any_case() {
        for kind in ChangeKind::ALL {
            assert_eq!(ChangeKind::parse(&format!(" {} ", kind.as_str().to_uppercase())), Some(kind));
        }
        assert_eq!(["", "deleted", "revised,renamed"].map(ChangeKind::parse), [None; 3]);
    }
}
