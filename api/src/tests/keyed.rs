//! A node that requires keys, of which one is issued.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use kit::samples::recorded;
use metering::{Meter, MeterSettings, Policy};
use read::checkpoint::Checkpoint;
use read::counters::{CountersWriter, Ledger, Metered, Progress};
use read::keys::KeysWriter;
use read::models::ModelKind;
use schemas::account::{AccountEvent, KeyIssued, KeyRevoked};
use schemas::clock::Clock;
use schemas::event::Event;
use schemas::ids::{AccountId, StreamId};
use schemas::key::{KeyHash, KeyId};
use schemas::month::Month;
use schemas::usage::{Call, CallId, Surface};
use uuid::Uuid;

use super::node::{created, current};
use crate::{Access, CommandClient, KeyAccess, MailStatus, RateLimits, TrustedProxies, UnknownTiers};

/// The issued key, as its holder presents it.
pub(super) const KEY: &str = "the-issued-key";

fn key_id() -> KeyId {
    "Ab3dEf9h".parse().unwrap()
}

/// Issues the key in a folder of models.
pub(super) async fn issue(folder: &Path) {
    created(ModelKind::Keys, folder);
    let issued = KeyIssued {
        key_id: key_id(),
        hash: KeyHash::of(KEY.as_bytes()),
        hint: "-key".to_owned(),
        name: Some("laptop".to_owned()),
        sealed_name: None,
        tier: "free".parse().unwrap(),
    };
    record(folder, AccountEvent::KeyIssued(issued)).await;
}

/// Counts so many of the 200 calls that the key has in this month.
pub(super) async fn count(folder: &Path, calls: u8) {
    count_all(folder, &[(Clock::system().now(), Surface::Rest, calls)]).await;
}

/// Counts so many calls of the key at each of these times.
pub(super) async fn count_all(folder: &Path, counted: &[(Timestamp, Surface, u8)]) {
    created(ModelKind::Counters, folder);
    let all = counted.iter().flat_map(|(time, surface, calls)| (0..*calls).map(|_| (*time, *surface)));
    let metered = |(number, (time, surface)): (u128, (Timestamp, Surface))| Metered {
        call: Call {
            id: CallId(Uuid::from_u128(number)),
            key_id: key_id(),
            tier: "free".parse().unwrap(),
            month: Month::of(time),
            time,
            surface,
            operation: "search".into(),
        },
        overrun: false,
        sequence: u64::try_from(number).ok(),
        received: Month::of(time),
        recreated: false,
    };
    let calls: Vec<Metered> = (1..).zip(all).map(metered).collect();
    let mut writer = CountersWriter::open(&current(ModelKind::Counters, folder)).await.unwrap();
    let progress = Progress { ledger: Ledger::Done, ..Progress::default() };
    writer.commit(&calls, progress, Month::of(Clock::system().now())).await.unwrap();
}

/// Revokes the key.
pub(super) async fn revoke(folder: &Path) {
    record(folder, AccountEvent::KeyRevoked(KeyRevoked { key_id: key_id() })).await;
}

async fn record(folder: &Path, event: AccountEvent) {
    let id: AccountId = "01ARZ3NDEKTSV4RRFFQ69G7777".parse().unwrap();
    let mut writer = KeysWriter::open(&current(ModelKind::Keys, folder)).await.unwrap();
    writer.load([(id, &event)].into_iter()).await.unwrap();
    let position = writer.checkpoint().position.next();
    let recorded = recorded(position, StreamId::account(id), &Event::Account(event.clone()));
    writer.apply(&recorded, id, event).unwrap();
    writer.commit(Checkpoint { position, ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
}

/// Who may call, while neither NATS nor a write side can be reached.
pub(super) async fn access(folder: &Path, rate_limits: RateLimits) -> Access {
    let nowhere = async_nats::ConnectOptions::new().retry_on_initial_connect();
    let client = nowhere.connect("127.0.0.1:1").await.unwrap();
    let settings = MeterSettings {
        folder: folder.join("spool"),
        policy: Policy::Spool,
        spool_limit: 1 << 20,
        tiers: "free=200".parse().unwrap(),
        may_read_calls: true,
        health: Default::default(),
        clock: Clock::system(),
    };
    Access::Keys(Arc::new(KeyAccess {
        meter: Meter::open(client.clone(), settings).unwrap(),
        tiers: "free=200".parse().unwrap(),
        rate_limits,
        proxies: TrustedProxies::default(),
        commands: CommandClient::new(client),
        mail: MailStatus::default(),
        unknown_tiers: UnknownTiers::default(),
    }))
}
