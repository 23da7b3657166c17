//! Request bodies in memory, with a limit of all of them together.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The memory for bodies.
#[derive(Debug)]
pub(super) struct Bodies(Arc<Semaphore>);

/// A body in memory. It counts against the memory of all bodies until it is dropped.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is too large.
    TooLarge,
    /// The memory for bodies is used up.
    NoRoom,
    /// The client closed the connection, or the framing is invalid.
    Broken,
}

impl Bodies {
    /// Returns memory for this number of bytes.
    pub(super) fn new(bytes: usize) -> Bodies {
        Bodies(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// Reads a body of at most `most` bytes to its end.
    ///
    /// # Errors
    ///
    /// As soon as the body is known to be too large, or cannot be read.
    pub(super) async fn read(&self, mut body: Incoming, most: usize) -> Result<ReceivedBody, Unread> {
        let (mut bytes, mut held) = (BytesMut::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
            if bytes.len() + data.len() > most {
                return Err(Unread::TooLarge);
            }
            self.hold(&mut held, data.len())?;
            if bytes.is_empty() && body.is_end_stream() {
                return Ok(ReceivedBody { bytes: data, _held: held });
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ReceivedBody { bytes: bytes.freeze(), _held: held })
    }

    fn hold(&self, held: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), Unread> {
        let bytes = u32::try_from(bytes).map_err(|_| Unread::NoRoom)?;
        let more = self.0.clone().try_acquire_many_owned(bytes).map_err(|_| Unread::NoRoom)?;
        match held {
            Some(held) => held.merge(more),
            None => *held = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_share_memory_and_release_it() {
        let bodies = Bodies::new(100);
        let (mut one, mut other) = (None, None);
        assert_eq!(bodies.hold(&mut one, 40), Ok(()));
        assert_eq!(bodies.hold(&mut one, 20), Ok(()));
        assert_eq!(bodies.hold(&mut other, 41), Err(Unread::NoRoom));
        assert_eq!(bodies.hold(&mut other, 40), Ok(()));
        drop(one);
        assert_eq!(bodies.hold(&mut other, 60), Ok(()));
        drop(other);
        assert_eq!(bodies.0.available_permits(), 100);
    }
}
