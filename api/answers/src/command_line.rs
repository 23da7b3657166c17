//! The commands with which an operator fills a catalog, as they are typed on the machine of a node.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{FORWARDED, HOST, HeaderName};

static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// How a command of `loggia` is typed: the program, and the options that name the settings and the data in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    program: String,
    /// The options, quoted for a shell, with a blank before each; empty if none are needed.
    options: String,
}

impl Default for CommandLine {
    /// Returns the program without paths, which says nothing about a machine.
    fn default() -> CommandLine {
        CommandLine { program: "loggia".to_owned(), options: String::new() }
    }
}

impl CommandLine {
    /// Returns the command line with this program and these options, each quoted for a shell.
    pub fn new(program: String, options: &[String]) -> CommandLine {
        CommandLine { program, options: options.iter().map(|option| format!(" {option}")).collect() }
    }

    /// Returns the command with these arguments.
    pub fn command(&self, arguments: &str) -> String {
        format!("{} {arguments}{}", self.program, self.options)
    }

    /// Returns the command with these arguments alone, which concerns no catalog that exists.
    pub fn program_with(&self, arguments: &str) -> String {
        format!("{} {arguments}", self.program)
    }

    /// Returns the command that writes a first mapping of a spreadsheet.
    pub fn suggest(&self) -> String {
        self.command("import works.csv --suggest works.toml")
    }

    /// Returns the command that imports a spreadsheet with its mapping.
    pub fn import(&self) -> String {
        self.command("import works.csv --mapping works.toml")
    }

    /// Returns the command that issues a key.
    pub fn issue_key(&self) -> String {
        self.command("keys issue --email you@example.org")
    }
}

/// Returns whether a request names this machine as the site that it is for, and passed no proxy that says so. Together with a
/// listener that only this machine reaches it means that the caller sits there: a tunnel or a proxy that makes such a listener public
/// names the public host or the forwarded address, as does a page of another site whose name was pointed here.
pub fn is_from_this_machine(headers: &HeaderMap) -> bool {
    let is_forwarded = headers.contains_key(&FORWARDED_FOR) || headers.contains_key(FORWARDED);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_local = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_local && !is_forwarded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_settings_and_the_data_in_use() {
        assert_eq!(CommandLine::default().suggest(), "loggia import works.csv --suggest works.toml");
        let line = CommandLine::new("/opt/loggia".to_owned(), &["--data '/srv/my shop'".to_owned()]);
        assert_eq!(line.issue_key(), "/opt/loggia keys issue --email you@example.org --data '/srv/my shop'");
        assert_eq!(line.program_with("init shop"), "/opt/loggia init shop");
        assert_eq!(line.import(), "/opt/loggia import works.csv --mapping works.toml --data '/srv/my shop'");
    }

    #[test]
    fn a_request_from_elsewhere_is_not_from_this_machine() {
        let is_local = |lines: &[(&str, &str)]| {
            let header = |(name, value): &(&str, &str)| {
                (name.parse::<HeaderName>().unwrap(), value.parse::<http::HeaderValue>().unwrap())
            };
            is_from_this_machine(&lines.iter().map(header).collect())
        };
        for host in ["127.0.0.1:8080", "localhost:8080", "localhost", "[::1]:8080", "127.0.0.2"] {
            assert!(is_local(&[("host", host)]), "{host}");
        }
        for host in ["", "catalog.example.org", "localhost.example.org", "10.0.0.7:8080", "[fd00::1]:80"] {
            assert!(!is_local(&[("host", host)]), "{host}");
        }
        assert!(!is_local(&[]));
        for header in ["x-forwarded-for", "forwarded"] {
            assert!(!is_local(&[("host", "127.0.0.1"), (header, "for=10.0.0.1")]), "{header}");
        }
    }
}
