//! Snapshots of models that the tests create, without a stream.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use read::checkpoint::Checkpoint;
use read::counters::{CountersWriter, Ledger, Progress};
use read::generation::Generations;
use schemas::ids::Position;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

use super::install::install_files;
use super::*;
use crate::projection::Projection;
use crate::projection::search::SearchProjection;
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::keys::KeysReader;
use read::keys::KeysWriter;
use read::model::Model;
use read::models::ModelKind;
use read::neighbours::NeighboursWriter;
use read::search::SearchReader;

const STORE: &str = "01JD0000000000000000000000";

/// Creates a folder with models, each at its own position.
async fn models() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    make::<CatalogWriter>(&models, 11).await;
    make::<SearchProjection>(&models, 12).await;
    make::<NeighboursWriter>(&models, 13).await;
    make::<ArchiveWriter>(&models, 14).await;
    make::<KeysWriter>(&models, 15).await;
    let generations = Generations::new(models.join("counters"));
    let generation = generations.create_next().unwrap();
    let mut writer = CountersWriter::open(&generation.path).await.unwrap();
    let progress = Progress { checkpoint: at(3, None), ledger: Ledger::Done, ..Progress::default() };
    writer.commit(&[], progress, "2026-11".parse().unwrap()).await.unwrap();
    generations.make_current(&generation).unwrap();
    folder
}

async fn make<P: Projection>(models: &Path, position: u64) {
    let generations = Generations::in_layout(models.join(P::Model::NAME), P::Model::LAYOUT);
    let generation = generations.create_next().unwrap();
    let mut projection = P::open(&generation.path).await.unwrap();
    projection.commit(at(position, Some(STORE))).await.unwrap();
    generations.make_current(&generation).unwrap();
}

fn at(position: u64, store: Option<&str>) -> Checkpoint {
    let hash = store.map(|_| Hash([position as u8; 32]));
    Checkpoint {
        position: Position(position),
        hash,
        store: store.map(str::to_owned),
        ..Checkpoint::default()
    }
}

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

/// Models, a snapshot of them, and the folder for a new node's models.
struct Taken {
    folder: TempDir,
    manifest: Manifest,
}

impl Taken {
    async fn new() -> Taken {
        let folder = models().await;
        let manifest = take(&folder.path().join("models"), &folder.path().join("snapshot"), now()).await;
        Taken { manifest: manifest.unwrap(), folder }
    }

    fn snapshot(&self) -> PathBuf {
        self.folder.path().join("snapshot")
    }

    fn new_models(&self) -> PathBuf {
        self.folder.path().join("new/models")
    }

    async fn install(&self) -> Result<(), SnapshotError> {
        let manifest = Manifest::read(&self.snapshot())?;
        let fetch = async |model: &ModelCopy, file: &FileCopy, to: &Path| {
            let path = self.snapshot().join(&model.name).join(&file.name);
            fs::copy(&path, to).map(|_| ()).map_err(super::at(&path))
        };
        install_files(&self.new_models(), &manifest, fetch).await
    }

    fn edit(&self, change: impl FnOnce(&mut Manifest)) {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        fs::write(self.snapshot().join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
    }

    /// Installs the edited snapshot, and returns why it is refused; nothing may be left on disk.
    async fn refused(&self) -> String {
        let error = self.install().await.unwrap_err().to_string();
        let left: Vec<_> = fs::read_dir(self.folder.path().join("new"))
            .map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect())
            .unwrap_or_default();
        assert_eq!(left, [""; 0], "{error}");
        error
    }
}

