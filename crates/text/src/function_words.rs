//! Words that hold a sentence together and say little by themselves.

/// Folded and in alphabetical order. What is shorter than two letters of the Latin alphabet is one besides.
const WORDS: [&str; 96] = [
    "about", "above", "across", "after", "against", "all", "almost", "along", "also", "among", "an", "and",
    "are", "around", "as", "at", "be", "been", "before", "behind", "below", "beneath", "beside", "between",
    "beyond", "both", "but", "by", "de", "des", "down", "du", "each", "for", "from", "has", "have", "in",
    "inside", "into", "is", "it", "its", "la", "le", "les", "like", "many", "more", "most", "much", "near",
    "no", "not", "of", "off", "on", "onto", "or", "other", "out", "outside", "over", "per", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "through",
    "to", "too", "toward", "towards", "under", "up", "upon", "very", "via", "was", "were", "where", "which",
    "while", "with", "within", "without", "yet",
];

/// Whether a folded word is one of them.
pub fn contains(folded: &str) -> bool {
    let is_letter = folded.len() == 1 && folded.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_letter || WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_single_letters_belong_to_it() {
        assert!(WORDS.is_sorted());
        assert_eq!(["the", "s", "oak", "7", "木"].map(contains), [true, true, false, false, false]);
    }
}
