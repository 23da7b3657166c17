//! Attaching a picture: its bytes are kept already, or fetched now.

mod erasing;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use event_log::StoreError;
use media::{MediaStore, PutError};
use pictures::fetch::{FetchError, Fetcher};
use schemas::command::{CommandMessage, Done};
use schemas::ids::ProjectId;
use schemas::picture::{Picture, PictureId};
use schemas::record::PictureSource;
use schemas::slug::Slug;
use tokio::sync::{Notify, RwLock, RwLockReadGuard};

use super::CommandService;
use super::refused::Refused;
use crate::project::{self, Project, Rejection};

/// What the service needs for pictures.
pub struct Pictures {
    store: Arc<MediaStore>,
    fetcher: Fetcher,
    /// The projects whose refused pictures are to be fetched again.
    again: Mutex<BTreeSet<ProjectId>>,
    again_asked: Notify,
    /// Held for writing while a picture is erased, and for reading while one is attached that is kept.
    erasing: RwLock<()>,
}

impl Pictures {
    /// Pictures that are kept in this store and come from where this fetcher may go.
    pub fn new(store: Arc<MediaStore>, fetcher: Fetcher) -> Pictures {
        let (again, again_asked, erasing) = (Mutex::default(), Notify::new(), RwLock::default());
        Pictures { store, fetcher, again, again_asked, erasing }
    }

    /// Asks for the refused pictures of a project to be fetched again.
    pub(super) fn ask_again(&self, project: ProjectId) {
        self.again.lock().unwrap_or_else(PoisonError::into_inner).insert(project);
        self.again_asked.notify_one();
    }

    /// Waits until refused pictures are asked for again; returns the projects that name them, each once. Nothing is lost
    /// where the wait is given up.
    pub async fn asked_again(&self) -> BTreeSet<ProjectId> {
        self.again_asked.notified().await;
        std::mem::take(&mut *self.again.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where they are kept.
    pub fn store(&self) -> &Arc<MediaStore> {
        &self.store
    }

    /// Fetches what stands at a URL and keeps it.
    pub async fn fetch(&self, url: &str) -> Result<Picture, FetchError> {
        self.keep(self.fetcher.fetch(url).await?).await
    }

    /// Does the same for a worker, which can wait for a slow host as long as bytes come.
    pub async fn fetch_patiently(&self, url: &str) -> Result<Picture, FetchError> {
        self.keep(self.fetcher.fetch_patiently(url).await?).await
    }

    async fn keep(&self, bytes: Vec<u8>) -> Result<Picture, FetchError> {
        self.take(bytes).await.map_err(|error| match error {
            PutError::Refused(fault) => FetchError::Refused(fault.to_string()),
            PutError::Store(error) => FetchError::Later(error.to_string()),
        })
    }

    /// Keeps the bytes of a picture.
    pub async fn take(&self, bytes: Vec<u8>) -> Result<Picture, PutError> {
        self.blocking(move |store| store.put(&bytes)).await
    }

    async fn kept(&self, id: PictureId) -> Result<Option<Picture>, StoreError> {
        self.on_store(move |store| store.get(id)).await
    }

    /// Keeps pictures from being erased until the guard is dropped. With it comes why the one at hand is not to be attached,
    /// where it was erased since it was kept.
    pub async fn not_erasing(
        &self,
        id: PictureId,
    ) -> Result<(RwLockReadGuard<'_, ()>, Option<String>), StoreError> {
        let guard = self.erasing.read().await;
        let refused = self.on_store(move |store| store.refuse_erased(id)).await?;
        Ok((guard, refused.map(|fault| fault.to_string())))
    }

    /// Works on the store where waiting for the disk and the processor disturbs nobody.
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
}

impl CommandService {
    /// The same service, which attaches pictures too.
    pub fn with_pictures(self, pictures: Pictures) -> CommandService {
        CommandService { pictures: Some(Arc::new(pictures)), ..self }
    }

    pub(super) async fn attach(
        &self,
        message: &CommandMessage,
        slug: &Slug,
        named: &PictureSource,
        kept: Option<PictureId>,
        as_named: bool,
    ) -> Result<Done, Refused> {
        let pictures = self.pictures.as_ref().ok_or(Refused::NoPictures)?;
        // Nobody waits for a fetch whose picture would belong to nothing.
        let past = self.past(slug).await?;
        if past.after(message.id).is_none() {
            past.project().may_be_changed(slug)?;
        }
        let picture = match kept {
            Some(id) => {
                let (_, refused) = pictures.not_erasing(id).await?;
                let absent = || format!("{id} is not kept here; send its bytes first");
                let found = pictures.kept(id).await?;
                found.ok_or_else(|| Rejection::fault("picture", refused.unwrap_or_else(absent)))?
            }
            None => pictures.fetch(&named.source).await.map_err(|error| match error {
                FetchError::Refused(reason) => Rejection::fault(&named.source, reason).into(),
                FetchError::Later(reason) | FetchError::Silent(reason) => Refused::Unreachable(reason),
            })?,
        };
        let (_guard, refused) = pictures.not_erasing(picture.id).await?;
        if let Some(reason) = refused {
            return Err(Rejection::fault(&named.source, reason).into());
        }
        let decide = |project: &Project, _: Option<&Project>| {
            if as_named {
                project::attach_named(project, slug, &named.source, picture.clone())
            } else {
                project::attach(project, slug, named, picture.clone())
            }
        };
        self.act(message, slug, None, decide).await
    }
}
