//! Claims: each name belongs permanently to one stream.

use std::collections::HashMap;

use event_log::*;
use schemas::clock::Clock;

use super::{Subject, append, assert_whole, claiming, stream};

pub(crate) async fn a_name_belongs_to_one_stream<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let claim = async |to: &str, names: &[&str]| {
        store.append(claiming(append(&clock, to, Expected::Any, &["x"]), names)).await
    };
    claim("a", &["one", "two"]).await.unwrap();
    let claimed = |name: &str| Err(AppendError::Claimed { name: name.into(), by: stream("a") });
    assert_eq!(claim("b", &["three", "two"]).await, claimed("two"));
    assert_eq!(store.holder(Namespace::SLUG, "three").await, Ok(None), "nothing of it was done");
    claim("a", &["two", "three"]).await.unwrap();
    assert_eq!(claim("b", &["three"]).await, claimed("three"));
    assert_eq!(store.holder(Namespace::SLUG, "two").await, Ok(Some(stream("a"))));
    let names = ["one", "three", "zero"].map(String::from);
    let holders = store.holders(Namespace::SLUG, &names).await.unwrap();
    assert_eq!(holders, HashMap::from(["one", "three"].map(|name| (name.into(), stream("a")))));

    const OTHER: Namespace = Namespace::new("other");
    assert_eq!(store.holder(OTHER, "one").await, Ok(None));
    let mut elsewhere = append(&clock, "b", Expected::Any, &["x"]);
    elsewhere.claims = vec![Claim { namespace: OTHER, name: "one".into() }];
    store.append(elsewhere).await.unwrap();
    assert_eq!(store.holder(OTHER, "one").await, Ok(Some(stream("b"))));
    assert_eq!(store.holder(Namespace::SLUG, "one").await, Ok(Some(stream("a"))));
}

pub(crate) async fn one_of_many_claims_wins<S: Subject>() {
    let subject = S::fresh().await;
    let clock = Clock::system();
    let rivals: Vec<_> = (0..64)
        .map(|rival| {
            let expected =
                claiming(append(&clock, &format!("s{rival}"), Expected::NoStream, &["x"]), &["wanted"]);
            let store = subject.store();
            tokio::spawn(async move { store.append(expected).await })
        })
        .collect();
    let outcomes: Vec<_> = futures::future::join_all(rivals).await.into_iter().map(Result::unwrap).collect();
    let log = assert_whole(&subject.store()).await;
    assert_eq!(log.len(), 1);
    let lost = Err(AppendError::Claimed { name: "wanted".into(), by: log[0].stream.clone() });
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == lost).count(), 63, "{outcomes:?}");
}

pub(crate) async fn names_are_listed_in_order<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    for (to, name) in [("a", "m"), ("b", "b-1"), ("c", "b"), ("d", "0"), ("e", "z")] {
        store.append(claiming(append(&clock, to, Expected::Any, &["x"]), &[name])).await.unwrap();
    }
    let page = async |after: &str, limit| store.claims(Namespace::SLUG, after, limit).await.unwrap();
    let pair = |name: &str, to: &str| (name.to_owned(), stream(to));
    assert_eq!(page("", 3).await, [pair("0", "d"), pair("b", "c"), pair("b-1", "b")]);
    assert_eq!(page("b-1", 3).await, [pair("m", "a"), pair("z", "e")]);
    assert_eq!(page("z", 3).await, []);
}
