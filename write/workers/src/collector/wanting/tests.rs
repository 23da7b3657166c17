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

fn wanted(source: &str) -> Wanted {
    Wanted { project: project(1), source: source.into() }
}

fn later(silent: bool) -> Tried {
    Tried::Later { reason: "It was silent.".into(), silent }
}

#[test]
fn each_is_fetched_once_and_files_never() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    wanting.want(project(1), &record(&[ONE, "a.jpg", "demo/a.jpg", TWO]), None);
    wanting.want(project(1), &record(&[TWO, ONE]), None);
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
    wanting.settle(project(1), TWO.into(), true);
    assert_eq!(wanting.next(now), None, "the other was settled while it waited");
    wanting.want(project(1), &record(&[ONE, TWO]), None);
    assert_eq!(wanting.next(now), None);
    wanting.want(project(2), &record(&[ONE]), None);
    assert_eq!(wanting.next(now), Some(Wanted { project: project(2), source: ONE.into() }));
}

#[test]
fn the_image_that_a_record_brings_itself_is_fetched_like_a_picture() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    let brings = |thumbnail: &str| Record { thumbnail: Some(thumbnail.into()), ..record(&[ONE]) };
    wanting.want(project(1), &brings(TWO), None);
    assert_eq!([wanting.next(now), wanting.next(now)], [Some(wanted(ONE)), Some(wanted(TWO))]);
    wanting.want(project(1), &brings(ONE), None);
    assert_eq!(wanting.next(now), None, "each once");
    wanting.want(project(1), &brings("http://Y.org/3"), None);
    let brought = wanting.next(now).unwrap();
    assert_eq!(
        (brought.source.as_str(), brought.address().as_deref(), brought.host().as_deref()),
        ("http://Y.org/3", Some("https://Y.org/3"), Some("y.org"))
    );
}

#[test]
fn pictures_of_a_source_are_made_for_its_actor_alone() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    wanting.want(project(1), &record(&["demo/a.jpg", "b.jpg"]), Some("demo/"));
    let made = wanting.next(now).unwrap();
    assert_eq!((made.source.as_str(), made.address()), ("demo/a.jpg", None));
    assert_eq!(wanting.next(now), None);
}

#[test]
fn one_that_does_not_come_is_tried_again_and_then_given_up() {
    let (mut wanting, mut now) = (Wanting::default(), Instant::now());
    wanting.want(project(1), &record(&[ONE]), None);
    for pause in PAUSES {
        assert_eq!(wanting.next(now), Some(wanted(ONE)));
        assert_eq!(wanting.tried(&wanted(ONE), later(false), now), None);
        assert_eq!(wanting.earliest(), Some(now + pause));
        assert_eq!(wanting.next(now + pause - Duration::from_millis(1)), None);
        now += pause;
    }
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
    assert_eq!(
        wanting.tried(&wanted(ONE), later(false), now),
        Some("It could not be fetched in 5 tries: It was silent.".into())
    );
    wanting.settle(project(1), ONE.into(), false);
    assert_eq!((wanting.earliest(), wanting.next(now), wanting.counts()), (None, None, (0, 1)));
    wanting.want(project(1), &record(&[ONE]), None);
    assert_eq!(wanting.next(now), Some(wanted(ONE)), "a revision that names it makes it wanted again");
}

#[test]
fn what_was_refused_is_wanted_again_where_it_is_asked_for() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    let brings = Record { thumbnail: Some(TWO.into()), ..record(&[ONE, "https://x.org/kept"]) };
    wanting.want(project(1), &brings, None);
    wanting.settle(project(1), ONE.into(), false);
    wanting.settle(project(1), TWO.into(), false);
    wanting.settle(project(1), "https://x.org/kept".into(), true);
    assert_eq!((wanting.next(now), wanting.counts()), (None, (0, 2)));
    wanting.want_again(project(2));
    assert_eq!(wanting.next(now), None, "nothing is known of this one");
    wanting.want_again(project(1));
    assert_eq!(wanting.counts(), (2, 0));
    assert_eq!([wanting.next(now), wanting.next(now)], [Some(wanted(ONE)), Some(wanted(TWO))]);
    wanting.want_again(project(1));
    assert_eq!(wanting.next(now), None, "both are under way");
    assert_eq!(wanting.tried(&wanted(ONE), Tried::Settled { kept: true }, now), None);
    assert_eq!(wanting.tried(&wanted(TWO), Tried::Settled { kept: false }, now), None);
    assert_eq!((wanting.next(now), wanting.counts()), (None, (0, 1)));
    wanting.list(project(1), false);
    wanting.want_again(project(1));
    assert_eq!(wanting.next(now), None, "a project that is withdrawn names nothing");
}

#[test]
fn what_is_dropped_while_it_is_fetched_is_fetched_when_it_is_named_again() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    wanting.want(project(1), &record(&[ONE]), None);
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
    wanting.want(project(1), &record(&[]), None);
    assert_eq!(wanting.tried(&wanted(ONE), Tried::Unwanted, now), None);
    assert_eq!(wanting.next(now), None);
    wanting.want(project(1), &record(&[ONE]), None);
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
    // Named again before the try ended.
    wanting.list(project(1), false);
    wanting.list(project(1), true);
    assert_eq!(wanting.next(now), None, "it is under way");
    assert_eq!(wanting.tried(&wanted(ONE), Tried::Unwanted, now), None);
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
    wanting.list(project(1), false);
    assert_eq!(wanting.tried(&wanted(ONE), later(false), now), None);
    assert_eq!((wanting.earliest(), wanting.counts()), (None, (0, 0)));
    wanting.list(project(1), true);
    assert_eq!(wanting.next(now), Some(wanted(ONE)));
}

#[test]
fn only_what_the_latest_revision_of_a_listed_project_names_is_wanted() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    wanting.want(project(1), &record(&["https://x.org/mistyped"]), None);
    wanting.want(project(1), &record(&[ONE]), None);
    wanting.want(project(2), &record(&[TWO]), None);
    wanting.list(project(2), false);
    assert_eq!((wanting.next(now), wanting.next(now)), (Some(wanted(ONE)), None));
}

#[test]
fn hosts_take_turns_and_a_silent_one_rests() {
    let (mut wanting, now) = (Wanting::default(), Instant::now());
    let silent: Vec<String> = (0..9).map(|n| format!("https://silent.org/{n}")).collect();
    wanting.want(project(1), &record(&silent.iter().map(String::as_str).collect::<Vec<_>>()), None);
    wanting.want(project(2), &record(&["https://good.org/1", "https://good.org/2"]), None);
    wanting.want(project(3), &record(&["demo/a.jpg"]), Some("demo/"));
    let mut first: Vec<Wanted> = std::iter::from_fn(|| wanting.next(now)).collect();
    let hosts: Vec<_> = first.iter().map(|wanted| wanted.host().unwrap_or_default()).collect();
    assert_eq!(hosts, ["silent.org", "good.org", "", "silent.org", "good.org"], "two of each at once");
    first.retain(|wanted| wanted.host().is_some_and(|host| host == "silent.org"));
    for wanted in &first {
        wanting.tried(wanted, later(true), now);
    }
    let third = wanting.next(now).unwrap();
    wanting.tried(&third, later(true), now);
    assert_eq!(wanting.next(now), None, "three times in a row");
    assert_eq!(wanting.earliest(), Some(now + Duration::from_secs(60)), "the first that was put off");
    let rested = now + Duration::from_secs(10 * 60);
    assert_eq!(wanting.next(rested - Duration::from_millis(1)), None);
    assert!(wanting.next(rested).is_some());
}
