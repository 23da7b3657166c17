//! A list of neighbours as it is stored: eight bytes each, nearest first.

use super::LISTED;

/// How many bytes an entry takes: the ordinal, and the cosine of each side, all little-endian.
pub(super) const ENTRY: usize = 8;

/// Stands for the cosine of a side that is not common.
const NO_SIDE: u16 = u16::MAX;

/// Steps between the cosines 0 and 1. Cosines below 0 are kept too, for the score is the mean of both sides as they
/// are.
const STEPS: f32 = 32_767.0;

/// A project and how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The position of the event that selected it.
    pub ordinal: u64,
    /// How alike both are, from 0 to 1: the mean of the cosines of the common sides, 0 if that is less. It never grows
    /// within a list.
    pub score: f32,
    /// How alike they look, from 0 to 1; none if one of them has no visual vector.
    pub visual: Option<f32>,
    /// How alike they read, from 0 to 1; none if one of them has no semantic vector.
    pub semantic: Option<f32>,
}

/// The nearest of a project, nearest first: at most [`LISTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    entries: [[u8; ENTRY]; LISTED],
    len: u8,
}

impl Neighbours {
    /// Of the first entries of a stored list; what is beyond [`LISTED`] is left out.
    pub(super) fn read(list: &[u8]) -> Neighbours {
        let (stored, _) = list.as_chunks::<ENTRY>();
        let stored = &stored[..stored.len().min(LISTED)];
        let mut entries = [[0; ENTRY]; LISTED];
        entries[..stored.len()].copy_from_slice(stored);
        Neighbours { entries, len: stored.len() as u8 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there is nothing to compare the project with.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, nearest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Neighbour> {
        // Rounding each side may turn two that are almost equally near.
        let mut least = 1.0_f32;
        self.entries[..self.len()].iter().map(move |entry| {
            let neighbour = unpack(*entry, least);
            least = neighbour.score;
            neighbour
        })
    }
}

fn unpack([a, b, c, d, v, w, s, t]: [u8; ENTRY], most: f32) -> Neighbour {
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
        score: shown(score).min(most),
        visual: visual.map(shown),
        semantic: semantic.map(shown),
    }
}

/// The bytes of an entry.
#[cfg(feature = "apply")]
pub(super) fn pack(ordinal: u32, visual: Option<f32>, semantic: Option<f32>) -> [u8; ENTRY] {
    // Rounding can take the cosine of two equal unit vectors a little beyond 1.
    let steps = |cosine: f32| ((cosine.clamp(-1.0, 1.0) + 1.0) * STEPS).round() as u16;
    let [a, b, c, d] = ordinal.to_le_bytes();
    let [v, w] = visual.map_or(NO_SIDE, steps).to_le_bytes();
    let [s, t] = semantic.map_or(NO_SIDE, steps).to_le_bytes();
    [a, b, c, d, v, w, s, t]
}

/// Who is in a stored list, nearest first.
#[cfg(feature = "apply")]
pub(super) fn members(list: &[u8]) -> Vec<u32> {
    let (entries, _) = list.as_chunks::<ENTRY>();
    entries.iter().map(|[a, b, c, d, ..]| u32::from_le_bytes([*a, *b, *c, *d])).collect()
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    #[test]
    fn an_entry_survives_and_what_is_shown_begins_at_0() {
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
    fn a_score_never_grows_and_no_more_than_50_are_listed() {
        let list: Vec<[u8; ENTRY]> = (0..64).map(|n| pack(n, Some(0.5 + n as f32 * 1e-4), None)).collect();
        let neighbours = Neighbours::read(list.as_flattened());
        assert_eq!(neighbours.len(), LISTED);
        assert!(neighbours.iter().is_sorted_by(|a, b| a.score >= b.score));
    }
}
