//! What the command prints.

use super::*;

fn projection(position: u64, lag: u64) -> ProjectionStatus {
    let status = serde_json::json!({"name": "catalog", "generation": "g000001", "position": position, "lag": lag,
        "heartbeat": null, "parked": [], "skipped": 0, "bytes": 0});
    serde_json::from_value(status).unwrap()
}

fn status(relay: (u64, u64), model: (u64, u64)) -> Status {
    let (position, lag) = (Position(relay.0), relay.1);
    let (server, version) = ("one".to_owned(), "2.11.0".to_owned());
    let nats =
        NatsStatus { server, version, position, lag, messages: 0, bytes: 0, servers: 1, missing: vec![] };
    let projections = vec![projection(model.0, model.1)];
    Status { nats: Some(nats), projections, ..Status::default() }
}

#[test]
fn a_lag_that_does_not_shrink_is_a_problem() {
    let stalled = |before: &Status, later| before.stalled(&later);
    let behind = status((7, 3), (5, 5));
    assert!(behind.lags() && !status((10, 0), (10, 0)).lags());
    assert_eq!(stalled(&behind, status((9, 1), (6, 4))), Vec::<String>::new());
    assert_eq!(stalled(&behind, status((10, 0), (10, 0))), Vec::<String>::new());
    assert_eq!(
        stalled(&behind, status((7, 4), (5, 6))),
        ["the relay has stopped at 7, 4 events behind the log", "the catalog model has stopped at 5, lag 6"]
    );
}

#[test]
fn the_verdict_is_that_of_the_worst_finding() {
    let mut status = Status::default();
    status.set_verdict();
    assert_eq!((status.verdict, &status.problem), (Verdict::Ok, &None));
    status.warnings.push("slow".into());
    status.set_verdict();
    assert_eq!((status.verdict, &status.problem), (Verdict::Warning, &None));
    status.problems.extend(["broken".into(), "gone".into()]);
    status.set_verdict();
    assert_eq!((status.verdict, status.problem.as_deref()), (Verdict::Problem, Some("broken")));
    let screen = screen::screen(&status, true);
    assert!(screen.starts_with("PROBLEM: broken; gone; slow\n"), "{screen}");
    assert!(screen.ends_with("problem      broken\nproblem      gone\nwarning      slow"), "{screen}");
}
