//! The events of a file: one per line, in an array, or in a list as Stripe's API returns it.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// One event, or the text that is found instead of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Its line, or its position in the list, from 1.
    pub(super) number: usize,
    pub(super) text: String,
}

/// Reads the events of a file, or of standard input.
pub(super) fn read(file: &Path) -> Result<Vec<Source>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
    } else {
        bytes = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    }
    Ok(events(&String::from_utf8_lossy(&bytes)))
}

fn events(text: &str) -> Vec<Source> {
    let text = text.trim_start_matches('\u{feff}');
    let texts: Vec<(usize, String)> = match serde_json::from_str(text) {
        Ok(Value::Array(events)) => texts(&events),
        Ok(Value::Object(list)) if list.get("data").is_some_and(Value::is_array) => {
            texts(list["data"].as_array().map(Vec::as_slice).unwrap_or_default())
        }
        Ok(event) => texts(&[event]),
        Err(_) => (1..).zip(text.lines().map(|line| line.trim().to_owned())).collect(),
    };
    let full = texts.into_iter().filter(|(_, text)| !text.is_empty());
    full.map(|(number, text)| Source { number, text }).collect()
}

fn texts(events: &[Value]) -> Vec<(usize, String)> {
    (1..).zip(events.iter().map(Value::to_string)).collect()
}

#[cfg(test)]
mod tests;
