//! Writes a JSON object from parts that the read models store already rendered. Copying them is many times cheaper than building
//! a value and serialising it, and serde_json has no way to insert rendered JSON without validating it again (`RawValue` is parsed
//! when it is read). Everything that is not stored rendered goes through serde_json.

use schemas::api::site;
use serde::Serialize;

use crate::error::ApiError;
use crate::site::Site;

/// Bytes that are added to a summary, beside four times the site's address.
const AROUND_A_SUMMARY: usize = 96;
/// Bytes around all summaries.
const AROUND_ALL: usize = 448;

/// Returns the approximate size in bytes of an answer with these summaries.
pub fn capacity<'s>(summaries: impl Iterator<Item = &'s [u8]>, site: &Site) -> usize {
    let site = site.as_str().len();
    AROUND_ALL + summaries.map(|summary| summary.len() + 4 * site + AROUND_A_SUMMARY).sum::<usize>()
}

/// Writes a JSON object, member by member.
#[derive(Debug)]
pub struct JsonWriter<'a> {
    body: Vec<u8>,
    site: &'a str,
}

impl<'a> JsonWriter<'a> {
    /// Begins an empty object; `room` is its approximate size in bytes.
    pub fn object(site: &'a Site, room: usize) -> JsonWriter<'a> {
        let mut body = Vec::with_capacity(room);
        body.push(b'{');
        JsonWriter { body, site: site.as_str() }
    }

    /// Begins with a rendered object, to which members may be added.
    pub fn reopen(site: &'a Site, rendered: &[u8]) -> JsonWriter<'a> {
        let mut body = Vec::with_capacity(rendered.len() + 8 * site.as_str().len() + 256);
        site::fill(rendered.strip_suffix(b"}").unwrap_or(rendered), site.as_str(), &mut body);
        JsonWriter { body, site: site.as_str() }
    }

    /// Writes a member with a serialised value. Its name must need no escaping.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialised.
    pub fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), ApiError> {
        self.name(name);
        serde_json::to_writer(&mut self.body, value).map_err(ApiError::internal)
    }

    /// Writes members that are already rendered, without braces.
    #[inline]
    pub fn rendered(&mut self, members: &[u8]) {
        if self.body.last() != Some(&b'{') {
            self.body.push(b',');
        }
        self.body.extend_from_slice(members);
    }

    /// Writes a member whose value is rendered JSON.
    pub fn filled(&mut self, name: &str, rendered: &[u8]) {
        self.name(name);
        site::fill(rendered, self.site, &mut self.body);
    }

    /// Writes the member with the names of parameters that the endpoint ignores, if there are any.
    ///
    /// # Errors
    ///
    /// Never; as for [`JsonWriter::member`].
    pub fn ignored_parameters(&mut self, names: &[String]) -> Result<(), ApiError> {
        if names.is_empty() { Ok(()) } else { self.member("ignored_parameters", names) }
    }

    /// Writes a member that is a list of projects: each summary as rendered, without its closing brace, and the members that `more`
    /// adds.
    ///
    /// # Errors
    ///
    /// The error of `more`.
    pub fn projects<S: AsRef<[u8]>, T>(
        &mut self,
        name: &str,
        projects: impl IntoIterator<Item = (S, T)>,
        mut more: impl FnMut(&mut JsonWriter<'a>, T) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        self.name(name);
        self.body.push(b'[');
        for (index, (summary, rest)) in projects.into_iter().enumerate() {
            if index > 0 {
                self.body.push(b',');
            }
            site::fill(summary.as_ref(), self.site, &mut self.body);
            more(self, rest)?;
            self.body.push(b'}');
        }
        self.body.push(b']');
        Ok(())
    }

    /// Returns the complete object.
    #[inline]
    pub fn finish(mut self) -> Vec<u8> {
        self.body.push(b'}');
        self.body
    }

    #[inline]
    fn name(&mut self, name: &str) {
        if self.body.last() != Some(&b'{') {
            self.body.push(b',');
        }
        self.body.push(b'"');
        self.body.extend_from_slice(name.as_bytes());
        self.body.extend_from_slice(b"\":");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_one_object() {
        let site: Site = "http://h".parse().unwrap();
        let mut json = JsonWriter::object(&site, 0);
        json.member("query", "a\"b").unwrap();
        let projects: [(&[u8], f32); 2] = [(b"{\"url\":\"\x01/x\"", 1.5), (b"{\"url\":\"\x01/y\"", 2.0)];
        json.projects("results", projects, |json, score| json.member("score", &score)).unwrap();
        json.projects("none", [(b"", ()); 0], |_, ()| Ok(())).unwrap();
        json.member("next", &None::<u8>).unwrap();
        let expected = concat!(
            r#"{"query":"a\"b","results":[{"url":"http://h/x","score":1.5},{"url":"http://h/y","score":2.0}],"#,
            r#""none":[],"next":null}"#
        );
        assert_eq!(String::from_utf8(json.finish()).unwrap(), expected);
        let mut json = JsonWriter::reopen(&site, b"{\"a\":\"\x01\"}");
        json.member("b", &1).unwrap();
        assert_eq!(json.finish(), br#"{"a":"http://h","b":1}"#);
    }
}
