//! A node on a port of its own, with a small catalog in a folder of its own.

mod meanings;
mod with_keys;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::routing::get;
use embeddings::TextModel;
use jiff::Timestamp;
use kit::samples::recorded;
use payments::{Mode, Offers, Payments, Terms};
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::checkpoint::Checkpoint;
use read::media::MediaReader;
use read::models::{ModelKind, ReadModels};
use read::neighbours::NeighboursWriter;
use read::search::{SearchDocument, SearchWriter};
use schemas::api::site;
use schemas::api::summary::{Edition, ListedSummary};
use schemas::clock::Clock;
use schemas::control::ProjectionStatus;
use schemas::envelope::Recorded;
use schemas::event::{
    Event, PictureAttached, ProjectRenamed, ProjectRevised, ProjectSelected, ProjectWithdrawn,
    VectorsRecorded,
};
use schemas::ids::{Position, ProjectId, Revision, StreamId};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId, is_fetched_or_drawn};
use schemas::record::Record;
use schemas::slug::Slug;
use schemas::vector::Vector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Connection, Reply, mcp};
use crate::http::bodies::BodyMemory;
use crate::http::pipeline::Pipeline;
use crate::server::serve_pipeline;
use crate::{
    Access, ApiState, CommandClient, DailyFigures, Drained, Limits, Metrics, Origins, PaymentWebhook,
    RateLimits, Readiness, Site, Sources, rest,
};
use prometheus_client::registry::Registry;

/// The public address in answers.
pub(super) const SITE: &str = "https://catalog.example.org";

/// When everything of the small catalog was recorded.
const AT: &str = "2026-11-20T08:00:00Z";

/// A node that serves.
pub(super) struct Node {
    pub(super) address: SocketAddr,
    pub(super) readiness: watch::Sender<Readiness>,
    pub(super) shutting_down: Arc<AtomicBool>,
    pub(super) registry: Registry,
    pub(super) stop: CancellationToken,
    pub(super) served: JoinHandle<Drained>,
    pub(super) folder: TempDir,
    pub(super) state: ApiState,
}

/// What differs between nodes.
struct Settings {
    limits: Limits,
    payments: Option<PaymentWebhook>,
    origins: Origins,
    site: Site,
    projections: Vec<ProjectionStatus>,
    access: Access,
    text_model: Option<Arc<TextModel>>,
    clock: Clock,
    daily_figures: Option<DailyFigures>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limits: Limits::default(),
            payments: None,
            origins: Origins::Any,
            site: SITE.parse().unwrap(),
            projections: Vec::new(),
            access: Access::Open,
            text_model: None,
            clock: Clock::system(),
            daily_figures: None,
        }
    }
}

impl Node {
    /// A node with the small catalog and generous limits.
    pub(super) async fn start() -> Node {
        Node::serve(filled().await, Settings::default()).await
    }

    pub(super) async fn start_with(limits: Limits) -> Node {
        Node::serve(filled().await, Settings { limits, ..Settings::default() }).await
    }

    /// A node where more has happened: when, to which project, and what.
    pub(super) async fn start_after(events: &[(&str, usize, Event)]) -> Node {
        Node::serve(filled_after(events).await, Settings::default()).await
    }

    /// The same, and search lists what was selected.
    pub(super) async fn start_listing(events: &[(&str, usize, Event)]) -> Node {
        let folder = filled_after(events).await;
        // Events after those of the small catalog stand from the twentieth place on.
        list_all(
            (20..).zip(events).filter_map(|(position, (_, number, event))| {
                let Event::ProjectSelected(selected) = event else { return None };
                let record = serde_json::to_value(&selected.record).unwrap();
                Some((*number, position, [selected.slug.as_str(); 2], record))
            }),
            folder.path(),
        );
        Node::serve(folder, Settings::default()).await
    }

