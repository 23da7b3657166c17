//! Request bodies in memory, with a limit for all of them together.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The memory for all request bodies.
#[derive(Debug)]
pub(super) struct BodyMemory(Arc<Semaphore>);

/// A body in memory. It counts against the memory of all bodies until it is dropped.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is too large.
    TooLarge,
    /// The memory for bodies is used up.
    OutOfMemory,
    /// The client closed the connection, or the framing is invalid.
    Broken,
}

impl BodyMemory {
    /// Returns memory for this number of bytes.
    pub(super) fn new(bytes: usize) -> BodyMemory {
        BodyMemory(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// Reads a body of at most `limit` bytes to its end; fails as soon as it is known to be larger.
    pub(super) async fn read(&self, mut body: Incoming, limit: usize) -> Result<ReceivedBody, BodyError> {
        let (mut bytes, mut held) = (BytesMut::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
            if bytes.len() + data.len() > limit {
                return Err(BodyError::TooLarge);
            }
            self.hold(&mut held, data.len())?;
            if bytes.is_empty() && body.is_end_stream() {
                return Ok(ReceivedBody { bytes: data, _held: held });
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ReceivedBody { bytes: bytes.freeze(), _held: held })
    }

    fn hold(&self, held: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), BodyError> {
        let bytes = u32::try_from(bytes).map_err(|_| BodyError::OutOfMemory)?;
        let more = self.0.clone().try_acquire_many_owned(bytes).map_err(|_| BodyError::OutOfMemory)?;
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
        let bodies = BodyMemory::new(100);
        let (mut one, mut other) = (None, None);
        assert_eq!(bodies.hold(&mut one, 40), Ok(()));
        assert_eq!(bodies.hold(&mut one, 20), Ok(()));
        assert_eq!(bodies.hold(&mut other, 41), Err(BodyError::OutOfMemory));
        assert_eq!(bodies.hold(&mut other, 40), Ok(()));
        drop(one);
        assert_eq!(bodies.hold(&mut other, 60), Ok(()));
        drop(other);
        assert_eq!(bodies.0.available_permits(), 100);
    }
}
