//! The known name of an argument that is most similar to one that is not known.

/// The maximum edit distance of similar names.
const MOST_EDITS: usize = 2;
/// Longer names are not compared.
const LONGEST_NAME: usize = 20;

/// Returns the known name that is most similar: a prefix of it or with it as a prefix, or with a small edit distance.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let near = known.iter().filter_map(|known| {
        let begins = !name.is_empty() && (known.starts_with(&name) || name.starts_with(known));
        let edits = if begins { 0 } else { edits(&name, known) };
        (edits <= MOST_EDITS && edits < known.len() / 2).then_some((edits, *known))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// Returns the edit distance: the number of letters to change, add or remove.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for (to, own) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *own);
            before = row[to + 1];
            row[to + 1] = changed.min(before + 1).min(row[to] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_has_a_most_similar_one() {
        let known = ["material", "light", "color", "slug", "limit", "id"];
        for (name, near) in [
            ("materials", Some("material")),
            ("Material", Some("material")),
            ("limt", Some("limit")),
            ("col", Some("color")),
            ("colour", Some("color")),
            ("slog", Some("slug")),
            ("depth", None),
            ("it", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), near, "{name}");
        }
    }
}
