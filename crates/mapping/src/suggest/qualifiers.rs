//! Words before the name of a maker that say how sure the authorship is.

/// The words of qualifiers of authorship, in lower case.
const QUALIFIERS: [&str; 22] = [
    "after",
    "attributed to",
    "workshop of",
    "circle of",
    "follower of",
    "school of",
    "manner of",
    "style of",
    "studio of",
    "copy after",
    "imitator of",
    "zugeschrieben",
    "nach",
    "werkstatt von",
    "umkreis von",
    "attribué à",
    "d'après",
    "atelier de",
    "attribuito a",
    "atribuido a",
    "toegeschreven aan",
    "naar",
];

/// Returns whether a text is a qualifier of authorship, or a role that has one, such as “attributed manufacturer”.
pub(crate) fn is_qualifier(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    QUALIFIERS.contains(&lower.as_str()) || lower.starts_with("attributed ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_not_qualifiers() {
        for (text, expected) in [
            ("After", true),
            (" workshop of ", true),
            ("attributed manufacturer", true),
            ("d'après", true),
            ("manufacturer", false),
            ("after dinner", false),
            ("", false),
        ] {
            assert_eq!(is_qualifier(text), expected, "{text}");
        }
    }
}
