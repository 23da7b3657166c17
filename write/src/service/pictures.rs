//! Commands on pictures: attaching one, whose bytes are stored already or fetched now, and erasing one.

mod erasures;

use std::collections::BTreeSet;
use std::sync::Arc;

use event_log::StoreError;
use futures::future::BoxFuture;
use media::{MediaError, MediaStore, PutError};
use pictures::fetch::{FetchError, Fetcher};
use schemas::command::{Command, CommandMessage, CommandReply, ProjectOutcome};
use schemas::ids::ProjectId;
use schemas::picture::{Picture, PictureId};
use schemas::record::PictureSource;
use schemas::slug::Slug;
use tokio::sync::{RwLock, RwLockReadGuard};

use super::error::CommandError;
use super::projects::ProjectService;
use super::{CommandService, CommandSpec, Lane};
use crate::project::{self, Project, Rejection};

pub(super) const LANES: &[Lane] = &[Lane {
    slots: 16,
    // An erasure changes every project that shows the picture.
    commands: &[CommandSpec::optimistic("attach"), CommandSpec::caught_up("erase_picture")],
}];

/// Attaches pictures to projects and erases pictures.
pub struct PictureService {
    projects: Arc<ProjectService>,
    store: Arc<MediaStore>,
    fetcher: Fetcher,
    /// Held for writing while a picture is erased, and for reading while a stored one is attached.
    erasing: RwLock<()>,
}

impl CommandService for PictureService {
    fn lanes(&self) -> &'static [Lane] {
        LANES
    }

    fn execute(&self, message: CommandMessage) -> BoxFuture<'_, Result<CommandReply, CommandError>> {
        Box::pin(async move {
            match &message.command {
                Command::Attach { slug, picture, kept, as_named } => {
                    self.attach(&message, slug, picture, *kept, *as_named).await.map(CommandReply::Project)
                }
                Command::ErasePicture { picture } => {
                    self.erase(&message, *picture).await.map(CommandReply::PictureErased)
                }
                other => Err(CommandError::misrouted(other)),
            }
        })
    }
}

impl PictureService {
    /// Returns a service that attaches pictures to these projects, stores them here, and fetches them with this fetcher.
    pub fn new(projects: Arc<ProjectService>, store: Arc<MediaStore>, fetcher: Fetcher) -> PictureService {
        PictureService { projects, store, fetcher, erasing: RwLock::default() }
    }

    /// Returns the projects that it attaches to.
    pub fn projects(&self) -> &Arc<ProjectService> {
        &self.projects
    }

    /// Returns the store of the pictures.
    pub fn store(&self) -> &Arc<MediaStore> {
        &self.store
    }

    /// Waits until refused pictures are to be fetched again; returns the projects that name them, each once. Nothing is lost
    /// if the wait is cancelled.
    pub async fn retry_requests(&self) -> BTreeSet<ProjectId> {
        self.projects.picture_retries().take().await
    }

    /// Fetches the picture of a URL and stores it.
    ///
    /// # Errors
    ///
    /// Fails if the URL has no acceptable picture, or cannot be fetched or stored now.
    pub async fn fetch(&self, url: &str) -> Result<Picture, FetchError> {
        self.keep(self.fetcher.fetch(url).await?).await
    }

    /// Fetches and stores like [`PictureService::fetch`], for a worker, which waits for a slow host as long as bytes arrive.
    ///
    /// # Errors
    ///
    /// Fails if the URL has no acceptable picture, or cannot be fetched or stored now.
    pub async fn fetch_in_background(&self, url: &str) -> Result<Picture, FetchError> {
        self.keep(self.fetcher.fetch_in_background(url).await?).await
    }

    async fn keep(&self, bytes: Vec<u8>) -> Result<Picture, FetchError> {
        self.store_bytes(bytes).await.map_err(|error| match error {
            PutError::Refused(fault) => FetchError::Permanent(fault.to_string()),
            PutError::Store(error) => FetchError::Transient(error.to_string()),
        })
    }

    /// Stores the bytes of a picture.
    ///
    /// # Errors
    ///
    /// Fails if they are no acceptable picture, or cannot be stored now.
    pub async fn store_bytes(&self, bytes: Vec<u8>) -> Result<Picture, PutError> {
        self.blocking(move |store| store.put(&bytes)).await
    }

    /// Prevents erasures until the guard is dropped. Returns with it why this picture cannot be attached, if it was erased after
    /// it was stored.
    ///
    /// # Errors
    ///
    /// Fails if the media store cannot be read.
    pub async fn lock_against_erasure(
        &self,
        id: PictureId,
    ) -> Result<(RwLockReadGuard<'_, ()>, Option<String>), StoreError> {
        let guard = self.erasing.read().await;
        let refused = self.on_store(move |store| store.refuse_erased(id)).await?;
        Ok((guard, refused.map(|fault| fault.to_string())))
    }

    /// Runs `work` on a thread for blocking work.
    ///
    /// # Panics
    ///
    /// Panics if `work` does.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&MediaStore) -> T + Send + 'static,
    ) -> T {
        let store = self.store.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(outcome) => outcome,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    /// Runs `work` like [`PictureService::blocking`]; what the disk cannot do now may be done later.
    async fn on_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&MediaStore) -> Result<T, MediaError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.blocking(work).await.map_err(|error| StoreError::unavailable(error.to_string()))
    }

    async fn attach(
        &self,
        message: &CommandMessage,
        slug: &Slug,
        named: &PictureSource,
        kept: Option<PictureId>,
        as_named: bool,
    ) -> Result<ProjectOutcome, CommandError> {
        // Checked first, so that nothing is fetched for a command that is rejected anyway.
        let history = self.projects.history_at(slug).await?;
        if history.after(message.id).is_none() {
            history.project().check_listed(slug)?;
        }
        let picture = match kept {
            Some(id) => {
                let (_, refused) = self.lock_against_erasure(id).await?;
                let absent = || format!("{id} is not kept here; send its bytes first");
                let found = self.on_store(move |store| store.get(id)).await?;
                found.ok_or_else(|| Rejection::invalid("picture", refused.unwrap_or_else(absent)))?
            }
            None => self.fetch(&named.source).await.map_err(|error| match error {
                FetchError::Permanent(reason) => Rejection::invalid(&named.source, reason).into(),
                FetchError::Transient(reason) | FetchError::Timeout(reason) => {
                    CommandError::PictureUnreachable(reason)
                }
            })?,
        };
        let (_guard, refused) = self.lock_against_erasure(picture.id).await?;
        if let Some(reason) = refused {
            return Err(Rejection::invalid(&named.source, reason).into());
        }
        let decide = |project: &Project| {
            if as_named {
                project::attach_to_source(project, slug, &named.source, picture.clone())
            } else {
                project::attach(project, slug, named, picture.clone())
            }
        };
        self.projects.change(message, slug, decide).await
    }
}
