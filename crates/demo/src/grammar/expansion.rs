//! Expands a [`Grammar`] for one record: its facts, drawn when first needed, and the texts that use them.

use super::{Grammar, NumberFormat, Rule, RuleSet, Segment, Slot, SlotFormat, TagSet};
use crate::repetition::RepetitionLimiter;
use crate::rng::Rng;
use crate::wording;

/// Random choices from a rule set before its rules are tried in order.
const RANDOM_TRIES: usize = 24;

/// Expansions that are offered to the limiter before the text is left out.
const LIMITED_TRIES: usize = 12;

/// The value of a slot.
#[derive(Clone, Copy, Debug)]
enum Fact {
    /// Not drawn yet.
    Unknown,
    /// The record does not have it: rules that need it fail.
    Absent,
    Static(&'static str),
    /// A range of [`Expansion::values`].
    Generated {
        from: u32,
        to: u32,
    },
}

/// The state of one record: its facts, its tags, and the rules used so far.
pub(crate) struct Expansion {
    grammar: &'static Grammar,
    pub(crate) rng: Rng,
    tags: TagSet,
    facts: Vec<Fact>,
    /// By slot: the rule chosen for it, which may have attributes.
    chosen: Vec<Option<&'static Rule>>,
    /// The generated facts, one after the other.
    values: String,
    /// The keys of the rules used so far.
    used: Vec<u64>,
    year: Option<i32>,
}

impl Expansion {
    /// Creates the state of a record without facts. The buffers of an `earlier` one are reused.
    pub(crate) fn new(grammar: &'static Grammar, rng: Rng, earlier: Option<Self>) -> Self {
        let (mut facts, mut chosen, mut values, mut used) = earlier
            .map_or_else(Default::default, |earlier| {
                (earlier.facts, earlier.chosen, earlier.values, earlier.used)
            });
        let slots = grammar.rule_sets.len();
        facts.clear();
        facts.resize(slots, Fact::Unknown);
        chosen.clear();
        chosen.resize(slots, None);
        values.clear();
        used.clear();
        Self { grammar, rng, tags: TagSet::default(), facts, chosen, values, used, year: None }
    }

    /// Sets a fact; with `None`, rules that need it fail.
    pub(crate) fn set_fact(&mut self, name: &str, value: Option<&'static str>) {
        let fact = value.map_or(Fact::Absent, Fact::Static);
        if let Some(slot) = self.grammar.slot(name) {
            self.store(slot, fact);
        }
    }

    /// Sets a fact to a value generated for this record; with `None`, rules that need it fail.
    pub(crate) fn set_generated(&mut self, name: &str, value: Option<&str>) {
        let fact = value.map_or(Fact::Absent, |value| self.append_value(value));
        if let Some(slot) = self.grammar.slot(name) {
            self.store(slot, fact);
        }
    }

    /// Sets the year for `{year}` and `{year+2}`.
    pub(crate) fn set_year(&mut self, year: Option<i32>) {
        self.year = year;
        self.set_generated("year", year.map(|year| year.to_string()).as_deref());
    }

    pub(crate) fn set_tag(&mut self, name: &str) {
        if let Some(tag) = self.grammar.tag(name) {
            self.tags.insert(tag);
        }
    }

    /// Returns the fact `name`; draws it if it is unknown.
    pub(crate) fn fact(&mut self, name: &str) -> Option<String> {
        let mut text = String::with_capacity(32);
        let slot = self.grammar.slot(name)?;
        self.write_slot(slot, SlotFormat::default(), &mut text).then_some(text)
    }

    /// Draws the fact `name` if it is unknown, before facts that depend on its tags.
    pub(crate) fn draw_fact(&mut self, name: &str) {
        let mut text = String::new();
        if let Some(slot) = self.grammar.slot(name) {
            self.write_fact(slot, &mut text);
        }
    }

    /// Appends an expansion of the rule set `name` by a rule that this record has not used yet. Returns false, and appends nothing, if
    /// no rule applies.
    pub(crate) fn expand(&mut self, name: &str, out: &mut String) -> bool {
        self.rules(name).is_some_and(|rules| self.choose(rules, Selection::Unused, out).is_some())
    }

    /// Expands like [`Self::expand`] within the limits of repetition over the catalog, and counts the use.
    pub(crate) fn expand_limited(
        &mut self,
        name: &str,
        out: &mut String,
        limiter: &mut RepetitionLimiter,
    ) -> bool {
        let Some(rules) = self.rules(name) else { return false };
        let start = out.len();
        for _ in 0..LIMITED_TRIES {
            // A rejected rule stays marked as used, so that each try is another rule.
            let Some(rule) = self.choose(rules, Selection::Limited(limiter), out) else { return false };
            if limiter.try_use(rule.key, &out[start..]) {
                return true;
            }
            out.truncate(start);
        }
        false
    }

    /// Expands like [`Self::expand`], also with rules that were used before.
    pub(crate) fn expand_any(&mut self, name: &str, out: &mut String) -> bool {
        self.rules(name).is_some_and(|rules| self.choose(rules, Selection::All, out).is_some())
    }

    fn rules(&self, name: &str) -> Option<&'static RuleSet> {
        self.grammar.slot(name).and_then(|slot| self.grammar.rule_set(slot))
    }

    fn store(&mut self, slot: Slot, fact: Fact) {
        if let Some(entry) = self.facts.get_mut(usize::from(slot)) {
            *entry = fact;
        }
    }