    /// A node whose search and archive list these projects too, each with a picture of some colours.
    pub(super) async fn start_with_records(records: &[(&str, Value, &[[u8; 3]])]) -> Node {
        let folder = filled().await;
        let numbered = || (10..).zip(records);
        let listed = numbered()
            .map(|(number, (slug, record, _))| (number, 10 * number as u64, [*slug; 2], record.clone()));
        list_all(listed, folder.path());
        let events = numbered().flat_map(|(number, (slug, record, palette))| {
            let palette = palette.iter().map(|rgb| Colour(*rgb)).collect();
            let id = PictureId([number as u8; 32]);
            let picture = Picture { id, format: PictureFormat::Png, width: 9, height: 9, palette };
            let attached = PictureAttached { source: "a.png".into(), picture };
            [selected(slug, record.clone()), Event::PictureAttached(attached)]
                .map(|event| (10 * number as u64, at(AT), number, event))
        });
        record_all(folder.path(), events.collect(), Checkpoint::default()).await;
        Node::serve(folder, Settings::default()).await
    }

    /// A node where the house has a picture, 1,000 pixels wide, that is recorded as kept.
    pub(super) async fn start_with_picture(id: PictureId) -> Node {
        let node = Node::start().await;
        let record =
            json!({"name": "Haus am See", "category": "architecture", "pictures": [{"source": "a.png"}]});
        let palette = vec![Colour([0xa0, 0x52, 0x2d]), Colour([0; 3])];
        let picture = Picture { id, format: PictureFormat::Png, width: 1_000, height: 500, palette };
        let attached = Event::PictureAttached(PictureAttached { source: "a.png".into(), picture });
        let events = (20..).zip([revised(record), attached]).map(|(place, event)| (place, at(AT), 0, event));
        record_all(node.folder.path(), events.collect(), Checkpoint::default()).await;
        node
    }

    /// A node with the small catalog, as recorded by another event store.
    pub(super) async fn start_of_store(store: &str) -> Node {
        let folder = filled().await;
        record_all(folder.path(), Vec::new(), checkpoint(8, store)).await;
        Node::serve(folder, Settings::default()).await
    }

    /// Revises a project in the current generations, as the ninth event.
    pub(super) async fn revise(&self, number: usize, name: &str) {
        let event = revised(json!({"name": name, "category": "architecture"}));
        record_all(self.folder.path(), vec![(9, at(AT), number, event)], checkpoint(9, STORE)).await;
    }

    /// A node whose search index lists a project that the catalog does not know yet.
    pub(super) async fn start_with_search_ahead(slug: &str) -> Node {
        let folder = filled().await;
        let record = json!({"name": slug.replace('-', " "), "category": "art"});
        list_all([(7, 8, [slug; 2], record)].into_iter(), folder.path());
        Node::serve(folder, Settings::default()).await
    }

    /// A node whose catalog has these projects and no others, or none at all.
    pub(super) async fn start_of(records: &[(&str, Value)]) -> Node {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        for model in [ModelKind::Catalog, ModelKind::Archive, ModelKind::Search] {
            created(model, folder);
        }
        let listed = (0..)
            .zip(records)
            .map(|(number, (slug, record))| (number, number as u64 + 1, [*slug; 2], record.clone()));
        list_all(listed, folder);
        let events = (0..).zip(records);
        let events = events.map(|(number, (slug, record))| {
            (number as u64 + 1, at(AT), number, selected(slug, record.clone()))
        });
        record_all(folder, events.collect(), checkpoint(records.len() as u64, STORE)).await;
        Node::serve(temporary, Settings::default()).await
    }

    /// A node with the small catalog whose site has this address and these texts.
    pub(super) async fn start_at(site: Site) -> Node {
        Node::serve(filled().await, Settings { site, ..Settings::default() }).await
    }

    /// A node whose projections have not made anything yet.
    pub(super) async fn start_empty() -> Node {
        Node::serve(tempfile::tempdir().unwrap(), Settings::default()).await
    }

