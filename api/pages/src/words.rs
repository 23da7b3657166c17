//! Formats words and numbers for people.

/// Returns the text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Returns an error as a sentence.
pub(super) fn sentence(error: &impl ToString) -> String {
    format!("{}.", capitalised(&error.to_string()))
}

/// Formats a number with commas between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

/// Returns a number of projects, such as `one project` or `1,356 projects`.
pub(super) fn projects(number: u64) -> String {
    if number == 1 { "one project".to_owned() } else { format!("{} projects", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_kept_apart() {
        let shown = [0, 999, 1_000, 25_000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "25,000", "1,234,567"]);
    }

    #[test]
    fn a_single_project_is_one_in_words() {
        assert_eq!([0, 1, 1_356].map(projects), ["0 projects", "one project", "1,356 projects"]);
    }

    #[test]
    fn the_first_letter_is_capitalised() {
        assert_eq!(["studio", "élan", ""].map(capitalised), ["Studio", "Élan", ""]);
        assert_eq!(sentence(&"it is too long"), "It is too long.");
    }
}
