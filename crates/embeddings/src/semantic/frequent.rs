//! Words that every text has, and words that every text of such a catalog has.
//!
//! A count over the catalog would weigh words better, and would change every vector with every record; these lists
//! stand instead.

use std::collections::HashMap;
use std::sync::LazyLock;

const LITTLE: f32 = 0.35;

/// What a folded word counts: nothing, little, or all.
pub(super) fn weight(word: &str) -> f32 {
    static LISTED: LazyLock<HashMap<&str, f32>> = LazyLock::new(|| {
        let little = OF_EVERY_CATALOG.split_whitespace().map(|word| (word, LITTLE));
        little.chain(STOP.split_whitespace().map(|word| (word, 0.0))).collect()
    });
    match LISTED.get(word) {
        Some(weight) => *weight,
        None if word.bytes().all(|byte| byte.is_ascii_digit()) => LITTLE,
        None => 1.0,
    }
}

/// Words of English, and the articles and prepositions of its neighbours, that tell nothing apart.
const STOP: &str = "
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

/// What a text of any project says.
const OF_EVERY_CATALOG: &str = "
    architect architects architectural architecture area art artist artists building buildings built
    client clients commission commissioned construction design designed designer designers designs
    finished interior interiors new object objects photograph photographer photographs photography piece
    pieces place placed places project projects room rooms series site space spaces studio studios work
    works year years";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taste_counts_in_full() {
        for word in ["oak", "dusk", "calm", "concrete", "red", "quiet", "axial", "chapel"] {
            assert_eq!(weight(word), 1.0, "{word}");
        }
        assert_eq!((weight("the"), weight("project"), weight("1968")), (0.0, 0.35, 0.35));
    }
}
