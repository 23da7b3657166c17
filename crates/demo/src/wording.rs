//! Rules of English for the texts: articles, capitals, numbers.

/// The numbers up to twenty, in order.
const SMALL: &str = "nought one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
                     seventeen eighteen nineteen twenty";
/// The tens from twenty on, in order.
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";

/// Words that stay in lower case in a title, unless they come first.
const MINOR: [&str; 26] = [
    "a", "an", "the", "of", "on", "in", "for", "and", "or", "with", "to", "under", "by", "at", "from",
    "over", "above", "below", "after", "before", "between", "without", "into", "as", "off", "per",
];

/// Returns whether `a` becomes `an` before `text`.
pub(super) fn takes_an(text: &str) -> bool {
    let word: String =
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '-').flat_map(char::to_lowercase).collect();
    let has_prefix = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
    if has_prefix(&["hour", "honest", "heir", "8", "11-", "18-"]) || ["11", "18"].contains(&word.as_str()) {
        return true;
    }
    if has_prefix(&["uni", "use", "usa", "eu", "one", "ubi", "u-"]) && !word.starts_with("unin") {
        return false;
    }
    word.starts_with(['a', 'e', 'i', 'o', 'u', 'à', 'á', 'é', 'í', 'ó', 'å', 'ä', 'ö'])
}

/// Appends a number in digits, with commas between thousands.
pub(super) fn digits(number: i32, out: &mut String) {
    let digits = number.to_string();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
}

/// Appends a number in words up to ninety-nine, in digits beyond.
pub(super) fn spell(number: i32, out: &mut String) {
    let Ok(number) = usize::try_from(number) else { return };
    let small = |number: usize| SMALL.split(' ').nth(number);
    if let Some(word) = small(number) {
        out.push_str(word);
    } else if let Some(tens) = TENS.split(' ').nth(number / 10 - 2) {
        out.push_str(tens);
        if number % 10 > 0 {
            out.push('-');
            out.push_str(small(number % 10).unwrap_or_default());
        }
    } else {
        digits(i32::try_from(number).unwrap_or_default(), out);
    }
}

/// Converts a text to English title case.
pub(super) fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            titled.push(' ');
        }
        if at > 0 && MINOR.contains(&word) { titled.push_str(word) } else { capital(word, &mut titled) }
    }
    titled
}

fn capital(word: &str, out: &mut String) {
    let mut letters = word.chars();
    if let Some(first) = letters.next() {
        out.extend(first.to_uppercase());
        out.push_str(letters.as_str());
    }
}

/// Capitalises ASCII letters at the start of the text and after each full stop. Names that begin with another letter have a capital
/// in the text files.
pub(super) fn capitalise(text: &mut str) {
    let mut at = 0;
    loop {
        if let Some(first) = text.get_mut(at..at + 1) {
            first.make_ascii_uppercase();
        }
        let Some(stop) = text.get(at..).and_then(|rest| rest.find('.')) else { return };
        at += stop + 1;
        if text.as_bytes().get(at) == Some(&b' ') {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_follow_the_sound() {
        let an = [
            "oak bench",
            "hour",
            "ash frame",
            "80 centimetres",
            "11-metre wall",
            "étude",
            "unnamed plot",
            "iron",
        ];
        assert!(an.iter().all(|text| takes_an(text)), "{an:?}");
        let a = [
            "library",
            "university",
            "used door",
            "one-room house",
            "110 metres",
            "European oak",
            "house",
            "9",
        ];
        assert!(a.iter().all(|text| !takes_an(text)), "{a:?}");
    }

    #[test]
    fn numbers_are_written_in_words_and_digits() {
        let written = |number| {
            let (mut words, mut figures) = (String::new(), String::new());
            spell(number, &mut words);
            digits(number, &mut figures);
            (words, figures)
        };
        assert_eq!(written(7), ("seven".to_owned(), "7".to_owned()));
        assert_eq!(written(40), ("forty".to_owned(), "40".to_owned()));
        assert_eq!(written(96), ("ninety-six".to_owned(), "96".to_owned()));
        assert_eq!(written(12_400), ("12,400".to_owned(), "12,400".to_owned()));
    }

    #[test]
    fn titles_and_sentences_are_capitalised() {
        assert_eq!(title("house for a piano tuner and the sea"), "House for a Piano Tuner and the Sea");
        assert_eq!(title("the hour of the dog"), "The Hour of the Dog");
        let mut text = "a house in Łódź. it stands. 3 doors: none open. łatwo.".to_owned();
        capitalise(&mut text);
        assert_eq!(text, "A house in Łódź. It stands. 3 doors: none open. łatwo.");
    }
}
