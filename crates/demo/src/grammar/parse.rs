//! Parses text files into a [`Grammar`]. Errors are collected in it, so that parsing itself cannot fail.

use super::super::slugs::digest;
use super::{Condition, Grammar, NumberFormat, Rule, RuleSet, Segment, Slot, SlotFormat, TagSet};

impl Grammar {
    /// Parses all `sources`; `given` names the facts and `given_tags` the tags that the caller sets.
    pub(crate) fn parse(
        sources: &[&'static str],
        given: &[&'static str],
        given_tags: &[&'static str],
    ) -> Self {
        let mut grammar = Self::default();
        for name in given {
            grammar.intern(name);
        }
        let mut known_tags = TagSet::default();
        for tag in given_tags {
            known_tags.insert(grammar.intern_tag(tag));
        }
        for source in sources {
            grammar.read(source);
        }
        grammar.check(given, &mut known_tags);
        grammar
    }

    fn read(&mut self, source: &'static str) {
        let mut current: Option<Slot> = None;
        for text in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            if let Some(name) = text.strip_prefix("== ") {
                let slot = self.intern(name.trim());
                if let Some(entry) = self.rule_sets.get_mut(usize::from(slot)) {
                    entry.get_or_insert_with(RuleSet::default);
                }
                current = Some(slot);
                continue;
            }
            let Some(slot) = current else {
                self.faults.push(format!("A rule stands before the first heading: {text}"));
                continue;
            };
            let (rule, weight, index_tags) = self.rule(slot, text);
            if let Some(rule_set) = self.rule_sets.get_mut(usize::from(slot)).and_then(Option::as_mut) {
                rule_set.add(rule, weight, &index_tags);
            }
        }
    }

    fn intern(&mut self, name: &'static str) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let parent = name.split_once('.').map(|(parent, _)| self.intern(parent));
        let slot = Slot::try_from(self.rule_sets.len()).unwrap_or(Slot::MAX);
        self.slots.insert(name, slot);
        self.rule_sets.push(None);
        self.parents.push(parent);
        slot
    }

    fn intern_tag(&mut self, name: &'static str) -> u16 {
        let next = self.tags.len();
        if next >= TagSet::CAPACITY && !self.tags.contains_key(name) {
            self.faults.push(format!("There are more than {} tags; {name} is lost.", TagSet::CAPACITY));
        }
        *self.tags.entry(name).or_insert(u16::try_from(next).unwrap_or(u16::MAX))
    }

    /// Parses one rule; returns it with its weight and the tags of its first condition that requires some, for the index.
    fn rule(&mut self, rule_set: Slot, text: &'static str) -> (Rule, usize, Vec<u16>) {
        let mut rule = Rule { key: digest(&[text]), ..Rule::default() };
        let (mut weight, mut index_tags, mut rest) = (1, Vec::new(), text);
        if let Some((inside, after)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            rest = after.trim_start();
            for term in inside.split_whitespace() {
                let (required, names) = term.strip_prefix('!').map_or((true, term), |names| (false, names));
                let tags: Vec<u16> = names.split('/').map(|name| self.intern_tag(name)).collect();
                let mut any = TagSet::default();
                tags.iter().for_each(|tag| any.insert(*tag));
                if required && index_tags.is_empty() {
                    index_tags = tags;
                }
                rule.conditions.push(Condition { any, required });
            }
        }
        if let Some((number, after)) = rest.strip_prefix('%').and_then(|text| text.split_once(' ')) {
            (weight, rest) = (number.parse().unwrap_or(1), after.trim_start());
        }
        if rest.contains(['[', ']', '%']) {
            self.faults.push(format!("A condition or a weight stands too late: {text}"));
        }
        let mut parts = rest.split(";;").map(str::trim);
        rule.template = self.template(parts.next().unwrap_or_default());
        for part in parts {
            if let Some(tags) = part.strip_prefix('+') {
                for tag in tags.split('+').map(str::trim) {
                    let tag = self.intern_tag(tag);
                    rule.sets.insert(tag);
                }
            } else if let Some((name, value)) = part.split_once('=') {
                let slot = self.attribute(rule_set, name.trim());
                let template = self.template(value.trim());
                rule.attributes.push((slot, template));
            } else {
                self.faults.push(format!("Neither an attribute nor a tag: {part} in {text}"));
            }
        }
        (rule, weight, index_tags)
    }

    fn attribute(&mut self, rule_set: Slot, name: &'static str) -> Slot {
        let parent = self.slots.iter().find(|(_, slot)| **slot == rule_set).map_or("", |(name, _)| *name);
        // A few hundred names, leaked once per process, so that all slot names are `&'static str`.
        self.intern(Box::leak(format!("{parent}.{name}").into_boxed_str()))
    }

    fn template(&mut self, text: &'static str) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '(']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                segments.push(Segment::Text(before));
            }
            let closing = if from.starts_with('{') { '}' } else { ')' };
            let Some((inside, after)) = from.get(1..).and_then(|text| text.split_once(closing)) else {
                self.faults.push(format!("A bracket is not closed: {text}"));
                return segments;
            };
            if closing == ')' {
                let choices = inside.split('|').map(|choice| self.template(choice)).collect();
                segments.push(Segment::Choice(choices));
            } else if let Some(segment) = self.braces(inside) {
                segments.push(segment);
            } else {
                self.faults.push(format!("Not a slot: {{{inside}}} in {text}"));
            }
            rest = after;
        }
        if !rest.is_empty() {
            segments.push(Segment::Text(rest));
        }
        segments
    }

    /// Parses the text inside `{…}`.
    fn braces(&mut self, inside: &'static str) -> Option<Segment> {
        if let Some(range) = inside.strip_prefix('#') {
            return number(range, NumberFormat::Grouped);
        }
        if let Some(range) =
            inside.strip_prefix('w').filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        {
            return number(range, NumberFormat::Words);
        }
        if let Some(offset) = inside.strip_prefix("year").filter(|text| text.starts_with(['+', '-'])) {
            return offset.parse().ok().map(Segment::Year);
        }
        let mut format = SlotFormat::default();
        let mut name = inside;
        loop {
            if let Some(after) = name.strip_prefix("a ") {
                (format.article, name) = (true, after);
            } else if let Some(after) = name.strip_prefix("t ") {
                (format.title, name) = (true, after);
            } else if let Some(after) = name.strip_prefix('~') {
                (format.fresh, name) = (true, after);
            } else {
                break;
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        (!name.is_empty() && name.chars().all(plain))
            .then(|| Segment::Slot { slot: self.intern(name), format })
    }

    /// Records slots that nothing can fill as faults, and which tags are set.
    fn check(&mut self, given: &[&'static str], known: &mut TagSet) {
        let mut filled: Vec<bool> = self.rule_sets.iter().map(Option::is_some).collect();
        let mut fill = |slot: Slot| {
            if let Some(entry) = filled.get_mut(usize::from(slot)) {
                *entry = true;
            }
        };
        given.iter().filter_map(|name| self.slots.get(name)).for_each(|slot| fill(*slot));
        let outside = *known;
        let mut faults = Vec::new();
        for rule in self.rule_sets.iter().flatten().flat_map(|rule_set| &rule_set.rules) {
            if rule.sets.intersects(&outside) {
                faults.push(format!("A rule sets a tag that the caller sets: {:?}", rule.template));
            }
            known.extend(&rule.sets);
            rule.attributes.iter().for_each(|(slot, _)| fill(*slot));
        }
        let empty = |slot: &Slot| !filled.get(usize::from(*slot)).copied().unwrap_or(false);
        let unfilled = self.slots.iter().filter(|(_, slot)| empty(slot));
        faults.extend(unfilled.map(|(name, _)| format!("Nothing fills the slot {name}.")));
        let (set, unset) = self.tags.iter().partition::<Vec<_>, _>(|(_, tag)| known.contains(**tag));
        self.set = set.into_iter().map(|(name, _)| *name).collect();
        self.unset = unset.into_iter().map(|(name, _)| *name).collect();
        faults.sort();
        self.faults.append(&mut faults);
    }
}

impl RuleSet {
    fn add(&mut self, rule: Rule, weight: usize, index_tags: &[u16]) {
        let at = u16::try_from(self.rules.len()).unwrap_or(u16::MAX);
        self.rules.push(rule);
        let entries = std::iter::repeat_n(at, weight);
        if index_tags.is_empty() {
            self.unconditional.extend(entries);
            return;
        }
        for tag in index_tags {
            self.index_tags.insert(*tag);
            self.by_tag.entry(*tag).or_default().extend(entries.clone());
        }
    }
}

/// Parses a range such as `12-40` or `120-400/5`.
fn number(range: &str, format: NumberFormat) -> Option<Segment> {
    let (range, step) = range.split_once('/').unwrap_or((range, "1"));
    let (low, high) = range.split_once('-')?;
    let (low, high, step) = (low.parse().ok()?, high.parse().ok()?, step.parse().ok()?);
    let format = if format == NumberFormat::Grouped && low >= 1700 && high <= 2030 {
        NumberFormat::Year
    } else {
        format
    };
    (low <= high && step > 0).then_some(Segment::Number { low, high, step, format })
}
