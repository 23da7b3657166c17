//! Events of projects as a log holds them, for tests.

use std::sync::Arc;

use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, ProjectId, StreamId, StreamVersion};
use schemas::versioned;

/// An event at a position, of the project with this number.
pub(crate) fn recorded(position: u64, project: u64, event: &Event) -> Arc<Recorded> {
    let project: ProjectId = format!("{project:026}").parse().unwrap();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    Arc::new(Recorded {
        position: Position(position),
        id: EventId(id),
        stream: StreamId::project(project),
        version: StreamVersion(1),
        kind: versioned::kind(event).into(),
        time: Timestamp::UNIX_EPOCH,
        actor: "Ada".parse().unwrap(),
        causation: CommandId(id),
        correlation: CommandId(id),
        hash: Hash::GENESIS,
        traceparent: None,
        data: versioned::encode(event).unwrap(),
    })
}
