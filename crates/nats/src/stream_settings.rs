//! The settings that no stream of Loggia may have otherwise, whatever it carries.

use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, ErrorCode};

/// Whether a limit of JetStream is none.
pub fn unlimited(limit: i64) -> bool {
    limit <= 0
}

/// The first setting that is not as it must be: of those that are right or wrong for this stream alone, then of those
/// that all streams share. What is missing in both may differ, such as the number of replicas.
pub fn wrong(config: &Config, wanted: &Config, own: &[(&'static str, bool)]) -> Option<&'static str> {
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

/// The configuration with as many copies as are wanted, where the stream has fewer. One that has more keeps them: they
/// are no harm, and taking them away is for the operator.
pub fn raised(config: &Config, replicas: usize) -> Option<Config> {
    let has = config.num_replicas.max(1);
    if has > replicas {
        tracing::warn!(
            stream = config.name,
            "the stream is kept on {has} servers, more than nats_replicas says ({replicas}); it stays so"
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

/// What is said where a stream cannot be as it is wanted for as long as nobody changes something.
pub fn impossible(error: &jetstream::Error, wanted: &Config) -> Option<String> {
    let Config { name, num_replicas: replicas, .. } = wanted;
    match error.error_code() {
        ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED => Some(format!(
            "nats_replicas is {replicas}, and the NATS server is in no cluster, so the stream {name} cannot be kept on \
             {replicas} servers; set it to 1, or name the servers of a cluster in nats_url"
        )),
        ErrorCode::STREAM_SUBJECT_OVERLAP => Some(format!(
            "the stream {name} cannot be made on NATS, because another stream has some of its subjects ({}); delete that \
             stream, or use another NATS account",
            wanted.subjects.iter().map(|subject| subject.as_str()).collect::<Vec<_>>().join(", ")
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_raised_and_never_lowered() {
        let of = |has, wanted| {
            raised(&Config { num_replicas: has, ..Config::default() }, wanted)
                .map(|config| config.num_replicas)
        };
        assert_eq!(of(1, 3), Some(3));
        assert_eq!(of(0, 1), None);
        assert_eq!(of(3, 3), None);
        assert_eq!(of(5, 3), None);
    }
}
