//! `loggia doctor`: looks for what an operator should mend.

mod machine;

use std::process::ExitCode;

use anyhow::Result;
use jiff::SignedDuration;
use schemas::ids::Position;
use serde::Serialize;

use super::config::check;
use super::status;
use crate::clock;
use crate::config::Config;
use crate::data_folder::DataFolder;
use crate::output::Output;
use crate::store;
use crate::upkeep::LastBackup;

/// A backup that is older should be followed by another one.
const BACKUP: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How far the clock may be behind the newest event: clocks of several machines differ by some.
const CLOCK: SignedDuration = SignedDuration::from_secs(5);

/// How one thing is, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// It should be looked at.
    Warning,
    /// It does not work, or would not start.
    Critical,
}

/// Something that was found.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    about: &'static str,
    verdict: Verdict,
    message: String,
}

#[derive(Debug, Serialize)]
struct Report {
    verdict: Verdict,
    /// What should be mended; empty where all is well.
    findings: Vec<Finding>,
}

/// What is found, in the order in which it is looked at.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn warn(&mut self, about: &'static str, message: impl Into<String>) {
        self.0.push(Finding { about, verdict: Verdict::Warning, message: message.into() });
    }

    fn critical(&mut self, about: &'static str, message: impl Into<String>) {
        self.0.push(Finding { about, verdict: Verdict::Critical, message: message.into() });
    }
}

/// Looks at everything, and prints what should be mended.
pub async fn run(config: &Config, output: Output) -> Result<ExitCode> {
    let mut findings = Findings::default();
    for check::Finding { about, reason } in check::findings(config).await {
        findings.critical(about, reason);
    }
    for variable in &config.unknown_variables {
        findings.warn("variables", variable.clone());
    }
    let (problems, warnings) = status::complaints(config).await;
    for problem in problems {
        // What the settings make impossible was said already.
        if !findings.0.iter().any(|found| problem.contains(&found.message)) {
            findings.critical("service", problem);
        }
    }
    for warning in warnings {
        findings.warn("service", warning);
    }
    machine::look(config, clock::now(), &mut findings);
    if DataFolder::new(&config.server.data).check().is_ok() && store::has_log(config) {
        log(config, &mut findings).await;
    }
    let verdict = findings.0.iter().map(|found| found.verdict).max().unwrap_or(Verdict::Ok);
    let report = Report { verdict, findings: findings.0 };
    output.answer(&report, || text(&report))?;
    Ok(ExitCode::from(verdict as u8))
}

fn text(report: &Report) -> String {
    if report.findings.is_empty() {
        return "all is well".to_owned();
    }
    let line = |found: &Finding| {
        let verdict = if found.verdict == Verdict::Critical { "critical" } else { "warning" };
        format!("{verdict:<8}  {}: {}", found.about, found.message)
    };
    report.findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Looks at the time of the newest event, and at the last backup of the log.
async fn log(config: &Config, findings: &mut Findings) {
    let now = clock::now();
    let newest = async {
        let store = store::open_read_only(config).await?;
        let head = store.head().await?.position;
        let newest = store.read_all(Position(head.0.saturating_sub(1)), 1).await?;
        store.close().await;
        anyhow::Ok(newest.first().map(|event| event.time))
    };
    // That it cannot be read was said already.
    let Ok(Some(newest)) = newest.await else { return };
    if newest.duration_since(now) > CLOCK {
        findings.warn(
            "clock",
            format!(
                "the newest event is of {newest:.0}, and it is {now:.0} by this machine's clock; set it right"
            ),
        );
    }
    match LastBackup::of(&config.server.data) {
        None => findings.warn("backup", "no backup was made yet; make one with `loggia backup DIR`"),
        Some(last) if now.duration_since(last.created) > BACKUP => findings.warn(
            "backup",
            format!(
                "the last backup is of {:.0}, in {}; make another one",
                last.created,
                last.folder.display()
            ),
        ),
        Some(_) => {}
    }
}
