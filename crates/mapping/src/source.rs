//! Sources: where a member, a detail or a picture comes from, and what is done to its text.

use std::collections::BTreeMap;

use regex::Regex;
use toml::de::DeValue;

use crate::date::{DayForm, YearOf};
use crate::document::{Faults, Node, in_order};
use crate::member::{CATEGORIES, Member, MemberKind};
use crate::path::{Condition, Path};
use crate::template::Template;

/// The keys of a source.
pub(crate) const KEYS: [&str; 23] = [
    "from",
    "first",
    "template",
    "value",
    "split",
    "where",
    "join",
    "keep",
    "invert",
    "cut",
    "before",
    "qualifier",
    "table",
    "default",
    "year",
    "date",
    "find",
    "html",
    "absent",
    "replace",
    "decode",
    "scheme",
    "unless",
];

/// The keys of which a source has exactly one.
const INPUTS: [&str; 4] = ["from", "first", "template", "value"];

/// Where a value comes from, and what is done to it.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) input: Input,
    pub(crate) split: Option<String>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) join: Option<String>,
    /// Whether only the first of several values is kept, if the mapping says so.
    pub(crate) keeps_first: Option<bool>,
    pub(crate) inverts: bool,
    pub(crate) cut: Option<Regex>,
    pub(crate) qualifier: Option<Path>,
    /// The qualifiers that stand before names, in lower case; if empty, all of them do.
    pub(crate) before: Vec<String>,
    pub(crate) table: Option<ValueTable>,
    pub(crate) default: Option<String>,
    pub(crate) year: Option<YearOf>,
    pub(crate) date: Option<DayForm>,
    pub(crate) find: Option<Regex>,
    pub(crate) html: Option<bool>,
    /// Further words for nothing, in lower case.
    pub(crate) absent: Vec<String>,
    pub(crate) replace: Vec<(String, String)>,
    pub(crate) decodes: bool,
    pub(crate) scheme: Option<String>,
    /// The detail is left out where it says no more than this member.
    pub(crate) unless: Option<Member>,
}

/// What a source reads.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// One column, or several whose values are joined.
    Columns(Vec<Path>),
    /// The first column that has a value.
    First(Vec<Path>),
    Template(Template),
    Constant(String),
}

/// The values of others by the values of the source, which are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueTable {
    /// The name of its section of `[tables]`.
    pub(crate) name: Option<String>,
    pub(crate) values: BTreeMap<String, String>,
}

/// What a source is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Member(Member),
    Detail,
    /// The source of a picture, where a text with braces is a pattern.
    Picture,
    /// A text about a picture.
    AboutPicture,
}

impl Source {
    fn new(input: Input) -> Source {
        Source {
            input,
            split: None,
            conditions: Vec::new(),
            join: None,
            keeps_first: None,
            inverts: false,
            cut: None,
            qualifier: None,
            before: Vec::new(),
            table: None,
            default: None,
            year: None,
            date: None,
            find: None,
            html: None,
            absent: Vec::new(),
            replace: Vec::new(),
            decodes: false,
            scheme: None,
            unless: None,
        }
    }

