//! API nodes in this process, with API keys and a clock that the test sets, on a real nats-server and a real ledger.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::{
    Access, ApiState, CommandClient, KeyAccess, Limits, MailStatus, Metrics, Origins, RateLimits, Readiness,
    Sources, TrustedProxies, UnknownTiers,
};
use health::Health;
use jiff::Timestamp;
use kit::http::{Answer, Http};
use kit::nats::Nats;
use kit::samples::recorded;
use ledger::usage_streams;
use ledger::{Copier, Ledger};
use metering::{Meter, MeterSettings, Policy};
use payments::Offers;
use projections::projection::counters::CountersWorker;
use projections::source::EventSource;
use projections::status::Status;
use projections::worker::Worker;
use prometheus_client::registry::Registry;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use read::checkpoint::Checkpoint;
use read::counters;
use read::generation::{Generation, Generations};
use read::keys::KeysWriter;
use read::media::MediaReader;
use read::models::{ModelKind, ReadModels};
use read::search::{SearchDocument, SearchWriter};
use schemas::account::{AccountEvent, AccountOpened, KeyIssued};
use schemas::clock::Clock;
use schemas::control::LedgerEntry;
use schemas::event::Event;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::key::Key;
use schemas::month::Month;
use schemas::subject::usage_stream;
use schemas::tier::Tiers;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::TIMEOUT;

/// A path that costs one call.
pub(crate) const CALL: &str = "/v1/search?q=house";

/// The state that all nodes share.
pub(crate) struct MeteredNodes {
    pub(crate) nats: Nats,
    pub(crate) keys: Vec<Key>,
    pub(crate) tiers: Tiers,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) folder: TempDir,
    /// The folder of the spools of all nodes.
    pub(crate) spool_limit: u64,
    /// The counters of all nodes.
    pub(crate) health: Health,
    /// The offset from the system clock in nanoseconds.
    clock: Clock,
    stop: CancellationToken,
}

/// One node.
pub(crate) struct Node {
    pub(crate) http: Http,
    pub(crate) meter: Meter,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

/// The running counter projection.
pub(crate) struct RunningCounters {
    client: async_nats::Client,
    generations: Generations,
    generation: Generation,
}

impl RunningCounters {
    /// Waits until this number of calls is counted.
    pub(crate) async fn wait_for_calls(&self, calls: u64) {
        kit::wait_until(TIMEOUT, &format!("{calls} counted calls"), async || {
            let progress = counters::progress(&self.generation.path).await;
            progress.is_ok_and(|progress| progress.checkpoint.position == Position(calls))
        })
        .await;
    }

    /// Stops the projection and rebuilds the counters from ledger and streams for the nodes to read.
    pub(crate) async fn rebuild(&self, live: u64) {
        let generation = self.generations.create_next().unwrap();
        let (source, status) = (EventSource::new(self.client.clone()), Status::new("counters"));
        let path = &generation.path;
        let mut worker = CountersWorker::open(path, source, status, Clock::system()).await.unwrap();
        worker.replay_all(Some(Position(live)), &CancellationToken::new(), &mut |_, _| {}).await.unwrap();
        self.generations.make_current(&generation).unwrap();
        let (_, live) = counters::digest(&self.generation.path).await.unwrap();
        let (_, rebuilt_digest) = counters::digest(&generation.path).await.unwrap();
        assert_eq!(live, rebuilt_digest);
    }
}

impl MeteredNodes {
    /// Starts with keys of one tier of this quota; `None` without a nats-server, with a message.
    pub(crate) async fn start(quota: u64, keys: usize, seed: u64) -> Option<MeteredNodes> {
        let nats = Nats::start().await?;
        let client = nats.client().await;
        let tiers: Tiers = format!("free={quota}").parse().unwrap();
        usage_streams::prepare(&client, &tiers, 1).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let keys: Vec<Key> = (0..keys).map(|_| Key::generate(|bytes| random.fill_bytes(bytes))).collect();
        models(folder.path(), &keys).await;
        let ledger = Arc::new(Ledger::open(&folder.path().join("store")).await.unwrap());
        let stop = CancellationToken::new();
        let copier = Copier::new(ledger.clone(), client.clone(), tiers.clone(), Clock::system());
        tokio::spawn(copier.run(stop.clone()));

        let (spool_limit, health) = (1 << 30, Health::default());
        Some(MeteredNodes {
            nats,
            keys,
            tiers,
            ledger,
            folder,
            spool_limit,
            health,
            clock: Clock::system(),
            stop,
        })
    }

