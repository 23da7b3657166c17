//! Checks whether an existing stream can be used for metering.

use async_nats::jetstream::stream::Config;
use nats::stream_settings::{self, is_unlimited};

use super::{SCHEMA, SCHEMA_VERSION, closing, lowering};

/// Returns why a stream with this configuration must not be used for metering, as a sentence; `None` if it can. The quota may
/// differ.
pub(super) fn incompatibility(config: &Config, wanted: &Config) -> Option<String> {
    let open = closing::opened(config);
    let config = open.as_ref().unwrap_or(config);
    let name = &config.name;
    match config.metadata.get(SCHEMA).map(String::as_str) {
        Some(SCHEMA_VERSION) => {}
        None => {
            return Some(format!(
                "the stream {name} on NATS was not made by Loggia; delete or rename it, or use another NATS account"
            ));
        }
        Some(_) => {
            return Some(format!("the stream {name} on NATS was made by a newer Loggia; use that one"));
        }
    }
    let own = [
        ("discard_new_per_subject", config.discard_new_per_subject == wanted.discard_new_per_subject),
        (
            "max_msgs_per_subject",
            is_unlimited(config.max_messages_per_subject) == is_unlimited(wanted.max_messages_per_subject),
        ),
        ("duplicate_window", config.duplicate_window == wanted.duplicate_window),
        ("max_msg_size", is_unlimited(config.max_message_size.into()) || lowering::is_halted(config)),
        ("allow_direct", config.allow_direct),
        ("deny_delete", config.deny_delete),
        ("deny_purge", config.deny_purge),
    ];
    let setting = stream_settings::mismatch(config, wanted, &own)?;
    Some(format!(
        "the stream {name} on NATS has another setting of {setting} than Loggia made it with, so calls would be \
         counted wrong; set it back, or delete the stream: it is created again, and the ledger fills it"
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_nats::jetstream::stream::{DiscardPolicy, StorageType};

    use super::super::metering;
    use super::*;

    /// A setting's name, and how it is changed.
    type Change = (&'static str, fn(&mut Config));

    fn reason(change: impl FnOnce(&mut Config)) -> Option<String> {
        let wanted = metering("USAGE_FREE", "loggia.usage.free.*.*".into(), 200);
        let mut config = wanted.clone();
        change(&mut config);
        incompatibility(&config, &wanted)
    }

    #[test]
    fn our_own_stream_is_accepted_with_any_quota_and_number_of_replicas() {
        assert_eq!(reason(|_| {}), None);
        assert_eq!(reason(|config| *config = closing::closed(config).unwrap()), None);
        assert_eq!(
            reason(|config| {
                config.num_replicas = 3;
                config.max_messages_per_subject = 5_000;
                config.max_message_size = lowering::HALTED;
            }),
            None
        );
    }

    #[test]
    fn a_setting_that_would_count_wrong_is_named() {
        let changes: [Change; 8] = [
            ("discard", |config| config.discard = DiscardPolicy::Old),
            ("discard_new_per_subject", |config| config.discard_new_per_subject = false),
            ("max_msgs_per_subject", |config| config.max_messages_per_subject = -1),
            ("max_age", |config| config.max_age = Duration::from_secs(60)),
            ("max_msgs", |config| config.max_messages = 10),
            ("deny_purge", |config| config.deny_purge = false),
            ("subjects", |config| config.subjects = vec!["loggia.usage.>".into()]),
            ("storage", |config| config.storage = StorageType::Memory),
        ];
        for (setting, change) in changes {
            assert_eq!(
                reason(change).unwrap(),
                format!(
                    "the stream USAGE_FREE on NATS has another setting of {setting} than Loggia made it with, so calls \
                     would be counted wrong; set it back, or delete the stream: it is created again, and the \
                     ledger fills it"
                )
            );
        }
        let foreign = reason(|config| config.metadata.clear()).unwrap();
        assert!(foreign.starts_with("the stream USAGE_FREE on NATS was not made by Loggia"), "{foreign}");
        let newer = reason(|config| drop(config.metadata.insert(SCHEMA.into(), "2".into()))).unwrap();
        assert_eq!(newer, "the stream USAGE_FREE on NATS was made by a newer Loggia; use that one");
    }
}
