//! The role of a process, and the NATS user of each role, with the subjects that the role needs and no more.
//!
//! The binary connects as the user of its role and writes the users into the configuration of a cluster; the write side takes from it
//! where the other roles listen.

use nats::user::{Responses, USER_INFO, User, covers};
use schemas::subject::{
    COMMANDS, EVENT_SUBJECTS, OVERRUN_SUBJECTS, PUT_PICTURE, READ_EVENTS, READ_PICTURE, READ_USAGE,
};

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessRole {
    /// `loggia write`.
    Write,
    /// `loggia project`.
    Project,
    /// `loggia serve`.
    Serve,
    /// `loggia read`: `project` and `serve` in one process.
    Read,
    /// `loggia up` and any other process that is both write side and read node.
    Up,
    /// A command of the command line that queries or controls running nodes.
    Operator,
}

/// The subjects of all metered calls.
const CALLS: &str = "loggia.usage.*.*.*";

const OWNS_STREAMS: [&str; 10] = [
    "$JS.API.STREAM.INFO.*",
    "$JS.API.STREAM.CREATE.*",
    "$JS.API.STREAM.UPDATE.*",
    "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.CONSUMER.CREATE.*",
    // A consumer that was lost with its server is created again under its name, and under its filter if it has one.
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

/// Creating a named consumer of calls with a filter.
const READS_CALLS: &str = "$JS.API.CONSUMER.CREATE.*.*.loggia.usage.*.*.*";

/// Creating a named consumer of calls over the quota with a filter.
const READS_OVERRUNS: &str = "$JS.API.CONSUMER.CREATE.*.*.loggia.overrun.*.*.*";

/// Subjects that users of an earlier version lack, and that a role can do without.
const DISPENSABLE: [&str; 1] = [READS_OVERRUNS];

const WRITES: [&str; 4] = [EVENT_SUBJECTS[0], EVENT_SUBJECTS[1], CALLS, OVERRUN_SUBJECTS];

/// The inboxes of the roles that send requests to the write side. The `allow_responses` permission would not do: it
/// ends with the connection, which would lose pending replies when a server stops.
const ANSWERS_TO: [&str; 5] =
    ["_INBOX.project.>", "_INBOX.serve.>", "_INBOX.read.>", "_INBOX.operator.>", "_INBOX.up.>"];

const PROJECTS: [&str; 3] = [READ_EVENTS, READ_USAGE, READ_PICTURE];

/// Only the commands of the key form, of mailed links and of payments; none changes the catalog.
const SERVES: [&str; 14] = [
    CALLS,
    OVERRUN_SUBJECTS,
    "loggia.command.issue_key",
    "loggia.command.send_link",
    "loggia.command.open_link",
    "loggia.command.use_link",
    "loggia.command.erase_by_link",
    "loggia.command.record_payment",
    "loggia.command.keep_notice",
    "$JS.API.STREAM.INFO.EVENTS",
    READS_CALLS,
    READS_OVERRUNS,
    "$JS.API.CONSUMER.INFO.*.*",
    "$JS.API.CONSUMER.MSG.NEXT.*.*",
];

const OPERATES: [&str; 5] = [COMMANDS, PUT_PICTURE, "loggia.control.*.*", READ_EVENTS, READ_USAGE];

impl ProcessRole {
    /// All roles.
    pub const ALL: [ProcessRole; 6] = [
        ProcessRole::Write,
        ProcessRole::Project,
        ProcessRole::Serve,
        ProcessRole::Read,
        ProcessRole::Up,
        ProcessRole::Operator,
    ];

    /// Returns the users of all roles.
    pub fn users() -> Vec<User> {
        Self::ALL.map(User::from).to_vec()
    }

    /// Returns the role's name, which is also the name of its credentials file.
    pub fn name(self) -> &'static str {
        match self {
            ProcessRole::Write => "write",
            ProcessRole::Project => "project",
            ProcessRole::Serve => "serve",
            ProcessRole::Read => "read",
            ProcessRole::Up => "up",
            ProcessRole::Operator => "operator",
        }
    }

    /// Returns the prefix of the subjects on which the role receives replies; no other role may subscribe there.
    pub fn inbox(self) -> String {
        format!("_INBOX.{}", self.name())
    }

    /// Returns the subjects it publishes to.
    pub fn publishes(self) -> Vec<&'static str> {
        let mut subjects = match self {
            ProcessRole::Write => [&WRITES[..], &ANSWERS_TO, &OWNS_STREAMS].concat(),
            ProcessRole::Project => [&PROJECTS[..], &READS_STREAMS].concat(),
            ProcessRole::Serve => SERVES.to_vec(),
            ProcessRole::Operator => [&OPERATES[..], &READS_STREAMS].concat(),
            ProcessRole::Read => without_covered(
                &[ProcessRole::Project, ProcessRole::Serve].map(ProcessRole::publishes).concat(),
            ),
            ProcessRole::Up => {
                let all = [ProcessRole::Write, ProcessRole::Project, ProcessRole::Serve]
                    .map(ProcessRole::publishes)
                    .concat();
                without_covered(&all)
            }
        };
        if !subjects.contains(&USER_INFO) {
            subjects.push(USER_INFO);
        }
        subjects
    }

    /// Returns the subjects it must be allowed to publish to: [`ProcessRole::publishes`] without those that users of an
    /// earlier version lack.
    fn must_publish(self) -> Vec<&'static str> {
        self.publishes().into_iter().filter(|subject| !DISPENSABLE.contains(subject)).collect()
    }

    /// Returns the subjects it subscribes to.
    pub fn subscribes(self) -> Vec<String> {
        let requests: &[&str] = match self {
            ProcessRole::Write => &[COMMANDS, READ_EVENTS, READ_USAGE, PUT_PICTURE, READ_PICTURE],
            ProcessRole::Project | ProcessRole::Read => &["loggia.control.*.*"],
            ProcessRole::Up => {
                &[COMMANDS, READ_EVENTS, READ_USAGE, PUT_PICTURE, READ_PICTURE, "loggia.control.*.*"]
            }
            ProcessRole::Serve | ProcessRole::Operator => &[],
        };
        let inbox = format!("{}.>", self.inbox());
        requests.iter().map(|subject| (*subject).to_owned()).chain([inbox]).collect()
    }

    /// Returns the permission to reply to requests, in addition to [`ProcessRole::publishes`].
    pub fn responses(self) -> Option<Responses> {
        match self {
            // A rebuild sends its progress as replies to one request.
            ProcessRole::Project | ProcessRole::Read => Some(Responses { max: -1, minutes: 24 * 60 }),
            ProcessRole::Write | ProcessRole::Up | ProcessRole::Serve | ProcessRole::Operator => None,
        }
    }
}

