//! Parses query strings: pairs joined by `&`, percent-encoded UTF-8, `+` for a blank.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemas::api::problem::ParameterFault;
use schemas::api::search::{DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARACTERS, MIN_LIMIT};
use schemas::record::Category;
use schemas::taste::Dimension;

use crate::catalog::detail::Detail;

/// An encoded text whose bytes are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8;

/// Decodes a name or value. A `%` without two hexadecimal digits after it is kept as it is.
///
/// # Errors
///
/// If the decoded bytes are not UTF-8.
pub fn decode(text: &str) -> Result<Cow<'_, str>, NotUtf8> {
    if !text.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => decoded.push(b' '),
            b'%' => match after {
                [high, low, after @ ..] if let (Some(high), Some(low)) = (digit(*high), digit(*low)) => {
                    decoded.push(high << 4 | low);
                    rest = after;
                }
                _ => decoded.push(b'%'),
            },
            _ => decoded.push(byte),
        }
    }
    String::from_utf8(decoded).map(Cow::Owned).map_err(|_| NotUtf8)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
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

/// The parameters of a query, by the names that an endpoint accepts.
#[derive(Debug)]
pub struct QueryParams<'a, const N: usize> {
    names: [&'static str; N],
    /// For each name its first encoded value and the number of values.
    values: [(&'a str, usize); N],
    query: &'a str,
    /// The encoded names of all other parameters.
    others: Vec<&'a str>,
}

/// The maximum number of parameters that an answer lists as ignored.
const MOST_NAMED: usize = 20;
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
        QueryParams { names, values, query, others }
    }

    /// Returns the names of the other parameters, each once, for the answer to list.
    pub fn ignored(&self) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for other in &self.others {
            let name = decode(other).unwrap_or(Cow::Borrowed(*other));
            let name: String = name.chars().take(LONGEST_NAME).collect();
            if named.len() < MOST_NAMED && !named.contains(&name) {
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
    pub fn finish(&self, mut faults: Vec<ParameterFault>) -> Result<Vec<String>, Vec<ParameterFault>> {
        self.single("key", &mut faults);
        if faults.is_empty() { Ok(self.ignored()) } else { Err(faults) }
    }

    /// Returns whether any parameter from the one at `first` in the list of names on is given.
    pub fn has_any_from(&self, first: usize) -> bool {
        self.values.iter().skip(first).any(|(_, count)| *count > 0)
    }

    /// Returns all values of a parameter. If one is invalid, the reason is added to `faults`.
    pub fn all(&self, name: &'static str, faults: &mut Vec<ParameterFault>) -> Vec<Cow<'a, str>> {
        let is_given =
            self.names.iter().zip(&self.values).any(|(one, (_, count))| *one == name && *count > 0);
        if !is_given {
            return Vec::new();
        }
        let decoded: Result<Vec<_>, NotUtf8> = values(self.query, name).map(decode).collect();
        decoded.unwrap_or_else(|NotUtf8| {
            faults.push(fault(name, "It is not UTF-8.", "percent-encoded UTF-8"));
            Vec::new()
        })
    }

    /// Returns the value of a parameter that may occur once. If it is invalid, the reason is added to `faults`.
    pub fn single(&self, name: &'static str, faults: &mut Vec<ParameterFault>) -> Option<Cow<'a, str>> {
        let at = self.names.iter().position(|one| *one == name)?;
        match self.values[at] {
            (_, 0) => None,
            (value, 1) => match decode(value) {
                Ok(value) => Some(value),
                Err(NotUtf8) => {
                    faults.push(fault(name, "It is not UTF-8.", "percent-encoded UTF-8"));
                    None
                }
            },
            _ => {
                faults.push(fault(name, "It is given more than once.", "one value"));
                None
            }
        }
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

/// Returns the parameter `q`, a text that is needed; empty if it is invalid. If it is, the reason is added to `faults`.
pub fn text<const N: usize>(sent: &QueryParams<'_, N>, faults: &mut Vec<ParameterFault>) -> String {
    let faults_before = faults.len();
    let text = sent.single("q", faults);
    let detail = match text.as_deref().map(str::trim) {
        // It is present and invalid, which has been reported.
        None if faults.len() > faults_before => return String::new(),
        None => "It is missing.".to_owned(),
        Some("") => "It is empty.".to_owned(),
        // A character has at least one byte: only a text with more bytes than characters allowed needs counting.
        Some(text) if text.len() > MAX_QUERY_CHARACTERS && text.chars().count() > MAX_QUERY_CHARACTERS => {
            format!("It has {} characters.", text.chars().count())
        }
        Some(_) => return text.unwrap_or_default().into_owned(),
    };
    faults.push(fault("q", detail, format!("1 to {MAX_QUERY_CHARACTERS} characters of any text")));
    String::new()
}

/// Returns the parameter `limit`, or the default if it is absent or invalid. If it is invalid, the reason is added to `faults`.
pub fn limit<const N: usize>(sent: &QueryParams<'_, N>, faults: &mut Vec<ParameterFault>) -> usize {
    integer(sent, faults, "limit", DEFAULT_LIMIT, MIN_LIMIT..=MAX_LIMIT)
}

/// Returns an integer, or the default if it is absent or invalid. If it is invalid, the reason is added to `faults`.
pub fn integer<const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
    name: &'static str,
    default: usize,
    range: RangeInclusive<usize>,
) -> usize {
    let Some(text) = sent.single(name, faults) else { return default };
    // `parse` would accept a leading plus.
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_digits && range.contains(&number) => number,
        _ => {
            let allowed = format!("an integer from {} to {}", range.start(), range.end());
            faults.push(fault(name, format!("It is not {allowed}."), allowed));
            default
        }
    }
}

/// Returns the parameter `category`. If it is invalid, the reason is added to `faults`.
pub fn category<const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
) -> Option<Category> {
    let names = Category::ALL.map(Category::as_str);
    one_of(sent, faults, "category", Category::parse, ("It is not one of the catalog's five.", &names))
}

/// Returns the parameter `detail`, or the default if it is absent or invalid. If it is invalid, the reason is added to `faults`.
pub fn detail<const N: usize>(sent: &QueryParams<'_, N>, faults: &mut Vec<ParameterFault>) -> Detail {
    let detail = "It is neither full nor concise.";
    one_of(sent, faults, "detail", Detail::parse, (detail, &Detail::NAMES)).unwrap_or_default()
}

/// Returns the parameter `dimension`. If it is invalid, the reason is added to `faults`.
pub fn dimension<const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
) -> Option<Dimension> {
    one_of(sent, faults, "dimension", Dimension::parse, ("It is not one of the six.", &Dimension::NAMES))
}

/// Returns a parameter that has one of these values. If it is invalid, `detail` is added to `faults`.
fn one_of<T, const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
    name: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
    (detail, values): (&str, &[&str]),
) -> Option<T> {
    let value = parse(&sent.single(name, faults)?);
    if value.is_none() {
        faults.push(fault(name, detail, values.join(", ")));
    }
    value
}

/// Returns the parameter `cursor`. If it is invalid, `invalid` is added to `faults`.
pub fn cursor<C: FromStr, const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
    invalid: impl FnOnce() -> ParameterFault,
) -> Option<C> {
    // An empty one means the first page: forms send every field.
    let text = sent.single("cursor", faults).filter(|text| !text.is_empty())?;
    let cursor = text.parse().ok();
    if cursor.is_none() {
        faults.push(invalid());
    }
    cursor
}

/// Returns the description of an invalid parameter: what is wrong, and what is allowed.
pub fn fault(parameter: &str, detail: impl Into<String>, allowed: impl Into<String>) -> ParameterFault {
    ParameterFault { parameter: parameter.to_owned(), detail: detail.into(), allowed: allowed.into() }
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
