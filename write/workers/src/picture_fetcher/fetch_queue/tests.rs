use super::*;

fn record(pictures: &[&str]) -> Record {
    let pictures: Vec<String> =
        pictures.iter().map(|source| format!("{{\"source\":\"{source}\"}}")).collect();
    let text = format!(r#"{{"name":"A","category":"art","pictures":[{}]}}"#, pictures.join(","));
    serde_json::from_str(&text).unwrap()
}

fn project(byte: u8) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G5F{byte:02}").parse().unwrap()
}

const ONE: &str = "https://x.org/1";
const TWO: &str = "https://x.org/2";

fn job(source: &str) -> FetchJob {
    FetchJob { project: project(1), source: source.into() }
}

fn failure(timed_out: bool) -> FetchOutcome {
    FetchOutcome::Retry { reason: "It timed out.".into(), timed_out }
}

#[test]
fn each_url_is_fetched_once_and_a_file_never() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    queue.set_record(project(1), &record(&[ONE, "a.jpg", "demo/a.jpg", TWO]), None);
    queue.set_record(project(1), &record(&[TWO, ONE]), None);
    assert_eq!(queue.pop(now), Some(job(ONE)));
    queue.set_outcome(project(1), TWO.into(), true);
    assert_eq!(queue.pop(now), None, "the outcome of the other was recorded while it waited");
    queue.set_record(project(1), &record(&[ONE, TWO]), None);
    assert_eq!(queue.pop(now), None);
    queue.set_record(project(2), &record(&[ONE]), None);
    assert_eq!(queue.pop(now), Some(FetchJob { project: project(2), source: ONE.into() }));
}

#[test]
fn a_thumbnail_url_is_fetched_like_a_picture() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    let with_thumbnail = |thumbnail: &str| Record { thumbnail: Some(thumbnail.into()), ..record(&[ONE]) };
    queue.set_record(project(1), &with_thumbnail(TWO), None);
    assert_eq!([queue.pop(now), queue.pop(now)], [Some(job(ONE)), Some(job(TWO))]);
    queue.set_record(project(1), &with_thumbnail(ONE), None);
    assert_eq!(queue.pop(now), None, "each once");
    queue.set_record(project(1), &with_thumbnail("http://Y.org/3"), None);
    let thumbnail = queue.pop(now).unwrap();
    assert_eq!(
        (thumbnail.source.as_str(), thumbnail.url().as_deref(), thumbnail.host().as_deref()),
        ("http://Y.org/3", Some("https://Y.org/3"), Some("y.org"))
    );
}

#[test]
fn pictures_are_generated_only_for_the_actor_of_the_generator() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    queue.set_record(project(1), &record(&["demo/a.jpg", "b.jpg"]), Some("demo/"));
    let generated = queue.pop(now).unwrap();
    assert_eq!((generated.source.as_str(), generated.url()), ("demo/a.jpg", None));
    assert_eq!(queue.pop(now), None);
}

#[test]
fn a_failing_picture_is_retried_with_backoff_and_then_given_up() {
    let (mut queue, mut now) = (FetchQueue::default(), Instant::now());
    queue.set_record(project(1), &record(&[ONE]), None);
    for pause in BACKOFF {
        assert_eq!(queue.pop(now), Some(job(ONE)));
        assert_eq!(queue.finish(&job(ONE), failure(false), now), None);
        assert_eq!(queue.next_due(), Some(now + pause));
        assert_eq!(queue.pop(now + pause - Duration::from_millis(1)), None);
        now += pause;
    }
    assert_eq!(queue.pop(now), Some(job(ONE)));
    assert_eq!(
        queue.finish(&job(ONE), failure(false), now),
        Some("It could not be fetched in 5 tries: It timed out.".into())
    );
    queue.set_outcome(project(1), ONE.into(), false);
    assert_eq!((queue.next_due(), queue.pop(now), queue.counts()), (None, None, (0, 1)));
    queue.set_record(project(1), &record(&[ONE]), None);
    assert_eq!(queue.pop(now), Some(job(ONE)), "a revision that names it queues it again");
}

