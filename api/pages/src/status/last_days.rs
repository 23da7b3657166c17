//! The last days on the page of the state: for how long the node was up on each, and what it answered.

use answers::daily_figures::{Day, Figures};
use jiff::civil::Date;

use super::{grouped, share};

/// The number of days that are shown at once; earlier ones are shown on request.
const AT_ONCE: usize = 14;

/// The seconds of a day that may be missing although the node was always up: parts of seconds at its ends.
const SLACK: u64 = 2;

/// The days on record, the newest first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LastDays {
    /// The share of the time that the node was up.
    pub(super) up: String,
    /// The first day on record.
    pub(super) since: Date,
    pub(super) errors: String,
    pub(super) answers: String,
    pub(super) newest: Vec<Row>,
    pub(super) earlier: Vec<Row>,
}

/// A day on record, or some that follow one another without a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) first: Date,
    pub(super) last: Date,
    /// The number of days between the last day of the row and today.
    age: usize,
    pub(super) figures: Option<Shown>,
}

/// The figures of a day as they are shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) up: String,
    pub(super) answers: String,
    pub(super) errors: String,
    pub(super) share: String,
}

impl LastDays {
    /// Returns what is shown of these days, of which the first one is today; `None` without any.
    pub(super) fn of(days: &[Day]) -> Option<LastDays> {
        let since = days.last()?.date;
        let on_record = || days.iter().filter_map(|day| Some((day.seconds, day.figures?)));
        let sum = |of: fn(&Figures) -> u64| on_record().map(|(_, figures)| of(&figures)).sum::<u64>();
        let possible = on_record().map(|(seconds, _)| seconds).sum();
        let slack = on_record().map(|_| SLACK).sum();
        let mut newest = rows(days);
        let at_once = newest.iter().take_while(|row| row.age < AT_ONCE).count();
        let earlier = newest.split_off(at_once);
        Some(LastDays {
            up: share_of_time(sum(|figures| figures.seconds_up), possible, slack),
            since,
            errors: counted(sum(|figures| figures.errors), "server error"),
            answers: counted(sum(|figures| figures.answers), "answer"),
            newest,
            earlier,
        })
    }
}

impl Row {
    /// Returns whether it is that of today, which is not over yet.
    pub(super) fn is_today(&self) -> bool {
        self.age == 0 && self.figures.is_some()
    }
}

fn rows(days: &[Day]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (age, day) in days.iter().enumerate() {
        if let (None, Some(row)) = (day.figures, rows.last_mut())
            && row.figures.is_none()
        {
            row.first = day.date;
            continue;
        }
        let figures = day.figures.map(|figures| Shown {
            up: time_up(figures.seconds_up, day.seconds),
            answers: grouped(figures.answers),
            errors: grouped(figures.errors),
            share: share(figures.answers, figures.errors),
        });
        rows.push(Row { first: day.date, last: day.date, age, figures });
    }
    rows
}

/// Formats the time for which the node was up of the `possible` seconds of a day.
fn time_up(seconds: u64, possible: u64) -> String {
    if possible.saturating_sub(seconds) <= SLACK {
        return "100 %".to_owned();
    }
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Formats a part of the `possible` seconds in percent. It is 100 % only if no more than the slack is missing.
fn share_of_time(seconds: u64, possible: u64, slack: u64) -> String {
    if possible.saturating_sub(seconds) <= slack {
        return "100 %".to_owned();
    }
    let parts = (seconds.saturating_mul(1_000) / possible).min(999);
    format!("{}.{} %", parts / 10, parts % 10)
}

/// Formats a number of something, such as `no answers`, `1 answer` or `1,356 answers`.
fn counted(number: u64, one: &str) -> String {
    match number {
        0 => format!("no {one}s"),
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", grouped(number)),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    const DAY: u64 = 86_400;

    /// The days of November 2026 from this one back, of which those in `on_record` were up for all of the time but some seconds.
    fn november(today: i8, on_record: &[(i8, u64)]) -> Vec<Day> {
        let figures = |day| {
            let (_, missing) = on_record.iter().find(|(one, _)| *one == day)?;
            Some(Figures { seconds_up: DAY - missing, answers: 1_000, errors: 1 })
        };
        (1..=today)
            .rev()
            .map(|day| Day { date: date(2026, 11, day), figures: figures(day), seconds: DAY })
            .collect()
    }

    fn shown(rows: &[Row]) -> Vec<(i8, i8, Option<&str>)> {
        rows.iter()
            .map(|row| (row.first.day(), row.last.day(), row.figures.as_ref().map(|of| of.up.as_str())))
            .collect()
    }

    #[test]
    fn days_without_a_record_are_one_row_that_is_shown_at_once_if_its_last_day_is() {
        let days = november(20, &[(20, 0), (18, 60), (4, 2), (3, 86_340), (1, 0)]);
        let last = LastDays::of(&days).unwrap();
        let (full, short) = (Some("100 %"), Some("23 h 59 min"));
        assert_eq!(shown(&last.newest), [(20, 20, full), (19, 19, None), (18, 18, short), (5, 17, None)]);
        assert_eq!(shown(&last.earlier), [(4, 4, full), (3, 3, Some("1 min")), (2, 2, None), (1, 1, full)]);
        assert_eq!((last.newest[0].is_today(), last.newest[1].is_today()), (true, false));
        let sums = (last.up.as_str(), last.since, last.errors.as_str(), last.answers.as_str());
        assert_eq!(sums, ("79.9 %", date(2026, 11, 1), "5 server errors", "5,000 answers"));
        assert_eq!(LastDays::of(&[]), None);
    }

    #[test]
    fn the_fourteenth_day_is_shown_at_once_and_the_fifteenth_on_request() {
        let all: Vec<(i8, u64)> = (1..=15).map(|day| (day, 0)).collect();
        let last = LastDays::of(&november(15, &all)).unwrap();
        assert_eq!((last.newest.len(), shown(&last.earlier)), (14, vec![(1, 1, Some("100 %"))]));
    }

    #[test]
    fn a_hundred_percent_is_without_a_minute_missing() {
        let times = [(DAY, DAY), (DAY - 2, DAY), (DAY - 3, DAY), (59, 90), (0, 0), (3_600, DAY)];
        assert_eq!(
            times.map(|(seconds, possible)| time_up(seconds, possible)),
            ["100 %", "100 %", "23 h 59 min", "0 min", "100 %", "1 h 0 min"]
        );
        let shares = [(DAY, 0), (DAY - 2, 2), (DAY - 3, 2), (DAY / 3, 0), (0, 0)];
        assert_eq!(
            shares.map(|(seconds, slack)| share_of_time(seconds, DAY, slack)),
            ["100 %", "100 %", "99.9 %", "33.3 %", "0.0 %"]
        );
        assert_eq!(share_of_time(0, 0, 0), "100 %");
        assert_eq!(
            [0, 1, 1_356].map(|number| counted(number, "answer")),
            ["no answers", "1 answer", "1,356 answers"]
        );
    }
}
