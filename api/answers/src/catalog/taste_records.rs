//! The texts of taste in lists with `detail=taste`. Summaries, which lists are made of, lack them, so that they stay short: the records of
//! the projects on the page are read from the catalog, all at once. A list finds its page first, and says what it shows; it is asked again
//! once the records are there.

use std::collections::HashMap;

use bytes::Bytes;

use super::detail::Detail;
use super::slug::api_error;
use crate::effort::Effort;
use crate::error::ApiError;
use crate::state::ApiState;

/// The beginning of a rendered summary, before its slug.
const BEFORE_SLUG: &[u8] = br#"{"slug":""#;

/// The records of the projects that a list shows, if its detail needs them.
#[derive(Debug, Default)]
pub struct TasteRecords {
    is_needed: bool,
    /// The records by their slugs, without the brace after the last member.
    known: HashMap<String, Bytes>,
    /// The slugs of the records that are to be read.
    wanted: Vec<String>,
}

impl TasteRecords {
    /// Returns no records yet, for a list with this detail.
    pub fn of(detail: Detail) -> TasteRecords {
        TasteRecords { is_needed: detail.needs_records(), ..TasteRecords::default() }
    }

    /// Returns the record of a project, read if this detail needs it.
    ///
    /// # Errors
    ///
    /// As for [`TasteRecords::read`].
    pub async fn of_one(
        state: &ApiState,
        detail: Detail,
        summary: Option<&[u8]>,
    ) -> Result<TasteRecords, ApiError> {
        let mut records = TasteRecords::of(detail);
        if let Some(slug) = summary.and_then(slug_of).filter(|_| records.is_needed) {
            records.wanted.push(slug.to_owned());
            records.read(state).await?;
        }
        Ok(records)
    }

    /// Puts the records of projects in place of their summaries, which `summary` returns, in a list whose detail needs them. `false` if
    /// records are to be read first, which [`TasteRecords::read`] does.
    #[inline]
    pub fn fill<'s, T>(&'s mut self, found: &mut [T], summary: impl Fn(&mut T) -> &mut &'s [u8]) -> bool {
        if !self.is_needed {
            return true;
        }
        let slugs = found.iter_mut().filter_map(|one| slug_of(summary(one)));
        self.wanted = slugs.filter(|slug| !self.known.contains_key(*slug)).map(str::to_owned).collect();
        if !self.wanted.is_empty() {
            return false;
        }
        for summary in found.iter_mut().map(summary) {
            if let Some(record) = slug_of(summary).and_then(|slug| self.known.get(slug)) {
                *summary = record;
            }
        }
        true
    }

    /// Reads the records that were wanted.
    ///
    /// # Errors
    ///
    /// If the catalog cannot be read, or does not have a project yet that is listed.
    pub async fn read(&mut self, state: &ApiState) -> Result<(), ApiError> {
        let wanted = std::mem::take(&mut self.wanted);
        let records = state.catalog()?.reader.records(&wanted).await.map_err(api_error)?;
        for (slug, mut record) in records {
            record.truncate(record.strip_suffix(b"}").map_or(record.len(), <[u8]>::len));
            self.known.insert(slug, record);
        }
        let has_all = wanted.iter().all(|slug| self.known.contains_key(slug));
        if has_all { Ok(()) } else { Err(ApiError::catching_up()) }
    }

    /// Returns what a list asks for when it is asked again: it is not weighed twice.
    #[must_use]
    pub fn effort(&self, effort: Effort) -> Effort {
        Effort { is_repeated: !self.known.is_empty(), ..effort }
    }
}

/// Returns the slug of a rendered summary.
fn slug_of(summary: &[u8]) -> Option<&str> {
    let rest = summary.strip_prefix(BEFORE_SLUG)?;
    std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == b'"')?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &[u8] = br#"{"slug":"a-1","name":"A \"1\"","intro":null"#;

    #[test]
    fn a_list_of_another_detail_shows_its_summaries() {
        for detail in [Detail::Full, Detail::Concise] {
            let (mut records, mut found) = (TasteRecords::of(detail), [SUMMARY]);
            assert!(records.fill(&mut found, |summary| summary));
            assert_eq!(found, [SUMMARY]);
            assert!(records.wanted.is_empty());
        }
    }

    #[test]
    fn records_that_are_not_known_are_wanted_before_anything_is_shown() {
        let mut records = TasteRecords::of(Detail::Taste);
        let other: &[u8] = br#"{"slug":"b""#;
        assert!(!records.fill(&mut [SUMMARY, other], |summary| summary));
        assert_eq!(records.wanted, ["a-1", "b"]);
        assert!(!records.effort(Effort::default()).is_repeated);
        let record = |text: &'static str| Bytes::from_static(text.as_bytes());
        records.known.insert("a-1".to_owned(), record("the first"));
        let mut found = [SUMMARY, other];
        assert!(!records.fill(&mut found, |summary| summary));
        assert_eq!(found, [SUMMARY, other]);
        assert_eq!(records.wanted, ["b"]);
        records.known.insert("b".to_owned(), record("the second"));
        assert!(records.effort(Effort::default()).is_repeated);
        assert!(TasteRecords::of(Detail::Taste).fill(&mut [(); 0], |_: &mut ()| unreachable!()));
        let mut found = [(other, 2), (SUMMARY, 1)];
        assert!(records.fill(&mut found, |(summary, _)| summary));
        assert_eq!(found, [(&b"the second"[..], 2), (b"the first", 1)]);
    }

    #[test]
    fn the_slug_stands_first() {
        assert_eq!([SUMMARY, br#"{"slug":"a"#, b"{}"].map(slug_of), [Some("a-1"), None, None]);
    }
}