    fn append_value(&mut self, value: &str) -> Fact {
        let from = self.values.len() as u32;
        self.values.push_str(value);
        Fact::Generated { from, to: self.values.len() as u32 }
    }

    /// Chooses an applicable rule and appends its expansion; the tags that it sets hold from then on.
    fn choose(
        &mut self,
        rules: &'static RuleSet,
        selection: Selection,
        out: &mut String,
    ) -> Option<&'static Rule> {
        let start = out.len();
        let tags = self.tags;
        let count = rules.candidates(&tags).map(<[u16]>::len).sum();
        if count == 0 {
            return None;
        }
        for _ in 0..RANDOM_TRIES {
            let Some(rule) = rules.candidate(&tags, self.rng.below(count)) else { continue };
            if self.apply(rule, selection, start, out) {
                return Some(rule);
            }
        }
        let from = if rules.by_tag.is_empty() { 0 } else { self.rng.below(rules.rules.len()) };
        let (early, late) = rules.rules.split_at(from);
        late.iter().chain(early).find(|rule| self.apply(rule, selection, start, out))
    }

    /// Appends the expansion of a rule if it applies; returns whether it does.
    fn apply(&mut self, rule: &'static Rule, selection: Selection, start: usize, out: &mut String) -> bool {
        let mut conditions = rule.conditions.iter();
        let applies = conditions.all(|condition| condition.required == self.tags.intersects(&condition.any))
            && match selection {
                Selection::All => true,
                Selection::Unused => !self.used.contains(&rule.key),
                Selection::Limited(limiter) => {
                    !self.used.contains(&rule.key) && limiter.allows_rule(rule.key)
                }
            };
        if !applies || !self.write(&rule.template, out) {
            out.truncate(start);
            return false;
        }
        self.tags.extend(&rule.sets);
        if !matches!(selection, Selection::All) {
            self.used.push(rule.key);
        }
        true
    }

    fn write(&mut self, template: &'static [Segment], out: &mut String) -> bool {
        template.iter().all(|segment| match segment {
            Segment::Text(text) => {
                out.push_str(text);
                true
            }
            Segment::Slot { slot, format } => self.write_slot(*slot, *format, out),
            Segment::Number { low, high, step, format } => {
                let steps = (high - low) / step;
                let number = low + step * self.rng.range(0, steps);
                match format {
                    NumberFormat::Words => wording::spell(number, out),
                    NumberFormat::Grouped => wording::digits(number, out),
                    NumberFormat::Year => out.push_str(&number.to_string()),
                }
                true
            }
            Segment::Year(offset) => self.year.is_some_and(|year| {
                out.push_str(&(year + offset).to_string());
                true
            }),
            Segment::Choice(choices) => match self.rng.choose(choices) {
                Some(choice) => self.write(choice, out),
                None => true,
            },
        })
    }

    fn write_slot(&mut self, slot: Slot, format: SlotFormat, out: &mut String) -> bool {
        let start = out.len();
        if format.article {
            out.push_str("a ");
        }
        let from = out.len();
        let found = if format.fresh {
            self.grammar.rule_set(slot).is_some_and(|rules| self.choose(rules, Selection::All, out).is_some())
        } else {
            self.write_fact(slot, out)
        };
        if !found || out.len() == from {
            out.truncate(start);
            return found;
        }
        if format.title {
            let titled = wording::title(&out[from..]);
            out.truncate(from);
            out.push_str(&titled);
        }
        if format.article && wording::takes_an(&out[from..]) {
            out.insert(start + 1, 'n');
        }
        true
    }

    fn write_fact(&mut self, slot: Slot, out: &mut String) -> bool {
        match self.facts.get(usize::from(slot)).copied().unwrap_or(Fact::Absent) {
            Fact::Absent => false,
            Fact::Static(text) => {
                out.push_str(text);
                true
            }
            Fact::Generated { from, to } => {
                out.push_str(self.values.get(from as usize..to as usize).unwrap_or_default());
                true
            }
            Fact::Unknown => self.draw_value(slot, out),
        }
    }

    /// Draws a fact that is needed for the first time, stores and appends it.
    fn draw_value(&mut self, slot: Slot, out: &mut String) -> bool {
        let start = out.len();
        let known = if let Some(parent) = self.grammar.parent(slot) {
            self.attribute(parent, slot, out)
        } else if let Some(rules) = self.grammar.rule_set(slot) {
            let rule = self.choose(rules, Selection::All, out);
            if let Some(entry) = self.chosen.get_mut(usize::from(slot)) {
                *entry = rule;
            }
            rule.is_some()
        } else {
            false
        };
        let fact = if known { self.append_value(&out[start..]) } else { Fact::Absent };
        self.store(slot, fact);
        known
    }

    fn attribute(&mut self, parent: Slot, slot: Slot, out: &mut String) -> bool {
        let at = usize::from(parent);
        if matches!(self.facts.get(at), Some(Fact::Unknown)) {
            let start = out.len();
            self.draw_value(parent, out);
            out.truncate(start);
        }
        let rule = self.chosen.get(at).copied().flatten();
        let template = rule.and_then(|rule| rule.attributes.iter().find(|(name, _)| *name == slot));
        let start = out.len();
        template.is_some_and(|(_, template)| {
            let written = self.write(template, out);
            if !written {
                out.truncate(start);
            }
            written
        })
    }
}

/// The rules that may be chosen.
#[derive(Clone, Copy)]
enum Selection<'a> {
    All,
    /// Those that this record has not used.
    Unused,
    /// Those that this record has not used and that are below their limit.
    Limited(&'a RepetitionLimiter),
}