#[tokio::test]
async fn a_new_node_continues_from_the_position_of_each_model() {
    let taken = Taken::new().await;
    let models: Vec<(&str, u32, u64)> =
        taken.manifest.models.iter().map(|m| (m.name.as_str(), m.layout, m.position.0)).collect();
    assert_eq!(
        models,
        [
            ("catalog", read::catalog::LAYOUT, 11),
            ("search", read::search::LAYOUT, 12),
            ("neighbours", read::neighbours::LAYOUT, 13),
            ("archive", read::archive::LAYOUT, 14),
            ("keys", read::keys::LAYOUT, 15),
            ("counters", read::counters::LAYOUT, 0)
        ]
    );
    assert_eq!((taken.manifest.store.as_deref(), taken.manifest.position()), (Some(STORE), Position(15)));
    let hashes: Vec<Option<Hash>> = taken.manifest.models.iter().map(|model| model.hash).collect();
    let of = |position: u8| Some(Hash([position; 32]));
    assert_eq!(hashes, [of(11), of(12), of(13), of(14), of(15), None]);
    assert_eq!(Manifest::read(&taken.snapshot()).unwrap(), taken.manifest);
    taken.install().await.unwrap();
    for kind in ModelKind::ALL {
        let of = |models: &Path| kind.generations(models).current().unwrap().unwrap().path;
        let (old, new) = (of(&taken.folder.path().join("models")), of(&taken.new_models()));
        if kind.name() == "keys" {
            assert_eq!(KeysReader::digest(&old).await.unwrap(), KeysReader::digest(&new).await.unwrap());
            let mut worker = KeysWriter::open(&new).await.unwrap();
            worker.commit(at(16, Some(STORE))).await.unwrap();
        }
        if kind.name() == "search" {
            let (old, new) =
                (<SearchReader as Model>::digest(&old).await, <SearchReader as Model>::digest(&new).await);
            assert_eq!(old.unwrap(), new.unwrap());
        }
    }
    assert!(!taken.folder.path().join("new/models.incoming").exists());
}

#[tokio::test]
async fn a_snapshot_overwrites_nothing() {
    let taken = Taken::new().await;
    let models = taken.folder.path().join("models");
    let before = fs::read(taken.snapshot().join(MANIFEST)).unwrap();
    let error = take(&models, &taken.snapshot(), now()).await.unwrap_err().to_string();
    assert!(
        error.ends_with(
            "is not empty; name an empty folder or one that does not exist yet, nothing was changed"
        )
    );
    assert_eq!(fs::read(taken.snapshot().join(MANIFEST)).unwrap(), before);
    // A folder left by a killed one is removed, and an empty folder is filled.
    let (next, left) = (taken.folder.path().join("next"), taken.folder.path().join(".next.taking"));
    fs::create_dir(&next).unwrap();
    fs::create_dir(&left).unwrap();
    fs::write(left.join("half"), "half").unwrap();
    take(&models, &next, now()).await.unwrap();
    assert!(!left.exists() && !next.join("half").exists() && next.join(MANIFEST).exists());
}

#[tokio::test]
async fn a_node_without_models_gives_no_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("snapshot");
    let error = take(&folder.path().join("models"), &to, now()).await.unwrap_err().to_string();
    assert_eq!(error, "there is no catalog model yet; wait until the node is ready, then do it again");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_changed_byte_of_any_file_is_found() {
    let taken = Taken::new().await;
    for model in &taken.manifest.models {
        for file in &model.files {
            let path = taken.snapshot().join(&model.name).join(&file.name);
            let whole = fs::read(&path).unwrap();
            let mut changed = whole.clone();
            let last = changed.len() - 1;
            changed[last] ^= 1;
            fs::write(&path, &changed).unwrap();
            let error = taken.refused().await;
            assert!(
                error.starts_with(&format!("it is damaged: {} is not what its manifest", file.name)),
                "{error}"
            );
            fs::write(&path, &whole[..last]).unwrap();
            assert!(taken.refused().await.contains(&format!("({last} of {} bytes", file.size)));
            fs::remove_file(&path).unwrap();
            taken.refused().await;
            fs::write(&path, &whole).unwrap();
        }
    }
    taken.install().await.unwrap();
}

#[tokio::test]
async fn a_snapshot_of_another_format_or_layout_is_refused() {
    let taken = Taken::new().await;
    taken.edit(|manifest| manifest.format = 2);
    assert_eq!(taken.refused().await, "it does not fit: it is written in format 2 and this version reads 1");
    taken.edit(|manifest| manifest.models[1].layout = 9);
    assert_eq!(
        taken.refused().await,
        format!(
            "it does not fit: its model search is in layout 9 and this version reads {}",
            read::search::LAYOUT
        )
    );
    taken.edit(|manifest| manifest.models.truncate(5));
    assert!(taken.refused().await.starts_with("it does not fit: it contains the models [\"catalog\""));
    for name in ["../keys.db", "..", "", "a\\b", "/etc/passwd"] {
        taken.edit(|manifest| manifest.models[4].files[0].name = name.to_owned());
        let error = taken.refused().await;
        assert_eq!(error, format!("it is damaged: “{name}” is not a file of the model keys"));
    }
    taken.edit(|manifest| manifest.models[1].files[0].name = "layout".into());
    assert_eq!(taken.refused().await, "it is damaged: the model search has two files layout");
    fs::write(taken.snapshot().join(MANIFEST), &serde_json::to_vec(&taken.manifest).unwrap()[..90]).unwrap();
    assert!(taken.refused().await.starts_with("it is damaged: its manifest.json is unreadable"));
}

