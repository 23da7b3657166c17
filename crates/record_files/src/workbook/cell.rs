//! The text of a cell: what a person reads in it, as far as that says no more than the value.

use calamine::{DataRef, ExcelDateTime, Style};

/// The first serial number beyond the last day of Excel, 9999-12-31.
const END_OF_TIME: f64 = 2_958_466.0;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the text of a cell with this style; for an error other than `#N/A`, which stands for an absent value, the error.
pub(crate) fn text(value: &DataRef<'_>, style: Option<&Style>) -> Result<String, String> {
    let code = style.and_then(|style| style.number_format.as_ref()).map(|format| format.format_code.as_str());
    Ok(match value {
        DataRef::Empty => String::new(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.trim().to_owned()
        }
        DataRef::SharedString(text) => text.trim().to_owned(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number, code),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(date) if date.is_duration() => duration_text(date.as_f64()),
        DataRef::DateTime(date) => date_text(date, code),
        DataRef::Error(error) => match error.to_string().as_str() {
            "#N/A" => "#N/A".to_owned(),
            error => return Err(error.to_owned()),
        },
    })
}

/// Returns a number with the 15 digits that Excel keeps, and with the zeros before it of a format such as `000`.
fn number_text(number: f64, code: Option<&str>) -> String {
    let rounded = format!("{number:.14e}").parse().unwrap_or(number);
    let text = format!("{rounded}");
    match code {
        Some(code)
            if code.bytes().all(|byte| byte == b'0') && text.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{text:0>width$}", width = code.len())
        }
        _ => text,
    }
}

/// Returns a date as its format shows it: a year alone, a month of a year, a day (ISO 8601), a day with a time, or a time.
fn date_text(date: &ExcelDateTime, code: Option<&str>) -> String {
    let serial = date.as_f64();
    if !(0.0..END_OF_TIME).contains(&serial) {
        return number_text(serial, None);
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let shown = code.map_or(Shown::ALL, Shown::of);
    let time = match (hour, minute, second) {
        (hour, minute, 0) => format!("{hour:02}:{minute:02}"),
        (hour, minute, second) => format!("{hour:02}:{minute:02}:{second:02}"),
    };
    let month_name = MONTHS.get(usize::from(month).wrapping_sub(1)).copied().unwrap_or_default();
    match shown {
        Shown { year: false, month: false, day: false, time: true } => time,
        Shown { year: true, month: false, day: false, .. } => year.to_string(),
        Shown { year: true, month: true, day: false, .. } => format!("{month_name} {year}"),
        Shown { time: true, .. } if serial.fract() != 0.0 => format!("{year:04}-{month:02}-{day:02}T{time}"),
        _ => format!("{year:04}-{month:02}-{day:02}"),
    }
}

/// Returns hours, minutes and seconds, of which there may be more than 24 hours.
fn duration_text(days: f64) -> String {
    let seconds = (days * 86_400.0).round();
    let (hours, rest) = ((seconds / 3_600.0).trunc(), (seconds % 3_600.0).abs());
    format!("{hours}:{:02}:{:02}", (rest / 60.0).trunc(), rest % 60.0)
}

/// The parts of a date that a format shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    year: bool,
    month: bool,
    day: bool,
    time: bool,
}

impl Shown {
    const ALL: Shown = Shown { year: true, month: true, day: true, time: true };

    /// Returns what a format such as `d.m.yyyy hh:mm` shows; everything if it has no letter of a date.
    fn of(code: &str) -> Shown {
        let mut shown = Shown { year: false, month: false, day: false, time: false };
        let mut minutes = false;
        let (mut quoted, mut bracketed, mut literal) = (false, false, false);
        for letter in code.chars() {
            match letter.to_ascii_lowercase() {
                _ if literal => literal = false,
                '"' => quoted = !quoted,
                _ if quoted => {}
                ']' => bracketed = false,
                _ if bracketed => {}
                '[' => bracketed = true,
                '\\' | '_' | '*' => literal = true,
                // Only the first part of a format is for dates.
                ';' => break,
                'y' | 'e' => shown.year = true,
                'd' => shown.day = true,
                'h' | 's' => shown.time = true,
                'm' => minutes = true,
                _ => {}
            }
        }
        // An m without a day or year beside hours or seconds is a minute.
        shown.month = minutes && (shown.year || shown.day || !shown.time);
        if shown == (Shown { year: false, month: false, day: false, time: false }) {
            Shown::ALL
        } else {
            shown
        }
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn numbers_are_written_as_excel_keeps_them() {
        let texts =
            [2012.0, 71.5, 0.1 + 0.2, 1e15, -3.0, 12345678901.5, 1.0 / 3.0].map(|n| number_text(n, None));
        assert_eq!(
            texts,
            ["2012", "71.5", "0.3", "1000000000000000", "-3", "12345678901.5", "0.333333333333333"]
        );
        assert_eq!(number_text(7.0, Some("0000")), "0007");
        assert_eq!(number_text(7.5, Some("000")), "7.5");
        assert_eq!(number_text(7.0, Some("0.00")), "7");
    }

    #[test]
    fn dates_say_no_more_than_their_format_shows() {
        let text = |serial, code| {
            date_text(&ExcelDateTime::new(serial, ExcelDateTimeType::DateTime, false), Some(code))
        };
        for (code, expected) in [
            ("yyyy-mm-dd", "2012-09-01"),
            ("dd.mm.yyyy", "2012-09-01"),
            ("m/d/yy h:mm", "2012-09-01T12:00"),
            ("[$-407]d. mmmm yyyy;@", "2012-09-01"),
            ("d-mmm", "2012-09-01"),
            ("yyyy", "2012"),
            ("mmm-yy", "September 2012"),
            ("\"day\" yyyy", "2012"),
            ("hh:mm:ss", "12:00"),
            ("mm:ss", "12:00"),
            ("@", "2012-09-01T12:00"),
        ] {
            assert_eq!(text(41_153.5, code), expected, "{code}");
        }
        assert_eq!(text(41_153.0, "m/d/yy h:mm"), "2012-09-01");
        assert_eq!(text(-1.0, "yyyy"), "-1");
        assert_eq!(text(3e6, "yyyy"), "3000000");
        let of_1904 = ExcelDateTime::new(39_691.0, ExcelDateTimeType::DateTime, true);
        assert_eq!(date_text(&of_1904, None), "2012-09-01");
        assert_eq!(duration_text(1.5), "36:00:00");
    }
}
