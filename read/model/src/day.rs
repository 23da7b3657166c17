//! Days as numbers, which models store and compare.

use jiff::civil::{Date, date};

/// Returns the days from 1970-01-01 to a date; negative before it.
pub fn since_1970(day: Date) -> i32 {
    let hours = day.duration_since(date(1970, 1, 1)).as_hours();
    // The calendar has fewer than four million days on either side.
    i32::try_from(hours / 24).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        let numbered = [
            (date(1970, 1, 1), 0),
            (date(1970, 1, 2), 1),
            (date(1969, 12, 31), -1),
            (date(2000, 3, 1), 11_017),
            (date(1, 1, 1), -719_162),
            (date(9999, 12, 31), 2_932_896),
        ];
        for (day, number) in numbered {
            assert_eq!(since_1970(day), number, "{day}");
        }
    }
}
