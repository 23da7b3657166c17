//! How far a process sets its clock off, for rehearsals.

use std::str::FromStr;

use jiff::SignedDuration;

/// The furthest that a clock may be set off, in days.
const FURTHEST: i64 = 366;

/// How far the clock of a process is ahead of the machine's, or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset(pub SignedDuration);

impl FromStr for ClockOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
        let seconds = match unit {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3_600),
            "d" => Some(86_400),
            _ => None,
        };
        let offset = seconds.and_then(|unit| number.parse::<i64>().ok()?.checked_mul(unit));
        let offset = offset.map(SignedDuration::from_secs);
        offset
            .filter(|offset| {
                offset.unsigned_abs() <= SignedDuration::from_hours(FURTHEST * 24).unsigned_abs()
            })
            .map(ClockOffset)
            .ok_or_else(|| format!("a time such as 40d, 10m or -90s is wanted, of at most {FURTHEST} days"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_set_ahead_or_back() {
        let seconds = |text: &str| text.parse::<ClockOffset>().map(|offset| offset.0.as_secs());
        let expected = [Ok(0), Ok(3_456_000), Ok(600), Ok(-90), Ok(7_200)];
        assert_eq!(["0s", "+40d", " 10m", "-90s", "2h"].map(seconds), expected);
        for wrong in ["", "s", "40", "d40", "1w", "367d", "-367d", "1.5h", "9223372036854775807d", "ä"] {
            let refused = "a time such as 40d, 10m or -90s is wanted, of at most 366 days";
            assert_eq!(seconds(wrong), Err(refused.to_owned()), "{wrong}");
        }
    }
}
