//! The names of makers: turned round, nobody, qualified, and joined to one text.

/// The maximum length of a `studio`, in characters.
const MAX_STUDIO: usize = 300;

/// What stands behind a comma and is no first name, in lower case and without points.
const SUFFIXES: [&str; 38] = [
    "jr",
    "jnr",
    "sr",
    "snr",
    "ii",
    "iii",
    "iv",
    "esq",
    "phd",
    "md",
    "ra",
    "aia",
    "faia",
    "riba",
    "ltd",
    "limited",
    "inc",
    "incorporated",
    "llc",
    "llp",
    "plc",
    "pc",
    "corp",
    "co",
    "company",
    "& co",
    "and co",
    "gmbh",
    "gmbh & co kg",
    "ag",
    "kg",
    "ohg",
    "ev",
    "sa",
    "sarl",
    "srl",
    "bv",
    "nv",
];

/// Words for somebody whom nobody knows.
const UNKNOWN: [&str; 16] = [
    "unknown",
    "unidentified",
    "anonymous",
    "anon",
    "unbekannt",
    "unbekannter",
    "unbekannte",
    "anonym",
    "inconnu",
    "anonyme",
    "sconosciuto",
    "anonimo",
    "anónimo",
    "desconocido",
    "onbekend",
    "anoniem",
];

/// Words for a maker that may stand beside those.
const MAKERS: [&str; 15] = [
    "artist",
    "artists",
    "maker",
    "makers",
    "architect",
    "designer",
    "photographer",
    "author",
    "manufacturer",
    "creator",
    "künstler",
    "künstlerin",
    "architekt",
    "fotograf",
    "artiste",
];

/// Turns “Last, First” round where there is exactly one comma, and something other than `Jr.`, `Ltd` or the like behind it.
pub(crate) fn turned_round(name: &str) -> String {
    let parts: Vec<&str> = name.split(',').map(str::trim).collect();
    match parts[..] {
        [last, first] if !last.is_empty() && !first.is_empty() && !is_suffix(first) => {
            format!("{first} {last}")
        }
        _ => name.to_owned(),
    }
}

fn is_suffix(text: &str) -> bool {
    let plain = text.replace('.', "").to_lowercase();
    SUFFIXES.contains(&plain.trim())
}

/// Returns whether a whole name says that the maker is not known, as “unidentified artist” does.
pub(crate) fn is_nobody(name: &str) -> bool {
    let plain = name.trim_matches(|character: char| "[]().?".contains(character)).to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words[..] {
        [word] => UNKNOWN.contains(&word),
        [a, b] => {
            (UNKNOWN.contains(&a) && MAKERS.contains(&b)) || (MAKERS.contains(&a) && UNKNOWN.contains(&b))
        }
        _ => false,
    }
}

/// Joins names with “, ”, without repetitions; beyond 300 characters whole names and “ and 12 more”.
pub(crate) fn joined(names: &[String]) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name.as_str()) {
            distinct.push(name);
        }
    }
    let all = distinct.join(", ");
    if all.chars().count() <= MAX_STUDIO || distinct.len() < 2 {
        return Some(all).filter(|all| !all.is_empty());
    }
    let shortened = (1..distinct.len())
        .rev()
        .map(|kept| format!("{} and {} more", distinct[..kept].join(", "), distinct.len() - kept));
    let mut shortened = shortened.skip_while(|text| text.chars().count() > MAX_STUDIO);
    Some(shortened.next().unwrap_or(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_one_comma_are_turned_round() {
        for (name, turned) in [
            ("Pellow, Agnes", "Agnes Pellow"),
            ("Okonjo, Bisi, Jr.", "Okonjo, Bisi, Jr."),
            ("King, Jr.", "King, Jr."),
            ("Korn Werkstätten, GmbH", "Korn Werkstätten, GmbH"),
            ("Signwright, Inc.", "Signwright, Inc."),
            ("Mabey, S.A.", "Mabey, S.A."),
            ("British School 18th century", "British School 18th century"),
            ("Pellow,", "Pellow,"),
        ] {
            assert_eq!(turned_round(name), turned);
        }
    }

    #[test]
    fn an_unknown_maker_is_nobody() {
        for name in ["Unknown", "unidentified artist", "Anonymous", "[Unbekannt]", "Artist unknown", "anon."]
        {
            assert!(is_nobody(name), "{name}");
        }
        for name in
            ["Anonymous, French, 18th century", "Various Artists", "British School", "Unknown Pleasures"]
        {
            assert!(!is_nobody(name), "{name}");
        }
    }

    #[test]
    fn makers_are_joined_without_repetitions_up_to_300_characters() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(&names(&["A", "B", "A"])).unwrap(), "A, B");
        let many: Vec<String> = (10..60).map(|number| format!("Person {number}")).collect();
        let text = joined(&many).unwrap();
        assert!(text.ends_with("Person 34, Person 35 and 24 more"), "{text}");
        assert!(text.chars().count() <= 300);
        assert_eq!(joined(&[many.join(" ")]).unwrap(), many.join(" "));
    }
}
