//! Weights of words: 0 for stop words, little for words that most projects of a design catalog have.
//!
//! Inverse document frequencies would be better weights, but every new record would change all vectors; hence fixed lists.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The weight of catalog words and numbers.
const LITTLE: f32 = 0.35;

/// Returns the weight of a folded word: 0, [`LITTLE`] or 1.
pub(super) fn weight(word: &str) -> f32 {
    static LISTED: LazyLock<HashMap<&str, f32>> = LazyLock::new(|| {
        let little = CATALOG_WORDS.split_whitespace().map(|word| (word, LITTLE));
        little.chain(STOP_WORDS.split_whitespace().map(|word| (word, 0.0))).collect()
    });
    match LISTED.get(word) {
        Some(weight) => *weight,
        None if word.bytes().all(|byte| byte.is_ascii_digit()) => LITTLE,
        None => 1.0,
    }
}

/// Stop words of English, and articles and prepositions of French, German, Italian and Spanish.
const STOP_WORDS: &str = "
    a about above after again against al all along also although always am among an and another any are
    around as at au auf aus aux avec away back be because been before behind bei being below beneath
    beside besides between both but by can cannot ce ces con could dal dalla dans das de degli dei del
    della delle dem den der des di did die do does done down du during e each ein eine einer either el
    else en est et even ever every few first for from fur further gli had has have having he her here hers
    him his how however i if il im in inside into is it its itself just kept la las last le least les less
    let like lo los made make makes many may me might mit more most much must my neither nel nella never
    next no nobody nor not nothing now o of off often on once one only onto or other others our out
    outside over own par per pour qui quite rather same second see seen several shall she should since so
    some something still such sur than that the their them then there these they this those though three
    through throughout thus to together too toward towards two un una und under une until up upon us used
    uses using very von was we well were what when where whether which while who whole whom whose why will
    with within without would y yet you your zum zur";

/// Words that most projects of a catalog have.
const CATALOG_WORDS: &str = "
    architect architects architectural architecture area art artist artists building buildings built
    client clients commission commissioned construction design designed designer designers designs
    finished interior interiors new object objects photograph photographer photographs photography piece
    pieces place placed places project projects room rooms series site space spaces studio studios work
    works year years";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_taste_have_full_weight() {
        for word in ["oak", "dusk", "calm", "concrete", "red", "quiet", "axial", "chapel"] {
            assert_eq!(weight(word), 1.0, "{word}");
        }
        assert_eq!((weight("the"), weight("project"), weight("1968")), (0.0, 0.35, 0.35));
    }
}