    /// A node that accepts payment webhooks while no write side runs.
    pub(super) async fn start_told_of_payments() -> Node {
        let nowhere = async_nats::ConnectOptions::new().retry_on_initial_connect();
        let payments = PaymentWebhook {
            payments: Payments {
                secrets: "whsec_loggia_first_secret".parse().unwrap(),
                terms: Terms {
                    prices: "price_studio=studio".parse().unwrap(),
                    tiers: "free=200, studio=5000".parse().unwrap(),
                    mode: Mode::Live,
                },
            },
            commands: CommandClient::new(nowhere.connect("127.0.0.1:1").await.unwrap()),
        };
        let settings = Settings { payments: Some(payments), ..Settings::default() };
        Node::serve(tempfile::tempdir().unwrap(), settings).await
    }

    /// A node with the small catalog, whose projections are as these say.
    pub(super) async fn start_behind(projections: Vec<ProjectionStatus>) -> Node {
        Node::serve(filled().await, Settings { projections, ..Settings::default() }).await
    }

    /// A node with the small catalog at this time, which has this record of its days.
    pub(super) async fn start_with_days(now: &str, record: &Value) -> Node {
        let folder = filled().await;
        let (clock, path) = (Clock::manual(at(now)), folder.path().join("daily-figures.json"));
        std::fs::write(&path, record.to_string()).unwrap();
        let daily_figures = Some(DailyFigures::open(path, clock.clone()));
        Node::serve(folder, Settings { clock, daily_figures, ..Settings::default() }).await
    }

    /// A node with the small catalog that requires no key and accepts requests from pages of these origins.
    pub(super) async fn start_for(origins: Origins) -> Node {
        Node::serve(filled().await, Settings { origins, ..Settings::default() }).await
    }

    async fn serve(folder: TempDir, settings: Settings) -> Node {
        let Settings { limits, payments, origins, site, projections, access, .. } = settings;
        let Settings { text_model, clock, daily_figures, .. } = settings;
        let name = text_model.is_some().then(|| TextModel::NAME.into());
        let models = ReadModels::with_signals(folder.path(), Clock::system(), None, name);
        models.refresh().await.unwrap();
        let (readiness, ready) = watch::channel(Readiness::READY);
        let shutting_down = Arc::new(AtomicBool::new(false));
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let state = ApiState::new(Sources {
            models,
            text_model,
            media: MediaReader::new(folder.path().join("media")),
            site,
            readiness: ready,
            shutting_down: shutting_down.clone(),
            metrics: metrics.clone(),
            access,
            origins,
            payments,
            offers: Offers::default(),
            projections: Arc::new(move || projections.clone()),
            clock,
        });
        let state = daily_figures.into_iter().fold(state, ApiState::with_daily_figures);
        // /stopping is answered only once shutdown has begun.
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        let router = rest::router(state.clone())
            .route("/panic", get(async || -> &'static str { panic!("the inner text") }))
            .route("/slow", get(async || tokio::time::sleep(Duration::from_secs(3600)).await))
            .route("/soon", get(async || tokio::time::sleep(Duration::from_millis(300)).await))
            .route("/stopping", get(async move || stopping.cancelled().await));
        let bodies = BodyMemory::new(limits.bodies, limits.proxies.clone());
        let pipeline = Pipeline::new(router, state.clone(), limits.request, bodies);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(serve_pipeline(listener, pipeline, metrics, limits, stop.clone()));
        Node { address, readiness, shutting_down, registry, stop, served, folder, state }
    }

    pub(super) async fn connect(&self) -> Connection {
        Connection::to(self.address).await
    }

    pub(super) async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, "").await
    }

    /// Sends a message to the MCP endpoint.
    pub(super) async fn post(&self, headers: &str, body: impl AsRef<[u8]>) -> Reply {
        self.connect().await.post(headers, body).await
    }

    pub(super) async fn ask(&self, method: &str, path: &str, headers: &str) -> Reply {
        self.connect().await.ask(method, path, headers).await
    }

