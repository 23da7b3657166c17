//! The arguments of a call, parsed leniently: a number may be a string and a string a number, a list may be JSON in a string, surrounding
//! blanks are ignored, and a category may be in any case. All errors are reported at once.

mod similar;

use std::borrow::Cow;
use std::convert::identity;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::protocol::message::Text;
use crate::protocol::rpc_error::{RpcError, quoted};
use crate::tools::answer::Refusal;
use similar::nearest;

/// The maximum number of results of a call.
pub(crate) const MOST_RESULTS: usize = 20;
/// The default number of results.
pub(crate) const USUAL_RESULTS: usize = 10;

/// What separates alternatives in one text.
const SEPARATOR: char = '|';

/// Names that agents use for an argument, and its name here.
const ALIASES: [(&str, &str); 3] = [("id", "slug"), ("slug", "id"), ("colour", "color")];

/// The members of `arguments`, and the errors of those read so far.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'a> {
    given: Vec<(Cow<'a, str>, &'a RawValue)>,
    faults: Vec<String>,
}

/// Members in their order, duplicates included.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl<'a> Arguments<'a> {
    /// Parses the members. Arguments that are not an object violate the protocol.
    pub(crate) fn read(arguments: Option<&'a RawValue>) -> Result<Arguments<'a>, RpcError> {
        let Some(arguments) = arguments else { return Ok(Arguments::default()) };
        if !arguments.get().starts_with('{') {
            return Err(RpcError::invalid_params(
                "params.arguments is no object. Send the arguments by name, for example {\"query\":\"brick\"}.",
            ));
        }
        let Members(given) = serde_json::from_str(arguments.get()).map_err(|error| {
            RpcError::invalid_params(format!("params.arguments cannot be read: {error}."))
        })?;
        Ok(Arguments { given, faults: Vec::new() })
    }

    /// Accepts an argument under an alias, unless it is given under its own name.
    pub(crate) fn accept_aliases(&mut self, known: &[&str]) {
        for (alias, name) in ALIASES {
            let is_given = |wanted: &str| self.given.iter().any(|(given, _)| given == wanted);
            if known.contains(&name) && !known.contains(&alias) && !is_given(name) {
                let aliased = self.given.iter_mut().filter(|(given, _)| given == alias);
                aliased.for_each(|(given, _)| *given = Cow::Borrowed(name));
            }
        }
    }

    /// Returns the arguments with other names, each with the most similar known name, if there is one.
    pub(crate) fn unknown<'k>(&self, known: &[&'k str]) -> Vec<(&str, Option<&'k str>)> {
        let names = self.given.iter().map(|(name, _)| &**name);
        let unknown = names.filter(|name| !known.contains(name));
        unknown.map(|name| (name, nearest(name, known))).collect()
    }

    /// Reads a text, trimmed; `None` if it is absent, null or blank.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<Cow<'a, str>> {
        let text = self.scalar(name)?.into_text();
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        (!text.is_empty()).then_some(text)
    }

    /// Reads a text of at most `most` characters.
    pub(super) fn bounded(&mut self, name: &'static str, most: usize) -> Option<Cow<'a, str>> {
        let text = self.text(name)?;
        // A character has at least one byte.
        let characters = if text.len() <= most { 0 } else { text.chars().count() };
        if characters > most {
            self.faults.push(format!("{name} has {characters} characters, at most {most} are taken"));
            return None;
        }
        Some(text)
    }

    /// Reads the values of an argument that may have several: a list, which some clients send as JSON in a text, or one text with a
    /// separator between alternatives; none if it is absent, null, blank or false.
    pub(super) fn texts(&mut self, name: &'static str) -> Vec<Cow<'a, str>> {
        let Some(value) = self.value(name) else { return Vec::new() };
        if value.get().starts_with('[') {
            return self.elements(name, value.get(), identity);
        }
        let text = match value.get() {
            "true" => Some(Cow::Borrowed("true")),
            "false" => None,
            _ => self.text(name),
        };
        let text = text.filter(|text| text != "false").unwrap_or_default();
        if is_list(&text) {
            return self.elements(name, &text, |text| Cow::Owned(text.into_owned()));
        }
        let parts = text.split(SEPARATOR).map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| Cow::Owned(part.to_owned())).collect()
    }

    /// Reads the values of a list; `keep` makes them live long enough.
    fn elements<'l>(
        &mut self,
        name: &'static str,
        list: &'l str,
        keep: impl Fn(Cow<'l, str>) -> Cow<'a, str>,
    ) -> Vec<Cow<'a, str>> {
        let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(list) else { return Vec::new() };
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            match Scalar::of(value) {
                Ok(Some(scalar)) => texts.push(keep(scalar.into_text())),
                Ok(None) => {}
                Err(what) => self.faults.push(format!("{name} holds a value that {what}")),
            }
        }
        texts.retain(|text| !text.trim().is_empty());
        texts
    }

    /// Reads the number of results, or returns the default.
    pub(super) fn limit(&mut self, name: &'static str) -> Limit {
        let usual = Limit { results: USUAL_RESULTS, is_asked: false };
        let number = match self.scalar(name) {
            None => return usual,
            Some(Scalar::Number(text)) => text.to_owned(),
            Some(Scalar::Text(text)) if text.trim().is_empty() => return usual,
            Some(Scalar::Text(text)) => text.trim().to_owned(),
        };
        // Some clients send all numbers with a fraction.
        let whole = number.strip_suffix(".0").unwrap_or(&number);
        match whole.parse() {
            Ok(results @ 1..=MOST_RESULTS) => Limit { results, is_asked: true },
            _ => {
                self.faults.push(format!(
                    "{name} is {}, it must be a whole number from 1 to {MOST_RESULTS}",
                    quoted(&number)
                ));
                usual
            }
        }
    }

    /// Reads one of the values with these names.
    pub(super) fn one_of<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
        values: &[&str],
    ) -> Option<T> {
        let text = self.text(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.faults.push(format!("{name} is {}, it must be one of {}", quoted(&text), values.join(", ")));
        }
        value
    }

    /// Reads a value of another grammar; `expected` completes the sentence that says what it must be.
    pub(crate) fn parsed<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
        expected: &str,
    ) -> Option<T> {
        let text = self.text(name)?;
        let value = read(&text);
        if value.is_none() {
            self.faults.push(format!("{name} is {}, it must be {expected}", quoted(&text)));
        }
        value
    }

    /// Adds an error.
    pub(crate) fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    /// Returns the number of errors so far.
    pub(super) fn faults(&self) -> usize {
        self.faults.len()
    }

    /// Returns whether an argument is given and neither null nor empty.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, value)| given == name && !matches!(value.get(), "null" | "\"\""))
    }

    /// Returns an argument, or all errors of all arguments if there are any.
    pub(super) fn complete<T>(&mut self, value: Option<T>) -> Result<T, Refusal> {
        match value {
            Some(value) if self.faults.is_empty() => Ok(value),
            _ => {
                // An argument that is read in two ways is wrong once.
                let mut faults: Vec<String> = Vec::with_capacity(self.faults.len());
                for fault in std::mem::take(&mut self.faults) {
                    if !faults.contains(&fault) {
                        faults.push(fault);
                    }
                }
                Err(Refusal::Arguments(faults))
            }
        }
    }

    /// Returns the value of an argument that is given once.
    fn value(&mut self, name: &'static str) -> Option<&'a RawValue> {
        let mut values = self.given.iter().filter(|(given, _)| given == name).map(|(_, value)| *value);
        let value = values.next()?;
        if values.next().is_some() {
            self.faults.push(format!("{name} is given more than once"));
            return None;
        }
        Some(value)
    }

    fn scalar(&mut self, name: &'static str) -> Option<Scalar<'a>> {
        let value = self.value(name)?;
        match Scalar::of(value) {
            Ok(scalar) => scalar,
            Err(what) => {
                self.faults.push(format!("{name} {what}"));
                None
            }
        }
    }
}

/// Returns whether a text is a list of JSON. A text in brackets that is none is a value, such as a name.
fn is_list(text: &str) -> bool {
    text.starts_with('[') && serde_json::from_str::<Vec<&RawValue>>(text).is_ok()
}

impl<'a> Scalar<'a> {
    /// Reads a text or a number; `None` for null.
    fn of(value: &'a RawValue) -> Result<Option<Scalar<'a>>, &'static str> {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'"') => match serde_json::from_str(text) {
                Ok(Text(text)) => Ok(Some(Scalar::Text(text))),
                Err(_) => Err("holds half of a surrogate pair, which is no character"),
            },
            Some(b'-' | b'0'..=b'9') => Ok(Some(Scalar::Number(text))),
            Some(b'n') => Ok(None),
            Some(b'[') => Err("is a list, one value is taken"),
            Some(b'{') => Err("is an object, one value is taken"),
            _ => Err("is true or false, a text is taken"),
        }
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Scalar::Text(text) => text,
            Scalar::Number(text) => Cow::Borrowed(text.strip_suffix(".0").unwrap_or(text)),
        }
    }
}

