//! CloudEvents 1.0 over NATS in binary mode: the attributes are headers named `ce-…`, the body is the payload.

use serde_json::value::RawValue;

use crate::envelope::Recorded;
use crate::ids::StoreId;

/// The header by which JetStream drops duplicates within the stream's duplicate window.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";

const SOURCE_PREFIX: &str = "urn:loggia:store:";

/// Why a message is not a Loggia event.
#[derive(Debug, thiserror::Error)]
pub enum NotAnEvent {
    /// A header is missing or invalid.
    #[error("the message has no readable header {header}: {reason}")]
    Header {
        /// The header's name.
        header: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The body is not JSON.
    #[error("the message's body is not JSON: {0}")]
    Body(#[source] serde_json::Error),
}

/// Returns the headers under which an event of this store is published. CloudEvents 1.0 restricts attribute names to
/// lowercase letters and digits.
pub fn headers(event: &Recorded, store: StoreId) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        (MESSAGE_ID, event.id.to_string()),
        ("ce-specversion", "1.0".to_owned()),
        ("ce-id", event.id.to_string()),
        ("ce-source", format!("{SOURCE_PREFIX}{store}")),
        ("ce-type", event.kind.clone()),
        ("ce-subject", event.stream.key().to_owned()),
        ("ce-time", event.time.to_string()),
        ("ce-stream", event.stream.to_string()),
        ("ce-streamversion", event.version.to_string()),
        ("ce-position", event.position.to_string()),
        ("ce-actor", event.actor.to_string()),
        ("ce-causationid", event.causation.to_string()),
        ("ce-correlationid", event.correlation.to_string()),
        ("ce-hash", event.hash.to_string()),
        ("content-type", "application/json".to_owned()),
    ];
    headers.extend(event.traceparent.map(|traceparent| (traceparent::HEADER, traceparent.to_string())));
    headers
}

/// Reads an event and the id of its store from a message.
///
/// # Errors
///
/// Returns an error if a required header is missing or invalid, or the body is not JSON.
pub fn parse<'h>(
    header: impl Fn(&'static str) -> Option<&'h str>,
    body: &[u8],
) -> Result<(Recorded, StoreId), NotAnEvent> {
    let (event, data, store) = parse_borrowed(header, body)?;
    Ok((Recorded { data: data.to_owned(), ..event }, store))
}

/// Like [`parse`], but does not copy the payload: the event's `data` is `null`, and the payload is returned borrowed.
pub fn parse_borrowed<'h, 'b>(
    header: impl Fn(&'static str) -> Option<&'h str>,
    body: &'b [u8],
) -> Result<(Recorded, &'b RawValue, StoreId), NotAnEvent> {
    let text = |name| header(name).ok_or(NotAnEvent::Header { header: name, reason: "it is absent".into() });
    let source = text("ce-source")?;
    let store = source.strip_prefix(SOURCE_PREFIX).unwrap_or(source);
    let data: &RawValue = serde_json::from_slice(body).map_err(NotAnEvent::Body)?;
    let event = Recorded {
        position: crate::ids::Position(read("ce-position", text("ce-position")?)?),
        id: read("ce-id", text("ce-id")?)?,
        stream: read("ce-stream", text("ce-stream")?)?,
        version: crate::ids::StreamVersion(read("ce-streamversion", text("ce-streamversion")?)?),
        kind: text("ce-type")?.to_owned(),
        time: read("ce-time", text("ce-time")?)?,
        actor: read("ce-actor", text("ce-actor")?)?,
        causation: read("ce-causationid", text("ce-causationid")?)?,
        correlation: read("ce-correlationid", text("ce-correlationid")?)?,
        hash: read("ce-hash", text("ce-hash")?)?,
        // A malformed trace header counts as absent.
        traceparent: header(traceparent::HEADER).and_then(|text| text.parse().ok()),
        data: RawValue::NULL.to_owned(),
    };
    Ok((event, data, read("ce-source", store)?))
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
    header: &'static str,
    text: &str,
) -> Result<T, NotAnEvent> {
    text.parse().map_err(|error: T::Err| NotAnEvent::Header { header, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Link;
    use crate::hash::Hash;
    use crate::ids::*;

    fn sample() -> Recorded {
        let id = uuid::Uuid::from_u128(1);
        let mut event = Recorded {
            position: Position(41),
            id: EventId(id),
            stream: "project-01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            version: StreamVersion(3),
            kind: "loggia.curation.project_withdrawn.v1".into(),
            time: "2026-11-20T08:30:00.123456Z".parse().unwrap(),
            actor: "Łucja".parse().unwrap(),
            causation: CommandId(id),
            correlation: CommandId(id),
            hash: Hash::GENESIS,
            traceparent: None,
            data: serde_json::value::to_raw_value(&serde_json::json!({"reason": "sold"})).unwrap(),
        };
        event.hash = Link::from(&event).hash_after(Hash::GENESIS);
        event
    }

    #[test]
    fn an_event_round_trips_through_headers() {
        let store: StoreId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let event = sample();
        let headers = headers(&event, store);
        let find = |name: &'static str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str());
        let (read, from) = parse(find, event.data.get().as_bytes()).unwrap();
        assert_eq!(from, store);
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&event).unwrap());
        assert_eq!(Link::from(&read).hash_after(Hash::GENESIS), event.hash);
    }

    #[test]
    fn a_trace_context_does_not_change_the_hash() {
        let store: StoreId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let (plain, text) = (sample(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let traced = Recorded { traceparent: text.parse().ok(), ..sample() };
        assert_eq!(Link::from(&traced).hash_after(Hash::GENESIS), plain.hash);
        assert!(headers(&plain, store).iter().all(|(name, _)| *name != "traceparent"));
        let sent = headers(&traced, store);
        assert!(sent.contains(&("traceparent", text.to_owned())));
        for (header, expected) in [(text, traced.traceparent), ("00-4bf9-01", None)] {
            let find = |name: &'static str| {
                if name == "traceparent" {
                    return Some(header);
                }
                sent.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
            };
            let (read, _) = parse(find, traced.data.get().as_bytes()).unwrap();
            assert_eq!(read.traceparent, expected, "{header}");
        }
    }

    #[test]
    fn an_event_without_a_trace_context_keeps_its_shape() {
        let mut json = serde_json::to_value(sample()).unwrap();
        assert!(json.get("traceparent").is_none(), "{json}");
        for (text, expected) in
            [("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true), ("of a later format", false)]
        {
            json["traceparent"] = text.into();
            let read: Recorded = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(read.traceparent.is_some(), expected, "{text}");
            assert_eq!(Link::from(&read).hash_after(Hash::GENESIS), read.hash);
        }
    }

    #[test]
    fn a_missing_header_is_named() {
        let error = parse(|_| None, b"{}").unwrap_err();
        assert_eq!(error.to_string(), "the message has no readable header ce-source: it is absent");
    }
}
