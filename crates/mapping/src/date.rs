//! Years and days of texts. A year is sure only where the whole text is one date; nothing is guessed.

use jiff::civil::Date;

/// The years that a text may name; other numbers of four digits are something else.
const YEARS: std::ops::RangeInclusive<i16> = 1000..=2100;

/// The largest serial number of a day in Excel, 31 December 9999.
const LAST_SERIAL: f64 = 2_958_465.0;

/// Names of months in English and German, in lower case, with their short forms.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner"],
    &["february", "feb", "februar", "feber"],
    &["march", "mar", "märz", "maerz", "mär", "mrz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober", "okt"],
    &["november", "nov"],
    &["december", "dec", "dezember", "dez"],
];

/// Which year of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YearOf {
    /// The one that is the whole text.
    Sure,
    /// The first year of a range.
    First,
    /// The last year of a range.
    Last,
}

/// How days are written. Each form also accepts `1975-06-01` and names of months, which are read in one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayForm {
    /// `1975-06-01`.
    Iso,
    /// `1.6.1975`.
    Points,
    /// `1/6/1975`.
    DayFirst,
    /// `6/1/1975`.
    MonthFirst,
    /// A serial number of Excel, from 1900.
    Excel,
}

impl YearOf {
    /// Returns the year of a text.
    pub(crate) fn find(self, text: &str) -> Option<i16> {
        match self {
            YearOf::Sure => sure_year(text),
            YearOf::First => years(text).first().copied(),
            YearOf::Last => years(text).last().copied(),
        }
    }
}

/// Returns the year if the whole text is a year, a month of one, or a day.
fn sure_year(text: &str) -> Option<i16> {
    let bare = text.strip_suffix(".0").unwrap_or(text);
    if let Some(year) = year(bare) {
        return Some(year);
    }
    let date = iso(text).or_else(|| in_words(text)).or_else(|| numbers(text, '.', &[0, 1]));
    let date = date.or_else(|| numbers(text, '/', &[1, 0])).or_else(|| numbers(text, '/', &[0, 1]));
    let year = date.map(Date::year).or_else(|| month_of_year(text)).or_else(|| japanese(text));
    year.filter(|year| YEARS.contains(year))
}

/// Returns the day as `1975-06-01`.
pub(crate) fn day(text: &str, form: DayForm) -> Option<String> {
    let written = match form {
        DayForm::Iso => None,
        DayForm::Points => numbers(without_time(text), '.', &[0, 1]),
        DayForm::DayFirst => numbers(without_time(text), '/', &[0, 1]),
        DayForm::MonthFirst => numbers(without_time(text), '/', &[1, 0]),
        // Four digits are a year rather: 1975 as a serial number is a day in 1905.
        DayForm::Excel => serial(text).filter(|_| year(text).is_none()),
    };
    let date = written.or_else(|| iso(text)).or_else(|| in_words(text))?;
    YEARS.contains(&date.year()).then(|| date.to_string())
}

fn year(text: &str) -> Option<i16> {
    if text.len() != 4 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|year| YEARS.contains(year))
}

/// `1975-06-01`, with a time behind `T` or a blank or not.
fn iso(text: &str) -> Option<Date> {
    let day = text.get(..10)?;
    let time = &text[10..];
    let is_time = |time: &str| {
        let clock = time.trim_start();
        clock.len() < time.len() + usize::from(time.starts_with('T'))
            && clock.trim_start_matches('T').starts_with(|digit: char| digit.is_ascii_digit())
            && clock.chars().all(|character| character.is_ascii_digit() || "T:.Z+- UC".contains(character))
    };
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    if year.len() != 4 || month.len() != 2 || !(time.is_empty() || is_time(time)) {
        return None;
    }
    date(year, month, day)
}

/// `1 June 1975`, `1. Juni 1975`, `June 1, 1975`, with a time of day behind it or not.
fn in_words(text: &str) -> Option<Date> {
    let words: Vec<&str> = without_time(text).split_whitespace().collect();
    let [first, second, year] = words[..] else { return None };
    let (day, month_number) = match (month(first), month(second)) {
        (Some(month), None) => (second.strip_suffix(',').unwrap_or(second), month),
        (None, Some(month)) => (first.strip_suffix('.').unwrap_or(first), month),
        _ => return None,
    };
    date(year, &month_number.to_string(), day)
}

/// `June 1975`.
fn month_of_year(text: &str) -> Option<i16> {
    let (name, number) = text.split_once(' ')?;
    month(name)?;
    year(number)
}

/// `1975年6月1日` and shorter.
fn japanese(text: &str) -> Option<i16> {
    let (number, rest) = text.split_once('年')?;
    let is_number =
        |text: &str| matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = match rest.split_once('月') {
        None => rest.is_empty(),
        Some((month, "")) => is_number(month),
        Some((month, day)) => is_number(month) && day.strip_suffix('日').is_some_and(is_number),
    };
    year(number).filter(|_| is_date)
}

/// Three numbers with the year at the end; `order` says where day and month are.
fn numbers(text: &str, separator: char, order: &[usize; 2]) -> Option<Date> {
    let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
    let [_, _, year] = parts[..] else { return None };
    date(year, parts[order[1]], parts[order[0]])
}

/// Returns a day of numbers as they are written; a year has four digits, so that `98` is none.
fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    let is_short = |text: &str| matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_short(month) || !is_short(day) || year.len() != 4 {
        return None;
    }
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

