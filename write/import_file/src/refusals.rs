//! The lines that are refused, counted by reason: a fault that many lines have is said once.

use std::collections::BTreeMap;

use schemas::import::Fault;

use crate::numbers::grouped;

/// The most reasons that are counted by themselves.
const MAX_REASONS: usize = 1_000;

/// How many reasons are said.
const SAID: usize = 20;

/// The refused lines by field and reason, each with how many have it and where the first is.
#[derive(Debug, Default)]
pub struct Refusals {
    reasons: BTreeMap<(String, String), (u64, String)>,
    others: u64,
}

impl Refusals {
    /// Counts the faults of a line.
    pub fn add(&mut self, place: &str, faults: &[Fault]) {
        for Fault { field, reason } in faults {
            let key = (field.clone(), reason.clone());
            if self.reasons.len() >= MAX_REASONS && !self.reasons.contains_key(&key) {
                self.others += 1;
                continue;
            }
            self.reasons.entry(key).or_insert_with(|| (0, place.to_owned())).0 += 1;
        }
    }

    /// Returns a sentence for each reason, the most frequent first.
    pub fn sentences(&self) -> Vec<String> {
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (number, _))| std::cmp::Reverse(*number));
        let said = reasons.iter().take(SAID).map(|((field, reason), (number, first))| {
            let subject = if field.is_empty() { "the line" } else { field };
            match number {
                1 => format!("Refused: {first}, {subject} {reason}."),
                _ => format!("Refused: {} times, {subject} {reason} (first {first}).", grouped(*number)),
            }
        });
        let mut sentences: Vec<String> = said.collect();
        let further: u64 = reasons.iter().skip(SAID).map(|(_, (number, _))| number).sum();
        if further + self.others > 0 {
            sentences.push(format!(
                "Refused: {} times for other reasons; --rejects FILE has all.",
                grouped(further + self.others)
            ));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once_with_its_count() {
        let fault = |field: &str, reason: &str| Fault { field: field.into(), reason: reason.into() };
        let mut refusals = Refusals::default();
        refusals.add("line 2", &[fault("year", "is 2099"), fault("", "is too long")]);
        refusals.add("line 3", &[fault("year", "is 2099")]);
        assert_eq!(
            refusals.sentences(),
            ["Refused: 2 times, year is 2099 (first line 2).", "Refused: line 2, the line is too long."]
        );
    }

    #[test]
    fn further_reasons_are_counted_together() {
        let mut refusals = Refusals::default();
        for number in 0..MAX_REASONS + 5 {
            refusals.add("line 2", &[Fault { field: String::new(), reason: format!("is {number}") }]);
        }
        let sentences = refusals.sentences();
        assert_eq!(sentences.len(), SAID + 1);
        assert_eq!(sentences[SAID], "Refused: 985 times for other reasons; --rejects FILE has all.");
    }
}
