use super::*;

#[test]
fn the_limit_of_rejected_lines_is_a_number_or_a_percentage() {
    let exceeded = |most: &str, rejected, lines| -> bool {
        most.parse::<MaxRejected>().unwrap().is_exceeded(rejected, lines)
    };
    assert_eq!((exceeded("0", 0, 9), exceeded("0", 1, 9)), (false, true));
    assert_eq!((exceeded("20", 20, 21), exceeded("20", 21, 21)), (false, true));
    assert_eq!((exceeded("2.5%", 5, 200), exceeded("2.5 %", 6, 200)), (false, true));
    for wrong in ["", "-1", "2.5", "101%", "%", "NaN%", "many"] {
        assert!(wrong.parse::<MaxRejected>().is_err(), "{wrong}");
    }
}
