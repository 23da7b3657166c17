//! The rebuild suite: events per second from NATS into new generations, and searches during the rebuild.

use std::time::Duration;

use anyhow::Result;
use tokio_util::sync::CancellationToken;

use crate::load::Connection;
use crate::server::Server;
use crate::{Figure, LIMITED, queries};

/// The models whose rebuild has a limit; that of neighbours compares all pairs.
const LIMITED_MODELS: [&str; 2] = ["catalog", "search"];

/// The pause between two searches during the rebuild.
const SEARCH_PAUSE: Duration = Duration::from_millis(5);

/// Rebuilds every model under a light load of searches.
///
/// # Errors
///
/// If the rebuild fails.
pub async fn measure(server: &Server, size: usize) -> Result<Vec<Figure>> {
    let paths = queries::paths(demo::catalog(demo::DEMO_SEED, size.min(20_000)));
    let stop = CancellationToken::new();
    let searching = search_until(server.address.clone(), paths, stop.clone());
    let rebuild = async {
        let answers = server.loggia(&["rebuild", "all"]).await;
        stop.cancel();
        answers
    };
    let (searched, answers) = tokio::join!(searching, rebuild);
    let (searches, failed) = searched?;
    let mut figures = Vec::new();
    for answer in answers? {
        let swapped = &answer["swapped"];
        let (Some(events), Some(seconds)) = (swapped["events"].as_f64(), swapped["seconds"].as_f64()) else {
            continue;
        };
        let model = swapped["model"].as_str().unwrap_or_default();
        let figure = Figure::new(format!("rebuild of {model} from NATS"), events / seconds, "events/s");
        let limited = size == LIMITED && LIMITED_MODELS.contains(&model);
        figures.push(if limited { figure.at_least(20_000.0) } else { figure });
    }
    figures.push(Figure::new("searches meanwhile", searches as f64, "requests"));
    figures.push(Figure::new("failed searches meanwhile", failed as f64, "requests").at_most(0.0));
    Ok(figures)
}

async fn search_until(address: String, paths: Vec<String>, stop: CancellationToken) -> Result<(u64, u64)> {
    let mut connection = Connection::open(&address).await?;
    let (mut searches, mut failed) = (0, 0);
    for path in paths.iter().cycle() {
        if stop.is_cancelled() {
            break;
        }
        searches += 1;
        match connection.get(path).await {
            Ok(answer) if answer.status == 200 => {}
            Ok(_) => failed += 1,
            Err(_) => {
                failed += 1;
                connection = Connection::open(&address).await?;
            }
        }
        tokio::time::sleep(SEARCH_PAUSE).await;
    }
    Ok((searches, failed))
}
