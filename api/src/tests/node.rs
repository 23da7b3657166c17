//! A node on a port of its own, with a small catalog in a folder of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::routing::get;
use payments::{Mode, Offers, Payments, Terms};
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::checkpoint::Checkpoint;
use read::generation::Generations;
use read::media::MediaReader;
use read::models::{ModelKind, ReadModels};
use read::neighbours::NeighboursWriter;
use read::search::{SearchDocument, SearchWriter};
use schemas::api::site;
use schemas::api::summary::{Edition, Summary};
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::{
    Event, PictureAttached, ProjectRenamed, ProjectRevised, ProjectSelected, ProjectWithdrawn,
    VectorsRecorded,
};
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, ProjectId, Revision, StreamId, StreamVersion};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
use schemas::record::Record;
use schemas::slug::Slug;
use schemas::vector::Vector;
use schemas::versioned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Connection, Reply};
use crate::http::pipeline::Pipeline;
use crate::server::serve_pipeline;
use crate::{
    Access, ApiState, CommandClient, Drained, Limits, Metrics, Origins, PaymentWebhook, Readiness, Site,
    SiteTexts, Sources, rest,
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

impl Node {
    /// A node with the small catalog and generous limits.
    pub(super) async fn start() -> Node {
        Node::start_with(Limits::default()).await
    }

    pub(super) async fn start_with(limits: Limits) -> Node {
        Node::serve(filled().await, limits).await
    }

    /// A node where more has happened: when, to which project, and what.
    pub(super) async fn start_after(events: &[(&str, usize, Event)]) -> Node {
        Node::serve(filled_after(events).await, Limits::default()).await
    }

    /// The same, and search lists what was selected.
    pub(super) async fn start_listing(events: &[(&str, usize, Event)]) -> Node {
        let folder = filled_after(events).await;
        let generation = of(ModelKind::Search, folder.path()).current().unwrap().unwrap();
        let mut writer = SearchWriter::open_or_create(&generation.path).unwrap();
        // Events after those of the small catalog stand from the twentieth place on.
        for (position, (_, number, event)) in (20..).zip(events) {
            if let Event::ProjectSelected(selected) = event {
                let (slug, record) =
                    (selected.slug.as_str(), serde_json::to_value(&selected.record).unwrap());
                list(&mut writer, *number, position, [slug; 2], record);
            }
        }
        writer.commit("").unwrap();
        writer.close().unwrap();
        Node::serve(folder, Limits::default()).await
    }

    /// A node whose search and archive list these projects too, each with a picture of some colours.
    pub(super) async fn start_with_records(records: &[(&str, Value, &[[u8; 3]])]) -> Node {
        let folder = filled().await;
        let generation = of(ModelKind::Search, folder.path()).current().unwrap().unwrap();
        let mut search = SearchWriter::open_or_create(&generation.path).unwrap();
        let generation = of(ModelKind::Archive, folder.path()).current().unwrap().unwrap();
        let mut archive = ArchiveWriter::open(&generation.path).await.unwrap();
        for (number, (slug, record, palette)) in (10..).zip(records) {
            let (position, time) = (10 * number as u64, AT.parse().unwrap());
            list(&mut search, number, position, [slug; 2], record.clone());
            let record = serde_json::from_value(record.clone()).unwrap();
            let selected = ProjectSelected { slug: slug.parse().unwrap(), record, id: None };
            let palette = palette.iter().map(|rgb| Colour(*rgb)).collect();
            let id = PictureId([number as u8; 32]);
            let picture = Picture { id, format: PictureFormat::Png, width: 9, height: 9, palette };
            let attached = PictureAttached { source: "a.png".into(), picture };
            archive.load([self::id(number)].into_iter()).await.unwrap();
            for event in [Event::ProjectSelected(selected), Event::PictureAttached(attached)] {
                archive.apply(self::id(number), &event, Position(position), time).unwrap();
            }
        }
        search.commit("").unwrap();
        search.close().unwrap();
        archive.commit(Checkpoint::default()).await.unwrap();
        archive.close().await.unwrap();
        Node::serve(folder, Limits::default()).await
    }

    /// A node where the house has a picture, 1,000 pixels wide, that is recorded as kept.
    pub(super) async fn start_with_picture(id: PictureId) -> Node {
        let node = Node::start().await;
        let generation = of(ModelKind::Catalog, node.folder.path()).current().unwrap().unwrap();
        let mut writer = CatalogWriter::open(&generation.path).await.unwrap();
        let record =
            json!({"name": "Haus am See", "category": "architecture", "pictures": [{"source": "a.png"}]});
        let changed =
            Event::ProjectRevised(ProjectRevised { record: serde_json::from_value(record).unwrap() });
        let picture =
            Picture { id, format: PictureFormat::Png, width: 1_000, height: 500, palette: Vec::new() };
        let attached = Event::PictureAttached(PictureAttached { source: "a.png".into(), picture });
        writer.load([self::id(0)].into_iter()).await.unwrap();
        for (position, event) in [(20, changed), (21, attached)] {
            writer.apply(&recorded(position, self::id(0), &event), self::id(0), &event).unwrap();
        }
        writer.commit(Checkpoint::default()).await.unwrap();
        writer.close().await.unwrap();
        node
    }

    /// A node with the small catalog, as recorded by another event store.
    pub(super) async fn start_of_store(store: &str) -> Node {
        let folder = filled().await;
        let generation = of(ModelKind::Catalog, folder.path()).current().unwrap().unwrap();
        let mut writer = CatalogWriter::open(&generation.path).await.unwrap();
        writer.commit(checkpoint(8, store)).await.unwrap();
        writer.close().await.unwrap();
        Node::serve(folder, Limits::default()).await
    }

    /// Revises a project in the current generation of the catalog, as the ninth event.
    pub(super) async fn revise_in_catalog(&self, number: usize, name: &str) {
        let generation = of(ModelKind::Catalog, self.folder.path()).current().unwrap().unwrap();
        let mut writer = CatalogWriter::open(&generation.path).await.unwrap();
        let record = serde_json::from_value(json!({"name": name, "category": "architecture"})).unwrap();
        let event = Event::ProjectRevised(ProjectRevised { record });
        writer.load([id(number)].into_iter()).await.unwrap();
        writer.apply(&recorded(9, id(number), &event), id(number), &event).unwrap();
        writer.commit(checkpoint(9, STORE)).await.unwrap();
        writer.close().await.unwrap();
    }

    /// A node whose search index lists a project that the catalog does not know yet.
    pub(super) async fn start_with_search_ahead(slug: &str) -> Node {
        let folder = filled().await;
        let generation = of(ModelKind::Search, folder.path()).current().unwrap().unwrap();
        let mut writer = SearchWriter::open_or_create(&generation.path).unwrap();
        list(&mut writer, 7, 8, [slug; 2], json!({"name": slug.replace('-', " "), "category": "art"}));
        writer.commit("").unwrap();
        writer.close().unwrap();
        Node::serve(folder, Limits::default()).await
    }

    /// A node with the small catalog that is reached at this address.
    pub(super) async fn start_at(site: &str) -> Node {
        Node::serve_site(filled().await, Limits::default(), None, Origins::Any, site.parse().unwrap()).await
    }

    /// A node whose projections have not made anything yet.
    pub(super) async fn start_empty() -> Node {
        Node::serve(tempfile::tempdir().unwrap(), Limits::default()).await
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
        Node::serve_with(tempfile::tempdir().unwrap(), Limits::default(), Some(payments), Origins::Any).await
    }

    /// A node whose site has texts of its own.
    pub(super) async fn start_called(texts: SiteTexts) -> Node {
        let site = SITE.parse::<Site>().unwrap().with_texts(texts);
        Node::serve_site(filled().await, Limits::default(), None, Origins::Any, site).await
    }

    async fn serve(folder: TempDir, limits: Limits) -> Node {
        Node::serve_with(folder, limits, None, Origins::Any).await
    }

    /// A node with the small catalog that requires no key and accepts requests from pages of these origins.
    pub(super) async fn start_for(origins: Origins) -> Node {
        Node::serve_with(filled().await, Limits::default(), None, origins).await
    }

    async fn serve_with(
        folder: TempDir,
        limits: Limits,
        payments: Option<PaymentWebhook>,
        origins: Origins,
    ) -> Node {
        Node::serve_site(folder, limits, payments, origins, SITE.parse().unwrap()).await
    }

    async fn serve_site(
        folder: TempDir,
        limits: Limits,
        payments: Option<PaymentWebhook>,
        origins: Origins,
        site: Site,
    ) -> Node {
        let models = ReadModels::new(folder.path(), Clock::system());
        models.refresh().await.unwrap();
        let (readiness, ready) = watch::channel(Readiness::READY);
        let shutting_down = Arc::new(AtomicBool::new(false));
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let state = ApiState::new(Sources {
            models,
            media: MediaReader::new(folder.path().join("media")),
            site,
            readiness: ready,
            shutting_down: shutting_down.clone(),
            metrics: metrics.clone(),
            access: Access::Open,
            origins,
            payments,
            offers: Offers::default(),
            projections: Arc::new(Vec::new),
            clock: Clock::system(),
        });
        // /stopping is answered only once shutdown has begun.
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        let router = rest::router(state.clone())
            .route("/panic", get(async || -> &'static str { panic!("the inner text") }))
            .route("/slow", get(async || tokio::time::sleep(Duration::from_secs(3600)).await))
            .route("/soon", get(async || tokio::time::sleep(Duration::from_millis(300)).await))
            .route("/stopping", get(async move || stopping.cancelled().await));
        let pipeline = Pipeline::new(router, state.clone(), limits.request, limits.bodies);
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
}

/// A folder with the models of the small catalog.
async fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path()).await;
    search(folder.path());
    neighbours(folder.path()).await;
    archive(folder.path()).await;
    folder
}

/// A folder with the models of the small catalog after these events.
async fn filled_after(events: &[(&str, usize, Event)]) -> TempDir {
    let folder = filled().await;
    let current = |generations: Generations| generations.current().unwrap().unwrap().path;
    let mut catalog = CatalogWriter::open(&current(of(ModelKind::Catalog, folder.path()))).await.unwrap();
    let mut archive = ArchiveWriter::open(&current(of(ModelKind::Archive, folder.path()))).await.unwrap();
    let ids = || events.iter().map(|(_, number, _)| id(*number));
    catalog.load(ids()).await.unwrap();
    archive.load(ids()).await.unwrap();
    for (position, (time, number, event)) in (20..).zip(events) {
        let recorded = Recorded { time: time.parse().unwrap(), ..recorded(position, id(*number), event) };
        catalog.apply(&recorded, id(*number), event).unwrap();
        archive.apply(id(*number), event, Position(position), recorded.time).unwrap();
    }
    catalog.commit(Checkpoint::default()).await.unwrap();
    archive.commit(Checkpoint::default()).await.unwrap();
    catalog.close().await.unwrap();
    archive.close().await.unwrap();
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

fn id(number: usize) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

/// Everything that happened, and to which project.
fn history() -> Vec<(usize, Event)> {
    let mut events: Vec<(usize, Event)> = selections()
        .into_iter()
        .enumerate()
        .map(|(number, (slug, record))| {
            let record = serde_json::from_value(record).unwrap();
            (
                number,
                Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None }),
            )
        })
        .collect();
    events.push((4, Event::ProjectRenamed(ProjectRenamed { slug: "new-mill".parse().unwrap() })));
    let reason = "The owners \"asked\" for it.".into();
    events.push((5, Event::ProjectWithdrawn(ProjectWithdrawn { reason })));
    events
}

fn of(model: ModelKind, folder: &Path) -> Generations {
    model.generations(folder)
}

/// The event store of the small catalog.
const STORE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn checkpoint(position: u64, store: &str) -> Checkpoint {
    Checkpoint { position: Position(position), store: Some(store.to_owned()), ..Checkpoint::default() }
}

async fn catalog(root: &Path) {
    let generations = of(ModelKind::Catalog, root);
    let generation = generations.create_next().unwrap();
    let mut writer = CatalogWriter::open(&generation.path).await.unwrap();
    writer.load((0..6).map(id)).await.unwrap();
    for (index, (number, event)) in history().into_iter().enumerate() {
        let position = index as u64 + 1;
        writer.apply(&recorded(position, id(number), &event), id(number), &event).unwrap();
    }
    writer.commit(checkpoint(8, STORE)).await.unwrap();
    writer.close().await.unwrap();
    generations.make_current(&generation).unwrap();
}

fn recorded(position: u64, id: ProjectId, event: &Event) -> Recorded {
    let uuid = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    Recorded {
        position: Position(position),
        id: EventId(uuid),
        stream: StreamId::project(id),
        version: StreamVersion(position),
        kind: versioned::kind(event).into(),
        time: AT.parse().unwrap(),
        actor: "Ada".parse().unwrap(),
        causation: CommandId(uuid),
        correlation: CommandId(uuid),
        hash: Hash::GENESIS,
        traceparent: None,
        data: versioned::encode(event).unwrap(),
    }
}

/// The search index of what is listed in the end.
fn search(root: &Path) {
    let generations = of(ModelKind::Search, root);
    let generation = generations.create_next().unwrap();
    let mut writer = SearchWriter::open_or_create(&generation.path).unwrap();
    for (number, (slug, record)) in selections().into_iter().enumerate().take(5) {
        let present = if slug == "old-mill" { "new-mill" } else { slug };
        list(&mut writer, number, number as u64 + 1, [slug, present], record);
    }
    writer.commit("").unwrap();
    writer.close().unwrap();
    generations.make_current(&generation).unwrap();
}

/// Adds a project that was selected under one slug and is found under another.
fn list(writer: &mut SearchWriter, number: usize, ordinal: u64, slugs: [&str; 2], record: Value) {
    let [recorded_slug, slug] = slugs.map(|slug| slug.parse::<Slug>().unwrap());
    let record: Record = serde_json::from_value(record).unwrap();
    let edition = Edition {
        slug: &slug,
        revision: Revision::FIRST,
        recorded_slug: &recorded_slug,
        record: &record,
        pictures: &BTreeMap::new(),
        added_at: AT.parse().unwrap(),
    };
    let mut summary = site::render(&Summary::of(&edition)).unwrap();
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

/// The archive of what is listed in the end.
async fn archive(root: &Path) {
    let generations = of(ModelKind::Archive, root);
    let generation = generations.create_next().unwrap();
    let mut writer = ArchiveWriter::open(&generation.path).await.unwrap();
    writer.load((0..6).map(id)).await.unwrap();
    for (index, (number, event)) in history().into_iter().enumerate() {
        let position = Position(index as u64 + 1);
        writer.apply(id(number), &event, position, AT.parse().unwrap()).unwrap();
    }
    writer.commit(Checkpoint::default()).await.unwrap();
    writer.close().await.unwrap();
    generations.make_current(&generation).unwrap();
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
    let generations = of(ModelKind::Neighbours, root);
    let generation = generations.create_next().unwrap();
    let mut writer = NeighboursWriter::open(&generation.path).await.unwrap();
    writer.load((0..6).map(id)).await.unwrap();
    for (number, (slug, record)) in selections().into_iter().enumerate() {
        let record = serde_json::from_value(record).unwrap();
        let event = Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None });
        writer.apply(id(number), &event, Position(number as u64 + 1)).unwrap();
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
    generations.make_current(&generation).unwrap();
}