    /// Sets the clock of all nodes, which keeps running from there.
    pub(crate) fn set_clock(&self, now: &str) {
        self.clock.advance(now.parse::<Timestamp>().unwrap().duration_since(self.clock.now()));
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.folder.path().join("spool")
    }

    /// Starts counting calls in the folder that all nodes read, like a node's worker.
    pub(crate) async fn count(&self) -> RunningCounters {
        let client = self.nats.client().await;
        let (ledger, stop) = (self.ledger.clone(), self.stop.clone());
        let pages = client.clone();
        tokio::spawn(async move { ledger::serve(&pages, ledger, &stop).await });
        let generations = Generations::new(self.folder.path().join("models/counters"));
        let generation = generations.create_next().unwrap();
        let (source, status) = (EventSource::new(client.clone()), Status::new("counters"));
        let path = &generation.path;
        let mut worker = CountersWorker::open(path, source, status, Clock::system()).await.unwrap();
        generations.make_current(&generation).unwrap();
        let stop = self.stop.clone();
        tokio::spawn(async move { worker.follow(&stop).await });
        RunningCounters { client, generations, generation }
    }

    pub(crate) async fn node(&self, policy: Policy) -> Node {
        self.node_over(self.nats.client().await, policy).await
    }

    /// Like [`MeteredNodes::node`], over a connection that may be lost.
    pub(crate) async fn node_over(&self, client: async_nats::Client, policy: Policy) -> Node {
        let models = ReadModels::new(self.folder.path().join("models"), self.clock.clone());
        models.refresh().await.unwrap();
        let settings = MeterSettings {
            folder: self.spool(),
            policy,
            spool_limit: self.spool_limit,
            tiers: self.tiers.clone(),
            may_read_calls: true,
            health: self.health.clone(),
            clock: self.clock.clone(),
        };
        let meter = Meter::open(client.clone(), settings).unwrap();
        let access = KeyAccess {
            meter: meter.clone(),
            tiers: self.tiers.clone(),
            rate_limits: RateLimits::new(0, 0, 0),
            mail: MailStatus::default(),
            proxies: TrustedProxies::default(),
            commands: CommandClient::new(client),
            unknown_tiers: UnknownTiers::default(),
        };
        let stop = self.stop.child_token();
        let mut tasks = JoinSet::new();
        let metering = meter.clone().run(stop.clone());
        tasks.spawn(async move { metering.await.unwrap() });
        tasks.spawn(models.clone().follow(ModelKind::Counters, Health::default(), stop.clone()));
        let (_, ready) = watch::channel(Readiness::READY);
        let metrics = Metrics::new(&mut Registry::default());
        let site = "https://catalog.example.org".parse().unwrap();
        let access = Access::Keys(Arc::new(access));
        let media = MediaReader::new(self.folder.path().join("media"));
        let (clock, origins) = (self.clock.clone(), Origins::default());
        let state = ApiState::new(Sources {
            models,
            text_model: None,
            media,
            site,
            readiness: ready,
            shutting_down: Arc::default(),
            metrics,
            access,
            origins,
            offers: Offers::default(),
            payments: None,
            projections: Arc::new(Vec::new),
            clock,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let http = Http::new(format!("http://{}", listener.local_addr().unwrap()));
        let serving = stop.clone();
        tasks.spawn(async move {
            api::serve(listener, state, Limits::default(), serving).await;
        });
        Node { http, meter, stop, tasks }
    }

    /// Waits until the ledger has this number of calls, and returns all of them.
    pub(crate) async fn wait_for_ledger(&self, calls: usize) -> Vec<LedgerEntry> {
        let mut entries: Vec<LedgerEntry> = Vec::new();
        let all = async {
            while entries.len() < calls {
                tokio::time::sleep(Duration::from_millis(10)).await;
                self.read_page(&mut entries).await;
            }
        };
        let in_time = tokio::time::timeout(TIMEOUT, all).await.is_ok();
        // A surplus call would arrive a moment later.
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.read_page(&mut entries).await;
        if entries.len() != calls {
            let states = self.describe_nats().await;
            panic!(
                "the ledger has {} calls of {calls}, in time: {in_time}, and NATS {states}",
                entries.len()
            );
        }
        entries
    }

    async fn read_page(&self, entries: &mut Vec<LedgerEntry>) {
        let after = entries.last().map_or(Position::START, |entry| entry.position);
        entries.extend(self.ledger.page(after, 10_000).await.unwrap().entries);
    }

    /// Returns the number of calls in the streams of the tiers.
    pub(crate) async fn calls_in_nats(&self) -> u64 {
        let jetstream = async_nats::jetstream::new(self.nats.client().await);
        let mut held = 0;
        for tier in self.tiers.iter() {
            let stream = jetstream.get_stream(usage_stream(&tier.name)).await;
            held += stream.map_or(0, |stream| stream.cached_info().state.messages);
        }
        held
    }

    /// Returns what a new connection finds in the stream of each tier, as text.
    async fn describe_nats(&self) -> String {
        let jetstream = async_nats::jetstream::new(self.nats.client().await);
        let mut states = Vec::new();
        for tier in self.tiers.iter() {
            let stream = jetstream.get_stream(usage_stream(&tier.name)).await.unwrap();
            let state = &stream.cached_info().state;
            states.push(format!("{} of {} up to {}", state.messages, tier.name, state.last_sequence));
        }
        states.join(", ")
    }
}

impl Drop for MeteredNodes {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Node {
    pub(crate) async fn call(&self, key: &Key) -> Answer {
        self.attempt(key).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub(crate) async fn attempt(&self, key: &Key) -> Result<Answer, String> {
        let bearer = format!("Bearer {}", key.expose());
        self.http.attempt("GET", CALL, &[("authorization", &bearer)], "").await
    }

    /// Shuts the node down after draining its requests, and releases its lock.
    pub(crate) async fn end(self) {
        let Node { http, meter, stop, tasks } = self;
        stop.cancel();
        drop((http, meter));
        tasks.join_all().await;
    }
}

pub(crate) fn call_id(answer: &Answer) -> String {
    answer.header("x-call-id").unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

pub(crate) fn of_month(entries: &[LedgerEntry], month: &str) -> usize {
    let month: Month = month.parse().unwrap();
    entries.iter().filter(|entry| entry.call.month == month).count()
}

/// Makes calls from concurrent clients; returns the responses in no particular order.
pub(crate) async fn call_concurrently(
    callers: usize,
    calls: usize,
    call: impl AsyncFn(usize) -> Answer,
) -> Vec<Answer> {
    let answers = Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let caller = async || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= calls {
                return;
            }
            let answer = call(index).await;
            answers.lock().unwrap().push(answer);
        }
    };
    futures::future::join_all((0..callers).map(|_| caller())).await;
    answers.into_inner().unwrap()
}

/// Creates read models with these keys and a catalog of one project, since a search that finds nothing is not counted.
async fn models(folder: &std::path::Path, keys: &[Key]) {
    let root = folder.join("models");
    let generations = Generations::in_layout(root.join("search"), read::search::LAYOUT);
    let generation = generations.create_next().unwrap();
    let mut writer = SearchWriter::open_or_create(&generation.path).unwrap();
    let house = SearchDocument {
        project: "01ARZ3NDEKTSV4RRFFQ69G9999",
        ordinal: 1,
        slug: "house",
        name: "House",
        studio: None,
        city: None,
        category: "art",
        intro: None,
        published: None,
        summary: br#"{"slug":"house","name":"House""#,
        state: b"",
        listed: true,
    };
    writer.upsert(&house).unwrap();
    writer.commit("").unwrap();
    writer.close().unwrap();
    generations.make_current(&generation).unwrap();
    let generations = Generations::in_layout(root.join("keys"), read::keys::LAYOUT);
    let generation = generations.create_next().unwrap();
    let mut writer = KeysWriter::open(&generation.path).await.unwrap();
    let mut position = Position::START;
    for (index, key) in keys.iter().enumerate() {
        let account: AccountId = format!("01ARZ3NDEKTSV4RRFFQ69G{index:04}").parse().unwrap();
        let issued = KeyIssued::of(key, "free".parse().unwrap(), None);
        let story = [AccountEvent::AccountOpened(AccountOpened {}), AccountEvent::KeyIssued(issued)];
        writer.load(story.iter().map(|event| (account, event))).await.unwrap();
        for event in story {
            position = position.next();
            let recorded = recorded(position, StreamId::account(account), &Event::Account(event.clone()));
            writer.apply(&recorded, account, event).unwrap();
        }
    }
    writer.commit(Checkpoint { position, ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
    generations.make_current(&generation).unwrap();
}
