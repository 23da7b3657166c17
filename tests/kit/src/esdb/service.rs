//! The gRPC methods over HTTP/2 that the event log uses.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio_util::sync::CancellationToken;

use super::log::{Log, StoredEvent};
use super::messages::*;
use super::wire::*;
use super::{Fault, State, batch};

const UNIMPLEMENTED: u16 = 12;
const UNAUTHENTICATED: u16 = 16;

/// The name of the streams service in the list of supported methods.
const STREAMS: &str = "event_store.client.streams.streams";

/// Handles a call; `None` if a fault drops it.
pub(super) async fn answer(
    request: Request<Incoming>,
    state: &Arc<State>,
    connection: &CancellationToken,
) -> Option<Response<Body>> {
    if request.uri().path().ends_with("/BatchAppend") {
        if !state.admits(request.headers().get("authorization")) {
            return Some(response(Err((UNAUTHENTICATED, "Unauthenticated".into()))));
        }
        state.count(&state.shared.streams);
        return Some(batch::answer(request, state.clone(), connection.clone()));
    }
    let (head, body) = request.into_parts();
    let body = body.collect().await.ok()?.to_bytes();
    let (service, method) = head.uri.path().rsplit_once('/').unwrap_or_default();
    let gossips = service.ends_with("Gossip");
    let appends = method == "Append";
    if appends && state.met(Fault::DropRequest) {
        return None;
    }
    let answer = if gossips {
        Ok(vec![encoded(&state.cluster())])
    } else if method == "GetSupportedMethods" || state.admits(head.headers.get("authorization")) {
        call(method, body, state).await
    } else {
        Err((UNAUTHENTICATED, "Unauthenticated".into()))
    };
    if appends && state.met(Fault::DropResponse) {
        return None;
    }
    Some(response(answer))
}

async fn call(method: &str, body: Bytes, state: &State) -> Result<Vec<Bytes>, Status> {
    let messages = messages(body);
    match method {
        "GetSupportedMethods" => {
            let batches = SupportedMethod { method_name: "batchappend".into(), service_name: STREAMS.into() };
            let methods = if state.takes_batches() { vec![batches] } else { Vec::new() };
            let event_store_server_version = "26.1.0".to_owned();
            Ok(vec![encoded(&SupportedMethods { methods, event_store_server_version })])
        }
        "Append" => append(&messages, &mut *state.log().await).await,
        "Read" => {
            state.count(&state.shared.reads);
            let request = messages.into_iter().next().ok_or_else(|| invalid("no message"))?;
            let options = decoded::<ReadReq>(request)?.options.ok_or_else(|| invalid("no options"))?;
            read(options, &mut *state.log().await).await
        }
        other => Err((UNIMPLEMENTED, format!("this server has no {other}"))),
    }
}

async fn append(messages: &[Bytes], log: &mut Log) -> Result<Vec<Bytes>, Status> {
    let (mut options, mut events, mut bytes) = (None, Vec::new(), 0);
    for message in messages {
        match decoded::<AppendReq>(message.clone())?.content {
            Some(AppendContent::Options(given)) => options = Some(given),
            Some(AppendContent::ProposedMessage(event)) => {
                let kind = event.metadata.get("type").ok_or_else(|| invalid("Required Metadata type"))?;
                bytes += event.data.len() + event.custom_metadata.len() + 2 * kind.len();
                events.push(event);
            }
            None => return Err(invalid("an empty message")),
        }
    }
    if bytes > MAX_APPEND {
        return Err((INVALID_ARGUMENT, format!("Maximum Append Size of {MAX_APPEND} Exceeded.")));
    }
    let options = options.ok_or_else(|| invalid("no options"))?;
    let expected = options.expected.ok_or_else(|| invalid("no expected revision"))?;
    let stream = name(options.stream_identifier)?;
    let result = match log.append(&stream, &expected, &events).await {
        Ok(last) => {
            AppendResult::Success(Success { current_revision: Some(last), no_position: Some(Empty {}) })
        }
        Err(last) => AppendResult::WrongExpectedVersion(WrongExpectedVersion {
            current: Some(last.map_or(CurrentRevision::NoStream(Empty {}), CurrentRevision::Revision)),
            expected: Some(match expected {
                ExpectedRevision::Revision(revision) => ExpectedRevisionOption::Revision(revision),
                ExpectedRevision::NoStream(nothing) => ExpectedRevisionOption::NoStream(nothing),
                ExpectedRevision::Any(nothing) => ExpectedRevisionOption::Any(nothing),
                ExpectedRevision::StreamExists(nothing) => ExpectedRevisionOption::StreamExists(nothing),
            }),
        }),
    };
    Ok(vec![encoded(&AppendResp { result: Some(result) })])
}

async fn read(options: ReadOptions, log: &mut Log) -> Result<Vec<Bytes>, Status> {
    let stream = options.stream.ok_or_else(|| invalid("no stream"))?;
    let Some(CountOption::Count(count)) = options.count else {
        return Err((UNIMPLEMENTED, "this server has no subscriptions".into()));
    };
    let name = name(stream.stream_identifier)?;
    let response = |content| encoded(&ReadResp { content: Some(content) });
    let Some(last) = log.last(&name).await else {
        let stream_identifier = Some(StreamIdentifier { stream_name: name.into_bytes() });
        return Ok(vec![response(ReadContent::StreamNotFound(StreamNotFound { stream_identifier }))]);
    };
    let from = match (stream.revision, options.read_direction, count) {
        (Some(RevisionOption::Revision(revision)), 0, _) => revision,
        (Some(RevisionOption::Start(_)), 0, _) => 0,
        (Some(RevisionOption::End(_)), 1, 1) => last,
        _ => return Err((UNIMPLEMENTED, "this server reads backwards the last event only".into())),
    };
    let mut answers = vec![response(ReadContent::FirstStreamPosition(0))];
    for kept in log.read(&name, from, count).await {
        answers.push(response(ReadContent::Event(event(&name, kept))));
    }
    answers.push(response(ReadContent::LastStreamPosition(last)));
    Ok(answers)
}

fn event(stream: &str, (revision, id, kind, content, custom_metadata, data): StoredEvent) -> ReadEvent {
    let created = "17000000000000000".to_owned();
    let metadata = [("type", kind), ("content-type", content), ("created", created)];
    ReadEvent {
        event: Some(RecordedEvent {
            id: Some(uuid::Uuid::from_slice(&id).expect("an id").into()),
            stream_identifier: Some(StreamIdentifier { stream_name: stream.into() }),
            stream_revision: revision.cast_unsigned(),
            prepare_position: 0,
            commit_position: 0,
            metadata: metadata.map(|(name, value)| (name.to_owned(), value)).into(),
            custom_metadata,
            data,
        }),
        no_position: Some(Empty {}),
    }
}
