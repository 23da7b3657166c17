//! The calls of the running month, from the counters of this folder.

use anyhow::Result;
use cli_output::count;
use data_folder::DataFolder;
use read::counters::MonthSummary;
use schemas::month::Month;
use serde::Serialize;

use crate::counted_calls;
use crate::process;

/// The calls of a month.
#[derive(Debug, Serialize)]
pub(super) struct UsageStatus {
    month: Month,
    /// Calls that count against quotas.
    calls: u64,
    /// Calls that had been answered when they were found to exceed the quota.
    overrun: u64,
    keys: u64,
}

impl UsageStatus {
    /// Reads the counters, which a process may be using; `None` if there are none yet.
    pub(super) async fn of(data: &DataFolder) -> Result<Option<UsageStatus>> {
        let Some(counters) = counted_calls::counters(data).await? else { return Ok(None) };
        let month = Month::of(process::now());
        let MonthSummary { calls, overrun, keys } = counters.summary(month).await?;
        counters.close().await;
        Ok(Some(UsageStatus { month, calls, overrun, keys }))
    }

    pub(super) fn line(&self) -> String {
        let UsageStatus { month, calls, overrun, keys } = self;
        let over = match overrun {
            0 => String::new(),
            _ => format!(", over the quota {}", count(*overrun)),
        };
        format!("{:<12} calls {}, keys {}{over}\n", month.to_string(), count(*calls), count(*keys))
    }
}