    /// Calls a tool of the MCP endpoint, which answers well.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Value {
        mcp::content(&self.post("", mcp::call(name, arguments)).await)
    }

    /// Calls a tool of the MCP endpoint, and returns why it does not answer.
    pub(super) async fn tool_refusal(&self, name: &str, arguments: Value) -> String {
        mcp::refusal(&self.post("", mcp::call(name, arguments)).await)
    }
}

pub(super) fn selected(slug: &str, record: Value) -> Event {
    let record = serde_json::from_value(record).unwrap();
    Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None })
}

pub(super) fn revised(record: Value) -> Event {
    Event::ProjectRevised(ProjectRevised { record: serde_json::from_value(record).unwrap() })
}

/// Something that happened: its position, when, to which project, and what.
type Happened = (u64, Timestamp, usize, Event);

/// Records in the current catalog and archive.
pub(super) async fn record_all(folder: &Path, events: Vec<Happened>, checkpoint: Checkpoint) {
    let mut catalog = CatalogWriter::open(&current(ModelKind::Catalog, folder)).await.unwrap();
    let mut archive = ArchiveWriter::open(&current(ModelKind::Archive, folder)).await.unwrap();
    let ids = || events.iter().map(|(_, _, number, _)| id(*number));
    catalog.load(ids()).await.unwrap();
    archive.load(ids()).await.unwrap();
    for (position, time, number, event) in &events {
        let id = id(*number);
        let recorded =
            Recorded { time: *time, ..recorded(Position(*position), StreamId::project(id), event) };
        catalog.apply(&recorded, id, event).unwrap();
        archive.apply(id, event, recorded.position, *time).unwrap();
    }
    catalog.commit(checkpoint.clone()).await.unwrap();
    archive.commit(checkpoint).await.unwrap();
    catalog.close().await.unwrap();
    archive.close().await.unwrap();
}

/// A folder with the models of the small catalog.
async fn filled() -> TempDir {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    for model in [ModelKind::Catalog, ModelKind::Archive, ModelKind::Search, ModelKind::Neighbours] {
        created(model, folder);
    }
    record_all(folder, history(), checkpoint(8, STORE)).await;
    // Search lists what is there in the end.
    let listed = (0..).zip(selections()).take(5).map(|(number, (slug, record))| {
        let present = if slug == "old-mill" { "new-mill" } else { slug };
        (number, number as u64 + 1, [slug, present], record)
    });
    list_all(listed, folder);
    neighbours(folder).await;
    temporary
}

/// A folder with the models of the small catalog after these events.
async fn filled_after(events: &[(&str, usize, Event)]) -> TempDir {
    let folder = filled().await;
    let numbered = (20..).zip(events);
    let events = numbered.map(|(place, (time, number, event))| (place, at(time), *number, event.clone()));
    record_all(folder.path(), events.collect(), Checkpoint::default()).await;
    folder
}

/// What was selected, and under which slug: one project with everything, and a street of houses.
fn selections() -> Vec<(&'static str, Value)> {
    let mut selections = vec![(
        "haus-am-see",
        json!({
            "name": "Haus am See", "studio": "Atelier Łoś", "city": "Zürich, Switzerland", "year": "2019",
            "category": "architecture", "intro": "A \"quiet\" house.", "description": "Long.",
            "published": "2024-05-01", "details": [{"label": "Area", "value": "120 m²"}],
            "provenance": {"curated_by": "Ada", "selected": "2024-04-01", "in_archive_since": 2024, "note": "Seen."},
            "taste": {"material": "larch"},
        }),
    )];
    for slug in ["street-house-1", "street-house-2", "street-house-3", "old-mill", "gone-house"] {
        selections.push((slug, json!({"name": slug.replace('-', " "), "category": "design"})));
    }
    selections
}

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn id(number: usize) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

/// Everything that happened.
fn history() -> Vec<Happened> {
    let selected = selections().into_iter().map(|(slug, record)| selected(slug, record)).enumerate();
    let renamed = Event::ProjectRenamed(ProjectRenamed { slug: "new-mill".parse().unwrap() });
    let reason = "The owners \"asked\" for it.".into();
    let withdrawn = Event::ProjectWithdrawn(ProjectWithdrawn { reason });
    let events = (1..).zip(selected.chain([(4, renamed), (5, withdrawn)]));
    events.map(|(place, (number, event))| (place, at(AT), number, event)).collect()
}

