//! Parses query strings: pairs joined by `&`, percent-encoded UTF-8, `+` for a blank.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::str::FromStr;

use read::archive::{MatchMode, TermKind};
use schemas::api::problem::ParameterFault;
use schemas::api::search::{DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARACTERS, MIN_LIMIT};
use schemas::record::Category;
use schemas::taste::Dimension;

use crate::catalog::detail::Detail;
use crate::catalog::mode::Mode;
use crate::error::{ApiError, fault};

/// An encoded text whose bytes are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8;

/// Decodes a name or value.
///
/// # Errors
///
/// If the decoded bytes are not UTF-8.
pub fn decode(text: &str) -> Result<Cow<'_, str>, NotUtf8> {
    if !text.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Ok(Cow::Borrowed(text));
    }
    String::from_utf8(unescaped(text.as_bytes(), b' ')).map(Cow::Owned).map_err(|_| NotUtf8)
}

/// Decodes percent-encoded bytes; `plus` is what a `+` stands for. A `%` without two hexadecimal digits after it is kept as it is.
pub fn unescaped(mut rest: &[u8], plus: u8) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'+', _) => decoded.push(plus),
            (b'%', [high, low, after @ ..]) if let (Some(high), Some(low)) = (digit(*high), digit(*low)) => {
                decoded.push(high << 4 | low);
                rest = after;
            }
            _ => decoded.push(byte),
        }
    }
    decoded
}

/// Iterates over the encoded values of a parameter, in their order.
pub fn values<'a>(query: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    pairs(query).filter_map(move |(key, value)| is_named(key, name).then_some(value))
}

/// Returns the query, still encoded, without the parameters of this name.
pub fn without(query: &str, name: &str) -> String {
    let is_other = |pair: &&str| !pair.is_empty() && !is_named(pair.split('=').next().unwrap_or(pair), name);
    query.split('&').filter(is_other).collect::<Vec<_>>().join("&")
}

/// Iterates over the encoded names and values.
fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn is_named(key: &str, name: &str) -> bool {
    key == name || decode(key).is_ok_and(|key| key == name)
}

