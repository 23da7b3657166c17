//! How often the catalog has said a sentence already, so that none of them wears out.

use super::slugs::digest;

/// Counters a kind; two texts that share one are both held back a little early, which is rare and harmless.
const COUNTERS: usize = 1 << 16;

/// How often something may be said: `free` times before anything is held back, then in one of `spacing` records.
struct Measure {
    free: usize,
    spacing: usize,
}

/// A sentence, word for word.
const SENTENCE: Measure = Measure { free: 2, spacing: 300 };
/// A line of the text files, whatever its slots hold.
const LINE: Measure = Measure { free: 5, spacing: 100 };

/// Counts sentences and lines in a fixed room, however long the catalog.
pub(super) struct Weariness {
    sentences: Vec<u32>,
    lines: Vec<u32>,
    records: usize,
}

impl Weariness {
    pub(super) fn new() -> Self {
        Self { sentences: vec![0; COUNTERS], lines: vec![0; COUNTERS], records: 0 }
    }

    /// Begins another record.
    pub(super) fn next_record(&mut self) {
        self.records += 1;
    }

    /// Whether anything may be told from the line with the key `line`.
    pub(super) fn allows_line(&self, line: u64) -> bool {
        self.room(&self.lines, slot(line), &LINE)
    }

    fn room(&self, counters: &[u32], at: usize, measure: &Measure) -> bool {
        counters.get(at).is_none_or(|said| (*said as usize) < measure.free + self.records / measure.spacing)
    }

    /// Whether `sentence`, told from the line with the key `line`, may be said once more; if so, both count as said.
    pub(super) fn allows(&mut self, line: u64, sentence: &str) -> bool {
        let (sentence, line) = (slot(digest(&[sentence])), slot(line));
        let fresh = self.room(&self.sentences, sentence, &SENTENCE);
        if fresh {
            for said in [self.sentences.get_mut(sentence), self.lines.get_mut(line)].into_iter().flatten() {
                *said += 1;
            }
        }
        fresh
    }
}

fn slot(digest: u64) -> usize {
    (digest >> 40) as usize % COUNTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_held_back_and_comes_back() {
        let mut weariness = Weariness::new();
        let said = |weariness: &mut Weariness| {
            (0..9).filter(|line| weariness.allows(line << 40, "It won nothing.")).count()
        };
        assert_eq!(said(&mut weariness), SENTENCE.free);
        assert!(weariness.allows(0, "It won a prize."));
        (0..SENTENCE.spacing).for_each(|_| weariness.next_record());
        assert_eq!(said(&mut weariness), 1, "once more after so many records");
    }

    #[test]
    fn a_line_is_held_back_whatever_it_says() {
        let mut weariness = Weariness::new();
        let line = 77 << 40;
        for number in 0..LINE.free {
            assert!(weariness.allows_line(line) && weariness.allows(line, &format!("There are {number}.")));
        }
        assert!(!weariness.allows_line(line));
        assert!(weariness.allows_line(line + (1 << 40)));
    }
}
