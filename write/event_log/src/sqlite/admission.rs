//! Decides in memory which appends of a batch are admitted, and the position, version and hash of each event. Pure.

use std::collections::HashMap;

use schemas::chain::Link;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, StreamId, StreamVersion};
use schemas::versioned;
use serde_json::value::RawValue;

use super::backend::Entry;
use crate::{Append, AppendError, Appended, Claim, Expected, Head, MAX_EVENT_BYTES, StoreError};

/// An append with its events encoded.
pub(super) struct PreparedAppend {
    pub(super) append: Append,
    pub(super) payloads: Vec<Payload>,
}

/// The maximum size of an event's numbers, ids, time and hash with their names, in bytes.
const EVENT_BYTES: usize = 512;

/// The maximum size of a claim beside its texts, in bytes.
const CLAIM_BYTES: usize = 32;

/// An event's payload as it is stored and hashed.
pub(super) struct Payload {
    pub(super) id: EventId,
    pub(super) kind: &'static str,
    pub(super) data: Box<RawValue>,
}

impl PreparedAppend {
    /// Encodes the events; refuses an append that is invalid or larger than `limit` bytes.
    pub(super) fn new(mut append: Append, limit: Option<usize>) -> Result<PreparedAppend, AppendError> {
        let invalid = |reason: String| AppendError::Invalid(reason);
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
        let prepared = PreparedAppend { append, payloads };
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

    /// Returns the maximum size of the append in bytes, with everything that is stored beside the payloads.
    pub(super) fn bytes(&self) -> usize {
        let Append { stream, actor, claims, .. } = &self.append;
        let text = |text: &str| serde_json::to_string(text).map_or(usize::MAX / 4, |json| json.len());
        let each = EVENT_BYTES + stream.as_str().len() + text(actor.as_str());
        let names: usize =
            claims.iter().map(|claim| CLAIM_BYTES + text(&claim.name) + text(claim.namespace.as_str())).sum();
        let payload = |payload: &Payload| payload.data.get().len() + 2 * payload.kind.len() + each;
        self.payloads.iter().map(payload).sum::<usize>() + names
    }

    /// Returns the events as they are written; the first has all claims of the append.
    pub(super) fn entries<'a>(&'a self, placements: &'a [Placement]) -> impl Iterator<Item = Entry<'a>> {
        let mut claims: Vec<_> =
            self.append.claims.iter().map(|claim| (claim.namespace.as_str(), claim.name.as_str())).collect();
        placements.iter().zip(&self.payloads).map(move |(placement, payload)| Entry {
            link: self.link(payload, placement.position, placement.version),
            hash: placement.hash,
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

/// The part of the log's state that a batch depends on, updated with each append that is admitted.
pub(super) struct BatchState {
    pub(super) head: Head,
    /// The versions of the batch's streams; a stream without events is absent.
    pub(super) versions: HashMap<StreamId, StreamVersion>,
    /// The streams that hold the names which the batch claims.
    pub(super) holders: HashMap<Claim, StreamId>,
    /// What the commands of the batch appended before.
    pub(super) executed: HashMap<(CommandId, StreamId), Appended>,
}

/// The position, version and hash of one event of an admitted append.
pub(super) struct Placement {
    pub(super) position: Position,
    pub(super) version: StreamVersion,
    pub(super) hash: Hash,
}

impl BatchState {
    /// Admits the append after those that were admitted before; a refused append changes nothing.
    pub(super) fn admit(
        &mut self,
        prepared: &PreparedAppend,
    ) -> Result<(Appended, Vec<Placement>), AppendError> {
        let append = &prepared.append;
        let command = (append.command, append.stream.clone());
        if let Some(appended) = self.executed.get(&command) {
            return Err(AppendError::Repeated(*appended));
        }
        let actual = self.versions.get(&append.stream).copied().unwrap_or_default();
        let as_expected = match append.expected {
            Expected::NoStream => actual == StreamVersion::default(),
            Expected::Exactly(version) => actual == version,
            Expected::Any => true,
        };
        if !as_expected {
            return Err(AppendError::Conflict(actual));
        }
        for claim in &append.claims {
            if let Some(by) = self.holders.get(claim).filter(|by| **by != append.stream) {
                return Err(AppendError::Claimed { name: claim.name.clone(), by: by.clone() });
            }
        }
        let placements = self.placements(prepared, actual);
        let (Some(first), Some(last)) = (placements.first(), placements.last()) else {
            return Err(StoreError::unavailable("an append without events came through").into());
        };
        let appended = Appended { first: first.position, last: last.position, version: last.version };
        self.head = Head { position: last.position, hash: last.hash };
        self.versions.insert(append.stream.clone(), appended.version);
        self.holders.extend(append.claims.iter().map(|claim| (claim.clone(), append.stream.clone())));
        self.executed.insert(command, appended);
        Ok((appended, placements))
    }

    fn placements(&self, prepared: &PreparedAppend, mut version: StreamVersion) -> Vec<Placement> {
        let Head { mut position, mut hash } = self.head;
        let placement = |payload: &Payload| {
            position = position.next();
            version = version.next();
            let link = prepared.link(payload, position, version);
            hash = link.hash_after(hash);
            Placement { position, version, hash }
        };
        prepared.payloads.iter().map(placement).collect()
    }
}
