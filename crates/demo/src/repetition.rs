//! Limits how often sentences and rules repeat over the whole catalog.

use super::slugs::digest;

/// Counters per kind. Two texts with the same counter reach their limit earlier, which is rare and harmless.
const COUNTERS: usize = 1 << 16;

/// The limit of one kind: `free` uses, and one more for every `spacing` records.
struct Limit {
    free: usize,
    spacing: usize,
}

/// The limit of a sentence, compared word for word.
const SENTENCE: Limit = Limit { free: 2, spacing: 300 };
/// The limit of a rule, with any values in its slots.
const RULE: Limit = Limit { free: 5, spacing: 100 };

/// Counts sentences and rules, in a fixed amount of memory.
pub(super) struct RepetitionLimiter {
    sentences: Vec<u32>,
    rules: Vec<u32>,
    records: usize,
}

impl RepetitionLimiter {
    pub(super) fn new() -> Self {
        Self { sentences: vec![0; COUNTERS], rules: vec![0; COUNTERS], records: 0 }
    }

    /// Starts the next record.
    pub(super) fn next_record(&mut self) {
        self.records += 1;
    }

    /// Returns whether the rule with this key is below its limit.
    pub(super) fn allows_rule(&self, rule: u64) -> bool {
        self.is_below(&self.rules, index(rule), &RULE)
    }

    fn is_below(&self, counters: &[u32], at: usize, limit: &Limit) -> bool {
        counters.get(at).is_none_or(|used| (*used as usize) < limit.free + self.records / limit.spacing)
    }

    /// Counts one more use of a sentence and of the rule that it was expanded from, if the sentence is below its limit; returns
    /// whether it is.
    pub(super) fn try_use(&mut self, rule: u64, sentence: &str) -> bool {
        let (sentence, rule) = (index(digest(&[sentence])), index(rule));
        let allowed = self.is_below(&self.sentences, sentence, &SENTENCE);
        if allowed {
            for used in [self.sentences.get_mut(sentence), self.rules.get_mut(rule)].into_iter().flatten() {
                *used += 1;
            }
        }
        allowed
    }
}

fn index(digest: u64) -> usize {
    (digest >> 40) as usize % COUNTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_limited_and_allowed_again_later() {
        let mut limiter = RepetitionLimiter::new();
        let uses = |limiter: &mut RepetitionLimiter| {
            (0..9).filter(|rule| limiter.try_use(rule << 40, "It won nothing.")).count()
        };
        assert_eq!(uses(&mut limiter), SENTENCE.free);
        assert!(limiter.try_use(0, "It won a prize."));
        (0..SENTENCE.spacing).for_each(|_| limiter.next_record());
        assert_eq!(uses(&mut limiter), 1, "one more use after 300 records");
    }

    #[test]
    fn a_rule_is_limited_with_any_text() {
        let mut limiter = RepetitionLimiter::new();
        let rule = 77 << 40;
        for number in 0..RULE.free {
            assert!(limiter.allows_rule(rule) && limiter.try_use(rule, &format!("There are {number}.")));
        }
        assert!(!limiter.allows_rule(rule));
        assert!(limiter.allows_rule(rule + (1 << 40)));
    }
}
