//! A measured figure and its limit.

use serde::Serialize;

/// The largest catalog whose figures have limits; those of larger ones are only shown.
pub const LIMITED: usize = 100_000;

/// One measured figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The value, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Its limit, if it has one.
    pub limit: Option<Limit>,
}

/// The limit of a figure.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
}

impl Figure {
    /// Returns a figure without a limit.
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure { name: name.into(), value, unit, limit: None }
    }

    /// Sets an upper limit.
    pub fn at_most(mut self, limit: f64) -> Figure {
        self.limit = Some(Limit::AtMost(limit));
        self
    }

    /// Sets an upper limit if the catalog has at most [`LIMITED`] projects.
    pub fn at_most_in(self, size: usize, limit: f64) -> Figure {
        if size <= LIMITED { self.at_most(limit) } else { self }
    }

    /// Sets a lower limit.
    pub fn at_least(mut self, limit: f64) -> Figure {
        self.limit = Some(Limit::AtLeast(limit));
        self
    }

    /// Returns whether the value is within the limit, if there is one.
    pub fn holds(&self) -> bool {
        match self.limit {
            None => true,
            Some(Limit::AtMost(limit)) => self.value <= limit,
            Some(Limit::AtLeast(limit)) => self.value >= limit,
        }
    }

    /// Formats it as a line of the report.
    pub fn line(&self) -> String {
        let limit = match self.limit {
            None => String::new(),
            Some(Limit::AtMost(limit)) => format!("at most {limit}"),
            Some(Limit::AtLeast(limit)) => format!("at least {limit}"),
        };
        let verdict = if self.limit.is_none() {
            ""
        } else if self.holds() {
            "ok"
        } else {
            "MISSED"
        };
        format!("{:<46} {:>12.2} {:<12} {limit:<16} {verdict}", self.name, self.value, self.unit)
    }
}
