//! The form in which names are compared with what was typed.

use crate::fold;

/// Outside quotes it is punctuation in names, as `&` is.
pub(crate) const AND: &str = "and";

/// Returns the form in which names, studios and cities are compared: folded, and without each `and`, unless nothing else is left. So
/// `Oxenham & Wardlaw` is compared as `Oxenham and Wardlaw` is.
///
/// ```
/// assert_eq!(text::comparison_form("Oxenham & Wardlaw"), "oxenham wardlaw");
/// assert_eq!(text::comparison_form("Oxenham and Wardlaw"), "oxenham wardlaw");
/// assert_eq!(text::comparison_form("And"), "and");
/// ```
pub fn comparison_form(text: &str) -> String {
    without_and(fold(text))
}

/// Returns a folded text without each `and`, unless nothing else is left.
pub(crate) fn without_and(folded: String) -> String {
    if !folded.split(' ').any(|word| word == AND) {
        return folded;
    }
    let others: Vec<&str> = folded.split(' ').filter(|word| *word != AND).collect();
    if others.is_empty() { folded } else { others.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn and_is_left_out_unless_nothing_else_is_left() {
        for (text, form) in [
            ("Oxenham & Wardlaw", "oxenham wardlaw"),
            ("Oxenham and Wardlaw", "oxenham wardlaw"),
            ("OXENHAM Wardlaw", "oxenham wardlaw"),
            ("And", "and"),
            ("Sand and Land", "sand land"),
            ("AND Architects", "architects"),
            ("and and", "and and"),
            ("And & and", "and and"),
            ("Rock'n'and", "rocknand"),
            ("", ""),
        ] {
            assert_eq!(comparison_form(text), form, "{text}");
            assert_eq!(comparison_form(form), form, "{text}");
        }
    }
}
