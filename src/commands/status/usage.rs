//! What was called in the running month, as the counters of this folder have it.

use anyhow::Result;
use read::counters::{CountersReader, MonthSummary};
use read::generation::Generations;
use schemas::month::Month;
use serde::Serialize;

use crate::clock;
use crate::data_folder::DataFolder;
use crate::output::count;

/// The calls of a month.
#[derive(Debug, Serialize)]
pub(super) struct UsageStatus {
    month: Month,
    /// Calls that count against quotas.
    calls: u64,
    /// Calls that turned out to be over the quota after they had been answered.
    overrun: u64,
    /// Keys that called.
    keys: u64,
}

impl UsageStatus {
    /// Read whether anything runs or not; none before there are counters.
    pub(super) async fn of(data: &DataFolder) -> Result<Option<UsageStatus>> {
        let Some(generation) = Generations::new(data.models().join("counters")).current()? else {
            return Ok(None);
        };
        let month = Month::of(clock::now());
        let counters = CountersReader::open(&generation.path, month).await?;
        let MonthSummary { calls, overrun, keys } = counters.summary(month).await?;
        counters.close().await;
        Ok(Some(UsageStatus { month, calls, overrun, keys }))
    }

    /// As a line of the screen.
    pub(super) fn line(&self) -> String {
        let UsageStatus { month, calls, overrun, keys } = self;
        let over = match overrun {
            0 => String::new(),
            _ => format!(", over the quota {}", count(*overrun)),
        };
        format!("{:<12} calls {}, keys {}{over}\n", month.to_string(), count(*calls), count(*keys))
    }
}