impl From<ProcessRole> for User {
    fn from(role: ProcessRole) -> User {
        User {
            name: role.name(),
            inbox: role.inbox(),
            publishes: role.publishes(),
            must_publish: role.must_publish(),
            subscribes: role.subscribes(),
            responses: role.responses(),
        }
    }
}

impl std::fmt::Display for ProcessRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Removes duplicates and patterns that another one covers.
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
    use nats::user::Permissions;

    use super::*;

    /// The table in docs/cluster.md.
    fn table() -> String {
        let mut table = "| user | sends to | listens to |\n|---|---|---|\n".to_owned();
        for role in ProcessRole::ALL {
            let cell = |subjects: Vec<String>| -> String {
                subjects.iter().map(|subject| format!("`{subject}`")).collect::<Vec<_>>().join(" ")
            };
            let sends = cell(role.publishes().into_iter().map(str::to_owned).collect());
            let answers = if role.responses().is_some() { " and answers to what it is asked" } else { "" };
            table += &format!("| {role} | {sends}{answers} | {} |\n", cell(role.subscribes()));
        }
        table
    }

    #[test]
    fn the_guide_lists_the_permissions_of_each_user() {
        let guide = include_str!("../../../docs/cluster.md");
        assert!(guide.contains(&table()), "docs/cluster.md must have this table:\n{}", table());
    }

    #[test]
    fn each_role_has_a_user() {
        let names: Vec<_> = ProcessRole::users().into_iter().map(|user| user.name).collect();
        assert_eq!(names, ["write", "project", "serve", "read", "up", "operator"]);
    }

    fn may_publish(role: ProcessRole, subject: &str) -> bool {
        role.publishes().iter().any(|pattern| covers(pattern, subject))
    }

    #[test]
    fn a_role_accepts_its_own_user_and_no_other() {
        for role in ProcessRole::ALL {
            assert_eq!(User::from(role).check(&Permissions::default()), Ok(()), "{role} without any limit");
            for other in ProcessRole::ALL {
                let permissions = User::from(other).permissions();
                assert_eq!(User::from(role).check(&permissions).is_ok(), role == other, "{role} as {other}");
            }
        }
        assert_eq!(
            User::from(ProcessRole::Serve)
                .check(&User::from(ProcessRole::Project).permissions())
                .unwrap_err()
                .to_string(),
            "nats_creds: the NATS user is not that of the role “serve”: it may not publish to loggia.usage.*.*.* and 9 \
             more; give this process the file users/serve.nk that `loggia nats config` made, or the user these permissions"
        );
    }

    #[test]
    fn the_users_that_release_0_1_made_are_accepted() {
        for role in ProcessRole::ALL {
            let mut user = User::from(role);
            user.publishes.retain(|subject| !subject.contains(".loggia.overrun."));
            assert_eq!(User::from(role).check(&user.permissions()), Ok(()), "{role}");
        }
    }

    #[test]
    fn the_api_cannot_send_curation_commands_and_a_projection_publishes_nothing() {
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
            assert!(!may_publish(ProcessRole::Serve, forbidden), "{forbidden}");
        }
        for subject in ProcessRole::Project.publishes() {
            let asks = ["loggia.read.", "loggia.media.read", "$JS.API.", USER_INFO];
            assert!(asks.iter().any(|start| subject.starts_with(start)), "{subject}");
        }
        for role in ProcessRole::ALL {
            for verb in ["DELETE", "PURGE", "RESTORE", "MSG.DELETE"] {
                assert!(!may_publish(role, &format!("$JS.API.STREAM.{verb}.EVENTS")), "{role} {verb}");
            }
        }
    }

    #[test]
    fn no_role_can_receive_the_replies_to_another() {
        for role in ProcessRole::ALL {
            for other in ProcessRole::ALL.into_iter().filter(|other| *other != role) {
                let inbox = format!("{}.x", other.inbox());
                assert!(!role.subscribes().iter().any(|pattern| covers(pattern, &inbox)), "{role} {other}");
            }
        }
    }

    #[test]
    fn only_the_write_side_publishes_the_log_head_and_projections_may_subscribe() {
        for role in [ProcessRole::Project, ProcessRole::Serve, ProcessRole::Read, ProcessRole::Up] {
            let announced = schemas::subject::log_head(&role.inbox());
            assert!(role.subscribes().iter().any(|pattern| covers(pattern, &announced)), "{role}");
            for sender in ProcessRole::ALL {
                let is_write_side = matches!(sender, ProcessRole::Write | ProcessRole::Up);
                assert_eq!(may_publish(sender, &announced), is_write_side, "{sender} to {role}");
            }
        }
    }

    #[test]
    fn the_combined_role_has_the_permissions_of_each() {
        for part in [ProcessRole::Write, ProcessRole::Project, ProcessRole::Serve] {
            for subject in part.publishes() {
                assert!(may_publish(ProcessRole::Up, subject), "{part} {subject}");
            }
        }
        for part in [ProcessRole::Project, ProcessRole::Serve] {
            for subject in part.publishes() {
                assert!(may_publish(ProcessRole::Read, subject), "{part} {subject}");
            }
        }
        assert!(!may_publish(ProcessRole::Read, "loggia.curation.x"));
        assert!(
            !may_publish(ProcessRole::Up, "loggia.command.import"),
            "that is asked over another connection"
        );
    }
}
