//! The projection of the keys: all API keys with their tiers.

use std::sync::Arc;

use read::error::ModelError;
use read::keys::{KeysReader, KeysWriter};
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{KeyEvent, PoisonEvent, Projection, poison_events};
use crate::source::Sharing;

impl Projection for KeysWriter {
    type Model = KeysReader;
    // A revoked key must be refused at once, even while other models lag.
    const SHARING: Sharing = Sharing::Dedicated;

    type Event = KeyEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<KeyEvent> {
        KeyEvent::from_event(recorded, event)
    }

    parts_of_the_writer!();

    async fn apply(&mut self, batch: Vec<KeyEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.load(batch.iter().map(|event| (event.account, &event.event))).await?;
        Ok(poison_events(batch, |KeyEvent { recorded, account, event }| {
            let applied = KeysWriter::apply(self, &recorded, account, event);
            (recorded, applied)
        }))
    }
}
