//! Checks of JetStream settings that all streams have in common, and changes of the number of replicas.

use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, ErrorCode};

/// Returns whether a JetStream limit means "unlimited".
pub fn is_unlimited(limit: i64) -> bool {
    limit <= 0
}

/// Returns the name of the first setting that differs from the expected one: of `own`, the settings particular to this stream with
/// whether each is right, then of those that all streams share. Other settings, such as the number of replicas, may differ.
pub fn mismatch(config: &Config, expected: &Config, own: &[(&'static str, bool)]) -> Option<&'static str> {
    let shared = [
        ("subjects", config.subjects == expected.subjects),
        ("retention", config.retention == expected.retention),
        ("discard", config.discard == expected.discard),
        ("storage", config.storage == expected.storage),
        ("max_age", config.max_age == expected.max_age),
        ("max_msgs", is_unlimited(config.max_messages)),
        ("max_bytes", is_unlimited(config.max_bytes)),
        ("no_ack", !config.no_ack),
        ("allow_rollup_hdrs", !config.allow_rollup),
        ("sealed", !config.sealed),
        ("mirror", config.mirror.is_none()),
        ("sources", config.sources.as_ref().is_none_or(Vec::is_empty)),
        ("subject_transform", config.subject_transform.is_none()),
    ];
    own.iter().chain(&shared).find(|(_, right)| !right).map(|(setting, _)| *setting)
}

/// Returns the configuration with `replicas` replicas if the stream has fewer. One with more keeps them: they do no harm, and removing
/// them is left to the operator.
pub fn with_more_replicas(config: &Config, replicas: usize) -> Option<Config> {
    let has = config.num_replicas.max(1);
    if has > replicas {
        tracing::warn!(
            stream = config.name,
            "the stream is kept on {has} servers, more than nats_replicas ({replicas}); this is not reduced"
        );
    } else if has < replicas {
        tracing::info!(
            stream = config.name,
            "the stream is kept on {replicas} servers from now on, not on {has}"
        );
        return Some(Config { num_replicas: replicas, ..config.clone() });
    }
    None
}

/// Returns a message for an error of JetStream that no retry can resolve, only a change of settings or streams; `None` for others.
pub fn permanent_error(error: &jetstream::Error, expected: &Config) -> Option<String> {
    let Config { name, num_replicas: replicas, .. } = expected;
    match error.error_code() {
        ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED => Some(format!(
            "nats_replicas is {replicas}, and the NATS server is in no cluster, so the stream {name} cannot be kept on \
             {replicas} servers; set it to 1, or name the servers of a cluster in nats_url"
        )),
        ErrorCode::STREAM_SUBJECT_OVERLAP => Some(format!(
            "the stream {name} cannot be made on NATS, because another stream has some of its subjects ({}); delete that \
             stream, or use another NATS account",
            expected.subjects.iter().map(|subject| subject.as_str()).collect::<Vec<_>>().join(", ")
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_raised_and_never_lowered() {
        let replicas = |has, wanted| {
            with_more_replicas(&Config { num_replicas: has, ..Config::default() }, wanted)
                .map(|config| config.num_replicas)
        };
        assert_eq!(replicas(1, 3), Some(3));
        assert_eq!(replicas(0, 1), None);
        assert_eq!(replicas(3, 3), None);
        assert_eq!(replicas(5, 3), None);
    }
}
