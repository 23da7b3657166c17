//! Who speaks on NATS: one user a role, each with the subjects that the role truly needs and no more.

use crate::subject::{
    COMMANDS, EVENT_SUBJECTS, OVERRUN_SUBJECTS, PUT_PICTURE, READ_EVENTS, READ_PICTURE, READ_USAGE,
};

/// What a process is to NATS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NatsRole {
    /// `loggia write`.
    Write,
    /// `loggia project`.
    Project,
    /// `loggia serve`.
    Serve,
    /// `loggia read`: the two before in one process.
    Read,
    /// `loggia up` and whatever else is write side and read node at once.
    Up,
    /// A command of the command line that asks the others.
    Operator,
}

/// How many answers may be sent to one request, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// How many; -1 is any number.
    pub most: i64,
    /// For so many minutes after the request came.
    pub minutes: u32,
}

/// Tells who one is, as NATS sees it.
pub const WHO_AM_I: &str = "$SYS.REQ.USER.INFO";

/// All metered calls.
const CALLS: &str = "loggia.usage.*.*.*";

const OWNS_STREAMS: [&str; 10] = [
    "$JS.API.STREAM.INFO.*",
    "$JS.API.STREAM.CREATE.*",
    "$JS.API.STREAM.UPDATE.*",
    "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.CONSUMER.CREATE.*",
    // A consumer that went with its server is made again under a name, and under its filter if it has one.
    "$JS.API.CONSUMER.CREATE.*.*",
    "$JS.API.CONSUMER.CREATE.*.*.loggia.*.*.*.*",
    "$JS.API.CONSUMER.INFO.*.*",
    "$JS.API.CONSUMER.MSG.NEXT.*.*",
    "$JS.API.CONSUMER.DELETE.*.*",
];

const READS_STREAMS: [&str; 8] = [
    "$JS.API.STREAM.INFO.*",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.CONSUMER.CREATE.*",
    "$JS.API.CONSUMER.CREATE.*.*",
    "$JS.API.CONSUMER.INFO.*.*",
    "$JS.API.CONSUMER.MSG.NEXT.*.*",
    "$JS.API.CONSUMER.DELETE.*.*",
];

/// Reads the calls under one subject: a consumer that has a name is made under its filter.
const READS_CALLS: &str = "$JS.API.CONSUMER.CREATE.*.*.loggia.usage.*.*.*";

/// The same of the calls that are over the quota.
const READS_OVERRUNS: &str = "$JS.API.CONSUMER.CREATE.*.*.loggia.overrun.*.*.*";

/// What users that an earlier version made may not do, and a role can do without.
const DISPENSABLE: [&str; 1] = [READS_OVERRUNS];

const WRITES: [&str; 4] = [EVENT_SUBJECTS[0], EVENT_SUBJECTS[1], CALLS, OVERRUN_SUBJECTS];

/// Where those who ask the write side take its answers. A right to answer what was asked would end with the connection,
/// and with it the answers that are under way when a server goes.
const ANSWERS_TO: [&str; 5] =
    ["_INBOX.project.>", "_INBOX.serve.>", "_INBOX.read.>", "_INBOX.operator.>", "_INBOX.up.>"];

const PROJECTS: [&str; 3] = [READ_EVENTS, READ_USAGE, READ_PICTURE];

/// The commands are those of the key form, of mailed links and of payments; none of them curates.
const SERVES: [&str; 13] = [
    CALLS,
    OVERRUN_SUBJECTS,
    "loggia.command.issue_key",
    "loggia.command.send_link",
    "loggia.command.open_link",
    "loggia.command.use_link",
    "loggia.command.record_payment",
    "loggia.command.keep_notice",
    "$JS.API.STREAM.INFO.EVENTS",
    READS_CALLS,
    READS_OVERRUNS,
    "$JS.API.CONSUMER.INFO.*.*",
    "$JS.API.CONSUMER.MSG.NEXT.*.*",
];

const OPERATES: [&str; 5] = [COMMANDS, PUT_PICTURE, "loggia.control.*.*", READ_EVENTS, READ_USAGE];

impl NatsRole {
    /// All of them.
    pub const ALL: [NatsRole; 6] = [
        NatsRole::Write,
        NatsRole::Project,
        NatsRole::Serve,
        NatsRole::Read,
        NatsRole::Up,
        NatsRole::Operator,
    ];

