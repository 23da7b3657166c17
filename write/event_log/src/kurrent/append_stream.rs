//! The stream over which appends are sent. The client writes the head of a single append before its events, which then wait some
//! 40 ms for the acknowledgement of the head; on a stream that is already open each append is one message.

use std::time::Duration;

use eventstore::{BatchAppendClient, BatchAppendOptions, Client, Error};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::address::Address;

/// The timeout of one call, and of the next event while reading.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct AppendStream {
    /// `None` until it is opened, while it is in use, and after an append failed, which ends the stream.
    open: Option<BatchAppendClient>,
    /// Whether the server supports only calls of one append each.
    is_unsupported: bool,
}

impl AppendStream {
    /// Takes the open stream, or opens one; `None` if the server has none. After a successful append it is to be returned with
    /// [`AppendStream::put_back`].
    pub(super) async fn take(
        &mut self,
        client: &Client,
        address: &Address,
    ) -> Result<Result<Option<BatchAppendClient>, Error>, Elapsed> {
        if self.is_unsupported {
            return Ok(Ok(None));
        }
        if let Some(open) = self.open.take() {
            return Ok(Ok(Some(open)));
        }
        // Without a deadline, which would apply to the whole stream.
        let mut options = BatchAppendOptions::default().requires_leader(true);
        if let Some(credentials) = &address.credentials {
            options = options.authenticated(credentials.clone());
        }
        Ok(match timeout(CALL_TIMEOUT, client.batch_append(&options)).await? {
            Err(Error::UnsupportedFeature) => {
                self.is_unsupported = true;
                Ok(None)
            }
            opened => opened.map(Some),
        })
    }

    pub(super) fn put_back(&mut self, open: BatchAppendClient) {
        self.open = Some(open);
    }
}
