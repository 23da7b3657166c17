//! What is logged, and in which format.

use std::str::FromStr;

use settings::{Value, nearest, section};
use tracing_subscriber::EnvFilter;

section! {
    /// The filter and the format of the log.
    Log {
        filter: LogFilter = Value::required => "log"
            "What is logged: a level (error, warn, info, debug, trace, off), and levels of parts, separated by commas; access=info \
             adds a line for each request." {
                shape: "FILTER",
                example: "info,loggia=debug",
                default: Some("warn,loggia=info"),
            },
        format: LogFormat = |value| value.one_of([("text", LogFormat::Text), ("json", LogFormat::Json)]) => "log_format"
            "The format of the log on standard error: text, or json with one object per line." {
                shape: "text|json",
                example: "json",
                default: Some("text"),
            },
    }
}

/// What is logged: a level, and levels of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter(pub String);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
        const WANTED: &str = "expected a level such as info, or levels of parts such as warn,loggia=debug";
        let words = text.split(',').map(str::trim);
        // The library takes any other word for the name of a part: it would log all of that part and nothing else.
        let mut bare = words.filter(|word| !word.is_empty() && !word.contains(['=', '[']));
        if let Some(word) = bare.find(|word| !LEVELS.contains(&word.to_ascii_lowercase().as_str())) {
            let nearest = nearest(word, LEVELS.into_iter());
            let meant = nearest.map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default();
            return Err(format!("“{word}” is not a level{meant}; {WANTED}"));
        }
        EnvFilter::try_new(text).map_err(|error| format!("{error}; {WANTED}"))?;
        Ok(LogFilter(text.to_owned()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// A line for each event, for people.
    Text,
    /// A JSON object for each event.
    Json,
}
