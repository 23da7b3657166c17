//! The file of the figures, over restarts and faults.

use http::StatusCode;
use jiff::SignedDuration;
use prometheus_client::registry::Registry;

use super::*;

/// A process that answers.
struct Process {
    figures: DailyFigures,
    metrics: Metrics,
}

impl Process {
    fn start(path: &Path, clock: &Clock) -> Process {
        let metrics = Metrics::new(&mut Registry::default());
        Process { figures: DailyFigures::open(path.to_owned(), clock.clone()), metrics }
    }

    fn answer(&self, route: Route, status: StatusCode) {
        self.metrics.record_answer(route, status, Duration::from_millis(1));
    }

    /// Returns the answers and errors of each day, the newest first.
    fn counts(&self) -> Vec<(String, u64, u64)> {
        let now = self.figures.shared.clock.now();
        let days = self.figures.up_to_now(&self.metrics).days(now).into_iter();
        days.filter_map(|day| Some((day.date.to_string(), day.figures?.answers, day.figures?.errors)))
            .collect()
    }

    /// Stops as a process does that is asked to.
    async fn stop(self) {
        self.figures.keep(self.metrics, std::future::ready(())).await;
    }
}

fn clock() -> Clock {
    Clock::manual("2026-11-27T22:00:00Z".parse().unwrap())
}

fn day(date: &str, answers: u64, errors: u64) -> (String, u64, u64) {
    (date.to_owned(), answers, errors)
}

#[tokio::test]
async fn the_figures_survive_a_restart_and_the_day_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("daily-figures.json"), clock());
    let first = Process::start(&path, &clock);
    for status in [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::SERVICE_UNAVAILABLE] {
        first.answer(Route::Search, status);
    }
    first.answer(Route::Health, StatusCode::OK);
    assert_eq!(first.counts(), [day("2026-11-27", 3, 1)]);
    assert_eq!(first.counts(), [day("2026-11-27", 3, 1)], "nothing is added twice");
    first.answer(Route::Page, StatusCode::OK);
    assert!(!path.exists(), "a request writes nothing");
    first.stop().await;

    clock.advance(SignedDuration::from_hours(1));
    let second = Process::start(&path, &clock);
    second.answer(Route::Media, StatusCode::OK);
    assert_eq!(second.counts(), [day("2026-11-27", 5, 1)]);
    clock.advance(SignedDuration::from_hours(1));
    second.answer(Route::Mcp, StatusCode::OK);
    second.stop().await;

    let third = Process::start(&path, &clock);
    assert_eq!(third.counts(), [day("2026-11-28", 1, 0), day("2026-11-27", 5, 1)]);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["daily-figures.json"]);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_begins_anew() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    for content in ["", "{\"began\":", "null", &" ".repeat(70_000)] {
        let path = folder.path().join("daily-figures.json");
        std::fs::write(&path, content).unwrap();
        assert!(read(&path).is_err());
        let process = Process::start(&path, &clock);
        process.answer(Route::Search, StatusCode::OK);
        process.stop().await;
        assert_eq!(Process::start(&path, &clock).counts(), [day("2026-11-27", 1, 0)]);
    }
    let none = read(&folder.path().join("other.json")).unwrap();
    assert!(none.is_none(), "a first start is no fault");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_does_not_end_the_process() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let path = folder.path().join("absent").join("daily-figures.json");
    let process = Process::start(&path, &clock);
    process.answer(Route::Search, StatusCode::OK);
    let figures = process.figures.clone();
    assert!(write(path.clone(), figures.up_to_now(&process.metrics)).await.is_err());
    process.stop().await;
    // The same once there is a place for it.
    std::fs::create_dir(folder.path().join("absent")).unwrap();
    figures.keep(Metrics::new(&mut Registry::default()), std::future::ready(())).await;
    assert_eq!(Process::start(&path, &clock).counts(), [day("2026-11-27", 1, 0)]);
}

#[tokio::test(start_paused = true)]
async fn the_file_is_written_once_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daily-figures.json");
    let process = Process::start(&path, &clock());
    process.answer(Route::Search, StatusCode::OK);
    let keeping = process.figures.clone().keep(process.metrics.clone(), std::future::pending());
    // The time stands still while the file is written, so the second pause is over after both.
    let twice = INTERVAL * 2 + INTERVAL / 2;
    assert!(tokio::time::timeout(twice, keeping).await.is_err(), "it goes on until it is stopped");
    let written = read(&path).unwrap().unwrap();
    assert_eq!(written.days(process.figures.shared.clock.now())[0].figures.unwrap().answers, 1);
}

#[test]
fn figures_in_memory_begin_with_the_process() {
    let (clock, metrics) = (clock(), Metrics::new(&mut Registry::default()));
    let figures = DailyFigures::in_memory(clock.clone());
    metrics.record_answer(Route::Search, StatusCode::OK, Duration::ZERO);
    let days = figures.up_to_now(&metrics).days(clock.now());
    let answers: Vec<u64> = days.iter().filter_map(|day| Some(day.figures?.answers)).collect();
    assert_eq!(answers, [1]);
}