#[test]
fn refused_pictures_are_queued_again_on_request() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    let revision = Record { thumbnail: Some(TWO.into()), ..record(&[ONE, "https://x.org/kept"]) };
    queue.set_record(project(1), &revision, None);
    queue.set_outcome(project(1), ONE.into(), false);
    queue.set_outcome(project(1), TWO.into(), false);
    queue.set_outcome(project(1), "https://x.org/kept".into(), true);
    assert_eq!((queue.pop(now), queue.counts()), (None, (0, 2)));
    queue.retry_refused(project(2));
    assert_eq!(queue.pop(now), None, "this project names no picture");
    queue.retry_refused(project(1));
    assert_eq!(queue.counts(), (2, 0));
    assert_eq!([queue.pop(now), queue.pop(now)], [Some(job(ONE)), Some(job(TWO))]);
    queue.retry_refused(project(1));
    assert_eq!(queue.pop(now), None, "both are in flight");
    assert_eq!(queue.finish(&job(ONE), FetchOutcome::Recorded(true), now), None);
    assert_eq!(queue.finish(&job(TWO), FetchOutcome::Recorded(false), now), None);
    assert_eq!((queue.pop(now), queue.counts()), (None, (0, 1)));
    queue.set_listed(project(1), false);
    queue.retry_refused(project(1));
    assert_eq!(queue.pop(now), None, "a withdrawn project has no pending pictures");
}

#[test]
fn a_picture_dropped_during_its_fetch_is_fetched_when_it_is_named_again() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    queue.set_record(project(1), &record(&[ONE]), None);
    assert_eq!(queue.pop(now), Some(job(ONE)));
    queue.set_record(project(1), &record(&[]), None);
    assert_eq!(queue.finish(&job(ONE), FetchOutcome::NotNamed, now), None);
    assert_eq!(queue.pop(now), None);
    queue.set_record(project(1), &record(&[ONE]), None);
    assert_eq!(queue.pop(now), Some(job(ONE)));
    // Named again before the try ended.
    queue.set_listed(project(1), false);
    queue.set_listed(project(1), true);
    assert_eq!(queue.pop(now), None, "it is in flight");
    assert_eq!(queue.finish(&job(ONE), FetchOutcome::NotNamed, now), None);
    assert_eq!(queue.pop(now), Some(job(ONE)));
    queue.set_listed(project(1), false);
    assert_eq!(queue.finish(&job(ONE), failure(false), now), None);
    assert_eq!((queue.next_due(), queue.counts()), (None, (0, 0)));
    queue.set_listed(project(1), true);
    assert_eq!(queue.pop(now), Some(job(ONE)));
}

#[test]
fn only_pictures_of_the_latest_revision_of_a_listed_project_are_queued() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    queue.set_record(project(1), &record(&["https://x.org/mistyped"]), None);
    queue.set_record(project(1), &record(&[ONE]), None);
    queue.set_record(project(2), &record(&[TWO]), None);
    queue.set_listed(project(2), false);
    assert_eq!((queue.pop(now), queue.pop(now)), (Some(job(ONE)), None));
}

#[test]
fn hosts_take_turns_and_one_that_times_out_is_paused() {
    let (mut queue, now) = (FetchQueue::default(), Instant::now());
    let slow: Vec<String> = (0..9).map(|n| format!("https://slow.org/{n}")).collect();
    queue.set_record(project(1), &record(&slow.iter().map(String::as_str).collect::<Vec<_>>()), None);
    queue.set_record(project(2), &record(&["https://good.org/1", "https://good.org/2"]), None);
    queue.set_record(project(3), &record(&["demo/a.jpg"]), Some("demo/"));
    let mut first: Vec<FetchJob> = std::iter::from_fn(|| queue.pop(now)).collect();
    let hosts: Vec<_> = first.iter().map(|job| job.host().unwrap_or_default()).collect();
    assert_eq!(hosts, ["slow.org", "good.org", "", "slow.org", "good.org"], "two per host at once");
    first.retain(|job| job.host().is_some_and(|host| host == "slow.org"));
    for job in &first {
        queue.finish(job, failure(true), now);
    }
    let third = queue.pop(now).unwrap();
    queue.finish(&third, failure(true), now);
    assert_eq!(queue.pop(now), None, "three timeouts in a row pause the host");
    assert_eq!(queue.next_due(), Some(now + Duration::from_secs(60)), "the first job in backoff");
    let resumed = now + Duration::from_secs(10 * 60);
    assert_eq!(queue.pop(resumed - Duration::from_millis(1)), None);
    assert!(queue.pop(resumed).is_some());
}