fn serial(text: &str) -> Option<Date> {
    let number: f64 = text.parse().ok().filter(|number| (1.0..=LAST_SERIAL).contains(number))?;
    // Excel counts a 29 February 1900, so that the day before its first one is the 30th for all days after that.
    let start = Date::new(1899, 12, 30).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fraction is the time of day, and the range is checked"
    )]
    start.checked_add(jiff::Span::new().try_days(number.floor() as i64).ok()?).ok()
}

fn month(name: &str) -> Option<usize> {
    let name = name.trim_end_matches(['.', ',']).to_lowercase();
    MONTHS.iter().position(|names| names.contains(&name.as_str())).map(|index| index + 1)
}

/// Returns a text without a time of day such as `10:14 AM` at its end.
fn without_time(text: &str) -> &str {
    let is_half = |word: &str| matches!(word.to_lowercase().as_str(), "am" | "pm" | "a.m." | "p.m.");
    let is_clock = |word: &str| {
        word.contains(':')
            && word.chars().all(|character| character.is_ascii_digit() || ":.".contains(character))
    };
    let mut rest = text.trim_end();
    if let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && is_half(last)
    {
        rest = before.trim_end();
    }
    match rest.rsplit_once(char::is_whitespace) {
        Some((before, last)) if is_clock(last) => before.trim_end().trim_end_matches(','),
        _ => text,
    }
}

/// Returns the years of a text in their order; the short end of a range, as in “1826-7”, is a whole year. None where the text
/// counts from another year, as “430 BCE” does.
fn years(text: &str) -> Vec<i16> {
    let lower = text.to_lowercase();
    if ["bc", "b.c", "v. chr", "v.chr", "av. j"].iter().any(|era| lower.contains(era)) {
        return Vec::new();
    }
    let mut found: Vec<i16> = Vec::new();
    let mut previous = None;
    for (start, end) in runs_of_digits(text) {
        let digits = &text[start..end];
        let is_word = text[end..].starts_with(char::is_alphabetic);
        let follows =
            previous.is_some_and(|at: usize| matches!(text[at..start].trim(), "-" | "–" | "—" | "/"));
        let ends_range = found.last().filter(|_| follows && digits.len() < 4 && !is_word);
        let whole = ends_range.and_then(|first| {
            let first = first.to_string();
            year(&format!("{}{digits}", &first[..4 - digits.len()]))
        });
        let last = found.last().copied();
        previous = None;
        if let Some(found_year) =
            whole.filter(|end| Some(*end) > last).or_else(|| year(digits).filter(|_| !is_word))
        {
            found.push(found_year);
            previous = Some(end);
        }
    }
    found
}

fn runs_of_digits(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_is_sure_where_the_whole_text_is_a_date() {
        for text in [
            "1975",
            "1975.0",
            "1975-06-01",
            "1975-06-01T10:00:00+01:00",
            "1975-06-01 00:00:00",
            "1.6.1975",
            "01.06.1975",
            "6/1/1975",
            "25/12/1975",
            "June 1975",
            "Juni 1975",
            "Sept. 1975",
            "1 June 1975",
            "1. Juni 1975",
            "June 1, 1975",
            "1975年6月1日",
            "1975年6月",
            "1975年",
        ] {
            assert_eq!(YearOf::Sure.find(text), Some(1975), "{text}");
        }
        for text in [
            "c. 1890",
            "?1785",
            "[1923]",
            "1890-95",
            "1995-10",
            "1794/1830",
            "1890s",
            "19th century",
            "430 BCE",
            "1896, printed 1930",
            "designed 1931",
            "12/31/98",
            "n.d.",
            "0975",
            "2101",
            "1975-13-01",
            "31.2.1975",
            "1975年春",
            "1975 年",
            "1975-06-01 or so",
            "975",
            "June",
            "June 1, 1975 → July 2, 1976",
            "19751",
        ] {
            assert_eq!(YearOf::Sure.find(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_has_two_ends() {
        for (text, first, last) in [
            ("1890-95", Some(1890), Some(1895)),
            ("1826–7", Some(1826), Some(1827)),
            ("1794/1830", Some(1794), Some(1830)),
            ("c. 1550 – 1650", Some(1550), Some(1650)),
            ("1896, printed 1930", Some(1896), Some(1930)),
            ("1975", Some(1975), Some(1975)),
            ("1890s", None, None),
            ("19th century", None, None),
            ("1640 BCE–1295 BCE", None, None),
        ] {
            assert_eq!((YearOf::First.find(text), YearOf::Last.find(text)), (first, last), "{text}");
        }
    }

    #[test]
    fn days_are_read_in_the_form_that_is_named() {
        for (text, form, expected) in [
            ("6/3/2021", DayForm::MonthFirst, Some("2021-06-03")),
            ("6/3/2021", DayForm::DayFirst, Some("2021-03-06")),
            ("6/3/2021", DayForm::Iso, None),
            ("2/28/2015 9:00 am", DayForm::MonthFirst, Some("2015-02-28")),
            ("13/1/2015", DayForm::MonthFirst, None),
            ("12/31/98", DayForm::MonthFirst, None),
            ("1.6.1975", DayForm::Points, Some("1975-06-01")),
            ("40299", DayForm::Excel, Some("2010-05-01")),
            ("41153.5", DayForm::Excel, Some("2012-09-01")),
            ("1975", DayForm::Excel, None),
            ("2012-09-01", DayForm::Excel, Some("2012-09-01")),
            ("2012-09-01T00:00:00", DayForm::Iso, Some("2012-09-01")),
            ("November 2, 2024 10:14 AM", DayForm::Iso, Some("2024-11-02")),
            ("99999999", DayForm::Excel, None),
        ] {
            assert_eq!(day(text, form).as_deref(), expected, "{text}");
        }
    }
}
