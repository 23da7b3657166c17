//! Ids of commands that are parts of another command, the same whenever that one is sent again.

use schemas::ids::CommandId;
use sha2::{Digest, Sha256};

/// Returns the id of one part of a command, by the kind of the part and its index. It has the time of the whole's id, so that the
/// ids of one import are near each other in an index.
pub fn derived_id(whole: CommandId, kind: &str, index: usize) -> CommandId {
    let digest = Sha256::new()
        .chain_update(whole.0)
        .chain_update((index as u64).to_be_bytes())
        .chain_update(kind)
        .finalize();
    let mut bytes = *whole.0.as_bytes();
    bytes[6..].copy_from_slice(&digest[..10]);
    CommandId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::clock::Clock;

    #[test]
    fn derived_ids_are_distinct_and_have_the_time_of_the_whole() {
        let clock = Clock::system();
        let whole = clock.command_id();
        let mut ids: Vec<_> = (0..100).map(|index| derived_id(whole, "line", index)).collect();
        ids.extend((0..100).map(|index| derived_id(whole, "message", index)));
        assert!(ids.iter().all(|part| part.0.as_bytes()[..6] == whole.0.as_bytes()[..6]));
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 200);
        assert_eq!(derived_id(whole, "line", 7), ids[7]);
        assert_ne!(derived_id(clock.command_id(), "line", 7), ids[7]);
    }
}
