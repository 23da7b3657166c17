//! The external id of a project: what the list that it came from calls it, such as an inventory number.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slug::Slug;
use crate::text_form::string_wrapper;

/// The maximum length of the name of a source, in characters.
const MAX_SOURCE_LENGTH: usize = 60;

/// The name of a list in which ids are unique: that of the mapping with which it is imported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SourceName(#[schemars(length(min = 1, max = 60), regex(pattern = r"^[a-z0-9_-]+$"))] String);

/// Why a text is not the name of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a name of a source is 1 to 60 characters of a-z, 0-9, - and _")]
pub struct InvalidSourceName;

impl TryFrom<String> for SourceName {
    type Error = InvalidSourceName;

    fn try_from(text: String) -> Result<Self, InvalidSourceName> {
        let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        if (1..=MAX_SOURCE_LENGTH).contains(&text.len()) && text.bytes().all(legal) {
            Ok(SourceName(text))
        } else {
            Err(InvalidSourceName)
        }
    }
}

string_wrapper!(SourceName);

/// An external id: an exact string, with case and accents, and the source in which it is unique. The same id in two sources
/// names two projects.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ExternalId {
    /// The external id, as given in the import; up to 100 characters.
    pub id: String,
    /// The source in which the id is unique; absent if the import named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceName>,
}

impl ExternalId {
    /// Returns the slugs of a project with this id, in the order in which they are tried: the one that is made from the id, that one
    /// with the source if there is one, and that one with a checksum, for an id whose first slug belongs to another id, such as
    /// `Ä7` beside `A7`. None if no slug can be made of the id.
    pub fn slugs(&self) -> Vec<Slug> {
        let (text, mark) = match &self.source {
            Some(source) => (Some(source.as_str()), crc32fast::hash(self.claimed_name().as_bytes())),
            None => (None, crc32fast::hash(self.id.as_bytes())),
        };
        let mark = format!("{mark:08x}");
        let further = [text, Some(mark.as_str())].into_iter().flatten();
        let marked = further.filter_map(|word| Slug::from_name_and(&self.id, &[word]));
        Slug::from_name(&self.id).into_iter().chain(marked).collect()
    }

    /// Returns the name under which an event log keeps the id. The names of one source begin with [`ExternalId::prefix`].
    pub fn claimed_name(&self) -> String {
        format!("{}{}", ExternalId::prefix(self.source.as_ref()), self.id)
    }

    /// Returns how the names of the ids of a source begin; no name of another source does.
    pub fn prefix(source: Option<&SourceName>) -> String {
        format!("{}:", source.map_or("", SourceName::as_str))
    }
}

/// Writes the id as sentences name it: `“7” of tate`.
impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "“{}”", self.id)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, " of {source}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(source: &str, id: &str) -> ExternalId {
        ExternalId { id: id.into(), source: source.parse().ok() }
    }

    fn slugs(id: &ExternalId) -> Vec<String> {
        id.slugs().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn ids_that_make_one_slug_have_further_ones_of_their_own() {
        assert_eq!(slugs(&id("", "A7")), ["a7", "a7-1006c9b4"]);
        assert_eq!(slugs(&id("", "Ä 7")), ["a-7", "a-7-8eb9ac05"]);
        assert_eq!(slugs(&id("", "?")), [""; 0]);
        let long = ["x", "X"].map(|letter| slugs(&id("", &letter.repeat(100))));
        assert_eq!(long[0][0], long[1][0]);
        assert_ne!(long[0][1], long[1][1]);
    }

    #[test]
    fn the_same_id_in_two_sources_has_slugs_of_its_own() {
        let (tate, moma) = (slugs(&id("tate", "A 7")), slugs(&id("mo_ma", "A 7")));
        assert_eq!((tate.len(), &*tate[0], &*tate[1]), (3, "a-7", "a-7-tate"));
        assert_eq!((moma.len(), &*moma[0], &*moma[1]), (3, "a-7", "a-7-mo-ma"));
        assert_ne!(tate[2], moma[2]);
    }

    #[test]
    fn the_name_of_a_source_is_that_of_a_mapping() {
        for name in ["tate", "my_list-2", &"a".repeat(60)] {
            assert_eq!(name.parse::<SourceName>().unwrap().as_str(), name);
        }
        for name in ["", "Tate", "a b", "a:b", "ä", "a/b", "..", &"a".repeat(61)] {
            assert_eq!(name.parse::<SourceName>(), Err(InvalidSourceName), "{name:?}");
        }
    }

    #[test]
    fn an_id_without_a_source_is_written_as_before() {
        assert_eq!(serde_json::to_string(&id("", "7")).unwrap(), r#"{"id":"7"}"#);
        assert_eq!(serde_json::to_string(&id("tate", "7")).unwrap(), r#"{"id":"7","source":"tate"}"#);
        assert_eq!(
            (id("", "7").to_string(), id("tate", "7").to_string()),
            ("“7”".into(), "“7” of tate".into())
        );
    }

    proptest! {
        #[test]
        fn two_ids_have_two_names(one in "[:a-c]{0,4}", other in "[:a-c]{0,4}", sources in ("[a-c]{0,3}", "[a-c]{0,3}")) {
            let (one, other) = (id(&sources.0, &one), id(&sources.1, &other));
            prop_assert_eq!(one == other, one.claimed_name() == other.claimed_name());
            let begins = other.claimed_name().starts_with(&ExternalId::prefix(one.source.as_ref()));
            prop_assert_eq!(begins, one.source == other.source);
        }
    }
}
