//! The keeper of what is not in the log: the vault that the stream `…-vault` names last.

use eventstore::{StreamPosition, StreamState};
use tokio::time::Instant;
use uuid::Uuid;

use super::address::Address;
use super::backend::Kurrent;
use super::encoding;
use super::error::CallError;
use crate::StoreError;
use crate::sqlite::backend::Backend;

/// Reads which vault a log names as its keeper, and changes it.
pub struct KeeperWatch(Kurrent);

impl KeeperWatch {
    /// Connects to a log.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be reached.
    pub async fn connect(address: &Address) -> Result<KeeperWatch, StoreError> {
        Ok(KeeperWatch(Kurrent::connect(address).await?))
    }

    /// Returns the vault that is named as the keeper; `None` if none is named yet.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read.
    pub async fn named(&mut self) -> Result<Option<Uuid>, StoreError> {
        Ok(self.0.named().await?.map(|(_, vault)| vault))
    }

    /// Names a vault as the keeper if none is named yet, and returns the one that is named then.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read or written.
    pub async fn name_first(&mut self, vault: Uuid) -> Result<Uuid, StoreError> {
        if let Some((_, named)) = self.0.named().await? {
            return Ok(named);
        }
        let stream = self.0.address().vault();
        self.0.append_first(&stream, || Ok(encoding::encode_vault(vault)?.id(vault))).await?;
        let named = self.0.named().await?;
        named
            .map(|(_, named)| named)
            .ok_or_else(|| StoreError::corrupt(format!("the stream {stream} is empty")))
    }

    /// Names this vault as the keeper from now on, whichever was named before.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read or written.
    pub async fn move_to(&mut self, vault: Uuid) -> Result<(), StoreError> {
        let (stream, until) = (self.0.address().vault(), Instant::now() + Kurrent::RETRY_FOR);
        loop {
            let expected = match self.0.named().await? {
                Some((_, named)) if named == vault => return Ok(()),
                Some((revision, _)) => StreamState::StreamRevision(revision),
                None => StreamState::NoStream,
            };
            match self.0.append_to(&stream, expected, vec![encoding::encode_vault(vault)?]).await {
                Ok(()) => return Ok(()),
                // Whether it was appended, or another one before it, shows in what is named now.
                Err(
                    CallError::WrongRevision(_) | CallError::WrongUnknownRevision | CallError::NoAnswer(_),
                ) if Instant::now() < until => self.0.back_off().await,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Kurrent {
    /// Returns the vault that is named last, with the revision that names it.
    async fn named(&mut self) -> Result<Option<(u64, Uuid)>, StoreError> {
        let stream = self.address().vault();
        let event = self.event_at(&stream, StreamPosition::End).await?;
        event.map(|event| Ok((event.revision, encoding::decode_vault(&event)?))).transpose()
    }
}
