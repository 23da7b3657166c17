//! `loggia config`: every setting with its source and default, secrets hidden.

use anyhow::Result;

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
