//! Says when a node may be sent requests: once every projection has applied what the stream held when it was asked.

use std::time::Duration;

use api::Readiness;
use projections::source::EventSource;
use read::checkpoint::Checkpoint;
use read::models::ReadModels;
use schemas::ids::Position;
use tokio::sync::watch;

/// Between two looks while the node is not ready.
const LOOK: Duration = Duration::from_millis(50);

/// Looks until the node has caught up; from then on it is ready. Later lag is a matter of metrics: an old answer is
/// better than none.
pub async fn watch(models: ReadModels, source: EventSource, readiness: watch::Sender<Readiness>) {
    loop {
        match look(&models, &source).await {
            Ok(()) => {
                readiness.send_replace(Readiness { ready: true, reason: String::new() });
                return;
            }
            Err(reason) => readiness.send_replace(Readiness { ready: false, reason }),
        };
        tokio::time::sleep(LOOK).await;
    }
}

async fn look(models: &ReadModels, source: &EventSource) -> Result<(), String> {
    let head = source.head().await.map_err(|error| error.to_string())?;
    let missing = |model: &str| format!("The {model} model is not there yet.");
    let catalog = models.catalog().ok_or_else(|| missing("catalog"))?;
    let search = models.search().ok_or_else(|| missing("search"))?;
    let neighbours = models.neighbours().ok_or_else(|| missing("neighbours"))?;
    let archive = models.archive().ok_or_else(|| missing("archive"))?;
    let keys = models.keys().ok_or_else(|| missing("keys"))?;
    let applied = catalog.reader.checkpoint().await.map_err(|error| error.to_string())?;
    behind("catalog", applied.position, head)?;
    let applied: Checkpoint = serde_json::from_str(&search.reader.payload()).unwrap_or_default();
    behind("search", applied.position, head)?;
    let applied = neighbours.reader.checkpoint().await.map_err(|error| error.to_string())?;
    behind("neighbours", applied.position, head)?;
    let applied = archive.reader.checkpoint().await.map_err(|error| error.to_string())?;
    behind("archive", applied.position, head)?;
    let applied = keys.reader.checkpoint().await.map_err(|error| error.to_string())?;
    behind("keys", applied.position, head)
}

fn behind(model: &str, applied: Position, head: Position) -> Result<(), String> {
    if applied >= head {
        return Ok(());
    }
    Err(format!("The {model} model has applied {applied} of {head} events."))
}
