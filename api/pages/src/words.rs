//! Formats words and numbers for people.

pub(super) use answers::catalog::about::grouped;

/// Returns the text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Returns an error as a sentence.
pub(super) fn sentence(error: &impl ToString) -> String {
    format!("{}.", capitalised(&error.to_string()))
}

/// Returns a number of projects, such as `one project` or `1,356 projects`.
pub(super) fn projects(number: u64) -> String {
    if number == 1 { "one project".to_owned() } else { format!("{} projects", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
