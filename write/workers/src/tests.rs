//! The write side on which the tests of the workers run.

use std::path::Path;
use std::sync::Arc;

use event_log::EventLog;
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions, LineResult};
use schemas::picture::PictureId;
use schemas::record::PictureSource;
use tempfile::TempDir;
use write::service::{CommandDispatcher, PictureService, ProjectService};

/// Projects and pictures in a temporary folder.
pub(crate) struct WriteSide {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<EventLog>,
    pub(crate) pictures: Arc<PictureService>,
    pub(crate) clock: Clock,
    commands: CommandDispatcher,
}

impl WriteSide {
    pub(crate) async fn open() -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let pictures = pictures(store.clone(), &clock, &folder.path().join("media"));
        let commands = CommandDispatcher::new(pictures.projects().clone()).register(pictures.clone());
        WriteSide { folder, store, pictures, clock, commands }
    }

    async fn execute(&self, actor: &str, command: Command) -> CommandReply {
        let message = CommandMessage::new(self.clock.command_id(), actor.parse().unwrap(), command);
        self.commands.execute(message).await
    }

    /// Sends a command that succeeds.
    pub(crate) async fn send(&self, command: Command) {
        let reply = self.execute("Ada", command).await;
        assert!(matches!(reply, CommandReply::Project(_) | CommandReply::PictureErased(_)), "{reply:?}");
    }

    /// Imports a record; returns the result of its line.
    pub(crate) async fn import_as(&self, actor: &str, text: &str, dry_run: bool) -> LineResult {
        let lines = vec![ImportLine::new(1, text.into())];
        let options = ImportOptions { dry_run, ..ImportOptions::default() };
        match self.execute(actor, Command::Import { lines, options }).await {
            CommandReply::Imported { mut lines, .. } => lines.pop().unwrap().result,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn attach(&self, slug: &str, source: &str, kept: PictureId, as_named: bool) {
        let picture = PictureSource::of(source);
        let slug = slug.parse().unwrap();
        self.send(Command::Attach { slug, picture, kept: Some(kept), as_named }).await;
    }
}

pub(crate) fn pictures(store: Arc<EventLog>, clock: &Clock, media: &Path) -> Arc<PictureService> {
    let media = Arc::new(MediaStore::open(media).unwrap());
    let projects = Arc::new(ProjectService::new(store, clock.clone()));
    let fetcher = Fetcher::new(FetchRules::default(), "tests", || None);
    Arc::new(PictureService::new(projects, media, fetcher))
}
