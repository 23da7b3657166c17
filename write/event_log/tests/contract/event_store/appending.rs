//! Appending: the expected version is required, a command is executed once, a rejected append writes nothing.

use std::collections::{HashMap, HashSet};

use event_log::*;
use schemas::clock::Clock;
use schemas::ids::{CommandId, Position, StreamVersion};

use super::{Subject, append, assert_whole, claiming, stream, withdrawn};

pub(crate) async fn an_append_requires_the_expected_version<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let at = |version| Err(AppendError::Conflict(StreamVersion(version)));
    let try_it = async |expected| {
        store.append(append(&clock, "a", expected, &["x"])).await.map(|appended| appended.version.0)
    };
    assert_eq!(try_it(Expected::Exactly(StreamVersion(1))).await, at(0));
    assert_eq!(try_it(Expected::Exactly(StreamVersion(0))).await, Ok(1));
    assert_eq!(try_it(Expected::NoStream).await, at(1));
    assert_eq!(try_it(Expected::Exactly(StreamVersion(1))).await, Ok(2));
    assert_eq!(try_it(Expected::Exactly(StreamVersion(1))).await, at(2));
    assert_eq!(try_it(Expected::Any).await, Ok(3));
    assert_whole(&store).await;
}

pub(crate) async fn the_streams_of_a_command_are_found<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let first = append(&clock, "a", Expected::Any, &["x", "y"]);
    let second = Append { command: first.command, ..append(&clock, "b", Expected::Any, &["x"]) };
    store.append(first.clone()).await.unwrap();
    assert_eq!(store.streams_of(first.command).await.unwrap(), [stream("a")]);
    store.append(second).await.unwrap();
    store.append(append(&clock, "c", Expected::Any, &["x"])).await.unwrap();
    assert_eq!(store.streams_of(first.command).await.unwrap(), [stream("a"), stream("b")]);
    assert_eq!(store.streams_of(clock.command_id()).await.unwrap(), []);
}

pub(crate) async fn only_one_of_many_concurrent_writers_wins<S: Subject>() {
    let subject = S::fresh().await;
    let clock = Clock::system();
    for version in 0..10 {
        let writers: Vec<_> = (0..64)
            .map(|_| {
                let append = append(&clock, "a", Expected::Exactly(StreamVersion(version)), &["x"]);
                let store = subject.store();
                tokio::spawn(async move { store.append(append).await })
            })
            .collect();
        let outcomes: Vec<_> =
            futures::future::join_all(writers).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let lost = Err(AppendError::Conflict(StreamVersion(version + 1)));
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == lost).count(), 63, "{outcomes:?}");
    }
    assert_eq!(assert_whole(&subject.store()).await.len(), 10);
}

pub(crate) async fn positions_have_no_gaps_under_concurrent_writers<S: Subject>() {
    let subject = S::fresh().await;
    let clock = Clock::system();
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let (store, clock) = (subject.store(), clock.clone());
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for round in 0..20 {
                    let to = format!("s{}", (writer + round) % 7);
                    let expected = if round % 3 == 0 { Expected::NoStream } else { Expected::Any };
                    let append = append(&clock, &to, expected, &["x", "y"][..1 + round % 2]);
                    let ids: Vec<_> = append.events.iter().map(|event| event.id).collect();
                    match store.append(append).await {
                        Ok(appended) => acknowledged.push((appended, ids)),
                        Err(AppendError::Conflict(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                acknowledged
            })
        })
        .collect();
    let log_of = |acknowledged: Vec<(Appended, Vec<_>)>| {
        acknowledged
            .into_iter()
            .flat_map(|(appended, ids)| (appended.first.0..=appended.last.0).zip(ids).collect::<Vec<_>>())
    };
    let mut acknowledged: Vec<_> = futures::future::join_all(writers)
        .await
        .into_iter()
        .flat_map(|writer| log_of(writer.unwrap()))
        .collect();
    acknowledged.sort_unstable();
    let log: Vec<_> =
        assert_whole(&subject.store()).await.iter().map(|event| (event.position.0, event.id)).collect();
    assert_eq!(log, acknowledged, "the log contains exactly the acknowledged events");
}

