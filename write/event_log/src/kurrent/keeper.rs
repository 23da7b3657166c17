//! Who keeps what is not in the log: the vault that its stream `…-vault` names last.

use eventstore::{StreamPosition, StreamState};
use tokio::time::Instant;
use uuid::Uuid;

use super::address::Address;
use super::backend::Kurrent;
use super::fault::Fault;
use super::stored;
use crate::StoreError;
use crate::sqlite::backend::Backend;

/// Asks a log, again and again, which vault is named as its keeper.
pub struct KeeperWatch(Kurrent);

impl KeeperWatch {
    /// Makes the first contact.
    ///
    /// # Errors
    ///
    /// Where the log cannot be reached.
    pub async fn reach(address: &Address) -> Result<KeeperWatch, StoreError> {
        Ok(KeeperWatch(Kurrent::reach(address).await?))
    }

    /// Returns the vault that is named as the keeper; nothing where none is named yet.
    ///
    /// # Errors
    ///
    /// Where the log cannot be asked.
    pub async fn named(&mut self) -> Result<Option<Uuid>, StoreError> {
        Ok(self.0.named().await?.map(|(_, vault)| vault))
    }

    /// Names a vault as the keeper where none is named yet; returns the one that is then.
    ///
    /// # Errors
    ///
    /// Where the log cannot be asked or written to.
    pub async fn name_first(&mut self, vault: Uuid) -> Result<Uuid, StoreError> {
        if let Some((_, named)) = self.0.named().await? {
            return Ok(named);
        }
        let stream = self.0.address().vault();
        self.0.first_in(&stream, || Ok(stored::naming(vault)?.id(vault))).await?;
        let named = self.0.named().await?;
        named
            .map(|(_, named)| named)
            .ok_or_else(|| StoreError::corrupt(format!("the stream {stream} is empty")))
    }

    /// Names this vault as the keeper from now on, whichever is named before.
    ///
    /// # Errors
    ///
    /// Where the log cannot be asked or written to.
    pub async fn move_to(&mut self, vault: Uuid) -> Result<(), StoreError> {
        let (stream, until) = (self.0.address().vault(), Instant::now() + Kurrent::PATIENCE);
        loop {
            let expected = match self.0.named().await? {
                Some((_, named)) if named == vault => return Ok(()),
                Some((revision, _)) => StreamState::StreamRevision(revision),
                None => StreamState::NoStream,
            };
            match self.0.append_to(&stream, expected, vec![stored::naming(vault)?]).await {
                Ok(()) => return Ok(()),
                // Whether it was taken, or another was faster, shows in what is named now.
                Err(Fault::Revision(_) | Fault::Moved | Fault::Lost(_)) if Instant::now() < until => {
                    self.0.back_off().await
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }
}

impl Kurrent {
    /// The vault that is named last, and the revision that names it.
    async fn named(&mut self) -> Result<Option<(u64, Uuid)>, StoreError> {
        let stream = self.address().vault();
        let event = self.first_of(&stream, StreamPosition::End).await?;
        event.map(|event| Ok((event.revision, stored::named(&event)?))).transpose()
    }
}