    /// Its name, which is that of its user's file too.
    pub fn name(self) -> &'static str {
        match self {
            NatsRole::Write => "write",
            NatsRole::Project => "project",
            NatsRole::Serve => "serve",
            NatsRole::Read => "read",
            NatsRole::Up => "up",
            NatsRole::Operator => "operator",
        }
    }

    /// Begins every subject on which it takes answers; no other role may listen there.
    pub fn inbox(self) -> String {
        format!("_INBOX.{}", self.name())
    }

    /// What it sends to.
    pub fn publishes(self) -> Vec<&'static str> {
        let mut subjects = match self {
            NatsRole::Write => [&WRITES[..], &ANSWERS_TO, &OWNS_STREAMS].concat(),
            NatsRole::Project => [&PROJECTS[..], &READS_STREAMS].concat(),
            NatsRole::Serve => SERVES.to_vec(),
            NatsRole::Operator => [&OPERATES[..], &READS_STREAMS].concat(),
            NatsRole::Read => {
                without_covered(&[NatsRole::Project, NatsRole::Serve].map(NatsRole::publishes).concat())
            }
            NatsRole::Up => {
                let all =
                    [NatsRole::Write, NatsRole::Project, NatsRole::Serve].map(NatsRole::publishes).concat();
                without_covered(&all)
            }
        };
        if !subjects.contains(&WHO_AM_I) {
            subjects.push(WHO_AM_I);
        }
        subjects
    }

    /// What it must be allowed to send to: [`NatsRole::publishes`] without what users of an earlier version lack.
    pub fn must_publish(self) -> Vec<&'static str> {
        self.publishes().into_iter().filter(|subject| !DISPENSABLE.contains(subject)).collect()
    }

    /// What it listens to.
    pub fn subscribes(self) -> Vec<String> {
        let requests: &[&str] = match self {
            NatsRole::Write => &[COMMANDS, READ_EVENTS, READ_USAGE, PUT_PICTURE, READ_PICTURE],
            NatsRole::Project | NatsRole::Read => &["loggia.control.*.*"],
            NatsRole::Up => {
                &[COMMANDS, READ_EVENTS, READ_USAGE, PUT_PICTURE, READ_PICTURE, "loggia.control.*.*"]
            }
            NatsRole::Serve | NatsRole::Operator => &[],
        };
        let inbox = format!("{}.>", self.inbox());
        requests.iter().map(|subject| (*subject).to_owned()).chain([inbox]).collect()
    }

    /// What it may answer to requests that reach it, beside what it may send anyway.
    pub fn answers(self) -> Option<Answers> {
        match self {
            // A rebuild tells its progress to whoever asked for it.
            NatsRole::Project | NatsRole::Read => Some(Answers { most: -1, minutes: 24 * 60 }),
            NatsRole::Write | NatsRole::Up | NatsRole::Serve | NatsRole::Operator => None,
        }
    }
}

impl std::fmt::Display for NatsRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a pattern takes in every subject of another one.
pub fn covers(pattern: &str, other: &str) -> bool {
    let mut others = other.split('.');
    for token in pattern.split('.') {
        match (token, others.next()) {
            (">", Some(_)) => return true,
            (_, None) | ("*", Some(">")) => return false,
            ("*", Some(_)) => {}
            (token, Some(other)) if token == other => {}
            (_, Some(_)) => return false,
        }
    }
    others.next().is_none()
}