    /// Reads a source; `None` if it has none of the inputs.
    pub(crate) fn read<'t>(
        node: &Node<'t>,
        purpose: Purpose,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) -> Option<Source> {
        let source = match node.get_ref() {
            DeValue::String(text) if purpose == Purpose::Picture && text.contains('{') => {
                Source::new(Input::Template(template(node, text, faults)?))
            }
            DeValue::String(text) => Source::new(Input::Columns(vec![Path::new(text)])),
            DeValue::Table(_) => Source::of_table(node, tables, faults)?,
            _ => {
                faults.add(
                    node.span(),
                    "a source is a column in quotes, or a table such as { from = \"COLUMN\" }",
                );
                return None;
            }
        };
        if let Purpose::Member(member) = purpose
            && member.kind() == MemberKind::Category
        {
            source.check_categories(node, faults);
        }
        Some(source)
    }

    fn of_table<'t>(
        node: &Node<'t>,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) -> Option<Source> {
        let entries = in_order(faults.table(node)?);
        let given: Vec<&str> = entries.iter().map(|(key, _)| key.get_ref().as_ref()).collect();
        let inputs: Vec<&str> = INPUTS.into_iter().filter(|input| given.contains(input)).collect();
        let input = match inputs[..] {
            [] => {
                faults.add(node.span(), "one of from, first, template and value is missing");
                return None;
            }
            [input] => entries.iter().find(|(key, _)| key.get_ref() == input),
            _ => {
                faults.add(node.span(), format!("{} together; keep one", inputs.join(" and ")));
                return None;
            }
        };
        let (key, input) = input?;
        let input = match key.get_ref().as_ref() {
            "from" => Input::Columns(paths(input, faults)),
            "first" => Input::First(paths(input, faults)),
            "template" => Input::Template(template(input, &faults.text(input)?, faults)?),
            _ => Input::Constant(faults.text(input)?),
        };
        let mut source = Source::new(input);
        for (key, node) in entries {
            let name = key.get_ref().as_ref();
            match name {
                _ if INPUTS.contains(&name) => {}
                _ if KEYS.contains(&name) => source.set(name, node, tables, faults),
                _ => faults.add_unknown(key.span(), name, "a key of a source", KEYS),
            }
        }
        if !source.before.is_empty() && source.qualifier.is_none() {
            faults.add(node.span(), "before needs qualifier, the column of what stands before a name");
        }
        if source.year.is_some() && source.date.is_some() {
            faults.add(node.span(), "year and date together; keep one");
        }
        Some(source)
    }

    fn set<'t>(
        &mut self,
        key: &str,
        node: &Node<'t>,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) {
        let lower = |texts: Vec<String>| texts.iter().map(|text| text.trim().to_lowercase()).collect();
        match key {
            "split" => self.split = not_blank(node, faults),
            "join" => self.join = faults.text(node),
            "scheme" => {
                self.scheme = faults.word(node, key, &[("https", "https"), ("http", "http")]).map(Into::into)
            }
            "keep" => self.keeps_first = faults.word(node, key, &[("first", true), ("all", false)]),
            "invert" => self.inverts = faults.flag(node).unwrap_or_default(),
            "decode" => self.decodes = faults.flag(node).unwrap_or_default(),
            "html" => self.html = faults.flag(node),
            "cut" => self.cut = regex(node, faults),
            "find" => self.find = regex(node, faults),
            "qualifier" => self.qualifier = faults.text(node).map(|path| Path::new(&path)),
            "before" => self.before = lower(faults.texts(node)),
            "absent" => self.absent = lower(faults.texts(node)),
            "default" => self.default = faults.text(node),
            "replace" => self.replace = faults.pairs(node),
            "where" => {
                let table = faults.table(node).map(in_order).unwrap_or_default().into_iter();
                let condition = |(member, node): (&toml::Spanned<_>, _)| {
                    let member: &std::borrow::Cow<'_, str> = member.get_ref();
                    Condition { member: Path::new(member), texts: lower(faults.texts(node)) }
                };
                self.conditions = table.map(condition).collect();
            }
            "year" => {
                let words = [("sure", YearOf::Sure), ("first", YearOf::First), ("last", YearOf::Last)];
                self.year = faults.word(node, key, &words);
            }
            "date" => {
                let words = [
                    ("iso", DayForm::Iso),
                    ("d.m.y", DayForm::Points),
                    ("d/m/y", DayForm::DayFirst),
                    ("m/d/y", DayForm::MonthFirst),
                    ("excel", DayForm::Excel),
                ];
                self.date = faults.word(node, key, &words);
            }
            "table" => self.table = value_table(node, tables, faults),
            _ => {
                let Some(name) = faults.text(node) else { return };
                self.unless = Member::named(&name);
                if self.unless.is_none() {
                    faults.add_unknown(node.span(), &name, "a member", Member::names());
                }
            }
        }
    }

    /// Adds a fault for each value that is not a category of the catalog.
    fn check_categories(&self, node: &Node<'_>, faults: &mut Faults<'_>) {
        let constant = match &self.input {
            Input::Constant(text) => Some(text),
            _ => None,
        };
        let values = self.table.iter().flat_map(|table| table.values.values());
        for value in values.chain(&self.default).chain(constant) {
            if !CATEGORIES.contains(&value.trim().to_lowercase().as_str()) {
                faults.add_unknown(node.span(), value, "a category", CATEGORIES);
            }
        }
    }

    /// Returns every column that it reads.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Path> {
        let (listed, template) = match &self.input {
            Input::Columns(paths) | Input::First(paths) => (&paths[..], None),
            Input::Template(template) => (&[][..], Some(template)),
            Input::Constant(_) => (&[][..], None),
        };
        listed.iter().chain(template.into_iter().flat_map(Template::columns)).chain(&self.qualifier)
    }

    /// Returns whether the n-th value of the one belongs to the n-th of the other: both are members of the elements of one list, or
    /// cells that are cut alike.
    pub(crate) fn is_parallel(&self, other: &Source) -> bool {
        let list = |source: &Source| source.columns().next().and_then(Path::list).map(str::to_owned);
        match (list(self), list(other)) {
            (Some(one), Some(another)) => one == another,
            _ => self.split.is_some() && self.split == other.split,
        }
    }
}

