//! A stream that lost calls accepts no new ones until they are restored: otherwise keys would get more than their quota. While it
//! is closed it listens on other subjects, to which only the ledger publishes, and stores the messages under the subjects of the
//! calls. Nodes get no acknowledgement, as if NATS were unreachable, and write calls to their spools. Being closed is part of the
//! stream's configuration, so it outlasts every process.

use async_nats::Client;
use async_nats::jetstream::stream::{Config, Stream, SubjectTransform};
use schemas::subject::{returned, returning};

use super::{UsageStreamError, context, find, update};

/// Returns the configuration that accepts only restored calls; `None` for a stream that is never closed.
pub(super) fn closed(config: &Config) -> Option<Config> {
    let [open] = &config.subjects[..] else { return None };
    let (source, base) = (returning(open)?, open.strip_suffix(".*.*")?);
    let destination = format!("{base}.{{{{wildcard(1)}}}}.{{{{wildcard(2)}}}}");
    Some(Config {
        subjects: vec![source.clone()],
        subject_transform: Some(SubjectTransform { source, destination }),
        ..config.clone()
    })
}

/// Returns the configuration that accepts new calls; `None` for a stream that is not closed.
pub(super) fn opened(config: &Config) -> Option<Config> {
    let [subject] = &config.subjects[..] else { return None };
    let open = Config { subjects: vec![returned(subject)?], subject_transform: None, ..config.clone() };
    let wanted = closed(&open)?;
    (wanted.subject_transform == config.subject_transform).then_some(open)
}

/// Returns whether a stream accepts only restored calls.
pub(crate) fn is_closed(stream: &Stream) -> bool {
    opened(&stream.cached_info().config).is_some()
}

/// Closes a stream for new calls. Returns `false` for the stream of overruns, which has no quota and stays open.
pub(crate) async fn close(client: &Client, name: &str) -> Result<bool, UsageStreamError> {
    change(client, name, closed).await
}

/// Opens a stream for new calls again.
pub(crate) async fn open(client: &Client, name: &str) -> Result<(), UsageStreamError> {
    change(client, name, opened).await.map(drop)
}

async fn change(
    client: &Client,
    name: &str,
    changed: impl Fn(&Config) -> Option<Config>,
) -> Result<bool, UsageStreamError> {
    let jetstream = context(client);
    let Some(stream) = find(&jetstream, name).await? else {
        return Err(UsageStreamError::nats(format!("the stream {name} is gone")));
    };
    match changed(&stream.cached_info().config) {
        Some(config) => update(&jetstream, &config).await.map(|()| true),
        None => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{metering, overruns};
    use super::*;

    #[test]
    fn a_closed_stream_is_the_open_one_with_other_subjects() {
        let open = metering("USAGE_FREE", "loggia.usage.free.*.*".into(), 200);
        let shut = closed(&open).unwrap();
        assert_eq!(shut.subjects, ["loggia.usage._free.*.*"]);
        let transform = shut.subject_transform.clone().unwrap();
        assert_eq!(
            (transform.source.as_str(), transform.destination.as_str()),
            ("loggia.usage._free.*.*", "loggia.usage.free.{{wildcard(1)}}.{{wildcard(2)}}")
        );
        assert_eq!(opened(&shut), Some(open.clone()));
        assert_eq!((opened(&open), closed(&shut), closed(&overruns())), (None, None, None));
    }

    #[test]
    fn a_stream_with_another_transform_is_not_closed() {
        let shut = closed(&metering("USAGE_FREE", "loggia.usage.free.*.*".into(), 200)).unwrap();
        assert_eq!(opened(&Config { subject_transform: None, ..shut }), None);
    }
}