/// The parameters of a query, by the names that an endpoint accepts, and the invalid ones among them. What reads a parameter remembers
/// what is wrong with it; [`QueryParams::finish`] reports all of it at once.
#[derive(Debug)]
pub struct QueryParams<'a, const N: usize> {
    names: [&'static str; N],
    /// For each name its first encoded value and the number of values.
    values: [(&'a str, usize); N],
    query: &'a str,
    /// The encoded names of all other parameters.
    others: Vec<&'a str>,
    faults: Vec<ParameterFault>,
}

/// The maximum number of parameters that an answer lists as ignored.
const MAX_NAMED: usize = 20;
/// The maximum number of characters of each of them.
const LONGEST_NAME: usize = 60;

impl<'a, const N: usize> QueryParams<'a, N> {
    /// Parses a query in one pass.
    pub fn parse(query: &'a str, names: [&'static str; N]) -> QueryParams<'a, N> {
        let mut values = [("", 0); N];
        let mut others = Vec::new();
        for (key, value) in pairs(query) {
            let decoded = decode(key).unwrap_or(Cow::Borrowed(key));
            let named = names.iter().zip(&mut values).find(|(name, _)| **name == decoded);
            match named {
                Some((_, (first, count))) => {
                    *count += 1;
                    if *count == 1 {
                        *first = value;
                    }
                }
                None if key.is_empty() => {}
                None => others.push(key),
            }
        }
        QueryParams { names, values, query, others, faults: Vec::new() }
    }

    /// Returns the names of the other parameters, each once, for the answer to list.
    pub fn ignored(&self) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for other in &self.others {
            let name = decode(other).unwrap_or(Cow::Borrowed(*other));
            let name: String = name.chars().take(LONGEST_NAME).collect();
            if named.len() < MAX_NAMED && !named.contains(&name) {
                named.push(name);
            }
        }
        named
    }

    /// Ends the reading of an endpoint's parameters, the key among them, which was read before. Returns the names of the ignored ones.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub fn finish(mut self) -> Result<Vec<String>, ApiError> {
        self.single("key");
        if self.faults.is_empty() {
            Ok(self.ignored())
        } else {
            Err(ApiError::invalid_parameters(self.faults))
        }
    }

    /// Remembers an invalid parameter: what is wrong, and what is allowed.
    pub fn refuse(&mut self, parameter: &str, detail: impl Into<String>, allowed: impl Into<String>) {
        self.faults.push(fault(parameter, detail, allowed));
    }

    /// Remembers invalid parameters.
    pub fn refuse_all(&mut self, faults: impl IntoIterator<Item = ParameterFault>) {
        self.faults.extend(faults);
    }

    /// Returns whether a parameter is invalid so far.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Returns whether any parameter from the one at `first` in the list of names on is given.
    pub fn has_any_from(&self, first: usize) -> bool {
        self.values.iter().skip(first).any(|(_, count)| *count > 0)
    }

    /// Returns the first encoded value of a parameter and the number of its values.
    fn given(&self, name: &str) -> (&'a str, usize) {
        self.names.iter().position(|one| *one == name).map_or(("", 0), |at| self.values[at])
    }

    /// Returns whether a parameter is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.given(name).1 > 0
    }

    fn decoded(&mut self, name: &str, value: &'a str) -> Option<Cow<'a, str>> {
        let decoded = decode(value).ok();
        if decoded.is_none() {
            self.refuse(name, "It is not UTF-8.", "percent-encoded UTF-8");
        }
        decoded
    }

    /// Returns all values of a parameter; none if one is invalid.
    pub fn all(&mut self, name: &'static str) -> Vec<Cow<'a, str>> {
        if !self.is_given(name) {
            return Vec::new();
        }
        let all: Option<Vec<_>> = values(self.query, name).map(|value| self.decoded(name, value)).collect();
        all.unwrap_or_default()
    }

    /// Returns the value of a parameter that may occur once.
    pub fn single(&mut self, name: &'static str) -> Option<Cow<'a, str>> {
        match self.given(name) {
            (_, 0) => None,
            (value, 1) => self.decoded(name, value),
            _ => {
                self.refuse(name, "It is given more than once.", "one value");
                None
            }
        }
    }

    /// Returns the parameter `q`, a text that is needed; empty if it is invalid.
    pub fn text(&mut self) -> String {
        self.text_of("q")
    }

    /// Returns a text of the length of `q` that is needed; empty if it is invalid.
    pub fn text_of(&mut self, name: &'static str) -> String {
        let text = self.single(name);
        let detail = match text.as_deref().map(str::trim) {
            // It is present and invalid, which has been reported.
            None if self.is_given(name) => return String::new(),
            None => "It is missing.".to_owned(),
            Some("") => "It is empty.".to_owned(),
            // A character has at least one byte: only a text with more bytes than characters allowed needs counting.
            Some(text)
                if text.len() > MAX_QUERY_CHARACTERS && text.chars().count() > MAX_QUERY_CHARACTERS =>
            {
                format!("It has {} characters.", text.chars().count())
            }
            Some(_) => return text.unwrap_or_default().into_owned(),
        };
        self.refuse(name, detail, format!("1 to {MAX_QUERY_CHARACTERS} characters of any text"));
        String::new()
    }

    /// Returns the parameter `limit`, or the default if it is absent or invalid.
    pub fn limit(&mut self) -> usize {
        self.integer("limit", DEFAULT_LIMIT, MIN_LIMIT..=MAX_LIMIT)
    }

    /// Returns an integer, or the default if it is absent or invalid.
    pub fn integer(&mut self, name: &'static str, default: usize, range: RangeInclusive<usize>) -> usize {
        let Some(text) = self.single(name) else { return default };
        // `parse` would accept a leading plus.
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_digits && range.contains(&number) => number,
            _ => {
                let allowed = format!("an integer from {} to {}", range.start(), range.end());
                self.refuse(name, format!("It is not {allowed}."), allowed);
                default
            }
        }
    }

    /// Returns the parameter `category`.
    pub fn category(&mut self) -> Option<Category> {
        let names = Category::ALL.map(Category::as_str);
        self.one_of("category", Category::parse, "It is not one of the catalog's five.", &names)
    }

    /// Returns the parameter `detail`, or the default if it is absent or invalid.
    pub fn detail(&mut self) -> Detail {
        self.one_of("detail", Detail::parse, Detail::REFUSED, &Detail::NAMES).unwrap_or_default()
    }

    /// Returns the parameter `mode` of searches, or the default if it is absent or invalid.
    pub fn mode(&mut self) -> Mode {
        self.one_of("mode", Mode::parse, Mode::REFUSED, &Mode::NAMES).unwrap_or_default()
    }

    /// Returns the parameter `match`, or the default if it is absent or invalid.
    pub fn match_mode(&mut self) -> MatchMode {
        let detail = "It is neither any nor all.";
        self.one_of("match", MatchMode::parse, detail, &MatchMode::NAMES).unwrap_or_default()
    }

    /// Returns the parameter `dimension`.
    pub fn dimension(&mut self) -> Option<Dimension> {
        self.one_of("dimension", Dimension::parse, "It is not one of the six.", &Dimension::NAMES)
    }

    /// Returns the parameter `kind` of terms, or the default if it is absent or invalid.
    pub fn term_kind(&mut self) -> TermKind {
        let detail = "It is neither word nor phrase.";
        self.one_of("kind", TermKind::parse, detail, &TermKind::NAMES).unwrap_or_default()
    }

    /// Returns a parameter that has one of these values; `detail` says what is wrong with another one.
    pub(crate) fn one_of<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
        detail: &str,
        values: &[&str],
    ) -> Option<T> {
        let value = parse(&self.single(name)?);
        if value.is_none() {
            self.refuse(name, detail, values.join(", "));
        }
        value
    }

    /// Returns the parameter `cursor`; `invalid` describes one of another list.
    pub fn cursor<C: FromStr>(&mut self, invalid: impl FnOnce() -> ParameterFault) -> Option<C> {
        // An empty one means the first page: forms send every field.
        let text = self.single("cursor").filter(|text| !text.is_empty())?;
        let cursor = text.parse().ok();
        if cursor.is_none() {
            self.faults.push(invalid());
        }
        cursor
    }
}