fn template(node: &Node<'_>, text: &str, faults: &mut Faults<'_>) -> Option<Template> {
    Template::parse(text)
        .map_err(|reason| faults.add(node.span(), format!("the template “{text}” {reason}")))
        .ok()
}

fn paths(node: &Node<'_>, faults: &mut Faults<'_>) -> Vec<Path> {
    let paths: Vec<Path> = faults.texts(node).iter().map(|text| Path::new(text)).collect();
    if paths.is_empty() {
        faults.add(node.span(), "at least one column is expected here");
    }
    paths
}

fn not_blank(node: &Node<'_>, faults: &mut Faults<'_>) -> Option<String> {
    let text = faults.text(node)?;
    if text.is_empty() {
        faults.add(node.span(), "an empty text cuts nothing; leave split out");
        return None;
    }
    Some(text)
}

fn regex(node: &Node<'_>, faults: &mut Faults<'_>) -> Option<Regex> {
    let text = faults.text(node)?;
    match Regex::new(&text) {
        Ok(regex) => Some(regex),
        Err(error) => {
            let error = error.to_string();
            let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            faults.add(node.span(), format!("“{text}” is not a regular expression: {last}"));
            None
        }
    }
}

fn value_table<'t>(
    node: &Node<'t>,
    tables: &BTreeMap<String, ValueTable>,
    faults: &mut Faults<'t>,
) -> Option<ValueTable> {
    if node.get_ref().is_table() {
        return Some(ValueTable { name: None, values: lower_keys(node, faults) });
    }
    let name = faults.text(node)?;
    let table = tables.get(&name).cloned();
    if table.is_none() {
        let known: Vec<&str> = tables.keys().map(String::as_str).collect();
        if known.is_empty() {
            faults.add(node.span(), format!("there is no [tables.{name}]; add it"));
        } else {
            faults.add_unknown(node.span(), &name, "a table below [tables]", known);
        }
    }
    table
}

/// Reads the values of a table by their texts in lower case.
pub(crate) fn lower_keys<'t>(node: &Node<'t>, faults: &mut Faults<'t>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (key, value) in faults.pairs(node) {
        let folded = key.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if values.insert(folded, value).is_some() {
            faults.add(node.span(), format!("“{key}” is in the table twice, in another case; keep one"));
        }
    }
    values
}
