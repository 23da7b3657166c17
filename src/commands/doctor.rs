//! `loggia doctor`: checks the installation for what an operator should fix.

mod machine;

use std::process::ExitCode;

use anyhow::Result;
use backup::LastBackup;
use cli_output::Output;
use data_folder::DataFolder;
use jiff::SignedDuration;
use schemas::ids::Position;
use serde::Serialize;

use super::config as settings_check;
use super::status;
use crate::config::Config;
use crate::process;
use crate::store;

/// The age from which a backup should be followed by another one.
const BACKUP_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How far the clock may be behind the newest event: the clocks of several machines differ a little.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// The severity of a finding, or the worst of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// It should be fixed, but does not prevent anything.
    Warning,
    /// It does not work, or prevents a start.
    Critical,
}

/// Something that should be fixed.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    about: &'static str,
    verdict: Verdict,
    message: String,
}

#[derive(Debug, Serialize)]
struct Report {
    verdict: Verdict,
    /// What should be fixed; empty if all is well.
    findings: Vec<Finding>,
}

/// The findings, in the order of the checks.
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

/// Runs all checks, and prints what should be fixed.
pub async fn run(config: &Config, output: Output) -> Result<ExitCode> {
    let mut findings = Findings::default();
    for settings_check::Finding { about, reason } in settings_check::findings(config).await {
        findings.critical(about, reason);
    }
    for variable in &config.unknown_variables {
        findings.warn("variables", variable.clone());
    }
    if let Ok(settings_check::CheckedEncoder { fault: Some(fault), .. }) =
        settings_check::CheckedEncoder::of(config).await
    {
        findings.warn("weights", format!("{fault}; until then the built-in encoder computes vectors"));
    }
    let (problems, warnings) = status::problems_and_warnings(config).await;
    for problem in problems {
        // The check of the settings has found it already.
        if !findings.0.iter().any(|found| problem.contains(&found.message)) {
            findings.critical("service", problem);
        }
    }
    for warning in warnings {
        findings.warn("service", warning);
    }
    machine::check(config, process::now(), &mut findings);
    if DataFolder::new(&config.server.data).check().is_ok() && store::has_log(config) {
        check_log(config, &mut findings).await;
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

/// Checks the time of the newest event, and the age of the last backup.
async fn check_log(config: &Config, findings: &mut Findings) {
    let now = process::now();
    let newest = async {
        let store = store::open_read_only(config).await?;
        let head = store.head().await?.position;
        let newest = store.read_all(Position(head.0.saturating_sub(1)), 1).await?;
        store.close().await;
        anyhow::Ok(newest.first().map(|event| event.time))
    };
    // The status has reported a log that cannot be read.
    let Ok(Some(newest)) = newest.await else { return };
    if newest.duration_since(now) > CLOCK_TOLERANCE {
        findings.warn(
            "clock",
            format!("the newest event is of {newest:.0}, and this machine's clock shows {now:.0}; set it"),
        );
    }
    match LastBackup::of(&config.server.data) {
        None => findings.warn("backup", "no backup was made yet; make one with `loggia backup DIR`"),
        Some(last) if now.duration_since(last.created) > BACKUP_AGE => findings.warn(
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
