//! A list of neighbours as it is stored: eight bytes each, nearest first.

use super::LISTED;

/// The length of an entry in bytes: the ordinal (4) and the cosine of each side (2 each), little-endian.
pub(super) const ENTRY: usize = 8;

/// The value in place of a cosine if one of the projects has no vector on this side.
const NO_SIDE: u16 = u16::MAX;

/// The number of steps between the cosines 0 and 1. Negative cosines are stored too, since the score is the mean of the actual
/// cosines.
const STEPS: f32 = 32_767.0;

/// A project in a list of neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The position of the event that selected it.
    pub ordinal: u64,
    /// The similarity, from 0 to 1: the mean of the cosines of the common sides, or 0 if that is negative. It never increases within a
    /// list.
    pub score: f32,
    /// The visual similarity, from 0 to 1; `None` if one of them has no visual vector.
    pub visual: Option<f32>,
    /// The semantic similarity, from 0 to 1; `None` if one of them has no semantic vector.
    pub semantic: Option<f32>,
}

/// The neighbours of a project, nearest first: at most [`LISTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    entries: [[u8; ENTRY]; LISTED],
    len: u8,
}

impl Neighbours {
    /// Reads at most the first [`LISTED`] entries of a stored list.
    pub(super) fn read(list: &[u8]) -> Neighbours {
        let (stored, _) = list.as_chunks::<ENTRY>();
        let stored = &stored[..stored.len().min(LISTED)];
        let mut entries = [[0; ENTRY]; LISTED];
        entries[..stored.len()].copy_from_slice(stored);
        Neighbours { entries, len: stored.len() as u8 }
    }

    /// Returns the number of neighbours.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Returns whether no other project can be compared with this one.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the neighbours, nearest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Neighbour> {
        // Rounding the cosines may reverse the order of two almost equal scores.
        let mut max = 1.0_f32;
        self.entries[..self.len()].iter().map(move |entry| {
            let neighbour = unpack(*entry, max);
            max = neighbour.score;
            neighbour
        })
    }
}

/// Decodes an entry; the score is at most `max`.
fn unpack([a, b, c, d, v, w, s, t]: [u8; ENTRY], max: f32) -> Neighbour {
    let cosine = |bytes| match u16::from_le_bytes(bytes) {
        NO_SIDE => None,
        steps => Some((f32::from(steps) - STEPS) / STEPS),
    };
    let (visual, semantic) = (cosine([v, w]), cosine([s, t]));
    let score = match (visual, semantic) {
        (Some(visual), Some(semantic)) => (visual + semantic) / 2.0,
        (one, other) => one.or(other).unwrap_or(0.0),
    };
    let shown = |cosine: f32| cosine.max(0.0);
    Neighbour {
        ordinal: u64::from(u32::from_le_bytes([a, b, c, d])),
        score: shown(score).min(max),
        visual: visual.map(shown),
        semantic: semantic.map(shown),
    }
}

#[cfg(feature = "apply")]
pub(super) fn pack(ordinal: u32, visual: Option<f32>, semantic: Option<f32>) -> [u8; ENTRY] {
    // Rounding can make the cosine of two equal unit vectors slightly larger than 1.
    let steps = |cosine: f32| ((cosine.clamp(-1.0, 1.0) + 1.0) * STEPS).round() as u16;
    let [a, b, c, d] = ordinal.to_le_bytes();
    let [v, w] = visual.map_or(NO_SIDE, steps).to_le_bytes();
    let [s, t] = semantic.map_or(NO_SIDE, steps).to_le_bytes();
    [a, b, c, d, v, w, s, t]
}

/// Returns the ordinals of a stored list, nearest first.
#[cfg(feature = "apply")]
pub(super) fn members(list: &[u8]) -> Vec<u32> {
    let (entries, _) = list.as_chunks::<ENTRY>();
    entries.iter().map(|[a, b, c, d, ..]| u32::from_le_bytes([*a, *b, *c, *d])).collect()
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    #[test]
    fn an_entry_round_trips_and_negative_cosines_are_shown_as_0() {
        let list = [
            pack(u32::MAX, Some(1.000_000_1), Some(0.5)),
            pack(7, Some(-0.25), Some(0.75)),
            pack(8, None, Some(-1.0)),
        ];
        let found: Vec<Neighbour> = Neighbours::read(list.as_flattened()).iter().collect();
        let close = |a: f32, b: f32| (a - b).abs() < 5e-5;
        assert_eq!(found[0].ordinal, u64::from(u32::MAX));
        assert!(close(found[0].score, 0.75) && found[0].visual == Some(1.0));
        assert!(close(found[1].score, 0.25), "the mean of both as they are: {:?}", found[1]);
        assert_eq!(found[1].visual, Some(0.0));
        assert_eq!(found[2], Neighbour { ordinal: 8, score: 0.0, visual: None, semantic: Some(0.0) });
        assert_eq!(members(list.as_flattened()), [u32::MAX, 7, 8]);
    }

    #[test]
    fn scores_never_increase_and_no_more_than_50_are_listed() {
        let list: Vec<[u8; ENTRY]> = (0..64).map(|n| pack(n, Some(0.5 + n as f32 * 1e-4), None)).collect();
        let neighbours = Neighbours::read(list.as_flattened());
        assert_eq!(neighbours.len(), LISTED);
        assert!(neighbours.iter().is_sorted_by(|a, b| a.score >= b.score));
    }
}