pub(crate) async fn a_batch_of_appends_is_accepted_completely<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let one = |number: usize| {
        let append = append(&clock, &format!("s{number}"), Expected::NoStream, &["x", "y"]);
        claiming(append, &[&format!("n{number}"), &format!("m{number}")])
    };
    let appends: Vec<Append> = (0..1_500).map(one).collect();
    let outcomes = futures::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(assert_whole(&store).await.len(), 3_000);
    assert_eq!(store.claims(Namespace::SLUG, "", 5_000).await.unwrap().len(), 3_000);
}

pub(crate) async fn concurrent_appends_are_answered_individually<S: Subject>() {
    let (subject, clock) = (S::fresh().await, Clock::system());
    let store = subject.store();
    let at = |version| Expected::Exactly(StreamVersion(version));
    // More than one batch of the writer, each depending on the one before.
    let mut appends: Vec<Append> =
        (0..1_200).map(|version| append(&clock, "a", at(version), &["a"])).collect();
    let (repeated, rival) = (appends[7].clone(), claiming(append(&clock, "b", at(0), &["b"]), &["x"]));
    appends.insert(700, append(&clock, "a", at(3), &["too late"]));
    appends.insert(0, append(&clock, "a", at(0), &[]));
    appends.extend([repeated, rival, claiming(append(&clock, "c", at(0), &["c"]), &["x"])]);
    appends.push(append(&clock, "c", at(0), &["c", "d"]));
    let outcomes = store.append_all(appends).await;
    let done = |first, last, version| {
        Ok(Appended { first: Position(first), last: Position(last), version: StreamVersion(version) })
    };
    let mut expected: Vec<_> = (1..=1_200).map(|position| done(position, position, position)).collect();
    expected.insert(700, Err(AppendError::Conflict(StreamVersion(700))));
    expected.insert(0, Err(AppendError::Invalid("it has no events".into())));
    let Ok(eighth) = done(8, 8, 8) else { unreachable!() };
    expected.extend([Err(AppendError::Repeated(eighth)), done(1_201, 1_201, 1)]);
    expected.push(Err(AppendError::Claimed { name: "x".into(), by: stream("b") }));
    expected.push(done(1_202, 1_203, 2));
    assert_eq!(outcomes, expected);
    assert_eq!(assert_whole(&store).await.len(), 1_203);
    assert_eq!(store.append_all(Vec::new()).await, []);
}

pub(crate) async fn a_command_is_executed_once<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let command = claiming(append(&clock, "a", Expected::NoStream, &["1", "2"]), &["name"]);
    let first = store.append(command.clone()).await.unwrap();
    store.append(append(&clock, "a", Expected::Any, &["3"])).await.unwrap();
    assert_eq!(store.append(command.clone()).await, Err(AppendError::Repeated(first)));
    let otherwise = Append {
        events: vec![NewEvent { id: clock.event_id(), event: withdrawn("other") }],
        expected: Expected::Exactly(StreamVersion(9)),
        ..command.clone()
    };
    assert_eq!(store.append(otherwise).await, Err(AppendError::Repeated(first)));

    let elsewhere = Append { command: command.command, ..append(&clock, "b", Expected::NoStream, &["4"]) };
    assert_eq!(
        store.append(elsewhere).await.map(|appended| appended.first),
        Ok(Position(4)),
        "the same command on another stream is another append"
    );
    assert_eq!(assert_whole(&store).await.len(), 4);
}

