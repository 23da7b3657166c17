//! Numbers in sentences.

/// Returns a small number as a word that begins a sentence.
pub(crate) fn in_words(number: usize) -> String {
    let words = ["Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];
    number.checked_sub(2).and_then(|at| words.get(at)).map_or_else(|| number.to_string(), ToString::to_string)
}

/// Returns a number with a noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count)) }
}

/// Returns a number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 7, 1_000, 1_234_567].map(grouped), ["0", "7", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "file"), counted(1_200, "file")], ["1 file", "1,200 files"]);
    }

    #[test]
    fn small_numbers_are_words() {
        assert_eq!([2, 12, 13].map(in_words), ["Two", "Twelve", "13"]);
    }
}
