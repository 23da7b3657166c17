//! `loggia config`: every setting with its source and default, secrets hidden; and whether a start would take them.

pub(super) mod check;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::config::Config;
use crate::output::Output;

/// Prints all settings.
pub fn run(config: &Config, output: Output) -> Result<()> {
    output.answer(&config.resolved, || {
        let mut text = String::new();
        for setting in &config.resolved {
            let value = setting.value.as_deref().unwrap_or("(unset)");
            let default = setting.default.unwrap_or("none");
            text += &format!(
                "{:<13} {value}\n{:13} from {}; default {default}; {}\n{:13} {}\n",
                setting.name, "", setting.source, setting.variable, "", setting.about
            );
        }
        text.trim_end().to_owned()
    })
}

/// Prints what a start would refuse.
pub async fn check(config: &Config, output: Output) -> Result<ExitCode> {
    let findings = check::findings(config).await;
    output.answer(&json!({ "ok": findings.is_empty(), "findings": findings }), || {
        let lines: Vec<String> =
            findings.iter().map(|found| format!("{}: {}", found.about, found.reason)).collect();
        if lines.is_empty() { "a start would find nothing wrong".to_owned() } else { lines.join("\n") }
    })?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