/// Returns `N` names: first `own`, then the first of `more`.
pub const fn join_names<const N: usize>(own: &[&'static str], more: &[&'static str]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = if at < own.len() { own[at] } else { more[at - own.len()] };
        at += 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        for (text, decoded) in [
            ("", Ok("")),
            ("plain", Ok("plain")),
            ("a+b%20c%2B", Ok("a b c+")),
            ("Z%C3%BCrich", Ok("Zürich")),
            ("100%", Ok("100%")),
            ("%zz%4", Ok("%zz%4")),
            ("%%41", Ok("%A")),
            ("%c0%ae", Err(NotUtf8)),
            ("%ff", Err(NotUtf8)),
        ] {
            assert_eq!(decode(text).as_deref().map_err(|e| *e), decoded, "{text}");
        }
    }

    #[test]
    fn a_parameter_is_found_by_its_decoded_name() {
        assert_eq!(values("a=1&q=2&%71=3&q&b", "q").collect::<Vec<_>>(), ["2", "3", ""]);
        assert_eq!(values("", "q").count(), 0);
        assert_eq!(without("key=1&a=%20&%6bey=2&&b&key", "key"), "a=%20&b");
        assert_eq!(without("", "key"), "");
    }

    #[test]
    fn unknown_parameters_are_listed_once() {
        let given = |query: &str| QueryParams::parse(query, ["q", "key"]).ignored();
        assert_eq!(given("q=1&page=2&&=&pa%67e=3&k%C3%B6y&key=k&%71=4"), ["page", "köy"]);
        assert_eq!(given("q=1&key=2"), [""; 0]);
        assert_eq!(given(&"x".repeat(99)), ["x".repeat(60)]);
        let many: String = (0..99).map(|number| format!("p{number}&")).collect();
        assert_eq!(given(&many).len(), 20);
    }
}
