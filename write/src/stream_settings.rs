//! The settings that no stream of Loggia may have otherwise, whatever it carries.

use async_nats::jetstream::stream::Config;

/// Whether a limit of JetStream is none.
pub(crate) fn unlimited(limit: i64) -> bool {
    limit <= 0
}

/// The first setting that is not as it must be: of those that are right or wrong for this stream alone, then of those
/// that all streams share. What is missing in both may differ, such as the number of replicas.
pub(crate) fn wrong(config: &Config, wanted: &Config, own: &[(&'static str, bool)]) -> Option<&'static str> {
    let shared = [
        ("subjects", config.subjects == wanted.subjects),
        ("retention", config.retention == wanted.retention),
        ("discard", config.discard == wanted.discard),
        ("storage", config.storage == wanted.storage),
        ("max_age", config.max_age == wanted.max_age),
        ("max_msgs", unlimited(config.max_messages)),
        ("max_bytes", unlimited(config.max_bytes)),
        ("no_ack", !config.no_ack),
        ("allow_rollup_hdrs", !config.allow_rollup),
        ("sealed", !config.sealed),
        ("mirror", config.mirror.is_none()),
        ("sources", config.sources.as_ref().is_none_or(Vec::is_empty)),
        ("subject_transform", config.subject_transform.is_none()),
    ];
    own.iter().chain(&shared).find(|(_, right)| !right).map(|(setting, _)| *setting)
}