pub(crate) async fn a_concurrently_repeated_command_is_executed_once<S: Subject>() {
    let subject = S::fresh().await;
    let clock = Clock::system();
    let senders: Vec<_> = (0..64)
        .map(|sender| {
            let commands: Vec<Append> = (0..20u128)
                .map(|number| Append {
                    command: CommandId(uuid::Uuid::from_u128(number + 1)),
                    ..append(&clock, &format!("s{}", number % 3), Expected::Any, &["x"])
                })
                .collect();
            let store = subject.store();
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                for number in 0..20 {
                    let command = commands[(number + sender) % 20].clone();
                    let id = command.command;
                    match store.append(command).await {
                        Ok(appended) | Err(AppendError::Repeated(appended)) => {
                            outcomes.push((id, appended.first));
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                outcomes
            })
        })
        .collect();
    let mut answers: HashMap<CommandId, HashSet<Position>> = HashMap::new();
    for outcomes in futures::future::join_all(senders).await {
        for (command, position) in outcomes.unwrap() {
            answers.entry(command).or_default().insert(position);
        }
    }
    let log = assert_whole(&subject.store()).await;
    assert_eq!(log.len(), 20);
    for event in log {
        assert_eq!(answers[&event.causation], HashSet::from([event.position]), "all got the same answer");
    }
}

pub(crate) async fn a_rejected_append_writes_nothing<S: Subject>() {
    let subject = S::fresh().await;
    let clock = Clock::system();
    let holder = claiming(append(&clock, "holder", Expected::NoStream, &["x"]), &["taken"]);
    subject.store().append(holder).await.unwrap();
    let mut appends = Vec::new();
    for number in 0..50 {
        let to = format!("s{number}");
        appends.push(append(&clock, &to, Expected::NoStream, &["right"]));
        appends.push(append(&clock, &to, Expected::Exactly(StreamVersion(7)), &["wrong"]));
        appends.push(claiming(
            append(&clock, &format!("t{number}"), Expected::Any, &["wrong"]),
            &["free", "taken"],
        ));
    }
    let store = subject.store();
    let outcomes = futures::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    for (index, outcome) in outcomes.iter().enumerate() {
        match index % 3 {
            0 => assert!(outcome.is_ok(), "{outcome:?}"),
            1 => assert!(matches!(outcome, Err(AppendError::Conflict(_))), "{outcome:?}"),
            _ => assert!(matches!(outcome, Err(AppendError::Claimed { .. })), "{outcome:?}"),
        }
    }
    let log = assert_whole(&store).await;
    assert_eq!(log.len(), 51);
    assert!(log.iter().all(|event| !event.data.get().contains("wrong")));
    assert_eq!(store.holder(Namespace::SLUG, "free").await, Ok(None));
}

pub(crate) async fn an_event_id_is_unique<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let first = append(&clock, "a", Expected::Any, &["1"]);
    store.append(first.clone()).await.unwrap();
    let mut appends: Vec<Append> =
        (0..20).map(|number| append(&clock, &format!("s{number}"), Expected::Any, &["x"])).collect();
    appends[7].events[0].id = first.events[0].id;
    let outcomes = futures::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    for (index, outcome) in outcomes.iter().enumerate() {
        match index {
            7 => assert!(matches!(outcome, Err(AppendError::Invalid(_))), "{outcome:?}"),
            _ => assert!(outcome.is_ok(), "{outcome:?}"),
        }
    }
    assert_eq!(assert_whole(&store).await.len(), 20);
}

pub(crate) async fn an_impossible_append_is_invalid<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let none = append(&clock, "a", Expected::Any, &[]);
    let long = append(&clock, "a", Expected::Any, &["x", &"y".repeat(MAX_EVENT_BYTES)]);
    for wrong in [none, long] {
        let outcome = store.append(wrong).await;
        assert!(matches!(outcome, Err(AppendError::Invalid(_))), "{outcome:?}");
    }
    let longest = "y".repeat(MAX_EVENT_BYTES - r#"{"reason":""}"#.len());
    store.append(append(&clock, "a", Expected::NoStream, &[&longest])).await.unwrap();
    assert_eq!(assert_whole(&store).await.len(), 1);
}
