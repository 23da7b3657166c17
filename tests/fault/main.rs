//! Faults through real processes, sockets and disks. Random choices come from a seed that is printed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, prints its messages, and its tasks end with it"
)]

mod canary;
mod cluster_leader;
mod cluster_links;
mod cluster_load;
mod cluster_quota;
mod data_folder;
mod disk_full;
mod import_killed;
mod import_limits;
mod log_head;
mod metered_nodes;
mod metering;
mod metering_killed;
mod metering_outage;
mod metering_spool;
mod nats_faults;
mod rebuild_killed;

/// The binary under test.
pub(crate) use kit::process::LOGGIA;

pub(crate) use kit::TIMEOUT;

/// Returns the duration of long tests, if it is set.
fn minutes() -> Option<u32> {
    std::env::var("LOGGIA_TEST_MINUTES")
        .ok()
        .map(|set| set.parse().expect("LOGGIA_TEST_MINUTES is a whole number"))
}

/// Returns the number of rounds of a test, unless it is set.
fn rounds(unset: usize) -> usize {
    std::env::var("LOGGIA_TEST_ROUNDS").ok().and_then(|set| set.parse().ok()).unwrap_or(unset)
}

/// Writes an import file of records with the slugs `house-0` and so on.
fn write_houses(file: &std::path::Path, count: usize) {
    let line = |n| format!("{{\"slug\":\"house-{n}\",\"name\":\"House {n}\",\"category\":\"art\"}}\n");
    std::fs::write(file, (0..count).map(line).collect::<String>()).unwrap();
}

/// Waits until every projection of the folder's node has applied the event log.
async fn caught_up(data: &std::path::Path) {
    caught_up_by(&|args| kit::process::run(&LOGGIA, data, args)).await;
}

/// Like [`caught_up`], with the caller's way to run the command line.
async fn caught_up_by(run: &dyn Fn(&[&str]) -> kit::ProgramOutput) {
    kit::wait_until(TIMEOUT, "all projections at the end of the log", async || {
        let status: serde_json::Value =
            serde_json::from_str(&run(&["status", "--json"]).stdout).unwrap_or_default();
        let end = status["store"]["position"].as_u64();
        let projections = status["projections"].as_array().cloned().unwrap_or_default();
        // The counters follow calls, of which there are none.
        let mut of_the_log = projections.iter().filter(|p| p["name"] != "counters");
        end.is_some() && !projections.is_empty() && of_the_log.all(|p| p["position"].as_u64() == end)
    })
    .await;
}

/// Checks that the read models equal a fresh replay and that the hash chain is intact.
fn verified(data: &std::path::Path) {
    verified_by(&|args| kit::process::run(&LOGGIA, data, args));
}

/// Like [`verified`], with the caller's way to run the command line.
fn verified_by(run: &dyn Fn(&[&str]) -> kit::ProgramOutput) {
    for args in [&["events", "verify"][..], &["verify"]] {
        run(args).success();
    }
}

fn exported_slugs(data: &std::path::Path) -> Vec<String> {
    let exported = kit::process::run(&LOGGIA, data, &["export"]).success().json_lines();
    exported.iter().map(|record| record["slug"].as_str().unwrap().to_owned()).collect()
}
