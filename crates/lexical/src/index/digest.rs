//! A hash over the whole content of an index, by which two nodes compare theirs.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::snapshot::Snapshot;
use crate::SearchError;

/// A SHA-256 over all live documents in the order of their project ids: of each the id, slug, searched text (with the category), state,
/// summary and tie-breaker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Hashes every live document, then the hashes in the order of the project ids.
pub(crate) fn digest(snapshot: &Snapshot) -> Result<Digest, SearchError> {
    let mut documents = Vec::with_capacity(snapshot.documents as usize);
    for segment in &snapshot.segments {
        for document in segment.live_documents() {
            let stored = segment.stored_document(document)?;
            let mut hash = Sha256::new();
            let parts: [&[u8]; 5] = [
                stored.project.as_bytes(),
                stored.slug.as_bytes(),
                stored.text.as_bytes(),
                &stored.state,
                segment.rows.summary(document),
            ];
            for part in parts {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
            hash.update(segment.rows.tie_breaker(document).to_be_bytes());
            documents.push((stored.project, <[u8; 32]>::from(hash.finalize())));
        }
    }
    documents.sort_unstable();
    let mut all = Sha256::new();
    for (_, document) in documents {
        all.update(document);
    }
    Ok(Digest(all.finalize().into()))
}
