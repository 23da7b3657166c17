//! The start and the end of a process, and its clock.

use settings::values::{Seconds, TimeOffset};
use settings::{Value, section};
use snapshot_transfer::SnapshotSource;

section! {
    /// What a node starts from, how long it drains, and its clock.
    Process {
        snapshot: Option<SnapshotSource> = Value::optional => "snapshot"
            "What an empty read node starts from: a folder made by loggia snapshot, or http://TOKEN@… with the admin_listen address of \
             another node and the token in its file snapshot.token; unset: the first event." {
                shape: "DIR|URL",
                example: "http://TOKEN@10.0.0.7:9090",
                secret: true,
            },
        start_with: StartWith = |value| value.one_of(START_WITH) => "start_with"
            "What an empty catalog gets when loggia up starts it: demo, a catalog of 2,600 invented projects, or nothing." {
                shape: "demo|nothing",
                example: "nothing",
                default: Some("demo"),
            },
        drain: Seconds<60> = Value::required => "drain"
            "How long a node that is stopping still serves, not ready, before it ends within 10 s; at most 60s." {
                shape: "SECONDS",
                example: "10s",
                default: Some("0s"),
            },
        clock_offset: TimeOffset<366> = Value::required => "clock_offset"
            "Sets the clock of this process ahead (40d, 10m) or back (-10m), for rehearsals; 0s in production." {
                shape: "TIME",
                example: "40d",
                default: Some("0s"),
            },
    }
}

const START_WITH: [(&str, StartWith); 2] = [("demo", StartWith::Demo), ("nothing", StartWith::Nothing)];

/// What an empty catalog gets at its first start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartWith {
    /// The demo catalog.
    Demo,
    /// Nothing: its projects are imported.
    Nothing,
}