/// Makes the first generation of a model, which is the current one.
pub(super) fn created(model: ModelKind, folder: &Path) {
    let generations = model.generations(folder);
    generations.make_current(&generations.create_next().unwrap()).unwrap();
}

/// The folder of the current generation of a model.
pub(super) fn current(model: ModelKind, folder: &Path) -> PathBuf {
    model.generations(folder).current().unwrap().unwrap().path
}

/// The event store of the small catalog.
const STORE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn checkpoint(position: u64, store: &str) -> Checkpoint {
    Checkpoint { position: Position(position), store: Some(store.to_owned()), ..Checkpoint::default() }
}

/// Adds projects to the current search index, each with the slug that was recorded and the one under which it is found.
fn list_all<'s>(projects: impl Iterator<Item = (usize, u64, [&'s str; 2], Value)>, folder: &Path) {
    let mut writer = SearchWriter::open_or_create(&current(ModelKind::Search, folder)).unwrap();
    for (number, ordinal, slugs, record) in projects {
        let [recorded_slug, slug] = slugs.map(|slug| slug.parse::<Slug>().unwrap());
        let record: Record = serde_json::from_value(record).unwrap();
        let is_awaited = |source: &&str| is_fetched_or_drawn(source, &"Ada".parse().unwrap());
        let awaited: BTreeSet<String> =
            record.picture_sources().filter(is_awaited).map(str::to_owned).collect();
        let edition = Edition {
            slug: &slug,
            revision: Revision::FIRST,
            recorded_slug: &recorded_slug,
            record: &record,
            pictures: &BTreeMap::new(),
            awaited: &awaited,
            added_at: at(AT),
        };
        let mut summary = site::render(&ListedSummary::of(&edition)).unwrap();
        summary.pop();
        let document = SearchDocument {
            project: &id(number).to_string(),
            ordinal,
            slug: slug.as_str(),
            name: &record.name,
            studio: record.studio.as_deref(),
            city: record.city.as_deref(),
            category: record.category.as_str(),
            intro: record.intro.as_deref(),
            published: None,
            summary: &summary,
            state: b"",
            listed: true,
        };
        writer.upsert(&document).unwrap();
    }
    writer.commit("").unwrap();
    writer.close().unwrap();
}

/// What the projects look and read like: the house is nearest to the first of the street by looks alone, the second only
/// reads, the third says nothing.
async fn neighbours(root: &Path) {
    let vector = |numbers: [f32; 2]| Some(Vector::new(numbers.to_vec()).unwrap());
    let described = [
        (0, vector([1.0, 0.0]), vector([1.0, 0.0])),
        (1, vector([0.8, 0.6]), None),
        (2, None, vector([0.6, 0.8])),
        (4, vector([0.0, 1.0]), vector([0.0, 1.0])),
        (5, vector([1.0, 0.0]), vector([1.0, 0.0])),
    ];
    let mut writer = NeighboursWriter::open(&current(ModelKind::Neighbours, root)).await.unwrap();
    writer.load((0..6).map(id)).await.unwrap();
    for (number, (slug, record)) in selections().into_iter().enumerate() {
        writer.apply(id(number), &selected(slug, record), Position(number as u64 + 1)).unwrap();
    }
    for (index, (number, visual, semantic)) in described.into_iter().enumerate() {
        let event =
            Event::VectorsRecorded(VectorsRecorded { model: "m".into(), visual, semantic, computed: None });
        writer.apply(id(number), &event, Position(index as u64 + 7)).unwrap();
    }
    // The withdrawn one is still among the neighbours: it left the other models a moment ago.
    writer.commit(Checkpoint { position: Position(11), ..Checkpoint::default() }).await.unwrap();
    writer.finish_lists().await.unwrap();
    writer.close().await.unwrap();
}
