//! A store compared with a naive model: both answer every append the same.

use std::collections::HashMap;

use event_log::*;
use proptest::prelude::*;
use schemas::clock::Clock;
use schemas::ids::{CommandId, Position, StreamId, StreamVersion};

use crate::event_store::{Subject, append, assert_whole, claiming};

/// An append, by small numbers so that appends interact.
#[derive(Debug, Clone)]
pub(crate) struct NumberedAppend {
    to: u8,
    command: u8,
    expected: Option<u8>,
    events: usize,
    names: Vec<u8>,
}

pub(crate) fn numbered_appends() -> impl Strategy<Value = Vec<NumberedAppend>> {
    let act = (
        0..4u8,
        0..12u8,
        proptest::option::weighted(0.7, 0..4u8),
        1..4usize,
        proptest::collection::vec(0..5u8, 0..3),
    );
    let act = act.prop_map(|(to, command, expected, events, names)| NumberedAppend {
        to,
        command,
        expected,
        events,
        names,
    });
    proptest::collection::vec(act, 1..40)
}

/// The model: streams, claims and commands in plain maps, checked in the order of the contract.
#[derive(Default)]
struct Model {
    head: u64,
    streams: HashMap<StreamId, u64>,
    names: HashMap<String, StreamId>,
    done: HashMap<(CommandId, StreamId), Appended>,
}

impl Model {
    fn append(&mut self, append: &Append) -> Result<Appended, AppendError> {
        let key = (append.command, append.stream.clone());
        if let Some(done) = self.done.get(&key) {
            return Err(AppendError::Repeated(*done));
        }
        let version = self.streams.get(&append.stream).copied().unwrap_or(0);
        let right = match append.expected {
            Expected::Any => true,
            Expected::NoStream => version == 0,
            Expected::Exactly(expected) => expected.0 == version,
        };
        if !right {
            return Err(AppendError::Conflict(StreamVersion(version)));
        }
        for claim in &append.claims {
            match self.names.get(&claim.name) {
                Some(by) if *by != append.stream => {
                    return Err(AppendError::Claimed { name: claim.name.clone(), by: by.clone() });
                }
                _ => {}
            }
        }
        for claim in &append.claims {
            self.names.insert(claim.name.clone(), append.stream.clone());
        }
        let count = append.events.len() as u64;
        let appended = Appended {
            first: Position(self.head + 1),
            last: Position(self.head + count),
            version: StreamVersion(version + count),
        };
        self.head += count;
        self.streams.insert(append.stream.clone(), version + count);
        self.done.insert(key, appended);
        Ok(appended)
    }
}

fn to_append(clock: &Clock, act: &NumberedAppend) -> Append {
    let expected = match act.expected {
        None => Expected::Any,
        Some(0) => Expected::NoStream,
        Some(version) => Expected::Exactly(StreamVersion(version.into())),
    };
    let names: Vec<String> = act.names.iter().map(|name| format!("n{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let reasons = ["x", "y", "z"];
    let plain = append(clock, &format!("s{}", act.to), expected, &reasons[..act.events]);
    Append { command: CommandId(uuid::Uuid::from_u128(act.command.into())), ..claiming(plain, &names) }
}

/// Runs the appends on a fresh store, sequentially or concurrently in their order, and compares every answer and the
/// final content.
pub(crate) fn agrees<S: Subject>(numbered_appends: &[NumberedAppend], at_once: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let subject = S::fresh().await;
        let (store, clock, mut model) = (subject.store(), Clock::system(), Model::default());
        let appends: Vec<Append> = numbered_appends.iter().map(|act| to_append(&clock, act)).collect();
        let expected: Vec<_> = appends.iter().map(|append| model.append(append)).collect();
        let mut answers = Vec::new();
        if at_once {
            answers = futures::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
        } else {
            for append in appends {
                answers.push(store.append(append).await);
            }
        }
        assert_eq!(answers, expected);
        assert_eq!(assert_whole(&store).await.len() as u64, model.head);
        let mut names: Vec<_> = model.names.into_iter().collect();
        names.sort();
        assert_eq!(store.claims(Namespace::SLUG, "", 100).await.unwrap(), names);
    });
}
