//! The stream over which appends go. The client writes the head of a single append before its events, which then wait
//! some 40 ms for the acknowledgement of the head; on a stream that is open already each append is one message.

use std::time::Duration;

use eventstore::{BatchAppendClient, BatchAppendOptions, Client, Error};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::address::Address;

/// How long one call, or the next event of a reading, may take.
pub(super) const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How appends are sent.
#[derive(Default)]
pub(super) struct Appends {
    /// Absent until it is opened, while it is in use, and after any append that was not taken, with which it ends.
    open: Option<BatchAppendClient>,
    /// The server takes each append by a call of its own only.
    single: bool,
}

impl Appends {
    /// Takes the open stream, or opens one; nothing where the server has none. It belongs to the client that it is opened
    /// with, and is to be given back by [`Appends::keep`] once an append was taken.
    pub(super) async fn open(
        &mut self,
        client: &Client,
        address: &Address,
    ) -> Result<Result<Option<BatchAppendClient>, Error>, Elapsed> {
        if self.single {
            return Ok(Ok(None));
        }
        if let Some(open) = self.open.take() {
            return Ok(Ok(Some(open)));
        }
        // No deadline: it would be the stream's.
        let mut options = BatchAppendOptions::default().requires_leader(true);
        if let Some(credentials) = &address.credentials {
            options = options.authenticated(credentials.clone());
        }
        Ok(match timeout(ANSWERS_WITHIN, client.batch_append(&options)).await? {
            Err(Error::UnsupportedFeature) => {
                self.single = true;
                Ok(None)
            }
            opened => opened.map(Some),
        })
    }

    /// Keeps the stream open for the next append.
    pub(super) fn keep(&mut self, open: BatchAppendClient) {
        self.open = Some(open);
    }
}
