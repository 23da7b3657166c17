//! What a batch of appends comes to, decided in memory: which are taken, and where each event goes. Pure.

use std::collections::HashMap;

use schemas::chain::Link;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, StreamId, StreamVersion};
use schemas::versioned;
use serde_json::value::RawValue;

use super::backend::Entry;
use crate::{Append, AppendError, Appended, Claim, Expected, Head, MAX_EVENT_BYTES, StoreError};

/// An append in the form in which it is written.
pub(super) struct Prepared {
    pub(super) append: Append,
    pub(super) payloads: Vec<Payload>,
}

/// What is kept of an event beside its texts, at most: numbers, ids, the time, the hash, and what names them.
const EVENT_BYTES: usize = 512;

/// The same of a claim.
const CLAIM_BYTES: usize = 32;

/// An event's payload as it is stored and hashed.
pub(super) struct Payload {
    pub(super) id: EventId,
    pub(super) kind: &'static str,
    pub(super) data: Box<RawValue>,
}

impl Prepared {
    /// Encodes the events, or says what is wrong with the append itself, which may come to `limit` bytes.
    pub(super) fn new(mut append: Append, limit: Option<usize>) -> Result<Prepared, AppendError> {
        let invalid = |reason: String| AppendError::Invalid { reason };
        if append.events.is_empty() {
            return Err(invalid("it has no events".into()));
        }
        if i64::try_from(append.time.as_nanosecond()).is_err() {
            return Err(invalid(format!("its time {} cannot be kept", append.time)));
        }
        let mut payloads = Vec::with_capacity(append.events.len());
        for new in append.events.drain(..) {
            let data = versioned::encode(&new.event).map_err(|error| invalid(error.to_string()))?;
            if data.get().len() > MAX_EVENT_BYTES {
                return Err(invalid(format!(
                    "an event has {} bytes; at most {MAX_EVENT_BYTES} are allowed, so shorten the record's texts",
                    data.get().len()
                )));
            }
            payloads.push(Payload { id: new.id, kind: versioned::kind(&new.event), data });
        }
        let prepared = Prepared { append, payloads };
        if let Some(limit) = limit
            && prepared.bytes() > limit
        {
            return Err(invalid(format!(
                "its events and names come to {} bytes; this store takes {limit} at once, so shorten the record",
                prepared.bytes()
            )));
        }
        Ok(prepared)
    }

    /// What the append takes at most: its payloads, and with each what else is kept of an event.
    pub(super) fn bytes(&self) -> usize {
        let Append { stream, actor, claims, .. } = &self.append;
        let text = |text: &str| serde_json::to_string(text).map_or(usize::MAX / 4, |json| json.len());
        let each = EVENT_BYTES + stream.as_str().len() + text(actor.as_str());
        let names: usize =
            claims.iter().map(|claim| CLAIM_BYTES + text(&claim.name) + text(claim.namespace.as_str())).sum();
        let payload = |payload: &Payload| payload.data.get().len() + 2 * payload.kind.len() + each;
        self.payloads.iter().map(payload).sum::<usize>() + names
    }

    /// The append's events in their places; what it claims stands with the first.
    pub(super) fn entries<'a>(&'a self, places: &'a [Place]) -> impl Iterator<Item = Entry<'a>> {
        let mut claims: Vec<_> =
            self.append.claims.iter().map(|claim| (claim.namespace.as_str(), claim.name.as_str())).collect();
        places.iter().zip(&self.payloads).map(move |(place, payload)| Entry {
            link: self.link(payload, place.position, place.version),
            hash: place.hash,
            traceparent: self.append.traceparent,
            claims: std::mem::take(&mut claims),
        })
    }

    fn link<'a>(&'a self, payload: &'a Payload, position: Position, version: StreamVersion) -> Link<'a> {
        Link {
            position,
            id: payload.id,
            stream: &self.append.stream,
            version,
            kind: payload.kind,
            time: self.append.time,
            actor: &self.append.actor,
            causation: self.append.command,
            correlation: self.append.correlation,
            data: payload.data.get(),
        }
    }
}

/// What is known of the log that matters to a batch, and grows with each append that is admitted.
pub(super) struct Known {
    pub(super) head: Head,
    /// Versions of those of the batch's streams that are there.
    pub(super) versions: HashMap<StreamId, StreamVersion>,
    /// Who holds the names that the batch claims.
    pub(super) holders: HashMap<Claim, StreamId>,
    /// What the batch's commands did before.
    pub(super) done: HashMap<(CommandId, StreamId), Appended>,
}

/// Where one event of an admitted append goes.
pub(super) struct Place {
    pub(super) position: Position,
    pub(super) version: StreamVersion,
    pub(super) hash: Hash,
}

impl Known {
    /// Takes the append after all that were admitted before, or says why not and leaves no trace of it.
    pub(super) fn admit(&mut self, prepared: &Prepared) -> Result<(Appended, Vec<Place>), AppendError> {
        let append = &prepared.append;
        let command = (append.command, append.stream.clone());
        if let Some(done) = self.done.get(&command) {
            return Err(AppendError::Repeated(*done));
        }
        let actual = self.versions.get(&append.stream).copied().unwrap_or_default();
        let as_expected = match append.expected {
            Expected::NoStream => actual == StreamVersion::default(),
            Expected::Exactly(version) => actual == version,
            Expected::Any => true,
        };
        if !as_expected {
            return Err(AppendError::Conflict { actual });
        }
        for claim in &append.claims {
            if let Some(by) = self.holders.get(claim).filter(|by| **by != append.stream) {
                return Err(AppendError::Claimed { name: claim.name.clone(), by: by.clone() });
            }
        }
        let places = self.places(prepared, actual);
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return Err(StoreError::unavailable("an append without events came through").into());
        };
        let appended = Appended { first: first.position, last: last.position, version: last.version };
        self.head = Head { position: last.position, hash: last.hash };
        self.versions.insert(append.stream.clone(), appended.version);
        self.holders.extend(append.claims.iter().map(|claim| (claim.clone(), append.stream.clone())));
        self.done.insert(command, appended);
        Ok((appended, places))
    }

    fn places(&self, prepared: &Prepared, mut version: StreamVersion) -> Vec<Place> {
        let Head { mut position, mut hash } = self.head;
        let place = |payload: &Payload| {
            position = position.next();
            version = version.next();
            let link = prepared.link(payload, position, version);
            hash = link.hash_after(hash);
            Place { position, version, hash }
        };
        prepared.payloads.iter().map(place).collect()
    }
}
