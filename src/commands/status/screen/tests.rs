use super::*;

#[test]
fn a_duration_has_two_units() {
    let texts = [9, 61, 7_260, 200_000].map(duration);
    assert_eq!(texts, ["9 s", "1 min 1 s", "2 h 1 min", "2 d 7 h"]);
}
