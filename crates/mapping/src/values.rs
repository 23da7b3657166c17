//! Reads a source in one record: finds its values, cleans them, and does to them what the mapping says.

use serde_json::{Map, Value};

use crate::address;
use crate::cell::{Lines, clean};
use crate::date::{DayForm, YearOf, day};
use crate::html;
use crate::member::{CATEGORIES, Member, MemberKind};
use crate::path::{Path, scalar};
use crate::people;
use crate::source::{Input, Purpose, Source};

/// How a source is read, from what it is for where the mapping does not say otherwise.
#[derive(Debug, Clone, Copy)]
struct Reading {
    lines: Lines,
    has_html: bool,
    keeps_first: bool,
    /// Between columns, and between several values.
    join: &'static str,
    year: Option<YearOf>,
    day: Option<DayForm>,
    is_category: bool,
    are_makers: bool,
    /// Whether a text that is not a date or a year stays as it is.
    keeps_unread: bool,
}

/// The values of a source in one record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    /// One for each part of the cells, or element of the lists; `None` where there is nothing, or nothing that can be used.
    pub(crate) texts: Vec<Option<String>>,
    /// What could not be used.
    pub(crate) unread: Vec<Unread>,
    /// What stands between several of them.
    join: String,
}

/// Why a text has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is not in the table; `None` for no text at all.
    NotInTable(Option<String>),
    NotADay(String),
    UnsureYear(String),
}

impl Reading {
    fn of(source: &Source, purpose: Purpose) -> Reading {
        let kind = match purpose {
            Purpose::Member(member) => Some(member.kind()),
            Purpose::Detail | Purpose::Picture | Purpose::AboutPicture => None,
        };
        let is_long = kind == Some(MemberKind::Long);
        let has_html = matches!(purpose, Purpose::Member(member) if member.has_html());
        let is_one = matches!(
            kind,
            Some(
                MemberKind::Key
                    | MemberKind::First
                    | MemberKind::Category
                    | MemberKind::Day
                    | MemberKind::Address
            )
        );
        Reading {
            lines: if is_long { Lines::Kept } else { Lines::Joined },
            has_html: source.html.unwrap_or(has_html),
            keeps_first: source.keeps_first.unwrap_or(is_one),
            join: if is_long { "\n\n" } else { ", " },
            year: source.year.or((kind == Some(MemberKind::Year)).then_some(YearOf::Sure)),
            day: source.date.or((kind == Some(MemberKind::Day)).then_some(DayForm::Iso)),
            is_category: kind == Some(MemberKind::Category),
            are_makers: kind == Some(MemberKind::Makers),
            keeps_unread: kind.is_none(),
        }
    }
}

impl Values {
    /// Reads a source in a record.
    pub(crate) fn read(source: &Source, purpose: Purpose, record: &Map<String, Value>) -> Values {
        let reading = Reading::of(source, purpose);
        let reader = Reader { source, reading, record };
        let mut texts = reader.inputs();
        let mut first = 0;
        if reading.keeps_first {
            first = texts.iter().position(Option::is_some).unwrap_or(texts.len());
            texts = texts.into_iter().skip(first).take(1).collect();
        }
        let join = source.join.clone().unwrap_or_else(|| reading.join.to_owned());
        let mut values = Values { texts, unread: Vec::new(), join };
        values.look_up(source, reading);
        values.read_dates(reading);
        if reading.are_makers || source.inverts || source.qualifier.is_some() {
            values.name_people(&reader, first);
        }
        if let Some(scheme) = &source.scheme {
            for text in values.texts.iter_mut().flatten() {
                *text = address::with_scheme(text, scheme);
            }
        }
        values
    }

    /// Returns the texts that there are.
    pub(crate) fn found(&self) -> impl Iterator<Item = &String> {
        self.texts.iter().flatten()
    }

    /// Returns all texts as one.
    pub(crate) fn joined(&self) -> Option<String> {
        let found: Vec<&str> = self.found().map(String::as_str).collect();
        (!found.is_empty()).then(|| found.join(&self.join))
    }

    /// Replaces each text by its value in the table, and nothing at all by the default.
    fn look_up(&mut self, source: &Source, reading: Reading) {
        let has_table = source.table.is_some() || reading.is_category;
        if self.found().next().is_none() {
            match &source.default {
                Some(default) => self.texts = vec![Some(default.clone())],
                // Every record has a category, and most other members may be absent.
                None if reading.is_category => self.unread.push(Unread::NotInTable(None)),
                None => {}
            }
            return;
        }
        if !has_table {
            return;
        }
        for slot in &mut self.texts {
            let Some(text) = slot.take() else { continue };
            let folded = text.to_lowercase();
            let value = match &source.table {
                Some(table) => table.values.get(&folded).cloned(),
                None => CATEGORIES.contains(&folded.as_str()).then_some(folded),
            };
            *slot = value.or_else(|| source.default.clone());
            if slot.is_none() {
                self.unread.push(Unread::NotInTable(Some(text)));
            }
        }
    }