/// The requested number of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) results: usize,
    /// Whether the caller stated it.
    pub(crate) is_asked: bool,
}

enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(&'a str),
}

#[cfg(test)]
mod tests {
    use schemas::record::Category;

    use super::*;
    use crate::tools::input::{Argument, Text, Value};

    fn with<T>(text: &str, read: impl FnOnce(&mut Arguments<'_>) -> T) -> (T, Vec<String>) {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let mut arguments = Arguments::read(Some(&raw)).unwrap();
        let value = read(&mut arguments);
        (value, arguments.faults)
    }

    #[test]
    fn arguments_are_parsed_leniently() {
        for (text, expected) in [
            (r#"{"query":"  brick "}"#, Some("brick")),
            (r#"{"query":1968}"#, Some("1968")),
            (r#"{"query":"Z\u00fcrich\n"}"#, Some("Zürich")),
            (r#"{"query":null}"#, None),
            (r#"{"query":" "}"#, None),
            ("{}", None),
        ] {
            let (value, faults) = with(text, |arguments| arguments.text("query").map(Cow::into_owned));
            assert_eq!((value.as_deref(), faults.len()), (expected, 0), "{text}");
        }
        for (text, results) in [
            ("{}", 10),
            (r#"{"limit":3}"#, 3),
            (r#"{"limit":" 3 "}"#, 3),
            (r#"{"limit":20.0}"#, 20),
            (r#"{"limit":""}"#, 10),
        ] {
            assert_eq!(with(text, |arguments| arguments.limit("limit").results), (results, vec![]), "{text}");
        }
        let category = |text: &str| with(text, |arguments| <Category as Value>::read(arguments, "category"));
        assert_eq!(category(r#"{"category":" INTERIORS"}"#), (Some(Category::Interiors), vec![]));
        assert_eq!(category(r#"{"category":""}"#), (None, vec![]));
    }

    #[test]
    fn an_argument_may_have_several_values() {
        for (text, expected) in [
            (r#"{"city":"Ulm, Germany"}"#, &["Ulm, Germany"][..]),
            (r#"{"city":" Ulm | Berlin|"}"#, &["Ulm", "Berlin"]),
            (r#"{"city":["A|B","Ulm",null," ",7]}"#, &["A|B", "Ulm", "7"]),
            (r#"{"city":1998.0}"#, &["1998"]),
            (r#"{"city":true}"#, &["true"]),
            (r#"{"city":false}"#, &[]),
            (r#"{"city":"false"}"#, &[]),
            (r#"{"city":null}"#, &[]),
            (r#"{"city":[]}"#, &[]),
            (
                r#"{"city":"[\"A|B\", \"Ulm, Germany\",null,\" \",7, \"Z\\u00fcrich\"]"}"#,
                &["A|B", "Ulm, Germany", "7", "Zürich"],
            ),
            (r#"{"city":" [ \"Ulm\" ]\n"}"#, &["Ulm"]),
            (r#"{"city":"[]"}"#, &[]),
            (r#"{"city":"[Ulm]"}"#, &["[Ulm]"]),
            (r#"{"city":"[\"Ulm\"] | Berlin"}"#, &["[\"Ulm\"]", "Berlin"]),
            ("{}", &[]),
        ] {
            let (texts, faults) = with(text, |arguments| {
                arguments.texts("city").into_iter().map(Cow::into_owned).collect::<Vec<_>>()
            });
            assert_eq!(
                (texts.as_slice(), faults.len()),
                (expected.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>().as_slice(), 0),
                "{text}"
            );
        }
        for (text, expected) in [
            (
                r#"{"city":[["a"],{}]}"#,
                &[
                    "city holds a value that is a list, one value is taken",
                    "city holds a value that is an object, one value is taken",
                ][..],
            ),
            (r#"{"city":"[[\"a\"]]"}"#, &["city holds a value that is a list, one value is taken"]),
            (r#"{"city":{}}"#, &["city is an object, one value is taken"]),
            (r#"{"city":"a","city":"b"}"#, &["city is given more than once"]),
        ] {
            assert_eq!(
                with(text, |arguments| arguments.texts("city").len()),
                (0, expected.iter().map(|one| (*one).to_owned()).collect()),
                "{text}"
            );
        }
    }

    #[test]
    fn all_errors_are_reported() {
        let text = r#"{"query":["a"],"limit":"99","category":"music","slug":true,"id":{},"id":"x","light":"\ud800","email":"aaa"}"#;
        let (_, faults) = with(text, |arguments| {
            <Text<200> as Argument>::read(arguments, "query");
            arguments.limit("limit");
            <Category as Value>::read(arguments, "category");
            arguments.text("slug");
            arguments.text("id");
            arguments.text("light");
            <Text<2> as Argument>::read(arguments, "email");
            <Text<9> as Argument>::read(arguments, "name");
            arguments.parsed("email", |_| None::<u8>, "an address");
        });
        assert_eq!(
            faults,
            [
                "query is a list, one value is taken",
                "limit is “99”, it must be a whole number from 1 to 20",
                "category is “music”, it must be one of architecture, interiors, design, photography, art",
                "slug is true or false, a text is taken",
                "id is given more than once",
                "light holds half of a surrogate pair, which is no character",
                "email has 3 characters, at most 2 are taken",
                "name is missing",
                "email is “aaa”, it must be an address",
            ]
        );
    }

    #[test]
    fn aliases_of_an_argument_are_accepted() {
        for (text, known, value) in [
            (r#"{"id":"a"}"#, &["slug"][..], Some("a")),
            (r#"{"id":"a","slug":"b"}"#, &["slug"], Some("b")),
            (r#"{"id":"a"}"#, &["slug", "id"], None),
        ] {
            let (taken, faults) = with(text, |arguments| {
                arguments.accept_aliases(known);
                arguments.text("slug").map(Cow::into_owned)
            });
            assert_eq!((taken.as_deref(), faults.len()), (value, 0), "{text}");
        }
    }

    #[test]
    fn unknown_arguments_are_listed() {
        let raw: Box<RawValue> = serde_json::from_str(r#"{"query":"a","depth":3,"q":1}"#).unwrap();
        let arguments = Arguments::read(Some(&raw)).unwrap();
        assert_eq!(arguments.unknown(&["query", "limit"]), [("depth", None), ("q", Some("query"))]);
        for text in ["[]", "\"x\"", "3"] {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            assert_eq!(Arguments::read(Some(&raw)).unwrap_err().code, -32_602);
        }
    }
}