/// Changes the database of a model in a snapshot, and its manifest with it, as somebody may who sends one.
async fn change(taken: &Taken, model: usize, statements: &'static str) {
    let ModelCopy { name, files, .. } = &taken.manifest.models[model];
    let path = taken.snapshot().join(name).join(&files[0].name);
    let mut hand = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::raw_sql(statements).execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
    let (size, sha256) = digest(&path).unwrap();
    taken.edit(|manifest| {
        let file = &mut manifest.models[model].files[0];
        (file.size, file.sha256) = (size, sha256);
    });
}

#[tokio::test]
async fn a_database_with_anything_but_the_tables_of_its_model_is_refused() {
    for (model, table) in
        [(0, "projects"), (2, "checkpoint"), (3, "projects"), (4, "keys"), (5, "checkpoint")]
    {
        let taken = Taken::new().await;
        let statements =
            format!("CREATE TRIGGER quiet AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END");
        change(&taken, model, statements.leak()).await;
        assert_eq!(
            taken.refused().await,
            format!(
                "it is damaged: its model {} is not what Loggia writes: its schema is not the one that it is created with: the \
                 trigger “quiet” was added",
                taken.manifest.models[model].name
            )
        );
    }
    let taken = Taken::new().await;
    change(&taken, 4, "ALTER TABLE keys RENAME TO stored; CREATE VIEW keys AS SELECT * FROM stored").await;
    let refused = taken.refused().await;
    assert!(refused.ends_with("the index “sqlite_autoindex_stored_1” was added"), "{refused}");
}

#[tokio::test]
async fn a_generation_with_a_trigger_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    drop(KeysWriter::open(folder.path()).await.unwrap());
    let file = SqliteConnectOptions::new().filename(folder.path().join(KeysReader::FILE));
    let mut hand = file.connect().await.unwrap();
    let trigger = "CREATE TRIGGER quiet AFTER UPDATE ON keys BEGIN DELETE FROM keys; END";
    sqlx::raw_sql(trigger).execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
    let error = KeysWriter::open(folder.path()).await.err().unwrap();
    assert!(error.is_corrupt());
    assert_eq!(
        error.to_string(),
        "the keys model contains unreadable data (its schema is not the one that it is created with: the trigger “quiet” was \
         added); run `loggia rebuild keys`"
    );
}

#[tokio::test]
async fn a_journal_beside_a_database_is_no_part_of_a_snapshot() {
    let taken = Taken::new().await;
    for name in ["keys.db-wal", "keys.db-journal", "other.db"] {
        taken.edit(|manifest| {
            let file = FileCopy { name: name.to_owned(), ..manifest.models[4].files[0].clone() };
            manifest.models[4].files.push(file);
        });
        assert_eq!(taken.refused().await, format!("it is damaged: “{name}” is not a file of the model keys"));
    }
}

#[tokio::test]
async fn a_manifest_is_a_file_of_limited_size_that_names_files_of_limited_size() {
    let taken = Taken::new().await;
    let path = taken.snapshot().join(MANIFEST);
    taken.edit(|manifest| {
        for model in &mut manifest.models {
            model.files.iter_mut().for_each(|file| file.size = u64::MAX);
        }
    });
    assert_eq!(
        taken.refused().await,
        format!(
            "it is damaged: .managed.json of the model search has {} bytes, and at most 67108864 are read",
            u64::MAX
        )
    );
    taken.edit(|manifest| {
        for model in &mut manifest.models {
            model
                .files
                .iter_mut()
                .filter(|file| !file.name.ends_with(".json"))
                .for_each(|file| file.size = u64::MAX);
        }
    });
    assert_eq!(Manifest::read(&taken.snapshot()).unwrap().size(), u64::MAX);
    // Gigabytes that take no room on the disk.
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let reason = |reason: &str| {
        format!(
            "{} cannot be read or written: {reason}; check its folder and the room on the disk",
            path.display()
        )
    };
    assert_eq!(
        taken.refused().await,
        reason("it has more than 4194304 bytes, the most that a file of its kind has")
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(taken.refused().await, reason("it is not a regular file"));
}