    fn read_dates(&mut self, reading: Reading) {
        for slot in &mut self.texts {
            let Some(text) = slot.take() else { continue };
            let (read, unread): (_, fn(String) -> Unread) = match reading {
                // Before the day: 1975 is a year, and as a serial number of Excel a day in 1905.
                Reading { year: Some(year), day: form, .. } => {
                    let of_day = || day(&text, form?)?.get(..4)?.parse().ok();
                    let found: Option<i16> = year.find(&text).or_else(of_day);
                    (found.map(|year| year.to_string()), Unread::UnsureYear)
                }
                Reading { day: Some(form), .. } => (day(&text, form), Unread::NotADay),
                _ => (Some(text.clone()), Unread::NotADay),
            };
            *slot = match read {
                None if reading.keeps_unread => Some(text),
                None => {
                    self.unread.push(unread(text));
                    None
                }
                read => read,
            };
        }
    }

    /// Turns names round, leaves out nobody, and puts qualifiers before names. `first` is the place of the first name among all.
    fn name_people(&mut self, reader: &Reader<'_>, first: usize) {
        let source = reader.source;
        let qualifiers = source.qualifier.as_ref().map(|path| reader.cells(path)).unwrap_or_default();
        for (index, slot) in self.texts.iter_mut().enumerate() {
            let Some(mut name) = slot.take().filter(|name| !people::is_nobody(name)) else { continue };
            if source.inverts {
                name = people::turned_round(&name);
            }
            let qualifier = qualifiers.get(first + index).and_then(Option::as_deref);
            let stands_before = |qualifier: &&str| {
                source.before.is_empty() || source.before.contains(&qualifier.to_lowercase())
            };
            *slot = Some(match qualifier.filter(stands_before) {
                Some(qualifier) => format!("{qualifier} {name}"),
                None => name,
            });
        }
    }
}

/// Reads the cells of one record.
struct Reader<'a> {
    source: &'a Source,
    reading: Reading,
    record: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn inputs(&self) -> Vec<Option<String>> {
        match &self.source.input {
            Input::Constant(text) => vec![Some(text.clone())],
            Input::Columns(paths) if paths.len() == 1 => self.cells(&paths[0]),
            Input::Columns(paths) => {
                let columns: Vec<_> = paths.iter().map(|path| self.cells(path)).collect();
                let join = self.source.join.as_deref().unwrap_or(self.reading.join);
                let joined = |index: usize| {
                    let parts: Vec<&str> =
                        columns.iter().filter_map(|parts| parts.get(index)?.as_deref()).collect();
                    (!parts.is_empty()).then(|| parts.join(join))
                };
                (0..longest(&columns)).map(joined).collect()
            }
            Input::First(paths) => {
                let mut columns = paths.iter().map(|path| self.cells(path));
                columns.find(|parts| parts.iter().any(Option::is_some)).unwrap_or_default()
            }
            Input::Template(template) => {
                let columns: Vec<_> = template.columns().map(|path| self.cells(path)).collect();
                (0..longest(&columns)).map(|index| template.filled(&columns, index)).collect()
            }
        }
    }

    /// Returns the parts of a column, or the elements of the lists of a path.
    fn cells(&self, path: &Path) -> Vec<Option<String>> {
        let found = path.find(self.record, &self.source.conditions);
        let mut parts = Vec::with_capacity(found.values.len());
        for value in found.values {
            let Some(text) = value.and_then(scalar) else {
                parts.push(None);
                continue;
            };
            let text = if self.reading.has_html { html::text_of(&text) } else { text };
            match &self.source.split {
                Some(split) => text.split(split.as_str()).for_each(|part| self.part(part, &mut parts)),
                None => self.part(&text, &mut parts),
            }
        }
        parts
    }

    fn part(&self, text: &str, parts: &mut Vec<Option<String>>) {
        let cleaned = self.cleaned(text);
        let Some((find, text)) = self.source.find.as_ref().zip(cleaned.as_ref()) else {
            parts.push(cleaned.and_then(|text| self.changed(text)));
            return;
        };
        for captures in find.captures_iter(text) {
            let matched = captures.get(1).or_else(|| captures.get(0)).map_or("", |matched| matched.as_str());
            parts.push(self.changed(matched.to_owned()));
        }
    }

    fn cleaned(&self, text: &str) -> Option<String> {
        clean(text, self.reading.lines, &self.source.absent)
    }

    fn changed(&self, mut text: String) -> Option<String> {
        if self.source.decodes {
            text = address::decoded(&text);
        }
        for (old, new) in &self.source.replace {
            text = text.replace(old, new);
        }
        if let Some(cut) = &self.source.cut {
            text = cut.replace_all(&text, "").into_owned();
        }
        self.cleaned(&text)
    }
}

fn longest(columns: &[Vec<Option<String>>]) -> usize {
    columns.iter().map(Vec::len).max().unwrap_or_default()
}

/// Returns the text of makers.
pub(crate) fn makers(values: &Values) -> Option<String> {
    let names: Vec<String> = values.found().cloned().collect();
    people::joined(&names)
}

/// Returns the one year of several texts; `None` where they differ, or one of them is not sure.
pub(crate) fn one_year(values: &Values) -> Option<String> {
    let mut years = values.found();
    let first = years.next().filter(|_| values.unread.is_empty())?;
    years.all(|year| year == first).then(|| first.clone())
}

/// Returns the text of a member.
pub(crate) fn of_member(member: Member, values: &Values) -> Option<String> {
    match member.kind() {
        MemberKind::Makers => makers(values),
        MemberKind::Year => one_year(values),
        MemberKind::Category => values.joined().map(|category| category.trim().to_lowercase()),
        MemberKind::Key
        | MemberKind::First
        | MemberKind::Joined
        | MemberKind::Long
        | MemberKind::Day
        | MemberKind::Address => values.joined(),
    }
}