/// Each pattern once, and none that another one takes in.
fn without_covered(patterns: &[&'static str]) -> Vec<&'static str> {
    let mut kept: Vec<&'static str> = Vec::new();
    for pattern in patterns {
        let wider = |other: &&&'static str| *other != pattern && covers(other, pattern);
        if !kept.contains(pattern) && !patterns.iter().any(|other| wider(&other)) {
            kept.push(pattern);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/cluster.md.
    fn table() -> String {
        let mut table = "| user | sends to | listens to |\n|---|---|---|\n".to_owned();
        for role in NatsRole::ALL {
            let cell = |subjects: Vec<String>| -> String {
                subjects.iter().map(|subject| format!("`{subject}`")).collect::<Vec<_>>().join(" ")
            };
            let sends = cell(role.publishes().into_iter().map(str::to_owned).collect());
            let answers = if role.answers().is_some() { " and answers to what it is asked" } else { "" };
            table += &format!("| {role} | {sends}{answers} | {} |\n", cell(role.subscribes()));
        }
        table
    }

    #[test]
    fn the_guide_says_what_each_user_may_do() {
        let guide = include_str!("../../docs/cluster.md");
        assert!(guide.contains(&table()), "docs/cluster.md must have this table:\n{}", table());
    }

    fn may_publish(role: NatsRole, subject: &str) -> bool {
        role.publishes().iter().any(|pattern| covers(pattern, subject))
    }

    #[test]
    fn a_pattern_covers_what_it_takes_in() {
        for (pattern, other, expected) in [
            ("a.b", "a.b", true),
            ("a.b", "a", false),
            ("a", "a.b", false),
            ("a.*", "a.b", true),
            ("a.*", "a.*", true),
            ("a.*", "a.>", false),
            ("a.b", "a.*", false),
            ("a.*", "a.b.c", false),
            ("a.>", "a.b.c", true),
            ("a.>", "a.>", true),
            ("a.>", "a", false),
            (">", "a.*", true),
        ] {
            assert_eq!(covers(pattern, other), expected, "{pattern} {other}");
        }
    }

    #[test]
    fn the_api_cannot_curate_and_a_projection_tells_nothing() {
        for forbidden in [
            "loggia.curation.01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "loggia.account.7f",
            "loggia.command.import",
            "loggia.command.withdraw",
            "loggia.command.change_tier",
            "loggia.media.put",
            "$JS.API.STREAM.CREATE.EVENTS",
            "$JS.API.STREAM.DELETE.EVENTS",
            "$JS.API.STREAM.PURGE.USAGE_FREE",
            "$JS.API.CONSUMER.CREATE.EVENTS",
            "$JS.API.CONSUMER.CREATE.EVENTS.x",
            "$JS.API.CONSUMER.CREATE.EVENTS.x.loggia.account.*",
        ] {
            assert!(!may_publish(NatsRole::Serve, forbidden), "{forbidden}");
        }
        for subject in NatsRole::Project.publishes() {
            let asks = ["loggia.read.", "loggia.media.read", "$JS.API.", WHO_AM_I];
            assert!(asks.iter().any(|start| subject.starts_with(start)), "{subject}");
        }
        for role in NatsRole::ALL {
            for verb in ["DELETE", "PURGE", "RESTORE", "MSG.DELETE"] {
                assert!(!may_publish(role, &format!("$JS.API.STREAM.{verb}.EVENTS")), "{role} {verb}");
            }
        }
    }

    #[test]
    fn no_role_hears_the_answers_to_another() {
        for role in NatsRole::ALL {
            for other in NatsRole::ALL.into_iter().filter(|other| *other != role) {
                let inbox = format!("{}.x", other.inbox());
                assert!(!role.subscribes().iter().any(|pattern| covers(pattern, &inbox)), "{role} {other}");
            }
        }
    }

    #[test]
    fn the_write_side_alone_announces_the_log_and_who_projects_it_may_listen() {
        for role in [NatsRole::Project, NatsRole::Serve, NatsRole::Read, NatsRole::Up] {
            let announced = crate::subject::log_head(&role.inbox());
            assert!(role.subscribes().iter().any(|pattern| covers(pattern, &announced)), "{role}");
            for sender in NatsRole::ALL {
                let is_write_side = matches!(sender, NatsRole::Write | NatsRole::Up);
                assert_eq!(may_publish(sender, &announced), is_write_side, "{sender} to {role}");
            }
        }
    }

    #[test]
    fn whoever_is_all_at_once_may_what_each_may() {
        for part in [NatsRole::Write, NatsRole::Project, NatsRole::Serve] {
            for subject in part.publishes() {
                assert!(may_publish(NatsRole::Up, subject), "{part} {subject}");
            }
        }
        for part in [NatsRole::Project, NatsRole::Serve] {
            for subject in part.publishes() {
                assert!(may_publish(NatsRole::Read, subject), "{part} {subject}");
            }
        }
        assert!(!may_publish(NatsRole::Read, "loggia.curation.x"));
        assert!(!may_publish(NatsRole::Up, "loggia.command.import"), "that is asked over another connection");
    }
}
