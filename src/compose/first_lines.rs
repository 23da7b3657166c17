//! What a person who starts everything on a terminal reads first: what runs where, and what to try next. The log follows.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;

use api::CommandLine;
use cli_output::{count, say};
use process_role::ProcessRole;
use schemas::ids::Position;

use super::{DEMO, startup};
use crate::command_line;
use crate::config::{Auth, Config, LogFormat, StartWith};
use crate::store;

/// Returns whether a role prints these lines: `up` to a person, and neither to a file nor to a program that reads its log.
pub fn are_shown(config: &Config, role: ProcessRole) -> bool {
    role == ProcessRole::Up && matches!(config.log.format, LogFormat::Text) && std::io::stderr().is_terminal()
}

/// Prints the lines, if they are shown, and after them the beginning of the log. `demo_flag` is whether the demo catalog is to be
/// imported, if a flag says so.
pub async fn print(config: &Config, site: &str, listens_at: SocketAddr, demo_flag: Option<bool>) {
    if !are_shown(config, ProcessRole::Up) {
        return;
    }
    let log = Log::of(config).await;
    let fills_empty = config.process.start_with == StartWith::Demo;
    let is_demo =
        log.is_demo || demo_flag == Some(true) || log.events == Some(0) && demo_flag.unwrap_or(fills_empty);
    let commands = command_line::of(config);
    say(&Lines { config, site, listens_at, log: &log, is_demo, commands: &commands }.text());
    startup::announce(config, ProcessRole::Up);
}

/// The log of events before it is opened for writing.
struct Log {
    /// The number of events, if the log is on this machine and can be read.
    events: Option<u64>,
    /// Whether it begins with the demo catalog.
    is_demo: bool,
}

impl Log {
    /// Reads the log. Why it cannot be read is reported when it is opened for writing.
    async fn of(config: &Config) -> Log {
        let unknown = Log { events: None, is_demo: false };
        if !store::is_here(config) {
            return unknown;
        }
        if !store::has_log(config) {
            return Log { events: Some(0), is_demo: false };
        }
        let Ok(log) = store::open_read_only(config).await else { return unknown };
        let first = log.read_all(Position(0), 1).await;
        let head = log.head().await;
        log.close().await;
        let is_demo =
            first.is_ok_and(|first| first.first().is_some_and(|event| event.actor.as_str() == DEMO));
        Log { events: head.ok().map(|head| head.position.0), is_demo }
    }
}

/// What the lines say.
struct Lines<'a> {
    config: &'a Config,
    /// The public address of the site.
    site: &'a str,
    listens_at: SocketAddr,
    log: &'a Log,
    is_demo: bool,
    commands: &'a CommandLine,
}

impl Lines<'_> {
    /// Returns at most ten lines.
    fn text(&self) -> String {
        let Lines { config, site, .. } = self;
        let open = if config.access.auth == Auth::Off { ", open to every client: auth is off" } else { "" };
        let mut lines = vec![
            format!("Site    {site}{}", self.listening()),
            format!("REST    {site}/v1{open}"),
            format!("MCP     {site}/mcp"),
            format!("Data    {}", absolute(&config.server.data)),
            format!("Events  {}", self.events()),
            format!("NATS    {}", self.nats()),
            "Next".to_owned(),
        ];
        lines.extend(self.next().map(|step| format!("  {step}")));
        lines.join("\n")
    }

    fn listening(&self) -> String {
        let is_public = self.config.site.public_url.is_some();
        if is_public { format!(", listening on {}", self.listens_at) } else { String::new() }
    }

    fn events(&self) -> String {
        let number = self.log.events.map(|events| match events {
            0 => "none yet, in ".to_owned(),
            1 => "1, in ".to_owned(),
            _ => format!("{}, in ", count(events)),
        });
        // A remote store is named by its address, without user and password.
        let place = match store::is_here(self.config) {
            true => absolute(&store::folder(self.config)),
            false => self.shown("store"),
        };
        number.unwrap_or_default() + &place
    }

    fn nats(&self) -> String {
        match self.config.nats.url {
            Some(_) => self.shown("nats_url"),
            None => "a private server of this process".to_owned(),
        }
    }

    /// Returns the value of a setting as it may be shown.
    fn shown(&self, name: &str) -> String {
        let found = self.config.resolved.iter().find(|setting| setting.name == name);
        found.and_then(|setting| setting.value.clone()).unwrap_or_default()
    }

    fn next(&self) -> [String; 3] {
        let Lines { site, commands, .. } = self;
        let calls = format!("read how to call it:   {site}/docs");
        if self.is_demo {
            return [
                format!("look around:           {site}/?q=brick+library"),
                format!("connect an agent:      {site}/connect"),
                format!("have one of your own:  {}", commands.program_with("init my-catalog")),
            ];
        }
        // Where every client may call there is nothing to issue a key for.
        let second = match self.config.access.auth {
            Auth::Keys => format!("create a key:          {}", commands.issue_key()),
            Auth::Off => format!("connect an agent:      {site}/connect"),
        };
        [format!("map your own file:     {}", commands.suggest()), second, calls]
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests;
