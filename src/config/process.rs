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
